#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a run of the benchmarks found, as one page and as Markdown with pictures.

usage: bench/report/report.py FOLDER

Reads what scripts/bench.sh left in FOLDER: run.json, machine.json, NAME.json of each program and,
after a whole run, footprint.txt. Writes report.html, which has all in itself, report.md, and
pictures/*.svg. What is missing or damaged is said, and nothing is written. Exit: 0 written, 1 not,
2 wrong use.
"""
import os
import sys

sys.dont_write_bytecode = True  # beside the sources
import results as r  # noqa: E402


def write_report(results, folder):
    """Matplotlib takes its time to load: behind what may be refused."""
    try:
        import chapters
        import pages
    except ImportError as missing:
        sys.exit(f"report: {missing}; scripts/setup.sh bench installs what it is made with")
    pages.write_all(chapters.report(results), folder)
    print("\n".join(chapters.conclusion(results)))
    paths = [os.path.join(folder, f"report.{form}") for form in ("html", "md")]
    print(f"\nreport: {' and '.join(paths)}")


def main():
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    folder = sys.argv[1]
    try:
        write_report(r.Results(folder), folder)
    except r.Damaged as damaged:
        print(f"report: {damaged}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
