#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the Cortex-M image for Cortex-M4 and for Cortex-M0+, whose instructions an M4 has too, and
# runs both on QEMU's board MPS2 (emulated), where an interrupt may come between any two
# instructions. What fails says so; an image's exit status is how many of its checks failed.
#
# usage: tests/bare/run_cortex_m.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
for tool in arm-none-eabi-gcc qemu-system-arm; do
    if ! command -v "$tool" >/dev/null; then
        echo "not possible here: no $tool (scripts/setup.sh test installs it)"
        exit 77 # skipped, to ctest
    fi
done
failed=0
for core in cortex-m4 cortex-m0plus; do
    build=build/bare-$core
    cmake --preset bare-$core --no-warn-unused-cli >/dev/null
    cmake --build "$build" --target bare_cortex_m
    echo "== built for $core, on QEMU's board MPS2 with a Cortex-M4 (emulated)"
    timeout 60 qemu-system-arm -machine mps2-an386 -singlestep -display none -monitor none -serial stdio \
        -semihosting-config enable=on,target=native -kernel "$build/tests/bare/bare_cortex_m" </dev/null || failed=1
done
exit $failed
