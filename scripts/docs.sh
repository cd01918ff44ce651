#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes pages of the interfaces (include) and of the documents, by Doxygen: FOLDER/html/index.html.
# A warning is an error. FOLDER/functions.xml lists what is among them, for tests.
#
# usage: scripts/docs.sh FOLDER
set -euo pipefail
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
rm -rf "$folder/html"
{
    cat docs/Doxyfile
    echo "OUTPUT_DIRECTORY = \"$folder\""
    echo "GENERATE_TAGFILE = \"$folder/functions.xml\""
} | doxygen -
