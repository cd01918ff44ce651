# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""medley trace: what happened, by the living and the dead, and traces that were written over."""

import json
import os
import random
import signal
import struct
import subprocess
import tempfile
import unittest

from support import MEDLEY, CommandTest, Holder

SYSTEM = "traced"
LOOKS = 2000
SLOT_BYTES = 32


class TraceTest(CommandTest):
    trace = "1"

    def setUp(self):
        super().setUp()
        self.environment["MEDLEY_TRACE"] = self.trace

    def holder(self, *words):
        return Holder(self, *words, system=SYSTEM)

    def events(self, *words):
        document = self.run_json("trace", SYSTEM, *words)
        self.assertEqual(document["system"], SYSTEM)
        return document["events"]

    def happened(self, *words):
        """Without what is said of names alone."""
        return [event for event in self.events(*words) if event["event"] != "program"]

    def named(self, name):
        return [event for event in self.events() if event["event"] == name]


class Told(TraceTest):
    def test_coming_and_making(self):
        holder = self.holder(3, 5, "create", 9, "sem3", 7, "lock", 9)
        events = self.happened()
        self.assertEqual(
            [event["event"] for event in events], ["joined", "node-comes", "created", "created"]
        )
        joined, comes, mutex, sem = events
        self.assertEqual((joined["process_id"], joined["created"]), (holder.pid, True))
        self.assertIsNone(joined["node"])
        self.assertEqual(comes["node"], {"domain": 3, "node": 5})
        self.assertEqual((mutex["kind"], mutex["number"]), ("mutex", 9))
        self.assertEqual((sem["kind"], sem["number"]), ("semaphore", 7))
        self.assertEqual(mutex["node"], comes["node"])
        times = [event["time_ns"] for event in events]
        self.assertEqual(times, sorted(times))
        for event in events:
            self.assertLess(event["ago_ns"], 60e9)

    def test_what_the_program_is_called(self):
        holder = self.holder(3, 5)
        pieces = self.named("program")
        self.assertEqual({piece["process_id"] for piece in pieces}, {holder.pid})
        name = os.path.basename(os.environ["HOLDER"])
        self.assertEqual("".join(piece["name"] for piece in pieces), name[:16])

    def test_going(self):
        self.holder(3, 1)
        self.holder(3, 5).end()
        last = self.events("--last", 3)
        self.assertEqual([event["event"] for event in last], ["node-comes", "node-goes", "left"])
        self.assertEqual(last[1]["node"], {"domain": 3, "node": 5})

    def test_waiting(self):
        first = self.holder(3, 1, "create", 9, "lock", 9)
        self.holder(3, 2, "get", 9, "wait", 9)
        for _ in range(LOOKS):
            waits = self.named("lock-waits")
            if waits:
                break
        (waits,) = waits
        self.assertEqual((waits["kind"], waits["number"]), ("mutex", 9))
        self.assertEqual(waits["node"], {"domain": 3, "node": 2})
        self.assertEqual(self.named("lock-had"), [])
        output, _ = self.run_medley("trace", SYSTEM)
        self.assertRegex(output, r"3:2 +lock-waits +mutex 9\n")
        first.kill()
        for _ in range(LOOKS):
            if self.named("owner-died"):
                break
        (had,) = self.named("lock-had")
        self.assertEqual((had["kind"], had["number"]), ("mutex", 9))
        (owner_died,) = self.named("owner-died")
        self.assertEqual(owner_died["node"], {"domain": 3, "node": 2})
        (died,) = self.named("process-died")
        (recovered,) = self.named("recovered")
        self.assertEqual((died["process_id"], recovered["process_id"]), (first.pid, first.pid))
        (node,) = self.named("node-died")
        self.assertEqual(node["node"], {"domain": 3, "node": 1})

    def test_what_is_free_is_not_waited_for(self):
        locks = ("create", 9, "lock", 9, "sem3", 7, "take", 7, "rwl", 8, "read", 8)
        self.holder(3, 1, *locks, "rwl", 10, "write", 10)
        self.assertEqual([event for event in self.events() if "lock" in event["event"]], [])
        self.holder(3, 2, "getrwl", 10, "waitrwl", 10)
        for _ in range(LOOKS):
            waits = self.named("lock-waits")
            if waits:
                break
        self.assertEqual([(wait["kind"], wait["number"]) for wait in waits], [("reader/writer lock", 10)])

    def test_a_table_is_stuck(self):
        self.holder(3, 1)
        stopped = Holder(self, 3, 7, "table", 1, system=SYSTEM)
        os.waitid(os.P_PID, stopped.pid, os.WSTOPPED | os.WNOWAIT)
        with self.assertRaises(AssertionError):
            self.holder(3, 2)  # gives up after five seconds
        os.kill(stopped.pid, signal.SIGCONT)
        (stuck,) = self.named("table-stuck")
        self.assertEqual((stuck["kind"], stuck["process_id"]), ("node", stopped.pid))

    def test_a_table_is_stuck_in_another_container(self):
        """The number is that of who waits: the process itself has another."""
        within = self.apart("--pid")
        self.holder(3, 1)
        words = (3, 7, "table", 1)
        Holder(self, *words, system=SYSTEM, within=within, errors=subprocess.DEVNULL)
        with self.assertRaises(AssertionError):
            self.holder(3, 2)
        (stuck,) = self.named("table-stuck")
        (row,) = self.look(SYSTEM)["stuck"]
        self.assertEqual(stuck["process_id"], row["process_id"])
        with self.assertRaises(AssertionError):
            Holder(self, 3, 2, system=SYSTEM, within=within)
        self.assertEqual([event["process_id"] for event in self.named("table-stuck")][1:], [None])
        output, _ = self.run_medley("trace", SYSTEM)
        self.assertRegex(output, r"table-stuck +table of: node\n")

    def test_of_the_dead(self):
        self.holder(3, 5, "create", 9).kill()
        self.assertEqual([event["event"] for event in self.events()][-1], "created")

    def test_last(self):
        self.holder(3, 5, "create", 9, "create", 10, "create", 11)
        self.assertEqual([event["number"] for event in self.events("--last", 2)], [10, 11])
        output, _ = self.run_medley("trace", SYSTEM, "--last", "2")
        self.assertIn("2 events\n", output)
        self.assertNotIn("joined", output)
        output, _ = self.run_medley("trace", SYSTEM, "--last", "1")
        self.assertIn("1 event\n", output)

    def test_named_after_they_are_gone(self):
        self.holder(3, 1)
        self.holder(3, 5, "create", 9).end()
        (created,) = self.named("created")
        self.assertEqual(created["node"], {"domain": 3, "node": 5})


class Small(TraceTest):
    trace = "50"

    def test_the_oldest_are_overwritten(self):
        """64 events in four lanes; each mutex is one."""
        self.environment["MEDLEY_MAX_MUTEXES"] = "64"
        makes = [word for number in range(40) for word in ("create", number)]
        self.holder(3, 5, *makes)
        created = self.named("created")
        self.assertEqual([event["number"] for event in created], list(range(24, 40)))


class Without(TraceTest):
    trace = "0"

    def errors_of_holder(self):
        with tempfile.TemporaryFile("w+") as errors:
            Holder(self, 3, 6, system=SYSTEM, errors=errors).end()
            errors.seek(0)
            return errors.read()

    def test_none(self):
        self.holder(3, 5)
        _, errors = self.run_medley("trace", SYSTEM, status=1)
        self.assertIn("keeps no trace", errors)
        self.assertIn("MEDLEY_TRACE=1", errors)
        self.environment["MEDLEY_LOG"] = "error"
        self.environment["MEDLEY_TRACE"] = "1"
        self.assertIn("MEDLEY_TRACE has no effect", self.errors_of_holder())

    def test_no_such_system(self):
        _, errors = self.run_medley("trace", SYSTEM, status=1)
        self.assertIn(f"no system '{SYSTEM}'", errors)

    def test_no_sense(self):
        self.environment["MEDLEY_TRACE"] = "much"
        self.assertIn("MEDLEY_TRACE ignored: it is 'much'", self.errors_of_holder())


class Scribbled(TraceTest):
    """The owner sleeps in read(), so nobody but the test touches the partition."""

    def setUp(self):
        super().setUp()
        self.holder(3, 5, "create", 9)
        self.file = self.file_of(SYSTEM)
        with open(self.file, "rb") as file:
            self.contents = file.read()
        self.at = self.contents.rindex(b"CART" if struct.pack("=I", 1)[0] else b"TRAC")

    def write(self, offset, data):
        with open(self.file, "r+b") as file:
            file.seek(offset)
            file.write(data)

    def check(self):
        """Whatever it shows, it ends, and is JSON."""
        for words in (("trace", SYSTEM), ("trace", SYSTEM, "--json", "--last", "100000")):
            result = subprocess.run(
                [MEDLEY, *words], capture_output=True, text=True, timeout=60, env=self.environment
            )
            self.assertIn(result.returncode, (0, 1), result.stderr)
            if "--json" in words:
                json.loads(result.stdout)

    def test_random_records(self):
        for seed in range(10):
            with self.subTest(seed=seed):
                noise = random.Random(seed)
                self.write(self.at + 64, noise.randbytes(len(self.contents) - self.at - 64))
                self.check()

    def test_random_head(self):
        for seed in range(20):
            with self.subTest(seed=seed):
                noise = random.Random(seed)
                self.write(self.at, self.contents[self.at :])
                self.write(self.at + 4 * noise.randrange(6), noise.randbytes(4))
                self.check()

    def test_whole_records_that_lie(self):
        """Every slot claims to be whole; nodes, events and words are anything."""
        noise = random.Random(1)
        lanes = 4
        records = 1024
        for lane in range(lanes):
            self.write(self.at + 64 + 64 * lane, struct.pack("=I", 2 * records))
            for i in range(records):
                slot = self.at + 64 + 64 * lanes + (lane * records + i) * SLOT_BYTES
                event = noise.choice((*range(32), 0xFFFFFFFF)) | noise.getrandbits(24) << 8
                words = (0, 2 * i + 1, *(noise.getrandbits(32) for _ in range(3)), event)
                self.write(slot, struct.pack("=8I", *words, noise.randrange(12), noise.getrandbits(32)))
        self.check()
        events = self.events("--last", 100000)
        self.assertEqual(len(events), lanes * records)
        kinds = {event["kind"] for event in events if event["event"] == "table-stuck"}
        self.assertEqual(len(kinds), 11)  # all there are, and none
        self.assertLess({None, "node", "endpoint", "lane"}, kinds)
        self.assertTrue(self.named("unknown"))


if __name__ == "__main__":
    unittest.main()
