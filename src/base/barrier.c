/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The barrier. What may run together: every call, of different members.
 *
 * A line holds how often its writer has come, so nothing is ever set back: who is quick has come
 * once more already, and no further, since then he waits for the slow one.
 *
 * Why all that was done before is seen behind: whoever passes has read, by acquire, each line of
 * his group, or the line of a leader who had read those of his level before he said so, and so on.
 *
 * Why nobody sleeps for ever: of a group that is complete at least one member sees it so before he
 * sleeps. For each says that he has come, sets the sleep flag, passes a heavy barrier and looks
 * again; the last of these barriers is behind all of their stores. Who sees it wakes all (each who
 * goes a level up, or says that all have come, does so), and they look for themselves.
 *
 * Death: not known here.
 */
#include "base/barrier.h"

/* ---- Shape ----------------------------------------------------------------------------------- */

static uint32_t
groups(uint32_t count, uint32_t size)
{
    return (count + size - 1) / size;
}

/* Lays the levels out; how many lines there are. 0: no such barrier. */
static size_t
lay_out(med_barrier *barrier, uint32_t members, const med_barrier_shape *shape)
{
    uint32_t count = members;
    uint32_t span = 1;
    size_t lines = 0;
    *barrier = (med_barrier){.members = members};
    if (members == 0 || members > MED_BARRIER_MEMBERS_MAX) {
        return 0;
    }
    for (uint32_t i = 0; i < MED_BARRIER_LEVELS && (i == 0 || count > 1); i++) {
        bool is_top = i + 1 == MED_BARRIER_LEVELS || shape->size[i] == 0;
        uint32_t size = is_top || shape->size[i] > count ? count : shape->size[i];
        if (size == 1 && count > 1) {
            return 0;
        }
        barrier->level[i].count = count;
        barrier->level[i].size = size;
        barrier->level[i].span = span;
        barrier->level[i].first = (uint32_t)lines;
        barrier->levels++;
        lines += count;
        count = groups(count, size);
        span *= size;
    }
    barrier->passed = (uint32_t)lines;
    return lines + (barrier->levels > 1 ? barrier->level[1].count : 0);
}

size_t
med_barrier_size(uint32_t members, const med_barrier_shape *shape)
{
    med_barrier barrier;
    size_t lines = lay_out(&barrier, members, shape);
    return lines ? sizeof barrier + lines * sizeof(med_barrier_line) : 0;
}

static void
lines_clear(med_barrier *barrier, size_t lines)
{
    for (size_t i = 0; i < lines; i++) {
        /* Relaxed, these two: nobody is here. */
        atomic32_store_relaxed(&barrier->lines[i].come, 0);
        atomic32_store_relaxed(&barrier->lines[i].processor, MED_PORT_PROCESSOR_ANY);
    }
}

void
med_barrier_init(med_barrier *barrier,
                 uint32_t members,
                 const med_barrier_shape *shape,
                 med_port_scope scope)
{
    size_t lines = lay_out(barrier, members, shape);
    barrier->scope = scope;
    lines_clear(barrier, lines);
}

void
med_barrier_member_init(med_barrier_member *member, uint32_t index)
{
    *member = (med_barrier_member){.index = index};
}

void
med_barrier_reset(med_barrier *barrier)
{
    lines_clear(barrier, barrier->passed + (barrier->levels > 1 ? barrier->level[1].count : 0));
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* The member's own at a level at which it meets others. */
static med_barrier_line *
line_of(med_barrier *barrier, const med_barrier_member *member, uint32_t level)
{
    return &barrier
                ->lines[barrier->level[level].first + member->index / barrier->level[level].span];
}

static med_barrier_line *
passed_line_of(med_barrier *barrier, uint32_t leader)
{
    return &barrier->lines[barrier->passed + leader / barrier->level[1].span];
}

/* Lines that have to say that somebody has come so often. */
typedef struct wanted {
    const med_barrier_line *lines;
    uint32_t count;
    uint32_t seen; /* of them, from the first on */
    uint32_t come;
    med_barrier_line *own; /* of the member who waits, among members */
    med_barrier_member *member;
    bool (*called)(void *context);
    void *context;
} wanted;

static bool
has_come(const med_barrier_line *line, uint32_t come)
{
    /* A1 come <- R1 (say) */
    return (int32_t)(atomic32_load_acquire(&line->come) - come) >= 0;
}

static bool
have_all_come(wanted *w)
{
    while (w->seen < w->count && has_come(&w->lines[w->seen], w->come)) {
        w->seen++;
    }
    return w->seen == w->count;
}

static bool
is_called(const wanted *w)
{
    return w->called && w->called(w->context);
}

/* Where its member runs: a line that is written as seldom as it changes. */
static void
note_processor(med_barrier_line *line, uint32_t here)
{
    /* Relaxed, these two: a guess. */
    if (atomic32_load_relaxed(&line->processor) != here) {
        atomic32_store_relaxed(&line->processor, here);
    }
}

static void
say(med_barrier_line *line, uint32_t come)
{
    atomic32_store_release(&line->come, come); /* R1 come -> A1 (has_come) */
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static bool
is_over(void *context)
{
    wanted *w = context;
    return have_all_come(w) || is_called(w);
}

/* So many others are looked at for one who may run here: of thousands each would look at all. */
#define GUESSES 64u

/* Of those who are missing one ran here last. */
static bool
is_wanted_here(void *context)
{
    const wanted *w = context;
    uint32_t here = med_port_processor_here();
    note_processor(w->own, here);
    for (uint32_t i = w->seen; i < w->count && i - w->seen < GUESSES; i++) {
        /* Relaxed: a guess. */
        if (atomic32_load_relaxed(&w->lines[i].processor) == here &&
            !has_come(&w->lines[i], w->come)) {
            return true;
        }
    }
    return false;
}

static medley_status_t
each_slice(void *context)
{
    const wanted *w = context;
    w->member->slept(w->member);
    return MEDLEY_OK;
}

/* True: all of them have come; false: called. */
static bool
wait_for(med_barrier *barrier, med_barrier_member *member, wanted *w)
{
    if (have_all_come(w)) {
        return true;
    }
    w->member = member;
    med_wait_request request = {.condition = is_over,
                                .each_slice = member->slept ? each_slice : NULL,
                                .is_wanted_here = is_wanted_here,
                                .context = w,
                                .limits = member->limits,
                                .slices_double = true,
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = barrier->scope};
    (void)med_wait_until(&barrier->wait, &member->waiter, &request);
    return have_all_come(w);
}

/* ---- Up and down ----------------------------------------------------------------------------- */

static uint32_t
smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The member's group at its level. */
static wanted
group_of(med_barrier *barrier,
         const med_barrier_member *member,
         bool (*called)(void *context),
         void *context)
{
    uint32_t level = member->level;
    uint32_t place = member->index / barrier->level[level].span;
    uint32_t first = place - place % barrier->level[level].size;
    return (wanted){.lines = &barrier->lines[barrier->level[level].first + first],
                    .count =
                        smaller(barrier->level[level].size, barrier->level[level].count - first),
                    .come = member->come,
                    .own = line_of(barrier, member, 0),
                    .called = called,
                    .context = context};
}

/* Who leads the member's group at its level. */
static uint32_t
leader_of(const med_barrier *barrier, const med_barrier_member *member)
{
    uint32_t group = barrier->level[member->level].span * barrier->level[member->level].size;
    return member->index - member->index % group;
}

static bool
is_top(const med_barrier *barrier, const med_barrier_member *member)
{
    return member->level + 1 == barrier->levels;
}

/* The leader's line that says that all have come. */
static wanted
news_of(med_barrier *barrier,
        const med_barrier_member *member,
        bool (*called)(void *context),
        void *context)
{
    return (wanted){.lines = passed_line_of(barrier, leader_of(barrier, member)),
                    .count = 1,
                    .come = member->come,
                    .own = line_of(barrier, member, 0),
                    .called = called,
                    .context = context};
}

/* Above its first level, and of all levels to those below: with where it runs, for who waits. */
static void
say_as_leader(med_barrier *barrier, const med_barrier_member *member, med_barrier_line *line)
{
    /* Relaxed, these two: a guess. */
    uint32_t processor = atomic32_load_relaxed(&line_of(barrier, member, 0)->processor);
    atomic32_store_relaxed(&line->processor, processor);
    say(line, member->come);
}

/* Its group is complete: a level up, where it leads, or to the way down. */
static void
group_is_complete(med_barrier *barrier, med_barrier_member *member)
{
    if (is_top(barrier, member) || leader_of(barrier, member) != member->index) {
        member->passes = true;
    } else {
        member->level++;
        say_as_leader(barrier, member, line_of(barrier, member, member->level));
    }
    med_wait_wake(&barrier->wait, barrier->scope);
}

static bool
leads(const med_barrier_member *member)
{
    return member->level > 0;
}

void
med_barrier_come(med_barrier *barrier, med_barrier_member *member)
{
    med_barrier_line *own = line_of(barrier, member, 0);
    note_processor(own, med_port_processor_here());
    member->come++;
    member->level = 0;
    member->passes = false;
    say(own, member->come);
}

bool
med_barrier_await(med_barrier *barrier,
                  med_barrier_member *member,
                  bool (*called)(void *context),
                  void *context)
{
    while (!member->passes) {
        wanted group = group_of(barrier, member, called, context);
        if (!wait_for(barrier, member, &group)) {
            return false;
        }
        group_is_complete(barrier, member);
    }
    if (!is_top(barrier, member)) {
        wanted news = news_of(barrier, member, called, context);
        if (!wait_for(barrier, member, &news)) {
            return false;
        }
    }
    if (leads(member)) {
        say_as_leader(barrier, member, passed_line_of(barrier, member->index));
        med_wait_wake(&barrier->wait, barrier->scope);
    }
    return true;
}

void
med_barrier_depart(med_barrier *barrier, med_barrier_member *member)
{
    med_barrier_come(barrier, member);
    /* Whoever waits looks for himself: to know whether all have come, each would have to look. */
    med_wait_wake(&barrier->wait, barrier->scope);
    while (!is_top(barrier, member) && leader_of(barrier, member) == member->index) {
        wanted group = group_of(barrier, member, NULL, NULL);
        (void)wait_for(barrier, member, &group);
        group_is_complete(barrier, member);
    }
}

bool
med_barrier_is_wanted_here(const med_barrier *barrier, const med_barrier_member *member)
{
    uint32_t here = med_port_processor_here();
    uint32_t at = barrier->members <= GUESSES ? 0 : member->index;
    for (uint32_t i = 0; i < barrier->members && i < GUESSES; i++) {
        const med_barrier_line *line = &barrier->lines[at];
        at = at + 1 < barrier->members ? at + 1 : 0;
        /* Relaxed, both: a guess. */
        if (atomic32_load_relaxed(&line->processor) == here &&
            (int32_t)(atomic32_load_relaxed(&line->come) - member->come) < 0) {
            return true;
        }
    }
    return atomic32_load_relaxed(&barrier->lines[0].processor) == here; /* relaxed: a guess */
}
