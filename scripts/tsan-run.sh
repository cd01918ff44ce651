#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Starts a program that was built with TSan. Kernels that scatter mappings over more bits than TSan
# reckons with must not do so for it; where nobody may ask them for that, they may not need it.
#
# usage: scripts/tsan-run.sh PROGRAM ARGUMENT...
if setarch -R true 2>/dev/null; then
    exec setarch -R "$@"
fi
exec "$@"
