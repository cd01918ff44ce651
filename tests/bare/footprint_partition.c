/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The size of a partition, which is the same for every processor: so any may tell. */
#include <stdio.h>
#include <stdlib.h>

#include "mrapi/partition.h"

int
main(int argc, char **argv)
{
    med_layout layout;
    if (argc != 9) {
        (void)fprintf(stderr, "usage: footprint_partition DOMAINS PROCESSES NODES MUTEXES SHMEMS "
                              "SEMAPHORES RWLOCKS SHARERS\n");
        return 2;
    }
    med_limits limits = {.domains = (uint32_t)strtoul(argv[1], NULL, 10),
                         .processes = (uint32_t)strtoul(argv[2], NULL, 10),
                         .nodes = (uint32_t)strtoul(argv[3], NULL, 10),
                         .mutexes = (uint32_t)strtoul(argv[4], NULL, 10),
                         .rmem_attachments = 1, /* the fewest, of what is not asked for */
                         .rmems = 1,
                         .shmems = (uint32_t)strtoul(argv[5], NULL, 10),
                         .semaphores = (uint32_t)strtoul(argv[6], NULL, 10),
                         .rwlocks = (uint32_t)strtoul(argv[7], NULL, 10),
                         .sharers = (uint32_t)strtoul(argv[8], NULL, 10)};
    if (!med_limits_valid(&limits) || med_layout_compute(&limits, &layout) != MEDLEY_OK) {
        return 1;
    }
    (void)printf("%u\n", layout.size_bytes);
    return 0;
}
