/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A peer that writes random words over a system while others work in it. Everybody gets errors;
 * nobody crashes, nobody waits for ever: each process here dies by its alarm if it does, and the
 * test fails.
 */
#ifndef MEDLEY_TESTS_HOSTILE_SCRIBBLE_H
#define MEDLEY_TESTS_HOSTILE_SCRIBBLE_H

#include <fcntl.h>
#include <sys/wait.h>

#include "base/atomic.h"
#include "hostile.h"
#include "support/process.h"
#include "support/random.h"

#define SCRIBBLE_WORKERS 3

/* What a test brings. Each round has new workers, processes that come, do so many operations, and
 * leave or end without a word. */
typedef struct scribble_test {
    uint32_t rounds;
    uint32_t operations;
    void (*come)(uint32_t worker);
    void (*work)(test_random *random); /* one operation */
    void (*leave)(void);
    /* The tester's: before and after each round, and now and then while they work. */
    void (*begin)(uint32_t round);
    void (*scribble)(test_random *random);
    void (*end)(void);
} scribble_test;

/* Four bytes somewhere: noise, a small number, a bit changed, or what stands somewhere else. */
static inline void
scribble_word(atomic32 *words, uint32_t count, test_random *random)
{
    uint32_t at = random_below(random, count);
    uint32_t word = atomic32_load_relaxed(&words[at]);
    switch (random_below(random, 4)) {
    case 0:
        word = random_below(random, 0x7fffffffu) << 1 | random_below(random, 2);
        break;
    case 1:
        word = random_below(random, 70);
        break;
    case 2:
        word ^= 1u << random_below(random, 32);
        break;
    default:
        word = atomic32_load_relaxed(&words[random_below(random, count)]);
        break;
    }
    atomic32_store_relaxed(&words[at], word);
}

typedef struct scribble_worker {
    const scribble_test *test;
    uint32_t round;
    uint32_t number;
} scribble_worker;

static inline int
scribble_worker_body(test_process *parent, void *argument)
{
    const scribble_worker *worker = argument;
    test_random random = test_random_of((uint64_t)worker->round << 8 | worker->number);
    (void)alarm(STUCK_AFTER_S);
    (void)signal(SIGSEGV, SIG_DFL); /* the test framework's handlers are the tester's */
    (void)signal(SIGBUS, SIG_DFL);
    (void)signal(SIGFPE, SIG_DFL);
    worker->test->come(worker->number);
    process_say(parent, 'u');
    (void)process_hear(parent);
    for (uint32_t i = 0; i < worker->test->operations; i++) {
        worker->test->work(&random);
    }
    process_say(parent, 'd');
    if (process_hear(parent) == 'f') {
        worker->test->leave();
    }
    exit(0);
}

/* Until all of them have done their work. */
static inline void
scribble_until_done(const scribble_test *test, const test_process *workers, uint32_t round)
{
    test_random random = test_random_of(~(uint64_t)round);
    for (uint32_t done = 0; done < SCRIBBLE_WORKERS; done++) {
        (void)fcntl(workers[done].in, F_SETFL, O_NONBLOCK);
        while (process_hear(&workers[done]) != 'd') {
            int status;
            if (waitpid(workers[done].pid, &status, WNOHANG) != 0) {
                fail_msg("worker %u ended with %#x in round %u", done, (unsigned)status, round);
            }
            test->scribble(&random);
            med_port_delay_ns(20000);
        }
        (void)fcntl(workers[done].in, F_SETFL, 0);
    }
}

static inline void
scribble_round(const scribble_test *test, uint32_t round)
{
    test_process workers[SCRIBBLE_WORKERS];
    for (uint32_t i = 0; i < SCRIBBLE_WORKERS; i++) {
        scribble_worker worker = {.test = test, .round = round, .number = i};
        process_start(&workers[i], scribble_worker_body, &worker);
        assert_int_equal(process_hear(&workers[i]), 'u');
    }
    test->begin(round);
    for (uint32_t i = 0; i < SCRIBBLE_WORKERS; i++) {
        process_say(&workers[i], 'w');
    }
    scribble_until_done(test, workers, round);
    for (uint32_t i = 0; i < SCRIBBLE_WORKERS; i++) {
        process_say(&workers[i], i % 2 ? 'f' : 'e');
        assert_int_equal(process_join(&workers[i]), 0);
    }
    test->end();
    /* Nobody lives in it: whatever is left is no obstacle. */
    assert_int_equal(medley_system_open(test_system_name()), MEDLEY_OK);
    assert_int_equal(medley_system_close(), MEDLEY_OK);
}

static inline void
scribble_run(const scribble_test *test)
{
    for (uint32_t round = 0; round < test->rounds; round++) {
        scribble_round(test, round);
    }
}

#endif
