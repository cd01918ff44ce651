# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recordings of programs and systems: what other tools read of them, the picture, the figures."""

import json
import os
import re
import shutil
import signal
import subprocess
import unittest
import xml.etree.ElementTree

from support import MEDLEY, CommandTest

TRACED = os.environ["TRACED"]
ENDS = os.environ["ENDS"]
EXCHANGE = os.environ["EXCHANGE"]
SVG = "{http://www.w3.org/2000/svg}"
SENDER, RECEIVER = {"domain": 0, "node": 1}, {"domain": 0, "node": 2}


class RecordingTest(CommandTest):
    def path(self, name):
        return os.path.join(self.folder, name)

    def outputs(self):
        return (
            *("--chrome", self.path("t.json")),
            *("--ctf", self.path("ctf")),
            *("--svg", self.path("t.svg")),
            "--summary",
        )

    def record(self, *words, status=0, **environment):
        """The summary of a program's recording, which went well."""
        result = subprocess.run(
            [MEDLEY, "trace", "--json", *self.outputs(), "--", *map(str, words)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            env=dict(self.environment, **environment),
        )
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.errors = result.stderr
        return json.loads(result.stdout)["trace"]

    def node(self, summary, node, program="traced"):
        (row,) = [n for n in summary["nodes"] if n["node"] == node and n["program"] == program]
        return row

    def chrome(self):
        with open(self.path("t.json")) as file:
            return json.load(file)["traceEvents"]

    def picture(self):
        return xml.etree.ElementTree.parse(self.path("t.svg")).getroot()

    def texts(self):
        return [text.text for text in self.picture().iter(SVG + "text")]

    def ctf(self):
        """Line by line, as babeltrace2 reads it."""
        result = subprocess.run(["babeltrace2", self.path("ctf")], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.splitlines()


class Program(RecordingTest):
    def test_what_was_exchanged(self):
        summary = self.record(TRACED, 100, 30, 1, 0)
        self.assertEqual(summary["lost"], 0)
        sender, receiver = self.node(summary, SENDER), self.node(summary, RECEIVER)
        self.assertEqual((sender["sent"], receiver["received"]), (130, 130))
        self.assertEqual(sender["sent_bytes"], 100 * 7 + 30 * 4)
        self.assertEqual(receiver["received_bytes"], sender["sent_bytes"])
        self.assertEqual((sender["received"], receiver["sent"], summary["messages"]), (0, 0, 130))
        latency = receiver["latency"]
        self.assertLessEqual(latency["median_ns"], latency["p99_ns"])
        self.assertLessEqual(latency["p99_ns"], latency["max_ns"])
        self.assertLess(latency["max_ns"], summary["lasted_ns"])
        self.assertIsNone(sender["latency"])

    def test_packets_and_states(self):
        """Two processes; of the states that were sent the newest is received."""
        summary = self.record(EXCHANGE)
        self.assertEqual(summary["lost"], 0)
        kinds = [e["name"] for e in self.chrome() if e["ph"] == "f"]
        self.assertEqual(kinds.count("message"), 2)
        self.assertEqual(kinds.count("packet"), 3)
        self.assertIn("state", kinds)
        self.assertEqual(len({node["process_id"] for node in summary["nodes"]}), 2)

    def test_what_the_program_names(self):
        summary = self.record(TRACED, 10, 0, 1, 0)
        named = self.node(summary, SENDER)["named"]
        self.assertEqual({name: one["count"] for name, one in named.items()}, {"sends mails": 1})
        self.assertGreater(named["sends mails"]["ns"], 0)
        (mark,) = [e for e in self.chrome() if e.get("cat") == "mark"]
        self.assertEqual(mark["name"], "halfway")

    def test_wake_ups(self):
        """Where a wait ends that has slept."""
        self.record(TRACED, 40, 2, 2, 1)
        events = self.chrome()
        slept = [line for line in self.ctf() if re.search(r" sleeps = [1-9]", line)]
        woken = [e for e in events if e.get("cat") == "wake-up"]
        self.assertEqual(len(woken), len(slept))
        ends = [
            (e["tid"], round(e["ts"] + e["dur"], 3))
            for e in events
            if e["ph"] == "X" and e["cat"].startswith("waits")
        ]
        for one in woken:
            self.assertIn((one["tid"], round(one["ts"], 3)), ends)

    def test_regions_and_tasks(self):
        summary = self.record(TRACED, 1, 1, 5, 8)
        spans = [e for e in self.chrome() if e["ph"] == "X"]
        regions = [e for e in spans if e["cat"] == "OpenMP region"]
        self.assertEqual(len(regions), 5 * 3)
        self.assertEqual(len({(e["pid"], e["tid"]) for e in regions}), 3)
        self.assertEqual({e["name"].split("+")[0] for e in regions}, {"team_works"})
        tasks = [e for e in spans if e["cat"] == "OpenMP task"]
        self.assertEqual(len(tasks), 5 * 8)
        names = {node["name"] for node in summary["nodes"]}
        self.assertLessEqual({"omp.1", "omp.2"}, names)

    def test_what_lies_within_another_lies_within_it(self):
        self.record(TRACED, 20, 20, 3, 3)
        tracks = {}
        for e in self.chrome():
            if e["ph"] == "X":
                tracks.setdefault((e["pid"], e["tid"]), []).append((e["ts"], e["ts"] + e["dur"]))
        self.assertGreaterEqual(len(tracks), 4)
        for spans in tracks.values():
            spans.sort(key=lambda span: (span[0], -span[1]))
            around = []
            for begin, end in spans:
                self.assertGreaterEqual(begin, 0)
                while around and around[-1] <= begin:
                    around.pop()
                if around:
                    self.assertLessEqual(end, around[-1] + 0.002)
                around.append(end)

    def test_messages_go_forward(self):
        self.record(TRACED, 100, 0, 1, 0)
        begins = {e["id"]: e["ts"] for e in self.chrome() if e["ph"] == "s"}
        ends = {e["id"]: e["ts"] for e in self.chrome() if e["ph"] == "f"}
        self.assertEqual(len(begins), 100)
        self.assertEqual(begins.keys(), ends.keys())
        for message in begins:
            self.assertLessEqual(begins[message], ends[message])

    def test_what_babeltrace_reads(self):
        summary = self.record(TRACED, 40, 2, 2, 1)
        lines = self.ctf()
        self.assertEqual(len(lines), summary["events"])
        sent = [line for line in lines if "medley:sent:" in line and "bytes = 7" in line]
        self.assertEqual(len(sent), 40)
        for line in sent:
            self.assertRegex(line, r"domain = 0, node = 1, process = [1-9]\d*, program = \"traced\"")
        for line in [line for line in lines if "medley:joined:" in line]:  # by a process: no node's
            self.assertIn('domain = -1, node = -1, process = 0, program = ""', line)
        (mark,) = [line for line in lines if "medley:mark:" in line]
        self.assertIn('name = "halfway"', mark)
        self.assertEqual(len([line for line in lines if "medley:task_begins:" in line]), 2)

    def test_the_picture(self):
        self.record(TRACED, 40, 2, 2, 1)
        root = self.picture()
        width, height = float(root.get("width")), float(root.get("height"))
        for box in root.iter(SVG + "rect"):
            self.assertGreaterEqual(float(box.get("x", 0)), 0)
            self.assertLessEqual(float(box.get("x", 0)) + float(box.get("width")), width + 0.01)
            self.assertLessEqual(float(box.get("y", 0)) + float(box.get("height")), height + 0.01)
        texts = self.texts()
        for node in ("traced node 0:1, omp.0", "traced node 0:2", "traced omp.1", "traced omp.2"):
            self.assertEqual(texts.count(node), 1, texts)
        self.assertTrue([t for t in texts if t.startswith("42 messages between nodes")], texts)

    def test_the_status_is_the_programs(self):
        words = ("trace", "--summary", "--", "sh", "-c", "echo hello; exit 7")
        output, _ = self.run_medley(*words, status=7)
        self.assertIn("hello\n", output)

    def test_other_runtimes_and_no_node_at_all(self):
        output, errors = self.run_medley("trace", "--summary", "--", "true")
        self.assertRegex(output, r"^\d events? in ")
        self.assertEqual(errors, "")


class Full(RecordingTest):
    def test_what_was_overwritten_is_told(self):
        """A ring of 64 events, and 200,000 between two looks at most."""
        summary = self.record(TRACED, 100000, 0, 1, 0, MEDLEY_TRACE="64")
        self.assertGreater(summary["lost"], 0)
        self.assertIn("events were lost", self.errors)

    def test_it_cannot_be_written(self):
        """Which is told before anything is started."""
        here = self.path("file")
        with open(here, "w") as file:
            file.write("as before")
        for path in ("/proc/x", self.path("no/x"), os.path.join(here, "x"), self.folder, here):
            for output in ("svg", "chrome", "ctf"):
                if path == (self.folder if output == "ctf" else here):
                    continue
                for command in (("trace", f"--{output}", path, "--"), ("run", f"--trace-{output}", path)):
                    with self.subTest(command=command):
                        words = (*command, "sh", "-c", "echo ran")
                        printed, errors = self.run_medley(*words, status=1)
                        self.assertIn(f"'{path}' cannot be written: ", errors)
                        self.assertEqual(printed, "")

    def test_what_is_looked_at_stays_as_it_is(self):
        with open(self.path("t.json"), "w") as file:
            file.write("as before")
        before = os.listdir(self.folder)
        outputs = ("--chrome", self.path("t.json"), "--ctf", self.path("ctf"), "--svg")
        self.run_medley("trace", *outputs, "/proc/x", "--", "true", status=1)
        self.assertEqual(os.listdir(self.folder), before)
        with open(self.path("t.json")) as file:
            self.assertEqual(file.read(), "as before")

    def test_it_cannot_be_written_any_more(self):
        words = ("--svg", self.path("new/x.svg"), "--", "rmdir", self.path("new"))
        os.mkdir(self.path("new"))
        _, errors = self.run_medley("trace", *words, status=1)
        self.assertIn(f"{self.path('new/x.svg')} could not be written: No such file", errors)

    def test_full_disk(self):
        _, errors = self.run_medley("trace", "--svg", "/dev/full", "--", TRACED, 1, 1, 1, 1, status=1)
        self.assertIn("/dev/full could not be written: No space left", errors)


class Living(RecordingTest):
    """A system that is there already."""

    def begin(self, **environment):
        process = subprocess.Popen(
            [TRACED, "50", "5", "1", "1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(self.environment, MEDLEY_SYSTEM="living", MEDLEY_TRACE="1", **environment),
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_what_it_has_kept(self):
        process = self.begin()
        summary = self.run_json("trace", "living", *self.outputs())
        (row,) = summary["nodes"]
        self.assertEqual((row["node"], row["process_id"], row["program"]), (SENDER, process.pid, "traced"))
        process.stdin.close()

    def test_on_standard_output(self):
        process = self.begin()
        output, _ = self.run_medley("trace", "--svg", "-", "living")
        self.assertEqual(xml.etree.ElementTree.fromstring(output).tag, SVG + "svg")
        output, _ = self.run_medley("trace", "--chrome", "-", "--svg", self.path("t.svg"), "living")
        self.assertIn("traceEvents", json.loads(output))
        process.stdin.close()

    def test_it_cannot_be_written(self):
        process = self.begin()
        _, errors = self.run_medley("trace", "--for", 3600, "--svg", "/proc/x", "living", status=1)
        self.assertIn("'/proc/x' cannot be written: ", errors)
        self.assertNotIn("follows", errors)
        process.stdin.close()

    def follow(self, seconds):
        """On return it follows."""
        looks = subprocess.Popen(
            [MEDLEY, "trace", "living", "--json", "--for", str(seconds), *self.outputs()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        for end in (looks.stderr.close, looks.stdout.close, looks.wait, looks.kill):
            self.addCleanup(end)
        self.assertIn("follows 'living'", looks.stderr.readline())
        return looks

    def test_followed_until_told_to_end(self):
        for told in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(signal=told):
                process = self.begin()
                looks = self.follow(3600)
                process.stdin.close()
                process.wait()
                looks.send_signal(told)
                output, errors = looks.communicate(timeout=60)
                self.assertEqual((looks.returncode, errors), (0, ""))
                self.assertEqual(json.loads(output)["messages"], 55)

    def test_followed_so_long(self):
        process = self.begin()
        looks = self.follow(0.2)
        output, errors = looks.communicate(timeout=60)
        self.assertEqual((looks.returncode, errors), (0, ""))
        self.assertEqual(json.loads(output)["messages"], 0)
        process.stdin.close()


class Dying(RecordingTest):
    def test_who_is_killed(self):
        """It is a mark where it died; its waits end there, and medley run goes on to the end."""
        run = subprocess.Popen(
            [MEDLEY, "run", "--json", "--name", "dies", "--trace-chrome", self.path("t.json")]
            + ["--trace-svg", self.path("t.svg"), "--trace-summary", TRACED, "1", "1", "1", "1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )
        for end in (run.stderr.close, run.stdout.close, run.wait, run.kill):
            self.addCleanup(end)
        self.assertEqual(run.stderr.readline(), "[traced] ready\n")
        (process,) = [p for p in self.look("dies")["processes"] if p["process_id"] != run.pid]
        os.kill(process["process_id"], signal.SIGKILL)
        output, _ = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 128 + signal.SIGKILL)
        (node,) = json.loads(output)["trace"]["nodes"]
        self.assertEqual((node["node"], node["died"]), (SENDER, True))
        (mark,) = [e for e in self.chrome() if e.get("cat") == "mark"]
        self.assertEqual((mark["name"], mark["pid"]), ("died", process["process_id"]))
        self.assertIn("died", self.texts())

    def recorded_ends(self, how, status):
        """Both nodes of a process that ends without their having left, and the names of marks."""
        summary = self.record(ENDS, how, status=status)
        nodes = [self.node(summary, node, "ends") for node in (SENDER, RECEIVER)]
        waits = [e for e in self.chrome() if e["ph"] == "X" and e["name"] == "waits for a lock"]
        self.assertEqual([e["args"] for e in waits], [{"ended": False}])
        return nodes, [e["name"] for e in self.chrome() if e.get("cat") == "mark"]

    def test_who_exits_has_not_died(self):
        for how in ("return", "exit"):
            with self.subTest(how=how):
                nodes, marks = self.recorded_ends(how, 0)
                self.assertEqual([node["died"] for node in nodes], [False, False])
                self.assertEqual(marks, [])
                self.assertNotIn("died", self.texts())
                goes = [line for line in self.ctf() if "medley:node_goes:" in line]
                self.assertEqual(len(goes), 2)

    def test_who_kills_itself_has(self):
        nodes, marks = self.recorded_ends("kill", 128 + signal.SIGKILL)
        self.assertEqual([node["died"] for node in nodes], [True, True])
        self.assertEqual(marks, ["died", "died"])


class Picture(RecordingTest):
    def ends_of(self, text):
        """Left and right, as wide as letters usually are."""
        x, width = float(text.get("x")), 0.55 * float(text.get("font-size")) * len(text.text)
        left = x - {"start": 0, "middle": width / 2, "end": width}[text.get("text-anchor", "start")]
        return left, left + width

    def check_texts(self):
        """None is cut by the frame."""
        root = self.picture()
        for text in root.iter(SVG + "text"):
            left, right = self.ends_of(text)
            self.assertGreaterEqual(left, 0, text.text)
            self.assertLessEqual(right, float(root.get("width")), text.text)
            self.assertLessEqual(float(text.get("y")), float(root.get("height")), text.text)

    def test_a_death_at_the_edge(self):
        """The last thing that was recorded: what it is called lies where the time is."""
        self.record(ENDS, "kill", status=128 + signal.SIGKILL)
        self.check_texts()
        marks = [g for g in self.picture().iter(SVG + "g") if g.get("class") == "mark"]
        self.assertEqual(len(marks), 2)
        for mark in marks:
            _, right = self.ends_of(mark.find(SVG + "text"))
            self.assertLessEqual(right, float(self.picture().get("width")) - 30)

    def test_marks_that_are_there_are_explained(self):
        mark, owner = "marked by the program", "has a dead owner's lock"
        self.record(ENDS, "kill", status=128 + signal.SIGKILL)
        texts = self.texts()
        self.assertEqual(texts.count("died"), 2 + 1)
        self.assertFalse({mark, owner} & set(texts))
        self.record(ENDS, "finalize")
        self.assertIn(owner, self.texts())
        self.assertNotIn("died", self.texts())
        self.check_texts()
        self.record(TRACED, 40, 2, 2, 1)
        self.assertIn(mark, self.texts())
        self.check_texts()

    def test_a_long_name_leaves_the_number(self):
        program = self.path("a-program-whose-name-takes-all-the-room")
        shutil.copy(ENDS, program)
        self.record(program, "return")
        for node in (1, 2):
            (name,) = [text for text in self.texts() if text.endswith(f" node 0:{node}")]
            self.assertRegex(name, r"^a-program-\S*\.\. ")
        self.check_texts()


class Wrong(RecordingTest):
    def test_usage(self):
        for words, why in (
            (("--", "true"), "want what is to be made of it"),
            (("--svg", "x", "--"), "want a program behind '--'"),
            (("--svg", "x", "--for", "1", "--", "true"), "no --for"),
            (("--for", "0", "x"), "want seconds"),
            (("--for", "much", "x"), "want seconds"),
            (("--for", "1", "x"), "--for wants an output"),
            (("--svg",), "--svg"),
            ((), "want the name of one system"),
            (("--ctf", "-", "x"), "CTF is a folder"),
            (("--svg", "-", "--chrome", "-", "x"), "--chrome writes to standard output"),
            (("--svg", "-", "--summary", "x"), "--summary writes to standard output"),
            (("--svg", "-", "--json", "x"), "--json writes to standard output"),
            (("--svg", "-", "--", "true"), "the program writes to standard output"),
            (("--chrome", "-", "--json", "--", "true"), "--json writes to standard output"),
        ):
            with self.subTest(words=words):
                _, errors = self.run_medley("trace", *words, status=2)
                self.assertIn(why, errors)

    def test_standard_output_of_a_run(self):
        for more, whose in ((), "the program"), (("--json",), "--json"):
            words = ("run", *more, "--trace-svg", "-", "true")
            _, errors = self.run_medley(*words, status=2)
            self.assertIn(f"{whose} writes to standard output", errors)


if __name__ == "__main__":
    unittest.main()
