#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What Debian expects of a package's files, where CMake has installed them: stripped, pages
# compressed, changelog and copyright beside them. And what control files CPack does not make, or
# not well: dependencies, and what the library tells the packages of programs that use it.
# cmake/MedleyDebFinish.cmake calls it.
#
# usage: deb-finish.sh STAGE CONTROL VERSION SOVERSION
#   STAGE     has a folder for each component
#   CONTROL   gets COMPONENT.depends for each, and the library's symbols, shlibs and triggers
set -euo pipefail
umask 022
stage=$1
control=$2
version=$3
library=libmedley$4
root=$(cd "$(dirname "$0")/.." && pwd)

fail() {
    echo "deb-finish: $*" >&2
    exit 1
}

# package_of COMPONENT
package_of() {
    [ "$1" = libmedley ] && echo "$library" || echo "$1"
}

# elf_files FOLDER: programs and shared libraries, one a line.
elf_files() {
    find "$1" -type f ! -name '*.a' -size +3c -print0 |
        while IFS= read -r -d '' file; do
            [ "$(head -c 4 "$file" | tr -d '\0')" != $'\x7fELF' ] || printf '%s\n' "$file"
        done
}

strip_files() { # FOLDER
    elf_files "$1" | xargs -r -d '\n' strip --strip-unneeded --remove-section=.comment
    find "$1" -type f -name '*.a' -print0 |
        xargs -r -0 strip --strip-debug --enable-deterministic-archives --remove-section=.comment
}

# A page that leads to another is a link to it: once compressed, that is no longer named as it says.
compress_pages() { # FOLDER
    local page target
    find "$1" -path '*/share/man/*' -type f -print0 |
        while IFS= read -r -d '' page; do
            target=$(sed -n '1s/^\.so man[0-9]*\///p' "$page")
            if [ -n "$target" ]; then
                ln -s "$target.gz" "$page.gz"
                rm "$page"
            else
                gzip -9n "$page"
            fi
        done
}

add_papers() { # FOLDER PACKAGE
    local papers=$1/usr/share/doc/$2 overrides=$root/cmake/deb/$2.lintian-overrides
    mkdir -p "$papers"
    cp "$root/cmake/deb/copyright" "$papers/copyright"
    gzip -9nc changelog >"$papers/changelog.gz"
    overrides=${overrides/$library./libmedley.}
    if [ -f "$overrides" ]; then
        mkdir -p "$1/usr/share/lintian/overrides"
        cp "$overrides" "$1/usr/share/lintian/overrides/$2"
    fi
    chmod -R u=rwX,go=rX,g-s "$1"
}

# What the packages of programs that use the library depend on: the version in which what they call
# came, abi/libmedley.symbols; for what only Medley's own packages call, this very one. A name that
# is gone since the last release makes it fail.
describe_library() {
    {
        echo "libmedley.so.${library#libmedley} $library #MINVER#"
        echo "| $library (= $version)"
        echo "* Build-Depends-Package: libmedley-dev"
        echo " (symver)MEDLEY_INNER $version 1"
        grep -v '^#' "$root/abi/libmedley.symbols"
    } >template
    dpkg-gensymbols -q -c1 "-p$library" "-v$version" "-P$stage/libmedley" -Itemplate "-O$control/symbols" ||
        fail "the library lacks what abi/libmedley.symbols lists; a new SOVERSION would be due"
    echo "libmedley ${library#libmedley} $library (>= $version)" >"$control/shlibs"
    echo "activate-noawait ldconfig" >"$control/triggers"
}

# find_dependencies FOLDER
find_dependencies() {
    local files
    mapfile -t files < <(elf_files "$1")
    [ ${#files[@]} -gt 0 ] || return 0
    dpkg-shlibdeps -O -Lshlibs.local "-l$(dirname "$(find "$stage/libmedley" -name 'libmedley.so.*' -print -quit)")" \
        "${files[@]}" >found 2>errors || fail "$(cat errors)"
    sed 's/^shlibs:Depends=//' found
}

rm -rf "$control"
mkdir -p "$control/making/debian"
cd "$control/making"
sed '/^#/d' "$root/cmake/deb/changelog" >changelog # such a one has no comments
first=$(dpkg-parsechangelog -l changelog -S Version)
[ "$first" = "$version" ] || fail "cmake/deb/changelog begins with $first, and this is $version"
printf 'Source: medley\n\nPackage: %s\nArchitecture: any\n' "$library" >debian/control
echo "libmedley ${library#libmedley} $library (= $version)" >shlibs.local
for folder in "$stage"/*/; do
    component=$(basename "$folder")
    folder=${folder%/}
    strip_files "$folder"
    compress_pages "$folder"
    add_papers "$folder" "$(package_of "$component")"
done
describe_library
for folder in "$stage"/*/; do
    find_dependencies "${folder%/}" >"$control/$(basename "$folder").depends"
done
