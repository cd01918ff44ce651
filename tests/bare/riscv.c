/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The bare RISC-V image: the port's conformance checks, then base, then MRAPI and MCAPI, across
 * harts. Prints a line per check; the emulation ends with the number of those that failed.
 */
#include "riscv.h"

static uint32_t failures;

static void
report(const char *name, const char *broken)
{
    med_virt_console_write(broken ? "FAILED  " : "ok      ");
    med_virt_console_write(name);
    if (broken) {
        med_virt_console_write(": does not hold: ");
        med_virt_console_write(broken);
        failures++;
    }
    med_virt_console_write("\n");
}

static void
run(const med_port_check *checks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        report(checks[i].name, checks[i].run());
    }
}

uint32_t
hart_count(void)
{
    med_port_processors processors;
    (void)med_port_processors_discover(&processors);
    return processors.online;
}

bool
run_everywhere(void *(*body)(void *))
{
    static uint32_t numbers[MED_BARE_CORES_MAX];
    med_port_thread threads[MED_BARE_CORES_MAX];
    bool started = true;
    uint32_t count = hart_count();
    for (uint32_t i = 1; i < count; i++) {
        numbers[i] = i;
        started &= med_port_thread_start(&threads[i], NULL, body, &numbers[i]) == MEDLEY_OK;
    }
    if (!started) {
        return false;
    }
    (void)body(&numbers[0]);
    for (uint32_t i = 1; i < count; i++) {
        started &= med_port_thread_join(threads[i], NULL) == MEDLEY_OK;
    }
    return started;
}

int
main(void)
{
    run(med_port_checks, med_port_check_count);
    run(base_checks, base_check_count);
    run(interrupt_checks, interrupt_check_count);
    run(node_checks, node_check_count);
    run(lock_checks, lock_check_count);
    run(call_checks, call_check_count);
    run(exchange_checks, exchange_check_count);
    run(mcapi_checks, mcapi_check_count);
    run(channel_checks, channel_check_count);
    run(memory_checks, memory_check_count);
    report("four harts", hart_count() >= 4 ? NULL : "at least four harts are there");
    med_port_log(failures ? "bare_riscv: failed" : "bare_riscv: passed");
    return (int)failures;
}
