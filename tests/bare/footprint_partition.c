/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a partition takes in an image that says nothing. It is the same for every processor, so any
 * may tell. */
#include <stdio.h>

#include "mrapi/partition.h"
#include "mrapi/process.h"

int
main(void)
{
    const med_limits *limits = &med_limits_built_in;
    med_layout layout;
    if (med_layout_compute(limits, &layout) != MEDLEY_OK) {
        return 1;
    }
    (void)printf("%-28s %8s %8s %8s\n", "partition", "rows", "of bytes", "table");
    (void)printf("%-28s %8u %8zu %8u\n", "header and processes", limits->processes,
                 sizeof(med_process_row), layout.tables[0]);
    for (uint32_t k = 0; k < MED_KIND_COUNT; k++) {
        uint32_t rows = med_kind_rows(limits, (med_kind)k);
        (void)printf("%-28s %8u %8u %8zu\n", med_limit_infos[med_kinds[k].limit].name, rows,
                     layout.row_bytes[k], med_table_size(rows, layout.row_bytes[k]));
    }
    return 0;
}
