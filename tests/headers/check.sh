#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every public header compiles alone, for every C and C++ that a program may be written in, with
# gcc and with clang, extensions or none; every internal one alone, as C17.
#
# usage: tests/headers/check.sh CC CXX      of which CC is for the internal ones
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
        "$@" "${warnings[@]}" -Iinclude -Iinclude/medley/std -Isrc -; then
        echo "does not compile alone: $header ($*)"
        failed=$((failed + 1))
    fi
}

# newest NAME: of its versions, that is here.
newest() {
    local version
    for version in '' -19 -18 -17 -16 -15 -14; do
        if command -v "$1$version" >/dev/null; then
            echo "$1$version"
            return
        fi
    done
}

# Those of the build, and of both kinds what there is.
mapfile -t in_c < <(printf '%s\n' "$cc" gcc "$(newest clang)" | grep . | sort -u)
mapfile -t in_cxx < <(printf '%s\n' "$cxx" g++ "$(newest clang++)" | grep . | sort -u)
for compilers in "${in_c[*]}" "${in_cxx[*]}"; do
    case $compilers in
    *clang*) ;;
    *) echo "not possible here: no clang beside $compilers (scripts/setup.sh test installs it)" ;;
    esac
done

while IFS= read -r header; do
    header=${header#include/}
    for compiler in "${in_c[@]}"; do
        for year in c99 c11 c17 gnu99 gnu11 gnu17; do
            alone "$header" "$compiler" -std=$year -pedantic -x c
        done
    done
    for compiler in "${in_cxx[@]}"; do
        for year in c++11 c++14 c++17 c++20 gnu++17; do
            alone "$header" "$compiler" -std=$year -pedantic -x c++
        done
    done
done < <(find include -name '*.h' | sort)
public=$checked

while IFS= read -r header; do
    case $header in
    src/port/bare/include/*) continue ;; # the C library's, for compilers that have none
    src/port/bare/*) machine=riscv_virt ;;
    src/port/*/*) machine=$(basename "$(dirname "$header")") ;;
    *) machine=linux ;;
    esac
    alone "${header#src/}" "$cc" -std=gnu17 -x c -Isrc/port/$machine -Itests
done < <(find src -name '*.h' | sort)

echo "headers: public $public times, others $((checked - public)) compiled alone by ${in_c[*]} ${in_cxx[*]}, $failed failed"
[ $failed -eq 0 ] && [ $public -gt 0 ]
