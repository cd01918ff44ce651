#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GCC's test suite of its OpenMP library, on that library and on ours.

usage: scripts/suites.py [--only REGEX] [--again] [--seconds N] [--jobs N] FOLDER

The tests come out of Debian's package gcc-12-source and stay in build/suites. Each host test in C,
C++ and Fortran is built by the machine's own compiler, once, and run twice: on the compiler's
libgomp.so.1, and on the one in FOLDER (by LD_LIBRARY_PATH). Tests that are only compiled, that want
another device, and OpenACC's are left out. What the compiler's library did is kept; --again builds
and runs all anew.

Writes build/suites/results.json. The exit status is 1 when ours fails a test that the compiler's
library passes.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time

SOURCE = "/usr/src/gcc-12/gcc-12*.tar.xz"
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../build/suites"))
TRIPLE = "x86_64-pc-linux-gnu" if os.uname().machine == "x86_64" else f"{os.uname().machine}-pc-linux-gnu"
# What this machine has of that which tests ask for by name; of all else it has nothing.
HAS = {"lp64", "tls", "tls_runtime", "size32plus", "sync_int_long", "lto", "fpic", "shared",
       "vect_simd_clones", "large_long_double", "fd_truncate", "__float128", "alias"}
# The suite's folders, and who builds what is there.
SETS = (("c", "libgomp.c", "*.c", ["gcc"]),
        ("c-common", "libgomp.c-c++-common", "*.c", ["gcc"]),
        ("c++", "libgomp.c++", "*.C", ["g++"]),
        ("c++-common", "libgomp.c-c++-common", "*.c", ["g++", "-x", "c++"]),
        ("fortran", "libgomp.fortran", "*.[fF]*", ["gfortran"]))
# Headers of a configured libgomp that some tests include.
CONFIGURED = {"gstdint.h": "#include <stdint.h>\n",
              "config.h": "#define HAVE_UNISTD_H 1\n#define HAVE_PTHREAD_AFFINITY_NP 1\n"}
RESULTS = os.path.join(ROOT, "results.json")


# ---- The tests -----------------------------------------------------------------------------------

def unpack():
    """The suite's folder."""
    found = sorted(glob.glob(SOURCE))
    if not found:
        sys.exit(f"suites: there is no {SOURCE}; scripts/setup.sh suites")
    target = os.path.join(ROOT, "libgomp")
    if not os.path.exists(os.path.join(target, "complete")):
        shutil.rmtree(target, ignore_errors=True)
        print(f"suites: unpacking {found[-1]}", flush=True)
        with tarfile.open(found[-1]) as archive:
            for member in archive:
                _, _, path = member.name.partition("/libgomp/")
                if member.name.endswith("/include/gomp-constants.h"):
                    path = "gomp-constants.h"
                if path.startswith("testsuite/") or re.fullmatch(r"[\w-]+\.h", path):
                    member.name = path
                    archive.extract(member, target)
        for name, text in CONFIGURED.items():
            with open(os.path.join(target, name), "w", encoding="ascii") as file:
                file.write(text)
        with open(os.path.join(target, "complete"), "w", encoding="ascii"):
            pass
    return os.path.join(target, "testsuite")


def words(text):
    """A directive's arguments, as Tcl reads them: words, strings, lists in braces."""
    out, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] == "{":
            depth, first = 0, at
            while at < len(text):
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                at += 1
                if depth == 0:
                    break
            out.append(text[first + 1:at - 1].strip())
        elif text[at] == '"':
            match = re.compile(r'"((?:\\.|[^"\\])*)"').match(text, at)
            if not match:
                break
            out.append(re.sub(r"\\(.)", lambda m: {"n": "\n", "r": "\r", "t": "\t"}.get(m[1], m[1]),
                              match[1]))
            at = match.end()
        else:
            match = re.compile(r"\S+").match(text, at)
            out.append(match[0])
            at = match.end()
    return out


def selects(selector):
    """Is this machine one of those that a selector names?"""
    terms = re.findall(r"&&|\|\||!|[{}]|[^\s{}!]+", selector)
    expression = []
    for term in terms:
        known = {"&&": "and", "||": "or", "!": "not", "{": "(", "}": ")"}.get(term)
        if not known:
            known = str(term in HAS or ("-" in term and fnmatch.fnmatch(TRIPLE, term)))
            if expression and expression[-1] in ("True", "False", ")"):
                expression.append("or")
        expression.append(known)
    return not terms or bool(eval(" ".join(expression)))  # of these few words alone


def targets(arguments):
    """Whether the last of a directive's arguments, if it is a selector, selects this machine."""
    for argument in arguments:
        if argument.startswith("target"):
            return selects(argument[len("target"):])
    return True


class Test:
    """A test, and what its directives ask for."""

    def __init__(self, name, path, compiler):
        self.name = name
        self.path = path
        self.compiler = compiler
        self.options = ["-O2"]
        self.sources = []
        self.environment = {}
        self.output = ""
        self.shall_fail = False
        self.left_out = None
        added = []
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                match = re.search(r"\{\s*dg-([\w-]+)(\s.*)?\}", line)
                if match:
                    self.read(match[1], words(match[2] or ""), added)
        self.options += added

    def read(self, directive, arguments, added):
        if directive == "do":
            if arguments[0] != "run" or not targets(arguments[1:]):
                self.left_out = self.left_out or f"{' '.join(arguments)}"
        elif directive == "require-effective-target":
            if not selects(arguments[0]) and arguments[0].split()[0] not in HAS:
                self.left_out = self.left_out or f"wants {arguments[0]}"
        elif directive == "skip-if":
            keeps = words(arguments[3]) if len(arguments) > 3 else []
            if selects(arguments[1]) and "-O2" not in keeps:
                self.left_out = self.left_out or "skipped here"
        elif directive == "options" and targets(arguments[1:]):
            self.options = arguments[0].split()
        elif directive == "additional-options" and targets(arguments[1:]):
            added += arguments[0].split()
        elif directive == "additional-sources":
            self.sources += arguments[0].split()
        elif directive == "set-target-env-var":
            self.environment[arguments[0]] = arguments[1]
        elif directive == "output" and targets(arguments[1:]):
            self.output += arguments[0]
        elif directive == "shouldfail":
            self.shall_fail = True


def tests_of(suite, only):
    out = []
    for kind, folder, pattern, compiler in SETS:
        folder = os.path.join(suite, folder)
        for path in sorted(glob.glob(os.path.join(folder, "**", pattern), recursive=True)):
            test = Test(f"{kind}/{os.path.relpath(path, folder)}", path, compiler)
            if not only or re.search(only, test.name):
                out.append(test)
    return out


# ---- Built and run -------------------------------------------------------------------------------

def build(test, folder):
    """None, or why there is no program."""
    here = os.path.dirname(test.path)
    sources = [test.path] + [os.path.join(here, source) for source in test.sources]
    if test.sources:  # of several languages: each by its name
        compiler = test.compiler[:1]
    else:
        compiler = test.compiler
    command = [*compiler, *sources, "-fopenmp", *test.options, "-I", os.path.join(ROOT, "libgomp"), "-w",
               "-fdiagnostics-color=never", *(["-J", folder] if compiler[0] == "gfortran" else []),
               *(["-x", "none"] if "-x" in compiler else []), "-o", os.path.join(folder, "program"), "-lm"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=240)
    except subprocess.TimeoutExpired:
        return "the compiler takes too long"
    errors = [line for line in done.stderr.splitlines() if "rror" in line or "undefined" in line]
    return None if done.returncode == 0 else (errors or ["the compiler fails"])[0].strip()


def judge(test, status, output):
    """None, or why the run fails."""
    if (status != 0) != test.shall_fail:
        lines = output.strip().splitlines() or [""]
        what = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        return f"{what}: {lines[-1][-100:]}"
    if test.output and not re.search(test.output, output):
        return f"prints other than it is to: {output.strip()[:100]!r}"
    return None


def run(test, folder, library, seconds):
    """What came of it, and why."""
    environment = dict(os.environ, **test.environment)
    environment.pop("LD_LIBRARY_PATH", None)
    if library:
        environment["LD_LIBRARY_PATH"] = library
    began = time.monotonic()
    with subprocess.Popen([os.path.join(folder, "program")], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as process:
        try:
            output = process.communicate(timeout=seconds)[0].decode(errors="replace")
            why = judge(test, process.returncode, output)
            result = "fail" if why else "pass"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            why, result = f"not done after {seconds} s", "time out"
    return {"result": result, "why": why, "seconds": round(time.monotonic() - began, 2)}


def row_of(test, known, options):
    """A test's row of the results."""
    folder = os.path.join(ROOT, "programs", test.name)
    if known and os.path.exists(os.path.join(folder, "program")) and not options.again:
        stock = known["stock"]
    elif known and known["stock"]["result"] == "no build" and not options.again:
        return known
    else:
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        why = build(test, folder)
        if why:
            nothing = {"result": "no build", "why": why, "seconds": 0}
            return {"name": test.name, "stock": nothing, "ours": nothing}
        stock = run(test, folder, None, options.seconds)
    return {"name": test.name, "stock": stock, "ours": run(test, folder, options.folder, options.seconds)}


# ---- All of them ---------------------------------------------------------------------------------

def is_lost(row):
    return row["stock"]["result"] == "pass" and row["ours"]["result"] != "pass"


def known_rows():
    if not os.path.exists(RESULTS):
        return {}
    with open(RESULTS, encoding="utf-8") as file:
        return {row["name"]: row for row in json.load(file)["tests"]}


def keep(rows):
    with open(RESULTS + ".new", "w", encoding="utf-8") as file:
        json.dump({"tests": [rows[name] for name in sorted(rows)]}, file, indent=1)
    os.replace(RESULTS + ".new", RESULTS)


def tell(tests, rows):
    """The table; who of ours is lost."""
    kinds = [kind for kind, *_ in SETS] + ["all"]
    print(f"\n{'':12}{'left out':>10}{'no build':>10}{'stock':>8}{'ours':>8}{'lost':>8}")
    for kind in kinds:
        mine = [row for row in rows if kind in ("all", row["name"].split("/")[0])]
        out = sum(t.left_out is not None and kind in ("all", t.name.split("/")[0]) for t in tests)
        count = collections.Counter((side, row[side]["result"]) for row in mine for side in ("stock", "ours"))
        print(f"{kind:12}{out:10}{count['stock', 'no build']:10}{count['stock', 'pass']:8}"
              f"{count['ours', 'pass']:8}{sum(map(is_lost, mine)):8}")
    lost = [row for row in rows if is_lost(row)]
    for row in lost:
        print(f"lost: {row['name']}: {row['ours']['why']}")
    return lost


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: "):],
                                     description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", metavar="FOLDER", help="where our libgomp.so.1 is")
    parser.add_argument("--only", metavar="REGEX", help="tests whose name (fortran/lib1.f90) it is found in")
    parser.add_argument("--again", action="store_true", help="build, and run on the compiler's library, anew")
    parser.add_argument("--seconds", type=int, default=60, help="a run may take (60)")
    parser.add_argument("--jobs", type=int, default=2, help="at a time (2)")
    options = parser.parse_args()
    options.folder = os.path.abspath(options.folder)
    if not os.path.exists(os.path.join(options.folder, "libgomp.so.1")):
        sys.exit(f"suites: there is no libgomp.so.1 in {options.folder}")

    tests = tests_of(unpack(), options.only)
    known = known_rows()
    rows, lock = [], threading.Lock()
    to_run = [test for test in tests if not test.left_out]

    def one(test):
        row = row_of(test, known.get(test.name), options)
        with lock:
            rows.append(row)
            if is_lost(row) or len(rows) % 100 == 0:
                print(f"{len(rows)} of {len(to_run)}: {row['name']}: {row['ours']['why'] or 'passes'}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, to_run))
    rows.sort(key=lambda row: row["name"])
    keep({**known_rows(), **{row["name"]: row for row in rows}})
    sys.exit(1 if tell(tests, rows) else 0)


if __name__ == "__main__":
    main()
