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
rounds=5  # of each library, one after the other; fewer of a large picture:
enough=20 # seconds, after which no further one begins

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
runs= # what runs in the background

# In the background they do not hear the terminal: they are told, and waited for.
end() {
    kill "$@" 2>/dev/null || true # who has ended already is none to be told,
    wait "$@" 2>/dev/null || true # and who is told does not end with 0
}
put_away() {
    # shellcheck disable=SC2086
    [ -z "$runs" ] || end $runs
    rm -rf "$work"
}
trap put_away EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

headline() {
    printf '\n==== %s\n\n' "$*"
}

# pipeline RESULT [OPTION...]
pipeline() {
    local result=$1 status=0 own
    shift
    (cd "$build/examples/pipeline" && RESULT=$result exec "$medley" run --file pipeline.yaml "$@") &
    own=$!
    runs="$runs $own"
    wait $own || status=$?
    runs=${runs% "$own"}
    return $status
}

failed() {
    echo "demo: no picture is made of $photo: see above" >&2
    exit 1
}

# Kills the quantiser of that system, when it is one of its nodes.
kill_quantiser() {
    local process
    while :; do
        process=$("$medley" ps "$1" 2>/dev/null | awk '$1 == "0:2" {print $2}') || continue # not there yet
        if [ -n "$process" ] && kill -9 "$process" 2>/dev/null; then
            touch "$work/killed"
            printf '\n(the quantiser, process %s, was killed by this demo, on purpose)\n' "$process" >&2
            return
        fi
    done
}

headline "$photo, through loader, quantiser and writer; one of them is killed"
kill_quantiser demo-$$ &
killer=$!
runs=$killer
pipeline "$folder/result.png" --name demo-$$ --trace-svg "$folder/timeline.svg" \
    --trace-chrome "$folder/timeline.json" --trace-ctf "$folder/timeline.ctf" --trace-summary \
    >"$work/summary" || failed
end $killer
runs=
[ -e "$work/killed" ] || echo "(none was: the picture was there before)"
cat "$work/summary"

headline "the quantiser's OpenMP on three libraries, in turns"
mkdir -p "$work/libomp"
llvm=
for found in /usr/lib/llvm-*/lib/libomp.so.5; do
    [ ! -r "$found" ] || llvm=$found
done
ln -s "${llvm:-/no/libomp.so.5}" "$work/libomp/libgomp.so.1"

# measured LIBRARY [OPTION...]
measured() {
    local library=$1
    shift
    pipeline "$work/$library.png" --plain "$@" >>"$work/$library.txt" 2>"$work/errors" ||
        { cat "$work/errors" >&2; failed; }
}

SECONDS=0
done=0
until [ $done -eq $rounds ] || { [ $done -gt 0 ] && [ $SECONDS -ge $enough ]; }; do
    measured medley
    measured libgomp --own-openmp
    [ -z "$llvm" ] || LD_LIBRARY_PATH=$work/libomp measured libomp --own-openmp
    done=$((done + 1))
done

# median FILE COLUMN: of lines as "24 colours in 12 rounds: 310.5 ms; painted: 95.1 ms; 2 threads"
median() {
    awk -v which="$2" '{print which == "colours" ? $6 : $9}' "$1" | sort -n | sed -n "$(((done + 1) / 2))p"
}
table() {
    local library same
    printf '%-10s %16s %16s %10s\n' library 'finds colours' paints picture
    for library in medley libgomp libomp; do
        [ -f "$work/$library.txt" ] || continue
        same=differs
        cmp -s "$folder/result.png" "$work/$library.png" && same=same
        printf '%-10s %13s ms %13s ms %10s\n' $library "$(median "$work/$library.txt" colours)" \
            "$(median "$work/$library.txt" paints)" $same
    done
    printf 'medians of %s; %s\n' "$done" "$(sed -n '1s/.*; //p' "$work/medley.txt")"
    printf 'load average %s\n' "$(cut -d ' ' -f 1-3 /proc/loadavg)"
}
table | tee "$folder/times.txt"

headline "written"
printf '%-28s %s\n' result.png 'the picture' timeline.svg 'who did what when, as a picture' \
    timeline.json 'the same for Perfetto (ui.perfetto.dev) and chrome://tracing' \
    timeline.ctf/ 'the same for babeltrace2 and Trace Compass' \
    times.txt 'the three libraries'
printf 'in %s\n' "$folder"
if grep -q differs "$folder/times.txt"; then
    echo "demo: the picture is not the same on each library" >&2
    exit 1
fi
