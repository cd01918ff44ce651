#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs a test with a folder of its own as shared memory, and removes the folder, whatever the test
# left there. A test that is killed together with this script (a timeout) leaves its folder in
# FOLDER; ctest ends by removing FOLDER, and begins with it too.
#
# usage: tests/run.sh FOLDER PROGRAM [ARGUMENT...]
#        tests/run.sh FOLDER                        removes FOLDER
set -uo pipefail
folder=$1
shift
if [ $# -eq 0 ]; then
    rm -rf "$folder"
    exit
fi
# Open to all, as /dev/shm itself: some tests are several users.
export MEDLEY_SHM_DIR=$folder/$$
mkdir -p "$folder" && chmod 755 "$folder" && mkdir -m 1777 "$MEDLEY_SHM_DIR" || exit 2
# Children of a process with threads may start threads: the library's own thread lives for a moment.
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}die_after_fork=0"
"$@"
status=$?
rm -rf "$MEDLEY_SHM_DIR"
exit $status
