/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Recordings of a trace in which somebody is in the middle of a record: he may have lost his
 * processor, or died. */
#include "tools/medley/recording.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "mrapi/system.h"
#include "mrapi/traced.h"
#include "mrapi/view.h"
#include "support/node.h"
#include "support/system.h"
#include "support/unit.h"

#define EVENTS 100000u
#define MANY 1000u
#define STOPPED 777u /* what one says who was stopped */

static med_system *here;
static uint32_t self; /* the node that lives */

static void
says(uint32_t what)
{
    med_trace_event(&here->trace, self, MED_TRACED_MARK, what, 0);
}

static med_trace_lane *
lane(void)
{
    return &here->trace.lanes[self & here->trace.lane_mask];
}

/* As a writer does who is stopped with his number: he has claimed nothing yet. */
static uint32_t
begin(void)
{
    return atomic32_fetch_add_relaxed(&lane()->next, 2) & ~1u;
}

static void
finish(uint32_t sequence)
{
    uint32_t first = (self & here->trace.lane_mask) * (here->trace.record_mask + 1);
    med_trace_slot *slot = &here->trace.slots[first + (sequence >> 1 & here->trace.record_mask)];
    atomic32_store_relaxed(&slot->event, MED_TRACED_MARK);
    atomic32_store_relaxed(&slot->words[0], STOPPED);
    atomic32_store_release(&slot->sequence, sequence + 1);
}

static size_t
count(const recording *r, uint32_t what)
{
    size_t found = 0;
    for (size_t i = 0; i < r->count; i++) {
        found +=
            MED_TRACED_EVENT_OF(r->rows[i].event) == MED_TRACED_MARK && r->rows[i].words[0] == what;
    }
    return found;
}

static recording
begun(void)
{
    recording r;
    assert_true(recording_begin(&r, here, EVENTS));
    assert_true(recording_look(&r));
    return r;
}

static int
enter(void **state)
{
    (void)state;
    test_system_prepare();
    (void)setenv("MEDLEY_TRACE", "2", 1); /* the smallest there is */
    if (initialize(1) != MRAPI_SUCCESS) {
        return 1;
    }
    here = med_system_retain_named();
    uint32_t domain, number;
    bool is_there = here && med_view_node_name(here, 0, &self, &domain, &number);
    return !is_there;
}

static int
leave(void **state)
{
    (void)state;
    med_system_release(here);
    return finalize() != MRAPI_SUCCESS;
}

/* However often one looks meanwhile. */
static void
who_was_stopped_is_waited_for(void **state)
{
    recording r = begun();
    uint32_t his = begin();
    (void)state;
    says(1);
    for (int i = 0; i < 10; i++) {
        assert_true(recording_look(&r));
    }
    finish(his);
    says(2);
    recording_end(&r);
    assert_int_equal(r.lost, 0);
    assert_int_equal(count(&r, STOPPED), 1);
    assert_int_equal(count(&r, 1), 1);
    assert_int_equal(count(&r, 2), 1);
    recording_forget(&r);
}

static void *
finish_late(void *sequence)
{
    (void)sched_yield();
    finish(*(uint32_t *)sequence);
    return NULL;
}

/* So is who is at it when the recording ends. */
static void
at_the_end_too(void **state)
{
    recording r = begun();
    uint32_t his = begin();
    pthread_t writer;
    (void)state;
    assert_int_equal(pthread_create(&writer, NULL, finish_late, &his), 0);
    recording_end(&r);
    assert_int_equal(pthread_join(writer, NULL), 0);
    assert_int_equal(r.lost, 0);
    assert_true(count(&r, STOPPED) >= 1);
    recording_forget(&r);
}

/* He is passed over before the others' are overwritten. */
static void
as_long_as_there_is_room(void **state)
{
    recording r = begun();
    uint32_t records = here->trace.record_mask + 1;
    (void)state;
    (void)begin();
    for (uint32_t i = 1; i < 4 * records; i++) {
        says(MANY + i);
        assert_true(recording_look(&r));
    }
    recording_end(&r);
    assert_int_equal(r.lost, 1);
    for (uint32_t i = 1; i < 4 * records; i++) {
        assert_int_equal(count(&r, MANY + i), 1);
    }
    recording_forget(&r);
}

/* Where nobody lives who could finish it, the end waits for nobody: what lies behind is there. */
static void
who_died_is_passed_over(void **state)
{
    recording r = begun();
    (void)state;
    (void)begin();
    says(3);
    r.node_count = 0; /* nobody whom it knows of */
    recording_end(&r);
    assert_int_equal(r.lost, 1);
    assert_int_equal(count(&r, 3), 1);
    recording_forget(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_was_stopped_is_waited_for),
        cmocka_unit_test(at_the_end_too),
        cmocka_unit_test(as_long_as_there_is_room),
        cmocka_unit_test(who_died_is_passed_over),
    };
    return cmocka_run_group_tests_name("recording_stopped", tests, enter, leave);
}
