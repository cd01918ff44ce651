# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""medley ps: nodes and locks of living and dead processes, and partitions written over."""

import json
import os
import random
import signal
import subprocess
import unittest

from support import HOLDER, MEDLEY, CommandTest, Holder

SYSTEM = "looked-at"
HEADER_BYTES = 192
LOOKS = 2000


def node_of(system, node):
    (found,) = [row for row in system["nodes"] if row["node"] == node]
    return found


def lock_of(system, mutex):
    (found,) = [row for row in system["locks"] if row["mutex"] == mutex]
    return found


class Living(CommandTest):
    def holder(self, *words):
        return Holder(self, *words, system=SYSTEM)

    def test_a_node_with_a_lock(self):
        holder = self.holder(3, 5, "recursive", 9, "lock", 9, "lock", 9, "create", 10)
        system = self.look(SYSTEM)
        self.assertEqual(system["state"], "live")
        self.assertIsNone(system["reason"])
        self.assertEqual(system["on_death"], "recover")
        (process,) = system["processes"]
        self.assertEqual((process["process_id"], process["state"]), (holder.pid, "alive"))
        node = node_of(system, 5)
        self.assertEqual((node["domain"], node["process_id"]), (3, holder.pid))
        self.assertEqual((node["state"], node["kind"]), ("running", "thread"))
        self.assertEqual(node["thread_id"], holder.pid)
        self.assertGreater(node["age_ns"], 0)
        lock = lock_of(system, 9)
        self.assertEqual(lock["state"], "held")
        self.assertEqual(lock["owner"], {"domain": 3, "node": 5})
        self.assertEqual((lock["depth"], lock["waiters"]), (2, 0))
        self.assertEqual(lock["attributes"], ["recursive", "domain-shared"])
        free = lock_of(system, 10)
        self.assertEqual((free["state"], free["owner"], free["depth"]), ("free", None, 0))

    def test_priority_inheritance(self):
        self.holder(3, 5, "inherit", 9, "lock", 9)
        lock = lock_of(self.look(SYSTEM), 9)
        self.assertEqual((lock["state"], lock["owner"]), ("held", {"domain": 3, "node": 5}))
        self.assertIn("priority-inheritance", lock["attributes"])

    def test_waiters(self):
        self.waiters_are_shown("create")

    def test_waiters_with_priority_inheritance(self):
        self.waiters_are_shown("inherit")

    def waiters_are_shown(self, make):
        self.holder(0, 1, make, 4, "lock", 4)
        waiter = self.holder(0, 2, "get", 4, "wait", 4)
        # It has said that it is about to wait: looking costs milliseconds, so it is soon seen.
        for _ in range(LOOKS):
            system = self.look(SYSTEM)
            if node_of(system, 2)["state"] == "waiting":
                break
        self.assertEqual(node_of(system, 2)["waiting_for_mutex"], 4)
        self.assertEqual(node_of(system, 2)["process_id"], waiter.pid)
        self.assertEqual(lock_of(system, 4)["waiters"], 1)
        self.assertEqual(node_of(system, 1)["state"], "running")
        output, _ = self.run_medley("ps", SYSTEM)
        self.assertIn("waits for mutex 4", output)

    def test_semaphores(self):
        """Three places, two of them taken."""
        self.holder(3, 5, "sem3", 9, "take", 9, "take", 9)
        (row,) = self.look(SYSTEM)["semaphores"]
        self.assertEqual((row["semaphore"], row["limit"], row["held"]), (9, 3, 2))
        self.assertEqual((row["waiters"], row["attributes"]), (0, ["domain-shared"]))
        self.holder(3, 6, "getsem", 9, "take", 9)
        self.holder(3, 7, "getsem", 9, "waitsem", 9)
        self.someone_waits(7, "waiting_for_semaphore", 9, "waits for semaphore 9")
        (row,) = self.look(SYSTEM)["semaphores"]
        self.assertEqual((row["held"], row["waiters"]), (3, 1))

    def test_exchange(self):
        """Ten messages and ten scalars, of which one each is received."""
        self.holder(3, 5, "exchange", 10)
        system = self.look(SYSTEM)
        endpoint = {"domain": 3, "node": 5}
        rows = {row["endpoint"]["port"]: row for row in system["endpoints"]}
        self.assertEqual(sorted(rows), [1, 2, 3, 4])
        self.assertEqual([rows[port]["state"] for port in (1, 4)], ["free", "connected"])
        lanes = {row["kind"]: row for row in system["lanes"]}
        self.assertEqual(sorted(lanes), ["messages", "scalars"])
        messages, scalars = lanes["messages"], lanes["scalars"]
        self.assertEqual(messages["from"]["endpoint"], dict(endpoint, port=1))
        self.assertEqual(messages["to"]["endpoint"], dict(endpoint, port=2))
        self.assertEqual((messages["priority"], messages["from"]["state"]), (2, "there"))
        self.assertEqual((messages["from"]["count"], messages["from"]["bytes"]), (10, 240))
        self.assertEqual((messages["to"]["count"], messages["to"]["bytes"]), (1, 24))
        self.assertEqual((messages["depth"], messages["high_water"]), (9, 10))
        self.assertEqual(messages["capacity"], 128)
        self.assertEqual((scalars["from"]["state"], scalars["to"]["state"]), ("open", "open"))
        self.assertEqual((scalars["from"]["count"], scalars["to"]["count"]), (10, 1))
        self.assertEqual((scalars["depth"], scalars["high_water"]), (9, 10))
        self.assertEqual((scalars["capacity"], scalars["priority"]), (256, None))
        output, _ = self.run_medley("ps", SYSTEM)
        self.assertRegex(output, r"3:5:1 +3:5:2 +messages +2 +there +9 +10 +128 +10 +240 +1 +0 +0")
        self.assertRegex(output, r"3:5:4 +connected")

    def test_reader_writer_locks(self):
        self.holder(3, 5, "rwl", 9, "read", 9)
        (row,) = self.look(SYSTEM)["rwlocks"]
        self.assertEqual((row["rwlock"], row["limit"], row["readers"]), (9, 4, 1))
        self.assertEqual((row["state"], row["writer"]), ("free", None))
        self.holder(3, 6, "getrwl", 9, "waitrwl", 9)
        self.someone_waits(6, "waiting_for_rwlock", 9, "waits for reader/writer lock 9")
        (row,) = self.look(SYSTEM)["rwlocks"]
        self.assertEqual((row["state"], row["writer"]), ("coming", {"domain": 3, "node": 6}))
        self.assertEqual(row["waiters"], 1)

    def someone_waits(self, node, key, number, words):
        for _ in range(LOOKS):
            system = self.look(SYSTEM)
            if node_of(system, node)["state"] == "waiting":
                break
        self.assertEqual(node_of(system, node)[key], number)
        output, _ = self.run_medley("ps", SYSTEM)
        self.assertIn(words, output)

    def test_limits(self):
        self.holder(0, 1, "create", 4)
        rows = {row["name"]: row for row in self.look(SYSTEM)["limits"]}
        self.assertEqual(rows["nodes"]["used"], 1)
        self.assertEqual(rows["nodes"]["variable"], "MEDLEY_MAX_NODES")
        self.assertEqual(rows["mutexes"]["used"], 1)
        self.assertIsNone(rows["processes"]["high_water"])
        second = self.holder(0, 2)
        second.end()
        rows = {row["name"]: row for row in self.look(SYSTEM)["limits"]}
        self.assertEqual((rows["nodes"]["used"], rows["nodes"]["high_water"]), (1, 2))

    def test_looking_changes_nothing(self):
        self.holder(0, 1, "create", 4, "lock", 4)
        dead = self.holder(0, 2, "create", 5, "lock", 5)
        dead.kill()
        with open(self.file_of(SYSTEM), "rb") as file:
            before = file.read()
            self.look(SYSTEM)
            self.run_medley("system", "list")
            file.seek(0)
            self.assertEqual(file.read(), before)

    def test_lock_lost(self):
        """It opened the file itself and closed it again, and lives."""
        self.holder(0, 1, "create", 4)
        careless = self.holder(0, 2, "get", 4, "lock", 4, "careless", 0)
        system = self.look(SYSTEM)
        states = {row["process_id"]: row["state"] for row in system["processes"]}
        self.assertEqual(states[careless.pid], "lock-lost")
        self.assertEqual(node_of(system, 2)["state"], "running")
        self.assertEqual(lock_of(system, 4)["owner"], {"domain": 0, "node": 2})
        careless.kill()
        states = {row["process_id"]: row["state"] for row in self.look(SYSTEM)["processes"]}
        self.assertEqual(states[careless.pid], "dead")

    def test_all_systems(self):
        self.assertEqual(self.run_json("ps"), {"systems": []})
        Holder(self, 0, 1, system="second")
        Holder(self, 0, 1, system="first")
        names = [system["name"] for system in self.run_json("ps")["systems"]]
        self.assertEqual(names, ["first", "second"])

    def test_no_such_system(self):
        _, errors = self.run_medley("ps", "nobody", status=1)
        self.assertIn("no system 'nobody'", errors)

    def test_watch(self):
        holder = self.holder(0, 1)
        watch = subprocess.Popen(
            [MEDLEY, "ps", SYSTEM, "--json", "--watch", "0.01"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        self.addCleanup(watch.communicate)
        self.addCleanup(watch.kill)
        for _ in range(3):
            line = watch.stdout.readline()
            self.assertEqual(json.loads(line)["systems"][0]["name"], SYSTEM)
        holder.end()  # the system vanishes under its eyes
        for line in watch.stdout:
            json.loads(line)
        self.assertEqual(watch.wait(), 1)
        self.assertIn("no system 'looked-at'", watch.stderr.read())


class Stuck(CommandTest):
    """One is stopped where others wait for him: who it is, and since when."""

    TABLE_OF_NODES = 1  # med_kind

    def setUp(self):
        super().setUp()
        Holder(self, 0, 1, system=SYSTEM)

    def stopped(self, verb, number):
        holder = Holder(self, 3, 7, verb, number, system=SYSTEM)
        os.waitid(os.P_PID, holder.pid, os.WSTOPPED | os.WNOWAIT)
        return holder

    def stuck_row(self, **others):
        """Of one whose stop nobody could await."""
        for _ in range(LOOKS):
            rows = self.look(SYSTEM, **others)["stuck"]
            if rows:
                return rows[0]
        self.fail("nobody is stuck")

    def test_usually_nobody(self):
        self.assertEqual(self.look(SYSTEM)["stuck"], [])
        output, _ = self.run_medley("ps", SYSTEM)
        self.assertNotIn("STUCK", output)

    def test_in_a_table(self):
        holder = self.stopped("table", self.TABLE_OF_NODES)
        (row,) = self.look(SYSTEM)["stuck"]
        self.assertEqual((row["in"], row["state"]), ("nodes", "stopped"))
        self.assertEqual((row["process_id"], row["thread_id"]), (holder.pid, holder.pid))
        self.assertEqual(row["node"], {"domain": 3, "node": 7})
        (later,) = self.look(SYSTEM)["stuck"]
        self.assertGreater(later["held_ns"], row["held_ns"])
        self.assertLess(later["held_ns"], 60e9)
        output, _ = self.run_medley("ps", SYSTEM)
        self.assertRegex(output, rf"the table of nodes +{holder.pid} +{holder.pid} +3:7 +stopped ")
        self.assertIn("kill -CONT", output)
        os.kill(holder.pid, signal.SIGCONT)
        holder.expect_ready()
        self.assertEqual(self.look(SYSTEM)["stuck"], [])

    def test_dead_in_a_table(self):
        holder = self.stopped("table", self.TABLE_OF_NODES)
        holder.kill()
        (row,) = self.look(SYSTEM)["stuck"]
        self.assertEqual((row["in"], row["state"]), ("nodes", "dead"))
        self.assertEqual((row["process_id"], row["thread_id"]), (None, None))
        self.assertEqual(row["node"], {"domain": 3, "node": 7})
        output, _ = self.run_medley("ps", SYSTEM)
        self.assertNotIn("kill -CONT", output)
        Holder(self, 0, 2, system=SYSTEM)  # who comes recovers him
        self.assertEqual(self.look(SYSTEM)["stuck"], [])

    def test_of_another_container(self):
        """Whoever looks is told the number that he can use, or that there is none."""
        within = self.apart("--pid")
        words = (3, 7, "table", self.TABLE_OF_NODES)
        Holder(self, *words, system=SYSTEM, within=within, errors=subprocess.DEVNULL)
        row = self.stuck_row()
        with open(f"/proc/{row['process_id']}/cmdline", "rb") as file:
            self.assertEqual(file.read().split(b"\0")[:3], [HOLDER.encode(), b"3", b"7"])
        self.assertIsNone(row["thread_id"])
        self.assertEqual((row["node"], row["state"]), ({"domain": 3, "node": 7}, "stopped"))
        # From there nobody sees that it is stopped, only that it stays long.
        row = self.stuck_row(within=within)
        self.assertEqual((row["process_id"], row["state"]), (None, "alive"))
        output, _ = self.run_medley("ps", SYSTEM, within=within)
        self.assertIn("cannot be seen from here", output)
        self.assertNotIn("kill -CONT", output)

    def test_lock_lost_in_a_table(self):
        careless = ("careless", 0, "table", self.TABLE_OF_NODES)
        holder = Holder(self, 3, 7, *careless, system=SYSTEM)
        os.waitid(os.P_PID, holder.pid, os.WSTOPPED | os.WNOWAIT)
        (row,) = self.look(SYSTEM)["stuck"]
        self.assertEqual((row["process_id"], row["state"]), (holder.pid, "stopped"))

    def test_in_the_section(self):
        os.utime(self.file_of(SYSTEM), (0, 0))
        holder = self.stopped("section", 0)
        (row,) = self.look(SYSTEM)["stuck"]
        self.assertEqual((row["in"], row["state"]), ("section", "stopped"))
        self.assertEqual((row["process_id"], row["node"]), (holder.pid, None))
        self.assertGreater(row["held_ns"], 0)
        self.assertLess(row["held_ns"], 60e9)
        output, _ = self.run_medley("ps", SYSTEM)
        self.assertRegex(output, rf"opening or closing +{holder.pid} ")
        os.kill(holder.pid, signal.SIGCONT)
        holder.expect_ready()
        self.assertEqual(self.look(SYSTEM)["stuck"], [])


class OtherClock(CommandTest):
    """In a time namespace the clock shows another time; ages are what they are."""

    def ages_are_short(self, system):
        self.assertEqual((len(system["processes"]), len(system["nodes"])), (1, 1))
        for row in (system, *system["processes"], *system["nodes"]):
            self.assertGreater(row["age_ns"], 0)
            self.assertLess(row["age_ns"], 60e9)

    def test_of_who_looks(self):
        within = self.apart("--time", "--monotonic=1000000")
        Holder(self, 0, 1, system=SYSTEM)
        self.ages_are_short(self.look(SYSTEM, within=within))

    def test_of_who_is_there(self):
        within = self.apart("--time", "--monotonic=1000000")
        self.environment["MEDLEY_TRACE"] = "1"
        Holder(self, 0, 1, system=SYSTEM, within=within)
        self.ages_are_short(self.look(SYSTEM))
        for event in self.run_json("trace", SYSTEM)["events"]:
            self.assertGreater(event["ago_ns"], 0)
            self.assertLess(event["ago_ns"], 60e9)


class Dead(CommandTest):
    def test_one_of_two(self):
        Holder(self, 0, 1, "create", 4, system=SYSTEM)
        dead = Holder(self, 0, 2, "get", 4, "lock", 4, system=SYSTEM)
        dead.kill()
        system = self.look(SYSTEM)
        self.assertEqual(system["state"], "live")
        states = {row["process_id"]: row["state"] for row in system["processes"]}
        self.assertEqual(states[dead.pid], "dead")
        self.assertEqual(node_of(system, 2)["state"], "dead")
        self.assertEqual(node_of(system, 1)["state"], "running")
        self.assertEqual(lock_of(system, 4)["owner"], {"domain": 0, "node": 2})

    def test_recovered(self):
        Holder(self, 0, 1, "create", 4, system=SYSTEM)
        Holder(self, 0, 2, "get", 4, "lock", 4, system=SYSTEM).kill()
        Holder(self, 0, 3, system=SYSTEM)  # who comes recovers the dead
        system = self.look(SYSTEM)
        self.assertEqual(sorted(row["node"] for row in system["nodes"]), [1, 3])
        self.assertEqual(lock_of(system, 4)["state"], "owner-died")

    def test_recovered_to_fail(self):
        self.environment["MEDLEY_MUTEX_ON_DEATH"] = "fail"
        Holder(self, 0, 1, "create", 4, system=SYSTEM)
        Holder(self, 0, 2, "get", 4, "lock", 4, system=SYSTEM).kill()
        Holder(self, 0, 3, system=SYSTEM)
        system = self.look(SYSTEM)
        self.assertEqual(system["on_death"], "fail")
        self.assertEqual(lock_of(system, 4)["state"], "dead")

    def test_stale(self):
        Holder(self, 0, 1, "create", 4, system=SYSTEM).kill()
        system = self.look(SYSTEM)
        self.assertEqual(system["state"], "stale")
        self.assertEqual(node_of(system, 1)["state"], "dead")
        output, _ = self.run_medley("ps")
        self.assertIn(f"system {SYSTEM}: stale", output)


class Blocked(CommandTest):
    def test_the_living_are_shown(self):
        Holder(self, 0, 1, "create", 4, system=SYSTEM)
        self.stay_in_section(SYSTEM)
        system = self.look(SYSTEM)
        self.assertEqual((system["state"], system["reason"]), ("live", None))
        self.assertEqual(len(system["nodes"]), 1)

    def test_who_blocks_is_named(self):
        who = self.stay_in_section(SYSTEM)
        self.stay_in_section("another")
        Holder(self, 0, 1, system="living")
        output, errors = self.run_medley("ps", status=1)
        for name in (SYSTEM, "another"):
            self.assertIn(f"system '{name}' is blocked: {who}", errors)
            self.assertIn(f"system {name}: blocked ({who}", output)
        self.assertIn("system living: live", output)

    def test_json(self):
        who = self.stay_in_section(SYSTEM)
        output, errors = self.run_medley("ps", SYSTEM, "--json", status=1)
        (system,) = json.loads(output)["systems"]
        self.assertEqual(system["state"], "blocked")
        self.assertIn(who, system["reason"])
        self.assertIn(who, errors)


class Scribbled(CommandTest):
    """The owner sleeps in read(), so nobody but the test touches the partition."""

    def setUp(self):
        super().setUp()
        self.holder = Holder(self, 0, 1, "create", 4, "lock", 4, system=SYSTEM)
        self.file = self.file_of(SYSTEM)
        with open(self.file, "rb") as file:
            self.contents = file.read()

    def write(self, offset, data):
        with open(self.file, "r+b") as file:
            file.seek(offset)
            file.write(data)

    def check(self, system):
        for limit in system["limits"]:
            self.assertLessEqual(limit["used"], limit["limit"])
            self.assertLessEqual(limit["high_water"] or 0, limit["limit"])
        self.run_medley("ps", SYSTEM)
        self.run_medley("system", "list")

    def test_random_bytes(self):
        for seed in range(10):
            with self.subTest(seed=seed):
                noise = random.Random(seed)
                self.write(HEADER_BYTES, noise.randbytes(len(self.contents) - HEADER_BYTES))
                self.check(self.look(SYSTEM))

    def test_some_words(self):
        """Most of it makes sense, so that what does not is looked at."""
        for seed in range(10):
            with self.subTest(seed=seed):
                noise = random.Random(seed)
                self.write(HEADER_BYTES, self.contents[HEADER_BYTES:])
                for _ in range(400):
                    offset = noise.randrange(HEADER_BYTES, len(self.contents), 4)
                    word = noise.choice((b"\xff\xff\xff\xff", b"\x02\x00\x00\x00", noise.randbytes(4)))
                    self.write(offset, word)
                self.check(self.look(SYSTEM))

    def test_header(self):
        magic = self.contents[:4]
        wrong = {
            "random magic": (0, b"\x12\x34\x56\x78"),
            "the other byte order": (0, magic[::-1]),
            "another version": (4, b"\x63\x00\x00\x00"),
            "no size": (16, bytes(8)),
            "huge limits": (104, b"\xff" * 28),
        }
        reasons = set()
        for what, (offset, data) in wrong.items():
            with self.subTest(what=what):
                self.write(0, self.contents)
                self.write(offset, data)
                system = self.look(SYSTEM)
                self.assertEqual(system["state"], "unreadable")
                self.assertNotIn("nodes", system)
                reasons.add(system["reason"])
                output, _ = self.run_medley("ps")
                self.assertIn(system["reason"], output)
        self.assertEqual(len(reasons), 3)  # contents, byte order, version

    def test_random_header(self):
        for seed in range(10):
            with self.subTest(seed=seed):
                self.write(4, random.Random(seed).randbytes(HEADER_BYTES - 4))
                self.assertEqual(self.look(SYSTEM)["state"], "unreadable")

    def test_empty_file(self):
        self.holder.kill()
        os.truncate(self.file, 0)
        system = self.look(SYSTEM)
        self.assertEqual(system["state"], "stale")
        self.assertTrue(system["reason"])

    def test_open_to_others(self):
        os.chmod(self.file, 0o666)
        self.assertEqual(self.look(SYSTEM)["state"], "refused")


class Refused(CommandTest):
    """What has a system's name and is none: what it is, is said."""

    def check(self, what):
        system = self.look(SYSTEM)
        self.assertEqual(system["state"], "refused")
        self.assertRegex(system["reason"], what)
        self.assertIn(self.file_of(SYSTEM), system["reason"])
        output, _ = self.run_medley("system", "list")
        self.assertIn(system["reason"], output)
        _, errors = self.run_medley("system", "remove", SYSTEM, status=1)
        self.assertIn(system["reason"], errors)

    def test_a_link(self):
        os.symlink(self.file_of("target"), self.file_of(SYSTEM))
        self.check("not a plain file")

    def test_another_name_of_a_file(self):
        os.close(os.open(self.file_of("target"), os.O_CREAT, 0o600))
        os.link(self.file_of("target"), self.file_of(SYSTEM))
        self.check("name")

    def test_a_pipe(self):
        os.mkfifo(self.file_of(SYSTEM), 0o600)
        self.check("plain file")

    def test_a_folder(self):
        os.mkdir(self.file_of(SYSTEM), 0o600)
        self.check("plain file")

    def test_a_mode(self):
        os.close(os.open(self.file_of(SYSTEM), os.O_CREAT, 0o600))
        os.chmod(self.file_of(SYSTEM), 0)
        self.check("mode")


if __name__ == "__main__":
    unittest.main()
