#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Says, after ctest, what the machine could not do, and counts it.
#
# usage: scripts/not-possible.sh BUILD_FOLDER
set -euo pipefail
log=$1/Testing/Temporary/LastTest.log
[ -f "$log" ] || { echo "not-possible.sh: no ctest has run in $1" >&2; exit 2; }
# grep fails when it finds none, which is the best case.
grep -ah '^not possible here: ' "$log" | sort | uniq -c || true
echo "not possible here: $(grep -ac '^not possible here: ' "$log" || true) tests"
