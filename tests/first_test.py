#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a library's script of the linker puts first stands there: of each file that it names there is
a function among these. The linker says nothing when a file has gone, or has another name.

usage: first_test.py SCRIPT LIBRARY ARCHIVE NM READELF
"""
import re
import subprocess
import sys


def said_by(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


script, library, archive, nm, readelf = sys.argv[1:]
with open(script, encoding="utf-8") as text:
    named = re.findall(r"\*:(\w+[.]c[.]o)\(", text.read())
section = re.search(r" \.text\.first +PROGBITS +(\w+) \w+ (\w+)", said_by(readelf, "-SW", library))
if not named or not section:
    sys.exit(f"'{script}' names no file, or '{library}' was not linked by it")
begin, size = (int(word, 16) for word in section.groups())
first = {line.split()[2] for line in said_by(nm, "--defined-only", library).splitlines()
         if begin <= int(line.split()[0], 16) < begin + size}
functions = {}
for line in said_by(nm, "-A", "--defined-only", archive).splitlines():
    found = re.search(r":(\S+[.]o):\w+ T (\S+)", line)
    if found:
        functions.setdefault(found.group(1), set()).add(found.group(2))
lost = [name for name in named if not functions.get(name, set()) & first]
if lost:
    sys.exit(f"not first in '{library}', as '{script}' says: {' '.join(lost)}")
