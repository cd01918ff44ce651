# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What commands wrote, beside what a document shows of it.

In what is shown, `...` stands for anything within a line, and a line of nothing else for any lines.
`any-numbers`: each number, and how wide a gap is, may be another. `any-order`: so may the order of the
lines be, but for those that `...` stands for, which cannot be told then.
"""

import difflib
import re

NUMBER = r"\d+(?:\.\d+)?"


def line_pattern(line, any_numbers):
    """The lines that this one stands for."""
    found = []
    for part in line.rstrip().split("..."):
        if not any_numbers:
            found.append(re.escape(part))
            continue
        pieces = re.split(rf"({NUMBER}| +)", part)
        found.append("".join(
            NUMBER if re.fullmatch(NUMBER, piece) else " +" if piece.strip(" ") == "" and piece
            else re.escape(piece) for piece in pieces))
    pattern = ".*".join(found)
    if any_numbers:
        pattern = " *" + pattern.removeprefix(" +")
    return re.compile(pattern)


def in_order(shown, written, any_numbers):
    """Does each line stand for its own, and `...` for those between? By the places up to which the
    lines shown so far can have stood."""
    ends = {0}
    for line in shown:
        if line.strip() == "...":
            ends = set(range(min(ends), len(written) + 1)) if ends else ends
            continue
        pattern = line_pattern(line, any_numbers)
        ends = {at + 1 for at in ends if at < len(written) and pattern.fullmatch(written[at])}
    return len(written) in ends


def out_of_order(shown, written, any_numbers):
    """Is there a line for each, and none left?"""
    left = list(written)
    for line in shown:
        pattern = line_pattern(line, any_numbers)
        found = next((other for other in left if pattern.fullmatch(other)), None)
        if found is None:
            return False
        left.remove(found)
    return not left


def difference(shown, written, how=(), name="document"):
    """Empty when they agree; else what differs, as diff -u has it."""
    shown = shown.splitlines()
    written = [line.rstrip() for line in written.splitlines()]
    agree = out_of_order if "any-order" in how else in_order
    if agree(shown, written, "any-numbers" in how):
        return ""
    return "\n".join(difflib.unified_diff(shown, written, f"{name}: shown", "written", lineterm="", n=99))
