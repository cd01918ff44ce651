# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the report says, chapter by chapter."""
import os
import re

import openmp
import pictures
import results as r
from pages import Bullets, Heading, Lines, Page, Paragraph, Picture, Table, anchor

KINDS_OF_LINE = (
    "Bars and points are medians of the restarts; strokes are their 95 % intervals, and one that "
    "reaches the frame goes on beyond it."
)
LONGEST = 20  # questions
HALVES, CORES = 1.25, 1.15  # a loop takes so many times longer beside another: from, up to


def number(value, unit=""):
    return pictures.short_number(value) + (f" {unit}" if unit else "")


def interval(of, low="low", high="high", middle="median", unit=""):
    told = " .. ".join(pictures.short_number(of[key]) for key in (low, high))
    return f"{number(of[middle])} [{told}]" + (f" {unit}" if unit else "")


def ratio_text(goal):
    return f"{goal['ratio']:.2f} [{goal['low']:.2f}, {goal['high']:.2f}]"


def minutes(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def limit_text(question, goal):
    """As bench/bench_report.c has it."""
    unit = r.own_value(question, goal)["unit"]
    if goal["verdict"] == "reported" and goal["partner"] == "the figure":
        return f"none; {goal['figure']:g} {unit} is best"
    if goal["partner"] == "the figure":
        return f"{goal['direction']} {goal['factor'] * goal['figure']:g} {unit}"
    return f"{goal['direction']} {goal['factor']:.2f}x {goal['partner']}"


# ---- What came out -------------------------------------------------------------------------------


def conclusion(results):
    """Lines for the terminal, too."""
    counted = r.count(results.goals())
    judged = sum(counted[word] for word in r.VERDICTS[:3])
    mark = ", provisionally (short form)" if results.is_short else ""
    yield (
        f"Of {judged} goals {counted['met']} are met, {counted['missed']} missed, "
        f"{counted['undecided']} undecided{mark}; without a goal: {counted['reported']}."
    )
    for word in ("missed",) if results.is_short else ("missed", "undecided"):
        for g in results.goals():
            if r.verdict(g.goal) == word:
                yield f"{word}: {goal_line(g)}"


def goal_line(g):
    return (
        f"{g.question['name']}: {g.goal['name']}: {ratio_text(g.goal)}, "
        f"wanted {limit_text(g.question, g.goal)}"
    )


def goal_lists(results):
    for word in ("missed", "undecided"):
        items = [goal_line(g) for g in results.goals() if r.verdict(g.goal) == word]
        if items:
            yield Paragraph(f"**{word.capitalize()}** ({len(items)}):")
            yield Bullets(items)


def programs_table(results):
    rows = []
    for program in results.programs:
        goals = [g for g in results.goals() if g.program is program]
        counted = r.count(goals)
        restarts = sorted({q["restarts"] for q in program["questions"]})
        rows.append(
            (
                program["program"],
                program["title"],
                len(program["questions"]),
                *(counted[word] for word in r.VERDICTS),
                " to ".join(str(n) for n in sorted({*restarts[:1], *restarts[-1:]})),
                minutes(program["seconds"]),
            )
        )
    whole = r.count(results.goals())
    questions = sum(len(p["questions"]) for p in results.programs)
    counts = [whole[word] for word in r.VERDICTS]
    rows.append(("all", "", questions, *counts, "", minutes(results.run["seconds"])))
    return Table(("program", "what", "questions", *r.VERDICTS, "restarts", "took"), rows)


def summary(results):
    yield Heading(1, "Medley's benchmarks" + (": short form" if results.is_short else ""))
    if results.is_short:
        yield Paragraph(
            "**Short form: provisional.** Fewer restarts, and less work in each, than a verdict "
            'takes: every verdict has a "?", and a ratio near its goal says nothing. `make bench` '
            "measures."
        )
    yield Heading(2, "Goals")
    yield Paragraph(
        "**" + next(conclusion(results)) + "** A goal is met when the ratio's 95 % interval "
        "reaches it and the worse end keeps it, 0.05 to spare for noise; missed when the better end "
        "does not keep it so; else undecided."
    )
    failed = [p["program"] for p in results.programs if p["failed"]]
    if failed:
        yield Paragraph(
            f"**A functional check failed** in {', '.join(failed)}: what was asked there is not "
            "in this report."
        )
    yield programs_table(results)
    yield from goal_lists(results)
    words = "Every goal, by program: how far it is from its limit"
    yield Picture("goals", words, pictures.margins(results))


# ---- Where ---------------------------------------------------------------------------------------


def halves_text(results):
    """What the system says of the processors, and what two loops say."""
    told = [s for s in results.machine["siblings"] if not s.isdigit()]
    says = f"the system says that {', '.join(told) or 'none'} are"
    program = results.program("machine_bench")
    question = program["questions"][0] if program and program["questions"] else None
    if not question or len(results.machine["allowed"]) < 2:
        return says
    alone, beside = (s["values"][0] for s in question["subjects"][:2])
    ratio = beside["median"] / alone["median"]
    verdict = "they work as halves of one core do"
    if ratio < HALVES:
        verdict = "they work as two cores do" if ratio <= CORES else "it is not clear which"
    return (
        f"{says}; a loop takes {number(alone['median'])} ms alone and "
        f"{number(beside['median'])} beside another: {verdict}"
    )


def or_unknown(value):
    return "unknown" if value is None else value


def machine_table(results):
    m, run = results.machine, results.run
    fifo = all(p["fifo"] for p in results.programs)
    virtual = ", of a virtual machine" if m["virtual"] else ""
    quota = "none" if m["quota"] is None else f"{m['quota']:g} processors' time"
    memory = f"{m['memory_mib'] / 1024:.1f} GiB" if m["memory_mib"] else "unknown"
    busiest = max(results.programs, key=lambda p: p["load"])
    return Table(
        ("of the machine and the run", ""),
        [
            ("processor", f"{or_unknown(m['model'])}{virtual}"),
            ("processors", f"{m['processors']}, of which {len(m['allowed'])} may be used"),
            ("halves of one core", halves_text(results)),
            ("caches of the first", ", ".join(m["caches"]) or "unknown"),
            ("memory", memory),
            ("quota", quota),
            ("frequency governor", or_unknown(m["governor"])),
            ("kernel", m["kernel"]),
            ("system", or_unknown(m["system"])),
            ("compiler", ", ".join(sorted({p["compiler"] for p in results.programs}))),
            ("revision", or_unknown(m["revision"])),
            ("timed threads", f"pinned, {'' if fifo else 'not '}under SCHED_FIFO"),
            ("began, ended", f"{run['began']}, {run['ended']} ({minutes(run['seconds'])})"),
            ("load average before", f"{run['load_before']} (1, 5, 15 minutes)"),
            ("load average after", run["load_after"]),
            ("highest load at a program's begin", f"{busiest['load']:.2f}, {busiest['program']}"),
        ],
    )


def machine(results):
    yield Heading(2, "Machine and load")
    yield machine_table(results)
    yield Heading(2, "Peers and versions")
    yield Paragraph(
        "Each is measured in the same program as Medley and in turn with it, by the same compiler; "
        "a ratio is the median of those of each restart."
    )
    peers = results.machine["peers"]
    yield Table(("peer", "version"), [(name, or_unknown(v)) for name, v in peers.items()])


# ---- Rates, times, latencies ---------------------------------------------------------------------


def is_openmp(program):
    return program["program"].startswith("openmp_")


def bars_by_program(results, wanted, kind):
    for program in results.programs:
        if is_openmp(program) or program["program"] == "machine_bench":
            continue
        panels = list(pictures.panels_of(program["questions"], wanted))
        if panels:
            yield Picture(
                f"{anchor(kind)}-{anchor(program['program'])}",
                f"{program['title']}: {kind}",
                pictures.bars(panels),
            )


def throughput(results):
    yield Heading(2, "Throughput")
    yield Paragraph(KINDS_OF_LINE + " Dashed: a goal that is a figure, or the best there can be.")
    yield from bars_by_program(results, r.is_rate, "throughput")


def latency_pictures(results):
    for program, question in results.questions():
        if any("latencies" in s for s in question["subjects"]):
            yield Picture(
                f"latency-{anchor(question['name'])}",
                f"{question['name']} ({question['setting']}): latency by share of the operations",
                pictures.latencies(question),
            )


def latency_table(results):
    shares = (0.5, 0.9, 0.99, 0.999, 0.9999)
    rows = []
    for _, question in results.questions():
        for subject in question["subjects"]:
            told = subject.get("latencies")
            if told:
                at = dict((share, ns) for share, ns in told["shares"])
                # A share that leaves less than one operation is not told.
                cells = [number(at[s]) if (1 - s) * told["count"] >= 1 else "" for s in shares]
                cells = [f"{told['count']:,}", *cells, number(told["most_ns"])]
                rows.append((question["name"], subject["name"], *cells))
    columns = ("what", "whose", "operations", *(f"{s * 100:g} %" for s in shares), "longest")
    return Table(columns, rows)


def latency(results):
    drawn = list(latency_pictures(results))
    if drawn:
        yield Heading(2, "Latency distributions")
        yield Paragraph(
            "Of single operations, in all restarts together, in nanoseconds: so many per cent took "
            "no longer. The kernel's own work is in the last ones."
        )
        yield from drawn
        yield latency_table(results)


def costs(results):
    yield Heading(2, "Times and sizes")
    yield Paragraph(KINDS_OF_LINE + " Less is better.")
    yield from bars_by_program(results, lambda unit: not r.is_rate(unit), "times and sizes")


# ---- Everything ----------------------------------------------------------------------------------


def goals_table(results):
    rows = []
    for g in results.goals():
        own = r.own_value(g.question, g.goal)
        rows.append(
            (
                f"{g.question['name']}: {g.goal['name']} ({g.question['setting']})",
                number(own["median"], own["unit"]),
                limit_text(g.question, g.goal),
                ratio_text(g.goal),
                g.question["restarts"],
                g.goal["verdict"],
            )
        )
    return Table(("what", "ours", "goal", "ratio", "restarts", "verdict"), rows)


def figures_table(program):
    rows = []
    for question in program["questions"]:
        for subject in question["subjects"]:
            for value in subject["values"]:
                what = question["name"] + (f": {value['value']}" if value["value"] else "")
                rows.append((what, subject["name"], interval(value, unit=value["unit"])))
    return Table(("what", "whose", "median and 95 % interval"), rows)


def everything(results):
    yield Heading(2, "All goals")
    yield Paragraph(
        'Ratio: ours over the partner\'s, its 95 % interval in brackets; "?": provisional.'
    )
    yield goals_table(results)
    figures = [Heading(2, "All figures")]
    for program in results.programs:
        figures += [Heading(3, f"{program['program']}: {program['title']}"), figures_table(program)]
    yield Page(figures)


def duration(results):
    """The questions that took longest, and what their goals needed it for."""
    told = sorted(results.questions(), key=lambda q: -q[1]["seconds"])[:LONGEST]
    rows = []
    for program, question in told:
        goals = [g for g in question["goals"] if r.verdict(g) in r.VERDICTS[:3]]
        nearest = min(goals, key=lambda g: abs(r.margin(g)[0] - 1), default=None)
        words = f"{nearest['name']}: {ratio_text(nearest)}, {nearest['verdict']}" if nearest else ""
        limit = limit_text(question, nearest) if nearest else ""
        seconds = f"{question['seconds']:.1f}"
        what = (program["program"], question["name"], seconds, question["restarts"])
        rows.append((*what, words, limit))
    yield Heading(2, "Where the time went")
    yield Table(("program", "question", "seconds", "restarts", "its closest goal", "wanted"), rows)


def footprint(results):
    path = os.path.join(results.folder, "footprint.txt")
    if results.is_short or not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if re.search(r"\S", text):
        yield Heading(2, "Code and RAM on Cortex-M")
        yield Lines(text)


def report(results):
    """All its blocks."""
    made = []
    for chapter in (
        summary, machine, throughput, latency, costs, openmp.chapter, footprint, duration, everything
    ):  # fmt: skip
        made += chapter(results)
    return made
