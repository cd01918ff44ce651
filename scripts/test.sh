#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs ctest in a build folder, and says what the machine could not do, and how often: before
# ctest's own summary, which stays last.
#
# usage: scripts/test.sh BUILD_FOLDER [ctest's ARGUMENT...]
set -euo pipefail
build=$1
shift
summary=()
# The summary is kept until ctest has ended: only then is its log complete.
not_possible_first() {
    local line
    while IFS= read -r line; do
        if [ ${#summary[@]} -gt 0 ] || [[ $line =~ ^[0-9]+%\ tests\ passed ]]; then
            summary+=("$line")
        else
            printf '%s\n' "$line"
        fi
    done
    "$(dirname "$0")/not-possible.sh" "$build"
    [ ${#summary[@]} -eq 0 ] || printf '%s\n' '' "${summary[@]}"
}
ctest --test-dir "$build" --output-on-failure "$@" 2>&1 | not_possible_first
