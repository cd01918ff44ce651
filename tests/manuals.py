#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The manual's synopses have the arguments that the headers have.

usage: manuals.py ROOT

`...` in a synopsis stands for arguments that the function before it has, too.
"""
import pathlib
import re
import sys

FUNCTION = re.compile(r"\b((?:mrapi|mcapi|medley)_\w+)\s*\(([^;{}]*)\)\s*;")


def arguments_of(text):
    """At the commas that are in no parentheses; none for (void)."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [argument for argument in map(plain, found) if argument != "void"]


def plain(argument):
    """One space between words; an argument that is no pointer is const to nobody but the callee."""
    argument = " ".join(argument.split())
    return argument if "*" in argument else argument.removeprefix("const ")


def headers(root):
    functions = {}
    for header in sorted(root.glob("include/**/*.h")):
        text = re.sub(r"/\*.*?\*/|//[^\n]*|^#[^\n]*", "", header.read_text(), flags=re.S | re.M)
        text = re.sub(r"\bM\w+_OUT\b", "", re.sub(r"\bM\w+_IN\b", "const", text))
        for name, arguments in FUNCTION.findall(text):
            functions.setdefault(name, arguments_of(arguments))  # not a call in an inline one
    return functions


def synopsis(page):
    """Name and arguments of each function that has a prototype there."""
    text = page.read_text()
    text = text[text.index(".Sh SYNOPSIS"):text.index(".Sh DESCRIPTION")]
    for name, rest in re.findall(r"^\.Fn (\w+) (.*)$", text, re.M):
        yield name, arguments_of(",".join(re.findall(r'"([^"]*)"', rest)) or rest)
    for name, body in re.findall(r"^\.Fo (\w+)\n(.*?)^\.Fc", text, re.M | re.S):
        yield name, [plain(a.strip('"')) for a in re.findall(r"^\.Fa (.*)$", body, re.M)]


def agree(told, real):
    if "..." not in told:
        return told == real
    first, last = told[:told.index("...")], told[told.index("...") + 1:]
    return real[:len(first)] == first and real[len(real) - len(last):] == last


def main(root):
    functions = headers(root)
    told = [(page, *one) for page in sorted(root.glob("docs/man/*.3")) for one in synopsis(page)]
    wrong = 0
    for page, name, arguments in told:
        real = functions.get(name)
        if real is None or not agree(arguments, real):
            wrong += 1
            print(f"{page.name}: {name}: {arguments}, in the header {real}")
    print(f"{len(told)} synopses, {wrong} unlike the headers")
    sys.exit(wrong != 0 or not told)


main(pathlib.Path(sys.argv[1]))
