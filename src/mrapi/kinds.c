/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The table of kinds: for each, how long its rows are, and what is called when a row is removed or
 * its holder dies.
 */
#include "mrapi/kinds.h"

#include "mrapi/domain.h"
#include "mrapi/mutex.h"
#include "mrapi/node.h"
#include "mrapi/rmem.h"
#include "mrapi/rwl.h"
#include "mrapi/sem.h"
#include "mrapi/shmem.h"

MED_PORT_OPTIONAL void med_mutex_row_removed(const med_table_view *view, med_row *row);
MED_PORT_OPTIONAL med_recover_rows med_mutex_recover_rows;
MED_PORT_OPTIONAL void med_rmem_attachment_removed(const med_table_view *view, med_row *row);
MED_PORT_OPTIONAL med_recover_rows med_rmem_attachment_recover_rows;
MED_PORT_OPTIONAL med_recover_rows med_rmem_recover_rows;
MED_PORT_OPTIONAL uint32_t med_shmem_row_bytes(const med_limits *limits);
MED_PORT_OPTIONAL void med_shmem_row_removed(const med_table_view *view, med_row *row);
MED_PORT_OPTIONAL med_recover_rows med_shmem_recover_rows;
MED_PORT_OPTIONAL uint32_t med_sem_row_bytes(const med_limits *limits);
MED_PORT_OPTIONAL void med_sem_row_removed(const med_table_view *view, med_row *row);
MED_PORT_OPTIONAL med_recover_rows med_sem_recover_rows;
MED_PORT_OPTIONAL uint32_t med_rwl_row_bytes(const med_limits *limits);
MED_PORT_OPTIONAL void med_rwl_row_removed(const med_table_view *view, med_row *row);
MED_PORT_OPTIONAL med_recover_rows med_rwl_recover_rows;
/* Of a floor above: these names are all that this one knows of it. */
MED_PORT_OPTIONAL uint32_t med_endpoint_row_bytes(const med_limits *limits);
MED_PORT_OPTIONAL med_recover_rows med_endpoint_recover_rows;
MED_PORT_OPTIONAL uint32_t med_lane_row_bytes(const med_limits *limits);
MED_PORT_OPTIONAL med_recover_rows med_lane_recover_rows;

static uint32_t
domain_row_bytes(const med_limits *limits)
{
    (void)limits;
    return sizeof(med_domain_row);
}

static uint32_t
mutex_row_bytes(const med_limits *limits)
{
    (void)limits;
    return sizeof(med_mutex_row);
}

static uint32_t
rmem_row_bytes(const med_limits *limits)
{
    (void)limits;
    return sizeof(med_rmem_row);
}

static uint32_t
rmem_attachment_row_bytes(const med_limits *limits)
{
    (void)limits;
    return sizeof(med_rmem_attachment_row);
}

const med_kind_info med_kinds[MED_KIND_COUNT] = {
    [MED_KIND_DOMAIN] = {MED_LIMIT_DOMAINS, domain_row_bytes, NULL, NULL},
    [MED_KIND_NODE] = {MED_LIMIT_NODES, med_node_row_bytes, NULL, NULL},
    [MED_KIND_MUTEX] = {MED_LIMIT_MUTEXES, mutex_row_bytes, med_mutex_row_removed,
                        med_mutex_recover_rows},
    [MED_KIND_RMEM_ATTACHMENT] = {MED_LIMIT_RMEM_ATTACHMENTS, rmem_attachment_row_bytes,
                                  med_rmem_attachment_removed, med_rmem_attachment_recover_rows},
    [MED_KIND_RMEM] = {MED_LIMIT_RMEMS, rmem_row_bytes, NULL, med_rmem_recover_rows},
    [MED_KIND_SHMEM] = {MED_LIMIT_SHMEMS, med_shmem_row_bytes, med_shmem_row_removed,
                        med_shmem_recover_rows},
    [MED_KIND_SEM] = {MED_LIMIT_SEMAPHORES, med_sem_row_bytes, med_sem_row_removed,
                      med_sem_recover_rows},
    [MED_KIND_RWL] = {MED_LIMIT_RWLOCKS, med_rwl_row_bytes, med_rwl_row_removed,
                      med_rwl_recover_rows},
    [MED_KIND_ENDPOINT] = {MED_LIMIT_ENDPOINTS, med_endpoint_row_bytes, NULL,
                           med_endpoint_recover_rows},
    [MED_KIND_LANE] = {MED_LIMIT_LANES, med_lane_row_bytes, NULL, med_lane_recover_rows},
};

uint32_t
med_kind_touch_first(const med_limits *limits, med_kind kind)
{
    uint32_t words = 0;
    for (uint32_t k = 0; k < (uint32_t)kind; k++) {
        if (med_kinds[k].recover_rows) {
            uint32_t bits = med_kind_rows(limits, (med_kind)k) + MED_ROWS_PER_TOUCH - 1;
            words += (bits / MED_ROWS_PER_TOUCH + 31) / 32;
        }
    }
    return words;
}
