#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs the Spin models and their mutants.
#
#   models/run.sh                               all of them
#   models/run.sh MODEL                         one model: each CONFIG and each MUTANT of its head
#   models/run.sh MODEL NAME pass               a configuration: nothing may be wrong with it
#   models/run.sh MODEL NAME deadlock|assertion [CONFIG]   a mutant: must fail, and in this way
#
# MODEL is a name such as `wait` (models/wait.pml). NAME is defined for the preprocessor, and so is
# CONFIG, in which the mutant is looked at (default: none). At the head of each model stand lines
#   CONFIG NAME what
#   MUTANT NAME how[/CONFIG] what
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

# Explores all states; says what was found: pass, deadlock, assertion, or incomplete. What is wrong
# with a mutant is found soon: most of its time is the compiler's, so that one is not to optimise.
explore() {
    local model=$1 work=$2 wanted=$3 optimise=-O0
    shift 3
    [ "$wanted" != pass ] || optimise=-O2
    (cd "$work" && spin -a "$@" "$here/$model.pml" >spin.out 2>&1 &&
        "${CC:-cc}" $optimise -w -DSAFETY -DCOLLAPSE -DVECTORSZ=4096 -DMEMLIM=4096 -o pan pan.c) || {
        cat "$work/spin.out" >&2
        echo broken
        return
    }
    # Not its exit status but what it prints is read below; printing nothing is "incomplete".
    (cd "$work" && ./pan -m1000000 -w22 >pan.out 2>&1) || true
    if grep -q '^pan:[0-9]*: assertion violated' "$work/pan.out"; then
        echo assertion
    elif grep -q '^pan:[0-9]*: invalid end state' "$work/pan.out"; then
        echo deadlock
    elif grep -q 'errors: 0' "$work/pan.out" &&
        ! grep -qE 'depth too small|Search not completed|out of memory' "$work/pan.out"; then
        echo pass
    else
        echo incomplete
    fi
}

run_one() {
    local model=$1 name=$2 wanted=$3 config=${4:-} work found states rc=0
    work=$(mktemp -d)
    : >"$work/pan.out" # stays empty when the model does not compile
    found=$(explore "$model" "$work" "$wanted" "-D$name" ${config:+"-D$config"})
    states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' "$work/pan.out")
    printf '%-10s %-30s %-10s %s states\n' "$model" "$name${config:+/$config}" "$found" "$states"
    if [ "$found" != "$wanted" ]; then
        echo "expected: $wanted" >&2
        tail -n 40 "$work/pan.out" >&2
        rc=1
    fi
    rm -rf "$work"
    return $rc
}

run_model() {
    local model=$1 rc=0 kind name rest how
    while read -r kind name rest; do
        case $kind in
        CONFIG) run_one "$model" "$name" pass || rc=1 ;;
        MUTANT)
            how=${rest%% *}
            if [ "${how#*/}" = "$how" ]; then
                run_one "$model" "$name" "$how" || rc=1
            else
                run_one "$model" "$name" "${how%/*}" "${how#*/}" || rc=1
            fi
            ;;
        esac
    done < <(sed -nE 's/^ \* ((CONFIG|MUTANT) .*)$/\1/p' "$here/$model.pml")
    return $rc
}

case $# in
0)
    rc=0
    for file in "$here"/*.pml; do
        run_model "$(basename "$file" .pml)" || rc=1
    done
    exit $rc
    ;;
1) run_model "$1" ;;
*) run_one "$@" ;;
esac
