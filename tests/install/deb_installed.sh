#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs Medley's packages in the root it runs in, builds and runs the examples with what is
# installed, away from any source tree, removes the packages, and looks for what they left.
# deb_install_test.sh says where it runs.
#
# usage: deb_installed.sh WORK C_COMPILER      WORK: the packages, and programs to build
set -euo pipefail
cd "$1"
cc=$2

fail() {
    echo "deb_installed: $*" >&2
    exit 1
}

mapfile -t names < <(for package in ./*.deb; do dpkg-deb -f "$package" Package; done)
installed() { # none of them, and one that dpkg does not know, is no error
    dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${names[@]}" 2>/dev/null | grep -v ' not-installed$' || true
}
[ -z "$(installed)" ] || fail "there already: $(installed)"

# Which of the packages' files and folders there are; and what has Medley's name, wherever dpkg does
# not keep its books.
files() {
    local package path
    for package in ./*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -t | while IFS= read -r path; do
            [ ! -e "/$path" ] && [ ! -L "/$path" ] || echo "/$path"
        done
    done
    find /etc /opt /usr /var -xdev \( -path /var/lib/dpkg -o -path /var/log -o -path "$PWD" \) -prune -o -iname '*medley*' -print
}
files >before
# However it ends: some may not be there any more.
trap 'dpkg --purge --force-depends "${names[@]}" >/dev/null 2>&1 || true' EXIT

echo "installed"
dpkg -i ./*.deb >log 2>&1 || fail "$(cat log)"
[ -z "$(dpkg --audit)" ] || fail "$(dpkg --audit)"
changed=$(dpkg -V "${names[@]}")
[ -z "$changed" ] || fail "not as packed: $changed"
library=$(printf '%s\n' "${names[@]}" | grep '^libmedley[0-9]')
ldconfig -p | grep "libmedley\.so\.${library#libmedley} " >/dev/null || fail "the linker at run time does not know it"
! ldconfig -p | grep /medley/ || fail "the linker at run time knows what is in a folder of ours"

# runs EXPRESSION PROGRAM...: it ends with 0 and says that.
runs() {
    local expected=$1
    shift
    "$@" >out 2>&1 || fail "$*: $(cat out)"
    grep -E "$expected" out >/dev/null || fail "$*: $(cat out)"
}

echo "the command, its pages, what it brings"
version=$(dpkg-query -W -f '${Version}' medley)
runs "^medley $version$" medley --version
runs '"domains"' medley info --json
runs . medley stress one-way --count 10
runs 'node' medley run -n 2 -- sh -c 'echo node'
grep -v '^#' exports.txt | while read -r name; do
    zcat "/usr/share/man/man3/$name.3.gz" | grep "^\.Nm $name\b" >/dev/null || fail "no page for $name(3)"
done

cp -r /usr/share/doc/medley/examples .
cd examples
flags=(-O1 -Wall -Wextra -Werror)
told='node 1 has turn [0-9]+: who had it before has died'

echo "examples, with pkg-config"
[ "$(pkg-config --modversion medley)" = "$version" ] || fail "pkg-config knows medley as $(pkg-config --modversion medley)"
read -ra medley <<<"$(pkg-config --cflags --libs medley)"
read -ra mcapi <<<"$(pkg-config --cflags --libs mcapi)"
"$cc" "${flags[@]}" two_processes.c -o two_processes "${medley[@]}"
runs "$told" ./two_processes
"$cc" "${flags[@]}" exchange.c -o exchange "${mcapi[@]}"
runs 'node 1: "thank you"' ./exchange
"$cc" "${flags[@]}" two_processes.c -o static "${medley[@]}" -static -pthread 2>out || fail "$(cat out)" # ld warns of dlopen
runs "$told" ./static

echo "examples, with CMake"
for example in two_processes:"$told" exchange:'node 1: "thank you"'; do
    cmake -S ../consumer -B cmake -DCMAKE_C_COMPILER="$cc" -DEXAMPLE="$PWD/${example%%:*}.c" \
        -DOPENMP_EXAMPLE="$PWD/openmp/tree.c" >out 2>&1 || fail "$(cat out)"
    cmake --build cmake >out 2>&1 || fail "$(cat out)"
    runs "${example#*:}" cmake/with_medley
    runs "${example#*:}" cmake/with_medley_static
done

echo "the pipeline, by its Makefile, under the command"
base64 -d >pixel.png <<<iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
make -C pipeline CC="$cc" CFLAGS="${flags[*]}" >out 2>&1 || fail "$(cat out)"
(cd pipeline && PICTURE=../pixel.png RESULT=../result.png medley run --file pipeline.yaml >../out 2>&1) || fail "$(cat out)"
[ -s result.png ] || fail "the pipeline wrote no picture: $(cat out)"

echo "OpenMP programs, on Medley's library where that is asked for, and else on Debian's"
read -ra openmp <<<"$(pkg-config --cflags --libs medley-openmp)"
folder=$(pkg-config --variable=folder medley-openmp)
for program in openmp/*.c; do
    case $program in
    */tool.c) continue ;;
    esac
    "$cc" -O2 "$program" -o program "${openmp[@]}" -lm
    ldd ./program | grep "=> $folder/libgomp\.so\.1 " >/dev/null || fail "$program: $(ldd ./program)"
    OMP_NUM_THREADS=2 runs verified ./program
    "$cc" -O2 -fopenmp "$program" -o program -lm
    ! ldd ./program | grep "$folder" || fail "$program is on Medley's library, and did not ask for it"
done
ldd ./program >out
(export LD_LIBRARY_PATH=$folder && ldd ./program) | grep "=> $folder/libgomp\.so\.1 " >/dev/null || fail "not by LD_LIBRARY_PATH"
runs . medley run -- ./program
ldd cmake/with_openmp | grep "=> $folder/libgomp\.so\.1 " >/dev/null || fail "by CMake: $(ldd cmake/with_openmp)"
runs verified cmake/with_openmp
cd ..

echo "removed"
dpkg --remove medley medley-openmp libmedley-hwloc libmedley-dev >log 2>&1 || fail "$(cat log)"
runs "$told" examples/two_processes # has what it needs
dpkg --remove "$library" >log 2>&1 || fail "$(cat log)"
! examples/two_processes >out 2>&1 || fail "two_processes runs without a library"
! ldconfig -p | grep libmedley || fail "the linker at run time still knows it"
dpkg --purge "${names[@]}" >log 2>&1 || fail "$(cat log)"
[ -z "$(installed)" ] || fail "still there: $(installed)"
files | diff before - || fail "left behind (>), or taken away (<)"
left=$(find "${MEDLEY_SHM_DIR:-/dev/shm}" -mindepth 1)
[ -z "$left" ] || fail "left in shared memory: $left"
trap - EXIT
