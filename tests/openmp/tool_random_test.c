/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Random programs before a tool that watches them (watch.h): regions in regions, loops of every
 * schedule, sections, singles, locks, tasks with and without dependences, groups, cancellation
 * (where OMP_CANCELLATION allows that). What the tool is told must be so of each. */
#include <assert.h>
#include <omp.h>

#include "openmp/watch.h"
#include "support/random.h"
#include "support/unit.h"

#define PROGRAMS 60
#define CONSTRUCTS 5
#define LEVELS 3
#define ITERATIONS 40

static omp_lock_t lock;
static omp_nest_lock_t nest;
static int in_critical, in_named, in_lock, done;

static void
count_up(void)
{
#pragma omp atomic
    done++;
}

/* ---- Constructs that all members of a team meet ---------------------------------------------- */

static void
loop(uint32_t kind)
{
    switch (kind % 6) {
    case 0:
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < ITERATIONS; i++) {
            count_up();
        }
        break;
    case 1:
#pragma omp for schedule(guided) nowait
        for (int i = 0; i < ITERATIONS; i++) {
            count_up();
        }
        break;
    case 2:
#pragma omp for schedule(static, 2)
        for (int i = 0; i < ITERATIONS; i++) {
            count_up();
        }
        break;
    case 3:
#pragma omp for schedule(dynamic, 1) ordered
        for (int i = 0; i < ITERATIONS; i++) {
#pragma omp ordered
            count_up();
        }
        break;
    case 4:
#pragma omp for schedule(runtime) reduction(+ : done)
        for (int i = 0; i < ITERATIONS; i++) {
            done++;
        }
        break;
    default:
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < ITERATIONS; i++) {
            if (i == ITERATIONS / 2) {
#pragma omp cancel for
            }
#pragma omp cancellation point for
            count_up();
        }
    }
}

static void
sections(void)
{
#pragma omp sections
    {
#pragma omp section
        count_up();
#pragma omp section
        count_up();
#pragma omp section
        count_up();
    }
}

static void
singles(uint32_t kind)
{
    int given = 0;
    if (kind % 3 == 0) {
#pragma omp single copyprivate(given)
        given = 1;
        for (int i = 0; i < given; i++) {
            count_up();
        }
    } else if (kind % 3 == 1) {
#pragma omp single nowait
        count_up();
    } else {
#pragma omp single
        count_up();
    }
}

static void
exclusion(uint32_t kind)
{
    if (kind % 4 == 0) {
#pragma omp critical
        in_critical++;
    } else if (kind % 4 == 1) {
#pragma omp critical(named)
        in_named++;
    } else if (kind % 4 == 2) {
        omp_set_lock(&lock);
        in_lock++;
        omp_unset_lock(&lock);
        if (omp_test_lock(&lock)) {
            omp_unset_lock(&lock);
        }
    } else {
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        if (omp_test_nest_lock(&nest)) {
            omp_unset_nest_lock(&nest);
        }
        omp_unset_nest_lock(&nest);
    }
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static void tree(uint64_t seed, int depth);

/* One after the other; and waited for with all, or by what it depends on alone. */
static void
chain(bool waits_for_one)
{
    int first = 0, second = 0;
#pragma omp task depend(out : first) shared(first)
    first++;
    if (waits_for_one) {
#pragma omp taskwait depend(in : first)
        second += first;
        return;
    }
#pragma omp task depend(in : first) depend(inout : second) shared(first, second)
    second += first;
#pragma omp taskwait
}

static void
group(uint64_t seed, int depth, bool is_cancelled)
{
#pragma omp taskgroup
    {
#pragma omp task
        tree(seed, depth);
        if (is_cancelled) {
#pragma omp task
            {
#pragma omp cancel taskgroup
            }
#pragma omp task
            tree(seed, depth);
        }
    }
}

static void
untied(uint64_t seed, int depth)
{
#pragma omp task untied
    {
        tree(seed, depth);
#pragma omp taskyield
        count_up();
    }
}

static void
tree(uint64_t seed, int depth)
{
    test_random random = {.state = seed};
    count_up();
    for (uint32_t i = random_below(&random, 4); depth > 0 && i > 0; i--) {
        uint64_t next = seed * 5 + i;
        uint32_t kind = random_below(&random, 9);
        if (kind == 0) {
#pragma omp task
            tree(next, depth - 1);
        } else if (kind == 1) {
#pragma omp task if (0)
            tree(next, depth - 1);
        } else if (kind == 2) {
#pragma omp task final(1) mergeable
            tree(next, depth - 1);
        } else if (kind <= 4) {
            chain(kind == 3);
        } else if (kind <= 6) {
            group(next, depth - 1, kind == 5);
        } else if (kind == 7) {
            untied(next, depth - 1);
        } else {
#pragma omp taskloop grainsize(7)
            for (int at = 0; at < ITERATIONS; at++) {
                count_up();
            }
#pragma omp taskyield
        }
    }
    if (random_below(&random, 2)) {
#pragma omp taskwait
    }
}

static void
tasks(uint64_t seed, bool by_all)
{
    if (by_all) {
        tree(seed + (uint64_t)omp_get_thread_num(), 3);
    } else {
#pragma omp master
        tree(seed, 3);
    }
}

/* ---- Programs -------------------------------------------------------------------------------- */

static void regions(test_random *random, int level);

static void
lines(test_random random, int level)
{
    for (int i = 0; i < CONSTRUCTS; i++) {
        uint32_t kind = random_word(&random);
        switch (random_below(&random, 8)) {
        case 0:
        case 1:
            loop(kind);
            break;
        case 2:
            sections();
            break;
        case 3:
            singles(kind);
            break;
        case 4:
            exclusion(kind);
            break;
        case 5:
            tasks(kind, kind % 2);
            break;
        case 6: {
#pragma omp barrier
        } break;
        default:
            if (level < LEVELS) {
                regions(&random, level + 1);
            }
        }
    }
}

/* The sum and the largest of what some members have. */
static void
reduce(int threads)
{
    int sum = 0, most = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum) reduction(max : most)
    {
        sum += 1;
        most = omp_get_thread_num();
    }
    assert(most == sum - 1);
}

static void
league(test_random inner, int threads)
{
#pragma omp teams num_teams(2) thread_limit(3)
#pragma omp parallel num_threads(threads)
    lines(inner, LEVELS);
}

static void
regions(test_random *random, int level)
{
    int threads = 1 + (int)random_below(random, 4 - (uint32_t)level);
    const test_random inner = {.state = random_word(random)};
    switch (random_below(random, 6)) {
    case 0:
        reduce(threads);
        break;
    case 1:
        if (level == 1) {
            league(inner, threads);
        }
        break;
    case 2:
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int i = 0; i < ITERATIONS; i++) {
            count_up();
        }
        break;
    case 3:
#pragma omp parallel num_threads(threads)
    {
        lines(inner, level);
        if (omp_get_thread_num() == 0) {
#pragma omp cancel parallel
        }
#pragma omp cancellation point parallel
    } break;
    default:
#pragma omp parallel num_threads(threads)
        lines(inner, level);
    }
}

static void
all_that_is_told_is_so(void **state)
{
    (void)state;
    omp_set_max_active_levels(LEVELS);
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    for (int i = 0; i < PROGRAMS && WATCH_READ(wrong) == 0; i++) {
        test_random random = test_random_of((uint64_t)i);
        regions(&random, 1);
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    assert_int_equal(WATCH_READ(wrong), 0);
    assert_true(WATCH_READ(made) > 0 && WATCH_READ(works) > 0 && WATCH_READ(acquired) > 0);
    assert_int_equal(WATCH_READ(made), WATCH_READ(over) + WATCH_READ(discarded));
    assert_int_equal(watch_state(NULL), ompt_state_work_serial);
    if (omp_get_cancellation()) {
        assert_true(WATCH_READ(cancels) > 0 && WATCH_READ(discarded) > 0);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_that_is_told_is_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
