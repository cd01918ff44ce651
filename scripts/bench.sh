#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs every benchmark program of a build alone, one after the other.
#
# usage: scripts/bench.sh [--short] BUILD_DIR
#
# Each writes BUILD_DIR/NAME.json; their goals go to the table BUILD_DIR/bench.md. A goal that is
# missed is no failure; a functional check that fails is.
set -euo pipefail

short=()
if [ "${1:-}" = --short ]; then
    short=(--short)
    shift
fi
if [ $# -ne 1 ] || [ ! -d "$1" ]; then
    echo "usage: scripts/bench.sh [--short] BUILD_DIR" >&2
    exit 2
fi
build=$1
table=$build/bench.md
programs=$(find "$build" -type f -name '*_bench' -executable | sort)
if [ -z "$programs" ]; then
    echo "bench: no program in $build; build it with the preset 'bench'" >&2
    exit 2
fi

load() { cut -d ' ' -f 1-3 /proc/loadavg; }

echo "load average before: $(load)"
{
    echo "Load average before: $(load). Verdicts: ratio with its 95 % interval; \"?\": provisional, a short run."
    echo
    echo "| what | ours | goal | ratio | verdict |"
    echo "|---|---|---|---|---|"
} >"$table"
failed=0
for program in $programs; do
    name=$(basename "$program")
    echo
    "$program" "${short[@]}" --json "$build/$name.json" --markdown "$table" || {
        echo "bench: $name failed" >&2
        failed=1
    }
done
echo
echo "load average after: $(load)"
echo
cat "$table"
exit $failed
