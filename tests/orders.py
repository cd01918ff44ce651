# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rule `order` of check_floors.py: what is said at each atomic access of src.

An access is an operation of base/atomic.h, the compiler's, which src/port uses as they are, or a half
of the port's barrier. What only defines such operations, for whoever calls (atomic*.[ch]), has no
edges of its own.

An access that releases or acquires has a comment, in its statement or right above it, that names
the edge with the same two labels at both ends; what does both (acq_rel) names both:

    /* R1 slot filled -> A1 (pop) */            /* A1 slot filled <- R1 (push) */

Of several ends: `T1 live -> A1 (find), A4 (node.c)`. An end is looked for in the files that stand
in its parentheses, of this folder if there is one of that name, else in this .c and .h; other
words in there are for the reader. A fence, and what is sequentially consistent, names the two words
it stands between, at both sides, `B1 unit, then word <-> B2 (write)`; an operation an edge, if that
is all it is for.

A relaxed access has a comment with the word "relaxed", in its statement or right above it; or above
its function, or below the title of its section.

A comment with the word "all", "both", "each", "these" or "throughout" speaks for the rest of its
block.
"""
import os
import re

ORDER = r"(relaxed|acquire|release|acq_rel|seq_cst)"
# Of the compiler's operations: what comes first in their arguments, and second, at a failure.
BUILTIN = rf"(?:__atomic_\w+|med_port_store_n)(?=\((?:[^;{{]*?__ATOMIC_{ORDER}(?:,\s*__ATOMIC_{ORDER})?)?)"
BARRIER = r"med_port_barrier_(?:light|heavy)(?=\((?!med_port_scope\b))"
ACCESS = re.compile(rf"\b(?:atomic(?:32|64|_word)\w*_{ORDER}(?=\()|{BUILTIN}|{BARRIER})", re.I)
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
FUNCTION = re.compile(r"([a-z]\w*)\(")
RELAXED = re.compile(r"\brelaxed\b", re.I)
SEVERAL = re.compile(r"\b(all|both|each|these|throughout)\b", re.I)
LABEL = r"[A-Z]{1,2}\d+"
END = rf"({LABEL})(?: \(([^)]*)\))?"
PLACE = re.compile(r"[\w/]+\.[chS]\b")
EDGE = re.compile(rf"\b({LABEL})\b[^;.:<>]*? (<->|<-|->) ({END}(?:, {END})*)")
TURNED = {"->": "<-", "<-": "->", "<->": "<->"}
ARROWS = {"acquire": [("<-",)], "release": [("->",)], "acq_rel": [("<-",), ("->",)],
          "seq_cst": [("<->", "<-", "->")], "fence": [("<->",)]}
FENCE = re.compile(r"_fence$|^med_port_barrier")


class Comment:
    """Which lines it stands on, from 0, and which it speaks for."""

    def __init__(self, text, match, code):
        self.says = " ".join(re.sub(r"\n *\*?|/\*|\*/", " ", match.group(0)).split())
        self.first = text.count("\n", 0, match.start())
        self.last = self.first + match.group(0).count("\n")
        before = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        self.alone = not before.strip()
        self.indent = len(before)
        self.since, self.until = statement_of(code, self.last + 1 if self.alone else self.first)
        self.since = min(self.since, self.first)

    def speaks_for(self, line):
        return self.since <= line <= self.until


def statement_of(code, line):
    """First and last line of the statement that has something on `line`."""
    first = last = min(line, len(code) - 1)
    while first and code[first - 1].strip() and not re.search(r"[;{}:]\s*$|^\s*#", code[first - 1]):
        first -= 1
    while last + 1 < len(code) and not re.search(r"[;{}]\s*$", code[last]):
        last += 1
    return first, last


def block_end(code, comment):
    """The last line of the block that the comment stands in, or of the function below it."""
    for line in range(comment.last + 1, len(code)):
        indent = len(code[line]) - len(code[line].lstrip())
        closes = code[line].startswith("}") if comment.indent == 0 else indent < comment.indent
        if code[line].strip() and closes:
            return line
    return len(code)


def comments_of(text, code):
    comments = [Comment(text, m, code) for m in TOKEN.finditer(text) if m.group(0)[0] == "/"]
    titles = [c.first for c in comments if c.says.startswith("----")] + [len(code)]
    for comment in comments:
        if comment.alone and comment.first - 1 in titles:
            comment.until = min(t for t in titles if t > comment.first)
        elif comment.alone and (comment.indent == 0 or SEVERAL.search(comment.says)):
            comment.until = block_end(code, comment)
    return comments


def edges_in(comment):
    """(label, arrow, label, [file]) of each edge that the comment names."""
    for edge in EDGE.finditer(comment.says):
        for other, places in re.findall(END, edge.group(3)):
            yield edge.group(1), edge.group(2), other, PLACE.findall(places)


def accesses_in(code):
    """(line, name, [order]) of each."""
    text = "\n".join(code)
    for access in ACCESS.finditer(text):
        orders = [order.lower() for order in access.groups() if order]
        if FENCE.search(access.group(0)):
            orders = ["fence"]
        yield text.count("\n", 0, access.start()), access.group(0), orders


def of_file(path, text, code):
    """Its violations, and the edges inside its functions: (file, line, label, arrow, label, [file])."""
    comments = comments_of(text, code)
    inside = [c for c in comments if c.indent]
    violations = []
    for line, name, orders in accesses_in(code):
        if not orders:
            violations.append((line + 1, "order", f"{name}: of what order?"))
        elif set(orders) == {"relaxed"}:
            if not any(c.speaks_for(line) and RELAXED.search(c.says) for c in comments):
                violations.append((line + 1, "order", f"{name}: why is that enough?"))
        named = {edge[1] for c in inside if c.speaks_for(line) for edge in edges_in(c)}
        for arrows in (a for order in orders for a in ARROWS.get(order, ())):
            if not named.intersection(arrows):
                violations.append((line + 1, "order", f"{name}: no edge {arrows[0]}"))
    return violations, [(path, c.first + 1, *edge) for c in inside for edge in edges_in(c)]


def function_at(code, line):
    while line and not FUNCTION.match(code[line]):
        line -= 1
    match = FUNCTION.match(code[line])
    return match.group(1) if match else ""


def ordered_accesses(text, code):
    """(line, function, [how an edge is named]) of each access, fences aside, that acquires or
    releases."""
    inside = [c for c in comments_of(text, code) if c.indent]
    for line, name, orders in accesses_in(code):
        if set(orders) - {"relaxed"} and not FENCE.search(name):
            names = [c.says[edge.start():] for c in inside if c.speaks_for(line)
                     for edge in EDGE.finditer(c.says)]
            yield line + 1, function_at(code, line), names


def without_partner(ends):
    """Edges of which the other end does not say the same."""
    known = {(path, mine, arrow, other) for path, _, mine, arrow, other, _ in ends}
    paths = {path for path, *_ in known}

    def files_of(path, place):
        near = f"{os.path.dirname(path)}/{place}"
        return [near] if near in paths else [p for p in paths if p.endswith("/" + place)]

    for path, line, mine, arrow, other, places in ends:
        edge = other, TURNED[arrow], mine
        own = [path[:-2] + suffix for suffix in (".c", ".h", ".S")]
        wanted = [files_of(path, place) for place in places] or [own]
        if not all(any((p, *edge) in known for p in files) for files in wanted):
            yield path, line, "order", f"{mine} {arrow} {other}: not said at the other end"
