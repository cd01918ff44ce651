# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pictures of the report, by matplotlib, as SVG.

Bars start at zero. A logarithmic axis says so. Every stroke is a 95 % interval of a median; one
that is much longer than the bars goes on beyond the frame, so that they can be told apart. A
library has one colour in all pictures; colours are told apart by those who see no red or no green,
and never alone: bars stand at their names, lines have markers.
"""
import io
import math
import re
import textwrap

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plot  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter  # noqa: E402

import results as r  # noqa: E402

plot.rcParams.update(
    {
        "svg.fonttype": "none",  # letters, not outlines: they can be searched, and copied
        "svg.hashsalt": "medley",  # the same figures make the same file
        "font.family": "DejaVu Sans",
        "font.size": 9,
        "axes.titlesize": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "figure.constrained_layout.use": True,
        "figure.constrained_layout.h_pad": 0.09,
    }
)

# Whose name has it, the first that fits: colour and marker. Who fits none is ours.
LIBRARIES = (
    ("libgomp", r"libgomp", "#ee6677", "s"),
    ("libomp", r"libomp", "#228833", "^"),
    ("Open MPI", r"Open MPI", "#994f00", "v"),
    ("ZeroMQ", r"ZeroMQ", "#44bb99", "P"),
    ("nng", r"\bnng\b", "#ff88bb", "X"),
    ("Boost", r"boost", "#ee8866", "D"),
    ("DPDK", r"DPDK", "#66ccee", "<"),
    ("ck", r"\bck_", "#aa3377", ">"),
    ("bare", r"\bbare\b|plain copies|no ring|memcpy", "#888888", "d"),
    (
        "the system",
        r"pthread|posix|POSIX|malloc|process_vm|mutex\b|pipe|socket|seqpacket|queue|futex",
        "#ccbb44",
        "p",
    ),
)
MEDLEY = ("Medley", "", "#4477aa", "o")
VERDICT_LOOKS = {"met": ("#4477aa", "o"), "undecided": ("#ccbb44", "^"), "missed": ("#ee6677", "X")}
RUNTIMES = ("medley", "libgomp", "libomp")
DASHES = ("-", "--", ":", "-.")
BIG = 4  # a goal farther from all bars than so many times is told in words
LONG = 2.2  # so many times the longest bar a stroke may reach
UNITS_UP = (("ns", "us"), ("us", "ms"))


def library_of(subject):
    return next((lib for lib in LIBRARIES if re.search(lib[1], subject)), MEDLEY)


def colour_of(subject):
    return library_of(subject)[2]


def unit_text(unit):
    return {
        "M/s": "million a second",
        "ns": "nanoseconds",
        "us": "microseconds",
        "ms": "milliseconds",
        "%": "percent",
    }.get(unit, unit)


def short_number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def svg_of(figure):
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    plot.close(figure)
    return file.getvalue()


def scaled(values):
    """In the unit that makes the largest median less than 10,000; that unit, and the factor."""
    unit, factor = values[0]["unit"], 1
    for small, large in UNITS_UP:
        if unit == small and max(v["median"] for v in values) * factor >= 10000:
            unit, factor = large, factor / 1000
    keys = ("median", "low", "high")
    return [dict(v, **{key: v[key] * factor for key in keys}) for v in values], unit, factor


def end_of_axis(values, least=0):
    """All medians, and the strokes that are not too long."""
    most = max(v["median"] for v in values)
    return max(least, most, *(min(v["high"], most * LONG) for v in values)) or 1


def interval_strokes(values):
    """For errorbar: how far below and above the median."""
    below = [max(0, v["median"] - v["low"]) for v in values]
    above = [max(0, v["high"] - v["median"]) for v in values]
    return [below, above]


STROKE = {"ecolor": "#222222", "elinewidth": 1.1, "capsize": 2.5, "fmt": "none"}


# ---- Bars by subject -----------------------------------------------------------------------------


def limit_words(goal):
    """Before the figure; what is only reported has no goal, but a best."""
    return "best:" if goal["verdict"] == "reported" else f"goal: {goal['direction']}"


class Panel:
    """One value of one question: a bar for each subject."""

    def __init__(self, question, index):
        self.question = question
        self.names = [subject["name"] for subject in question["subjects"]]
        told = [subject["values"][index] for subject in question["subjects"]]
        self.values, self.unit, factor = scaled(told)
        name = told[0]["value"]
        alone = len(question["subjects"][0]["values"]) == 1
        self.title = question["name"] + ("" if alone else f": {name}")
        self.limits = [
            (limit_words(g), g["figure"] * g["factor"] * factor)
            for g in question["goals"]
            if g["partner"] == "the figure" and g["value"] == name
        ]

    def draw(self, axes, rows):
        """As if it had so many rows: bars that stand side by side are equally thick."""
        places = range(len(self.names))
        medians = [v["median"] for v in self.values]
        axes.barh(places, medians, color=[colour_of(n) for n in self.names], height=0.72)
        axes.errorbar(medians, places, xerr=interval_strokes(self.values), **STROKE)
        most = end_of_axis(self.values)
        paper = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85}
        for place, value in zip(places, self.values):
            end = value["high"] if value["high"] <= most else value["median"]
            words = short_number(value["median"])
            axes.text(end + most * 0.02, place, words, va="center", fontsize=8, bbox=paper)
        axes.set_yticks(places, ["\n".join(textwrap.wrap(n, 26)) for n in self.names], fontsize=8)
        axes.set_ylim(rows - 0.45, -0.55)
        self.draw_limits(axes, most)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: short_number(x)))
        axes.grid(axis="x", color="#dddddd")
        better = "more is better" if r.is_rate(self.unit) else "less is better"
        axes.set_xlabel(f"{unit_text(self.unit)} ({better})", fontsize=8)

    def draw_limits(self, axes, most):
        words, right = [], most
        for what, limit in sorted(set(self.limits)):
            if limit <= most * BIG:
                axes.axvline(limit, color="#222222", linestyle="--", linewidth=1)
                right = max(right, limit)
            words.append(f"{what} {short_number(limit)} {self.unit}")
        axes.set_xlim(0, right * 1.14)
        title = "\n".join(textwrap.wrap(self.title, 58))
        axes.set_title("\n".join([title, *words]), loc="left", fontsize=9)


def panels_of(questions, wanted):
    """All values of the questions whose unit is wanted."""
    for question in questions:
        for index, value in enumerate(question["subjects"][0]["values"]):
            if wanted(value["unit"]):
                yield Panel(question, index)


def bars(panels, columns=2):
    """A picture of panels side by side; a row is as high as its fullest panel needs."""
    rows = [panels[i : i + columns] for i in range(0, len(panels), columns)]
    heights = [max(0.9 + 0.27 * len(p.names) + 0.16 * len(p.limits) for p in row) for row in rows]
    figure = plot.figure(figsize=(11, sum(heights) + 0.2 * len(rows)))
    grid = figure.add_gridspec(len(rows), columns, height_ratios=heights)
    for i, row in enumerate(rows):
        for k, panel in enumerate(row):
            panel.draw(figure.add_subplot(grid[i, k]), max(len(p.names) for p in row))
    return svg_of(figure)


# ---- Latencies -----------------------------------------------------------------------------------

SHARES = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)


def latencies(question):
    """By share of the operations, the slow ones drawn out: a tenth of what is left to each step."""
    told = [s for s in question["subjects"] if "latencies" in s]
    figure, axes = plot.subplots(figsize=(10, 3.9))
    seen = {}
    last = 0.9
    for subject in told:
        _, _, colour, marker = library_of(subject["name"])
        dashes = DASHES[seen.get(colour, 0) % len(DASHES)]
        seen[colour] = seen.get(colour, 0) + 1
        line = subject["latencies"]
        # Shares of less than one operation are the slowest one's.
        points = [(s, ns) for s, ns in line["shares"] if s < 1 and (1 - s) * line["count"] >= 1]
        last = max(last, *(s for s, _ in points))
        axes.plot(
            [-math.log10(1 - s) for s, _ in points],
            [max(ns, 1) for _, ns in points],
            color=colour,
            linestyle=dashes,
            marker=marker,
            markersize=4,
            label=f"{subject['name']} ({line['count']:,})",
        )
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: short_number(y)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks([-math.log10(1 - s) for s in SHARES], [f"{s * 100:g} %" for s in SHARES])
    axes.set_xlim(0, max(-math.log10(1 - s) for s in SHARES if s <= last) + 0.15)
    axes.grid(color="#dddddd")
    axes.set_xlabel("share of the operations that took no longer (each step: a tenth of the rest)")
    axes.set_ylabel("nanoseconds (logarithmic)")
    axes.set_title(question["name"], loc="left")
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(1.01, 1),
        fontsize=8,
        frameon=False,
        title="(operations)",
        title_fontsize=8,
    )
    return svg_of(figure)


# ---- OpenMP --------------------------------------------------------------------------------------


def by_runtime(question):
    """{runtime: {value: ...}}"""
    return {s["name"]: {v["value"]: v for v in s["values"]} for s in question["subjects"]}


def runtime_bars(axes, question, runtimes=RUNTIMES):
    """A group for each value, in it a bar for each runtime."""
    names = [v["value"] for v in question["subjects"][0]["values"]]
    every = {s["name"]: s["values"] for s in question["subjects"]}
    every, unit, _ = scaled([v for runtime in runtimes for v in every[runtime]])
    width = 0.8 / len(runtimes)
    for k, runtime in enumerate(runtimes):
        values = every[k * len(names) : (k + 1) * len(names)]
        places = [i + (k - (len(runtimes) - 1) / 2) * width for i in range(len(names))]
        medians = [v["median"] for v in values]
        axes.bar(places, medians, width, color=colour_of(runtime), label=runtime)
        axes.errorbar(places, medians, yerr=interval_strokes(values), **STROKE)
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right", rotation_mode="anchor")
    axes.tick_params(axis="x", labelsize=8)
    axes.set_ylim(0, end_of_axis(every) * 1.05)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: short_number(y)))
    axes.grid(axis="y", color="#dddddd")
    axes.set_ylabel(unit_text(unit))
    axes.set_title(question["name"], loc="left", fontsize=9)


def runtime_panels(questions, columns=2, groups=""):
    rows = math.ceil(len(questions) / columns)
    figure, all_axes = plot.subplots(rows, columns, figsize=(11, 2.9 * rows), squeeze=False)
    every = [axes for row in all_axes for axes in row]
    for axes, question in zip(every, questions):
        runtime_bars(axes, question)
        axes.set_xlabel(groups, fontsize=8)
    for axes in every[len(questions) :]:
        axes.remove()
    legend_above(figure, every[0])
    return svg_of(figure)


def legend_above(figure, axes):
    """A line of its own over all panels."""
    figure.suptitle(" ", fontsize=8)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper left", ncols=3, fontsize=9, frameon=False)


def lines_over_threads(axes, by_threads, value, runtimes):
    """`value` of (by_threads, threads, runtime): median, low, high. Each count has a place."""
    threads = sorted(by_threads)
    most = 0
    for k, runtime in enumerate(runtimes):
        told = [value(by_threads, t, runtime) for t in threads]
        places = [i + (k - (len(runtimes) - 1) / 2) * 0.07 for i in range(len(threads))]
        _, _, colour, marker = library_of(runtime)
        medians = [m for m, _, _ in told]
        strokes = [[m - low for m, low, _ in told], [high - m for m, _, high in told]]
        ends = [{"median": m, "high": high} for m, _, high in told]
        most = max(most, end_of_axis(ends))
        axes.errorbar(
            places, medians, yerr=strokes, color=colour, marker=marker, capsize=2.5, label=runtime,
            markersize=5,
        )  # fmt: skip
    axes.set_xticks(range(len(threads)), threads)
    axes.set_xlim(-0.3, len(threads) - 0.7)
    axes.set_ylim(0, most * 1.05)
    axes.grid(axis="y", color="#dddddd")
    axes.set_xlabel("threads")


def program_panels(programs, value, unit, dashed=None):
    """A panel for each program, which are {name: {threads: {runtime: ...}}}."""
    columns = min(3, len(programs))
    rows = math.ceil(len(programs) / columns)
    figure, all_axes = plot.subplots(rows, columns, figsize=(11, 2.7 * rows), squeeze=False)
    every = [axes for row in all_axes for axes in row]
    for axes, (name, by_threads) in zip(every, programs.items()):
        lines_over_threads(axes, by_threads, value, RUNTIMES)
        axes.set_title(name, loc="left")
        axes.set_ylabel(unit)
        if dashed:
            threads = sorted(by_threads)
            best = [min(t, dashed) for t in threads]
            axes.plot(range(len(threads)), best, color="#222222", linestyle="--", linewidth=1)
            axes.set_ylim(0, max(axes.get_ylim()[1], *best) * 1.05)
    for axes in every[len(programs) :]:
        axes.remove()
    legend_above(figure, every[0])
    return svg_of(figure)


def time_of(by_threads, threads, runtime):
    time = by_threads[threads][runtime]["time"]
    return time["median"], time["low"], time["high"]


def speedup_of(by_threads, threads, runtime):
    """One thread's time, taken as known, over that of so many, on the same runtime."""
    one = by_threads[1][runtime]["time"]["median"]
    median, low, high = time_of(by_threads, threads, runtime)
    return one / median, one / high, one / low


def speedups(programs, processors):
    return program_panels(programs, speedup_of, "speed-up (one thread = 1)", processors)


def times(programs):
    return program_panels(programs, time_of, "milliseconds")


def ratio_lines(rows, title):
    """rows: (place, goal): the ratio of each goal with its interval, and the limit that it has."""
    figure, axes = plot.subplots(figsize=(8, 3.2))
    for i, (_, goal) in enumerate(rows):
        colour, marker = looks_of(goal)
        axes.errorbar(
            i, goal["ratio"], yerr=[[goal["ratio"] - goal["low"]], [goal["high"] - goal["ratio"]]],
            color=colour, marker=marker, capsize=3, markersize=6,
        )  # fmt: skip
        limit = {"color": "#222222", "linestyle": "--", "linewidth": 1}
        axes.hlines(goal["factor"], i - 0.35, i + 0.35, **limit)
    axes.set_xticks(range(len(rows)), [place for place, _ in rows])
    axes.set_ylim(0, max(1.05, *(g["high"] * 1.05 for _, g in rows)))
    axes.axhline(1, color="#888888", linewidth=0.8)
    axes.grid(axis="y", color="#dddddd")
    axes.set_xlabel("threads")
    axes.set_ylabel("time, ours over the better peer's")
    axes.set_title(title + "; dashed: the goal", loc="left")
    return svg_of(figure)


# ---- Goals ---------------------------------------------------------------------------------------


def looks_of(goal):
    return VERDICT_LOOKS.get(r.verdict(goal), ("#888888", "o"))


def margins(results):
    """Every goal that has a verdict, by program: how far it is from its limit."""
    names = [p["program"] for p in results.programs]
    figure, axes = plot.subplots(figsize=(10, 0.6 + 0.34 * len(names)))
    shown = {}
    for row, name in enumerate(names):
        goals = [g.goal for g in results.goals() if g.program["program"] == name]
        goals = [g for g in goals if r.verdict(g) in VERDICT_LOOKS and r.margin(g)[0] > 0]
        for k, goal in enumerate(goals):
            word = r.verdict(goal)
            shown.setdefault(word, [[], []])
            shown[word][0].append(r.margin(goal)[0])
            # Side by side within the row, so that they do not hide each other.
            shown[word][1].append(row - 0.3 + 0.6 * (k + 0.5) / len(goals))
    for word, (colour, marker) in VERDICT_LOOKS.items():
        if word in shown:
            label = f"{word} ({len(shown[word][0])})"
            above = 2 + list(VERDICT_LOOKS).index(word)
            look = {"s": 16, "color": colour, "marker": marker, "zorder": above}
            axes.scatter(*shown[word], label=label, **look)
    axes.set_xscale("log")
    axes.axvline(1, color="#222222", linestyle="--", linewidth=1)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="x", color="#dddddd")
    axes.set_xlabel("ours over what the goal allows (logarithmic; left of the line is better)")
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1))
    return svg_of(figure)
