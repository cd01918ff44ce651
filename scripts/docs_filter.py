#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a file as Doxygen wants to read it; the file itself is written for people.

usage: docs_filter.py FILE

Of a header:
    a comment before a declaration              documents it
    a comment behind a member or constant       documents that
    a ruler, /* ---- Title ---- */              begins a group of that title
    lines in a comment that are set in, a code  become a list: the code, what it says
    and what it says
    a declaration right behind another one      has its comment, too
Of a document: what is behind a block's language goes, and links lead to what is among the pages, or are
no links.
"""
import os
import pathlib
import re
import sys

INCLUDE = pathlib.Path(__file__).resolve().parent.parent / "include"
LICENCE = re.compile(r"/\* SPDX-License-Identifier: [^\n]* \*/\n")
COMMENT = re.compile(r"/\*(?!\*).*?\*/", re.S)
DECLARATION = re.compile(r"^(?!typedef)[a-z][\w *\n]*?\b(\w+)\([^;{}]*\);\n", re.M)
RULER = re.compile(r"/\* ---- (.*?) -+ \*/")
ITEM = re.compile(r"  (\S.*?)(?:  +(.*))?$")


def escaped(text):
    """Nothing in it is a command of Doxygen's, or a tag."""
    text = re.sub(r"([\\@<>&$#%])", r"\\\1", text)
    return re.sub(r"(?<![\w*])\*(?=\w)", r"\*", text)


def lines_of(comment):
    """What stands in it, without its stars."""
    lines = [re.sub(r"^ *\* ?", "", line).rstrip() for line in comment[2:-2].split("\n")]
    return [lines[0].strip()] * (lines[0] != "") + lines[1:len(lines) - (lines[-1] == "")]


def listed(lines):
    """Lines that are set in, as items: `NAME  text`, further in what goes on."""
    out, in_list = [], False
    for line in lines:
        item = ITEM.match(line)
        if in_list and line.startswith("    "):
            out.append("  " + escaped(line.strip()))
        elif item:
            out += [] if in_list else [""]
            out.append(f"- {escaped(item[1])}: {escaped(item[2] or '')}".rstrip())
            in_list = True
        else:
            out += [""] if in_list and line else []
            out.append(escaped(line))
            in_list = in_list and not line
    return out


def header(text, name):
    """Comments become Doxygen's; nothing else changes."""
    text = LICENCE.sub("", text, count=1)
    found, at, is_first, is_open = [], 0, True, False
    for comment in COMMENT.finditer(text):
        before = text[at:comment.start()]
        found.append(before)
        at = comment.end()
        line = text[text.rfind("\n", 0, comment.start()) + 1:comment.start()]
        ruler = RULER.fullmatch(comment[0])
        if ruler:
            found.append(("/** @} */\n" if is_open else "") + f"/** @name {ruler[1]}\n * @{{ */")
            is_open = True
        elif line.strip():
            found.append(f"/**< {' '.join(listed(lines_of(comment[0]))).strip()} */")
        else:
            body = "\n * ".join(listed(lines_of(comment[0])))
            found.append(f"/** @file {name}\n * {body} */\n" if is_first else f"/** {body} */")
        is_first = False
    rest = text[at:]
    if is_open:
        rest = re.sub(r"(?=\nMEDLEY_DECLS_END|\n#endif\s*\Z)", "\n/** @} */", rest, count=1)
    return "".join(found) + rest


def shared(text):
    """Of declarations that stand one behind another the first has the comment; now each has."""
    out, at, explained = [], 0, None
    for found in DECLARATION.finditer(text):
        before = text[at:found.start()]
        if before.endswith("*/\n"):
            explained = found[1]
        elif not before and explained:
            out.append(f"/** @copydoc {explained} */\n")
        else:
            explained = None
        out += [before, found[0]]
        at = found.end()
    return "".join(out) + text[at:]


def document(text, path):
    """Its links and blocks, as far as pages go."""
    text = re.sub(r"\A<!-- SPDX.*?-->\n", "", text)
    text = re.sub(r"(?m)^<!-- .* -->\n", "", text)
    def link(match):
        target = match[2].partition("#")[0]
        whole = os.path.normpath(os.path.join(path.parent, target))
        is_page = not target or (target.endswith(".md") and os.path.exists(whole))
        if "://" in target or (is_page and not match[2].startswith("#")):
            return f"[{match[1]}]({target or match[2]})"
        return match[1]

    text = re.sub(r"(?m)^```(?:text|sh|yaml)(?: .*)?$", "```", text)
    text = re.sub(r"(?m)^```(\w+)(?: .*)?$", r"```{.\1}", text)
    text = re.sub(r"(?m)^!\[[^\]]*\]\([^)]*\)$", "", text)
    parts = re.split(r"(?ms)(^```.*?^```$)", text)
    return "".join(part if part.startswith("```") else re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", link, part)
                   for part in parts)


def main(path):
    text = path.read_text()
    if path.suffix == ".md":
        print(document(text, path), end="")
    else:
        whole = path.resolve()
        name = whole.relative_to(INCLUDE) if whole.is_relative_to(INCLUDE) else path.name
        print(shared(header(text, name)), end="")


main(pathlib.Path(sys.argv[1]))
