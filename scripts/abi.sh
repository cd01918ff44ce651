#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What programs that are linked with Medley rely on, beside what the last release gave them: a
# function that is gone, or another type of one, or of what it takes, is a break. What the last
# release gave is in abi/: NAME.abi.gz, as libabigail's abidw tells it of what is exported, without
# places in files; libmedley.symbols, in which version which function came.
#
# usage: abi.sh check BUILD FOLDER     FOLDER gets what is compared
#        abi.sh renew BUILD            at a release: says what differs, and writes abi/
# MEDLEY_ABI_FOLDER: in the place of abi/, for the test of this script
# exit status: 0 nothing is broken, 1 something is, 77 it cannot be told here
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
stored=${MEDLEY_ABI_FOLDER:-$root/abi}

fail() {
    echo "abi: $*" >&2
    exit 1
}

not_possible() {
    echo "not possible here: $*"
    exit 77 # skipped, to ctest
}

# Name and file of each; the functions of the second one compilers call.
libraries=("libmedley src/libmedley.so" "libgomp openmp/libgomp.so.1")

# tell NAME FILE FOLDER: writes FOLDER/NAME.abi.
tell() {
    abidw --exported-interfaces-only --headers-dir "$root/include" --drop-private-types \
        --suppressions "$root/abi/inner.abignore" --no-show-locs --no-corpus-path --no-comp-dir-path --short-locs \
        --no-parameter-names --no-write-default-sizes --out-file "$3/$1.abi" "$2" || fail "abidw $2 ended with $?"
}

# symbols FILE: name and version of each symbol there.
symbols() {
    sed -n "s/.*<elf-symbol name='\([^']*\)'.* version='\([^']*\)'.*/\1@\2/p" "$1" | LC_ALL=C sort
}

# same NAME FOLDER OPTION...: says how that of FOLDER differs from the stored one; fails if it does.
# abidiff takes a function for one that is there while it is so under any version.
same() {
    local name=$1 folder=$2 status=0
    shift 2
    gzip -dc "$stored/$name.abi.gz" >"$folder/$name.stored.abi"
    LC_ALL=C comm -23 <(symbols "$folder/$name.stored.abi") <(symbols "$folder/$name.abi") >"$folder/$name.gone"
    [ ! -s "$folder/$name.gone" ] || { sed 's/^/gone: /' "$folder/$name.gone"; status=1; }
    abidiff "$@" "$folder/$name.stored.abi" "$folder/$name.abi" || status=1
    return $status
}

renew() { # BUILD
    local library name file version folder
    version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$1/CMakeCache.txt")
    folder=$1/abi
    mkdir -p "$folder"
    for library in "${libraries[@]}"; do
        read -r name file <<<"$library"
        tell "$name" "$1/$file" "$folder"
        # For reading: that it differs is why it is renewed.
        [ ! -f "$stored/$name.abi.gz" ] || same "$name" "$folder" || true
        gzip -9nc "$folder/$name.abi" >"$stored/$name.abi.gz"
    done
    # What is listed stays under the version that it came in.
    {
        grep '^#' "$stored/libmedley.symbols"
        {
            grep -v '^#' "$stored/libmedley.symbols" || true # none is listed before the first release
            nm -D --defined-only --with-symbol-versions "$1/src/libmedley.so" |
                awk -v version="$version" '$3 ~ /@@MEDLEY_[0-9]/ { sub("@@", "@", $3); print " " $3 " " version }'
        } | LC_ALL=C sort -s -u -k1,1
    } >"$folder/symbols"
    cp "$folder/symbols" "$stored/libmedley.symbols"
}

check() { # BUILD FOLDER
    local library name file status=0
    mkdir -p "$2"
    for library in "${libraries[@]}"; do
        read -r name file <<<"$library"
        tell "$name" "$1/$file" "$2"
        if ! same "$name" "$2" --no-added-syms; then
            echo "abi: $file is not what the last release had: CONTRIBUTING.md, What a release promises" >&2
            status=1
        fi
    done
    return $status
}

command -v abidw >/dev/null || not_possible "no abidw (scripts/setup.sh test installs it)"
[ "$(uname -m)" = x86_64 ] || not_possible "what the last release gave is stored of x86_64 (abi/)"
case ${1:-} in
check) check "$2" "$3" ;;
renew) renew "$2" ;;
*) fail "check or renew, not ${1:-nothing}" ;;
esac
