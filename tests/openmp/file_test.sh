#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What the library is as a file: one under two names, never unloaded, bound to itself, of which a
# program's threads have one pointer at most, and which needs nothing but libc and libmedley.
#
# usage: file_test.sh FOLDER
set -euo pipefail
cd "$1"
file=libgomp.so.1

fail() {
    echo "file_test: $*" >&2
    exit 1
}

[ "$(stat -L -c %d:%i libomp.so.5)" = "$(stat -L -c %d:%i $file)" ] || fail "libomp.so.5 is another file"
dynamic=$(readelf -dW $file)
grep -qE '\(SONAME\).*\[libgomp\.so\.1\]' <<<"$dynamic" || fail "it calls itself otherwise"
grep -qE '\(FLAGS_1\).*NODELETE' <<<"$dynamic" || fail "it can be unloaded"
grep -qE '\(SYMBOLIC\)|\(FLAGS\).*SYMBOLIC' <<<"$dynamic" || fail "others' functions stand in for its own"
needed=$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' <<<"$dynamic" | grep -vE '^(libc|libmedley|ld-linux[^.]*)\.so' || true)
[ -z "$needed" ] || fail "it needs $needed"

# Of thread-local storage: what it has itself, and what of others it reaches by an offset that is
# fixed when it is loaded.
own=$(readelf -lW $file | awk '$1 == "TLS" { print $6 }') # in hexadecimal
own=$((${own:-0}))
reached=$(readelf -rW $file | awk '/TPOFF/ { print $5 }' | sort -u | wc -l)
echo "thread-local: $own bytes of its own, $reached words at fixed places"
[ "$own" -le 8 ] && [ "$reached" -le 1 ] || fail "its threads have more than one pointer"
! readelf -rW $file | grep -qE 'DTPMOD|TLSDESC' || fail "it looks up thread-local storage"
