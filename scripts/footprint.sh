#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What Medley takes on Cortex-M4 and Cortex-M0+ (-Os): code and RAM of small programs, each of
# which uses one thing (tests/bare/footprint), of one with every function of MRAPI, of one with
# MCAPI's too, and of all of base, mrapi and mcapi with nothing dropped; then what a system with
# the built-in limits takes of the arena: of the tables, an image has those of the kinds that it
# uses. Fails when base and mrapi take more than 12 KiB of code in a program with nodes, mutexes
# and semaphores on Cortex-M4; or base, mrapi and mcapi more than 21.125 in one with messages and
# scalars, mcapi's part more than 11.7.
#
# usage: scripts/footprint.sh [FOOTPRINT_PARTITION]
# FOOTPRINT_PARTITION: the program of that name in a build for this machine
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v arm-none-eabi-gcc >/dev/null; then
    echo "not possible here: no arm-none-eabi-gcc (scripts/setup.sh test installs it)"
    exit 77 # skipped, to ctest
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

programs=(nothing atomics ring nodes mutexes semaphores mutexes_semaphores rwlocks shmem heap rmem resources
    endpoints messages scalars messages_scalars every_mrapi_function every_function everything)
failed=0
for core in cortex-m4 cortex-m0plus; do
    build=build/bare-$core
    cmake --preset bare-$core --no-warn-unused-cli >/dev/null
    cmake --build "$build" >/dev/null
    maps=()
    for program in "${programs[@]}"; do
        maps+=("$build/tests/bare/footprint_$program.map")
    done
    checks=(--all everything)
    [ $core != cortex-m4 ] || checks+=(--most mutexes_semaphores=12288
        --most messages_scalars=21632 --most messages_scalars/mcapi=11984)
    echo "== $core -Os: bytes of code and constants, and of RAM beside arena and stack"
    scripts/footprint_map.py "${checks[@]}" "${maps[@]}" || failed=1
done
echo "The aim of 12 KiB is of the core set, mutexes_semaphores; every_mrapi_function has no MCAPI."

# What a process keeps per node has pointers, so it is compiled for the target and measured.
self=$work/self.o
arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -std=gnu17 -ffreestanding -Iinclude -Iinclude/medley/std -Isrc -Isrc/port/cortex_m \
    -Isrc/port/bare/include -c -o "$self" tests/bare/footprint_self.c
echo "== RAM of the arena, built-in limits: bytes"
[ $# -eq 0 ] || "$1"
printf '%-28s %8s %8d\n' "private, for each node" "" \
    $((0x$(arm-none-eabi-nm -S "$self" | awk '/footprint_self/ { print $2 }')))
exit $failed
