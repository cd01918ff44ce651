/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the environment says of waiting. */
#include "omp/waiting.h"

#include "mrapi/heap_lent.h"
#include "omp/lock.h"
#include "omp/quota.h"

#define MS_NS UINT64_C(1000000)
/* What gcc's library takes a hundred thousand rounds of its loop for, and how many it makes where
 * waiting is to be active. */
#define ROUND_NS 10u
#define ACTIVE_NS (300000 * MS_NS)

/* Nobody is in the way of who spins so long, and he gives way to others in between. Who sleeps is
 * woken beside the one who wakes him, on the same processor, where the system leaves both. */
static const med_wait_limits uncrowded = {
    .least_ns = 500000, .most_ns = 500000, .others_apart = true};

/* In a crowd everybody learns how long it is to spin: in a slow phase of the program that becomes
 * short. Then each sleeps, and all are slow since somebody has to wake them, one after the other,
 * and who spins a little longer by himself learns nothing else. So now and then all do, at once.
 * Twenty threads on 16 processors, a region behind a slow loop (EPCC's reduction behind its
 * ordered): 150 us; before that loop, 6. */
#define LEARNED_TURNS 64u
static const med_wait_limits again = {.least_ns = 300000, .most_ns = UINT64_MAX};
#define SMALL_CROWD 2u /* so many for each that can run: if more spin, those who work do not run */

static uint64_t
product(uint64_t number, uint64_t unit_ns)
{
    return number < MED_WAITING_FOREVER_NS / unit_ns ? number * unit_ns : MED_WAITING_FOREVER_NS;
}

/* Few in a process, and kept: members look at them while others change theirs. */
typedef struct kept {
    struct kept *next;
    med_wait_limits waits[2];
} kept;

static struct {
    med_own_lock lock;
    kept *first;
} all;

static kept *
find(uint64_t spin_ns)
{
    kept *one = all.first;
    while (one && one->waits[0].most_ns != spin_ns) {
        one = one->next;
    }
    return one;
}

static kept *
keep(uint64_t spin_ns)
{
    kept *one = med_heap_lend(sizeof *one);
    if (one) {
        one->waits[0] =
            (med_wait_limits){.least_ns = spin_ns, .most_ns = spin_ns, .others_apart = true};
        one->waits[1] = (med_wait_limits){.most_ns = spin_ns};
        one->next = all.first; /* and is whole, then it is the first */
        all.first = one;
    }
    return one;
}

const med_wait_limits *
med_waiting_of(uint64_t spin_ns)
{
    uint32_t pauses = 0;
    /* For some steps, by one who need not be a member yet; nor does anybody ask whose it is. */
    while (med_lock_try(med_own_lock_here(&all.lock), 1) == MEDLEY_BUSY) {
        med_wait_pause(&pauses);
    }
    kept *one = find(spin_ns);
    one = one ? one : keep(spin_ns);
    med_omp_lock_unset(&all.lock.lock);
    return one ? one->waits : NULL;
}

static bool
waits_set(med_settings *settings, uint64_t spin_ns)
{
    settings->initial.waits = med_waiting_of(spin_ns);
    return true;
}

static bool
is_infinite(med_value *value)
{
    return (med_value_is(value, "infinite") || med_value_is(value, "infinity")) &&
           med_value_end(value);
}

bool
med_waiting_read_policy(med_settings *settings, med_value value)
{
    static const char *const names[] = {"passive", "active"};
    uint32_t found;
    return med_value_one_of(&value, names, 2, &found) && med_value_end(&value) &&
           waits_set(settings, found ? ACTIVE_NS : 0);
}

/* The number, and one of so many units behind it, or none. */
static bool
number_read(med_value *value,
            const char *const *units,
            uint32_t unit_count,
            uint64_t *number,
            uint32_t *unit)
{
    *unit = unit_count;
    if (!med_value_number(value, 0, UINT64_MAX, number)) {
        return false;
    }
    (void)med_value_one_of(value, units, unit_count, unit);
    return med_value_end(value);
}

bool
med_waiting_read_time(med_settings *settings, med_value value)
{
    static const char *const units[] = {"us", "ms", "s"};
    static const uint64_t unit_ns[] = {1000, MS_NS, 1000 * MS_NS, MS_NS};
    uint64_t number;
    uint32_t unit;
    if (is_infinite(&value)) {
        return waits_set(settings, MED_WAITING_FOREVER_NS);
    }
    return number_read(&value, units, 3, &number, &unit) &&
           waits_set(settings, product(number, unit_ns[unit]));
}

bool
med_waiting_read_count(med_settings *settings, med_value value)
{
    static const char *const units[] = {"k", "m", "g", "t"};
    static const uint64_t factors[] = {1000, 1000000, 1000000000, 1000000000000, 1};
    uint64_t number;
    uint32_t unit;
    if (is_infinite(&value)) {
        return waits_set(settings, MED_WAITING_FOREVER_NS);
    }
    return number_read(&value, units, 4, &number, &unit) &&
           waits_set(settings, product(number, factors[unit] * ROUND_NS));
}

bool
med_waiting_is_active(const med_wait_limits *waits)
{
    return waits && waits->most_ns >= ACTIVE_NS;
}

/* Who is in a crowd of the quota's making looks whether there is more again. */
static bool
is_crowd(bool is_dense, uint32_t members)
{
    if (med_quota_is_crowd(members) && med_quota_crowds(members)) {
        med_quota_look(MED_QUOTA_OF_A_PERIOD_MS);
    }
    return is_dense || med_quota_is_crowd(members);
}

const med_wait_limits *
med_waiting_limits(const med_wait_limits *fixed, bool is_dense, uint32_t members, uint32_t turn)
{
    bool is_crowded = is_crowd(is_dense, members);
    if (!is_crowded || fixed) {
        return fixed ? &fixed[is_crowded] : &uncrowded;
    }
    return med_waiting_learned(members, turn);
}

const med_wait_limits *
med_waiting_learned(uint32_t members, uint32_t turn)
{
    bool all_may = members <= SMALL_CROWD * med_quota_threads();
    return turn % LEARNED_TURNS == 0 && all_may ? &again : NULL;
}

bool
med_waiting_is_learned(const med_wait_limits *limits)
{
    return !limits || limits == &again;
}
