/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* taken NODE: a stage of examples/pipeline that takes its first note, and is killed. */
#include <signal.h>
#include <stdlib.h>

#include "stage.h"

int
main(int count, char **arguments)
{
    note n;
    stage_begin("taken", count == 2 ? (unsigned)atoi(arguments[1]) : 0);
    while (!stage_receive(&n, 1000)) {
    }
    raise(SIGKILL);
    return 1;
}
