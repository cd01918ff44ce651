#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds Medley for Cortex-M4 (-Os) and prints code and RAM of each file, before the linker has
# dropped what an image does not use (the arena of the port is configurable); then what a private
# system of 8 nodes and 8 locks takes of that arena.
#
# usage: scripts/footprint.sh [FOOTPRINT_PARTITION]
# FOOTPRINT_PARTITION: the program of that name in a build for this machine
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/bare-cortex-m4
if ! command -v arm-none-eabi-gcc >/dev/null; then
    echo "not possible here: no arm-none-eabi-gcc (scripts/setup.sh test installs it)"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --preset bare-cortex-m4 --no-warn-unused-cli >/dev/null
cmake --build $build >/dev/null
for floor in base mrapi port; do
    echo "== $floor, Cortex-M4 -Os: bytes of code and constants (text), of RAM (data + bss)"
    mapfile -t objects < <(find "$build/src/$floor" -name '*.obj' | sort)
    arm-none-eabi-size -t "${objects[@]}" | awk '
        NR == 1 { printf "%-16s %8s %8s\n", "file", "text", "RAM"; next }
        { name = $6; sub(/.*\//, "", name); sub(/\.obj$/, "", name)
          printf "%-16s %8d %8d\n", name == "(TOTALS)" ? "total" : name, $1, $2 + $3 }'
done

# The partition is the same for every processor, so this one computes it; what a process keeps per
# node has pointers, so it is compiled for the target and measured.
[ $# -eq 1 ] || exit 0
partition=$("$1" 1 1 8 8 1 1 1 8)
self=$work/self.o
arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -std=gnu17 -ffreestanding -Iinclude -Isrc -Isrc/port/cortex_m \
    -Isrc/port/bare/include -c -o "$self" tests/bare/footprint_self.c
selves=$((8 * 0x$(arm-none-eabi-nm -S "$self" | awk '/footprint_self/ { print $2 }')))
echo "== RAM of a private system of 8 nodes and 8 locks"
printf '%-16s %8d\n' partition "$partition" "nodes, private" "$selves" total $((partition + selves))
