/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A process apart, for what one may not survive: a child of fork that writes to its parent. What it
 * dies of, or takes too long for, ends it alone.
 */
#ifndef MEDLEY_MODULES_CHILD_H
#define MEDLEY_MODULES_CHILD_H

#include <sys/types.h>

#define CHILD_LOST (-1000)
#define CHILD_PATIENCE_S 20u /* the pages of mrapi_resources_get(3) and medley-info(1) say so */

/* As fork: 0 in the child, where `fd` is what to write to, and its number in the parent, where it
 * is what to read from; -1: none, errno says why. After so many seconds SIGALRM ends the child. */
pid_t child_begin(int *fd, unsigned patience_s);

/* In the parent: closes `fd`, of which a child that still writes dies, and returns the child's exit
 * status; below 0: the number of the signal it died of, negated; or CHILD_LOST: somebody else has
 * taken it. */
int child_end(pid_t pid, int fd);

#endif
