/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The arena of a program that brings none of its own: then this file is not linked. */
#include "port/bare/bare.h"

_Alignas(64) unsigned char med_bare_arena[MED_BARE_ARENA_BYTES];
const size_t med_bare_arena_bytes = sizeof med_bare_arena;
