/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the processor refuses of a run: an address that is none, a jump to no code. The run fails;
 * the simulator goes on. Its own crashes, outside of a run, end it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "engine.h"

#define STACK_BYTES (1u << 16) /* of the handler: a fiber's own may be what is at fault */

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};

static uintptr_t
where(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
#error "no program counter for this processor"
#endif
}

/* A run is left by a switch of stacks, and no signal is blocked meanwhile. */
static void
on_signal(int number, siginfo_t *info, void *context)
{
    char what[128];
    if (!sim.current) {
        (void)signal(number, SIG_DFL);
        return;
    }
    (void)snprintf(what, sizeof what, "%s at %p", strsignal(number), info->si_addr);
    sim_fail(SIM_CRASH, what, where(context), 0);
}

bool
sim_crashes_begin(void)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    stack_t stack = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};
    bool good = stack.ss_sp && sigaltstack(&stack, NULL) == 0;
    for (size_t i = 0; good && i < sizeof signals / sizeof signals[0]; i++) {
        good = sigaction(signals[i], &action, NULL) == 0;
    }
    return good;
}
