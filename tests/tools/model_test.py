# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""medley model: what it predicts follows from what it is given; what was measured stands beside."""

import json
import math
import os
import pty
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as tree

from support import MEDLEY, CommandTest

SVG = "{http://www.w3.org/2000/svg}"
PROGRAM = os.path.join(os.path.dirname(MEDLEY), "..", "share", "medley", "model", "model.py")
COSTS = {
    "instruction_ns": 0.1,
    "hit_ns": 0.1,
    "clock_ns": 20,
    "yield_ns": 500,
    "lock_ns": 600,
    "lock_contended_ns": 1000,
    "one_line_ns": 50,
    "two_lines_ns": 60,
    "stream_line_ns": 10,
    "wake_ns": 20000,
}
# Of a row of the matrix, for each transaction.
NOTHING_SPECIAL = {"retries": 0, "yields": 0, "wake_ups": 0, "switches": 0, "worked_ns": 400}


def simpy_is_here():
    command = ["/usr/bin/python3", "-c", "import SimPy.Simulation"]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


class Model(CommandTest):
    def setUp(self):
        super().setUp()
        if not simpy_is_here():
            reason = "not possible here: no SimPy"
            print(reason)
            self.skipTest(reason)

    def model(self, matrix="", **costs):
        result = subprocess.run(
            ["/usr/bin/python3", "-B", PROGRAM, json.dumps({**COSTS, **costs}), matrix, "", "json"],
            capture_output=True,
            text=True,
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)["model"]

    def refused(self, matrix, folder, message, *options):
        """In both forms."""
        for form in ("text", "json"):
            command = ["/usr/bin/python3", "-B", *options, PROGRAM, json.dumps(COSTS)]
            result = subprocess.run(
                [*command, matrix, folder, form],
                capture_output=True,
                text=True,
            )
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stderr, f"medley model: {message}\n")
            if form == "json":
                self.assertEqual(json.loads(result.stdout), {"error": message})
            else:
                self.assertEqual(result.stdout, "")

    def rate(self, told, *row):
        keys = ("type", "exchange", "place")
        rates = {
            r["predicted_per_second"] for r in told["rows"] if tuple(r[k] for k in keys) == row
        }
        self.assertEqual(len(rates), 1)
        return rates.pop()

    def test_one_core_is_the_sum_of_both_turns(self):
        # 2597 instructions, of which 1146 are memory operations, and two readings of the clock; a
        # little for yields.
        told = self.model(instruction_ns=0.1, hit_ns=0.2)
        wanted = 1e9 / (145.1 + 229.2 + 40)
        rate = self.rate(told, "message", "lock-free", "one")
        self.assertLess(rate, wanted)
        self.assertGreater(rate, 0.9 * wanted)

    def test_dearer_is_slower(self):
        base = self.model()
        for cost, row in (
            ("instruction_ns", ("scalar", "lock-free", "one")),
            ("stream_line_ns", ("packet", "lock-free", "spread")),
            ("lock_ns", ("message", "locked", "one")),
            ("lock_contended_ns", ("message", "locked", "spread")),
        ):
            with self.subTest(cost=cost):
                dearer = self.model(**{cost: COSTS[cost] * 20})
                self.assertLess(self.rate(dearer, *row), 0.9 * self.rate(base, *row))

    def test_a_full_lane_holds_so_many(self):
        """On one core each side yields once for each time the lane is full, but for the last."""
        told = self.model(yield_ns=1e6)
        for kind, capacity in (("message", 128), ("packet", 56), ("scalar", 256)):
            with self.subTest(kind=kind):
                yields = 1000 / self.rate(told, kind, "lock-free", "one") * 1e9 / 1e6
                self.assertEqual(round(yields), 2 * (math.ceil(1000 / capacity) - 1))

    def test_the_lock_goes_from_one_to_the_other(self):
        base, dearer = (self.model(lock_contended_ns=ns) for ns in (1000, 2000))
        for kind, calls in (("message", 8), ("packet", 16), ("scalar", 8), ("state", 8)):
            with self.subTest(kind=kind):
                fast, slow = (1e9 / self.rate(m, kind, "locked", "spread") for m in (base, dearer))
                self.assertAlmostEqual((slow - fast) / 1000, calls)

    def test_the_memory_is_the_bridge_of_one_lane(self):
        sweep = {(r["hit_rate"], r["cores"]): r for r in self.model()["sweep"]}
        self.assertEqual(len(sweep), 22)
        self.assertGreater(sweep[0, 2]["memory_share"], 0.99)
        self.assertLess(sweep[1, 2]["memory_share"], 0.05)
        self.assertGreater(sweep[1, 2]["per_second"], 1.8 * sweep[1, 1]["per_second"])
        self.assertLess(sweep[0, 2]["per_second"], 1.1 * sweep[0, 1]["per_second"])

    def test_verdicts(self):
        predicted = self.rate(self.model(), "message", "lock-free", "one")
        row = {"type": "message", "exchange": "lock-free", "place": "one", "run_as": "threads"}
        row.update(NOTHING_SPECIAL)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "matrix.json")
            for factor, verdict in ((1.2, "stop"), (0.8, "stop"), (0.5, "to gain"), (2, "more")):
                with open(path, "w", encoding="utf-8") as file:
                    json.dump({"matrix": [{**row, "per_second": factor * predicted}]}, file)
                compared = [r for r in self.model(path)["rows"] if "ratio" in r]
                self.assertEqual(len(compared), 1)
                self.assertTrue(compared[0]["verdict"].startswith(verdict))
                self.assertEqual("why" in compared[0], verdict != "stop")

    def test_why_not_is_what_was_measured_of_the_row(self):
        """Twice as long as predicted, for one reason after the other."""
        base = self.model()
        for exchange in ("locked", "lock-free"):
            row = {"type": "message", "exchange": exchange, "place": "one", "run_as": "threads"}
            took_ns = 2e9 / self.rate(base, "message", exchange, "one")
            alone = {**NOTHING_SPECIAL, "worked_ns": took_ns}
            look_ns = 78.5 + COSTS["yield_ns"] + (4 * COSTS["lock_ns"] if exchange == "locked" else 0)
            looks = {"retries": took_ns / 2 / look_ns, "yields": took_ns / 2 / look_ns}
            for measured, words in (
                ({**alone, **looks}, rf"^{looks['retries']:.2f} looks in vain .*: [\d,]+ of [\d,]+ ns"),
                ({**alone, "wake_ups": took_ns / 2 / COSTS["wake_ns"]}, r"^0\.\d+ sleeps for each"),
                ({**alone, "worked_ns": took_ns / 2}, r"^the nodes had 0\.50 of 1 cores"),
                (alone, r"^a transaction has .* more than is priced"),
            ):
                with self.subTest(exchange=exchange, words=words), tempfile.TemporaryDirectory() as at:
                    path = os.path.join(at, "matrix.json")
                    with open(path, "w", encoding="utf-8") as file:
                        json.dump({"matrix": [{**row, **measured, "per_second": 1e9 / took_ns}]}, file)
                    (compared,) = [r for r in self.model(path)["rows"] if "ratio" in r]
                    self.assertEqual(compared["verdict"], "to gain")
                    self.assertRegex(compared["why"], words)

    def test_what_is_wrong_and_what_to_do(self):
        advice = "want a matrix.json, which 'make matrix' writes"
        self.refused("/not/there", "", f"/not/there: No such file or directory; {advice}")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "matrix.json")
            for text, reason in (
                ("{}", "there is no 'matrix'"),
                ("[]", "it is no such document"),
                ("", "Expecting value: line 1 column 1 (char 0)"),
            ):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                self.refused(path, "", f"{path}: {reason}; {advice}")
        why = "No such file or directory; want a folder that can be written to"
        self.refused("", "/not/there", f"/not/there: {why}")
        self.refused("", "", "there is no SimPy here; install python3-simpy", "-S")

    def test_wrong_matrix_as_a_user_gives_it(self):
        output, errors = self.run_medley("model", "--matrix", "/not/there", "--json", status=1)
        message = json.loads(output)["error"]
        self.assertTrue(message.startswith("/not/there: No such file or directory; "), message)
        self.assertEqual(errors, f"medley model: {message}\n")

    def test_who_looks_on_sees_how_far_it_is(self):
        """On a terminal, and nowhere else; each of the two stages up to its end."""
        own, terminal = pty.openpty()
        with open(own, "rb", buffering=0) as screen, open(terminal, "wb") as stderr:
            result = subprocess.run(
                [MEDLEY, "model", "--json"],
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=self.environment,
            )
            seen = screen.read(65536).decode()
        self.assertEqual(result.returncode, 0)
        for stage, last in (("costs measured", len(COSTS)), ("predictions made", 46)):
            steps = re.findall(rf"\rmedley model: (\d+) of {last} {stage}", seen)
            self.assertEqual(int(steps[-1]), last)
            self.assertGreater(len(steps), last - 1)
            self.assertIn(f"{last} of {last} {stage}\r\n", seen)

    def test_as_a_user_runs_it(self):
        with tempfile.TemporaryDirectory() as folder:
            output, _ = self.run_medley("model", "--folder", folder, "--json")
            told = json.loads(output)["model"]
            self.assertEqual(set(told["costs"]), set(COSTS))
            self.assertGreater(told["costs"]["instruction_ns"], 0)
            self.assertEqual(len(told["rows"]), 48)
            with open(os.path.join(folder, "model.svg"), encoding="utf-8") as file:
                self.assertEqual(file.read().count("<polyline"), 4)
            self.check_legend(tree.parse(os.path.join(folder, "model.svg")).getroot())

    def check_legend(self, picture):
        """No word of it reaches the next square: a letter is more than half as wide as high."""
        squares = [r for r in picture.iter(f"{SVG}rect") if r.get("y") == "36"]
        words = [w for w in picture.iter(f"{SVG}text") if w.get("y") == "46.0"]
        self.assertEqual((len(squares), len(words)), (2, 2))
        ends = float(words[0].get("x")) + len(words[0].text) * float(words[0].get("font-size")) / 2
        self.assertLess(ends, float(squares[1].get("x")))


if __name__ == "__main__":
    unittest.main()
