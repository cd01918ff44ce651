/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Teams of OpenMP: all members execute a region, and what each did is seen behind it and behind its
 * barriers; one executes a single; each iteration of a loop is executed once, in an ordered one in
 * the order of the iterations, however far a member runs ahead of the others.
 *
 * Actors: threads of one process, which lead teams of threads that the library starts.
 */
#include "omp/cancel.h"
#include "omp/schedule/site.h"
#include "omp/team.h"
#include "omp/work.h"
#include "omp_tasks.h"

#define MEMBERS 3u
#define MEMBERS_MOST 5u /* of teams in groups */
#define REGIONS 4u
#define ITERATIONS 7u
#define LOOPS (MED_TEAM_WORKS + 2)
#define ROBBED 17u
#define UNEVEN 40u
#define COPIES 2u

/* All plain: what orders them is under test. */
typedef struct shared {
    uint32_t round;
    uint32_t size;
    uint32_t came[MEMBERS_MOST];
    uint32_t singles;
    uint32_t done[LOOPS][ITERATIONS];
    uint32_t robbed[UNEVEN];
    uint64_t last;
    uint32_t cancels; /* who, */
    uint32_t cancels_too;
    uint32_t at_barrier;
    uint32_t cancelled; /* the round */
    uint32_t before;    /* so many things are given before somebody cancels */
    uint32_t given[MEMBERS_MOST];
} shared;

static void
begin(const sim_actor *director)
{
    (void)director;
}

/* ---- Regions, barriers, single --------------------------------------------------------------- */

static void
all_came(const shared *s)
{
    for (uint32_t i = 0; i < s->size; i++) {
        SIM_CHECK(s->came[i] == s->round);
    }
}

static void
region(void *data)
{
    shared *s = data;
    med_member *member = med_member_get();
    SIM_CHECK(member->team->size == s->size && member->number < s->size);
    s->came[member->number] = s->round;
    if (med_team_single(member)) {
        s->singles++;
    }
    med_team_barrier(member);
    all_came(s);
    SIM_CHECK(s->singles == s->round);
}

static void
regions(shared *s, uint32_t most)
{
    med_member *leader = med_member_get();
    for (s->round = 1; s->round <= REGIONS; s->round++) {
        s->size = 1 + sim_random(most);
        med_team_run(leader, s->size, region, s);
        SIM_CHECK(med_member_get() == leader);
        all_came(s);
    }
}

static void
act_team(const sim_actor *actor)
{
    regions((shared *)actor->memory + actor->index, MEMBERS);
}

static void
act_team_in_groups(const sim_actor *actor)
{
    regions(actor->memory, MEMBERS_MOST);
}

/* Of five the fifth is alone in his group, and in the one above that. */
static const sim_variable in_groups[] = {{"MEDLEY_TEAM_GROUPS", "2,2"}, {NULL, NULL}};

const sim_scenario sim_omp_team_in_groups = {
    .name = "omp_team_in_groups",
    .covers = "barrier",
    .memory_bytes = sizeof(shared),
    .actors = 1,
    .waits_forever = true,
    .begin = begin,
    .act = act_team_in_groups,
    .environment = in_groups,
};

/* ---- Loops ----------------------------------------------------------------------------------- */

static const med_schedule *
some_schedule(uint32_t loop)
{
    static const med_schedule *const schedules[] = {&med_schedule_dynamic, &med_schedule_guided,
                                                    &med_schedule_static, &med_schedule_steal};
    return schedules[loop % 4];
}

/* Nobody waits for the others between two of them. */
static void
loops(void *data)
{
    shared *s = data;
    med_member *member = med_member_get();
    const med_bounds bounds = {.step = 1};
    for (uint32_t i = 0; i < LOOPS; i++) {
        const med_loop loop = {.count = ITERATIONS, .chunk = i % 2, .schedule = some_schedule(i)};
        med_span span;
        med_work_begin(member, &loop, &bounds);
        while (med_work_next(member, &span)) {
            for (uint64_t at = span.first; at < span.end; at++) {
                s->done[i][at]++;
            }
        }
        med_work_end(member);
    }
}

static void
act_loops(const sim_actor *actor)
{
    shared *s = (shared *)actor->memory + actor->index;
    for (uint32_t round = 1; round <= 2; round++) {
        med_team_run(med_member_get(), MEMBERS, loops, s);
        for (uint32_t i = 0; i < LOOPS * ITERATIONS; i++) {
            SIM_CHECK(s->done[i / ITERATIONS][i % ITERATIONS] == round);
        }
    }
}

/* One member's part is much more work than it has time for: it comes late. */
static void
robbed(void *data)
{
    shared *s = data;
    med_member *member = med_member_get();
    const med_loop loop = {.count = ROBBED, .chunk = s->size, .schedule = &med_schedule_steal};
    const med_bounds bounds = {.step = 1};
    med_span span;
    med_work_begin(member, &loop, &bounds);
    while (med_work_next(member, &span)) {
        for (uint64_t at = span.first; at < span.end; at++) {
            s->robbed[at]++;
        }
    }
    med_work_end(member);
}

static void
act_steal(const sim_actor *actor)
{
    shared *s = (shared *)actor->memory + actor->index;
    for (s->round = 1; s->round <= REGIONS; s->round++) {
        s->size = 1 + sim_random(2);
        med_team_run(med_member_get(), MEMBERS, robbed, s);
        for (uint32_t i = 0; i < ROBBED; i++) {
            SIM_CHECK(s->robbed[i] == s->round);
        }
    }
}

static void
in_order(void *data)
{
    shared *s = data;
    med_member *member = med_member_get();
    med_span span;
    while (med_work_next(member, &span)) {
        for (uint64_t at = span.first; at < span.end; at++) {
            med_work_ordered(member);
            SIM_CHECK(s->last == at);
            s->last = at + 1;
        }
    }
    med_work_end(member);
}

static void
act_ordered(const sim_actor *actor)
{
    shared *s = (shared *)actor->memory + actor->index;
    const med_bounds bounds = {.step = 1};
    for (uint32_t i = 0; i < 4; i++) {
        const med_loop loop = {
            .count = ITERATIONS, .chunk = 1, .schedule = some_schedule(i), .ordered = true};
        s->last = 0;
        med_member *first = med_team_start(med_member_get(), MEMBERS, in_order, s);
        med_team_prepare(first, &loop, &bounds);
        med_team_go(first);
        in_order(s);
        med_team_finish(first);
        SIM_CHECK(s->last == ITERATIONS);
    }
}

/* ---- Doacross -------------------------------------------------------------------------------- */

#define INNER 3u

static med_spot
spot_of(const med_doacross *doacross, uint64_t outer, uint64_t inner)
{
    med_spot spot = med_doacross_spot(doacross, outer);
    med_doacross_spot_in(doacross, &spot, 1, inner);
    med_doacross_spot_end(&spot);
    return spot;
}

/* Each waits for the one before it in the outer loop, and finds what that left. */
static void
across(void *data)
{
    shared *s = data;
    med_member *member = med_member_get();
    med_span span;
    while (med_work_next(member, &span)) {
        for (uint64_t at = span.first * INNER; at < span.end * INNER; at++) {
            uint64_t outer = at / INNER;
            if (outer > 0) {
                med_spot before = spot_of(member->work->doacross, outer - 1, at % INNER);
                med_doacross_wait(member, &before);
                SIM_CHECK(s->done[at % INNER][outer - 1] == s->round);
            }
            s->done[at % INNER][outer] = s->round;
            med_spot spot = spot_of(member->work->doacross, outer, at % INNER);
            med_doacross_post(member, &spot);
        }
    }
    med_work_end(member);
}

static void
act_doacross(const sim_actor *actor)
{
    static const unsigned long long counts[] = {ITERATIONS, INNER};
    shared *s = (shared *)actor->memory + actor->index;
    const med_bounds bounds = {.step = 1};
    for (s->round = 1; s->round <= 3; s->round++) {
        const med_loop loop = {.count = ITERATIONS,
                               .chunk = sim_random(3),
                               .schedule = some_schedule(s->round),
                               .dimensions = 2,
                               .counts = counts};
        med_member *first = med_team_start(med_member_get(), MEMBERS, across, s);
        med_team_prepare(first, &loop, &bounds);
        med_team_go(first);
        across(s);
        med_team_finish(first);
        SIM_CHECK(s->done[INNER - 1][ITERATIONS - 1] == s->round);
    }
}

const sim_scenario sim_omp_doacross = {
    .name = "omp_doacross",
    .covers = "doacross",
    .memory_bytes = sizeof(shared),
    .actors = 1,
    .waits_forever = true,
    .begin = begin,
    .act = act_doacross,
};

/* ---- Cancellation ---------------------------------------------------------------------------- */

#define BARRIERS 3u

/* One of them cancels, at one of the barriers; whoever is told of it goes to the end, one after he
 * has cancelled it again, of which nothing comes. */
static void
cancelled_region(void *data)
{
    shared *s = data;
    med_member *member = med_member_get();
    for (uint32_t i = 0; i < BARRIERS; i++) {
        (void)med_team_single(member);
        if (s->cancels == member->number && s->at_barrier == i) {
            s->cancelled = s->round;
            med_cancel_region(member);
            break;
        }
        if (med_cancel_region_is(member) || med_cancel_barrier(member)) {
            SIM_CHECK(s->cancelled == s->round);
            if (s->cancels_too == member->number) {
                med_cancel_region(member);
            }
            break;
        }
    }
    s->came[member->number] = s->round;
}

/* Behind each such region the team is whole. */
static void
cancelled_regions(shared *s, uint32_t most)
{
    med_member *leader = med_member_get();
    for (s->round = 1; s->round <= REGIONS; s->round++) {
        s->size = 2 + sim_random(most - 1);
        s->cancels = sim_random(most);
        s->cancels_too = sim_random(most);
        s->at_barrier = sim_random(BARRIERS);
        med_team_run(leader, s->size, cancelled_region, s);
        all_came(s);
        s->round++;
        s->singles = s->round - 1;
        med_team_run(leader, s->size, region, s);
        all_came(s);
    }
}

static void
act_cancel(const sim_actor *actor)
{
    cancelled_regions(actor->memory, MEMBERS);
}

static void
act_cancel_in_groups(const sim_actor *actor)
{
    cancelled_regions(actor->memory, MEMBERS_MOST);
}

static const sim_variable cancels_in_groups[] = {
    {"MEDLEY_TEAM_GROUPS", "2,2"}, {"OMP_CANCELLATION", "true"}, {NULL, NULL}};
const sim_variable sim_omp_cancels[] = {{"OMP_CANCELLATION", "true"}, {NULL, NULL}};

const sim_scenario sim_omp_cancel_in_groups = {
    .name = "omp_cancel_in_groups",
    .covers =
        "barrier med_cancel_region() med_cancel_region_is() has_ended() med_cancel_note_end()",
    .memory_bytes = sizeof(shared),
    .actors = 1,
    .waits_forever = true,
    .begin = begin,
    .act = act_cancel_in_groups,
    .environment = cancels_in_groups,
};

/* ---- Called away from where the compiler says nothing ---------------------------------------- */

/* Each iteration waits for the one before it, if the loop has an order, by whichever way. */
static void
met_in_order(med_member *member, const med_loop *loop, uint64_t at)
{
    if (loop->ordered) {
        med_work_ordered(member);
        med_work_ordered_end(member);
    } else if (loop->dimensions && member->work->doacross) {
        med_spot before = spot_of(member->work->doacross, at - (at > 0), 0);
        med_spot spot = spot_of(member->work->doacross, at, 0);
        if (at > 0) {
            med_doacross_wait(member, &before);
        }
        med_doacross_post(member, &spot);
    }
}

/* Behind it the giver has the memory back. */
static void
given_to_all(shared *s, med_member *member, uint32_t number)
{
    uint32_t *own = &s->given[member->number];
    if (med_team_single(member)) {
        *own = s->round * COPIES + number;
        med_team_copy_give(member, own);
        (void)med_team_barrier(member);
        *own = 0;
    } else {
        SIM_CHECK(*(uint32_t *)med_team_copy_take(member) == s->round * COPIES + number);
        (void)med_team_barrier(member);
    }
}

/* How many iterations the member executes. */
static uint32_t
met_iterations(med_member *member, const med_loop *loop)
{
    const med_bounds bounds = {.step = 1};
    uint32_t count = 0;
    med_span span;
    med_work_begin(member, loop, &bounds);
    while (med_work_next(member, &span)) {
        for (uint64_t at = span.first; at < span.end; at++) {
            met_in_order(member, loop, at);
            count++;
        }
    }
    med_work_end(member);
    return count;
}

/* By chunks of one. */
static uint32_t
share_of(const shared *s, uint32_t number)
{
    return number < ITERATIONS ? (ITERATIONS - number - 1) / s->size + 1 : 0;
}

/* One cancels, at once or in the middle of singles that give something to all; the others meet more
 * than the ring holds, turns, iterations, and such singles, and nobody waits for him. As long as
 * the ring holds it each has his share. */
static void
met_without_him(void *data)
{
    static const unsigned long long counts[] = {ITERATIONS, 1};
    shared *s = data;
    med_member *member = med_member_get();
    for (uint32_t i = 0; i < s->before; i++) {
        given_to_all(s, member, COPIES + i);
    }
    if (s->cancels == member->number) {
        s->cancelled = s->round;
        med_cancel_region(member);
        s->came[member->number] = s->round;
        return;
    }
    for (uint32_t i = 0; i < LOOPS; i++) {
        const med_loop loop = {.count = ITERATIONS,
                               .chunk = 1,
                               .schedule = &med_schedule_static,
                               .ordered = s->at_barrier == i && s->round % 2 == 0,
                               .dimensions = s->at_barrier == i && s->round % 2 ? 2 : 0,
                               .counts = counts};
        uint32_t count = met_iterations(member, &loop);
        SIM_CHECK(i >= MED_TEAM_WORKS || count == share_of(s, member->number));
    }
    for (uint32_t i = 0; i < COPIES; i++) {
        given_to_all(s, member, i);
    }
    SIM_CHECK(s->cancelled == s->round);
    s->came[member->number] = s->round;
}

static void
act_called(const sim_actor *actor)
{
    shared *s = (shared *)actor->memory + actor->index;
    med_member *leader = med_member_get();
    for (s->round = 1; s->round <= REGIONS; s->round++) {
        s->size = MEMBERS + sim_random(2);
        s->cancels = sim_random(MEMBERS);
        s->at_barrier = sim_random(LOOPS);
        s->before = sim_random(COPIES + 1);
        med_team_run(leader, s->size, met_without_him, s);
        all_came(s);
    }
}

const sim_scenario sim_omp_called = {
    .name = "omp_called",
    .covers = "single have_all_read() leave() turns_make() med_ordered_wake()",
    .memory_bytes = sizeof(shared),
    .actors = 1,
    .waits_forever = true,
    .begin = begin,
    .act = act_called,
    .environment = sim_omp_cancels,
};

const sim_scenario sim_omp_cancel = {
    .name = "omp_cancel",
    .covers = "med_cancel_region() med_cancel_region_is() has_ended() med_cancel_note_end()",
    .memory_bytes = sizeof(shared),
    .actors = 1,
    .waits_forever = true,
    .begin = begin,
    .act = act_cancel,
    .environment = sim_omp_cancels,
};

const sim_scenario sim_omp_team = {
    .name = "omp_team",
    .covers = "gate team once barrier",
    .memory_bytes = 2 * sizeof(shared),
    .actors = 2,
    .one_process = true,
    .waits_forever = true,
    .begin = begin,
    .act = act_team,
};

const sim_scenario sim_omp_loops = {
    .name = "omp_loops",
    .covers = "is_told() med_gate_open() team work",
    .memory_bytes = sizeof(shared),
    .actors = 1,
    .waits_forever = true,
    .begin = begin,
    .act = act_loops,
};

/* ---- Unlike cores ---------------------------------------------------------------------------- */

/* Each is some time at an iteration: else a probe would not be worth it. */
static void
probed(void *data)
{
    shared *s = data;
    med_member *member = med_member_get();
    const med_loop loop = {.count = UNEVEN,
                           .schedule =
                               s->round % 2 ? &med_schedule_hetprobe : &med_schedule_hetprobe_i,
                           .code = probed};
    const med_bounds bounds = {.step = 1};
    med_span span;
    med_work_begin(member, &loop, &bounds);
    while (med_work_next(member, &span)) {
        for (uint64_t at = span.first; at < span.end; at++) {
            s->robbed[at]++;
            uint64_t until = med_port_clock_ns() + (member->number ? 4000 : 9000);
            while (med_port_clock_ns() < until) {
            }
        }
    }
    med_work_end(member);
}

static void
act_uneven(const sim_actor *actor)
{
    shared *s = (shared *)actor->memory + actor->index;
    for (s->round = 1; s->round <= REGIONS; s->round++) {
        med_team_run(med_member_get(), MEMBERS, probed, s);
        for (uint32_t i = 0; i < UNEVEN; i++) {
            SIM_CHECK(s->robbed[i] == s->round);
        }
    }
}

static const sim_variable uneven_variables[] = {{"MEDLEY_CORE_CLASSES", "{0},{1:7}"},
                                                {"OMP_PROC_BIND", "true"},
                                                {"MEDLEY_PROBE_PERCENT", "20"},
                                                {"OMP_HET_PTG", "50"},
                                                {NULL, NULL}};

const sim_scenario sim_omp_uneven = {
    .name = "omp_uneven",
    .covers = "none",
    .memory_bytes = 2 * sizeof(shared),
    .actors = 2,
    .one_process = true,
    .begin = begin,
    .act = act_uneven,
    .environment = uneven_variables,
};

static void
is_whole(const med_site *site, void *context)
{
    (void)context;
    SIM_CHECK((uintptr_t)site->code - 1 < 3);
}

/* All look for the same loops at the same time: whoever makes one, others find it whole. */
static void
act_sites(const sim_actor *actor)
{
    (void)actor;
    for (uintptr_t i = 1; i <= 3; i++) {
        const med_site *site = med_site_of((const void *)i, NULL, NULL);
        SIM_CHECK(site && site->code == (const void *)i && site->region == NULL);
        med_site_each(is_whole, NULL);
    }
}

const sim_scenario sim_omp_sites = {
    .name = "omp_sites",
    .covers = "site",
    .actors = 3,
    .one_process = true,
    .begin = begin,
    .act = act_sites,
};

const sim_scenario sim_omp_steal = {
    .name = "omp_steal",
    .covers = "steal",
    .memory_bytes = sizeof(shared),
    .actors = 1,
    .waits_forever = true,
    .begin = begin,
    .act = act_steal,
};

const sim_scenario sim_omp_ordered = {
    .name = "omp_ordered",
    .covers = "is_done_up_to_mine() units_are_done()",
    .memory_bytes = sizeof(shared),
    .actors = 1,
    .waits_forever = true,
    .begin = begin,
    .act = act_ordered,
};
