/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that uses OpenMP and MRAPI, both of Medley: there is one Medley in it, so what OpenMP
 * started are nodes that MRAPI knows. In a named system. */
#include <mrapi.h>
#include <omp.h>
#include <stdio.h>

int
main(void)
{
    int nodes = 0;
    mrapi_info_t info;
    mrapi_status_t status;
    mrapi_initialize(1, 7, 0, &info, &status);
    if (status != MRAPI_SUCCESS) {
        return 2;
    }
#pragma omp parallel num_threads(3) reduction(+ : nodes)
    {
        mrapi_status_t mine;
        (void)mrapi_node_id_get(&mine);
        nodes += mine == MRAPI_SUCCESS;
    }
    mrapi_finalize(&status);
    (void)printf("%d nodes\n", nodes);
    return nodes != 3;
}
