#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs a build into PREFIX, and notes there what it laid down: with the list in PREFIX itself it
# can be removed from any tree, whatever was built or installed elsewhere since. DESTDIR is
# honoured.
#
# usage: install.sh BUILD PREFIX       installs
#        install.sh --remove PREFIX    removes what is listed, and folders that it made and that are
#                                      empty
set -euo pipefail
prefix=$(realpath -ms "$2")
prefix=${prefix%/}
top=${DESTDIR:-}$prefix
list=$top/share/medley/installed.txt

# folders: all that are in PREFIX, and those above it, sorted; a slash at the end of each.
folders() {
    local path=$prefix
    {
        while [ -n "$path" ]; do
            [ ! -d "${DESTDIR:-}$path" ] || echo "$path/"
            path=${path%/*}
        done
        [ ! -d "$top" ] || find "$top" -mindepth 1 -type d | while IFS= read -r path; do
            echo "${path#"${DESTDIR:-}"}/"
        done
    } | LC_ALL=C sort
}

# The loader has to learn of a library in its folders; one under DESTDIR is not for this machine.
tell_loader() {
    [ -n "${DESTDIR:-}" ] || [ "$(id -u)" -ne 0 ] || ldconfig
}

install_build() { # BUILD
    local before
    before=$(folders)
    cmake --install "$1" --prefix "$prefix"
    # What an earlier version has laid down stays listed.
    mkdir -p "${list%/*}"
    touch "$list"
    {
        cat "$list"
        tr '\n' '\0' <"$1/install_manifest.txt" | xargs -0 realpath -ms # of bin/../share
        echo "$prefix/share/medley/installed.txt"
        LC_ALL=C comm -13 <(echo "$before") <(folders)
    } | LC_ALL=C sort -u | grep . >"$list.new"
    mv "$list.new" "$list"
    tell_loader
}

remove_all() {
    if [ ! -f "$list" ]; then
        echo "make uninstall: nothing of make install is in $top: no $list" >&2
        exit 1
    fi
    local path count=0 listed
    # From the deepest to the highest; the list goes last, so that it can be done again.
    listed=$(LC_ALL=C sort -r "$list")
    while IFS= read -r path; do
        case $path in
        */../* | */.. | "") continue ;;
        "$prefix"/*[!/])
            [ "${DESTDIR:-}$path" = "$list" ] || { rm -f -- "${DESTDIR:-}$path" && count=$((count + 1)); } ;;
        esac
    done <<<"$listed"
    rm -f -- "$list"
    while IFS= read -r path; do
        case $path in
        */../*) ;;
        */) rmdir -- "${DESTDIR:-}$path" 2>/dev/null || true ;; # what others have put there stays
        esac
    done <<<"$listed"
    tell_loader
    echo "removed $count files from $top"
}

case $1 in
--remove) remove_all ;;
*) install_build "$1" ;;
esac
