#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The main job, end to end: a photograph goes through three stages, each a process
# (examples/pipeline): a loader, a quantiser whose OpenMP team finds 24 colours and dark edges, a
# writer. `medley run` starts and watches them, and records who did what when; on the way the
# quantiser is killed, and no tile is lost. Then the same program, not recorded, on the OpenMP
# libraries of gcc and LLVM, in turns.
#
# usage: scripts/demo.sh BUILD_DIR [PHOTO [FOLDER]]
#
# PHOTO is PNG or JPEG; else one that comes with a package. What is written lies in FOLDER, else in
# BUILD_DIR/demo.
set -euo pipefail
if [ $# -lt 1 ] || [ $# -gt 3 ] || [ ! -x "$1/tools/medley/medley" ]; then
    echo "usage: demo.sh BUILD_DIR [PHOTO [FOLDER]] (BUILD_DIR: in which everything is built, as 'make' does)" >&2
    exit 2
fi
build=$(cd "$1" && pwd)
photo=${2:-}
folder=${3:-$build/demo}
medley=$build/tools/medley/medley
rounds=5 # of each library, one after the other

for packaged in /usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg; do
    [ -n "$photo" ] || [ ! -r "$packaged" ] || photo=$packaged
done
if [ -z "$photo" ]; then
    echo "demo: no photograph comes with this machine's packages: make demo PHOTO=FILE" >&2
    exit 1
fi
if [ ! -r "$photo" ]; then
    echo "demo: $photo: no such file, or it may not be read" >&2
    exit 1
fi
photo=$(realpath -- "$photo")
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
export PICTURE=$photo
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

headline() {
    printf '\n==== %s\n\n' "$*"
}

# pipeline RESULT [OPTION...]
pipeline() {
    local result=$1
    shift
    (cd "$build/examples/pipeline" && RESULT=$result "$medley" run --file pipeline.yaml "$@")
}

# Kills the quantiser of that system, when it is one of its nodes, while that runs.
kill_quantiser() {
    local process
    while [ -e "$work/runs" ]; do
        "$medley" ps "$1" >"$work/seen" 2>&1 || continue # it is not there yet
        process=$(awk '$1 == "0:2" {print $2}' "$work/seen")
        if [ -n "$process" ] && kill -9 "$process"; then
            printf '\n(the quantiser, process %s, was killed by this demo, on purpose)\n' "$process" >&2
            return
        fi
    done
}

headline "$photo, through loader, quantiser and writer; one of them is killed"
touch "$work/runs"
kill_quantiser demo-$$ &
killer=$!
pipeline "$folder/result.png" --name demo-$$ --trace-svg "$folder/timeline.svg" \
    --trace-chrome "$folder/timeline.json" --trace-ctf "$folder/timeline.ctf" --trace-summary
rm "$work/runs"
wait $killer

headline "the quantiser's OpenMP on three libraries, in turns, $rounds times each"
mkdir -p "$work/libomp"
llvm=
for found in /usr/lib/llvm-*/lib/libomp.so.5; do
    [ ! -r "$found" ] || llvm=$found
done
ln -s "${llvm:-/no/libomp.so.5}" "$work/libomp/libgomp.so.1"
for _ in $(seq $rounds); do
    pipeline "$work/medley.png" --plain >>"$work/medley" 2>/dev/null
    pipeline "$work/libgomp.png" --plain --own-openmp >>"$work/libgomp" 2>/dev/null
    [ -z "$llvm" ] || LD_LIBRARY_PATH=$work/libomp pipeline "$work/libomp.png" --plain --own-openmp \
        >>"$work/libomp.txt" 2>/dev/null
done
[ ! -f "$work/libomp.txt" ] || { rm -r "$work/libomp" && mv "$work/libomp.txt" "$work/libomp"; }

# median FILE COLUMN: of lines as "24 colours in 12 rounds: 310.5 ms; painted: 95.1 ms; 2 threads"
median() {
    awk -v which="$2" '{print which == "colours" ? $6 : $9}' "$1" | sort -n | sed -n "$(((rounds + 1) / 2))p"
}
printf '%-10s %16s %16s %10s\n' library 'finds colours' paints picture
for library in medley libgomp libomp; do
    [ -f "$work/$library" ] || continue
    same=differs
    cmp -s "$folder/result.png" "$work/$library.png" && same=same
    printf '%-10s %13s ms %13s ms %10s\n' $library "$(median "$work/$library" colours)" \
        "$(median "$work/$library" paints)" $same | tee -a "$work/table"
done
printf 'medians; %s\nload average %s\n' "$(sed -n '1s/.*; //p' "$work/medley")" "$(cut -d ' ' -f 1-3 /proc/loadavg)"
cp "$work/table" "$folder/times.txt"

headline "written"
printf '%-28s %s\n' result.png 'the picture' timeline.svg 'who did what when, as a picture' \
    timeline.json 'the same for Perfetto (ui.perfetto.dev) and chrome://tracing' \
    timeline.ctf/ 'the same for babeltrace2 and Trace Compass' \
    times.txt 'the three libraries'
printf 'in %s\n' "$folder"
if grep -q differs "$work/table"; then
    echo "demo: the picture is not the same on each library" >&2
    exit 1
fi
