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
 * Below the top the leader alone looks at his group's lines: the others are told by him.
 *
 * What members bring stands beside how often they have come, and is read by who leads their group,
 * once that says that they are there. He goes up, or says the news, when he has combined it: so
 * whoever is told that all have come has nothing that anybody will look at. But at the top each
 * would see for himself, while the first member is still at it: then that one tells them, too.
 *
 * Why nobody sleeps for ever: of the group at the top at least one member sees that it is complete
 * before he has slept. For each says that he has come, sets the sleep flag, passes a heavy barrier
 * and looks again; the last of these first looks is behind all of their stores. Who sees it so
 * wakes all, and they look for themselves. Who has slept need not: he would wake those who are
 * quick and sleep for the next time already. Below the top, and where members have brought
 * something, each wakes all behind what he says.
 *
 * Death: not known here.
 */
#include "base/barrier.h"

/* ---- Shape ----------------------------------------------------------------------------------- */

static uint32_t
levels_of(const uint8_t *leads, uint32_t member)
{
    return leads ? leads[member] : 0;
}

/* Of members, of leaders at each level, and of news. 0: no such barrier. */
static size_t
lines_count(uint32_t members, const uint8_t *leads)
{
    size_t lines = members;
    if (members > MED_BARRIER_MEMBERS_MAX) {
        return 0;
    }
    for (uint32_t i = 0; leads && i < members; i++) {
        if (leads[i] > leads[0]) {
            return 0;
        }
        lines += leads[i] > 0 ? leads[i] + 1u : 0u;
    }
    return lines;
}

size_t
med_barrier_size(uint32_t members, const uint8_t *leads)
{
    size_t lines = lines_count(members, leads);
    return lines ? sizeof(med_barrier) + lines * sizeof(med_barrier_line) : 0;
}

static uint32_t
count_at(uint32_t members, const uint8_t *leads, uint32_t level)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < members; i++) {
        count += levels_of(leads, i) >= level;
    }
    return count;
}

/* The lines of a level, from `at` on. */
static void
level_lay_out(med_barrier *barrier, const uint8_t *leads, uint32_t level, uint32_t at)
{
    bool is_top = level == levels_of(leads, 0);
    uint32_t above = at + count_at(barrier->members, leads, level);
    uint32_t news = barrier->line_count - count_at(barrier->members, leads, 1);
    med_barrier_line group = {.first = at, .above = is_top ? 0 : above, .news = news};
    for (uint32_t i = 0; i < barrier->members; i++) {
        uint32_t up = levels_of(leads, i);
        if (up > level && i > 0) { /* the next one begins */
            group = (med_barrier_line){.first = at, .above = group.above + 1, .news = news};
        }
        news += up > 0;
        if (up >= level) {
            barrier->lines[at++] = group;
            barrier->lines[group.first].count++;
        }
    }
}

static void
lines_clear(med_barrier *barrier)
{
    for (uint32_t i = 0; i < barrier->line_count; i++) {
        /* Relaxed, these two: nobody is here. */
        atomic32_store_relaxed(&barrier->lines[i].come, 0);
        atomic32_store_relaxed(&barrier->lines[i].processor, MED_PORT_PROCESSOR_ANY);
    }
}

void
med_barrier_init(med_barrier *barrier, uint32_t members, const uint8_t *leads, med_port_scope scope)
{
    uint32_t at = 0;
    *barrier = (med_barrier){
        .scope = scope, .members = members, .line_count = (uint32_t)lines_count(members, leads)};
    for (uint32_t level = 0; level <= levels_of(leads, 0); level++) {
        level_lay_out(barrier, leads, level, at);
        at += count_at(members, leads, level);
    }
    for (uint32_t i = 0; i < at; i++) {
        barrier->lines[i].count = barrier->lines[barrier->lines[i].first].count;
    }
    lines_clear(barrier);
}

void
med_barrier_member_init(med_barrier_member *member, uint32_t index)
{
    *member = (med_barrier_member){.index = index};
}

void
med_barrier_reset(med_barrier *barrier)
{
    lines_clear(barrier);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Lines that have to say that somebody has come so often. */
typedef struct wanted {
    const med_barrier_line *lines;
    uint32_t count;
    uint32_t first; /* that is looked at */
    uint32_t seen;  /* of them, from that on, and round */
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

static const med_barrier_line *
line_of(const wanted *w, uint32_t number)
{
    uint32_t at = w->first + number;
    return &w->lines[at < w->count ? at : at - w->count];
}

static bool
have_all_come(wanted *w)
{
    while (w->seen < w->count && has_come(line_of(w, w->seen), w->come)) {
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
        const med_barrier_line *line = line_of(w, i);
        /* Relaxed: a guess. */
        if (atomic32_load_relaxed(&line->processor) == here && !has_come(line, w->come)) {
            if (w->member->shares) {
                w->member->shares(w->member);
            }
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
                                .slices_left_out = med_barrier_slices_left_out(barrier->members),
                                .deadline_ns = MED_PORT_FOREVER,
                                .scope = barrier->scope};
    (void)med_wait_crowd_until(&barrier->wait, &member->waiter, &request);
    return have_all_come(w);
}

/* ---- Up and down ----------------------------------------------------------------------------- */

/* The group that the member meets. Each begins with who is next to him: lines are fetched from
 * their writers by one after the other, and not by all at once. */
static wanted
group_of(med_barrier *barrier,
         const med_barrier_member *member,
         bool (*called)(void *context),
         void *context)
{
    const med_barrier_line *line = &barrier->lines[member->line];
    return (wanted){.lines = &barrier->lines[line->first],
                    .count = line->count,
                    .first = member->line - line->first,
                    .come = member->come,
                    .own = &barrier->lines[member->index],
                    .called = called,
                    .context = context};
}

static bool
is_top(const med_barrier *barrier, const med_barrier_member *member)
{
    return barrier->lines[member->line].above == 0;
}

/* Of a group that others are above? */
static bool
is_leader(const med_barrier *barrier, const med_barrier_member *member)
{
    return !is_top(barrier, member) && barrier->lines[member->line].first == member->line;
}

/* Where the one who leads that says that all have come. */
static wanted
news_of(med_barrier *barrier,
        const med_barrier_member *member,
        bool (*called)(void *context),
        void *context)
{
    return (wanted){.lines = &barrier->lines[barrier->lines[member->line].news],
                    .count = 1,
                    .come = member->come,
                    .own = &barrier->lines[member->index],
                    .called = called,
                    .context = context};
}

/* Above its first level, and of all levels to those below: with where it runs, for who waits. */
static void
say_as_leader(med_barrier *barrier, const med_barrier_member *member, med_barrier_line *line)
{
    /* Relaxed, these two: a guess. */
    uint32_t processor = atomic32_load_relaxed(&barrier->lines[member->index].processor);
    atomic32_store_relaxed(&line->processor, processor);
    say(line, member->come);
}

/* News of more comings ago than this would be taken for ones to come. */
#define NEWS_LAG_MOST (UINT32_C(1) << 30)

/* Where all but the first depart each time no leader has news to tell, and his line stays behind
 * while the others' go round. The time before this one is over for all: to say so is true, and
 * too little for who waits. */
static void
news_keep_up(med_barrier *barrier, const med_barrier_member *member)
{
    med_barrier_line *news = &barrier->lines[barrier->lines[member->index].news];
    /* Relaxed: its own. */
    if (member->come - atomic32_load_relaxed(&news->come) > NEWS_LAG_MOST) {
        say(news, member->come - 1);
    }
}

/* What stands beside the group's lines is seen with them. */
static void
combine_group(const wanted *group, med_barrier_member *member)
{
    for (uint32_t i = 1; member->combine && i < group->count; i++) {
        member->combine(member->brings, group->lines[i].brought);
    }
}

void
med_barrier_bring(med_barrier *barrier,
                  med_barrier_member *member,
                  void *what,
                  void (*combine)(void *into, void *from))
{
    member->brings = what;
    member->combine = combine;
    barrier->lines[member->index].brought = what;
    med_barrier_come(barrier, member);
}

void
med_barrier_come(med_barrier *barrier, med_barrier_member *member)
{
    med_barrier_line *own = &barrier->lines[member->index];
    note_processor(own, med_port_processor_here());
    member->come++;
    member->line = member->index;
    say(own, member->come);
}

bool
med_barrier_depart(med_barrier *barrier,
                   med_barrier_member *member,
                   bool (*called)(void *context),
                   void *context)
{
    /* Whoever waits looks for himself: to know whether all have come, each would have to look. */
    med_wait_crowd_wake(&barrier->wait, barrier->scope);
    while (is_leader(barrier, member)) {
        news_keep_up(barrier, member);
        wanted group = group_of(barrier, member, called, context);
        if (!wait_for(barrier, member, &group)) {
            return false;
        }
        combine_group(&group, member);
        member->line = barrier->lines[member->line].above;
        barrier->lines[member->line].brought = member->brings;
        say_as_leader(barrier, member, &barrier->lines[member->line]);
        med_wait_crowd_wake(&barrier->wait, barrier->scope);
    }
    return true;
}

/* Those at the top see that all have come; others are told. Who has brought something is. */
static bool
is_told(const med_barrier *barrier, const med_barrier_member *member)
{
    bool is_first = barrier->lines[member->line].first == member->line;
    return !is_top(barrier, member) || (member->combine && !is_first);
}

bool
med_barrier_await(med_barrier *barrier,
                  med_barrier_member *member,
                  bool (*called)(void *context),
                  void *context)
{
    if (!is_top(barrier, member) && !med_barrier_depart(barrier, member, called, context)) {
        return false;
    }
    bool sees = !is_told(barrier, member);
    uint32_t sleeps = member->waiter.sleeps;
    wanted all = sees ? group_of(barrier, member, called, context)
                      : news_of(barrier, member, called, context);
    if (!wait_for(barrier, member, &all)) {
        return false;
    }
    if (sees) {
        combine_group(&all, member);
    }
    member->combine = NULL;
    if (member->line != member->index) { /* it has gone up */
        say_as_leader(barrier, member, &barrier->lines[barrier->lines[member->index].news]);
        med_wait_crowd_wake(&barrier->wait, barrier->scope);
    } else if (sees && member->waiter.sleeps == sleeps) {
        med_wait_crowd_wake(&barrier->wait, barrier->scope);
    }
    return true;
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
