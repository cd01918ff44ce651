#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What images take, from the linker's maps: bytes of code and constants for each floor, and of RAM
beside arena and stack.

usage: footprint_map.py [--most PROGRAM[/FLOOR]=BYTES]... [--all PROGRAM] MAP...
--most: says how much of that base, mrapi and mcapi together, or that floor, take in the image of that
name; fails when they take more
--all: fails when they take more in any other than in that one, which has all of them
"""
import collections
import os
import re
import sys

FLOORS = ("base", "mrapi", "mcapi", "port")
SECTION = re.compile(r"^ (\.\S+|COMMON)\s*(.*)$")
PLACED = re.compile(r"^\s*0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S.*)$")
MEMBER = re.compile(r"libfootprint_floor_(\w+)\.a\((.+?)\.obj\)$")
RAM = (".data", ".bss", "COMMON")


def sections(path):
    """(section, bytes, object file) of all that was placed."""
    with open(path, encoding="utf-8") as file:
        placed = file.read().split("Linker script and memory map", 1)[1]
    pending = None
    for line in placed.split("\n"):
        start = SECTION.match(line)
        rest = line if pending else start.group(2) if start else ""
        name = pending or (start.group(1) if start else None)
        found = PLACED.match(" " + rest)
        if found and name and int(found.group(1), 16) + int(found.group(2), 16):
            yield name, int(found.group(2), 16), found.group(3)
        pending = name if start and not start.group(2) else None


def origin(path):
    """(floor, file) of an object: the image's own and the compiler's library are floors here."""
    member = MEMBER.search(path)
    if member:
        return member.group(1), member.group(2)
    return ("compiler", "") if "libgcc" in path else ("program", "")


def measure(path):
    code = collections.Counter()
    ram = 0
    for section, size, file in sections(path):
        if section.startswith((".debug", ".comment", ".ARM.attributes", ".stack")):
            continue
        if section.startswith(RAM):
            ram += 0 if origin(file)[1] == "arena.c" else size
        if not section.startswith((".bss", "COMMON")):
            code[origin(file)] += size
    return code, ram


def floors_of(code):
    floors = collections.Counter()
    for (floor, _), size in code.items():
        floors[floor] += size
    return floors


def name_of(path):
    return re.sub(r"^footprint_|\.map$", "", os.path.basename(path))


def main():
    arguments = sys.argv[1:]
    most = {}
    whole = None
    while arguments[:1] in (["--most"], ["--all"]):
        if arguments[0] == "--all":
            whole = arguments[1]
        else:
            program, size = arguments[1].split("=")
            most[program] = int(size)
        arguments = arguments[2:]
    failed = 0
    sizes = {}
    taken = {}
    row = "{:20} {:>6} {:>6} {:>6} {:>6} {:>6} {:>10} {:>6}"
    print(row.format("program", "base", "mrapi", "mcapi", "three", "port", "compiler's", "RAM"))
    for path in arguments:
        code, ram = measure(path)
        floors = floors_of(code)
        own = sizes[name_of(path)] = floors["base"] + floors["mrapi"] + floors["mcapi"]
        print(row.format(name_of(path), floors["base"], floors["mrapi"], floors["mcapi"], own, floors["port"],
                         floors["compiler"], ram))
        for what, size in [(name_of(path), own)] + [(f"{name_of(path)}/{floor}", floors[floor]) for floor in FLOORS]:
            taken[what] = size
            if size > most.get(what, size):
                print(f"{what}: over {most[what]} bytes; its files:")
                for (floor, file), part in code.most_common():
                    print(f"    {floor}/{file} {part}")
                failed = 1
    for what, limit in most.items():
        print(f"{what}: {taken[what]} of {limit} bytes")
    if whole and sizes[whole] < max(sizes.values()):
        print(f"{whole}: another takes more, so it lacks something")
        failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
