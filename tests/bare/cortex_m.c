/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The Cortex-M image, for QEMU's board MPS2 with a Cortex-M4, which also runs what was built for
 * Cortex-M0+: MRAPI on a single core, and an interrupt handler beside it. Prints a line per check;
 * the emulation ends with the number of those that failed.
 */
#include "beside_handler.h"
#include "mcapi.h"
#include "medley/medley.h"
#include "port/bare/bare.h"
#include "port/conformance.h"
#include "port/cortex_m/board.h"
#include "port/port.h"
#include "support/request_end.h"

#define DOMAIN 1
#define NODE 1

/* The library's has no room for an exchange beside the rest. */
_Alignas(64) unsigned char med_bare_arena[28 << 10];
const size_t med_bare_arena_bytes = sizeof med_bare_arena;

/* ---- The board ------------------------------------------------------------------------------- */

/* Timer 0 of MPS2: counts down from its reload value at the core's clock, and interrupts. */
#define TIMER ((volatile uint32_t *)0x40000000)
#define TIMER_CONTROL 0
#define TIMER_CONTROL_RUN 9u
#define TIMER_RELOAD 2
#define TIMER_CLEAR 3
#define TIMER_INTERRUPT 8u
#define TIMER_CYCLES 2500u
#define INTERRUPT_ENABLE ((volatile uint32_t *)0xe000e100)

#define SEMIHOSTING_EXIT_EXTENDED 0x20u
#define SEMIHOSTING_APPLICATION_EXIT 0x20026u

static _Noreturn void
power_off(uint32_t result)
{
    const uint32_t block[2] = {SEMIHOSTING_APPLICATION_EXIT, result};
    register uint32_t operation __asm__("r0") = SEMIHOSTING_EXIT_EXTENDED;
    register const uint32_t *argument __asm__("r1") = block;
    for (;;) {
        __asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
    }
}

/* ---- Beside a handler ------------------------------------------------------------------------ */

#define INTERRUPTS 300u

static volatile uint32_t interrupts;
static med_port_doorbell bell;

void
med_cortex_m_interrupt(uint32_t number)
{
    if (number == TIMER_INTERRUPT && interrupts < INTERRUPTS) {
        interrupts = interrupts + 1;
        change_all();
        (void)med_port_doorbell_ring(bell);
    }
    TIMER[TIMER_CLEAR] = 1;
}

static const char *
handler_takes_nothing_away(void)
{
    uint32_t changes = 0;
    if (med_port_doorbell_create(&bell) != MEDLEY_OK) {
        return "a doorbell is made";
    }
    TIMER[TIMER_RELOAD] = TIMER_CYCLES;
    TIMER[TIMER_CONTROL] = TIMER_CONTROL_RUN;
    *INTERRUPT_ENABLE = 1u << TIMER_INTERRUPT;
    while (interrupts < INTERRUPTS / 2) {
        change_all();
        changes++;
    }
    uint64_t rung = 0;
    while (interrupts < INTERRUPTS) {
        if (med_port_doorbell_wait(bell, MED_PORT_FOREVER, &rung) != MEDLEY_OK || rung == 0) {
            return "the handler wakes main()";
        }
    }
    changes += INTERRUPTS;
    return changed_all(changes) ? NULL : "no change is lost";
}

static const char *
no_eight_bytes(void)
{
    static uint64_t eight;
    mrapi_status_t status;
    (void)mrapi_atomic_add(&eight, sizeof eight, 1, &status);
    return status == MRAPI_ERR_NOT_SUPPORTED ? NULL : "they are not supported";
}

/* ---- One node -------------------------------------------------------------------------------- */

/* Often enough that lost memory would be missed. */
static const char *
comes_and_goes(void)
{
    mrapi_status_t status;
    mrapi_info_t info;
    for (int i = 0; i < 100; i++) {
        mrapi_initialize(DOMAIN, NODE, 0, &info, &status);
        if (status != MRAPI_SUCCESS) {
            return "main() becomes a node";
        }
        (void)mrapi_sem_create(1, NULL, 1, &status);
        mrapi_finalize(&status);
        if (status != MRAPI_SUCCESS) {
            return "and leaves";
        }
    }
    mrapi_initialize(DOMAIN, NODE, 0, &info, &status);
    return status == MRAPI_SUCCESS ? NULL : "the last time too";
}

static void *
never(void *argument)
{
    return argument;
}

static const char *
no_other_thread(void)
{
    mrapi_status_t status;
    mrapi_thread_parameters_t parameters = {.start_routine = never};
    mrapi_thread_create(DOMAIN, NODE + 1, &parameters, &status);
    return status == MRAPI_ERR_NOT_SUPPORTED ? NULL : "there is no core for it";
}

static const char *
mutex_wants_its_key(void)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_hndl_t mutex = mrapi_mutex_create(1, NULL, &status);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    if (status != MRAPI_SUCCESS || mrapi_mutex_trylock(mutex, &key, &status)) {
        return "it is had once";
    }
    mrapi_key_t wrong = key + 1;
    mrapi_mutex_unlock(mutex, &wrong, &status);
    if (status != MRAPI_ERR_MUTEX_KEY) {
        return "a wrong key opens nothing";
    }
    mrapi_mutex_unlock(mutex, &key, &status);
    if (status != MRAPI_SUCCESS) {
        return "the key does";
    }
    mrapi_mutex_delete(mutex, &status);
    return status == MRAPI_SUCCESS ? NULL : "it is deleted";
}

static const char *
wait_ends_at_its_time(void)
{
    mrapi_status_t status;
    mrapi_sem_hndl_t sem = mrapi_sem_create(1, NULL, 1, &status);
    mrapi_sem_lock(sem, MRAPI_TIMEOUT_INFINITE, &status);
    uint64_t begun_ns = medley_clock_ns();
    mrapi_sem_lock(sem, 5000, &status);
    if (status != MRAPI_TIMEOUT || medley_clock_ns() - begun_ns < 5000000) {
        return "after its time, and not before";
    }
    mrapi_sem_unlock(sem, &status);
    mrapi_sem_delete(sem, &status);
    return status == MRAPI_SUCCESS ? NULL : "the semaphore is deleted";
}

static const char *
sends_itself_messages(mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    mcapi_status_t status;
    size_t size;
    char sent[200] = "by a buffer", received[sizeof sent];
    for (size_t i = 0; i < 300; i++) {
        size_t length = i % 2 ? sizeof sent : 24;
        mcapi_msg_send(from, to, sent, length, 0, &status);
        mcapi_msg_recv(to, received, sizeof received, &size, &status);
        if (status != MCAPI_SUCCESS || size != length || __builtin_memcmp(sent, received, size)) {
            return "a message comes whole";
        }
    }
    return NULL;
}

static const char *
sends_itself_scalars(mcapi_endpoint_t from, mcapi_endpoint_t to)
{
    mcapi_status_t status;
    mcapi_request_t connect, open_from, open_to;
    mcapi_sclchan_send_hndl_t sender;
    mcapi_sclchan_recv_hndl_t receiver;
    mcapi_sclchan_connect_i(from, to, &connect, &status);
    mcapi_sclchan_send_open_i(&sender, from, &open_from, &status);
    mcapi_sclchan_recv_open_i(&receiver, to, &open_to, &status);
    if (!ends_well(connect) || !ends_well(open_from) || !ends_well(open_to)) {
        return "a channel is opened";
    }
    for (uint32_t i = 0; i < 300; i++) {
        mcapi_sclchan_send_uint32(sender, i, &status);
        if (mcapi_sclchan_recv_uint32(receiver, &status) != i || status != MCAPI_SUCCESS) {
            return "a scalar comes";
        }
    }
    return NULL;
}

/* A quarter of the buffers and more, from each of three, to endpoints that take none and are
 * deleted: those of the first two are found when the third lacks some. */
static const char *
nothing_is_lost_with_its_receiver(void)
{
    mcapi_status_t status;
    static const char sent[200];
    mcapi_endpoint_t from[3];
    for (mcapi_port_t port = 0; port < 3; port++) {
        from[port] = mcapi_endpoint_create(4 + port, &status);
    }
    for (uint32_t i = 0; i < 30; i++) {
        mcapi_endpoint_t to = mcapi_endpoint_create(3, &status);
        for (uint32_t many = 0; many < 3 && status == MCAPI_SUCCESS; many++) {
            mcapi_msg_send(from[i % 3], to, sent, sizeof sent, 0, &status);
        }
        if (status != MCAPI_SUCCESS) {
            return "there is a lane, and buffers";
        }
        mcapi_endpoint_delete(to, &status);
        if (status != MCAPI_SUCCESS) {
            return "the receiver is deleted";
        }
    }
    return NULL;
}

static const char *
sends_itself(void)
{
    mcapi_status_t status;
    mcapi_info_t info;
    mcapi_initialize(DOMAIN, NODE, NULL, NULL, &info, &status);
    if (status != MCAPI_SUCCESS) {
        return "the node takes part";
    }
    mcapi_endpoint_t from = mcapi_endpoint_create(1, &status);
    mcapi_endpoint_t to = mcapi_endpoint_create(2, &status);
    const char *broken = sends_itself_messages(from, to);
    broken = broken ? broken : sends_itself_scalars(from, to);
    broken = broken ? broken : nothing_is_lost_with_its_receiver();
    mcapi_finalize(&status);
    return broken || status == MCAPI_SUCCESS ? broken : "it takes part no more";
}

static const char *
limit_is_the_image_s(void)
{
    mrapi_status_t status;
    for (mrapi_mutex_id_t i = 0; i < 8; i++) {
        (void)mrapi_mutex_create(i, NULL, &status);
        if (status != MRAPI_SUCCESS) {
            return "there are eight mutexes";
        }
    }
    (void)mrapi_mutex_create(8, NULL, &status);
    return status == MRAPI_ERR_MUTEX_LIMIT ? NULL : "and no ninth";
}

static const med_port_check checks[] = {
    {"handler takes nothing away", handler_takes_nothing_away},
    {"no atomic operations on eight bytes", no_eight_bytes},
    {"node comes and goes", comes_and_goes},
    {"no other thread", no_other_thread},
    {"mutex wants its key", mutex_wants_its_key},
    {"wait ends at its time", wait_ends_at_its_time},
    {"node sends itself messages and scalars", sends_itself},
    {"and again, where it took part before", sends_itself},
    {"limit is the image's", limit_is_the_image_s},
};

int main(void);

int
main(void)
{
    uint32_t failures = 0;
    for (uint32_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        const char *broken = checks[i].run();
        med_port_log(checks[i].name);
        med_port_log(broken ? "  FAILED; does not hold:" : "  ok");
        if (broken) {
            med_port_log(broken);
            failures++;
        }
    }
    med_port_log(failures ? "bare_cortex_m: failed" : "bare_cortex_m: passed");
    power_off(failures);
}
