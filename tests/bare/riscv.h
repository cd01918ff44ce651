/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the files of the bare RISC-V image share. */
#ifndef MEDLEY_TESTS_BARE_RISCV_H
#define MEDLEY_TESTS_BARE_RISCV_H

#include "mrapi.h"
#include "port/conformance.h"
#include "port/port.h"
#include "port/riscv_virt/virt.h"

#define DOMAIN 7
/* So many words of remote memory each hart reads at a time. */
#define STRIDES 4u

extern const med_port_check base_checks[];
extern const uint32_t base_check_count;
extern const med_port_check interrupt_checks[];
extern const uint32_t interrupt_check_count;
/* MRAPI's and MCAPI's, through the public calls, in this order: the first make main() a node, the
 * last end it. */
extern const med_port_check node_checks[];
extern const uint32_t node_check_count;
extern const med_port_check lock_checks[];
extern const uint32_t lock_check_count;
extern const med_port_check call_checks[];
extern const uint32_t call_check_count;
extern const med_port_check exchange_checks[];
extern const uint32_t exchange_check_count;
extern const med_port_check mcapi_checks[];
extern const uint32_t mcapi_check_count;
extern const med_port_check channel_checks[];
extern const uint32_t channel_check_count;
extern const med_port_check memory_checks[];
extern const uint32_t memory_check_count;

uint32_t hart_count(void);
/* Runs `body` on every hart, this one included, with a pointer to the hart's number as seen from
 * here. False: it did not run on all. */
bool run_everywhere(void *(*body)(void *));

/* The calling hart becomes a node. As all checks: NULL, or the condition that did not hold. */
const char *initialize(mrapi_node_t node);
/* What `start` starts is the body of on_nodes last called. */
mrapi_status_t start(mrapi_node_t node);
/* Runs `body` as a node on each of the first `count` harts; this one is node 0. A body returns as a
 * check does; the first that did not hold is returned. */
const char *on_nodes(uint32_t count, const char *(*body)(mrapi_node_t self));

#endif
