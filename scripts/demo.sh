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
# BUILD_DIR/demo. From the environment:
#
#   DEMO_ROUNDS   how often the program runs on each library (5)
#   DEMO_LIBOMP   LLVM's OpenMP library (that of the newest package)
set -euo pipefail
usage() {
    echo "usage: [DEMO_ROUNDS=COUNT] [DEMO_LIBOMP=FILE] demo.sh BUILD_DIR [PHOTO [FOLDER]]" \
        "(BUILD_DIR: in which everything is built, as 'make' does)" >&2
    exit 2
}
if [ $# -lt 1 ] || [ $# -gt 3 ] || [ ! -x "$1/tools/medley/medley" ]; then
    usage
fi
build=$(cd "$1" && pwd)
photo=${2:-}
folder=${3:-$build/demo}
medley=$build/tools/medley/medley
rounds=${DEMO_ROUNDS:-5} # of each library, one after the other; fewer of a large picture:
enough=20                # seconds, after which no further one begins
tries=3                  # at killing the quantiser: it may have done its work before
[[ $rounds =~ ^[1-9][0-9]{0,5}$ ]] || usage

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

# In the background they do not hear the terminal: they are told, and waited for.
end() {
    kill "$@" || true # who has ended already is none to be told,
    wait "$@" || true # and who is told does not end with 0
}
put_away() {
    local runs
    runs=$(jobs -p) # all that runs in the background, from its first moment on
    # shellcheck disable=SC2086
    [ -z "$runs" ] || end $runs
    rm -rf "$work"
    exec 9>&-
    wait $heir || true # what it ends with is nobody's concern: this one's status counts
}
# Who is killed puts nothing away: that falls to this one, which is told of the run that there is,
# if any, and hears nobody else.
inherit() {
    local told run='' i
    trap '' INT TERM HUP QUIT
    while read -r told; do
        run=$told
    done
    if [ -n "$run" ] && kill "$run" 2>/dev/null; then
        for ((i = 0; i < 100; i++)); do # it may stay as a zombie for good
            kill -0 "$run" 2>/dev/null || break
            sleep 0.1
        done
    fi
    rm -rf "$work"
}
exec 9> >(inherit)
heir=$!
# All has been said then, but bash may speak of a process that has just gone, from the first line of
# a function on.
trap 'exec 2>/dev/null; put_away' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
trap 'exit 131' QUIT

headline() {
    printf '\n==== %s\n\n' "$*"
}

# pipeline RESULT [OPTION...]
pipeline() {
    local result=$1 status=0 own
    shift
    # The heir knows of it before it is there.
    (cd "$build/examples/pipeline" && echo $BASHPID >&9 &&
        RESULT=$result exec "$medley" run --file pipeline.yaml "$@" 9>&-) &
    own=$!
    wait $own || status=$?
    echo >&9
    return $status
}

failed() {
    echo "demo: no picture is made of $photo: see above" >&2
    exit 1
}

# Kills the quantiser of that system, when it is one of its nodes; as long as there are this script
# and its run.
kill_quantiser() {
    local process
    while [ -e "$work/running" ]; do
        process=$("$medley" ps "$1" 2>/dev/null | awk '$1 == "0:2" {print $2}') || continue # not there yet
        if [ -n "$process" ] && kill -9 "$process" 2>/dev/null; then
            touch "$work/killed"
            printf '\n(the quantiser, process %s, was killed by this demo, on purpose)\n' "$process" >&2
            return
        fi
    done
}

# The job, recorded, while somebody is to be killed.
job() {
    local killer
    touch "$work/running"
    kill_quantiser demo-$$ 9>&- &
    killer=$!
    pipeline "$folder/result.png" --name demo-$$ --trace-svg "$folder/timeline.svg" \
        --trace-chrome "$folder/timeline.json" --trace-ctf "$folder/timeline.ctf" --trace-summary \
        >"$work/summary" || failed
    rm "$work/running"
    wait $killer # it may have killed, and be about to say so
}

headline "$photo, through loader, quantiser and writer; one of them is killed"
for ((try = 1; try <= tries; try++)); do
    job
    [ ! -e "$work/killed" ] || break
    echo "(nobody was killed: the picture was there before; that was try $try of $tries)"
done
cat "$work/summary"

headline "the quantiser's OpenMP on three libraries, in turns"
mkdir -p "$work/libomp"
llvm=
packaged=(/usr/lib/llvm-*/lib/libomp.so.5)
for file in "${DEMO_LIBOMP:-${packaged[@]}}"; do
    [ ! -r "$file" ] || llvm=$(realpath -- "$file")
done
ln -s "${llvm:-/no/libomp.so.5}" "$work/libomp/libgomp.so.1"
unset LD_LIBRARY_PATH # it may have Medley's folder, and the row of another one would be Medley's

# Whose an OpenMP library is, by the names in it; each has some of those that come after it.
whose() {
    if grep -q medley "$1"; then
        echo medley
    elif grep -q __kmpc_ "$1"; then
        echo libomp
    elif grep -q GOMP_ "$1"; then
        echo libgomp
    fi
}

# finds LIBRARY [OPTION...]: what is measured under that name is no other one
finds() {
    local library=$1 file
    shift
    # Whatever goes wrong here leaves no name of a file, which is told below.
    file=$("$medley" run --plain "$@" ldd "$build/examples/pipeline/quantiser" |
        awk '$1 ~ /^lib(gomp|omp)\.so/ {print $3}') || true
    if [ ! -r "$file" ] || [ "$(whose "$file")" != "$library" ]; then
        echo "demo: $library: the quantiser does not find that one, but ${file:-none}" >&2
        exit 1
    fi
    realpath -- "$file" >"$work/$library.file"
}
finds medley
finds libgomp --own-openmp
[ -z "$llvm" ] || LD_LIBRARY_PATH=$work/libomp finds libomp --own-openmp

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
    printf '%-10s %16s %16s %10s   %s\n' library 'finds colours' paints picture file
    for library in medley libgomp libomp; do
        [ -f "$work/$library.txt" ] || continue
        same=differs
        cmp -s "$folder/result.png" "$work/$library.png" && same=same
        printf '%-10s %13s ms %13s ms %10s   %s\n' $library "$(median "$work/$library.txt" colours)" \
            "$(median "$work/$library.txt" paints)" $same "$(cat "$work/$library.file")"
    done
    [ -n "$llvm" ] || echo 'libomp: not installed'
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
if [ ! -e "$work/killed" ]; then
    echo "demo: nobody was killed in $tries runs: each had its picture before; a larger one takes longer" >&2
    exit 1
fi
