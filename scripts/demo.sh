#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The main job, end to end, as far as there is one: what the machine is, two processes that take
# turns with a mutex until one dies holding it, and what `medley ps` shows of them meanwhile.
#
# usage: scripts/demo.sh BUILD_DIR
set -euo pipefail
if [ $# -ne 1 ] || [ ! -x "$1/tools/medley/medley" ]; then
    echo "usage: demo.sh BUILD_DIR (one in which everything is built, as 'make' does)" >&2
    exit 2
fi
medley=$1/tools/medley/medley
example=$1/examples/two_processes
export MEDLEY_SYSTEM=demo-$$

headline() {
    printf '\n==== %s\n\n' "$*"
}

headline "medley info: this machine as Medley sees it"
"$medley" info

headline "two_processes: they take turns; the second dies holding the mutex"
output=$(mktemp)
trap 'rm -f "$output"' EXIT
"$example" >"$output" &
running=$!

# Until both are nodes: each look costs milliseconds, the example runs for almost a second.
seen=
while [[ $seen != *" 0:2 "* ]] && kill -0 $running 2>/dev/null; do
    # No such system yet, or no longer: look again, or leave the loop.
    seen=$("$medley" ps "$MEDLEY_SYSTEM" 2>/dev/null || true)
done
result=0
wait $running || result=$?
cat "$output"

headline "medley ps $MEDLEY_SYSTEM: what it showed while they ran"
echo "$seen"

headline "medley ps $MEDLEY_SYSTEM: now; the last process has taken the system with it"
# That there is none any more is what it shows.
"$medley" ps "$MEDLEY_SYSTEM" 2>&1 || true

if [ $result -ne 0 ] || ! grep -q 'who had it before has died' "$output"; then
    printf '\ndemo: the survivor was not told of the death\n' >&2
    exit 1
fi
if [[ $seen != *" 0:2 "* ]]; then
    printf '\ndemo: medley ps never showed the second process\n' >&2
    exit 1
fi
