#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the Debian packages, and looks at them as Debian would: lintian, dependencies, no file where
# another package has one.
#
# usage: deb_test.sh FOLDER      for the build; the packages are in FOLDER/packages then
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)

fail() {
    echo "deb_test: $*" >&2
    exit 1
}

for program in dpkg-shlibdeps dpkg-gensymbols lintian ninja; do
    if ! command -v $program >/dev/null; then
        echo "not possible here: no $program (scripts/setup.sh test installs it)"
        exit 77 # skipped, to ctest
    fi
done
unset DESTDIR DEBEMAIL DEBFULLNAME
umask 077 # a package does not depend on that
cd "$root"
cmake --preset deb -B "$folder" >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
cmake --build "$folder" >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
rm -rf "$folder/packages"
cmake --build "$folder" --target package >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"

cd "$folder/packages"
architecture=$(dpkg --print-architecture)
version=$(sed -n '/^medley (/ { s/.*(\(.*\)).*/\1/p; q }' "$root/cmake/deb/changelog")
library=libmedley${version%%.*}
names="$library libmedley-dev libmedley-hwloc medley medley-openmp"
for name in $names; do
    [ -f "${name}_${version}_$architecture.deb" ] || fail "no ${name}_${version}_$architecture.deb"
done
[ "$(find . -maxdepth 1 -name '*.deb' | wc -l)" -eq "$(wc -w <<<"$names")" ] || fail "others than $names"

# package NAME FIELD
field() {
    dpkg-deb -f "${1}_${version}_$architecture.deb" "$2"
}

echo "lintian"
lintian --allow-root --fail-on error,warning --tag-display-limit 0 ./*.deb >"$folder/lintian" 2>&1 ||
    fail "$(cat "$folder/lintian")"

echo "the library needs libc alone; others what they are linked with, and this very library"
[[ $(field "$library" Depends) =~ ^libc6\ \(\>=\ [0-9.]+\)$ ]] || fail "$library: $(field "$library" Depends)"
for pair in medley:libhwloc15 medley:libjansson4 medley:libyaml-0-2 libmedley-hwloc:libhwloc15 \
    "medley-openmp:$library (= $version)" "libmedley-dev:$library (= $version)" "libmedley-hwloc:$library (= $version)"; do
    [[ ", $(field "${pair%%:*}" Depends)" == *", ${pair#*:}"* ]] ||
        fail "${pair%%:*} does not depend on ${pair#*:}: $(field "${pair%%:*}" Depends)"
done

echo "what programs that use the library will depend on"
dpkg-deb --ctrl-tarfile "${library}_${version}_$architecture.deb" | tar -xO ./symbols >"$folder/symbols"
grep -v '^#' "$root/tests/exports.txt" | while read -r name; do
    grep "^ $name@MEDLEY_0 [0-9.]*$" "$folder/symbols" >/dev/null || fail "symbols lacks $name"
done
for name in $names; do
    controls=$(dpkg-deb --ctrl-tarfile "${name}_${version}_$architecture.deb" | tar -t | sort | xargs)
    expected="./control ./md5sums"
    [ "$name" != "$library" ] || expected="$expected ./shlibs ./symbols ./triggers"
    [ "$controls" = "$expected" ] || fail "$name has other control files than expected: $controls"
done

# What is Medley's by its name, and no more: so no other package has it, today or later. Debian's
# libgomp1, libomp5, openmpi-bin (oshcc, oshrun), libopenmpi-dev (shmem.h) and libgomp's omp.h are
# nowhere in our way.
echo "no file of others"
for package in ./*.deb; do
    dpkg-deb -c "$package" | awk '{ print $6 }' | sed 's|^\.||'
done | LC_ALL=C sort >"$folder/all"
grep -v '/$' "$folder/all" | LC_ALL=C uniq -d >"$folder/twice"
[ ! -s "$folder/twice" ] || fail "in two packages: $(cat "$folder/twice")"
lib=/usr/lib/$(gcc -print-multiarch)
own="^(/usr/bin/medley|/usr/include/medley/.*|$lib/libmedley\.(a|so.*)\
|$lib/medley/.*|$lib/pkgconfig/(mcapi|medley|medley-openmp|mrapi)\.pc|$lib/cmake/Medley/.*|/usr/share/medley/.*\
|/usr/share/man/man[137]/(mcapi|medley|mrapi)[-_.].*|/usr/share/doc/(lib)?medley[^/]*/.*|/usr/share/lintian/overrides/(lib)?medley[^/]*)$"
# That grep finds none, here and below, is what is wanted; the next line looks.
grep -v '/$' "$folder/all" | grep -vE "$own" >"$folder/foreign" || true
[ ! -s "$folder/foreign" ] || fail "not ours by its name: $(cat "$folder/foreign")"
grep -E '/(oshcc|oshrun|oshcxx|shmem\.h|omp\.h|lib(gomp|omp|oshmem)\.[^/]*)$' "$folder/all" |
    grep -v "^$lib/medley/openmp/" >"$folder/foreign" || true
[ ! -s "$folder/foreign" ] || fail "another package's name: $(cat "$folder/foreign")"
find /var/lib/dpkg/info -name '*.list' ! -name 'libmedley*' ! -name 'medley*' -exec cat {} + | LC_ALL=C sort -u |
    LC_ALL=C comm -12 - <(grep -v '/$' "$folder/all" | LC_ALL=C sort -u) >"$folder/foreign"
[ ! -s "$folder/foreign" ] || fail "an installed package has these: $(cat "$folder/foreign")"
