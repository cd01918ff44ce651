/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What stands around the declarations of every public header: C linkage, and visible outside. */
#ifndef MEDLEY_DECLS_H
#define MEDLEY_DECLS_H

#ifdef __cplusplus
#define MEDLEY_DECLS_BEGIN                                                                         \
    extern "C" {                                                                                   \
    _Pragma("GCC visibility push(default)")
#define MEDLEY_DECLS_END                                                                           \
    _Pragma("GCC visibility pop")                                                                  \
    }
#else
#define MEDLEY_DECLS_BEGIN _Pragma("GCC visibility push(default)")
#define MEDLEY_DECLS_END _Pragma("GCC visibility pop")
#endif

#endif
