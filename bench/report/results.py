# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what the benchmark programs wrote, refuses what is damaged, and counts the goals.

A run is a folder with run.json (by scripts/bench.sh: which programs, when, how busy the machine
was), machine.json (by machine.py) and NAME.json of each program (bench/bench_report.c).
"""
import json
import os
from collections import Counter, namedtuple

VERDICTS = ("met", "missed", "undecided", "reported")


class Damaged(Exception):
    """A file that is not there, or not what it should be; says which and why."""


# What a file has to have: a dictionary names keys; [x] is a list of x; NUMBER is not a truth value.
NUMBER = (int, float)
MAYBE_TEXT = (str, type(None))
VALUE = {
    "value": str, "unit": str, "median": NUMBER, "low": NUMBER, "high": NUMBER, "samples": [NUMBER]
}  # fmt: skip
SUBJECT = {"name": str, "values": [VALUE]}
LATENCIES = {
    "count": int, "least_ns": NUMBER, "most_ns": NUMBER, "shares": [[NUMBER]],
    "histogram": [[NUMBER]],
}  # fmt: skip
GOAL = {
    "name": str, "value": str, "own": str, "partner": str, "direction": str, "factor": NUMBER,
    "figure": NUMBER, "ratio": NUMBER, "low": NUMBER, "high": NUMBER, "verdict": str,
}  # fmt: skip
QUESTION = {
    "name": str, "setting": str, "unit": str, "restarts": int, "seconds": NUMBER,
    "subjects": [SUBJECT], "goals": [GOAL],
}  # fmt: skip
PROGRAM = {
    "program": str, "title": str, "machine": str, "system": str, "compiler": str, "fifo": bool,
    "load": NUMBER, "load_end": NUMBER, "short": bool, "restarts": int, "seconds": NUMBER,
    "failed": bool, "questions": [QUESTION],
}  # fmt: skip
RUN = {
    "short": bool, "programs": [str], "began": str, "ended": str, "load_before": str,
    "load_after": str, "seconds": NUMBER,
}  # fmt: skip
MACHINE = {
    "model": MAYBE_TEXT, "processors": int, "allowed": [int], "virtual": bool, "siblings": [str],
    "caches": [str], "memory_mib": (int, type(None)), "kernel": str, "system": MAYBE_TEXT,
    "quota": (int, float, type(None)), "governor": MAYBE_TEXT, "revision": MAYBE_TEXT,
    "peers": dict,
}  # fmt: skip

# A goal with what it was asked in.
Goal = namedtuple("Goal", "program question goal")


def check(value, wanted, path, where):
    """Raises Damaged unless the value has that form."""
    if isinstance(wanted, dict):
        if not isinstance(value, dict):
            raise Damaged(f"{path}: {where or 'it'} is not an object")
        for key, form in wanted.items():
            if key not in value:
                raise Damaged(f"{path}: {where}{'.' if where else ''}{key} is missing")
            check(value[key], form, path, f"{where}.{key}" if where else key)
    elif isinstance(wanted, list):
        if not isinstance(value, list):
            raise Damaged(f"{path}: {where} is not a list")
        for i, item in enumerate(value):
            check(item, wanted[0], path, f"{where}[{i}]")
    elif not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise Damaged(f"{path}: {where} is {json.dumps(value)[:40]}, which is of another kind")


def read(path, form):
    try:
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
    except FileNotFoundError:
        raise Damaged(f"{path}: not there; what writes it did not run, or failed") from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise Damaged(f"{path}: cannot be read ({error}); what writes it was stopped?") from None
    check(told, form, path, "")
    return told


def check_question(question, path):
    """What its form alone does not say."""
    where = f"{path}: question '{question['name']}'"
    subjects = {subject["name"]: subject for subject in question["subjects"]}
    counts = {len(subject["values"]) for subject in question["subjects"]}
    if len(counts) != 1 or counts == {0}:
        raise Damaged(f"{where}: its subjects have not all the same values")
    for subject in question["subjects"]:
        for value in subject["values"]:
            if len(value["samples"]) != question["restarts"]:
                raise Damaged(f"{where}: {subject['name']} has not a sample of each restart")
        if "latencies" in subject:
            check(subject["latencies"], LATENCIES, path, f"latencies of '{subject['name']}'")
    for goal in question["goals"]:
        if goal["verdict"].rstrip("?") not in VERDICTS:
            raise Damaged(f"{where}: verdict '{goal['verdict']}' is none of {', '.join(VERDICTS)}")
        if goal["own"] not in subjects:
            raise Damaged(f"{where}: a goal is of '{goal['own']}', which was not measured")


def read_program(folder, name):
    path = os.path.join(folder, f"{name}.json")
    program = read(path, PROGRAM)
    if program["program"] != name:
        raise Damaged(f"{path}: was written by {program['program']}")
    for question in program["questions"]:
        check_question(question, path)
    return program


class Results:
    """A whole run."""

    def __init__(self, folder):
        self.folder = folder
        self.run = read(os.path.join(folder, "run.json"), RUN)
        if not self.run["programs"]:
            raise Damaged(f"{folder}/run.json: no programs")
        self.machine = read(os.path.join(folder, "machine.json"), MACHINE)
        self.programs = [read_program(folder, name) for name in self.run["programs"]]

    @property
    def is_short(self):
        return self.run["short"] or any(program["short"] for program in self.programs)

    def program(self, name):
        """None when it was not part of the run."""
        return next((p for p in self.programs if p["program"] == name), None)

    def goals(self):
        for program in self.programs:
            for question in program["questions"]:
                for goal in question["goals"]:
                    yield Goal(program, question, goal)

    def questions(self, chosen=lambda program: True):
        for program in filter(chosen, self.programs):
            for question in program["questions"]:
                yield program, question


def verdict(goal):
    """Without the mark of a provisional one."""
    return goal["verdict"].rstrip("?")


def count(goals):
    """How many of each verdict; every verdict is a key."""
    counted = Counter(verdict(g.goal) for g in goals)
    return {name: counted[name] for name in VERDICTS}


def own_value(question, goal):
    """Of the subject that the goal is about, the value that it is about."""
    subject = next(s for s in question["subjects"] if s["name"] == goal["own"])
    return next((v for v in subject["values"] if v["value"] == goal["value"]), subject["values"][0])


def margin(goal):
    """How far from its limit: 1 just keeps it, 2 is twice as bad as allowed. With its interval."""
    factor = goal["factor"]
    if goal["direction"] == "at most":
        return goal["ratio"] / factor, goal["low"] / factor, goal["high"] / factor
    ratios = (goal["ratio"], goal["high"], goal["low"])
    return tuple(factor / ratio if ratio > 0 else float("inf") for ratio in ratios)


def is_rate(unit):
    return unit.endswith("/s") or unit == "%"
