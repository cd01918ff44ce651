# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""medley top: what it tells once, of nodes and messages that are known; and on a terminal, what the
screen shows after each key, while systems come, go and die."""

import os
import re
import signal
import subprocess
import unittest

from support import MEDLEY, CommandTest, Holder
from terminal import Terminal, key

SYSTEM = "watched"
TRIES = 200
TABLES = ("Nodes", "Lanes", "Endpoints", "Locks", "Waits")


class TopTest(CommandTest):
    def holder(self, *words, system=SYSTEM):
        return Holder(self, *words, system=system)

    def top(self, *words, interval="0.2", **others):
        """On a terminal."""
        return Terminal(
            self,
            MEDLEY,
            "top",
            *words,
            "--interval",
            interval,
            environment=self.environment,
            **others,
        )


class Once(TopTest):
    def once(self, *words, interval="0.05"):
        return self.run_json("top", *words, "--once", "--interval", interval)

    def look(self, **others):
        (system,) = self.once(SYSTEM, **others)["systems"]
        self.assertEqual(system["name"], SYSTEM)
        return system

    def look_until(self, condition):
        """Each look takes as long as its interval; the first that is so."""
        for _ in range(TRIES):
            system = self.look()
            if condition(system):
                return system
        self.fail(f"it never came; the last look: {system}")

    def test_nodes(self):
        holder = self.holder(3, 5, "create", 4)
        self.look_until(lambda s: s["nodes"][0]["thread_state"] == "sleeping")
        document = self.once(SYSTEM, interval="0.2")
        self.assertGreaterEqual(document["interval_ns"], 200_000_000)
        numbers = [row["processor"] for row in document["processors"]]
        self.assertEqual(len(numbers), os.sysconf("SC_NPROCESSORS_ONLN"))
        for row in document["processors"]:
            self.assertIn(row["used_permille"], range(1001))
        (system,) = document["systems"]
        self.assertEqual((system["state"], system["reason"]), ("live", None))
        self.assertIsNone(system["buffers"])
        (node,) = system["nodes"]
        self.assertEqual((node["domain"], node["node"]), (3, 5))
        self.assertEqual((node["process_id"], node["thread_id"]), (holder.pid, holder.pid))
        self.assertEqual(node["process_here"], holder.pid)
        self.assertEqual((node["state"], node["thread_state"]), ("running", "sleeping"))
        self.assertIn(node["processor"], numbers)
        self.assertIn(node["used_permille"], range(1001))
        self.assertEqual((node["sent_per_second"], node["received_per_second"]), (0, 0))
        self.assertIsNone(node["waits"])
        self.assertEqual(system["waits"], [])

    def test_what_lies_there(self):
        """Ten messages and ten scalars, of which one each was received."""
        self.holder(3, 5, "exchange", 10)
        system = self.look()
        endpoint = {"domain": 3, "node": 5}
        lanes = {row["kind"]: row for row in system["lanes"]}
        for kind, port in (("messages", 1), ("scalars", 3)):
            lane = lanes[kind]
            self.assertEqual(lane["from"], dict(endpoint, port=port))
            self.assertEqual(lane["to"], dict(endpoint, port=port + 1))
            self.assertEqual((lane["sent"], lane["received"], lane["depth"]), (10, 1, 9))
            for rate in ("sent", "received", "bytes", "full", "empty"):
                self.assertEqual(lane[f"{rate}_per_second"], 0)
        depths = {row["endpoint"]["port"]: row["depth"] for row in system["endpoints"]}
        self.assertEqual(depths, {1: 0, 2: 9, 3: 0, 4: 9})
        buffers = system["buffers"]
        self.assertEqual(buffers["free"], buffers["count"] - buffers["in_use"] - buffers["kept"])
        self.assertGreater(buffers["free"], 0)

    def test_rates(self):
        """Every message is received before the next is sent."""
        self.holder(3, 5, "stream", 0)
        system = self.look_until(lambda s: s["lanes"] and s["lanes"][0]["sent_per_second"] > 0)
        (lane,) = system["lanes"]
        self.assertLessEqual(lane["depth"], 1)
        ends = {row["endpoint"]["port"]: row for row in system["endpoints"]}
        self.assertEqual(ends[1]["sent_per_second"], lane["sent_per_second"])
        self.assertEqual(ends[2]["received_per_second"], lane["received_per_second"])
        self.assertEqual(ends[3]["sent_per_second"], 0)
        (node,) = system["nodes"]
        self.assertEqual(node["sent_per_second"], lane["sent_per_second"])
        self.assertEqual(node["received_per_second"], lane["received_per_second"])

    def test_a_lock_and_who_waits(self):
        self.holder(0, 1, "create", 4, "lock", 4)
        waiter = self.holder(0, 2, "get", 4, "wait", 4)
        system = self.look_until(lambda s: s["waits"] and s["waits"][0]["waited_ns"] > 0)
        (wait,) = system["waits"]
        self.assertEqual((wait["domain"], wait["node"], wait["for"]), (0, 2, "mutex"))
        self.assertEqual((wait["number"], wait["owner"]), (4, {"domain": 0, "node": 1}))
        self.assertEqual(wait["process_here"], waiter.pid)
        (lock,) = system["locks"]
        self.assertEqual((lock["kind"], lock["number"], lock["state"]), ("mutex", 4, "held"))
        self.assertEqual((lock["owner"], lock["waiters"]), ({"domain": 0, "node": 1}, 1))

    def test_who_waits_for_a_message(self):
        self.holder(0, 1, "await", 0)
        system = self.look_until(lambda s: s["waits"] and s["waits"][0]["waited_ns"] > 0)
        (wait,) = system["waits"]
        self.assertEqual((wait["for"], wait["number"], wait["owner"]), ("exchange", None, None))
        self.assertEqual(wait["endpoints"], [{"domain": 0, "node": 1, "port": 1}])

    def test_dead_with_a_lock(self):
        self.holder(0, 2)
        dead = self.holder(0, 1, "create", 4, "lock", 4)
        dead.kill()
        system = self.look()
        states = {row["node"]: row["state"] for row in system["nodes"]}
        self.assertEqual(states, {1: "dead", 2: "running"})
        (node,) = [row for row in system["nodes"] if row["node"] == 1]
        self.assertEqual((node["thread_state"], node["process_here"]), (None, None))
        (lock,) = system["locks"]
        self.assertEqual((lock["state"], lock["owner"]), ("held", {"domain": 0, "node": 1}))

    def test_all_systems(self):
        document = self.once()
        self.assertEqual(document["systems"], [])
        self.holder(0, 1, system="second")
        self.holder(0, 1, system="first")
        names = [system["name"] for system in self.once()["systems"]]
        self.assertEqual(names, ["first", "second"])

    def test_text(self):
        holder = self.holder(3, 5, "create", 4, "lock", 4, "exchange", 10)
        output, _ = self.run_medley("top", SYSTEM, "--once", "--interval", "0.05")
        self.assertRegex(output, r"processors in use:( \d+\.\d%)+\n")
        self.assertRegex(output, rf"\n  3:5 +{holder.pid} +{holder.pid} +\d+ +\d+\.\d +0 +0 ")
        self.assertRegex(output, r"\n  3:5:1 +3:5:2 +messages +2 +9 +10 +128 +0 +0 +0 B +0 +0")
        self.assertRegex(output, r"\n  mutex +4 +3:5 +1 +1 +0 ")
        output, _ = self.run_medley("top", "--once", "--interval", "0.05")
        self.assertRegex(output, rf"\n  {SYSTEM} +3:5 ")

    def test_looking_changes_nothing(self):
        self.holder(0, 1, "create", 4, "lock", 4, "exchange", 3)
        files = {}
        for name in os.listdir(self.folder):
            with open(os.path.join(self.folder, name), "rb") as file:
                files[name] = file.read()
        self.look()
        for name, before in files.items():
            with open(os.path.join(self.folder, name), "rb") as file:
                self.assertEqual(file.read(), before, name)

    def test_another_namespace(self):
        """Whoever has another number here has none of his own shown for another's."""
        within = self.apart("--pid")
        Holder(self, 0, 1, system=SYSTEM, within=within)
        (node,) = self.look()["nodes"]
        self.assertNotEqual(node["process_here"], node["process_id"])
        self.assertIsNone(node["thread_state"])

    def test_no_such_system(self):
        _, errors = self.run_medley("top", "nobody", "--once", status=1)
        self.assertIn("no system 'nobody'", errors)

    def test_a_system_that_ends_meanwhile(self):
        """It ends while `top` sleeps between its looks; where it was later, once more, longer."""
        for interval in (1, 2, 4, 8, 16, 32):
            holder = self.holder(0, 1)
            top = subprocess.Popen(
                [MEDLEY, "top", SYSTEM, "--once", "--interval", str(interval)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=self.environment,
            )
            while not self.sleeps_or_is_gone(top.pid):
                pass
            holder.end()
            output, errors = top.communicate()
            if "ended while" in errors:
                self.assertEqual((top.returncode, output), (1, ""))
                self.assertIn(f"system '{SYSTEM}' ended while it was looked at", errors)
                return
        self.fail(f"never seen: {output}{errors}")

    @staticmethod
    def sleeps_or_is_gone(pid):
        """As far as the kernel says where it sleeps: in the call that does nothing else."""
        try:
            with open(f"/proc/{pid}/stat") as file:
                state = file.read().rsplit(")", 1)[1].split()[0]
            with open(f"/proc/{pid}/wchan") as file:
                where = file.read()
        except OSError:
            return True
        return state == "Z" or (state == "S" and (where == "0" or "nanosleep" in where))


class NoTerminal(TopTest):
    def run_on(self, **ends):
        return subprocess.run([MEDLEY, "top"], text=True, capture_output=True, **ends)

    def test_pipes(self):
        result = self.run_on(stdin=subprocess.DEVNULL, env=self.environment)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("no terminal; 'medley top --once' needs none", result.stderr)

    def on_a_terminal(self, term):
        terminal = Terminal(self, MEDLEY, "top", environment=self.environment, term=term)
        self.assertEqual(os.waitstatus_to_exitcode(terminal.expect_end()), 1)
        return terminal.written.decode()

    def test_terminals_that_cannot(self):
        self.assertIn("TERM names no terminal that is known", self.on_a_terminal("nosuch"))
        self.assertIn("medley top --once", self.on_a_terminal("dumb"))

    def test_a_system_that_is_not_there(self):
        """Is said before the screen is another."""
        terminal = Terminal(self, MEDLEY, "top", "nobody", environment=self.environment)
        self.assertEqual(os.waitstatus_to_exitcode(terminal.expect_end()), 1)
        self.assertIn(b"no system 'nobody'", terminal.written)
        self.assertNotIn(b"\x1b[", terminal.written)


class OnATerminal(TopTest):
    def five(self):
        """A system of five nodes, and its screen, by their numbers."""
        self.holders = [self.holder(7, number) for number in range(1, 6)]
        top = self.top(SYSTEM)
        top.expect("Quit")
        top.press("N")
        self.expect_nodes(top, 1, 2, 3, 4, 5)
        return top

    def nodes(self, top):
        lines = [re.match(r"(?:\|- |`- )?7:(\d+) ", line) for line in top.lines()]
        return [int(found[1]) for found in lines if found]

    def expect_nodes(self, top, *numbers):
        top.expect_that(lambda: self.nodes(top) == list(numbers), f"nodes {numbers}")

    def selected(self, top):
        """The lines whose first letter has the colour of the selection."""
        return [
            top.lines()[y]
            for y in range(len(top.lines()))
            if top.screen.buffer[y][0].bg == "cyan"
        ]

    def expect_selected(self, top, beginning):
        top.expect_that(
            lambda: [line for line in self.selected(top) if line.startswith(beginning)],
            f"the selection of {beginning!r}",
        )

    def test_what_is_on_it(self):
        holder = self.holder(3, 5, "create", 4, "lock", 4, "exchange", 10)
        waiter = self.holder(3, 6, "get", 4, "wait", 4)
        top = self.top(SYSTEM)
        top.expect("waits: mutex 4")
        lines = top.text()
        self.assertRegex(lines, rf"{SYSTEM}: live, .* old, 2 processes, 2 nodes, \d+ of \d+ buffers free")
        self.assertRegex(lines, r"(?m)^  0\[.*(%|-)\]")
        self.assertRegex(lines, rf"(?m)^3:5 +{holder.pid} +{holder.pid} ")
        self.assertRegex(lines, rf"(?m)^3:6 +{waiter.pid} +{waiter.pid} ")
        top.expect_line(lambda line: re.match(r"3:6 .* >\d+\.\d s .*waits: mutex 4", line), "a wait")
        top.press("\t")
        top.expect_line(
            lambda line: re.match(r"3:5:1 +3:5:2 +messages +2 +9 +10 +128 +0 +0 ", line), "a lane"
        )
        top.press("\t")
        top.expect_line(lambda line: re.match(r"3:5:2 +9 +0 +0 ", line), "an endpoint")
        top.press("\t")
        top.expect_line(lambda line: re.match(r"mutex +4 +3:5 +1 +1 +1 ", line), "a lock")
        top.press("\t")
        top.expect_line(
            lambda line: re.match(rf"3:6 +{waiter.pid} .*>\d+\.\d s +mutex 4 +3:5$", line), "a wait"
        )
        top.press(key("kcbt"))
        top.expect_line(lambda line: line.startswith("mutex "), "the table before")

    def test_processors_are_busy(self):
        """The first look knows nothing, the second does."""
        top = self.top()
        top.expect("no systems of this user")
        top.expect_line(lambda line: re.match(r"  0\[.*\d+\.\d%\]", line), "a use of processor 0")

    def test_moving(self):
        top = self.five()
        self.expect_selected(top, "7:1 ")
        for name, selected in (
            ("kcud1", 2), ("kcud1", 3), ("kcuu1", 2), ("kend", 5), ("kcud1", 5), ("khome", 1),
            ("knp", 5), ("kpp", 1),
        ):
            top.press(key(name))
            self.expect_selected(top, f"7:{selected} ")

    def test_a_page_that_is_too_short(self):
        self.five()
        top = self.top(SYSTEM, lines=10)
        top.expect("Quit")
        top.press("N", key("kend"))
        self.expect_selected(top, "7:5 ")
        self.assertNotIn(1, self.nodes(top))

    def test_sorting(self):
        top = self.five()
        top.press("I")
        self.expect_nodes(top, 5, 4, 3, 2, 1)
        top.press(">")
        top.expect_line(lambda line: re.match(r" Sort by +\|NODE ", line), "the list, and the table")
        top.expect("Enter: take it")
        top.press(key("khome"), key("kcud1"))
        top.press("\r")
        top.expect("by PROCESS")
        by_process = sorted(range(5), key=lambda i: self.holders[i].pid)
        self.expect_nodes(top, *[i + 1 for i in reversed(by_process)])
        top.press(key("kf6"))
        top.expect("Sort by")
        top.press("\x1b")
        top.expect_none("Sort by")
        for letter, column in (("P", "USE%"), ("M", "SENT/S"), ("T", "WAITED"), ("N", "NODE")):
            top.press(letter)
            top.expect(f"by {column}, ")
        self.expect_nodes(top, 1, 2, 3, 4, 5)
        top.press("\t\t\t")
        top.expect("by WAITERS")
        top.press("T")
        top.expect("Locks have no such column")

    def test_searching(self):
        top = self.five()
        top.press("/", "7:4")
        top.expect("Search: 7:4")
        self.expect_selected(top, "7:4 ")
        top.press("\x7f", "3")
        top.expect("Search: 7:3")
        self.expect_selected(top, "7:3 ")
        top.press("\r")
        top.expect("Quit")
        top.press(key("khome"))
        self.expect_selected(top, "7:1 ")
        top.press(key("kf3"))
        top.expect("Search:")
        top.press(SYSTEM, key("kf3"))
        top.expect(f"Search: {SYSTEM}")
        self.expect_selected(top, "7:2 ")
        top.press("\r", "n")
        self.expect_selected(top, "7:3 ")

    def test_filtering(self):
        top = self.five()
        top.press("\\", "7:2")
        top.expect("Filter: 7:2")
        self.expect_nodes(top, 2)
        top.press("\r")
        top.expect("only '7:2'")
        top.press(key("kf4"), "x")
        top.expect("nothing to show")
        top.press("\x1b")
        self.expect_nodes(top, 1, 2, 3, 4, 5)
        top.expect_none("only '")

    def test_a_tree(self):
        top = self.five()
        top.press("t")
        top.expect_line(lambda line: line.startswith("1 node "), "a process")
        top.expect_line(lambda line: line.startswith("`- 7:5 "), "its node")
        top.press(key("kf5"))
        top.expect_none("`- ")
        self.expect_nodes(top, 1, 2, 3, 4, 5)

    def test_help(self):
        top = self.five()
        for press in ("h", "?", key("kf1")):
            top.press(press)
            top.expect("any key: back")
            top.press("x")
            top.expect_none("any key: back")
            top.expect("Quit")

    def test_pausing(self):
        top = self.five()
        top.press("Z")
        top.expect(" paused")
        self.holders[4].end()
        top.press(key("kend"))
        self.expect_selected(top, "7:5 ")  # drawn again, and nobody has looked
        top.press("Z")
        top.expect_none(" paused")
        self.expect_nodes(top, 1, 2, 3, 4)

    def test_killing(self):
        top = self.five()
        top.press("/", "7:3", "\r")
        self.expect_selected(top, "7:3 ")
        top.press(key("kf9"))
        top.expect("Send signal")
        self.expect_selected(top, " 15 SIGTERM")
        top.press("\r")
        top.expect(f"Send SIGTERM to process {self.holders[2].pid}? y: yes")
        top.press("n")
        top.expect("no signal was sent")
        top.press("k")
        top.expect("Send signal")
        top.press("\x1b")
        top.expect("no signal was sent")
        self.assertIsNone(self.holders[2].process.poll())
        top.press("k")
        top.expect("Send signal")
        top.press(*[key("kcuu1")] * 3)
        self.expect_selected(top, "  9 SIGKILL")
        top.press("\r")
        top.expect(f"Send SIGKILL to process {self.holders[2].pid}? y: yes")
        top.press("y")
        top.expect(f"SIGKILL sent to process {self.holders[2].pid}")
        self.assertEqual(self.holders[2].process.wait(), -signal.SIGKILL)
        top.expect_line(lambda line: line.startswith("7:3 ") and "dead" in line, "a dead node")

    def test_killing_what_is_tagged(self):
        top = self.five()
        top.press(" ", " ")
        self.expect_selected(top, "7:3 ")
        top.press("k")
        top.expect("Send signal")
        top.press("\r")
        top.expect("Send SIGTERM to 2 processes? y: yes")
        top.press("y")
        top.expect("SIGTERM sent to 2 processes")
        for i in (0, 1):
            self.assertEqual(self.holders[i].process.wait(), -signal.SIGTERM)
        self.assertIsNone(self.holders[2].process.poll())

    def test_killing_who_is_gone(self):
        """Between the question and the answer it ends by itself."""
        top = self.five()
        top.press("k")
        top.expect("Send signal")
        top.press("\r")
        top.expect("y: yes")
        self.holders[0].end()
        self.expect_nodes(top, 2, 3, 4, 5)
        top.press("y")
        top.expect("no signal was sent: who was to get it is not there any more")

    def test_killing_nobody(self):
        self.holder(7, 1, "create", 4)
        top = self.top(SYSTEM)
        top.expect("Quit")
        top.press("\t\t\t")
        top.expect_line(lambda line: line.startswith("mutex "), "a lock")
        top.press("k")
        top.expect("no process that can be seen from here is in this line")

    def test_a_lock_whose_owner_dies(self):
        """The next one gets it, and is seen to have it."""
        owner = self.holder(7, 1, "create", 4, "lock", 4)
        self.holder(7, 2, "get", 4, "wait", 4)
        top = self.top(SYSTEM)
        top.expect("waits: mutex 4")
        top.press("\t\t\t")
        top.expect_line(lambda line: re.match(r"mutex +4 +7:1 +1 +1 +1 ", line), "its owner")
        owner.kill()
        top.expect_line(lambda line: re.match(r"mutex +4 +7:2 +1 +1 +0 ", line), "the next one")
        top.press(key("kcbt"), key("kcbt"), key("kcbt"))
        top.expect_none("waits: mutex 4")

    def test_a_system_that_ends(self):
        top = self.five()
        for holder in self.holders:
            holder.end()
        top.expect(f"{SYSTEM}: ended; it is shown again")
        self.expect_nodes(top)
        self.holder(7, 4)
        self.expect_nodes(top, 4)
        top.expect_none("ended")

    def test_a_system_that_cannot_be_read(self):
        """Says why, and the keys go on; of one that is named, too."""
        self.holder(7, 1)
        reason = self.stay_in_section("kept")
        for words in ((), ("kept",)):
            top = self.top(*words)
            top.expect("kept: blocked: ")
            self.assertIn(reason, top.text())
            top.press("h")
            top.expect("any key: back")
            top.press("qq")
            self.assertEqual(os.waitstatus_to_exitcode(top.expect_end()), 0)
        _, errors = self.run_medley("top", "kept", "--once", "--interval", "0.05", status=1)
        self.assertIn(f"system 'kept' is blocked: {reason}", errors)

    def test_systems_that_come_and_go(self):
        top = self.top()
        top.expect("no systems of this user")
        first = self.holder(7, 1, system="first")
        top.expect_line(lambda line: line.startswith("first: live"), "the first")
        top.expect_line(lambda line: re.match(r"first +7:1 ", line), "its node")
        self.holder(7, 2, system="second")
        top.expect_line(lambda line: re.match(r"second +7:2 ", line), "the second's node")
        first.end()
        top.expect_none("first:")
        top.expect_line(lambda line: line.startswith("second: live"), "the second")

    def test_another_size(self):
        top = self.five()
        top.resize(16, 60)
        top.expect_that(lambda: "F1Help" in top.lines()[15], "the last line at its new place")
        self.expect_nodes(top, 1, 2, 3, 4, 5)
        top.resize(30, 120)
        top.expect_that(lambda: "F10Quit" in top.lines()[29], "the last line at its new place")
        top.expect_that(lambda: "F10Quit" not in "\n".join(top.lines()[:29]), "one such line")
        for lines, columns in ((5, 20), (2, 5), (1, 1), (24, 80)):
            top.resize(lines, columns)
        top.expect_that(lambda: "F1Help" in top.lines()[23], "the last line at its new place")
        self.expect_nodes(top, 1, 2, 3, 4, 5)

    def test_beyond_the_edge(self):
        self.five()
        top = self.top(SYSTEM, columns=40)
        top.expect("F1Help")
        top.expect_line(lambda line: line.startswith("NODE "), "the head")
        top.press(*[key("kcuf1")] * 4)
        top.expect_none("PROCESS")
        top.press(*[key("kcub1")] * 5)
        top.expect_line(lambda line: line.startswith("NODE "), "the head")


class Leaving(TopTest):
    """However it ends, the terminal is as it was."""

    def leave(self, way, expected, term="xterm"):
        holder = self.holder(7, 1)
        top = self.top(SYSTEM, term=term)
        top.expect_that(lambda: b"Quit" in top.written, "the screen")
        self.assertNotEqual(top.modes(), top.before)
        way(top)
        status = os.waitstatus_to_exitcode(top.expect_end())
        self.assertEqual(status, expected)
        self.assertEqual(top.modes(), top.before)
        holder.end()
        ends = [top.written.rfind(sequence) for sequence in (b"\x1b[?1049h", b"\x1b[?1049l")]
        self.assertLess(ends[0], ends[1], "the screen of before is back")
        self.assertLess(top.written.rfind(b"\x1b[?25l"), top.written.rfind(b"\x1b[?12l\x1b[?25h"))

    def test_by_keys(self):
        for press in ("q", "Q", b"\x1b[21~"):
            with self.subTest(press):
                self.leave(lambda top, press=press: top.press(press), 0)

    def test_by_interrupt(self):
        self.leave(lambda top: top.press("\x03"), -signal.SIGINT)

    def test_by_quit(self):
        self.leave(lambda top: top.press("\x1c"), -signal.SIGQUIT)

    def test_by_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                self.leave(lambda top, number=number: os.kill(top.pid, number), -number)

    def test_while_something_is_asked(self):
        def way(top):
            top.press("k")
            top.expect_that(lambda: b"Send signal" in top.written, "the list")
            os.kill(top.pid, signal.SIGTERM)

        self.leave(way, -signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
