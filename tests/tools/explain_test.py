# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""medley explain: programs of both compilers, and records that nobody should believe."""

import json
import os
import re
import signal
import subprocess
import unittest

from support import CommandTest

PROGRAMS = {
    name: os.environ[variable]
    for name, variable in (("gcc", "GCC_LOOPS"), ("clang", "CLANG_LOOPS"))
    if variable in os.environ
}
GCC = PROGRAMS["gcc"]
# Where each compiler has the two loops.
PLACES = {
    "gcc": (r"uneven_loop\._omp_fn\.\d+(\+0x[0-9a-f]+)?", r"ordered_loop\._omp_fn\.\d+(\+0x[0-9a-f]+)?"),
    "clang": (r".*/loops\.c:\d+, uneven_loop", r".*/loops\.c:\d+, ordered_loop"),
}
PLACE_OF_WAIT = {"gcc": r"waiting_loop", "clang": r"^.*/loops\.c:\d+, waiting_loop$"}
WHOLE = {"process": 7, "medley_explain": 1}
LOOP = {
    "process": 7,
    "schedule": "hetprobe",
    "source": ";a.c;work;3;1;;",
    "invocations": 4,
    "iterations": 30,
    "probes": 2,
    "reprobes": 0,
    "why": "probed",
    "classes": [{"members": 2, "weight": 65535, "time_ps": 2500, "iterations": 30}],
}
END = {"process": 7, "loops": 1}


class ExplainTest(CommandTest):
    def setUp(self):
        super().setUp()
        processors = sorted(os.sched_getaffinity(0))
        if len(processors) < 2:
            print("not possible here: a single processor")
            self.skipTest("not possible here: a single processor")
        for name in list(self.environment):
            if re.match("(OMP|GOMP|KMP)_", name):
                del self.environment[name]
        self.environment.update(
            OMP_NUM_THREADS="2",
            OMP_SCHEDULE="hetprobe",
            MEDLEY_CORE_CLASSES="{%d},{%d}" % tuple(processors[:2]),
            TMPDIR=self.folder,
        )

    def document(self, *words, status=0, **environment):
        output, _ = self.run_medley("explain", "--json", *words, status=status, **environment)
        return json.loads(output)

    def loops(self, by, *words, **others):
        """Of its only process: the uneven loop and the ordered one."""
        document = self.document(PROGRAMS[by], *words, **others)
        (process,) = document["processes"]
        found = []
        for place in PLACES[by]:
            found += [loop for loop in process["loops"] if re.fullmatch(place, loop["where"])]
        self.assertEqual(len(found), 2, process)
        self.assertEqual(len(process["loops"]), 2)
        return found


class Programs(ExplainTest):
    def test_probed(self):
        for by in PROGRAMS:
            with self.subTest(by=by):
                uneven, ordered = self.loops(by, 12)
                self.assertEqual((uneven["schedule"], uneven["why"]), ("hetprobe", "cached"))
                self.assertEqual((uneven["invocations"], uneven["iterations"]), (12, 4000))
                self.assertEqual((uneven["probes"], uneven["reprobes"]), (10, 0))
                fast, slow = uneven["classes"]
                self.assertEqual((fast["class"], fast["members"]), (0, 1))
                self.assertEqual(fast["iterations"] + slow["iterations"], 4000)
                self.assertEqual(max(fast["speed"], slow["speed"]), 1)
                part = slow["weight"] / (fast["weight"] + slow["weight"])
                self.assertAlmostEqual(slow["iterations"], 4000 * part, delta=1)
                self.assertGreater(fast["iteration_ps"], 0)
                self.assertEqual((ordered["invocations"], ordered["why"]), (12, "ordered"))
                self.assertEqual([c["iterations"] for c in ordered["classes"]], [50, 50])
                self.assertEqual([c["speed"] for c in ordered["classes"]], [None, None])

    def test_probed_again_on_the_way(self):
        """Not where one thread is through with all before the other has its processor: in ten
        invocations some have both."""
        uneven, _ = self.loops("gcc", 10, OMP_SCHEDULE="hetprobe-i")
        self.assertEqual((uneven["schedule"], uneven["why"]), ("hetprobe-i", "probed"))
        self.assertEqual(uneven["probes"], 10)
        self.assertGreater(uneven["reprobes"], 0)

    def test_told(self):
        for by in PROGRAMS:
            with self.subTest(by=by):
                uneven, _ = self.loops(by, 2, MEDLEY_CSR="3:1")
                self.assertEqual((uneven["why"], uneven["probes"]), ("told", 0))
                self.assertEqual([c["iterations"] for c in uneven["classes"]], [3000, 1000])
                self.assertEqual([c["weight"] for c in uneven["classes"]], [3, 1])
                self.assertIsNone(uneven["classes"][0]["iteration_ps"])

    def test_why_it_is_not_probed(self):
        one = self.environment["MEDLEY_CORE_CLASSES"].split(",")[0]
        for why, variables in {
            "unbound": {"OMP_PROC_BIND": "false"},
            "one-class": {"OMP_PLACES": one},
            "max-probes": {"MEDLEY_MAX_PROBES": "0"},
            "few": {"MEDLEY_PROBE_PERCENT": "1", "OMP_NUM_THREADS": "41"},
        }.items():
            with self.subTest(why=why):
                uneven, _ = self.loops("gcc", 1, **variables)
                self.assertEqual((uneven["why"], uneven["probes"]), (why, 0))
                self.assertEqual(sum(c["iterations"] for c in uneven["classes"]), 4000)

    def test_other_schedules(self):
        for schedule in ("steal", "dynamic", "guided", "static"):
            for by in PROGRAMS:
                with self.subTest(schedule=schedule, by=by):
                    uneven, _ = self.loops(by, 5, OMP_SCHEDULE=schedule)
                    self.assertIn(schedule, uneven["schedule"])
                    self.assertEqual((uneven["why"], uneven["classes"]), ("other", []))
                    self.assertEqual((uneven["invocations"], uneven["iterations"]), (5, 4000))

    def test_iterations_that_wait(self):
        for by in PROGRAMS:
            with self.subTest(by=by):
                (process,) = self.document(PROGRAMS[by], 0, "wait")["processes"]
                (loop,) = process["loops"]
                self.assertRegex(loop["where"], PLACE_OF_WAIT[by])
                self.assertEqual((loop["invocations"], loop["iterations"]), (1, 100))

    def test_imposed(self):
        uneven, _ = self.loops("clang" if "clang" in PROGRAMS else "gcc", 2, OMP_SCHEDULE="dynamic",
                               MEDLEY_SCHEDULE="steal")
        self.assertEqual((uneven["schedule"], uneven["why"]), ("steal", "other"))

    def test_as_text(self):
        output, errors = self.run_medley("explain", GCC, 3, MEDLEY_CSR="3:1")
        self.assertEqual(errors, "")
        self.assertRegex(output, r"^argument 3\nprocess \d+: 2 loops\n")
        self.assertRegex(output, r"\nuneven_loop\._omp_fn\.\d\S*\n  hetprobe, 3 invocations, 4000 iterations")
        self.assertIn("  0 probes, 0 re-probes; split as MEDLEY_CSR says\n", output)
        self.assertRegex(output, r"\n +1 +1 +- +0\.333 +1000 +1000\n")

    def test_a_stripped_program(self):
        program = os.path.join(self.folder, "stripped")
        subprocess.run(["strip", "-s", "-o", program, GCC], check=True)
        (process,) = self.document(program, 1)["processes"]
        for loop in process["loops"]:
            self.assertRegex(loop["where"], r"^stripped\+0x[0-9a-f]+$")

    def test_every_process(self):
        document = self.document(GCC, 2, "fork")
        self.assertEqual(len({process["process"] for process in document["processes"]}), 2)
        counts = [process["loops"][0]["invocations"] for process in document["processes"]]
        self.assertEqual(sorted(counts), [2, 3])  # a child knows what its parent has learned
        document = self.document("sh", "-c", f"{GCC} 1; {GCC} 2")
        self.assertEqual(len(document["processes"]), 2)

    def test_nothing_is_left(self):
        before = os.listdir(self.folder)
        self.run_medley("explain", GCC, 1)
        self.assertEqual(os.listdir(self.folder), before)


class Ends(ExplainTest):
    def test_its_exit_status(self):
        document = self.document(GCC, 1, "exit", 3, status=3)
        self.assertEqual((document["exit_status"], document["signal"]), (3, None))
        self.assertEqual(len(document["processes"]), 1)

    def test_its_options_are_its_own(self):
        output, _ = self.run_medley("explain", "sh", "-c", f"echo $0; {GCC} 1", "--json")
        self.assertTrue(output.startswith("--json\nargument 1\nprocess "))

    def test_killed(self):
        for option in ((), ("--json",)):
            output, errors = self.run_medley(
                "explain", *option, GCC, 1, "kill", status=128 + signal.SIGKILL
            )
            self.assertIn(f"{GCC} was killed by signal 9 (Killed), and wrote no record", errors)
            if option:
                self.assertIn("wrote no record", json.loads(output)["error"])

    def test_killed_with_a_record_of_another(self):
        document = self.document("sh", "-c", f"{GCC} 1; kill -9 $$", status=128 + signal.SIGKILL)
        self.assertEqual((document["exit_status"], document["signal"]), (None, 9))
        self.assertEqual(len(document["processes"]), 1)

    def test_without_openmp(self):
        for words in ((GCC, "none"), ("true",)):
            _, errors = self.run_medley("explain", *words, status=1)
            self.assertIn("did not use Medley's OpenMP library", errors)
        _, errors = self.run_medley("explain", "false", status=1)
        self.assertIn("did not use Medley's OpenMP library", errors)

    def test_no_such_program(self):
        document = self.document("/not/there", status=1)
        self.assertEqual(document, {"error": "/not/there: No such file or directory"})

    def test_nowhere_to_write(self):
        _, errors = self.run_medley("explain", GCC, 1, status=1, TMPDIR="/not/there")
        self.assertIn("TMPDIR", errors)
        result = subprocess.run(
            [GCC, "1"],
            capture_output=True,
            text=True,
            env=dict(self.environment, MEDLEY_EXPLAIN="/not/there/file"),
        )
        self.assertEqual(result.returncode, 0)
        self.assertIn("MEDLEY_EXPLAIN ignored: it is '/not/there/file'", result.stderr)


class Records(ExplainTest):
    def record(self, *lines):
        path = os.path.join(self.folder, "record")
        with open(path, "w") as file:
            for line in lines:
                file.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
        return path

    def refused(self, message, *lines):
        path = self.record(*lines)
        for option in ((), ("--json",)):
            output, errors = self.run_medley("explain", *option, f"--record={path}", status=1)
            self.assertIn(f"{path}{message}", errors)
            if option:
                self.assertIn(message, json.loads(output)["error"])
            else:
                self.assertEqual(output, "")

    def test_of_a_run_before(self):
        path = os.path.join(self.folder, "kept")
        for _ in range(2):
            subprocess.run(
                [GCC, "1"],
                check=True,
                capture_output=True,
                env=dict(self.environment, MEDLEY_EXPLAIN=path),
            )
        document = self.document(f"--record={path}")
        self.assertEqual(len(document["processes"]), 2)
        self.assertIsNone(document["exit_status"])

    def test_right(self):
        (process,) = self.document(f"--record={self.record(WHOLE, LOOP, END)}")["processes"]
        (loop,) = process["loops"]
        self.assertEqual((process["process"], loop["where"]), (7, "a.c:3, work"))
        self.assertEqual(loop["classes"][0]["iteration_ps"], 2500)

    def test_not_one(self):
        self.refused(":1: no line of a record", "hello")
        self.refused(":1: no line of a record", "[]")
        self.refused(":1: no line of a record", LOOP)
        self.refused(":1: no line of a record", {**WHOLE, "medley_explain": 2})
        self.refused(":1: no line of a record", "\0" * 100)
        self.refused(":2: no line of a record", WHOLE, WHOLE)
        self.refused(": there is nothing in it")
        _, errors = self.run_medley("explain", "--record=/not/there", status=1)
        self.assertIn("/not/there: No such file or directory", errors)

    def test_broken(self):
        self.refused(": the record of process 7 breaks off", WHOLE, LOOP)
        self.refused(":3: no line of a record", WHOLE, LOOP, {**END, "loops": 2})
        self.refused(":2: no line of a record", WHOLE, json.dumps(LOOP)[:90])
        self.refused(":3: no line of a record", WHOLE, LOOP, {**LOOP, "process": 8})

    def test_every_part_of_a_loop(self):
        """None may lack or be of another kind; whatever is right beside it."""
        for name in LOOP:
            for value in (None, -1.5, [[]], {"a": 1}):
                with self.subTest(name=name, value=value):
                    self.refused(":2: no line of a record", WHOLE, {**LOOP, name: value}, END)
            with self.subTest(name=name):
                less = {key: value for key, value in LOOP.items() if key != name}
                self.refused(":2: no line of a record", WHOLE, less, END)
        self.refused(":2: no line of a record", WHOLE, {**LOOP, "why": "nobody knows"}, END)
        wrong = [{**LOOP["classes"][0], "members": "two"}]
        self.refused(":2: no line of a record", WHOLE, {**LOOP, "classes": wrong}, END)

    def test_objects_that_lie(self):
        """A table of symbols may say anything."""
        with open(GCC, "rb") as file:
            program = bytearray(file.read())
        del LOOP["source"]
        self.addCleanup(LOOP.__setitem__, "source", ";a.c;work;3;1;;")
        path = os.path.join(self.folder, "object")
        for offset in range(0, 64, 2):
            for value in (0, 0xFF):
                changed = bytearray(program)
                changed[offset : offset + 2] = bytes([value, value])
                with open(path, "wb") as file:
                    file.write(changed)
                place = {"address": 4096, "object": path, "inside": 4096}
                record = self.record(WHOLE, {**LOOP, "code": place, "region": place}, END)
                self.document(f"--record={record}")
        for length in (0, 10, 63, 64, 4000, len(program) - 100):
            with open(path, "wb") as file:
                file.write(program[:length])
            self.document(f"--record={record}")


if __name__ == "__main__":
    unittest.main()
