#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What a reviewer should not have to look for: layout, clang-tidy, all tests under the sanitizers
# and with clang, every fuzz harness for a minute. Goes on after a failure, and names all of them.
#
# usage: scripts/check.sh [STEP...]    default: format tidy asan-ubsan tsan clang fuzz
# MEDLEY_FUZZ_SECONDS: how long each harness runs (default 60)
set -uo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
failed=()

step_format() {
    git ls-files -z '*.c' '*.h' | xargs -0 clang-format-14 --dry-run -Werror
}

step_tidy() {
    cmake --preset clang >/dev/null || return 1
    cmake --build build/clang -j "$jobs" >/dev/null || return 1
    git ls-files -z 'src/*.c' 'tools/*.c' ':!*_test.c' ':!src/port/bare' ':!src/port/riscv_virt' \
        ':!src/port/cortex_m' ':!src/port/conformance.c' |
        xargs -0 -n 4 -P "$jobs" clang-tidy-14 --quiet -p build/clang 2>/dev/null
}

# All tests of a preset; the bare images and the rules of the house are the same in each.
run_preset() {
    cmake --preset "$1" >/dev/null || return 1
    cmake --build "build/$1" -j "$jobs" || return 1
    scripts/test.sh "build/$1" -j "$jobs" -LE 'bare|style|model'
}
step_asan-ubsan() { run_preset asan-ubsan; }
step_tsan() { run_preset tsan; }
step_clang() { run_preset clang; }

step_fuzz() {
    cmake --preset fuzz >/dev/null || return 1
    cmake --build build/fuzz -j "$jobs" || return 1
    local harness corpus status=0
    while IFS= read -r harness; do
        corpus=build/fuzz/corpus/$(basename "$harness")
        mkdir -p "$corpus"
        echo "fuzz: $(basename "$harness") for ${MEDLEY_FUZZ_SECONDS:-60} s"
        "$harness" -max_total_time="${MEDLEY_FUZZ_SECONDS:-60}" -print_final_stats=1 -verbosity=0 \
            -artifact_prefix="$corpus-" "$corpus" || status=1
    done < <(find build/fuzz -type f -executable -name '*_fuzz')
    return $status
}

steps=("$@")
[ ${#steps[@]} -gt 0 ] || steps=(format tidy asan-ubsan tsan clang fuzz)
for step in "${steps[@]}"; do
    echo "== $step"
    "step_$step" || failed+=("$step")
done
if [ ${#failed[@]} -gt 0 ]; then
    echo "check: failed: ${failed[*]}" >&2
    exit 1
fi
echo "check: ${steps[*]}: passed"
