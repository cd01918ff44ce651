# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of the benchmarks, of what programs wrote whose verdicts are known (sample.c)."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as tree

SAMPLE = os.environ["SAMPLE"]
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
REPORT = os.path.join(ROOT, "bench", "report")
SVG = "{http://www.w3.org/2000/svg}"
PROGRAMS = ["machine_bench", "openmp_bench", "openmp_programs_bench", "ring_bench"]
# What an axis may be called: every picture's axes have one of them.
UNITS = (
    "million a second|nanoseconds|microseconds|milliseconds|percent|KiB|one thread = 1"
    "|ours over"
)
RUN = {
    "short": False, "programs": PROGRAMS, "began": "2026-01-02 03:04:05 UTC",
    "ended": "2026-01-02 03:06:05 UTC", "seconds": 120, "load_before": "0.01 0.02 0.03",
    "load_after": "0.04 0.05 0.06",
}  # fmt: skip
MACHINE = {
    "model": "A <processor> & more", "processors": 4, "allowed": [0, 1], "virtual": True,
    "siblings": ["0", "1"], "caches": ["L1 data 48 KiB"], "memory_mib": 2048, "kernel": "Linux 6",
    "system": None, "quota": 1.5, "governor": None, "revision": "0123456789",
    "peers": {"libgomp": "12.2.0", "nng": None},
}  # fmt: skip


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text if isinstance(text, str) else json.dumps(text))


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def sample(folder, program, *options):
    path = os.path.join(folder, f"{program}.json")
    return subprocess.run(
        [SAMPLE, program, *options, "--json", path], capture_output=True, text=True, timeout=60
    )


def make_run(folder, *options, **changes):
    """What scripts/bench.sh leaves."""
    for program in PROGRAMS:
        result = sample(folder, program, *options)
        if result.returncode != 0:
            raise AssertionError(result.stderr)
    write(folder, "run.json", dict(RUN, **changes))
    write(folder, "machine.json", MACHINE)


def make_report(folder):
    return subprocess.run(
        [os.path.join(REPORT, "report.py"), folder], capture_output=True, text=True, timeout=200
    )


def words_of(element):
    return [(text.text or "").strip() for text in element.iter(SVG + "text")]


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)


class Whole(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        make_run(cls.folder, "--extra", "1000")
        write(cls.folder, "footprint.txt", "== cortex-m4: <nothing> & 12 bytes\n")
        os.mkdir(os.path.join(cls.folder, "pictures"))
        write(cls.folder, "pictures/of-an-earlier-run.svg", "<svg/>")
        cls.result = make_report(cls.folder)
        if cls.result.returncode != 0:
            raise AssertionError(cls.result.stderr)
        cls.page = tree.fromstring(read(cls.folder, "report.html").split("\n", 1)[1])
        cls.markdown = read(cls.folder, "report.md")
        names = sorted(os.listdir(os.path.join(cls.folder, "pictures")))
        cls.pictures = {n: tree.fromstring(read(cls.folder, f"pictures/{n}")) for n in names}

    def test_goals_are_counted(self):
        told = self.result.stdout.splitlines()
        self.assertEqual(
            told[0], "Of 10 goals 8 are met, 1 missed, 1 undecided; without a goal: 1."
        )
        self.assertRegex(told[1], r"^missed: SPSC 8 B, clear: beside the best: 1\.25 \[1\.2")
        self.assertRegex(told[1], r"wanted at least 2\.00x DPDK rte_ring$")
        self.assertRegex(told[2], r"^undecided: SPSC 24 B, round trip: median: 1\.15 \[")
        self.assertIn(told[0], self.markdown)
        self.assertIn(told[0], "".join(self.page.itertext()))
        row = next(line for line in self.markdown.splitlines() if line.startswith("| all |"))
        self.assertTrue(row.startswith("| all |  | 9 | 8 | 1 | 1 | 1 |"), row)

    def test_every_goal_is_a_row(self):
        verdicts = re.findall(r"\| (\w+\??) \|$", self.markdown.split("## All goals")[1], re.M)
        self.assertEqual(
            {word: verdicts.count(word) for word in verdicts},
            {"verdict": 1, "met": 8, "missed": 1, "undecided": 1, "reported": 1},
        )
        self.assertIn("| 100 M/s | at least 60 M/s | 1.67 [1.65, 1.69] | 21 | met |", self.markdown)
        self.assertIn("| none; 200 M/s is best | 0.50 [0.50, 0.51] | 21 | rep", self.markdown)

    def test_the_machine_is_told(self):
        text = "".join(self.page.itertext())
        for words in (
            "A <processor> & more, of a virtual machine",
            "4, of which 2 may be used",
            "a loop takes 10 ms alone and 15 beside another: they work as halves of one core do",
            "1.5 processors' time",
            "0.01 0.02 0.03 (1, 5, 15 minutes)",
            "0123456789",
            "a compiler",
            "2.0 GiB",
            "12.2.0",
            "== cortex-m4: <nothing> & 12 bytes",
        ):
            self.assertIn(words, text)
        self.assertIn("| nng | unknown |", self.markdown)

    def test_the_page_is_whole_in_itself(self):
        names = [element.get("id") for element in self.page.iter() if element.get("id")]
        self.assertEqual(len(names), len(set(names)))
        svgs = list(self.page.iter(SVG + "svg"))
        self.assertEqual(len(svgs), len(self.pictures))
        used = []
        for element in self.page.iter():
            for key, value in element.attrib.items():
                if key in ("src", "href", "{http://www.w3.org/1999/xlink}href"):
                    self.assertTrue(value.startswith("#"), value)
                    used.append(value[1:])
                used += re.findall(r"url\(#([^)]+)\)", value)
        self.assertGreater(len(used), len(svgs))
        self.assertEqual(set(used) - set(names), set())

    def test_links_of_the_markdown(self):
        links = re.findall(r"\]\(([^)]+)\)", self.markdown)
        self.assertEqual(sorted(links), [f"pictures/{name}" for name in self.pictures])

    def test_pictures_there_are(self):
        self.assertEqual(
            list(self.pictures),
            [
                "goals.svg",
                "latency-spsc-24-b-round-trip.svg",
                "openmp-directives-geometric-mean.svg",
                "openmp-directives.svg",
                "openmp-others.svg",
                "openmp-speedup.svg",
                "openmp-times.svg",
                "throughput-ring-bench.svg",
                "times-and-sizes-ring-bench.svg",
            ],
        )

    def axes_of(self, picture):
        found = [g for g in picture.iter(SVG + "g") if re.fullmatch(r"axes_\d+", g.get("id", ""))]
        self.assertGreater(len(found), 0)
        return found

    def test_every_axis_has_a_unit(self):
        for name, picture in self.pictures.items():
            for axes in self.axes_of(picture):
                with self.subTest(picture=name, axes=axes.get("id")):
                    self.assertRegex("\n".join(words_of(axes)), UNITS)

    def test_what_is_only_reported_has_no_goal(self):
        words = [word for picture in self.pictures.values() for word in words_of(picture)]
        self.assertIn("best: 200 M/s", words)
        self.assertNotIn("goal: at least 200 M/s", words)
        self.assertIn("goal: at least 60 M/s", words)

    def test_axes_are_honest(self):
        """They begin at zero, or say that they are logarithmic."""
        for name, picture in self.pictures.items():
            for axes in self.axes_of(picture):
                words = words_of(axes)
                with self.subTest(picture=name, axes=axes.get("id")):
                    logarithmic = any("(logarithmic" in word for word in words)
                    self.assertEqual(logarithmic, name.startswith(("goals", "latency")))
                    if not logarithmic:
                        self.assertTrue({"0", "0.0"} & set(words), words)

    def test_latencies(self):
        shown = "| bare, one word each way | 101,000 | 50 | 90 | 99 | 100 | 100 | 100 |"
        self.assertIn(shown, self.markdown)

    def test_a_third_more_while_undecided(self):
        rings = json.loads(read(self.folder, "ring_bench.json"))
        self.assertEqual([q["restarts"] for q in rings["questions"]], [21, 101])
        self.assertLess(rings["extra_left"], 1000.5)
        one = json.loads(read(self.folder, "openmp_bench.json"))
        self.assertEqual({q["restarts"] for q in one["questions"]}, {21})
        self.assertGreater(one["extra_left"], 999.5)
        no_goal = json.loads(read(self.folder, "machine_bench.json"))
        self.assertEqual([q["restarts"] for q in no_goal["questions"]], [11])

    def test_ratios_of_directives(self):
        self.assertIn("| ours over libgomp, by threads | 1 | 2 |", self.markdown)
        self.assertIn("| barrier | 0.50 | 0.50 |", self.markdown)


class Short(FolderTest):
    def test_it_says_so(self):
        make_run(self.folder, "--short", short=True)
        result = make_report(self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("8 are met, 1 missed, 1 undecided, provisionally (short form)", result.stdout)
        markdown = read(self.folder, "report.md")
        self.assertTrue(markdown.startswith("# Medley's benchmarks: short form\n"))
        self.assertIn("**Short form: provisional.**", markdown)
        goals = markdown.split("## All goals")[1]
        self.assertEqual((goals.count(" met? |"), goals.count(" met |")), (8, 0))
        rings = json.loads(read(self.folder, "ring_bench.json"))
        self.assertEqual({q["restarts"] for q in rings["questions"]}, {7})


class Script(FolderTest):
    """scripts/bench.sh --short over programs that are such samples, and note how they are asked."""

    def setUp(self):
        super().setUp()
        os.mkdir(os.path.join(self.folder, "bench"))
        for program in PROGRAMS:
            self.make_program(program, f'exec "{SAMPLE}" {program} "$@"')
        write(self.folder, "crowd_bench.json", "of an earlier run")

    def make_program(self, name, command):
        path = os.path.join(self.folder, "bench", name)
        note = f'echo "$0 $*" >>"{self.folder}/asked"'
        write(self.folder, f"bench/{name}", f"#!/bin/sh\n{note}\n{command}\n")
        os.chmod(path, 0o755)

    def run_script(self):
        return subprocess.run(
            [os.path.join(ROOT, "scripts", "bench.sh"), "--short", self.folder],
            capture_output=True, text=True, timeout=200,
        )  # fmt: skip

    def test_one_after_the_other(self):
        result = self.run_script()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        line = r"^== benchmark (\d+ of \d+: \w+); \d+ min \d+ s so far$"
        told = re.findall(line, result.stdout, re.M)
        self.assertEqual(told, [f"{i} of 4: {name}" for i, name in enumerate(PROGRAMS, 1)])
        self.assertIn("Of 10 goals 8 are met", result.stdout)
        run = json.loads(read(self.folder, "run.json"))
        self.assertEqual((run["short"], run["programs"]), (True, PROGRAMS))
        self.assertIn("# Medley's benchmarks: short form", read(self.folder, "report.md"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "crowd_bench.json")))

    def test_what_is_left_is_handed_on(self):
        self.assertEqual(self.run_script().returncode, 0)
        asked = read(self.folder, "asked").splitlines()
        self.assertNotIn("--extra", asked[0])
        for line, before in zip(asked[1:], PROGRAMS):
            left = json.loads(read(self.folder, f"{before}.json"))["extra_left"]
            self.assertIn(f" --extra {left:.1f} ", line)

    def test_one_fails(self):
        """Its figures stand in the report as far as they go; the run is a failure."""
        self.make_program("ring_bench", f'"{SAMPLE}" ring_bench "$@"; exit 1')
        result = self.run_script()
        self.assertEqual((result.returncode, result.stderr), (1, "bench: ring_bench failed\n"))
        self.assertTrue(os.path.exists(os.path.join(self.folder, "report.html")))

    def test_one_breaks_off(self):
        self.make_program("ring_bench", "exit 1")
        result = self.run_script()
        self.assertEqual(result.returncode, 1)
        self.assertIn("ring_bench.json: not there; what writes it did not run", result.stderr)


class Options(FolderTest):
    def test_extra(self):
        for wrong in ("", "-1", "1x", "nan", "inf"):
            result = sample(self.folder, "ring_bench", "--extra", wrong)
            self.assertEqual(result.returncode, 2, wrong)
            self.assertEqual(result.stderr, "ring_bench: --extra takes seconds, 0 or more\n")

    def test_usage(self):
        for words, status in (([], 2), (["/no/such/folder"], 2), (["--help"], 0)):
            result = subprocess.run(
                [os.path.join(REPORT, "report.py"), *words], capture_output=True, text=True
            )
            self.assertEqual(result.returncode, status)
            self.assertIn("usage: bench/report/report.py FOLDER", result.stdout + result.stderr)

    def test_the_machine_here(self):
        """Of whatever machine this is, in the form that the report reads."""
        result = subprocess.run(
            [os.path.join(REPORT, "machine.py"), self.folder], capture_output=True, text=True
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        told = json.loads(result.stdout)
        self.assertEqual(set(told), set(MACHINE))
        self.assertGreaterEqual(told["processors"], len(told["allowed"]))
        self.assertIn("libgomp", told["peers"])
        make_run(self.folder, "--short")
        write(self.folder, "machine.json", told)
        self.assertEqual(make_report(self.folder).stderr, "")


class Damage(FolderTest):
    def setUp(self):
        super().setUp()
        make_run(self.folder, "--short")
        self.rings = json.loads(read(self.folder, "ring_bench.json"))

    def refused(self, words):
        result = make_report(self.folder)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertRegex(result.stderr, r"\Areport: [^\n]*\n\Z")
        self.assertIn(words, result.stderr)
        for name in ("report.html", "report.md", "pictures"):
            self.assertFalse(os.path.exists(os.path.join(self.folder, name)), name)

    def test_a_file_is_missing(self):
        for name in ("ring_bench.json", "machine.json", "run.json"):
            with self.subTest(name=name):
                os.rename(os.path.join(self.folder, name), os.path.join(self.folder, "away"))
                self.refused(f"{name}: not there; what writes it did not run, or failed")
                os.rename(os.path.join(self.folder, "away"), os.path.join(self.folder, name))

    def test_a_file_is_cut_off(self):
        text = read(self.folder, "ring_bench.json")
        write(self.folder, "ring_bench.json", text[: len(text) // 2])
        self.refused("ring_bench.json: cannot be read (")
        write(self.folder, "ring_bench.json", "")
        self.refused("ring_bench.json: cannot be read (")

    def test_something_is_wrong_in_it(self):
        def change(path, value):
            report = json.loads(json.dumps(self.rings))
            at = report
            for key in path[:-1]:
                at = at[key]
            if value is None:
                del at[path[-1]]
            else:
                at[path[-1]] = value
            return report

        goal = ["questions", 0, "goals", 0]
        value = ["questions", 0, "subjects", 1, "values", 0]
        for path, to, words in (
            (["program"], "wait_bench", "was written by wait_bench"),
            (["questions"], 3, "questions is not a list"),
            ([*goal, "verdict"], None, "questions[0].goals[0].verdict is missing"),
            ([*goal, "verdict"], "fine", "verdict 'fine' is none of met, missed"),
            ([*goal, "own"], "nobody", "a goal is of 'nobody', which was not measured"),
            ([*goal, "ratio"], "1", 'goals[0].ratio is "1", which is of another kind'),
            ([*goal, "ratio"], True, "goals[0].ratio is true, which is of another kind"),
            ([*value, "samples"], [1.0], "boost spsc_queue has not a sample of each restart"),
            (value[:-1], [], "its subjects have not all the same values"),
            (["questions", 1, "subjects", 0, "latencies", "count"], None, "count is missing"),
        ):
            with self.subTest(path=path):
                write(self.folder, "ring_bench.json", change(path, to))
                self.refused(words)

    def test_a_failed_check_is_told(self):
        self.rings["failed"] = True
        write(self.folder, "ring_bench.json", self.rings)
        self.assertEqual(make_report(self.folder).returncode, 0)
        self.assertIn("**A functional check failed** in ring_bench", read(self.folder, "report.md"))


class Colours(unittest.TestCase):
    def test_one_for_a_library(self):
        """Whatever form of it is measured; and no two libraries have the same."""
        program = (
            "import pictures, json\n"
            "names = json.loads(input())\n"
            "print(json.dumps([pictures.library_of(name)[0] for name in names]))\n"
            "looks = [(l[2], l[3]) for l in (*pictures.LIBRARIES, pictures.MEDLEY)]\n"
            "print(len(looks), *(len(set(look)) for look in zip(*looks)))\n"
        )
        names = {
            "libgomp passive": "libgomp", "libomp, dynamic": "libomp", "medley, locked": "Medley",
            "between processes": "Medley", "DPDK rte_ring, zero copy": "DPDK", "ck_ring": "ck",
            "ZeroMQ pair, inproc": "ZeroMQ", "nng pair, inproc": "nng", "bare futex": "bare",
            "ring under a mutex": "the system", "Open MPI, processes": "Open MPI",
            "boost::interprocess::message_queue": "Boost", "pthread robust": "the system",
        }  # fmt: skip
        result = subprocess.run(
            ["/usr/bin/python3", "-B", "-c", program],
            input=json.dumps(list(names)), capture_output=True, text=True, cwd=REPORT,
        )  # fmt: skip
        self.assertEqual(result.stderr, "")
        libraries, counts = result.stdout.splitlines()
        self.assertEqual(dict(zip(names, json.loads(libraries))), names)
        self.assertEqual(len(set(counts.split())), 1, counts)


if __name__ == "__main__":
    unittest.main()
