/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C library's header, for compilers that come without a library. */
#ifndef MEDLEY_PORT_BARE_ASSERT_H
#define MEDLEY_PORT_BARE_ASSERT_H

#define static_assert _Static_assert

#endif

/* As in the C library, each inclusion decides anew. */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())
#endif
