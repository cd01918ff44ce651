# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report's chapter of OpenMP: directives by runtime and threads as EPCC's benchmarks tell them,
schedules, tasks, programs; the ratios and the speed-up as the OpenMP-on-MRAPI paper has them."""
import re

import pictures
from pages import Heading, Paragraph, Picture, Table

RUNTIMES = pictures.RUNTIMES
SPEEDUP_PROGRAMS = ("ep", "cg", "is", "mg")


def questions_like(results, pattern):
    """[(match, question)] of those whose name is like the pattern."""
    found = []
    for _, question in results.questions():
        match = re.fullmatch(pattern, question["name"])
        if match and {s["name"] for s in question["subjects"]} >= set(RUNTIMES):
            found.append((match, question))
    return found


def by_threads(found):
    """{name: {threads: {runtime: {value: ...}}}} of matches of name and threads."""
    told = {}
    for match, question in found:
        told.setdefault(match.group(1), {})[int(match.group(2))] = pictures.by_runtime(question)
    return told


# ---- Directives ----------------------------------------------------------------------------------


def ratio_table(directives, peer):
    threads = sorted(directives)
    rows = []
    for name in directives[threads[0]]["medley"]:
        cells = []
        for t in threads:
            ours, theirs = (directives[t][runtime][name]["median"] for runtime in ("medley", peer))
            cells.append(f"{ours / theirs:.2f}")
        rows.append((name, *cells))
    return Table((f"ours over {peer}, by threads", *threads), rows)


def mean_picture(found, what):
    """The goals of the geometric mean, over the numbers of threads."""
    rows = []
    for match, question in found:
        place = match.group(2) + (" bound" if " bound" in question["name"] else "")
        rows += [(place, g) for g in question["goals"] if g["name"] == "geometric mean"][:1]
    if rows:
        words = f"{what}: geometric mean"
        yield Picture(
            words.lower().replace(" ", "-").replace(":", ""),
            f"{words}, ours over the better peer's, by number of threads",
            pictures.ratio_lines(rows, words),
        )


def directives(results):
    found = questions_like(results, r"OpenMP (directives), (\d+)(?: bound)? threads?")
    if not found:
        return
    yield Heading(3, "Directives")
    yield Paragraph(
        "What a directive takes, with its delay of 0.1 us (100 ns), by EPCC's method: a program "
        "as gcc builds it, on Medley, libgomp and libomp. Less is better."
    )
    yield Picture(
        "openmp-directives",
        "OpenMP directives by runtime and number of threads",
        pictures.runtime_panels([question for _, question in found]),
    )
    yield from mean_picture(found, "OpenMP directives")
    free = by_threads([f for f in found if " bound" not in f[1]["name"]]).get("directives")
    if free:
        for peer in RUNTIMES[1:]:
            yield ratio_table(free, peer)


def tables_of(results, pattern, title, words, name, **form):
    found = questions_like(results, pattern)
    if found:
        yield Heading(3, title)
        yield Paragraph(words)
        svg = pictures.runtime_panels([question for _, question in found], **form)
        yield Picture(name, f"{title} by runtime and number of threads", svg)


# ---- Programs ------------------------------------------------------------------------------------


def programs(results):
    found = questions_like(results, r"OpenMP program (.*), (\d+) threads?")
    if not found:
        return
    told = by_threads(found)
    processors = len(results.machine["allowed"])
    yield Heading(3, "Programs")
    yield Paragraph(
        "Kernels after the NAS benchmarks and others (examples/openmp), each of which checks its "
        f"result, on {processors} processors. Speed-up: one thread's time over that of so many, "
        "on the same runtime; dashed: as many as there are threads, or processors."
    )
    scaled = {name: told.get(name, {}) for name in SPEEDUP_PROGRAMS}
    scaled = {name: times for name, times in scaled.items() if 1 in times and len(times) > 1}
    if scaled:
        yield Picture(
            "openmp-speedup",
            "OpenMP programs: speed-up by number of threads",
            pictures.speedups(scaled, processors),
        )
    words = "OpenMP programs: time by number of threads"
    yield Picture("openmp-times", words, pictures.times(told))


def uneven(results):
    program = results.program("openmp_uneven_bench")
    if not program or not program["questions"]:
        return
    questions = program["questions"]
    rows = {}
    for question in questions:
        for subject in question["subjects"]:
            value = subject["values"][0]
            told = f"{value['median']:.0f} [{value['low']:.0f} .. {value['high']:.0f}]"
            rows.setdefault(subject["name"], {})[question["name"]] = told
    names = [question["name"] for question in questions]
    yield Heading(3, "Loops on unlike cores")
    yield Paragraph(
        f"Times of a loop ({pictures.unit_text(questions[0]['unit'])}), {questions[0]['setting']}; "
        "told: the ideal split."
    )
    yield Table(
        ("schedule", *names),
        [(subject, *(cells.get(name, "") for name in names)) for subject, cells in rows.items()],
    )
    panels = list(pictures.panels_of(questions, lambda unit: True))
    yield Picture("openmp-uneven", "Loops on unlike cores, by schedule", pictures.bars(panels))


def chapter(results):
    blocks = [
        *directives(results),
        *tables_of(
            results,
            r"OpenMP schedule\((\w+)\), (\d+) threads?",
            "Schedules",
            "An iteration of a loop of 128 iterations of 0.1 us for each thread, by size of the "
            "chunk. Less is better.",
            "openmp-schedules",
            groups="iterations of a chunk",
        ),
        *tables_of(
            results,
            r"OpenMP (tasks), (\d+) threads?",
            "Tasks",
            "A task with its delay of 0.1 us, by how it is made and waited for. Less is better.",
            "openmp-tasks",
            columns=1,
        ),
        *tables_of(
            results,
            r"OpenMP (programs of tasks), (\d+) threads?",
            "Programs of tasks",
            "Recursive programs, a task for each call: "
            "fib(22), 8 queens, LU of 20 x 20 blocks of which most are empty. Less is better.",
            "openmp-recursion",
            columns=3,
        ),
        *programs(results),
        *uneven(results),
    ]
    rest = list(pictures.panels_of(others(results), lambda unit: True))
    if rest:
        words = "A program with one empty region, and two at once"
        blocks.append(Picture("openmp-others", words, pictures.bars(rest)))
    return [Heading(2, "OpenMP"), *blocks] if blocks else []


def others(results):
    """What openmp_programs_bench asks that is not one program by threads."""
    program = results.program("openmp_programs_bench")
    asked = program["questions"] if program else []
    return [q for q in asked if not q["name"].startswith("OpenMP program ")]
