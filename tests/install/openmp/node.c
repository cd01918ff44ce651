/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that uses OpenMP and MRAPI, both of Medley, in a named system. It runs the command that
 * it is given, which looks at that, while there is a team of three threads. */
#include <mrapi.h>
#include <omp.h>
#include <stdlib.h>

int
main(int count, char **words)
{
    int came = 0;
    mrapi_info_t info;
    mrapi_status_t status;
    mrapi_initialize(1, 7, 0, &info, &status);
#pragma omp parallel num_threads(3) reduction(+ : came)
    came++;
    return status != MRAPI_SUCCESS || came != 3 || count != 2 || system(words[1]) != 0;
}
