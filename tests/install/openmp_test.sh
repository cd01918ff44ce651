#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs into a folder of its own, and builds and runs programs for OpenMP there as a user does,
# with each compiler: linked with Medley's library, statically, and not linked with it at all.
#
# usage: openmp_test.sh BUILD_DIR
set -euo pipefail
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)/openmp

fail() {
    echo "openmp_test: $*" >&2
    exit 1
}

first_of() {
    local name
    for name in "$@"; do
        if command -v "$name" >/dev/null; then
            echo "$name"
            return
        fi
    done
}

clang=$(first_of clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 clang)
compilers=(gcc g++ gfortran "$clang")
for compiler in "${compilers[@]}"; do
    if ! command -v "${compiler:-clang}" >/dev/null; then
        echo "not possible here: no ${compiler:-clang} (scripts/setup.sh test installs it)"
        exit 77 # skipped, to ctest
    fi
done

work=$(mktemp -d "$build/openmp-install-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
unset LD_LIBRARY_PATH
prefix="$work/a prefix"
cmake --install "$build" --prefix "$prefix" >install.log || fail "$(cat install.log)"
pc=$(find "$prefix" -name medley-openmp.pc)
export PKG_CONFIG_PATH="${pc%/*}"
folder=$(pkg-config --variable=folder medley-openmp)
folder=${folder//\\/} # pkg-config's, before the blank
[ -f "$folder/libgomp.so.1" ] || fail "no libgomp.so.1 where pkg-config says: $folder"
eval "flags=($(pkg-config --cflags --libs medley-openmp))"
eval "medley=($(pkg-config --cflags --libs medley))"

moved=$(pkg-config --define-variable=prefix=/elsewhere --variable=folder medley-openmp)
[ "$moved" = "/elsewhere${folder#"$prefix"}" ] || fail "moved to $moved"

echo "in a folder that others do not look into"
others=$(find "$prefix" \( -name 'libgomp*' -o -name 'libomp*' \) ! -path '*/medley/openmp/*')
[ -z "$others" ] || fail "elsewhere: $others"

echo "no inner name that a program might have"
for archive in "$folder"/lib{gomp,omp}.a "${folder%/medley/openmp}/libmedley.a"; do
    names=$(nm -g --defined-only "$archive" | awk 'NF == 3 && $3 !~ /^(__|GOMP_|ompc?_|ompt_|kmpc?_|mrapi_|mcapi_|medley_)/ { print $3 }')
    [ -z "$names" ] || fail "$archive: $names"
done

# The program runs, and what it runs on is ours: the linker at run time says so, or names in it do.
runs_linked() { # PROGRAM
    ldd "$1" | grep -E "=> $folder/lib(gomp\.so\.1|omp\.so\.5) " >/dev/null || fail "$1: $(ldd "$1")"
    "$1" >out || fail "$1: $(cat out)"
}
runs_static() { # PROGRAM NEEDED
    local needed
    needed=$(readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[lib\([a-z]*\)\..*/\1/p' | tr '\n' ' ')
    [ "$needed" = "$2" ] || fail "$1 needs $needed"
    nm "$1" | grep ' __med_team_start$' >/dev/null || fail "$1 is not linked with ours"
    "$1" >out || fail "$1: $(cat out)"
}

for compiler in "${compilers[@]}"; do
    program=$here/program.c no_path=() options=(-O1 -Wall -Wextra -Werror -Wl,--fatal-warnings)
    case $compiler in
    g++) cp "$program" program.cc && program=program.cc ;;
    gfortran) program=$here/program.f90 ;;
    clang*) no_path=(-fno-openmp-implicit-rpath) ;;
    esac
    echo "$compiler: linked by pkg-config"
    "$compiler" "${options[@]}" "$program" -o linked "${flags[@]}" 2>errors || fail "$(cat errors)"
    runs_linked ./linked
    readelf -dW linked | grep "RUNPATH.*\[$folder[]:]" >/dev/null || fail "not the plain path: $(readelf -dW linked)"

    echo "$compiler: linked without a word of us, and run on ours"
    "$compiler" "${options[@]}" -fopenmp "$program" -o plain 2>errors || fail "$(cat errors)"
    ! ldd ./plain | grep "$prefix" >/dev/null || fail "found without being asked for: $(ldd ./plain)"
    (export LD_LIBRARY_PATH=$folder && runs_linked ./plain)

    echo "$compiler: linked statically"
    "$compiler" "${options[@]}" "$program" -o static "${flags[@]}" -static 2>errors || fail "$(cat errors)"
    [ ! -s errors ] || fail "$(cat errors)"
    runs_static ./static ''
    # No path to shared libraries: glibc 2.36 starts no such program that has one.
    "$compiler" "${options[@]}" -fPIE -fopenmp "$program" -o static -static-pie "${no_path[@]}" "-B$folder" "-L$folder" 2>errors || fail "$(cat errors)"
    runs_static ./static ''
done

echo "$clang: OpenMP alone linked statically"
"$clang" -static-openmp "$here/program.c" -o static "${flags[@]}" 2>errors || fail "$(cat errors)"
runs_static ./static 'c '

echo "gcc: told by its specs"
gcc -specs="$folder/libgomp.spec" -fopenmp "$here/program.c" -o static -static "-L$folder" 2>errors || fail "$(cat errors)"
runs_static ./static ''

echo "a program that is its own tool"
for compiler in gcc "$clang"; do
    "$compiler" "$here/own_tool.c" -o own_tool "${medley[@]}" "${flags[@]}"
    (export LD_LIBRARY_PATH=${folder%/medley/openmp} && runs_linked ./own_tool)
done

# Linked by either compiler, with the one library before the other or behind it; or without ours.
echo "parts of all four in one program: one pool of threads, one file"
gcc -O1 -fopenmp -c -DPART=in_gcc "$here/part.c" -o in_gcc.o
cp "$here/part.c" part.cc
g++ -O1 -fopenmp -c -DPART=in_gxx part.cc -o in_gxx.o
gfortran -O1 -fopenmp -c "$here/part.f90" -o in_gfortran.o
"$clang" -O1 -fopenmp -c -DPART=in_clang "$here/part.c" -o in_clang.o
parts=("$here/mixed.c" in_gcc.o in_gxx.o in_gfortran.o in_clang.o)
runs_mixed() {
    runs_linked ./mixed
    grep -qx 'calls 48, by others 0, threads 4, files 1' out || fail "$*: $(cat out)"
}
more=(-lgfortran -lstdc++)
for linker in gcc "$clang"; do
    for both in "-lgomp -lomp" "-lomp -lgomp"; do
        # shellcheck disable=SC2086 # they are two
        "$linker" "${parts[@]}" -o mixed "${flags[@]}" $both "${more[@]}"
        runs_mixed "$linker $both"
    done
done
"$clang" "${parts[@]}" -o mixed "${flags[@]}" "${more[@]}"
runs_mixed "$clang, by itself"
"$clang" -fopenmp "${parts[@]}" -o mixed "${more[@]}"
(export LD_LIBRARY_PATH=$folder && runs_mixed "$clang, with its own library")
gcc "${parts[@]}" -o mixed "${flags[@]}" "${more[@]}" -lquadmath -lm -static 2>errors || fail "$(cat errors)"
./mixed >out || fail "linked statically: $(cat out)"

echo "nestable locks of two sizes in one program"
gcc -O1 -fopenmp -c -DPART=in_gcc -DOTHER=in_clang "$here/nest.c" -o nest_gcc.o
"$clang" -O1 -fopenmp -c -DPART=in_clang "$here/nest.c" -o nest_clang.o
runs_nests() {
    LD_LIBRARY_PATH=$folder ./nests || fail "$*: what stands behind a lock is not what it was"
}
gcc nest_gcc.o nest_clang.o -o nests "-L$folder" -lomp -lgomp
runs_nests "gcc, with libomp first"
"$clang" -fopenmp nest_gcc.o nest_clang.o -o nests
runs_nests "$clang"
gcc nest_gcc.o nest_clang.o -o nests -static "$folder/libomp.a" "${flags[@]}" -lm 2>errors || fail "$(cat errors)"
runs_nests "linked statically, with libomp.a first"

# A process that had two would be there twice; and the initial thread's node of MRAPI is its team's.
is_one() { # PROGRAM
    MEDLEY_SYSTEM=openmp-test-$$ "./$1" "'$prefix/bin/medley' ps" >out || fail "$1: $(cat out)"
    [ "$(grep -c ' alive ' out)" -eq 1 ] && [ "$(grep -c ' omp\.[012] ' out)" -eq 3 ] &&
        grep -qE '^ +1:7 .* omp\.0 ' out || fail "$1: not one: $(cat out)"
}

echo "with MRAPI, in one Medley"
for compiler in gcc "$clang"; do
    "$compiler" "$here/node.c" -o node "${medley[@]}" "${flags[@]}" -Wl,-rpath,"${folder%/medley/openmp}"
    is_one node
    "$compiler" "$here/node.c" -o node "${medley[@]}" "${flags[@]}" -static 2>errors || fail "$(cat errors)"
    is_one node
done

echo "with CMake"
CC=gcc CXX=g++ FC=gfortran cmake -S "$here" -B cmake -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 || fail "$(cat cmake.log)"
cmake --build cmake >cmake.log 2>&1 || fail "$(cat cmake.log)"
for program in in_c in_cc in_f90; do
    runs_linked cmake/$program
done

echo "what the manual pages say, word for word"
cmake --install "$build" --prefix "$work/installed" >install.log || fail "$(cat install.log)"
PKG_CONFIG_PATH=${PKG_CONFIG_PATH/"$prefix"/"$work/installed"}
root=$here/../../..
ln -s "$root/examples" examples
cp "$here/program.c" .
for page in openmp ompt; do
    sed -n '/^\.Bd -literal/,/^\.Ed/ { /^\.[BE]d/d; s/^\\&//; p }' "$root/docs/man/medley-$page.7" >told_$page
done
for told in told_openmp:7 told_ompt:4; do
    [ "$(grep -c . "${told%:*}")" -eq "${told#*:}" ] || fail "other commands than expected: $(cat "${told%:*}")"
    bash -e "${told%:*}" >out 2>&1 || fail "${told%:*}: $(cat out)"
done
# The last one was a tool's, of a program that gcc has built and that knows nothing of it: each call
# of fibonacci(2 to 15) made a task.
grep -qx 'regions 4, tasks 986, threads 4' out && [ "$(grep -cE '^thread [0-3]: made [0-9]+ tasks, waited [0-9.]+ ms$' out)" -eq 4 ] ||
    fail "what the tool was told: $(cat out)"
every=$(grep -oE '^    \{"[A-Z_]+"' "$root/src/omp/environment.c" | tr -d ' {"')
[ "$(wc -w <<<"$every")" -gt 20 ] || fail "no variables"
for variable in $every; do
    grep -qE "^\.It Ev $variable\b" "$root"/docs/man/medley{-openmp,}.7 || fail "$variable is in no page"
done
