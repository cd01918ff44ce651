/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the faces have in common: names that programs call, and no other file of Medley does. */
#ifndef MEDLEY_OMP_FACE_H
#define MEDLEY_OMP_FACE_H

/* Seen from outside the library; declared by compilers, or their omp.h, and nowhere here. */
#define FACE                                                                                       \
    _Pragma("GCC diagnostic ignored \"-Wmissing-prototypes\"")                                     \
        __attribute__((visibility("default")))

#endif
