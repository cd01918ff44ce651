/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the faces have in common: names that programs call, and no other file of Medley does. */
#ifndef MEDLEY_OMP_FACE_H
#define MEDLEY_OMP_FACE_H

/* Seen from outside the library; declared by compilers, or their omp.h, and nowhere here. */
#define FACE                                                                                       \
    _Pragma("GCC diagnostic ignored \"-Wmissing-prototypes\"")                                     \
        __attribute__((visibility("default")))

/* A function that programs which are linked with LLVM's library look for under a version of their
 * own; and the same for its second name, of Fortran. Some have a third one there. Weak: else the
 * linker takes two names of one address for one. */
#ifdef MED_OMP_VERSIONS
#define LLVM_AS(name, theirs)                                                                      \
    __asm__(".weak llvm_" #theirs "\n.set llvm_" #theirs ", " #name "\n.symver llvm_" #theirs      \
            ", " #theirs "@VERSION");
#define LLVM(name) LLVM_AS(name, name)
/* It is another function than by its plain name, which in a static program has its place. */
#define LLVM_IS(name, theirs) LLVM_AS(name, theirs)
#else /* linked statically, where no name has a version */
#define LLVM_AS(name, theirs) __asm__(".globl " #theirs "\n.set " #theirs ", " #name);
#define LLVM(name)
#define LLVM_IS(name, theirs)
#endif
#define LLVM_BOTH(name) LLVM(name) LLVM(name##_)

#endif
