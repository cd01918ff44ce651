/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Worksharing constructs. What may run together, on one construct: everything, by different members
 * of the team.
 *
 * A place's turn says which construct it is for, and how far that is:
 *   4 k        free for the team's k-th construct
 *   4 k + 1    somebody begins that
 *   4 k + 2    begun
 * k grows by the size of the ring from one construct to the next of a place, and goes round.
 *
 * Progress: the compare-and-swap of free to begun-by-me decides who begins; others wait until he
 * has, some stores later. Who is a ring ahead waits for the slowest, asleep if that lasts.
 */
#include "omp/work.h"

#include <string.h>

#include "mrapi/heap_lent.h"
#include "omp/cancel.h"
#include "omp/explain.h"
#include "omp/ordered.h"
#include "omp/say.h"
#include "omp/team.h"

#define BEGINS 1u
#define BEGUN 2u

static uint32_t
turn_of(uint32_t construct, uint32_t state)
{
    return construct << 2 | state;
}

void
med_work_place_init(med_work *work, uint32_t number)
{
    atomic32_store_relaxed(&work->turn, turn_of(number, 0)); /* relaxed: nobody else is here */
}

void
med_work_place_fini(med_work *work)
{
    med_heap_take_back(work->memory);
    med_heap_take_back(work->doacross);
    med_heap_take_back(work->parts);
    med_heap_take_back(work->het);
    med_ordered_end(work);
}

/* Zeroed; what is there serves again. */
static void
memory_make(med_work *work, size_t size_bytes)
{
    if (size_bytes <= work->memory_bytes) {
        memset(work->memory, 0, size_bytes);
        return;
    }
    med_heap_take_back(work->memory);
    work->memory = med_heap_lend(size_bytes);
    work->memory_bytes = size_bytes;
    if (!work->memory) {
        med_say_fatal("there is no memory for what the threads of a loop have in common");
    }
}

static void
doacross_make(med_work *work, const med_loop *loop)
{
    const long *longs = loop->counts;
    const unsigned long long *others = loop->counts;
    work->doacross = med_doacross_make(work, loop->dimensions);
    for (uint32_t i = 0; i < loop->dimensions; i++) {
        work->doacross->counts[i] = loop->counts_are_long ? (uint64_t)longs[i] : others[i];
    }
}

/* What few constructs have: of the last one here nothing is left. */
static void
fill_more(med_work *work, const med_loop *loop)
{
    if (work->doacross) {
        med_heap_take_back(work->doacross);
        work->doacross = NULL;
    }
    if (loop->memory_bytes) {
        memory_make(work, loop->memory_bytes);
    }
    if (loop->dimensions) {
        doacross_make(work, loop);
    }
}

/* One member has all units at once, whatever the chunk: it asks once only. */
static void
fill_units(med_work *work, const med_loop *loop)
{
    uint64_t chunk = work->members > 1 || loop->by_chunks ? loop->chunk : loop->count;
    work->count = loop->count;
    work->unit = 1;
    if (loop->count > UINTPTR_MAX / 2 || loop->vector > 1) {
        uint64_t vector = loop->vector ? loop->vector : 1;
        work->unit =
            vector * med_work_groups(med_work_groups(loop->count, UINTPTR_MAX / 2), vector);
        work->unit = work->unit ? work->unit : 1; /* of no iterations */
        chunk = med_work_groups(chunk, work->unit);
        work->units = (uintptr_t)med_work_groups(loop->count, work->unit);
    } else {
        work->units = (uintptr_t)loop->count;
    }
    work->chunk = chunk < work->units ? (uintptr_t)chunk : work->units;
}

/* What the program has named dynamic or guided, and has no order. */
static bool
is_imposed_on(const med_loop *loop)
{
    const med_schedule *named = loop->schedule;
    return !loop->ordered && !loop->by_chunks && loop->dimensions == 0 &&
           (named->next == med_schedule_dynamic.next || named == &med_schedule_nonmonotonic ||
            named->next == med_schedule_guided.next);
}

static void
impose(med_loop *loop)
{
    bool is_monotonic =
        loop->schedule == &med_schedule_dynamic || loop->schedule == &med_schedule_guided_monotonic;
    loop->schedule = is_monotonic ? med_work_imposed.monotonic : med_work_imposed.any;
    loop->chunk = med_work_imposed.chunk;
}

/* What the environment has done to loops. */
static void
act_on(med_loop *loop, const med_team *team)
{
    if (med_work_imposed.any && is_imposed_on(loop)) {
        impose(loop);
    }
    if (med_work_imposed.explains && !loop->schedule->notes && !loop->is_sections) {
        med_explain_loop(team, loop);
    }
}

static void
fill(med_work *work,
     const med_team *team,
     uint32_t members,
     const med_loop *loop,
     const med_bounds *bounds)
{
    med_loop imposed;
    if (med_work_imposed.acts) {
        imposed = *loop;
        act_on(&imposed, team);
        loop = &imposed;
    }
    work->members = members;
    work->ordered = loop->ordered && members > 1; /* one member's are in order */
    work->is_sections = loop->is_sections;
    work->schedule = loop->schedule;
    fill_units(work, loop);
    work->bounds = *bounds;
    if (work->schedule->begin) {
        work->schedule->begin(work, team, loop);
    }
    if (work->doacross || loop->memory_bytes || loop->dimensions) {
        fill_more(work, loop);
    }
    if (work->ordered) {
        med_ordered_begin(work);
    }
    /* Relaxed, these two: the turn publishes them. */
    atomic32_store_relaxed(&work->left, 0);
    atomic_word_store_relaxed(&work->next, 0);
}

typedef struct place_wait {
    const med_work *work;
    uint32_t construct;
    uint32_t turn; /* that ended the wait */
} place_wait;

static bool
is_begun_or_free(void *context)
{
    place_wait *w = context;
    /* A1 begun <- R1 (med_work_begin); A2 place free <- R2 (med_work_end) */
    w->turn = atomic32_load_acquire(&w->work->turn);
    return w->turn == turn_of(w->construct, BEGUN) || w->turn == turn_of(w->construct, 0);
}

typedef struct team_wait {
    med_member *member;
    bool (*condition)(void *context);
    bool (*is_wanted_here)(void *context);
    void *context;
    bool holds; /* at the last look */
} team_wait;

static bool
is_wanted_here(void *context)
{
    const team_wait *w = context;
    return med_member_is_crowded(w->member) &&
           (!w->is_wanted_here || w->is_wanted_here(w->context));
}

static medley_status_t
slept(void *context)
{
    const team_wait *w = context;
    med_team_slept(w->member);
    return MEDLEY_OK;
}

static bool
is_over(void *context)
{
    team_wait *w = context;
    w->holds = w->condition(w->context);
    return w->holds || med_cancel_region_is(w->member);
}

static bool
wait_in_team(team_wait *w, med_wait *wait, med_wait_request *request)
{
    request->condition = is_over;
    request->each_slice = slept;
    request->context = w;
    request->deadline_ns = MED_PORT_FOREVER;
    request->scope = MED_PORT_SCOPE_PROCESS;
    (void)med_wait_until(wait, &w->member->waiter, request);
    return w->holds;
}

bool
med_work_wait(med_member *member,
              med_wait *wait,
              bool (*condition)(void *context),
              bool (*is_wanted)(void *context),
              void *context)
{
    if (condition(context)) {
        return true;
    }
    team_wait w = {
        .member = member, .condition = condition, .is_wanted_here = is_wanted, .context = context};
    med_wait_request request = {.is_wanted_here = is_wanted_here, .limits = member->limits};
    return wait_in_team(&w, wait, &request);
}

bool
med_work_sleep(med_member *member, med_wait *wait, bool (*condition)(void *context), void *context)
{
    static const med_wait_limits at_once = {0};
    team_wait w = {.member = member, .condition = condition, .context = context};
    med_wait_request request = {.limits = &at_once, .wakers_pay = true};
    return wait_in_team(&w, wait, &request);
}

/* Another begins it, and comes to that whatever is cancelled: each has his share of it. */
static void
await_begun(place_wait *w)
{
    uint32_t pauses = 0;
    while (!is_begun_or_free(w)) {
        med_wait_pause(&pauses);
    }
}

/* The ring is full, and who is to leave it is at the cancelled region's end. Whatever the program
 * does with the construct it finds: but no iterations. */
static void
enter_empty(med_member *member, const med_loop *loop, const med_bounds *bounds)
{
    med_loop empty = *loop;
    empty.count = 0;
    if (!member->empty) {
        member->empty = med_heap_lend(sizeof *member->empty);
    }
    if (!member->empty) {
        med_say_fatal("there is no memory for a loop");
    }
    fill(member->empty, member->team, 1, &empty, bounds);
    member->work = member->empty;
}

void
med_work_prepare(med_work *work,
                 uint32_t number,
                 const med_team *team,
                 const med_loop *loop,
                 const med_bounds *bounds)
{
    fill(work, team, team->size, loop, bounds);
    /* Relaxed: the gate publishes, where there are others. */
    atomic32_store_relaxed(&work->turn, turn_of(number, BEGUN));
}

void
med_work_begin(med_member *member, const med_loop *loop, const med_bounds *bounds)
{
    med_work *work = &member->team->works[member->works % MED_TEAM_WORKS];
    med_work_enter(member, work);
    if (member->team->size == 1) { /* nobody else is there: the place is free */
        med_work_prepare(work, member->works - 1, member->team, loop, bounds);
        return;
    }
    place_wait w = {.work = work, .construct = member->works - 1};
    do {
        if (!med_work_wait(member, &member->team->wait, is_begun_or_free, NULL, &w)) {
            if (w.turn != turn_of(w.construct, BEGINS)) {
                enter_empty(member, loop, bounds);
                return;
            }
            await_begun(&w);
        }
        if (w.turn == turn_of(w.construct, BEGUN)) {
            return;
        }
        /* Relaxed: only one of those who saw it free goes on, and R1 publishes what he fills in. */
    } while (!atomic32_cas_relaxed(&work->turn, &w.turn, turn_of(w.construct, BEGINS)));
    fill(work, member->team, member->team->size, loop, bounds);
    /* R1 begun -> A1 (is_begun_or_free) */
    atomic32_store_release(&work->turn, turn_of(w.construct, BEGUN));
    med_wait_wake(&member->team->wait, MED_PORT_SCOPE_PROCESS);
}

med_imposed med_work_imposed;

const med_schedule *
med_schedule_of(uint32_t kind)
{
    static const med_schedule *const schedules[MED_SCHEDULE_KIND_COUNT][2] = {
        [MED_SCHEDULE_STATIC] = {&med_schedule_static, &med_schedule_static},
        [MED_SCHEDULE_DYNAMIC] = {&med_schedule_nonmonotonic, &med_schedule_dynamic},
        [MED_SCHEDULE_GUIDED] = {&med_schedule_guided, &med_schedule_guided_monotonic},
        [MED_SCHEDULE_AUTO] = {&med_schedule_static, &med_schedule_static},
        [MED_SCHEDULE_STEAL] = {&med_schedule_steal, &med_schedule_dynamic},
        [MED_SCHEDULE_HETPROBE] = {&med_schedule_hetprobe, &med_schedule_hetprobe},
        [MED_SCHEDULE_HETPROBE_I] = {&med_schedule_hetprobe_i, &med_schedule_hetprobe}};
    return schedules[kind & ~MED_SCHEDULE_MONOTONIC][(kind & MED_SCHEDULE_MONOTONIC) != 0];
}

/* ---- Through it ------------------------------------------------------------------------------ */

bool
med_work_next(med_member *member, med_span *span)
{
    med_work *work = member->work;
    if (work->ordered) {
        med_ordered_pass_on(member);
    }
    if (!work->schedule->next(work, member, &member->share.units)) {
        return false;
    }
    member->share.rounds++;
    member->share.has_some = true;
    if (work->ordered) {
        med_ordered_take(member);
    }
    uint64_t end = member->share.units.end * work->unit;
    span->first = member->share.units.first * work->unit;
    span->end = end < work->count ? end : work->count;
    med_ompt_dispatch(member, span);
    return true;
}

void
med_work_end(med_member *member)
{
    med_work *work = member->work;
    if (work->ordered) {
        med_ordered_pass_on(member);
    }
    med_ompt_work_end(member);
    member->work = NULL;
    uint32_t members = work->members; /* behind the next line it may be another construct's */
    /* A4 through with it <- R4; R4 through with it -> A4: who frees the place has seen all others
     * leave it. */
    if (members == 1 || atomic32_fetch_add_acq_rel(&work->left, 1) + 1 == members) {
        uint32_t construct = member->works - 1;
        /* R2 place free -> A2 (is_begun_or_free) */
        atomic32_store_release(&work->turn, turn_of(construct + MED_TEAM_WORKS, 0));
        med_wait_wake(&member->team->wait, MED_PORT_SCOPE_PROCESS);
    }
}
