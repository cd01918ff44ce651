# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""medley stress: every topology that Medley brings; files with mistakes; deaths and signals.

MEDLEY_TEST_TRANSACTIONS: how many the channels of a topology move together; without it, 1000 each.
"""

import json
import os
import signal
import subprocess
import unittest

from support import MEDLEY, CommandTest

TOPOLOGIES = {"one-way": (2, 1), "ring": (4, 4), "star": (32, 62), "mesh": (8, 56),
              "pipeline": (16, 15), "mixed": (4, 14)}
RECEIVE_FROM_SEVERAL = {"one-way": 0, "ring": 0, "star": 1, "mesh": 8, "pipeline": 0, "mixed": 0}
LOOKS = 100000

HEAD = "nodes:\n  - {count: 3}\nchannels:\n"
CHANNEL = HEAD + "  - {from: 1, to: 2, type: message}\n"


class Runs(CommandTest):
    def stress(self, *words, **environment):
        result = subprocess.run(
            [MEDLEY, "stress", *words, "--json"],
            capture_output=True,
            text=True,
            env=dict(self.environment, **environment),
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""), words)
        self.assertEqual(os.listdir(self.folder), [])
        return json.loads(result.stdout)["stress"]

    def check_whole(self, name, *words):
        nodes, channels = TOPOLOGIES[name]
        wanted = os.environ.get("MEDLEY_TEST_TRANSACTIONS")
        count = max(int(wanted) // channels, 1) if wanted else 1000
        told = self.stress(name, *words, "--count", str(count))
        self.assertEqual(told["topology"], name)
        self.assertEqual((len(told["nodes"]), told["channels"]), (nodes, channels))
        self.assertEqual(told["transactions"] + told["skipped"], count * channels)
        if name != "mixed":  # the only one with states
            self.assertEqual(told["skipped"], 0)
        self.assertEqual(sum(node["sent"] for node in told["nodes"]), count * channels)
        self.assertEqual(sum(node["received"] for node in told["nodes"]), told["transactions"])
        self.assertEqual(sum(node["skipped"] for node in told["nodes"]), told["skipped"])
        self.check_worst(told)
        latency = told["latency"]
        self.assertEqual(sum(row["count"] for row in latency["histogram"]), latency["count"])
        order = [latency[f"{key}_ns"] for key in ("least", "median", "p90", "p99", "p99_9", "most")]
        self.assertEqual(order, sorted(order))
        return told

    def check_worst(self, told):
        """Of all nodes, the worst; a share only where several send to one node."""
        nodes = told["nodes"]
        for key in ("retries_worst", "copies_again_worst"):
            self.assertEqual(told[key], max(node[key] for node in nodes))
        for key in ("retries", "copies_again", "switches", "worked_ns"):
            self.assertEqual(told[key], sum(node[key] for node in nodes))
        for node in nodes:
            self.assertLessEqual(node["retries_worst"], node["retries"])
            moves = node["sent"] + node["received"]
            self.assertGreaterEqual(node["retries_worst"] * moves, node["retries"])
            self.assertGreater(node["worked_ns"], 0)
        shares = [node["worst_share"] for node in nodes if node["worst_share"] is not None]
        self.assertEqual(len(shares), RECEIVE_FROM_SEVERAL[told["topology"]])
        self.assertEqual(told["worst_share"], min(shares, default=None))
        for share in shares:
            self.assertTrue(0 <= share <= 1, share)

    def test_threads(self):
        for name in TOPOLOGIES:
            with self.subTest(name=name):
                told = self.check_whole(name, "--threads")
                self.assertEqual({node["run"] for node in told["nodes"]}, {"threads"})

    def test_processes(self):
        for name in TOPOLOGIES:
            with self.subTest(name=name):
                told = self.check_whole(name, "--processes")
                self.assertEqual({node["run"] for node in told["nodes"]}, {"processes"})

    def test_as_the_file_says(self):
        if os.environ["UNDER_TSAN"] == "1":
            reason = "not possible here: TSan does not see the other processes' part in a buffer's way"
            print(reason)
            self.skipTest(reason)
        told = self.check_whole("mixed")
        runs = [node["run"] for node in told["nodes"]]
        self.assertEqual(runs, ["threads", "threads", "processes", "processes"])
        # Scalars of less than eight bytes are not timed.
        self.assertLess(told["latency"]["count"], told["transactions"])

    def test_which_exchange(self):
        """What the library does not know it ignores, and says so."""
        for wanted in ("locked", "lock-free", ""):
            told = self.stress("one-way", MEDLEY_EXCHANGE=wanted)
            self.assertEqual(told["exchange"], wanted or "lock-free")
        result = subprocess.run(
            [MEDLEY, "stress", "one-way", "--json"],
            capture_output=True,
            text=True,
            env=dict(self.environment, MEDLEY_EXCHANGE="other"),
        )
        self.assertEqual(result.returncode, 0)
        self.assertIn("MEDLEY_EXCHANGE ignored: it is 'other'", result.stderr)
        self.assertEqual(json.loads(result.stdout)["stress"]["exchange"], "lock-free")

    def test_affinity(self):
        for affinity in ("one", "spread", "free"):
            for run in ("--threads", "--processes"):
                with self.subTest(affinity=affinity, run=run):
                    told = self.check_whole("ring", run, "--affinity", affinity)
                    self.assertEqual({node["affinity"] for node in told["nodes"]}, {affinity})

    def test_text(self):
        output, errors = self.run_medley("stress", "one-way", "--count", "10")
        self.assertEqual(errors, "")
        self.assertRegex(output, r"one-way: nodes 2, channels 1")
        once, _ = self.run_medley("stress", "one-way", "--count", "1")
        self.assertRegex(once, r"(?m)^1 transaction in .* a second$")
        self.assertRegex(output, r"(?m)^10 transactions in .* a second$")
        self.assertRegex(output, r"(?m)^retries \d+, at most \d+ for one; yields \d+, wake-ups 0$")
        self.assertNotIn("share", output)
        star, _ = self.run_medley("stress", "star", "--count", "10")
        self.assertRegex(star, r"(?m)^worst sender's share: \d+ % of the mean$")
        self.assertRegex(output, r"(?m)^latency, us: least .* median .* p99\.9 .* most")
        self.assertRegex(output, r"(?m)^ +2 +threads +free +0 +10 +0 ")


class Files(CommandTest):
    def write(self, text, name="some.yaml"):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def test_own_file(self):
        path = self.write(
            "# Anchors, and keys in any order.\n"
            "channels:\n"
            "  - &one {type: packet, to: 3, from: 1-2, count: 50, size: 300}\n"
            "  - {from: 3, to: next, type: scalar, size: 2, count: 70000}\n"
            "  - *one\n"
            "nodes:\n"
            "  - {count: 2, run: processes}\n"
            "  - {count: 1}\n"
        )
        told = self.run_json("stress", path)["stress"]
        self.assertEqual((told["topology"], told["channels"]), ("some", 5))
        self.assertEqual([node["received"] for node in told["nodes"]], [70000, 0, 200])

    def test_a_name_of_a_long_file(self):
        """Its ending is none of it, and so much is shown as a name may have."""
        for letters, shown in ((63, 63), (70, 63)):
            path = self.write(CHANNEL, "n" * letters + ".yaml")
            told = self.run_json("stress", path, "--count", "10")["stress"]
            self.assertEqual(told["topology"], "n" * shown)

    def test_states(self):
        """However long they are; the last one always comes."""
        path = self.write(
            HEAD + "  - {from: 1, to: 2-3, type: state, size: 65536, count: 200}\n"
            "  - {from: 2, to: 3, type: state, count: 20000, size: 8}\n"
        )
        for run in ("--threads", "--processes"):
            told = self.run_json("stress", path, run)["stress"]
            self.assertEqual(told["transactions"] + told["skipped"], 20400)
            self.assertGreaterEqual(told["transactions"], 3)

    def test_mistakes(self):
        mistakes = {
            "": ": it is empty",
            "nodes: [\n": ":2: ",
            "- one\n": ":1: want the keys name, nodes and channels",
            "name: x\nnames: y\n": ":2: key 'names': want name, nodes or channels",
            "name: x\n": ":1: 'nodes' is missing",
            "nodes:\n  - {count: 2}\n": ":1: 'channels' is missing",
            "nodes: 3\nchannels: []\n": ":1: want a list",
            CHANNEL + "nodes: []\n": ":5: key 'nodes' stands here twice",
            CHANNEL + "name: ''\n": ":5: name: want 1 to 63 letters",
            HEAD + "  - 7\n": ":4: want a mapping",
            HEAD + "  - {from: 1, to: 2}\n": ":4: 'type' is missing",
            HEAD + "  - {from: 1, to: 2,\n     type: telegram}\n":
                ":5: type 'telegram': want message, packet, scalar or state",
            HEAD + "  - {from: 1, to: 2, type: state, size: 7}\n": ":4: size 7 of a state: want 8",
            HEAD + "  - {from: 4, to: 2, type: message}\n": ":4: from '4': want a node from 1 to 3",
            HEAD + "  - {from: 1, to: 2-4, type: message}\n": ":4: to '2-4': want a node from 1 to 3",
            HEAD + "  - {from: next, to: 2, type: message}\n": ":4: from 'next': want a node",
            HEAD + "  - {from: 2, to: 2, type: message}\n": ":4: no channel",
            HEAD + "  - {from: 1, to: [2], type: message}\n": ":4: to '...': want a node",
            HEAD + "  - {from: 1, to: 2, type: scalar, size: 3}\n": ":4: size 3 of a scalar",
            HEAD + "  - {from: 1, to: 2, type: packet, size: 65537}\n": ":4: size '65537': want",
            HEAD + "  - {from: 1, to: 2, type: packet, count: 0}\n": ":4: count '0': want",
            HEAD + "  - {from: 1, to: 2, type: packet, count: -1}\n": ":4: count '-1': want",
            HEAD + "  - {from: 1, to: 2, type: packet, priority: 4}\n": ":4: priority '4': want",
            HEAD + "  - {from: 1, to: 2, type: packet, colour: 4}\n": ":4: key 'colour': want from, to",
            HEAD + "  - {from: 1, to: 2, type: packet, to: 3}\n": ":4: key 'to' stands here twice",
            "nodes:\n  - {count: 257}\nchannels: [1]\n": ":2: count '257': want a number from 1 to 256",
            "nodes:\n  - {count: 200}\n  - {count: 57}\nchannels: [1]\n": ":3: more than 256 nodes",
            "nodes:\n  - {count: 99}\nchannels:\n  - {from: all, to: all, type: message}\n":
                ":4: more than 2048 channels",
            "nodes:\n  - {count: 1, run: walking}\nchannels: [1]\n":
                ":2: run 'walking': want threads or processes",
            "nodes:\n  - {run: threads}\nchannels: [1]\n": ":2: 'count' is missing",
            '"na\\0me": 1\n': ":1: key '...'",
        }
        for text, message in mistakes.items():
            with self.subTest(text=text):
                path = self.write(text)
                output, errors = self.run_medley("stress", path, status=1)
                self.assertIn(f"medley stress: {path}{message}", errors)
                self.assertEqual((output, errors.count("\n")), ("", 1))

    def test_no_such(self):
        _, errors = self.run_medley("stress", "spiral", status=1)
        self.assertIn("cannot read 'spiral': No such file or directory", errors)
        _, errors = self.run_medley("stress", self.folder, status=1)
        self.assertIn(self.folder, errors)

    def test_a_limit_that_is_set_is_kept(self):
        _, errors = self.run_medley("stress", "mesh", status=1, MEDLEY_MAX_ENDPOINTS="20")
        self.assertRegex(
            errors,
            r"(?m)^medley stress: node \d \(process \d+\) while preparing: channel \d+ \(.*\): "
            r"making an endpoint: MCAPI_ERR_ENDP_LIMIT \(limit reached: 20 endpoints; "
            r"MEDLEY_MAX_ENDPOINTS raises it, .*\)$",
        )
        self.assertEqual(os.listdir(self.folder), [])

    def failed(self, *words, **environment):
        """Who failed, of a document; each is told in text too."""
        output, errors = self.run_medley("stress", *words, "--json", status=1, **environment)
        document = json.loads(output)
        self.assertEqual(os.listdir(self.folder), [])
        for one in document["failed"]:
            who = f"node {one['node']} (process {one['process_id']})"
            if one["node"] is None:
                who = f"process {one['process_id']}, of the nodes that are threads,"
            (line,) = [line for line in errors.splitlines() if who in line]
            self.assertTrue(line.endswith(f" while {one['state']}: {one['message']}"), line)
            self.assertIn(line.removeprefix("medley stress: "), document["error"])
        self.assertNotIn("medley: ", errors)  # the library's words stand in these lines
        alike = {(one["state"], one["message"]) for one in document["failed"]}
        self.assertEqual(errors.count("\n"), len(alike))
        return document["failed"]

    def test_who_cannot_start_says_why(self):
        why = "limit reached: 2 processes; MEDLEY_MAX_PROCESSES raises it, set for the process "
        failed = self.failed("ring", "--processes", MEDLEY_MAX_PROCESSES="2")
        self.assertGreaterEqual(len(failed), 1)
        for one in failed:
            self.assertIn(one["node"], (1, 2, 3, 4))
            self.assertEqual(one["state"], "starting")
            self.assertIn("cannot open system 'stress-", one["message"])
            self.assertEqual(one["message"].count("reached"), 2)
            self.assertIn(why, one["message"])

    def test_what_is_no_reason_is_told_all_the_same(self):
        _, errors = self.run_medley("stress", "one-way", "--threads", MEDLEY_MAX_NODES="many")
        self.assertIn("medley: MEDLEY_MAX_NODES ignored: it is 'many'; want a number", errors)
        more = {"MEDLEY_LOG": "info", "MEDLEY_MAX_PROCESSES": "2"}
        _, errors = self.run_medley("stress", "ring", "--processes", status=1, **more)
        self.assertIn("\nmedley: limit reached: 2 processes; ", errors)

    def test_who_cannot_be_a_node_says_why(self):
        for run in ("--threads", "--processes"):
            for one in self.failed("ring", run, MEDLEY_MAX_NODES="3"):
                self.assertIn(one["node"], (1, 2, 3, 4))
                self.assertEqual(one["state"], "starting")
                self.assertIn("mcapi_initialize: ", one["message"])
                self.assertIn("(limit reached: 3 nodes; MEDLEY_MAX_NODES", one["message"])

    def test_threads_that_cannot_start_say_why(self):
        folder = os.path.join(self.folder, "none")
        output, errors = self.run_medley(
            "stress", "ring", "--threads", "--json", status=1, MEDLEY_SHM_DIR=folder
        )
        (one,) = json.loads(output)["failed"]
        self.assertEqual((one["node"], one["state"]), (None, "starting"))
        self.assertIn("cannot open system 'stress-", one["message"])
        self.assertIn("MEDLEY_SHM_DIR", one["message"])
        self.assertIn(f"process {one['process_id']}, of the nodes that are threads, while", errors)


class Ends(CommandTest):
    """Something ends it before it has ended."""

    def start(self, *words):
        self.process = subprocess.Popen(
            [MEDLEY, "stress", *words, "--count", "1000000000"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        self.addCleanup(self.process.communicate)
        self.addCleanup(self.process.kill)

    def children(self, count):
        """All of them, once they are in the system."""
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        for _ in range(LOOKS):
            with open(path) as file:
                found = file.read().split()
            if len(found) == count and os.listdir(self.folder):
                return [int(pid) for pid in found]
        self.fail(f"there are {found}, not {count}")

    def expect_end(self, *messages):
        output, errors = self.process.communicate(timeout=60)
        self.assertEqual((self.process.returncode, output), (1, ""), errors)
        for message in messages:
            self.assertIn(message, errors)
        self.assertEqual(os.listdir(self.folder), [])

    def gone(self, pids):
        """Dead; whose parent is dead may have it still to collect."""
        for pid in pids:
            for _ in range(LOOKS):
                try:
                    with open(f"/proc/{pid}/stat") as file:
                        if file.read().rsplit(") ", 1)[1][0] in "ZX":
                            break
                except (FileNotFoundError, ProcessLookupError):
                    break
            else:
                self.fail(f"{pid} lives")

    def test_death(self):
        self.start("ring", "--processes")
        pids = self.children(4)
        os.kill(pids[2], signal.SIGKILL)
        self.expect_end(f"node 3 (process {pids[2]}) while ", ": killed by signal 9 (Killed)")
        self.gone(pids)

    def test_death_of_the_threads(self):
        self.start("ring", "--threads")
        (pid,) = self.children(1)
        os.kill(pid, signal.SIGSEGV)
        self.expect_end(f"process {pid}, of the nodes that are threads, ")

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for run, count in (("--processes", 4), ("--threads", 1)):
                with self.subTest(number=number, run=run):
                    self.start("ring", run)
                    pids = self.children(count)
                    self.process.send_signal(number)
                    self.expect_end(f"ended by signal {int(number)}", "of 4000000000 transactions")
                    self.gone(pids)

    def test_death_of_the_command(self):
        self.start("ring", "--processes")
        pids = self.children(4)
        self.process.kill()
        self.gone(pids)

    def test_json(self):
        self.start("ring", "--json")
        self.children(1)
        self.process.send_signal(signal.SIGINT)
        output, _ = self.process.communicate(timeout=60)
        self.assertEqual(self.process.returncode, 1)
        document = json.loads(output)
        self.assertIn("ended by signal 2", document["error"])
        self.assertEqual(document["failed"], [])

    def test_json_of_a_death(self):
        self.start("ring", "--processes", "--json")
        pids = self.children(4)
        os.kill(pids[1], signal.SIGKILL)
        output, _ = self.process.communicate(timeout=60)
        self.assertEqual(self.process.returncode, 1)
        # Others may have noticed it, and say so behind it.
        one, *others = json.loads(output)["failed"]
        self.assertEqual((one["node"], one["process_id"]), (2, pids[1]))
        self.assertIn(one["state"], ("starting", "preparing", "connecting", "running"))
        self.assertEqual(one["message"], "killed by signal 9 (Killed)")
        for other in others:
            self.assertNotIn("killed", other["message"])


if __name__ == "__main__":
    unittest.main()
