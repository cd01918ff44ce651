/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who goes where that found a member he waits for on his own processor, on a machine that is not
 * here. */
#include "omp/apart.h"

#include <string.h>

#include "omp/team.h"
#include "support/unit.h"

#define MEMBERS 4u
#define PROCESSORS 4u
#define OFTEN 5000u /* more than anybody's patience */

/* ---- The machine ----------------------------------------------------------------------------- */

atomic32 med_quota_now;

static uint32_t running;
static uint32_t here;
static bool bind_refused;
static uint32_t binds;      /* to one processor, */
static uint32_t bound_to;   /* the last one; */
static uint32_t bound_back; /* and to so many */

uint32_t __wrap_med_port_threads_running(void);
uint32_t
__wrap_med_port_threads_running(void)
{
    return running;
}

medley_status_t __wrap_med_port_processors_discover(med_port_processors *processors);
medley_status_t
__wrap_med_port_processors_discover(med_port_processors *processors)
{
    *processors = (med_port_processors){.online = PROCESSORS, .allowed = PROCESSORS};
    return MEDLEY_OK;
}

void __wrap_med_port_processors_allowed(med_processor_set *allowed);
void
__wrap_med_port_processors_allowed(med_processor_set *allowed)
{
    *allowed = (med_processor_set){{(1u << PROCESSORS) - 1}};
}

uint32_t __wrap_med_port_processor_here(void);
uint32_t
__wrap_med_port_processor_here(void)
{
    return here;
}

medley_status_t __wrap_med_port_thread_bind(const med_processor_set *processors);
medley_status_t
__wrap_med_port_thread_bind(const med_processor_set *processors)
{
    if (bind_refused) {
        return MEDLEY_ERR_ARGUMENT;
    }
    uint32_t count = med_processor_set_count(processors);
    if (count == 1) {
        binds++;
        bound_to = med_processor_set_next(processors, 0);
    } else {
        bound_back = count;
    }
    return MEDLEY_OK;
}

/* ---- The team -------------------------------------------------------------------------------- */

static union {
    med_barrier barrier;
    unsigned char bytes[sizeof(med_barrier) + 2 * MEMBERS * sizeof(med_barrier_line)];
} memory;
static med_team team;
static med_member member;

/* Member 1 of a team of so many, who ran where the list says. */
static void
begin(uint32_t members, const uint32_t *ran_on)
{
    assert_true(med_barrier_size(members, NULL) <= sizeof memory);
    med_barrier_init(&memory.barrier, members, NULL, MED_PORT_SCOPE_PROCESS);
    for (uint32_t i = 0; i < members; i++) {
        atomic32_store_relaxed(&memory.barrier.lines[i].processor, ran_on[i]);
    }
    team = (med_team){.size = members};
    member = (med_member){.team = &team, .number = 1, .barrier = &memory.barrier};
    atomic32_store_relaxed(&med_quota_now, PROCESSORS);
    running = members;
    here = ran_on[1];
    bind_refused = false;
    binds = bound_back = 0;
}

static void
share(uint32_t often)
{
    for (uint32_t i = 0; i < often; i++) {
        med_apart_again(&member);
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static const uint32_t both_on_2[] = {2, 2};

static void
goes_where_nobody_is(void **state)
{
    (void)state;
    begin(4, (const uint32_t[]){2, 2, 0, 1});
    share(OFTEN);
    assert_true(binds > 0);
    assert_int_equal(bound_to, 3);
    assert_int_equal(bound_back, PROCESSORS);
}

/* Once would be by chance; and in vain it is tried ever less often. */
static void
has_patience(void **state)
{
    uint32_t least = 0;
    (void)state;
    begin(2, both_on_2);
    while (binds == 0) {
        share(1);
        least++;
    }
    assert_true(least > 8);
    uint32_t more = 0;
    while (binds == 1) {
        share(1);
        more++;
    }
    assert_true(more > least);
    share(1000000);
    assert_true(binds < 1000);
    assert_true(binds > 100);
}

static void
who_leads_stays(void **state)
{
    (void)state;
    begin(2, both_on_2);
    member.number = 0;
    share(OFTEN);
    assert_int_equal(binds, 0);
}

static void
who_is_bound_stays(void **state)
{
    (void)state;
    begin(2, both_on_2);
    member.bound = 1;
    share(OFTEN);
    assert_int_equal(binds, 0);
}

static void
a_crowd_stays(void **state)
{
    (void)state;
    begin(2, both_on_2);
    atomic32_store_relaxed(&med_quota_now, 1);
    share(OFTEN);
    assert_int_equal(binds, 0);
}

/* Somebody else runs where one would go, or may: it is not known who. */
static void
stays_on_a_busy_machine(void **state)
{
    (void)state;
    begin(2, both_on_2);
    running = PROCESSORS + 1;
    share(OFTEN);
    assert_int_equal(binds, 0);
    running = 0; /* it cannot be told */
    share(OFTEN);
    assert_int_equal(binds, 0);
    running = PROCESSORS;
    share(OFTEN);
    assert_true(binds > 0);
}

static void
nowhere_to_go(void **state)
{
    (void)state;
    begin(4, (const uint32_t[]){0, 1, 2, 3});
    share(OFTEN);
    assert_int_equal(binds, 0);
}

static void
a_refusal_is_none_of_its_business(void **state)
{
    (void)state;
    begin(2, both_on_2);
    bind_refused = true;
    share(OFTEN);
    assert_int_equal(binds + bound_back, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_where_nobody_is), cmocka_unit_test(has_patience),
        cmocka_unit_test(who_leads_stays),      cmocka_unit_test(who_is_bound_stays),
        cmocka_unit_test(a_crowd_stays),        cmocka_unit_test(stays_on_a_busy_machine),
        cmocka_unit_test(nowhere_to_go),        cmocka_unit_test(a_refusal_is_none_of_its_business),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
