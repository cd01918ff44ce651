# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What MCAPI should exchange on this machine: the lock-free MCAPI paper's model, as a simulation.

usage: model.py COSTS MATRIX FOLDER text|json     (medley model calls it)

As in the paper, the memory is one queue, which all cores share, and a core is another; sender and
receiver are customers of them, and what is between them is a lane of so many elements. A side's turn
is its instructions, on its core, and its memory operations: one that hits its cache takes its core a
little, one that does not, occupies the memory while a line goes from core to core.
A receiver that finds nothing yields, and so does a sender that finds no room; who has looked at a line in vain
has taken it, and the other has to fetch it back.

The paper's model left out the instructions, the atomic operations and the system; here they are
counted (operations.json) and priced (COSTS, measured by the command at its start).
"""

import json
import os
import sys


def end_with(form, message):
    """Whoever reads JSON reads there what was wrong."""
    print(f"medley model: {message}", file=sys.stderr)
    if form == "json":
        json.dump({"error": message}, sys.stdout, indent=1)
        print()
    sys.exit(1)


try:
    from SimPy.Simulation import Process, Resource, Simulation, hold, release, request
except ImportError:
    end_with(sys.argv[-1], "there is no SimPy here; install python3-simpy")

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import charts  # noqa: E402  (it lies beside this file)

TRANSACTIONS = 1000
WITHIN = 0.30
PLACES = {"one": "one core", "free": "free", "spread": "two cores"}


def turn_ns(costs, of):
    """On the core. Each side reads the clock once for each transaction, which is a few instructions
    that take longer than others. What loads or stores is an instruction, and has its own price."""
    return (
        (of["instructions"] - of["operations"]) * costs["instruction_ns"]
        + of["operations"] * costs["hit_ns"]
        + costs["clock_ns"]
    )


class Exchange:
    """One simulated run. `hit` is the share of a side's operations that hit its cache; None: all but
    those on lines that the other side wrote."""

    def __init__(self, costs, kind, capacity, cores, hit=None):
        self.costs, self.kind, self.hit = costs, kind, hit
        self.simulation = Simulation()
        self.simulation.initialize()
        self.cores = [
            Resource(capacity=1, name=f"core {i}", sim=self.simulation) for i in range(cores)
        ]
        self.memory = Resource(capacity=1, name="memory", sim=self.simulation)
        self.capacity = capacity  # 0: a state, which nobody waits for
        self.filled = self.sent = self.taken = 0
        self.looked_in_vain = False
        self.memory_busy_ns = 0.0
        self.end_ns = 0.0

    def misses(self, side):
        operations = self.kind[side]
        if self.hit is not None:
            return operations["operations"] * (1 - self.hit)
        return operations["lines"] if len(self.cores) > 1 else 0

    def instructions_ns(self, side):
        return turn_ns(self.costs, self.kind[side])

    def run(self):
        for side, number in (("send", 0), ("receive", len(self.cores) - 1)):
            process = Side(self, side, self.cores[number])
            self.simulation.activate(process, process.go())
        self.simulation.simulate(until=1e12)
        return self

    @property
    def per_second(self):
        return TRANSACTIONS * 1e9 / self.end_ns

    @property
    def memory_share(self):
        return self.memory_busy_ns / self.end_ns


class Side(Process):
    def __init__(self, exchange, side, core):
        super().__init__(name=side, sim=exchange.simulation)
        self.exchange, self.side, self.core = exchange, side, core

    def over(self):
        x = self.exchange
        if self.side == "receive" and x.capacity == 0:
            return x.sent == TRANSACTIONS
        return (x.sent if self.side == "send" else x.taken) == TRANSACTIONS

    def possible(self):
        x = self.exchange
        if x.capacity == 0:
            return True
        return x.filled < x.capacity if self.side == "send" else x.filled > 0

    def memory_ns(self):
        """How long this turn occupies the memory: lines that are asked for one after the other come
        as in a stream; one that the other has just taken comes alone."""
        x = self.exchange
        alone = self.side == "receive" and x.capacity and x.filled == 1 and x.hit is None
        ns = x.misses(self.side) * x.costs["one_line_ns" if alone else "stream_line_ns"]
        if self.side == "send" and x.looked_in_vain and len(x.cores) > 1:
            x.looked_in_vain = False
            ns += x.costs["one_line_ns"]
        return ns

    def moved(self):
        x = self.exchange
        if self.side == "send":
            x.sent += 1
            x.filled += 1
        else:
            x.taken += 1
            x.filled -= 1
        x.end_ns = self.sim.now()

    def go(self):
        x = self.exchange
        yield request, self, self.core
        while not self.over():
            if not self.possible():
                x.looked_in_vain = x.looked_in_vain or self.side == "receive"
                yield hold, self, x.instructions_ns(self.side) / 2 + x.costs["yield_ns"]
                yield release, self, self.core
                yield request, self, self.core
                continue
            yield hold, self, x.instructions_ns(self.side)
            ns = self.memory_ns()
            if ns:
                yield request, self, x.memory
                yield hold, self, ns
                yield release, self, x.memory
                x.memory_busy_ns += ns
            self.moved()
            if x.capacity == 0 and self.side == "receive":  # nothing newer: it yields
                yield hold, self, x.costs["yield_ns"]
                yield release, self, self.core
                yield request, self, self.core
        yield release, self, self.core


# ---- Predictions ---------------------------------------------------------------------------------


def capacity_of(operations, kind):
    of = operations["lock-free"][kind]
    if not of["element_bytes"]:
        return 0
    fits = operations["lane_bytes"] // of["element_bytes"]
    return min(fits, of.get("at_most", fits))


def exchange_of(costs, operations, kind, cores, hit=None):
    return Exchange(
        costs, operations["lock-free"][kind], capacity_of(operations, kind), cores, hit
    ).run()


def turns_ns(costs, operations, kind):
    """Both sides', one after the other."""
    of = operations["lock-free"][kind]
    return sum(turn_ns(costs, of[side]) for side in ("send", "receive"))


def lock_price_ns(costs, cores):
    """Of taking the operating system's lock, or giving it back; two cores that do so without end
    have it in turn, and nobody sleeps for long enough to be put to sleep."""
    return costs["lock_ns" if cores == 1 else "lock_contended_ns"]


def locked_calls(calls, cores, waits):
    """Of the lock, for each transaction. On one core a receiver of states, for which nobody waits,
    has its turn once in a time slice. On two the lock goes from one side to the other, so while one
    takes it the other does as often, in vain or not: the sender of states, else who needs it more."""
    if cores == 1:
        return calls["send"] + (calls["receive"] if waits else 0)
    return 2 * (max(calls["send"], calls["receive"]) if waits else calls["send"])


def locked_ns(costs, operations, kind, cores):
    """Everything under one lock: nothing is at once, so there is nothing to simulate."""
    waits = capacity_of(operations, kind) > 0
    calls = locked_calls(operations["locked"][kind], cores, waits)
    ns = turn_ns(costs, operations["lock-free"][kind]["send"])
    if cores > 1 or waits:
        ns = turns_ns(costs, operations, kind)
    return ns + calls * lock_price_ns(costs, cores)


def predict(costs, operations, kind, exchange, place):
    """Where nodes are free the kernel has them on two cores, if there are two."""
    cores = 1 if place == "one" or not costs["one_line_ns"] else 2
    if exchange == "locked":
        return 1e9 / locked_ns(costs, operations, kind, cores), 0.0
    result = exchange_of(costs, operations, kind, cores)
    return result.per_second, result.memory_share


# ---- Why not -------------------------------------------------------------------------------------


def in_vain_ns(costs, operations, row, measured):
    """What was measured of looks in vain: half a turn each, and a turn of the lock."""
    ns = turns_ns(costs, operations, row["type"]) / 4
    if row["exchange"] == "locked":
        ns += operations["locked"][row["type"]]["a_look"] * lock_price_ns(costs, row["cores"])
    return measured["retries"] * ns + measured["yields"] * costs["yield_ns"]


def reasons(costs, operations, row, measured):
    """What was measured of the row and is not in the prediction: how many ns of each transaction,
    and in words. More ns than predicted are positive."""
    took_ns = 1e9 / measured["per_second"]
    at_work = measured["worked_ns"] / took_ns
    yield (
        in_vain_ns(costs, operations, row, measured),
        f"{measured['retries']:.2f} looks in vain and {measured['yields']:.2f} yields for each",
    )
    yield (
        measured["wake_ups"] * costs["wake_ns"],
        f"{measured['wake_ups']:.3f} sleeps for each, of {costs['wake_ns']:,.0f} ns",
    )
    yield (
        took_ns - measured["worked_ns"] / row["cores"],
        f"the nodes had {at_work:.2f} of {row['cores']} cores: others had the rest, or they slept",
    )


def rest_in_words(costs, row, measured, ns, told):
    """What no count explains is in the turns themselves."""
    took_ns = 1e9 / measured["per_second"]
    words = f"a transaction has {measured['worked_ns']:,.0f} ns of work in {took_ns:,.0f} ns, "
    words += f"{abs(ns):,.0f} ns {'more' if ns > 0 else 'less'} than is priced"
    if row["exchange"] == "locked":
        price = lock_price_ns(costs, row["cores"])
        words += f": as {abs(ns) / price:.1f} calls of the lock are, of {price:,.0f} ns"
    elif row["cores"] > 1:
        words += f": as {abs(ns) / costs['one_line_ns']:.1f} lines are that come alone"
    return f"{words} ({told})"


def why_not(costs, operations, row, measured):
    """The largest of what was measured and is not in the prediction; if none is half of what is
    missing, what is left."""
    gap_ns = 1e9 / measured["per_second"] - 1e9 / row["predicted_per_second"]
    found = list(reasons(costs, operations, row, measured))
    ns, words = max(found, key=lambda reason: reason[0])
    if ns >= gap_ns / 2 > 0:
        return f"{words}: {ns:,.0f} of {gap_ns:,.0f} ns more than predicted"
    rest_ns = gap_ns - sum(reason[0] for reason in found)
    told = (
        f"looks in vain {measured['retries']:.2f}, sleeps {measured['wake_ups']:.3f}, "
        f"switches {measured['switches']:.3f} for each"
    )
    return rest_in_words(costs, row, measured, rest_ns, told)


def verdict(ratio):
    if ratio > 1 + WITHIN:
        return "more than predicted"
    if ratio < 1 - WITHIN:
        return "to gain"
    return "stop"


class Progress:
    """To who looks on: how many predictions are made."""

    def __init__(self, total):
        self.done, self.total = 0, total
        self.shows = sys.stderr.isatty()

    def one_more(self):
        self.done += 1
        if self.shows:
            print(
                f"\rmedley model: {self.done} of {self.total} predictions made",
                end="\n" if self.done == self.total else "",
                file=sys.stderr,
                flush=True,
            )

    def give_up(self):
        """What is written next begins a line."""
        if self.shows and 0 < self.done < self.total:
            print(file=sys.stderr)


def rows_make(costs, operations, matrix, progress):
    rows = []
    for kind in operations["lock-free"]:
        for exchange in ("locked", "lock-free"):
            for place in PLACES:
                rate, share = predict(costs, operations, kind, exchange, place)
                progress.one_more()
                for run_as in ("threads", "processes"):
                    row = {"type": kind, "exchange": exchange, "place": place, "run_as": run_as}
                    row.update(predicted_per_second=rate, memory_share=share)
                    found = [m for m in matrix if all(m[k] == row[k] for k in list(row)[:4])]
                    row["cores"] = 1 if place == "one" or not costs["one_line_ns"] else 2
                    if found:
                        compare(costs, operations, row, found[0])
                    rows.append(row)
    return rows


def compare(costs, operations, row, measured):
    ratio = measured["per_second"] / row["predicted_per_second"]
    row.update(per_second=measured["per_second"], ratio=ratio, verdict=verdict(ratio))
    if row["verdict"] != "stop":
        row["why"] = why_not(costs, operations, row, measured)


# ---- The paper's Figure 6 ------------------------------------------------------------------------


HIT_PERCENTS = range(0, 101, 10)


def sweep_make(costs, operations, kind, progress):
    rows = []
    for percent in HIT_PERCENTS:
        for cores in (1, 2):
            result = exchange_of(costs, operations, kind, cores, percent / 100)
            progress.one_more()
            rows.append(
                {
                    "type": kind,
                    "hit_rate": percent / 100,
                    "cores": cores,
                    "per_second": result.per_second,
                    "memory_share": result.memory_share,
                }
            )
    return rows


def sweep_draw(rows, path):
    best = max(row["per_second"] for row in rows)
    picture = charts.Picture(
        "Messages over the share of accesses that hit the cache", "percent", 0, 100, False
    )
    picture.legend(["throughput (of the most)", "use of the memory"])
    for cores in (1, 2):
        of = [row for row in rows if row["cores"] == cores]
        throughput = [(r["hit_rate"], r["per_second"] / best * 100) for r in of]
        memory = [(r["hit_rate"], r["memory_share"] * 100) for r in of]
        picture.line(throughput, 0, dashed=cores == 1)
        picture.line(memory, 1, dashed=cores == 1)
    for percent in range(0, 101, 20):
        picture.place_name(percent / 100, f"{percent} %")
    picture.place_name(0.5, "\n\ndashed: one core; solid: two cores")
    picture.write(path)


# ---- Text ----------------------------------------------------------------------------------------


def text_write(document):
    print("costs, ns: " + ", ".join(f"{k[:-3]} {v:.2f}" for k, v in document["costs"].items()))
    print("\nTYPE     EXCHANGE   CORES      NODES      PREDICTED   MEASURED  RATIO  VERDICT")
    for row in document["rows"]:
        where = f"{row['type']:8} {row['exchange']:10} {PLACES[row['place']]:10} {row['run_as']:9}"
        rate = f"{row['predicted_per_second'] / 1e3:10,.0f}k"
        if "ratio" in row:
            rate += f"{row['per_second'] / 1e3:10,.0f}k  {row['ratio']:5.2f}  {row['verdict']}"
        print(f"{where} {rate}")
        if "why" in row:
            print(f"         why: {row['why']}")
    print("\nHITS   ONE CORE  MEMORY   TWO CORES  MEMORY")
    for one, two in zip(document["sweep"][::2], document["sweep"][1::2]):
        figures = "   ".join(
            f"{row['per_second'] / 1e3:8,.0f}k  {row['memory_share']:5.0%}" for row in (one, two)
        )
        print(f"{one['hit_rate']:4.0%} {figures}")
    compared = [row for row in document["rows"] if "ratio" in row]
    if compared:
        near = sum(row["verdict"] == "stop" for row in compared)
        gain = sum(row["verdict"] == "to gain" for row in compared)
        rows = "1 row" if len(compared) == 1 else f"{len(compared)} rows"
        print(f"\nwithin {WITHIN:.0%}: {near} of {rows}; still to gain in {gain}")


def what_was_wrong(error):
    if isinstance(error, OSError):
        return error.strerror
    if isinstance(error, KeyError):
        return f"there is no {error}"
    return "it is no such document" if isinstance(error, TypeError) else str(error)


def main():
    costs_text, matrix_path, folder, form = sys.argv[1:]
    costs = json.loads(costs_text)
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "operations.json"), encoding="utf-8") as file:
        operations = json.load(file)
    matrix = []
    progress = Progress(len(operations["lock-free"]) * 2 * len(PLACES) + 2 * len(HIT_PERCENTS))
    try:
        if matrix_path:
            with open(matrix_path, encoding="utf-8") as file:
                matrix = json.load(file)["matrix"]
        document = {
            "costs": costs,
            "rows": rows_make(costs, operations, matrix, progress),
            "sweep": sweep_make(costs, operations, "message", progress),
        }
    except (OSError, KeyError, TypeError, ValueError) as error:
        progress.give_up()
        reason = what_was_wrong(error)
        end_with(form, f"{matrix_path}: {reason}; want a matrix.json, which 'make matrix' writes")
    try:
        if folder:
            sweep_draw(document["sweep"], os.path.join(folder, "model.svg"))
    except OSError as error:
        end_with(form, f"{folder}: {error.strerror}; want a folder that can be written to")
    if form == "json":
        json.dump({"model": document}, sys.stdout, indent=1)
        print()
    else:
        text_write(document)


if __name__ == "__main__":
    main()
