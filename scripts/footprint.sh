#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the port and base for Cortex-M4 (-Os) and prints code and RAM of each file. Before the
# linker has dropped what an image does not use; the arena of the port is configurable.
#
# usage: scripts/footprint.sh
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/bare-cortex-m4
if ! command -v arm-none-eabi-gcc >/dev/null; then
    echo "not possible here: no arm-none-eabi-gcc (scripts/setup.sh test installs it)"
    exit 0
fi
cmake --preset bare-cortex-m4 --no-warn-unused-cli >/dev/null
cmake --build $build --target medley_port medley_base >/dev/null
for floor in base port; do
    echo "== $floor, Cortex-M4 -Os: bytes of code and constants (text), of RAM (data + bss)"
    mapfile -t objects < <(find "$build/src/$floor" -name '*.obj' | sort)
    arm-none-eabi-size -t "${objects[@]}" | awk '
        NR == 1 { printf "%-16s %8s %8s\n", "file", "text", "RAM"; next }
        { name = $6; sub(/.*\//, "", name); sub(/\.obj$/, "", name)
          printf "%-16s %8d %8d\n", name == "(TOTALS)" ? "total" : name, $1, $2 + $3 }'
done
