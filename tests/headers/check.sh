#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every public header compiles alone, as C99, C17, C++11 and C++17, without extensions; every
# internal one alone, as C17.
#
# usage: tests/headers/check.sh CC CXX
set -uo pipefail
cd "$(dirname "$0")/../.."
cc=$1
cxx=$2
warnings=(-Wall -Wextra -Wconversion -Wshadow -Wno-unused-function -Werror -fsyntax-only)
failed=0
checked=0

# alone HEADER COMPILER FLAG...: includes it twice, as a guard must bear.
alone() {
    local header=$1
    shift
    checked=$((checked + 1))
    if ! printf '#include "%s"\n#include "%s"\ntypedef int not_empty;\n' "$header" "$header" |
        "$@" "${warnings[@]}" -Iinclude -Isrc -; then
        echo "does not compile alone: $header ($1)"
        failed=$((failed + 1))
    fi
}

while IFS= read -r header; do
    for year in 99 17; do
        alone "${header#include/}" "$cc" -std=c$year -pedantic -x c
    done
    for year in 11 17; do
        alone "${header#include/}" "$cxx" -std=c++$year -pedantic -x c++
    done
done < <(find include -name '*.h' | sort)

while IFS= read -r header; do
    case $header in
    src/port/bare/include/*) continue ;; # the C library's, for compilers that have none
    src/port/bare/*) machine=riscv_virt ;;
    src/port/*/*) machine=$(basename "$(dirname "$header")") ;;
    *) machine=linux ;;
    esac
    alone "${header#src/}" "$cc" -std=gnu17 -x c -Isrc/port/$machine -Itests
done < <(find src -name '*.h' | sort)

echo "headers: $checked compiled alone, $failed failed"
[ $failed -eq 0 ]
