#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs the packages on this very machine, as it would look then: root is an overlay, where what
# is written lies in memory, in namespaces of its own, and all that is gone afterwards. There
# deb_installed.sh uses and removes them.
#
# MEDLEY_TEST_REAL_ROOT=1: in the machine's own root, for one that is thrown away itself, where no
# namespaces are to be had.
#
# usage: deb_install_test.sh PACKAGES C_COMPILER
set -euo pipefail

not_possible() {
    echo "not possible here: $*"
    exit 77 # skipped, to ctest
}

[ "$(id -u)" -eq 0 ] || not_possible "packages are installed by root, and this is user $(id -u)"
packages=$(cd "$1" && pwd)
cc=$2
here=$(cd "$(dirname "$0")" && pwd)

# put WORK: what deb_installed.sh needs, where it is seen from within.
put() {
    mkdir -p "$1"
    cp -r "$packages"/*.deb "$here/deb_installed.sh" "$here/consumer" "$here/../exports.txt" "$1"
}

# Inside of the namespaces: makes the root, and goes on there.
if [ "${3:-}" = within ]; then
    place=$4
    mount -t tmpfs -o mode=755 medley-test "$place"
    mkdir "$place"/{upper,work,root}
    mount -t overlay -o "lowerdir=/,upperdir=$place/upper,workdir=$place/work" overlay "$place/root" ||
        not_possible "no overlay of the root folder (mount -t overlay)"
    root=$place/root
    [ -x "$root/usr/bin/dpkg" ] || not_possible "the root folder is several mounts: no dpkg in an overlay of it"
    mount -t proc proc "$root/proc" || not_possible "no /proc in a namespace (mount -t proc)"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    [ ! -d /sys/devices ] || mount --rbind /sys "$root/sys"
    put "$root/tmp/deb-test"
    status=0
    chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        bash /tmp/deb-test/deb_installed.sh /tmp/deb-test "$cc" || status=$?
    exit $status
fi

if [ "${MEDLEY_TEST_REAL_ROOT:-}" = 1 ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    put "$work"
    bash "$work/deb_installed.sh" "$work" "$cc"
    exit
fi
unshare --mount --pid --fork true 2>/dev/null ||
    not_possible "no namespaces of one's own (unshare); where the machine may be changed, MEDLEY_TEST_REAL_ROOT=1"
place=$(mktemp -d)
trap 'rmdir "$place"' EXIT
status=0
unshare --mount --pid --fork --kill-child "$0" "$packages" "$cc" within "$place" || status=$?
exit $status
