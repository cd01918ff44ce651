#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the library and the unit tests for other processors and runs them under qemu-user. What is
# emulated: every figure in the output is the emulator's, none the processor's.
#
# usage: scripts/test-cross.sh [PRESET...]    default: cross-aarch64 cross-riscv64 cross-ppc64
set -euo pipefail
cd "$(dirname "$0")/.."
presets=("$@")
[ ${#presets[@]} -gt 0 ] || presets=(cross-aarch64 cross-riscv64 cross-ppc64)

failed=()
for preset in "${presets[@]}"; do
    echo "== $preset (emulated)"
    cmake --preset "$preset" --no-warn-unused-cli >/dev/null
    cmake --build "build/$preset" -j "$(nproc)"
    (cd "build/$preset" && ctest --output-on-failure -L unit -j "$(nproc)") || failed+=("$preset")
    scripts/not-possible.sh "build/$preset"
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "test-cross: failed: ${failed[*]}" >&2
    exit 1
fi
echo "test-cross: ${#presets[@]} processors passed"
