#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The matrix of the lock-free MCAPI paper: {message, packet, scalar, state} x {locked, lock-free} x
{one core, free, two cores} x {threads, processes}, each measured by `medley stress`.

usage: scripts/matrix.py [--runs N] [--short] MEDLEY FOLDER

Writes into FOLDER: matrix.json; matrix.md, with the paper's Table 2; throughput.svg, its Figure 7;
speedup.svg, its Figure 8. A cell is the run of median throughput. The runs go round the matrix, so
that a while in which the machine is slow meets one run of many cells, not one cell whole.

Of states, throughput is what was sent: those that nobody looked at count.
"""
import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tools/medley/model"))
sys.dont_write_bytecode = True  # beside what is installed
import charts  # noqa: E402

TYPES = {"message": 24, "packet": 24, "scalar": 8, "state": 24}
EXCHANGES = ("locked", "lock-free")
PLACES = {"one": "one core", "free": "free", "spread": "two cores"}
RUNS_AS = ("threads", "processes")
COUNTS = {"locked": 10000, "lock-free": 200000}
FIGURES = ("median_ns", "p99_ns", "p99_9_ns", "most_ns")
# Of both nodes together, kept for each transaction: by them `medley model` says why.
COUNTS_KEPT = ("retries", "yields", "wake_ups", "switches", "worked_ns")
TOPOLOGY = """nodes:
  - {{count: 2}}
channels:
  - {{from: 1, to: 2, type: {type}, size: {size}}}
"""


def measure(medley, folder, cell, count):
    kind, exchange, place, run_as = cell
    path = os.path.join(folder, f"{kind}.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(TOPOLOGY.format(type=kind, size=TYPES[kind]))
    environment = dict(os.environ, MEDLEY_EXCHANGE="" if exchange == "lock-free" else exchange)
    command = [medley, "stress", path, f"--{run_as}", "--affinity", place, "--count", str(count)]
    result = subprocess.run(
        [*command, "--json"], env=environment, capture_output=True, text=True, timeout=120
    )
    if result.returncode != 0:
        sys.exit(f"matrix: {' '.join(command)}: {result.stderr.strip()}")
    stress = json.loads(result.stdout)["stress"]
    sent = stress["transactions"] + stress["skipped"]
    row = dict(zip(("type", "exchange", "place", "run_as"), cell))
    row["per_second"] = sent * 1e9 / stress["took_ns"]
    row.update({figure: stress["latency"][figure] for figure in FIGURES})
    row.update({key: stress[key] / sent for key in COUNTS_KEPT})
    return row


def measure_all(medley, runs, share):
    cells = list(itertools.product(TYPES, EXCHANGES, PLACES, RUNS_AS))
    measured = {cell: [] for cell in cells}
    with tempfile.TemporaryDirectory() as folder:
        for run in range(runs):
            for number, cell in enumerate(cells):
                if sys.stderr.isatty():
                    print(f"\rrun {run + 1}, cell {number + 1}", end="", file=sys.stderr)
                count = max(1000, COUNTS[cell[1]] // share)
                measured[cell].append(measure(medley, folder, cell, count))
    for rows in measured.values():
        rows.sort(key=lambda row: row["per_second"])
    return {cell: rows[len(rows) // 2] for cell, rows in measured.items()}


def throughput(cells, *cell):
    return cells[cell]["per_second"]


# ---- Tables --------------------------------------------------------------------------------------


def table_all(cells):
    yield "| type | exchange | cores | nodes | thousand a second | median us | p99 | p99.9 | max |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for (kind, exchange, place, run_as), row in cells.items():
        figures = " | ".join(f"{row[figure] / 1e3:,.2f}" for figure in FIGURES)
        yield (
            f"| {kind} | {exchange} | {PLACES[place]} | {run_as} | "
            f"{row['per_second'] / 1e3:,.1f} | {figures} |"
        )


def table_penalty(cells, exchange):
    """As the paper's Table 2: what two cores are to one."""
    yield "| nodes | type | two cores | free |"
    yield "|---|---|---|---|"
    for run_as, kind in itertools.product(RUNS_AS, TYPES):
        one = throughput(cells, kind, exchange, "one", run_as)
        ratios = (throughput(cells, kind, exchange, p, run_as) / one for p in ("spread", "free"))
        yield f"| {run_as} | {kind} | " + " | ".join(f"{r:.2f}x" for r in ratios) + " |"


def table_speedup(cells):
    yield "| nodes | type | cores | throughput | latency, median |"
    yield "|---|---|---|---|---|"
    for run_as, kind, place in itertools.product(RUNS_AS, TYPES, PLACES):
        ours, theirs = (cells[kind, e, place, run_as] for e in ("lock-free", "locked"))
        faster = ours["per_second"] / theirs["per_second"]
        sooner = theirs["median_ns"] / max(1, ours["median_ns"])
        yield f"| {run_as} | {kind} | {PLACES[place]} | {faster:.1f}x | {sooner:.1f}x |"


def tables_write(cells, path):
    sections = (
        ("Everything", table_all(cells)),
        ("Locked: what more than one core brings (Table 2)", table_penalty(cells, "locked")),
        ("Lock-free: the same", table_penalty(cells, "lock-free")),
        ("Lock-free beside locked", table_speedup(cells)),
    )
    with open(path, "w", encoding="utf-8") as file:
        for title, lines in sections:
            file.write(f"## {title}\n\n" + "\n".join(lines) + "\n\n")


# ---- Pictures ------------------------------------------------------------------------------------


def bounds(cells):
    rates = [row["per_second"] / 1e3 for row in cells.values()]
    return min(rates), max(rates)


def throughput_draw(cells, path):
    """A group of bars for each kind and place; in it, locked and lock-free by threads, processes."""
    bars = list(itertools.product(EXCHANGES, RUNS_AS))
    groups = list(itertools.product(TYPES, PLACES))
    picture = charts.Picture(
        "MCAPI data exchange: throughput", "thousand a second", *bounds(cells)
    )
    picture.legend([f"{exchange}, {run_as}" for exchange, run_as in bars])
    width = 1 / len(groups)
    for g, (kind, place) in enumerate(groups):
        for i, (exchange, run_as) in enumerate(bars):
            rate = throughput(cells, kind, exchange, place, run_as) / 1e3
            picture.bar((g + 0.1 + 0.2 * i) * width, 0.18 * width, rate, i)
        picture.place_name((g + 0.5) * width, f"{kind}\n{PLACES[place]}")
    picture.write(path)


def speedup_draw(cells, path):
    """The area of a bubble is how much sooner a thing arrives than over the locked exchange."""
    places = list(itertools.product(TYPES, PLACES, RUNS_AS))
    picture = charts.Picture(
        "Lock-free MCAPI: throughput, and by area (up to 100x) the speed-up of latency",
        "thousand a second",
        *bounds(cells),
    )
    for i, (kind, place, run_as) in enumerate(places):
        ours, theirs = (cells[kind, e, place, run_as] for e in ("lock-free", "locked"))
        sooner = theirs["median_ns"] / max(1, ours["median_ns"])
        share = (i + 0.5) / len(places)
        radius = min(40.0, 4 * math.sqrt(max(1, sooner)))
        colour = RUNS_AS.index(run_as)
        words = f"{sooner:.0f}x" if sooner >= 10 else f"{sooner:.1f}x"
        picture.bubble(share, ours["per_second"] / 1e3, radius, colour, words)
        if colour == 0:
            picture.place_name(share + 0.5 / len(places), f"{kind}\n{PLACES[place]}")
    picture.legend(RUNS_AS)
    picture.write(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--short", action="store_true", help="a twentieth of the transactions")
    parser.add_argument("medley")
    parser.add_argument("folder")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    cells = measure_all(options.medley, options.runs, 20 if options.short else 1)
    with open(os.path.join(options.folder, "matrix.json"), "w", encoding="utf-8") as file:
        json.dump({"matrix": list(cells.values())}, file, indent=1)
    tables_write(cells, os.path.join(options.folder, "matrix.md"))
    throughput_draw(cells, os.path.join(options.folder, "throughput.svg"))
    speedup_draw(cells, os.path.join(options.folder, "speedup.svg"))
    with open(os.path.join(options.folder, "matrix.md"), encoding="utf-8") as file:
        print(file.read(), end="")


if __name__ == "__main__":
    main()
