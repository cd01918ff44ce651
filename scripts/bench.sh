#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs every benchmark program of a build alone, one after the other, and makes the report.
#
# usage: scripts/bench.sh [--short] BUILD_DIR
#
# Each writes BUILD_DIR/NAME.json; of all, and of what code and RAM take on Cortex-M, which the
# short form leaves out, bench/report/report.py makes BUILD_DIR/report.html and report.md. A goal
# that is missed is no failure; a functional check that fails is, and a report that cannot be made.
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
root=$(dirname "$0")/..
build=$1
mapfile -t programs < <(find "$build" -type f -name '*_bench' -executable | sort)
if [ ${#programs[@]} -eq 0 ]; then
    echo "bench: no program in $build; build it with the preset 'bench'" >&2
    exit 2
fi

load() { cut -d ' ' -f 1-3 /proc/loadavg; }
now() { date '+%Y-%m-%d %H:%M:%S %Z'; }
so_far() { printf '%d min %d s' $((SECONDS / 60)) $((SECONDS % 60)); }
is_short() { if [ ${#short[@]} -eq 0 ]; then echo false; else echo true; fi; }
# What an undecided question of the next program may take: what the last one left.
extra_left() { sed -n 's/.*"extra_left": \([0-9.]*\).*/\1/p' "$1" 2>/dev/null; }

# Nothing of an earlier run is taken for this one's.
rm -f "$build"/{run,machine}.json "$build"/*_bench.json "$build"/report.{html,md} \
    "$build/footprint.txt"
"$root/bench/report/machine.py" "$build" >"$build/machine.json"
SECONDS=0
began=$(now)
load_before=$(load)
echo "load average before: $load_before"
failed=0
names=()
extra=()
for program in "${programs[@]}"; do
    name=$(basename "$program")
    names+=("\"$name\"")
    echo
    echo "== benchmark ${#names[@]} of ${#programs[@]}: $name; $(so_far) so far"
    "$program" "${short[@]}" "${extra[@]}" --json "$build/$name.json" || {
        echo "bench: $name failed" >&2
        failed=1
    }
    left=$(extra_left "$build/$name.json") || true # one that failed, which is told, leaves nothing
    [ -z "$left" ] || extra=(--extra "$left")
done
seconds=$SECONDS
load_after=$(load)
echo
echo "load average after: $load_after; $(so_far)"
cat >"$build/run.json" <<RUN
{"short": $(is_short), "programs": [$(IFS=,; echo "${names[*]}")],
 "began": "$began", "ended": "$(now)", "seconds": $seconds,
 "load_before": "$load_before", "load_after": "$load_after"}
RUN

if [ ${#short[@]} -eq 0 ]; then
    echo
    status=0 # 77: there is no compiler for it
    "$root/scripts/footprint.sh" "$build/bench/footprint_partition" |
        tee "$build/footprint.txt" || status=$?
    [ $status -eq 0 ] || [ $status -eq 77 ] || failed=1
fi
echo
"$root/bench/report/report.py" "$build" || failed=1
exit $failed
