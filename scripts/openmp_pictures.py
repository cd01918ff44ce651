#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `make bench` measured of OpenMP, as the OpenMP-on-MRAPI paper shows it.

usage: scripts/openmp_pictures.py FOLDER

Reads FOLDER/openmp_bench.json, openmp_programs_bench.json and openmp_uneven_bench.json. Writes into
FOLDER openmp.md, with the paper's Table I (our time over a peer's, by directive and number of
threads) and what loops take on unlike cores, by schedule; and the paper's
Figure 4: openmp_times.svg (the programs' times by number of threads) and openmp_speedup.svg (one
thread's time over that of several). All are medians of the restarts; strokes are their 95 %
intervals.
"""
import argparse
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools/medley/model"))
sys.dont_write_bytecode = True  # beside what is installed
import charts  # noqa: E402

RUNTIMES = ("medley", "libgomp", "libomp")
PROGRAMS = ("ep", "cg", "is", "mg")


def read(path, pattern):
    """{what: {threads: {runtime: {value: ...}}}} of the questions whose name is like the pattern."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    found = {}
    for question in report["questions"]:
        match = re.fullmatch(pattern + r", (\d+) threads?", question["name"])
        if match:
            subjects = {s["name"]: {v["value"]: v for v in s["values"]} for s in question["subjects"]}
            found.setdefault(match.group(1), {})[int(match.group(2))] = subjects
    return found


# ---- Table I -------------------------------------------------------------------------------------


def ratio_table(directives, peer):
    threads = sorted(directives)
    names = list(directives[threads[0]]["medley"])
    lines = [
        f"Ours over {peer}, by number of threads:",
        "",
        "| directive | " + " | ".join(str(t) for t in threads) + " |",
        "|---|" + "---|" * len(threads),
    ]
    for name in names:
        cells = []
        for t in threads:
            ours, theirs = (directives[t][r][name]["median"] for r in ("medley", peer))
            cells.append(f"{ours / theirs:.2f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


# ---- Unlike cores --------------------------------------------------------------------------------


def uneven_table(path):
    with open(path, encoding="utf-8") as file:
        questions = json.load(file)["questions"]
    times = {s["name"]: {} for q in questions for s in q["subjects"]}
    for question in questions:
        for subject in question["subjects"]:
            value = subject["values"][0]
            times[subject["name"]][question["name"]] = (
                f"{value['median']:.0f} [{value['low']:.0f} .. {value['high']:.0f}]"
            )
    names = [question["name"] for question in questions]
    lines = [
        f"Times of a loop ({questions[0]['unit']}), {questions[0]['setting']}; told: the ideal split:",
        "",
        "| schedule | " + " | ".join(names) + " |",
        "|---|" + "---|" * len(names),
    ]
    for subject, cells in times.items():
        lines.append(f"| {subject} | " + " | ".join(cells.get(name, "") for name in names) + " |")
    return "\n".join(lines) + "\n"


# ---- Figure 4 ------------------------------------------------------------------------------------


def panels_draw(picture, programs, values, runtimes):
    """A panel for each program: its lines over the numbers of threads. `values` gives of a program,
    a number of threads and a runtime the median, the low and the high end."""
    width = 1 / len(programs)
    for p, (name, by_threads) in enumerate(programs.items()):
        threads = sorted(by_threads)
        shares = [(p + (i + 0.7) / (len(threads) + 0.4)) * width for i in range(len(threads))]
        for colour, runtime in enumerate(runtimes):
            line = []
            for i, t in enumerate(threads):
                median, low, high = values(by_threads, t, runtime)
                share = shares[i] + (colour - 1) * 0.012
                line.append((share, median))
                picture.line([(share, low), (share, high)], colour)
                picture.bubble(share, median, 3, colour, "")
            picture.line(line, colour)
        for i, t in enumerate(threads):
            picture.place_name(shares[i], str(t))
        picture.place_name((p + 0.5) * width, "\nthreads\n" + name.upper())


def times_draw(programs, path):
    def values(by_threads, threads, runtime):
        time = by_threads[threads][runtime]["time"]
        return time["median"], time["low"], time["high"]

    every = [
        values(by_threads, t, r)
        for by_threads in programs.values()
        for t in by_threads
        for r in RUNTIMES
    ]
    picture = charts.Picture(
        "OpenMP programs by number of threads: time",
        "milliseconds (logarithmic)",
        min(low for _, low, _ in every),
        max(high for _, _, high in every),
    )
    picture.legend(RUNTIMES)
    panels_draw(picture, programs, values, RUNTIMES)
    picture.write(path)


def speedup_draw(programs, processors, path):
    def values(by_threads, threads, runtime):
        one = by_threads[1][runtime]["time"]["median"]
        time = by_threads[threads][runtime]["time"]
        return one / time["median"], one / time["high"], one / time["low"]

    every = [
        values(by_threads, t, r)[2]
        for by_threads in programs.values()
        for t in by_threads
        for r in RUNTIMES
    ]
    most = max(processors, *every)
    picture = charts.Picture(
        f"OpenMP programs by number of threads: speed-up, on {processors} processors",
        "one thread's time over that of so many threads, the same runtime; dashed: as many as there "
        "are processors",
        0,
        max(1.0, -(-most // 0.5) * 0.5),
        logarithmic=False,
    )
    picture.legend(RUNTIMES)
    panels_draw(picture, programs, values, RUNTIMES)
    picture.line([(0, processors), (1, processors)], 6, dashed=True)
    picture.write(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder")
    folder = parser.parse_args().folder
    directives = read(os.path.join(folder, "openmp_bench.json"), "OpenMP (directives)")["directives"]
    programs = read(os.path.join(folder, "openmp_programs_bench.json"), "OpenMP program (.*)")
    programs = {name: programs[name] for name in PROGRAMS}
    tables = (
        "Times of directives, each with its delay of 0.1 us, by number of threads "
        f"on {os.cpu_count()} processors.\n\n"
        + "\n".join(ratio_table(directives, peer) for peer in RUNTIMES[1:])
        + "\n"
        + uneven_table(os.path.join(folder, "openmp_uneven_bench.json"))
    )
    with open(os.path.join(folder, "openmp.md"), "w", encoding="utf-8") as file:
        file.write(tables)
    times_draw(programs, os.path.join(folder, "openmp_times.svg"))
    speedup_draw(programs, os.cpu_count(), os.path.join(folder, "openmp_speedup.svg"))
    print("\n" + tables, end="")


if __name__ == "__main__":
    main()
