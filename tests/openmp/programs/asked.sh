#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What one of examples/openmp says to who asks for help, asks wrongly, or cannot be told the result.
#
# usage: asked.sh PROGRAM...
set -uo pipefail
fail() {
    echo "asked.sh: $*" >&2
    exit 1
}
for help in -h --help; do
    said=$("$@" $help) || fail "$help: status $?"
    [[ $said == *"usage: "* ]] || fail "$help: said '$said'"
done
said=$("$@" --size X 2>&1)
[ $? -eq 2 ] || fail "--size X is not wrong use"
[[ $said == *"S, W, A, or "* ]] || fail "--size X: said '$said'"
"$@" --unknown 2>/dev/null
[ $? -eq 2 ] || fail "--unknown is not wrong use"
"$@" --size S --json >/dev/full 2>/dev/null
[ $? -eq 1 ] || fail "a result that nobody could be told counts as told"
