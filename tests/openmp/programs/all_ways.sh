#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs one of examples/openmp with 1, 2 and 5 threads and schedules of all kinds; it verifies what
# it computed. Twice in each process: the second time, its team is there.
#
# usage: all_ways.sh SIZE PROGRAM...
set -uo pipefail
size=$1
shift
status=0
while read -r threads schedule; do
    OMP_NUM_THREADS=$threads OMP_SCHEDULE=$schedule "$@" --size "$size" --repeat 2 || {
        echo "failed: OMP_NUM_THREADS=$threads OMP_SCHEDULE=$schedule"
        status=1
    }
done <<'WAYS'
1 static
1 guided,2
2 static,3
2 dynamic
2 guided
5 static
5 monotonic:dynamic,7
5 nonmonotonic:dynamic,2
5 guided,4
5 auto
WAYS
exit $status
