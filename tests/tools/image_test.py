# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""medley system save and load, and MEDLEY_SYSTEM_IMAGE: a system from a file, and back."""

import json
import os
import signal
import stat
import subprocess
import unittest

from support import HOLDER, MEDLEY, CommandTest, Holder

RADAR = """\
# Radar, by hand.
medley-system: 1
name: radar
on-death: fail

limits:
  nodes: 6      # three to come,\tthree more
  mutexes: 3
  sharers: 9
domains:
  - number: 1
  - number: 2
nodes:
  - number: 7
    domain: 1
  - domain: 2
    number: 7
endpoints:
  - port: 2
    node: 7
    domain: 2
  - port: 1
    node: 7
    domain: 1
mutexes:
  - number: 2
    domain: 1
  - number: 1
    domain: 1
    attributes: [recursive, error-ext]
semaphores:
  - number: 3
    domain: 2
    limit: 4
    attributes: []
rwlocks:
  - number: 4
    domain: 2
    limit: 9
shmems:
  - number: 5
    domain: 1
    size: 10000
    resource: any
    nodes: [7, 8]
"""

BEGIN = "medley-system: 1\nname: bad\ndomains:\n  - number: 1\n"  # four lines

# What is wrong, in which line, and what is said of it.
WRONG = [
    ("", None, "there is nothing in it: an image begins with 'medley-system: 1'"),
    ("name: bad\n", 1, "begins with 'medley-system: 1'"),
    ("medley-system: 2\n", 1, "medley-system '2': this Medley reads format 1"),
    ("medley-system: 1\nname: a/b\n", 2, "name 'a/b': a name has"),
    ("medley-system: 1\non-death: maybe\n", 2, "on-death 'maybe': want recover or fail"),
    (BEGIN + "colour: red\n", 5, "unknown key 'colour': want name"),
    (BEGIN + "domains:\n", 5, "second 'domains'"),
    (BEGIN + "mutexes: 3\n", 5, "value behind a section '3'"),
    (BEGIN + "mutexes\n", 5, "is not 'key: value' 'mutexes'"),
    (BEGIN + "\tmutexes:\n", 5, "there is a tab: want spaces"),
    (BEGIN + "\t# a word\n", 5, "there is a tab: want spaces; only within a comment"),
    (BEGIN + "mutexes:\t# a word\n", 5, "there is a tab: want spaces; only within a comment"),
    (BEGIN + "mutexes:\r\n", 5, "carriage return"),
    (BEGIN + "mutexes: \x01\n", 5, "no printable ASCII"),
    (BEGIN + "limits:\n  cars: 3\n", 6, "unknown limit 'cars'"),
    (BEGIN + "limits:\n  nodes: 0\n", 6, "nodes '0': want a number from 1 to 16000"),
    (BEGIN + "limits:\n  nodes: 16001\n", 6, "nodes '16001': want a number from 1 to 16000"),
    (BEGIN + "limits:\n  nodes: 010\n", 6, "nodes '010': want a number"),
    (BEGIN + "limits:\n  nodes: 5\n  nodes: 6\n", 7, "second 'nodes'"),
    (BEGIN + "limits:\n  domains: 1\ndomain:\n", 7, "unknown key 'domain'"),
    (BEGIN + "  - number: 1\n", 5, "number 1 is there already: line 4 has it"),
    (BEGIN + "   - number: 2\n", 5, "not expected here '- number: 2'"),
    (BEGIN + "  - number: 4294967295\n", 5, "want a number up to 4294967294"),
    (BEGIN + "  - number: 99999999999999999999999\n", 5, "want a number up to"),
    (BEGIN + "  - number: -1\n", 5, "number '-1': want a number"),
    (BEGIN + "  - number: 2\n    number: 2\n", 6, "second 'number'"),
    (BEGIN + "  - number: 2\n    size: 2\n", 6, "unknown key 'size': want number"),
    (BEGIN + "nodes:\n  - number: 1073741824\n", 6, "want a number up to 1073741823"),
    (BEGIN + "endpoints:\n  - port: 1073741824\n", 6, "port '1073741824': want a number up to"),
    (BEGIN + "endpoints:\n  - node: 1073741824\n", 6, "node '1073741824': want a number up to"),
    (BEGIN + "endpoints:\n  - number: 1\n", 6, "unknown key 'number': want port, node and domain"),
    (BEGIN + "endpoints:\n  - port: 1\n    node: 1\n", 6, "a key is missing: want port, node and"),
    (
        BEGIN + "endpoints:\n  - port: 1\n    node: 1\n    domain: 3\n",
        6,
        "domain 3 is not there: add it",
    ),
    (
        BEGIN + "  - number: 2\nendpoints:\n"
        "  - port: 5\n    node: 1\n    domain: 2\n"
        "  - port: 5\n    node: 2\n    domain: 1\n"
        "  - port: 5\n    node: 1\n    domain: 1\n"
        "  - port: 5\n    node: 2\n    domain: 1\n",
        16,
        "port 5 is there already: line 10 has it; choose another",
    ),
    (
        BEGIN + "limits:\n  endpoints: 1\nendpoints:\n"
        "  - port: 1\n    node: 1\n    domain: 1\n  - port: 2\n    node: 1\n    domain: 1\n",
        11,
        "more than the limit of 1 endpoint:",
    ),
    (BEGIN + "mutexes:\n  - number: 4026531840\n", 6, "want a number up to 4026531839"),
    (BEGIN + "mutexes:\n  - number: 1\n", 6, "a key is missing: want number, domain"),
    (BEGIN + "mutexes:\n  - number: 1\n    domain: 3\n", 6, "domain 3 is not there: add it"),
    (
        BEGIN + "mutexes:\n  - number: 1\n    domain: 1\n    attributes: [shiny]\n",
        8,
        "attributes '[shiny]': want recursive",
    ),
    (
        BEGIN + "rwlocks:\n  - number: 1\n    domain: 1\n    limit: 2\n    attributes: [recursive]\n",
        9,
        "attributes '[recursive]': want error-ext",
    ),
    (
        BEGIN + "mutexes:\n  - number: 1\n    domain: 1\n    attributes: [recursive, recursive]\n",
        8,
        "want each attribute once",
    ),
    (BEGIN + "semaphores:\n  - number: 1\n    domain: 1\n    limit: 0\n", 8, "from 1 to 1024"),
    (
        BEGIN + "semaphores:\n  - number: 1\n    domain: 1\n    limit: 65\n",
        6,
        "more than the limit of 64 sharers: raise 'sharers' in 'limits'",
    ),
    (
        BEGIN + "limits:\n  mutexes: 1\nmutexes:\n"
        "  - number: 1\n    domain: 1\n  - number: 2\n    domain: 1\n",
        10,
        "more than the limit of 1 mutex:",
    ),
    (BEGIN + "shmems:\n  - number: 1\n    domain: 1\n    size: 0\n", 8, "want a number of bytes"),
    (
        BEGIN + "shmems:\n  - number: 1\n    domain: 1\n    size: 9\n    address: 1234\n",
        9,
        "address '1234': want an address as 0x7f0000000000",
    ),
    (
        BEGIN + "shmems:\n  - number: 1\n    domain: 1\n    size: 9\n    address: 0x123\n",
        6,
        "this cannot be made",
    ),
    (
        BEGIN + "shmems:\n  - number: 1\n    domain: 1\n    size: 9\n"
        "    address: 0xffffffffffff0000\n",
        6,
        "this cannot be made",
    ),
    (
        BEGIN + "shmems:\n  - number: 1\n    domain: 1\n    size: 9\n    resource: moon\n",
        9,
        "resource 'moon': want any, huge-pages, numa N, or tight N",
    ),
    (
        BEGIN + "shmems:\n  - number: 1\n    domain: 1\n    size: 9\n    nodes: [1, 1]\n",
        9,
        "want each node once",
    ),
    (
        BEGIN + "nodes:\n  - number: 1\n    domain: 1\n  - domain: 1\n    number: 1\n",
        8,
        "number 1 is there already: line 6 has it",
    ),
]


class Loader:
    """A `medley system load` that has made its system."""

    def __init__(self, test, *words):
        self.process = subprocess.Popen(
            [MEDLEY, "system", "load", *words],
            stdout=subprocess.PIPE,
            text=True,
            env=test.environment,
        )
        test.addCleanup(self.end)
        test.assertIn("is there", self.process.stdout.readline())

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self):
        status = self.process.wait(timeout=60)
        self.process.stdout.close()
        return status


class Image(CommandTest):
    def write(self, text, name="image"):
        path = os.path.join(self.folder, name)
        with open(path, "w", newline="") as file:
            file.write(text)
        return path

    def save(self, system):
        return self.run_medley("system", "save", "-", system)[0]

    def test_round_trip(self):
        loader = Loader(self, self.write(RADAR))
        first = self.save("radar")
        self.assertEqual(loader.end(), 0)
        self.assertFalse(os.path.exists(self.file_of("radar")))
        for line in RADAR.splitlines():
            line = line.split("#")[0].rstrip()
            if line and line not in ("    resource: any", "  - domain: 2"):
                self.assertIn(line.lstrip(" -"), first)
        Loader(self, self.write(first, "first"))
        self.assertEqual(self.save("radar"), first)

    def test_place_of_a_memory(self):
        """Where it lies and where it is wanted come back, and are shown."""
        if not os.path.exists("/sys/devices/system/node/node0"):
            self.skipTest("not possible here: no NUMA nodes")
        place = "resource: numa 0\n    address: 0x7e0000000000\n"
        loader = Loader(self, self.write(RADAR.replace("resource: any\n", place)))
        first = self.save("radar")
        self.assertIn(place, first)
        (shmem,) = self.look("radar")["shmems"]
        self.assertEqual(shmem["resource"], "numa 0")
        self.assertEqual(loader.end(), 0)
        Loader(self, self.write(first, "first"))
        self.assertEqual(self.save("radar"), first)

    def test_is_yaml(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("not possible here: no yaml module")
        Loader(self, self.write(RADAR))
        saved = yaml.safe_load(self.save("radar"))
        by_hand = yaml.safe_load(RADAR)
        for key in ("name", "on-death", "domains", "nodes"):
            self.assertEqual(saved[key], by_hand[key])
        self.assertEqual(saved["endpoints"], by_hand["endpoints"][::-1])  # by node
        self.assertEqual(saved["limits"]["sharers"], 9)
        self.assertEqual(saved["shmems"][0]["nodes"], [7, 8])

    def test_what_is_made(self):
        Loader(self, self.write(RADAR))
        seen = self.look("radar")
        self.assertEqual([row["mutex"] for row in seen["locks"]], [2, 1])
        self.assertEqual({row["state"] for row in seen["nodes"]}, {"expected"})
        self.assertEqual(
            [(row["endpoint"], row["state"]) for row in seen["endpoints"]],
            [
                ({"domain": 2, "node": 7, "port": 2}, "expected"),
                ({"domain": 1, "node": 7, "port": 1}, "expected"),
            ],
        )
        # What the image made is found by number; who is expected comes, one at a time.
        Holder(self, 1, 7, "get", 2, "lock", 2, system="radar")
        states = {(n["domain"], n["node"]): n["state"] for n in self.look("radar")["nodes"]}
        self.assertEqual(states, {(1, 7): "running", (2, 7): "expected"})
        second = subprocess.run(
            [HOLDER, "1", "7"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=dict(self.environment, MEDLEY_SYSTEM="radar"),
        )
        self.assertIn("node 7 of domain 1 is taken", second.stderr)

    def test_load_from_input(self):
        loader = subprocess.Popen(
            [MEDLEY, "system", "load", "-", "--until-joined"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        self.addCleanup(loader.kill)
        loader.stdin.write(RADAR)
        loader.stdin.close()
        self.assertIn("'radar' is there", loader.stdout.readline())
        holder = Holder(self, 1, 7, "get", 2, system="radar")
        self.assertEqual(loader.wait(timeout=60), 0)
        loader.stdout.close()
        holder.end()

    def test_load_ended_before_it_is_there(self):
        """The signal waits when it begins. Between two items it looks: it does not reach line 6."""

        def begin_ended():
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
            os.kill(os.getpid(), signal.SIGTERM)

        for text in (BEGIN, BEGIN + "nodes:\n  - number: 1\n    domain: 3\n"):
            result = subprocess.run(
                [MEDLEY, "system", "load", self.write(text)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=60,
                env=self.environment,
                preexec_fn=begin_ended,
            )
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("ended by a signal before system 'bad' was there", result.stderr)
            self.assertNotIn(":6:", result.stderr)
        self.assertEqual(self.run_json("system", "list")["systems"], [])

    def test_wrong_input(self):
        for text, message in (
            (BEGIN + "colour: red\n", "standard input:5: unknown key 'colour'"),
            ("", "standard input: there is nothing in it"),
            ("#" * (4 << 20) + "x", "standard input: cannot be read: it is larger than 4 MiB"),
        ):
            result = subprocess.run(
                [MEDLEY, "system", "load", "-"],
                input=text,
                capture_output=True,
                text=True,
                timeout=60,
                env=self.environment,
            )
            self.assertEqual(result.returncode, 1)
            self.assertIn(message, result.stderr)

    def test_size_with_memories(self):
        Loader(self, self.write(RADAR))
        (row,) = self.run_json("system", "list")["systems"]
        partition = os.stat(self.file_of("radar")).st_size
        self.assertEqual(row["shmem_bytes"], 10000)
        self.assertEqual(row["size_bytes"], partition + 10000)

    def test_until_joined(self):
        loader = Loader(self, self.write(RADAR), "--until-joined", "--name", "other")
        holder = Holder(self, 2, 7, system="other")
        self.assertEqual(loader.wait(), 0)
        seen = self.look("other")
        self.assertEqual({n["state"] for n in seen["nodes"]}, {"running", "expected"})
        self.assertEqual(len(seen["locks"]), 2)
        # The one that is still expected may come though who expected it has gone.
        Holder(self, 1, 7, "get", 2, system="other").end()
        holder.end()
        self.assertFalse(os.path.exists(self.file_of("other")))

    def test_expected_keep_their_places(self):
        text = BEGIN + "limits:\n  nodes: 2\nnodes:\n" + "".join(
            f"  - number: {number}\n    domain: 1\n" for number in (1, 2)
        )
        Loader(self, self.write(text))
        environment = dict(self.environment, MEDLEY_SYSTEM="bad")
        for _ in range(3):  # also when they have gone, or died
            other = subprocess.run(
                [HOLDER, "1", "3"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                env=environment,
            )
            self.assertIn("limit reached: 2 nodes", other.stderr)
            first = Holder(self, 1, 2, system="bad")
            second = Holder(self, 1, 1, system="bad")
            first.end()
            second.kill()

    def states_of_node(self, node):
        """Of its endpoints, by port."""
        ends = [(row["endpoint"], row["state"]) for row in self.look("bad")["endpoints"]]
        return {end["port"]: state for end, state in ends if end and end["node"] == node}

    def test_expected_endpoints(self):
        """Each is its node's to make, once and again, and saved whether it was expected or made."""
        text = BEGIN + "limits:\n  endpoints: 4\nendpoints:\n" + "".join(
            f"  - port: {port}\n    node: 5\n    domain: 1\n" for port in (1, 2, 3)
        )
        Loader(self, self.write(text))
        environment = dict(self.environment, MEDLEY_SYSTEM="bad")
        other = subprocess.run(
            [HOLDER, "1", "4", "exchange", "1"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=environment,
        )
        self.assertIn("limit reached: 4 endpoints", other.stderr)
        self.assertIn("unless its file says it", other.stderr)
        self.assertEqual(self.states_of_node(5), {port: "expected" for port in (1, 2, 3)})
        Holder(self, 1, 5, "exchange", 1, system="bad").end()
        self.assertEqual(self.states_of_node(5), {port: "expected" for port in (1, 2, 3)})
        Holder(self, 1, 5, "exchange", 1, system="bad").kill()
        ends = [f"  - port: {port}\n    node: 5\n    domain: 1\n" for port in (1, 2, 3)]
        self.assertIn("\nendpoints:\n" + "".join(ends), self.save("bad"))
        Holder(self, 1, 5, "exchange", 1, system="bad")
        self.assertEqual(self.states_of_node(5), {1: "free", 2: "free", 3: "connected", 4: "connected"})
        ends = [f"  - port: {port}\n    node: 5\n    domain: 1\n" for port in (1, 2, 3, 4)]
        self.assertIn("\nendpoints:\n" + "".join(ends), self.save("bad"))

    def test_endpoints_that_are_not_saved(self):
        """Under ports that the library chose, and those of who has died, noticed or not."""
        Holder(self, 1, 1, "any", 1, system="living")
        dead = Holder(self, 1, 2, "exchange", 1, system="living")
        self.assertIn("    node: 2\n", self.save("living"))
        dead.kill()
        saved = self.save("living")
        self.assertNotIn("endpoints:\n", saved)
        self.assertIn("nodes:\n  - number: 1\n    domain: 1\n", saved)
        self.assertNotIn("  - number: 2\n", saved)

    def test_until_joined_if_only_for_a_moment(self):
        """Who has come and gone between two looks has joined."""
        for _ in range(5):
            loader = Loader(self, self.write(RADAR), "--until-joined")
            subprocess.run(
                [HOLDER, "1", "7"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=dict(self.environment, MEDLEY_SYSTEM="radar"),
                check=True,
            )
            self.assertEqual(loader.wait(), 0)
            self.assertFalse(os.path.exists(self.file_of("radar")))

    def test_variable(self):
        self.environment["MEDLEY_SYSTEM_IMAGE"] = self.write(RADAR)
        first = Holder(self, 1, 7, "get", 2, system="radar")
        # Who joins does not read it.
        self.environment["MEDLEY_SYSTEM_IMAGE"] = "/nowhere"
        Holder(self, 1, 8, "get", 2, system="radar")
        first.end()
        self.assertEqual(len(self.look("radar")["locks"]), 2)

    def test_variable_wrong(self):
        for path, message in (
            (self.write(RADAR), "image:3: another system's name 'radar': set MEDLEY_SYSTEM to it"),
            (self.write(BEGIN + "x\n", "bad"), "bad:5: is not 'key: value' 'x'"),
            (
                os.path.join(self.folder, "none"),
                "cannot be read: there is no such file; see MEDLEY_SYSTEM_IMAGE\n",
            ),
            (self.folder, "cannot be read: it is not a plain file"),
        ):
            with self.subTest(message=message):
                result = subprocess.run(
                    [HOLDER, "1", "1"],
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    env=dict(
                        self.environment, MEDLEY_SYSTEM="mine", MEDLEY_SYSTEM_IMAGE=path
                    ),
                )
                self.assertEqual(result.returncode, 1)
                self.assertIn(message, result.stderr)
                self.assertIn("cannot open system 'mine'", result.stderr)
                self.assertFalse(os.path.exists(self.file_of("mine")))

    def test_wrong_texts(self):
        for text, line, message in WRONG:
            with self.subTest(text=text):
                path = self.write(text)
                output, errors = self.run_medley("system", "load", path, "--name", "bad", status=1)
                place = f"{path}:{line}: " if line else f"{path}: "
                # A long path is shown by its end.
                self.assertIn(place[-80:], errors)
                self.assertIn(message, errors)
                self.assertEqual(output, "")
                self.assertEqual(os.listdir(self.folder), ["image"])

    def test_other_bad_files(self):
        for path, message in (
            (self.write("x" * (4 << 20) + "x", "large"), "it is larger than 4 MiB"),
            ("/dev/zero", "it is not a plain file"),
            (self.write("medley-system: 1\n", "nameless"), "names no system"),
        ):
            _, errors = self.run_medley("system", "load", path, status=1)
            self.assertIn(message, errors)

    def test_no_such_file(self):
        """The advice is for who gave its name here."""
        path = os.path.join(self.folder, "none")
        _, errors = self.run_medley("system", "load", path, status=1)
        why = "cannot be read: there is no such file; 'medley system save' writes one"
        self.assertEqual(errors, f"medley: {path}: {why}\n")

    def test_json_of_save(self):
        Loader(self, self.write(RADAR))
        path = os.path.join(self.folder, "saved")
        saved = self.run_json("system", "save", path, "radar")["saved"]
        self.assertEqual((saved["system"], saved["file"]), ("radar", path))
        counts = {
            key: saved[key] for key in ("domains", "nodes", "endpoints", "mutexes", "shmems")
        }
        self.assertEqual(
            counts, {"domains": 2, "nodes": 2, "endpoints": 2, "mutexes": 2, "shmems": 1}
        )
        self.assertTrue(os.path.exists(path))
        _, errors = self.run_medley("system", "save", "-", "radar", "--json", status=2)
        self.assertIn("'save -' gives the file itself", errors)

    def test_json_of_load(self):
        path = self.write(RADAR)
        loader = subprocess.Popen(
            [MEDLEY, "system", "load", path, "--json", "--until-joined"],
            stdout=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        first = loader.stdout.readline()
        while not first.endswith("}\n}\n"):
            first += loader.stdout.readline()
        self.assertEqual(
            json.loads(first),
            {"loaded": {"system": "radar", "file": path, "kept_until": "joined"}},
        )
        Holder(self, 1, 7, system="radar")
        self.assertEqual((loader.wait(timeout=60), loader.stdout.read()), (0, ""))
        loader.stdout.close()

    def test_json_of_errors(self):
        path = self.write(BEGIN + "colour: red\n")
        output, errors = self.run_medley("system", "load", path, "--json", status=1)
        told = json.loads(output)["error"]
        self.assertIn("image:5: unknown key 'colour'", told)
        self.assertIn(told, errors)

    def test_inhabited(self):
        Holder(self, 0, 1, "create", 1, system="radar")
        _, errors = self.run_medley("system", "load", self.write(RADAR), status=1)
        self.assertIn("somebody lives in it", errors)
        self.assertEqual(len(self.look("radar")["locks"]), 1)

    def test_save_whole_or_not(self):
        Holder(self, 3, 1, "recursive", 1, "sem3", 2, "rwl", 3, system="living")
        path = os.path.join(self.folder, "saved")
        self.run_medley("system", "save", path, MEDLEY_SYSTEM="living")
        with open(path) as file:
            self.assertEqual(file.read(), self.save("living"))
        self.assertEqual(
            sorted(os.listdir(self.folder)), ["medley-%d-living" % os.geteuid(), "saved"]
        )
        nowhere = os.path.join(self.folder, "no", "where")
        _, errors = self.run_medley("system", "save", nowhere, "living", status=1)
        self.assertIn("cannot write", errors)
        _, errors = self.run_medley("system", "save", path, "none", status=1)
        self.assertIn("no system 'none'", errors)

    def test_save_keeps_what_a_file_is(self):
        Loader(self, self.write(RADAR))
        whole = self.save("radar")
        path = self.write("before", "shared")
        os.chmod(path, 0o640)
        link = os.path.join(self.folder, "link")
        os.symlink("shared", link)
        self.run_medley("system", "save", link, "radar")
        self.assertEqual(os.readlink(link), "shared")
        self.assertEqual(os.stat(path).st_mode & 0o7777, 0o640)
        with open(path) as file:
            self.assertEqual(file.read(), whole)
        # One that leads nowhere yet.
        os.unlink(path)
        self.run_medley("system", "save", link, "radar")
        self.assertEqual(os.readlink(link), "shared")
        with open(path) as file:
            self.assertEqual(file.read(), whole)

    def test_save_makes_files_as_others_do(self):
        Loader(self, self.write(RADAR))
        beside = os.stat(self.write("", "beside")).st_mode
        path = os.path.join(self.folder, "new")
        self.run_medley("system", "save", path, "radar")
        self.assertEqual(os.stat(path).st_mode, beside)

    def test_save_into_pipe(self):
        Loader(self, self.write(RADAR))
        whole = self.save("radar")
        path = os.path.join(self.folder, "pipe")
        os.mkfifo(path)
        # Opened for both, so that neither end waits for the other; the text fits.
        with open(os.open(path, os.O_RDWR | os.O_NONBLOCK), "rb", buffering=0) as pipe:
            self.run_medley("system", "save", path, "radar")
            self.assertTrue(stat.S_ISFIFO(os.stat(path).st_mode))
            self.assertEqual((pipe.read(65536) or b"").decode(), whole)


if __name__ == "__main__":
    unittest.main()
