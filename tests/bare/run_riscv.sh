#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the bare RISC-V image for these cores: rv64; rv32; rv32-tas, which has no atomic
# instruction but a test-and-set. Runs it on QEMU's machine "virt" (emulated). What fails says so;
# an image's exit status is how many of its checks failed. The image calls every function of MRAPI,
# of MCAPI, and of what is added to MCAPI. There is a second image, of OpenMP.
#
# usage: tests/bare/run_riscv.sh [CORES [HARTS...]]    default: rv64 4 16
set -euo pipefail
cd "$(dirname "$0")/../.."
cores=${1:-rv64}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- 4 16
for tool in riscv64-unknown-elf-gcc qemu-system-riscv64 qemu-system-riscv32; do
    if ! command -v "$tool" >/dev/null; then
        echo "not possible here: no $tool (scripts/setup.sh test installs it)"
        exit 77 # skipped, to ctest
    fi
done
failed=0
build=build/bare-$cores
emulator=qemu-system-riscv${cores:2:2}
cmake --preset bare-$cores --no-warn-unused-cli >/dev/null
cmake --build "$build" --target bare_riscv bare_openmp
# The linker has dropped what the image does not call.
uncalled=$(riscv64-unknown-elf-nm "$build/tests/bare/bare_riscv" | awk '$2 == "T" { print $3 }' | sort |
    comm -13 - <(grep -E '^(mrapi|mcapi|medley_mcapi)_' tests/exports.txt | sort))
if [ -n "$uncalled" ]; then
    echo "FAILED  the image does not call" $uncalled
    failed=1
fi
for harts in "$@"; do
    echo "== $harts harts of QEMU's machine virt, $cores (emulated)"
    for image in bare_riscv bare_openmp; do
        timeout 120 "$emulator" -machine virt -bios none -smp "$harts" -m 64M \
            -display none -monitor none -serial stdio -kernel "$build/tests/bare/$image" </dev/null || failed=1
    done
done
exit $failed
