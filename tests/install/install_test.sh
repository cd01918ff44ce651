#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs into a folder of its own and uses what lies there, from outside the source tree.
#
# usage: install_test.sh BUILD_DIR C_COMPILER
set -euo pipefail
build=$(cd "$1" && pwd)
cc=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

fail() {
    echo "install_test: $*" >&2
    exit 1
}

work=$(mktemp -d "$build/install-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
export MEDLEY_SYSTEM=install-test-$$
cd "$work"

cmake --install "$build" --prefix "$work/first" >install.log || fail "$(cat install.log)"
mv first prefix # it may be moved
library=$(find "$work/prefix" -name libmedley.so)
[ -n "$library" ] || fail "no libmedley.so"
libdir=$(dirname "$library")

echo "needs nothing but libc"
needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc\.so|ld-linux)' || true)
[ -z "$needed" ] || fail "libmedley.so needs $needed"

echo "says nowhere where it was built"
! grep -rF -e "$root" -e "$build" "$work/prefix" | grep -v "/medley-openmp\.pc:prefix=$work/first$" ||
    fail "these name the folder of the build"

echo "exports what tests/exports.txt lists"
nm -D --defined-only "$library" | awk '$2 != "A" && $3 !~ /@MEDLEY_INNER$/ {sub(/@.*/, "", $3); print $3}' |
    LC_ALL=C sort >exports
grep -v '^#' "$root/tests/exports.txt" | diff - exports || fail "exports differ (< listed, > exported)"

echo "pkg-config"
export PKG_CONFIG_PATH=$libdir/pkgconfig
pkg-config --exists --print-errors medley
version=$("$work/prefix/bin/medley" --version)
[ "$version" = "medley $(pkg-config --modversion medley)" ] || fail "$version is not pkg-config's"
pkg-config --exists --print-errors "mcapi >= 2.0" "mrapi >= 1.0"

echo "the command finds the topologies it brings"
"$work/prefix/bin/medley" stress one-way --count 10 >/dev/null || fail "medley stress one-way failed"

echo "every header alone, as C and as C++"
(cd prefix/include && find . -name '*.h') | while read -r header; do
    for language in c c++; do
        printf "#include <%s>\nint one;\n" "${header#./}" >one.txt
        # shellcheck disable=SC2046
        "$cc" -x $language -Wall -Wextra -Wpedantic -Werror $(pkg-config --cflags medley) \
            -fsyntax-only one.txt || fail "$header does not compile alone as $language"
    done
done

example=$(find "$work/prefix" -name two_processes.c)
told='node 1 has turn [0-9]+: who had it before has died'

echo "the example, with pkg-config"
# shellcheck disable=SC2046
"$cc" -Wall -Wextra -Werror "$example" -o shared $(pkg-config --cflags --libs medley)
LD_LIBRARY_PATH=$libdir ./shared | grep -E "$told" >/dev/null || fail "the example did not tell of the death"

echo "by the name of the interface, which a program may know alone"
# shellcheck disable=SC2046
"$cc" -Wall -Wextra -Werror "$example" -o by_mrapi $(pkg-config --cflags --libs mrapi)
LD_LIBRARY_PATH=$libdir ./by_mrapi | grep -E "$told" >/dev/null || fail "the example did not tell of the death"

echo "the pipeline, by the Makefile that lies beside it, under the installed command"
cp -r "$(dirname "$(find "$work/prefix" -name quantiser.c)")" pipeline
make -C pipeline CC="$cc" CFLAGS="-O1 -Wall -Wextra -Werror" >make.log 2>&1 || fail "$(cat make.log)"
base64 -d >pixel.png <<<iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
(cd pipeline && env -u MEDLEY_SYSTEM LD_LIBRARY_PATH="$libdir" PICTURE=../pixel.png RESULT=../result.png \
    "$work/prefix/bin/medley" run --file pipeline.yaml >../run.log 2>&1) || fail "$(cat run.log)"
[ -s result.png ] || fail "the pipeline wrote no picture"

echo "the example of MCAPI, by that name"
exchange=$(find "$work/prefix" -name exchange.c)
# shellcheck disable=SC2046
"$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror "$exchange" -o exchange $(pkg-config --cflags --libs mcapi)
LD_LIBRARY_PATH=$libdir ./exchange | grep 'node 1: "thank you"' >/dev/null || fail "exchange got no answer"

echo "a program for MCAPI 1.x, as C and as C++"
for language in c c++; do
    # shellcheck disable=SC2046
    "$cc" -x $language -Wall -Wextra -Wpedantic -Wconversion -Werror "$here/version_1.c" -o version_1 \
        $(pkg-config --cflags --libs mcapi)
    LD_LIBRARY_PATH=$libdir ./version_1 || fail "the program for MCAPI 1.x failed, as $language"
done

echo "opened, used and closed at run time"
# shellcheck disable=SC2046
"$cc" -D_GNU_SOURCE -Wall -Wextra -Werror "$here/unload.c" -o unload $(pkg-config --cflags medley) -ldl -pthread
./unload "$library" || fail "what the library left behind cannot be called once it is closed"

echo "the example, with CMake"
cmake -S "$here/consumer" -B cmake -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DEXAMPLE="$example" >cmake.log 2>&1 || fail "$(cat cmake.log)"
cmake --build cmake >cmake.log 2>&1 || fail "$(cat cmake.log)"
for program in with_medley with_medley_static; do
    "cmake/$program" | grep -E "$told" >/dev/null || fail "$program did not tell of the death"
done

echo "a man page under each exported name"
while read -r name; do
    [ -f "prefix/share/man/man3/$name.3" ] || fail "no man page $name(3)"
done <exports

echo "DESTDIR"
DESTDIR=$work/stage cmake --install "$build" --prefix /opt/medley >/dev/null
[ -x stage/opt/medley/bin/medley ] || fail "DESTDIR is not honoured"
grep -qx 'prefix=/opt/medley' "$(find stage -name medley-openmp.pc)" || fail "pkg-config says another prefix"
# What is made where it is installed is made nowhere else: two may install one build at once.
! find "$build/install" -name 'medley-openmp.pc' | grep . || fail "the build has medley-openmp.pc, too"
grep -qx '/opt/medley/.*/medley-openmp.pc' "$build/install_manifest.txt" || fail "the manifest lacks medley-openmp.pc"

echo "removed, with the folders that were made, and nothing else: here and under DESTDIR"
mkdir -p "$work/kept/lib" "$work/stage2"
echo mine >"$work/kept/lib/file"
(cd "$work/kept" && find . | sort) >kept.before
mkdir bin
printf '#!/bin/sh\necho told >>%s/told\n' "$work" >bin/ldconfig
chmod +x bin/ldconfig
for destdir in '' "$work/stage2"; do
    prefix=$work/kept
    [ -z "$destdir" ] || prefix=/opt/medley/x
    export DESTDIR=$destdir
    # Twice, as who installs a newer version does.
    for _ in 1 2; do
        PATH=$work/bin:$PATH "$root/scripts/install.sh" "$build" "$prefix" >install.log 2>&1 || fail "$(cat install.log)"
    done
    [ -x "$destdir$prefix/bin/medley" ] || fail "scripts/install.sh installed no command"
    mkdir -p "$destdir$prefix/share/medley/of another"
    PATH=$work/bin:$PATH "$root/scripts/install.sh" --remove "$prefix" >install.log 2>&1 || fail "$(cat install.log)"
    [ -d "$destdir$prefix/share/medley/of another" ] || fail "removed what is another's"
    rmdir -p --ignore-fail-on-non-empty "$destdir$prefix/share/medley/of another"
done
unset DESTDIR
(cd "$work/kept" && find . | sort) | diff kept.before - || fail "not removed (>), or too much (<)"
told=$([ "$(id -u)" -eq 0 ] && echo 3 || echo 0) # the loader of this machine, not of another's root
[ "$(cat told 2>/dev/null | wc -l)" -eq "$told" ] || fail "ldconfig was called otherwise than $told times"
[ ! -e stage2 ] || fail "not removed: $(find stage2)"
! "$root/scripts/install.sh" --remove "$work/kept" 2>install.log || fail "removed what is not there"
grep "nothing of make install is in $work/kept" install.log >/dev/null || fail "$(cat install.log)"
