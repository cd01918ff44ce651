/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Leagues of teams on the host. */
#include "omp/teams.h"

/* ---- Of the program -------------------------------------------------------------------------- */

/* What the program has set, and one more; 0: it has not, and the environment counts. Relaxed, all:
 * a number that orders nothing. */
static struct {
    atomic32 teams;
    atomic32 threads;
} set;

uint32_t
med_teams_max(void)
{
    uint32_t count = atomic32_load_relaxed(&set.teams); /* relaxed: as above */
    return count ? count - 1 : med_settings_get()->teams_max;
}

void
med_teams_max_set(uint32_t count)
{
    atomic32_store_relaxed(&set.teams, count + 1); /* relaxed: as above */
}

uint32_t
med_teams_thread_limit(void)
{
    uint32_t limit = atomic32_load_relaxed(&set.threads); /* relaxed: as above */
    return limit ? limit - 1 : med_settings_get()->teams_thread_limit;
}

void
med_teams_thread_limit_set(uint32_t limit)
{
    atomic32_store_relaxed(&set.threads, limit + 1); /* relaxed: as above */
}

/* ---- A league -------------------------------------------------------------------------------- */

static void
number_set(med_member *member, uint32_t number, uint32_t count, uint32_t thread_limit)
{
    med_icv *icv = med_member_icv(member);
    icv->teams = count;
    icv->team_number = number;
    if (thread_limit) {
        icv->thread_limit = thread_limit;
    }
}

void
med_teams_run(med_member *member,
              uint32_t count,
              uint32_t thread_limit,
              void (*entry)(void *data),
              void *data)
{
    const med_icv *icv = member->icv;
    const med_icv before = *icv;
    count = count ? count : med_teams_max();
    count = count ? count : 1;
    thread_limit = thread_limit ? thread_limit : med_teams_thread_limit();
    med_ompt_league_begin(member, count);
    for (uint32_t number = 0; number < count; number++) {
        *med_member_icv(member) = before; /* what a team changes is not the next one's */
        number_set(member, number, count, thread_limit);
        med_ompt_team_lines(member, number, entry, data);
    }
    med_ompt_league_end(member);
    *med_member_icv(member) = before;
    member->icv = icv;
}

bool
med_teams_next(med_member *member, uint32_t count, uint32_t thread_limit, bool is_first)
{
    uint32_t number = is_first ? 0 : member->icv->team_number + 1;
    count = is_first && count == 0 ? 1 : count;
    uint32_t teams = is_first ? count : member->icv->teams;
    if (number < teams) {
        number_set(member, number, teams, thread_limit);
    }
    return number < teams;
}
