/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A child that works until it is killed, at whatever instruction, and what it says of its work in
 * memory that survives it.
 */
#ifndef MEDLEY_TESTS_SUPPORT_VICTIM_H
#define MEDLEY_TESTS_SUPPORT_VICTIM_H

#include "base/atomic.h"
#include "support/process.h"
#include "support/unit.h"

/* Written relaxed: the parent reads when the kernel has told it of the death. */
typedef struct victim_diary {
    atomic32 begun; /* the number of the element it is about to pass, plus one */
    atomic32 done;  /* of the last that it passed, plus one */
} victim_diary;

typedef struct victim {
    void (*work)(struct victim *me); /* does not return, but when it cannot work */
    void *ring;
    uint32_t owner;
    victim_diary *diary;
    test_process process;
} victim;

static inline victim_diary *
victim_diary_new(void)
{
    return (victim_diary *)process_shared_memory(sizeof(victim_diary));
}

/* One that nobody kills, because a test failed, ends itself some time. */
#define VICTIM_SECONDS 60

static inline int
victim_run(test_process *parent, void *argument)
{
    victim *me = (victim *)argument;
    (void)parent;
    (void)alarm(VICTIM_SECONDS);
    me->work(me);
    return 1;
}

static inline void
victim_start(victim *v)
{
    process_start(&v->process, victim_run, v);
}

static inline void
victim_kill(victim *v)
{
    process_kill(&v->process);
    assert_int_equal(process_join(&v->process), -SIGKILL);
}

#endif
