#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what a job needs and the machine lacks (Debian 12; sudo when not root).
#
# usage: scripts/setup.sh JOB...
#   build   compilers, CMake, what the library and the tools are made with
#   deb     build, what Debian packages are made with
#   demo    build, a photograph, LLVM's OpenMP library
#   test    build, cmocka, Spin, the compilers for bare metal and their emulators,
#           gfortran, clang and its OpenMP, matplotlib, docs, what the documents use, what
#           checks packages and what the libraries export
#   cross   the compilers and emulator of make test-cross, and cmocka's source package
#   bench   build, the peers the benchmarks measure beside, the compiler for Cortex-M, matplotlib
#   matrix  build, Python and its SimPy
#   suites  build, the source of gcc's OpenMP library, its other compilers
#   docs    what make docs makes pages with
#   check   formatter, linter, fuzzer, sanitizers
set -euo pipefail
cd "$(dirname "$0")/.."

packages() {
    case $1 in
    build) echo gcc g++ libc6-dev make cmake ninja-build pkg-config libhwloc-dev libjansson-dev
           echo libyaml-dev libncurses-dev libpng-dev libturbojpeg0-dev ;;
    deb) packages build
         echo dpkg-dev ;;
    demo) packages build
          echo python-matplotlib-data libomp5-16 ;;
    test) packages deb
          echo lintian abigail-tools babeltrace2
          echo libhwloc-plugins git libcmocka-dev spin python3 python3-pyte python3-simpy binutils groff-base strace
          echo gcc-riscv64-unknown-elf gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-misc
          echo qemu-system-arm gfortran clang-16 libomp-16-dev jq libzmq3-dev python3-matplotlib
          packages docs ;;
    docs) echo doxygen python3 ;;
    cross) packages build
           echo qemu-user dpkg-dev gcc-aarch64-linux-gnu gcc-riscv64-linux-gnu gcc-powerpc64-linux-gnu
           echo libc6-dev-arm64-cross libc6-dev-riscv64-cross libc6-dev-ppc64-cross ;;
    bench) packages build
           echo libboost-dev libck-dev dpdk-dev libnng-dev libzmq3-dev libopenmpi-dev openmpi-bin libomp5-16
           echo python3-matplotlib gcc-arm-none-eabi libnewlib-arm-none-eabi ;;
    matrix) packages build
            echo python3 python3-simpy ;;
    suites) packages build
            echo gfortran gcc-12-source python3 ;;
    check) packages test
           echo clang-14 clang-tidy-14 clang-format-14 libclang-rt-16-dev ;;
    *) echo "setup.sh: unknown job '$1' (build, deb, demo, test, cross, bench, matrix, suites, docs, check)" >&2; exit 2 ;;
    esac
}

install_packages() {
    local missing=() package
    if ! command -v dpkg-query >/dev/null; then
        echo "setup: not a Debian; what it would install must be there: $*" >&2
        return
    fi
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    local sudo=()
    if [ "$(id -u)" -ne 0 ]; then
        sudo=(sudo)
        if ! command -v sudo >/dev/null; then
            echo "setup: there is no sudo; as root: apt-get install ${missing[*]}" >&2
            exit 1
        fi
    fi
    echo "setup: installing ${missing[*]}"
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# The distribution has no cmocka for foreign processors: take its source package. It is found
# through a copy of the machine's own package sources, so that nothing of the machine's set-up
# changes.
fetch_cmocka_source() {
    local target=build/sources state
    [ -f $target/cmocka/src/cmocka.c ] && return
    mkdir -p $target && cd $target
    state=$PWD/apt
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    { sed -n 's/^deb /deb-src /p' /etc/apt/sources.list 2>/dev/null || true; } >"$state/from.list"
    if [ -s "$state/from.list" ]; then
        mv "$state/from.list" "$state/src.list"
    else
        sed 's/^Types:.*/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$state/src.sources"
    fi
    local options=(-o "Dir::Etc::sourcelist=$(ls "$state"/src.*)" -o Dir::Etc::sourceparts=/dev/null
                   -o "Dir::State::lists=$state/lists" -o "Dir::Cache=$state/cache" -o APT::Sandbox::User=root -qq)
    apt-get "${options[@]}" update
    apt-get "${options[@]}" source cmocka
    rm -rf cmocka && mv cmocka-*/ cmocka
    cd ../..
}

all=()
for job in "$@"; do
    # shellcheck disable=SC2207
    all+=($(packages "$job"))
done
install_packages "${all[@]}"
for job in "$@"; do
    [ "$job" != cross ] || fetch_cmocka_source
done
