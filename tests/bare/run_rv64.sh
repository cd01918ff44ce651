#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the bare RISC-V image and runs it on QEMU's machine "virt" (emulated). What fails says so;
# an image's exit status is how many of its checks failed.
#
# usage: tests/bare/run_rv64.sh [HARTS...]    default: 4 16
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -gt 0 ] || set -- 4 16
build=build/bare-rv64
for tool in riscv64-unknown-elf-gcc qemu-system-riscv64; do
    if ! command -v "$tool" >/dev/null; then
        echo "not possible here: no $tool (scripts/setup.sh test installs it)"
        exit 77 # skipped, to ctest
    fi
done
cmake --preset bare-rv64 --no-warn-unused-cli >/dev/null
cmake --build $build --target bare_rv64
failed=0
for harts in "$@"; do
    echo "== $harts harts of QEMU's machine virt (emulated)"
    timeout 120 qemu-system-riscv64 -machine virt -bios none -smp "$harts" -m 64M \
        -display none -monitor none -serial stdio -kernel $build/tests/bare/bare_rv64 </dev/null || failed=1
done
exit $failed
