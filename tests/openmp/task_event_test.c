/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tasks that detach: complete when their lines are executed and their event is fulfilled, whichever
 * comes second, by whatever thread. */
#include <malloc.h>
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "support/unit.h"
#include "visitor.h"

#define THREADS 4
#define ROUNDS 100
#define EVENTS 400

static int thing, other_thing; /* that tasks depend on */

/* ---- What waits for a task ------------------------------------------------------------------- */

static void
detach(visit *v)
{
    omp_event_handle_t event;
#pragma omp task detach(event) firstprivate(v)
    v->lines++;
    v->event = event;
    set(&v->asked);
}

/* How often each of them was through before the event was fulfilled. */
static int
early_in(int how, visit *v)
{
    int early = 0;
    if (how == 0) {
        detach(v);
#pragma omp taskwait
        early = !get(&v->fulfilled) || v->lines != 1;
    } else if (how == 1) {
#pragma omp taskgroup
        detach(v);
        early = !get(&v->fulfilled) || v->lines != 1;
    } else {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(out : thing)
        v->lines++;
        v->event = event;
#pragma omp task depend(in : thing) shared(early)
        early += !get(&v->fulfilled);
        set(&v->asked);
#pragma omp taskwait depend(in : thing)
        bool here = !get(&v->fulfilled);
#pragma omp taskwait
        early += here;
    }
    return early;
}

static void
the_event_is_waited_for(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        visit v = {.lines = 0};
        int early = 0;
        pthread_t thread = 0;
#pragma omp parallel num_threads(1 + round % THREADS)
#pragma omp single
        {
            thread = visitor(&v);
            early = early_in(round % 3, &v);
        }
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(early, 0);
    }
}

static void
barriers_and_regions_wait_for_it(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        visit v[2] = {{.lines = 0}, {.lines = 0}};
        int early = 0;
        pthread_t threads[2];
#pragma omp parallel num_threads(1 + round % THREADS) reduction(+ : early)
        {
#pragma omp single nowait
            {
                threads[0] = visitor(&v[0]);
                detach(&v[0]);
            }
#pragma omp barrier
            early += !get(&v[0].fulfilled);
#pragma omp barrier
#pragma omp single nowait
            {
                threads[1] = visitor(&v[1]);
                detach(&v[1]);
            }
        }
        early += !get(&v[1].fulfilled);
        for (int i = 0; i < 2; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        }
        assert_int_equal(early, 0);
    }
}

static void
who_meets_an_undeferred_task_waits_for_it(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        visit v = {.lines = 0};
        int early = 1;
        pthread_t thread = visitor(&v);
#pragma omp parallel num_threads(1 + round % THREADS)
#pragma omp single
        {
            omp_event_handle_t event;
#pragma omp task detach(event) if (0) shared(v)
            {
                v.event = event;
                set(&v.asked);
            }
            early = !get(&v.fulfilled);
        }
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(early, 0);
    }
}

/* ---- Threads of OpenMP's --------------------------------------------------------------------- */

/* Each in turn, the last one's event by the one before: in a team of one as well. */
static void
tasks_fulfil_each_other(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int done = 0;
#pragma omp parallel num_threads(1 + round % THREADS)
        {
            omp_event_handle_t event;
#pragma omp task detach(event) shared(done)
#pragma omp atomic
            done++;
            for (int i = 1; i < 20; i++) {
                omp_event_handle_t last = event, mine;
#pragma omp task detach(mine) firstprivate(last) shared(done)
                {
#pragma omp atomic
                    done++;
                    omp_fulfill_event(last);
                }
                event = mine;
            }
            omp_fulfill_event(event);
        }
        assert_int_equal(done, 20 * (1 + round % THREADS));
    }
}

/* Half of the events are fulfilled before their tasks are through, half of them behind; what
 * depends on each task is executed once, behind both. */
static void
either_half_may_be_the_second(void **state)
{
    static atomic32 fulfilled[EVENTS];
    static int lines[EVENTS], behind[EVENTS];
    (void)state;
    for (int round = 0; round < 20; round++) {
        int wrong = 0;
        for (int i = 0; i < EVENTS; i++) {
            lines[i] = behind[i] = 0;
            atomic32_store_relaxed(&fulfilled[i], 0);
        }
#pragma omp parallel num_threads(1 + round % THREADS)
#pragma omp single
        for (int i = 0; i < EVENTS; i++) {
            omp_event_handle_t event;
#pragma omp task detach(event) depend(out : lines[i])
            lines[i]++;
#pragma omp task firstprivate(event)
            {
                set(&fulfilled[i]);
                omp_fulfill_event(event);
            }
#pragma omp task depend(in : lines[i]) shared(wrong)
            {
                behind[i]++;
                if (lines[i] != 1 || !get(&fulfilled[i])) {
#pragma omp atomic
                    wrong++;
                }
            }
        }
        assert_int_equal(wrong, 0);
        for (int i = 0; i < EVENTS; i++) {
            assert_int_equal(behind[i], 1);
        }
    }
}

static void *
fulfil_at_once(void *event)
{
    omp_fulfill_event(*(omp_event_handle_t *)event);
    return NULL;
}

enum {
    BY_ITSELF,
    BY_A_VISITOR,
    BESIDE_ITS_OWN, /* one of its children is ready as well, and waited for */
    HOWS,
};

static void
fulfil_and_look_for_tasks(int how, omp_event_handle_t event)
{
    omp_event_handle_t own;
    pthread_t thread;
    if (how == BY_A_VISITOR) {
        assert_int_equal(pthread_create(&thread, NULL, fulfil_at_once, &event), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    } else if (how == BESIDE_ITS_OWN) {
#pragma omp task detach(own) depend(out : other_thing)
        {}
#pragma omp task depend(in : other_thing)
        {
        }
        omp_fulfill_event(own);
    }
    if (how != BY_A_VISITOR) {
        omp_fulfill_event(event);
    }
#pragma omp taskyield
#pragma omp taskwait
}

/* The tied task that finds it ready while it waits is none of its ancestors. */
static void
what_depends_on_it_begins_in_no_stranger(void **state)
{
    (void)state;
    for (int how = 0; how < HOWS; how++) {
        bool is_within = false, was_within = true;
        int behind = 0;
#pragma omp parallel num_threads(1)
        {
            omp_event_handle_t event;
#pragma omp task detach(event) depend(out : thing)
            {}
#pragma omp task depend(in : thing) shared(is_within, was_within, behind)
            {
                was_within = is_within;
                behind++;
            }
#pragma omp task shared(is_within) firstprivate(event, how)
            {
                is_within = true;
                fulfil_and_look_for_tasks(how, event);
                is_within = false;
            }
        }
        assert_int_equal(behind, 1);
        assert_false(was_within);
    }
}

/* As a visitor of the outer team. */
static void
a_member_of_an_inner_team_fulfils(void **state)
{
    (void)state;
    omp_set_max_active_levels(2);
    for (int round = 0; round < ROUNDS; round++) {
        int done = 0, behind = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
        {
            omp_event_handle_t event;
#pragma omp task detach(event) depend(out : done) shared(done)
            done = 1;
#pragma omp task depend(in : done) shared(done, behind)
            behind = done;
#pragma omp parallel num_threads(2)
#pragma omp single
            omp_fulfill_event(event);
        }
        assert_int_equal(behind, 1);
    }
}

/* Whose region the event holds up ends, with its team, as soon as it is fulfilled. */
static void *
lead(void *context)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    detach(context);
    return NULL;
}

static void
the_team_may_end_at_once(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        visit v = {.lines = 0};
        pthread_t leader;
        pthread_t thread = visitor(&v);
        assert_int_equal(pthread_create(&leader, NULL, lead, &v), 0);
        assert_int_equal(pthread_join(leader, NULL), 0);
        assert_int_equal(get(&v.fulfilled), 1);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
}

/* Who would fulfil it is never executed. */
static void
a_cancelled_task_has_no_event(void **state)
{
    int started = 0;
    (void)state;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    {
        for (int i = 0; i < 50; i++) {
            omp_event_handle_t event;
#pragma omp task detach(event) depend(in : thing) shared(started)
            {
#pragma omp atomic
                started++;
                omp_fulfill_event(event);
            }
            if (i == 0) {
#pragma omp task depend(out : thing)
                {
#pragma omp cancel taskgroup
                }
            }
        }
    }
    assert_in_range(started, 0, 1); /* the first one may have been quicker */
}

#ifndef __clang__
/* One without an event: as C++ has it, by gcc's name. The copy is made with the task, and destroyed
 * by its lines. */
void GOMP_task(void (*entry)(void *),
               void *data,
               void (*copy)(void *, void *),
               long size,
               long align,
               bool deferred,
               unsigned flags,
               void **depend,
               int priority,
               void *detach);

static int copies;

static void
copy_one(void *to, void *from)
{
    *(int *)to = *(int *)from;
#pragma omp atomic
    copies++;
}

static void
destroy_one(void *data)
{
#pragma omp atomic
    copies -= *(int *)data;
}

static void
what_was_copied_is_destroyed(void **state)
{
    (void)state;
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    {
        int one = 1;
        for (int i = 0; i < 500; i++) {
            GOMP_task(destroy_one, &one, copy_one, sizeof one, sizeof one, true, 0, NULL, 0, NULL);
        }
#pragma omp task if (0)
        {
#pragma omp cancel taskgroup
        }
    }
    assert_int_equal(copies, 0);
}
#endif

/* ---- A thread that ends ---------------------------------------------------------------------- */

static void *
name_and_end(void *argument)
{
    int place = 0;
    omp_event_handle_t event;
    (void)argument;
#pragma omp task detach(event) depend(out : place) shared(place)
    {
        place = 1;
        omp_fulfill_event(event);
    }
#pragma omp taskwait depend(in : place)
    return place == 1 ? argument : NULL;
}

static size_t
kept_bytes_after(int threads)
{
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        void *same;
        assert_int_equal(pthread_create(&thread, NULL, name_and_end, &threads), 0);
        assert_int_equal(pthread_join(thread, &same), 0);
        assert_ptr_equal(same, &threads);
    }
    return mallinfo2().uordblks;
}

/* What its tasks have named, outside of regions, ends with it. */
static void
nothing_is_kept_of_a_thread_that_ends(void **state)
{
    (void)state;
    size_t before = kept_bytes_after(10);
    assert_in_range(kept_bytes_after(100), 0, before + 10000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_kept_of_a_thread_that_ends),
        cmocka_unit_test(the_event_is_waited_for),
        cmocka_unit_test(barriers_and_regions_wait_for_it),
        cmocka_unit_test(who_meets_an_undeferred_task_waits_for_it),
        cmocka_unit_test(tasks_fulfil_each_other),
        cmocka_unit_test(either_half_may_be_the_second),
        cmocka_unit_test(what_depends_on_it_begins_in_no_stranger),
        cmocka_unit_test(a_member_of_an_inner_team_fulfils),
        cmocka_unit_test(the_team_may_end_at_once),
        cmocka_unit_test(a_cancelled_task_has_no_event),
#ifndef __clang__
        cmocka_unit_test(what_was_copied_is_destroyed),
#endif
    };
    /* Read at the first region. */
    if (setenv("OMP_CANCELLATION", "true", 1) != 0) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
