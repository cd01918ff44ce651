#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# scripts/abi.sh finds what would break programs, and lets pass what would not: the last release is
# taken to have been otherwise, in one thing at a time.
#
# usage: abi_test.sh BUILD
set -euo pipefail
build=$(cd "$1" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)

fail() {
    echo "abi_test: $*" >&2
    exit 1
}

work=$(mktemp -d "$build/abi-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
export MEDLEY_ABI_FOLDER=$work/abi

# check: with what differs, which is in $work/libmedley.abi; how it ended is in $status.
check() {
    gzip -9nc "$work/libmedley.abi" >"$MEDLEY_ABI_FOLDER/libmedley.abi.gz"
    status=0
    "$root/scripts/abi.sh" check "$build" "$work/now" >"$work/out" 2>&1 || status=$?
    if [ $status -eq 77 ]; then
        cat "$work/out"
        exit 77 # skipped, to ctest
    fi
}

# breaks WHAT SED_EXPRESSION TOLD: a release that was so is broken, and the function is named.
breaks() {
    echo "$1"
    sed "$2" "$work/now/libmedley.abi" >"$work/libmedley.abi"
    ! cmp -s "$work/now/libmedley.abi" "$work/libmedley.abi" || fail "$1: nothing was changed"
    check
    [ $status -eq 1 ] || fail "$1: ended with $status: $(cat "$work/out")"
    grep "$3" "$work/out" >/dev/null || fail "$1: told otherwise: $(cat "$work/out")"
}

mkdir "$MEDLEY_ABI_FOLDER"
cp "$root"/abi/* "$MEDLEY_ABI_FOLDER"
gzip -dc "$root/abi/libmedley.abi.gz" >"$work/libmedley.abi"
check # writes what is now

cp "$work/now/libmedley.abi" "$work/libmedley.abi"
check
[ $status -eq 0 ] || fail "differs from itself: $(cat "$work/out")"

echo "a function that is new since then"
sed "/<elf-symbol name='mrapi_mutex_lock'/d; /<function-decl name='mrapi_mutex_lock'/,/<\/function-decl>/d" "$work/now/libmedley.abi" >"$work/libmedley.abi"
check
[ $status -eq 0 ] || fail "a new function is no break: $(cat "$work/out")"

breaks "a function that is gone" "s/'mrapi_mutex_lock\('\|@\)/'mrapi_mutex_gone\1/g" mrapi_mutex_gone
number=$(sed -n "s/.*<type-decl name='unsigned char'.* id='\(type-id-[0-9]*\)'.*/\1/p" "$work/now/libmedley.abi")
breaks "a name that is there under another version only" "s/\(<elf-symbol name='mrapi_mutex_lock' version='MEDLEY_\)0'/\11'/" \
    'gone: mrapi_mutex_lock@MEDLEY_1'
breaks "an argument of another type" "/<function-decl name='mrapi_mutex_lock'/ { n; s/type-id='[^']*'/type-id='$number'/ }" mrapi_mutex_lock
breaks "a struct that has grown" "s/\(<class-decl name='mrapi_info' size-in-bits=\)'[0-9]*'/\1'64'/" mrapi_initialize
breaks "a name that has another value" "s/\(<enumerator name='MRAPI_ERR_[A-Z_]*' value=\)'\([0-9]*\)'/\1'9\2'/" MRAPI_ERR
