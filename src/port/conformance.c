/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The checks. Each needs at most one thread beside the caller's, and a second core for it. */
#include "port/conformance.h"
#include "port/litmus.h"
#include "port/port.h"

#define LITMUS_ROUNDS 5000u
#define HANDOVERS 200u

/* Ends a check with what did not hold. */
#define KEEPS(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            return #condition;                                                                     \
        }                                                                                          \
    } while (0)

/* ---- Memory and copies ----------------------------------------------------------------------- */

static const char *
memory_is_zeroed_and_aligned(void)
{
    unsigned char *a = NULL;
    unsigned char *b = NULL;
    void *p = NULL;
    KEEPS(med_port_memory_map(1000, &p) == MEDLEY_OK);
    a = p;
    KEEPS(med_port_memory_map(1000, &p) == MEDLEY_OK);
    b = p;
    KEEPS((uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0);
    for (int i = 0; i < 1000; i++) {
        KEEPS(a[i] == 0 && b[i] == 0);
        a[i] = 1;
    }
    KEEPS(b[0] == 0 && b[999] == 0);
    med_port_memory_unmap(b, 1000);
    med_port_memory_unmap(a, 1000);
    return NULL;
}

/* More in all than a bare machine has. */
static const char *
memory_comes_back_in_any_order(void)
{
    for (int round = 0; round < 2000; round++) {
        void *pieces[3] = {NULL};
        for (int i = 0; i < 3; i++) {
            KEEPS(med_port_memory_map(4000, &pieces[i]) == MEDLEY_OK);
        }
        med_port_memory_unmap(pieces[round % 3], 4000);
        med_port_memory_unmap(pieces[(round + 2) % 3], 4000);
        med_port_memory_unmap(pieces[(round + 1) % 3], 4000);
    }
    return NULL;
}

static const char *
memory_too_large_is_refused(void)
{
    void *p = &p;
    KEEPS(med_port_memory_map(SIZE_MAX / 2, &p) == MEDLEY_ERR_NO_MEMORY);
    KEEPS(p == &p);
    return NULL;
}

static const char *
copy_of_one_row(void)
{
    char source[7] = "abcdef";
    char target[9] = "--------";
    med_port_copy copy = {.target = target + 1, .source = source, .row_bytes = 6, .rows = 1};
    KEEPS(med_port_copy_start(&copy) == MEDLEY_OK);
    KEEPS(med_port_copy_wait(&copy) == MEDLEY_OK);
    KEEPS(med_port_copy_done(&copy));
    for (int i = 0; i < 6; i++) {
        KEEPS(target[1 + i] == source[i]);
    }
    KEEPS(target[0] == '-' && target[7] == '-');
    return NULL;
}

static const char *
copy_of_rows_with_strides(void)
{
    unsigned char source[3 * 5];
    unsigned char target[3 * 7] = {0};
    for (unsigned i = 0; i < sizeof source; i++) {
        source[i] = (unsigned char)(i + 1);
    }
    med_port_copy copy = {.target = target,
                          .source = source,
                          .row_bytes = 4,
                          .rows = 3,
                          .target_stride_bytes = 7,
                          .source_stride_bytes = 5};
    KEEPS(med_port_copy_start(&copy) == MEDLEY_OK);
    KEEPS(med_port_copy_wait(&copy) == MEDLEY_OK);
    for (unsigned row = 0; row < 3; row++) {
        for (unsigned i = 0; i < 7; i++) {
            KEEPS(target[row * 7 + i] == (i < 4 ? row * 5 + i + 1 : 0));
        }
    }
    return NULL;
}

static const char *
dropped_lines_are_not_lost(void)
{
    static unsigned char lines[5 * 64];
    for (unsigned i = 0; i < sizeof lines; i++) {
        lines[i] = (unsigned char)(i + 1);
    }
    med_port_cache_drop(lines + 70, 100);
    med_port_cache_drop(lines, 0);
    med_port_cache_drop(lines, sizeof lines);
    for (unsigned i = 0; i < sizeof lines; i++) {
        KEEPS(lines[i] == (unsigned char)(i + 1));
    }
    KEEPS(med_port_has_cache_drop() || !med_port_cache_drops());
    return NULL;
}

/* ---- Time ------------------------------------------------------------------------------------ */

static const char *
clock_never_goes_back(void)
{
    uint64_t last_ns = med_port_clock_ns();
    for (int i = 0; i < 10000; i++) {
        uint64_t now_ns = med_port_clock_ns();
        KEEPS(now_ns >= last_ns);
        last_ns = now_ns;
    }
    return NULL;
}

static const char *
delay_is_not_short(void)
{
    static const uint64_t durations_ns[] = {0, 1, 1000, 50000, 300000, 2000000};
    for (unsigned i = 0; i < sizeof durations_ns / sizeof durations_ns[0]; i++) {
        uint64_t start_ns = med_port_clock_ns();
        med_port_delay_ns(durations_ns[i]);
        KEEPS(med_port_clock_ns() - start_ns >= durations_ns[i]);
    }
    med_port_delay_until_ns(0);
    med_port_yield();
    return NULL;
}

/* ---- Waiting on a word ----------------------------------------------------------------------- */

static const char *
wait_returns_when_the_word_differs(void)
{
    static const uint32_t word = 5;
    KEEPS(med_port_wait(&word, 4, MED_PORT_FOREVER, MED_PORT_SCOPE_PROCESS) == MEDLEY_OK);
    KEEPS(med_port_wait(&word, 4, MED_PORT_FOREVER, MED_PORT_SCOPE_SHARED) == MEDLEY_OK);
    KEEPS(med_port_wake(&word, 1, MED_PORT_SCOPE_PROCESS) == 0);
    return NULL;
}

static const char *
wait_ends_at_its_deadline(void)
{
    static const uint32_t word = 5;
    KEEPS(med_port_wait(&word, 5, 1, MED_PORT_SCOPE_PROCESS) == MEDLEY_TIMEOUT);
    uint64_t deadline_ns = med_port_clock_ns() + 2000000;
    medley_status_t status;
    do { /* MEDLEY_OK may come for no reason */
        status = med_port_wait(&word, 5, deadline_ns, MED_PORT_SCOPE_PROCESS);
    } while (status == MEDLEY_OK);
    KEEPS(status == MEDLEY_TIMEOUT);
    KEEPS(med_port_clock_ns() >= deadline_ns);
    return NULL;
}

static uint32_t turn;

static void
turn_await(uint32_t wanted)
{
    for (;;) {
        uint32_t seen = __atomic_load_n(&turn, __ATOMIC_ACQUIRE); /* A1 turn <- R1 (give) */
        if (seen == wanted) {
            return;
        }
        (void)med_port_wait(&turn, seen, MED_PORT_FOREVER, MED_PORT_SCOPE_PROCESS);
    }
}

static void
turn_give(uint32_t next)
{
    __atomic_store_n(&turn, next, __ATOMIC_RELEASE); /* R1 turn -> A1 (await) */
    (void)med_port_wake(&turn, 1, MED_PORT_SCOPE_PROCESS);
}

static void *
takes_odd_turns(void *argument)
{
    (void)argument;
    for (uint32_t i = 1; i < 2 * HANDOVERS; i += 2) {
        turn_await(i);
        turn_give(i + 1);
    }
    return NULL;
}

/* A wake that is lost leaves both asleep, and the run at its time limit. */
static const char *
wake_hands_over(void)
{
    med_port_thread thread;
    turn = 0;
    KEEPS(med_port_thread_start(&thread, NULL, takes_odd_turns, NULL) == MEDLEY_OK);
    for (uint32_t i = 0; i < 2 * HANDOVERS; i += 2) {
        turn_give(i + 1);
        turn_await(i + 2);
    }
    KEEPS(med_port_thread_join(thread, NULL) == MEDLEY_OK);
    return NULL;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void *
returns_its_argument(void *argument)
{
    return argument;
}

static void *
exits_with_its_argument(void *argument)
{
    med_port_thread_exit(argument);
}

static const char *
thread_gives_its_result(void)
{
    int here = 0;
    for (int i = 0; i < 20; i++) {
        med_port_thread thread;
        void *result = NULL;
        KEEPS(med_port_thread_start(&thread, NULL,
                                    i % 2 ? returns_its_argument : exits_with_its_argument,
                                    &here) == MEDLEY_OK);
        KEEPS(med_port_thread_join(thread, &result) == MEDLEY_OK);
        KEEPS(result == &here);
    }
    return NULL;
}

static uint32_t detached_ended;

static void *
ends_detached(void *argument)
{
    __atomic_store_n(&detached_ended, 1, __ATOMIC_RELAXED); /* relaxed: it comes with nothing */
    (void)med_port_wake(&detached_ended, 1, MED_PORT_SCOPE_PROCESS);
    return argument;
}

static const char *
thread_may_be_detached(void)
{
    med_port_thread thread;
    detached_ended = 0;
    KEEPS(med_port_thread_start(&thread, NULL, ends_detached, NULL) == MEDLEY_OK);
    KEEPS(med_port_thread_detach(thread) == MEDLEY_OK);
    while (!__atomic_load_n(&detached_ended, __ATOMIC_RELAXED)) { /* relaxed: as above */
        (void)med_port_wait(&detached_ended, 0, MED_PORT_FOREVER, MED_PORT_SCOPE_PROCESS);
    }
    return NULL;
}

typedef struct self_seen {
    uint32_t thread_id;
    void *first;
    void *second;
} self_seen;

static uint32_t exits_seen;
static void *last_exit;

static void
note_exit(void *self)
{
    last_exit = self;
    exits_seen++;
}

static void *
sets_self(void *argument)
{
    self_seen *seen = argument;
    seen->thread_id = med_port_thread_id();
    seen->first = med_port_self_get();
    med_port_self_set(seen);
    seen->second = med_port_self_get();
    return NULL;
}

static void *
sets_and_exits(void *argument)
{
    (void)sets_self(argument);
    med_port_thread_exit(NULL);
}

static void *
sets_and_clears(void *argument)
{
    (void)sets_self(argument);
    med_port_self_set(NULL);
    return NULL;
}

static const char *
self_is_each_threads_own(void)
{
    static void *(*const entries[])(void *) = {sets_self, sets_and_exits, sets_and_clears};
    int mine = 0;
    KEEPS(med_port_self_on_exit(note_exit) == MEDLEY_OK);
    med_port_self_set(&mine);
    exits_seen = 0;
    for (unsigned i = 0; i < 3; i++) {
        med_port_thread thread;
        self_seen seen = {.first = &mine};
        last_exit = NULL;
        KEEPS(med_port_thread_start(&thread, NULL, entries[i], &seen) == MEDLEY_OK);
        KEEPS(med_port_thread_join(thread, NULL) == MEDLEY_OK);
        KEEPS(seen.first == NULL && seen.second == &seen);
        KEEPS(last_exit == (i < 2 ? &seen : NULL));
        KEEPS(seen.thread_id != 0 && seen.thread_id != med_port_thread_id());
        KEEPS(seen.thread_id <= MED_PORT_PI_OWNER_MASK);
    }
    KEEPS(exits_seen == 2);
    KEEPS(med_port_self_get() == &mine);
    med_port_self_set(NULL);
    return NULL;
}

/* ---- The second pointer ---------------------------------------------------------------------- */

static uint32_t members_ended;
static bool self_was_there; /* when the member's hook ran */

static void
note_member_exit(void *member)
{
    members_ended += *(uint32_t *)member;
    self_was_there = med_port_self_get() != NULL;
}

static void *
sets_member(void *argument)
{
    static int self;
    uint32_t *seen = argument;
    *seen = med_port_member_get() == NULL;
    med_port_self_set(&self);
    med_port_member_set(seen);
    *seen += med_port_member_get() == seen && med_port_self_get() == &self;
    return NULL;
}

static const char *
member_is_each_threads_own(void)
{
    med_port_thread thread;
    uint32_t seen = 0;
    KEEPS(med_port_self_on_exit(note_exit) == MEDLEY_OK);
    KEEPS(med_port_member_on_exit(note_member_exit) == MEDLEY_OK);
    KEEPS(med_port_member_get() == NULL);
    members_ended = 0;
    KEEPS(med_port_thread_start(&thread, NULL, sets_member, &seen) == MEDLEY_OK);
    KEEPS(med_port_thread_join(thread, NULL) == MEDLEY_OK);
    KEEPS(seen == 2 && members_ended == 2 && self_was_there);
    KEEPS(med_port_member_get() == NULL);
    return NULL;
}

/* ---- The asymmetric fence -------------------------------------------------------------------- */

static void *
light_half(void *argument)
{
    litmus_light(argument);
    return NULL;
}

static const char *
barrier_halves_meet(void)
{
    static litmus l;
    med_port_thread thread;
    l = (litmus){.rounds = LITMUS_ROUNDS, .scope = MED_PORT_SCOPE_PROCESS};
    KEEPS(med_port_thread_start(&thread, NULL, light_half, &l) == MEDLEY_OK);
    uint32_t both_missed = litmus_heavy(&l);
    KEEPS(med_port_thread_join(thread, NULL) == MEDLEY_OK);
    KEEPS(both_missed == 0);
    return NULL;
}

/* ---- Doorbells ------------------------------------------------------------------------------- */

static const char *
doorbell_counts(void)
{
    med_port_doorbell bell;
    uint64_t count = 0;
    KEEPS(med_port_doorbell_create(&bell) == MEDLEY_OK);
    KEEPS(med_port_doorbell_wait(bell, 1, &count) == MEDLEY_TIMEOUT);
    for (int i = 0; i < 3; i++) {
        KEEPS(med_port_doorbell_ring(bell) == MEDLEY_OK);
    }
    KEEPS(med_port_doorbell_wait(bell, MED_PORT_FOREVER, &count) == MEDLEY_OK);
    KEEPS(count == 3);
    uint64_t deadline_ns = med_port_clock_ns() + 2000000;
    KEEPS(med_port_doorbell_wait(bell, deadline_ns, NULL) == MEDLEY_TIMEOUT);
    KEEPS(med_port_clock_ns() >= deadline_ns);
    med_port_doorbell_destroy(&bell);
    KEEPS(med_port_doorbell_ring(bell) == MEDLEY_ERR_ARGUMENT);
    return NULL;
}

static void *
rings(void *argument)
{
    const med_port_doorbell *bell = argument;
    for (int i = 0; i < 100; i++) {
        (void)med_port_doorbell_ring(*bell);
    }
    return NULL;
}

static const char *
doorbell_wakes(void)
{
    med_port_doorbell bell;
    med_port_thread thread;
    KEEPS(med_port_doorbell_create(&bell) == MEDLEY_OK);
    KEEPS(med_port_thread_start(&thread, NULL, rings, &bell) == MEDLEY_OK);
    for (uint64_t heard = 0; heard < 100;) {
        uint64_t count = 0;
        KEEPS(med_port_doorbell_wait(bell, MED_PORT_FOREVER, &count) == MEDLEY_OK);
        heard += count;
        KEEPS(count > 0 && heard <= 100);
    }
    KEEPS(med_port_thread_join(thread, NULL) == MEDLEY_OK);
    med_port_doorbell_destroy(&bell);
    return NULL;
}

/* ---- Tightly coupled memory ------------------------------------------------------------------ */

/* A piece of it lies in it, zeroed, and comes back: more often than it has pieces. */
static const char *
tight_memory_is_used(const med_port_tight *memory, uint32_t index)
{
    KEEPS(memory->name && memory->name[0] && memory->address && memory->size_bytes >= 64);
    uint32_t size_bytes = (uint32_t)memory->size_bytes / 2;
    for (int i = 0; i < 5; i++) {
        med_port_segment segment = {
            .size_bytes = size_bytes, .place = MED_PORT_PLACE_TIGHT, .place_index = index};
        KEEPS(med_port_segment_create(&segment) == MEDLEY_OK);
        unsigned char *bytes = segment.address;
        uintptr_t offset = (uintptr_t)bytes - (uintptr_t)memory->address;
        KEEPS(offset <= memory->size_bytes && size_bytes <= memory->size_bytes - offset);
        KEEPS(bytes[0] == 0 && bytes[size_bytes - 1] == 0);
        bytes[0] = bytes[size_bytes - 1] = 1;
        med_port_segment_unmap(bytes, size_bytes, MED_PORT_PLACE_TIGHT);
    }
    med_port_segment whole = {.size_bytes = (uint32_t)memory->size_bytes + 1,
                              .place = MED_PORT_PLACE_TIGHT,
                              .place_index = index};
    KEEPS(med_port_segment_create(&whole) == MEDLEY_ERR_NO_MEMORY);
    return NULL;
}

static const char *
tight_memory_is_had_or_refused(void)
{
    med_port_tight memory;
    uint32_t count = 0;
    for (; med_port_tight_get(count, &memory); count++) {
        const char *broken = tight_memory_is_used(&memory, count);
        if (broken) {
            return broken;
        }
    }
    med_port_segment segment = {
        .size_bytes = 64, .place = MED_PORT_PLACE_TIGHT, .place_index = count};
    KEEPS(med_port_segment_create(&segment) == MEDLEY_ERR_NOT_SUPPORTED);
    KEEPS(segment.why[0] != '\0' && !segment.address);
    return NULL;
}

/* ---- Processors ------------------------------------------------------------------------------ */

static const char *
processors_are_counted(void)
{
    med_port_processors processors = {0};
    med_port_scheduling scheduling = {0};
    KEEPS(med_port_processors_discover(&processors) == MEDLEY_OK);
    KEEPS(processors.allowed >= 1 && processors.online >= processors.allowed);
    med_processor_set allowed;
    med_port_processors_allowed(&allowed);
    KEEPS(med_processor_set_count(&allowed) == processors.allowed);
    medley_status_t status = med_port_thread_bind(&allowed);
    KEEPS(status == MEDLEY_OK || status == MEDLEY_ERR_NOT_SUPPORTED);
    med_port_scheduling_get(&scheduling);
    KEEPS(scheduling.processors >= 1 && scheduling.processors <= processors.online);
    return NULL;
}

static const char *
counters_count_or_say_why(void)
{
    for (uint32_t kind = 0; kind < MED_PORT_COUNTER_KIND_COUNT; kind++) {
        med_port_counter counter = {.kind = (med_port_counter_kind)kind, .of_processor = true};
        uint64_t value;
        medley_status_t status = med_port_counter_open(&counter);
        KEEPS(status == MEDLEY_OK || counter.why[0] != '\0');
        if (status == MEDLEY_OK) {
            KEEPS(med_port_counter_read(&counter, &value) == MEDLEY_OK);
            med_port_counter_close(&counter);
        }
    }
    return NULL;
}

const med_port_check med_port_checks[] = {
    {"memory is zeroed and aligned", memory_is_zeroed_and_aligned},
    {"memory comes back in any order", memory_comes_back_in_any_order},
    {"memory too large is refused", memory_too_large_is_refused},
    {"copy of one row", copy_of_one_row},
    {"copy of rows with strides", copy_of_rows_with_strides},
    {"dropped lines are not lost", dropped_lines_are_not_lost},
    {"clock never goes back", clock_never_goes_back},
    {"delay is not short", delay_is_not_short},
    {"wait returns when the word differs", wait_returns_when_the_word_differs},
    {"wait ends at its deadline", wait_ends_at_its_deadline},
    {"wake hands over", wake_hands_over},
    {"thread gives its result", thread_gives_its_result},
    {"thread may be detached", thread_may_be_detached},
    {"self is each thread's own", self_is_each_threads_own},
    {"member is each thread's own", member_is_each_threads_own},
    {"barrier halves meet", barrier_halves_meet},
    {"doorbell counts", doorbell_counts},
    {"doorbell wakes", doorbell_wakes},
    {"tight memory is had or refused", tight_memory_is_had_or_refused},
    {"processors are counted", processors_are_counted},
    {"counters count or say why", counters_count_or_say_why},
};
const uint32_t med_port_check_count = sizeof med_port_checks / sizeof med_port_checks[0];
