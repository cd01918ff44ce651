# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A document in Markdown as what its reader does, step by step.

Every fenced block has a part in it, by its first line:

    ```sh                  commands, one after another, of one shell, in a folder that is empty at first
    ```text                what the commands of the block before write (compare.py)
    ```c file=hello.c      a file, of any language, that the reader writes

A comment before a block says what does not show:

    <!-- not run: reason -->    the block is only to be read
    <!-- with: examples -->     the reader has this of the project in his folder from here on

A block that is none of these is an error, and so is one that is indented instead of fenced: nothing
is shown that nobody looks at.
"""

import dataclasses
import re

FENCE = re.compile(r"```(?P<language>[\w+-]*)(?P<words>[^`]*)$")
COMMENT = re.compile(r"<!-- (?P<kind>not run|with): (?P<text>.+?) -->$")
HOW_TO_COMPARE = {"any-numbers", "any-order"}


class Wrong(Exception):
    """What is wrong with a document, with its name and line."""


@dataclasses.dataclass
class Block:
    """As it stands there: its first line's number, that line's words, the lines within, the comment before."""

    line: int
    language: str
    words: list
    text: str
    comment: tuple = None


@dataclasses.dataclass
class Step:
    """One thing that the reader does; `line` is where it stands."""

    line: int


@dataclasses.dataclass
class Write(Step):
    name: str
    text: str


@dataclasses.dataclass
class Take(Step):
    """Has a folder or file of the project there."""

    name: str


@dataclasses.dataclass
class Run(Step):
    commands: str
    shown: str = None  # what they write; None: the document does not say
    compare: tuple = ()  # of HOW_TO_COMPARE


@dataclasses.dataclass
class Read(Step):
    """Does nothing but read it."""

    reason: str


def blocks_of(name, text):
    """Its fenced blocks; comments and blocks must be complete."""
    comment, block, before, list_item = None, None, "", False
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if block is not None:
            if line == "```":
                yield block
                block, comment = None, None
            else:
                block.text += line + "\n"
        elif fence:
            block = Block(number, fence["language"], fence["words"].split(), "", comment)
        elif found := COMMENT.match(line):
            comment = (number, found["kind"], found["text"])
        elif line.startswith(("    ", "\t")) and not before and not list_item:
            raise Wrong(f"{name}:{number}: a block that is indented: fence it")
        elif re.match(r"\s+```", line):
            raise Wrong(f"{name}:{number}: a fence that does not begin its line")
        elif line.strip():
            list_item = bool(re.match(r"\s*([-*]|\d+\.) ", line)) or (list_item and line.startswith(" "))
            comment = None
        before = line.strip()
    if block is not None:
        raise Wrong(f"{name}:{block.line}: a block without an end")


def steps_of(name, text):
    """What the reader does, in order."""
    steps = []
    output_may_follow = False
    for block in blocks_of(name, text):
        kind = block.comment[1] if block.comment else None
        if kind == "with":
            steps.append(Take(block.comment[0], block.comment[2]))
        if kind == "not run":
            steps.append(Read(block.line, block.comment[2]))
        elif block.language == "sh" and not block.words:
            steps.append(Run(block.line, block.text))
        elif block.language == "text" and output_may_follow and set(block.words) <= HOW_TO_COMPARE:
            steps[-1].shown, steps[-1].compare = block.text, tuple(block.words)
        elif len(block.words) == 1 and re.fullmatch(r"file=[\w./-]+", block.words[0]):
            steps.append(Write(block.line, block.words[0].removeprefix("file="), block.text))
        else:
            raise Wrong(f"{name}:{block.line}: a block of which nobody knows what it is for: "
                        "neither commands, nor what they write, nor a file, nor 'not run'")
        output_may_follow = kind != "not run" and block.language == "sh"
    return steps
