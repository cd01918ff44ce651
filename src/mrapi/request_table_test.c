/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The table of requests: its places, whose turn they are, and what tells them from former ones. */
#include "mrapi/request_test.h"

/* ---- The table ------------------------------------------------------------------------------- */

static void
all_places_in_use(void **state)
{
    uint32_t handles[PLACES];
    med_request *request;
    (void)state;
    for (int i = 0; i < PLACES; i++) {
        handles[i] = start(&one);
    }
    assert_int_equal(med_request_begin(&requests, MAKER, &next_place, &engine_operations, &request),
                     MEDLEY_ERR_LIMIT);
    /* What was canceled gives its place, and is no more. */
    assert_int_equal(med_request_cancel(&requests, handles[3]), MEDLEY_OK);
    uint32_t another = start(&one);
    assert_int_equal(test(handles[3]), MEDLEY_ERR_STALE);
    assert_int_equal(test(another), MEDLEY_BUSY);
    assert_int_equal(med_request_begin(&requests, MAKER, &next_place, &engine_operations, &request),
                     MEDLEY_ERR_LIMIT);
}

static void
an_abandoned_place_comes_back(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * PLACES; i++) {
        med_request *request;
        assert_int_equal(
            med_request_begin(&requests, MAKER, &next_place, &engine_operations, &request),
            MEDLEY_OK);
        med_request_abandon(request);
    }
}

/* A place's generation goes on across its wrap, and is never 0. */
static void
generations_wrap(void **state)
{
    (void)state;
    atomic32_store_relaxed(&one.over, 1);
    for (int i = 0; i < PLACES; i++) {
        atomic32_store_relaxed(&requests.places[i].word, 0xffffe000u); /* FREE */
    }
    uint32_t before = 0;
    for (int i = 0; i < 4 * PLACES; i++) {
        uint32_t handle = start(&one);
        assert_int_not_equal(handle >> 12, 0);
        assert_int_not_equal(handle, before);
        assert_int_equal(test(before), MEDLEY_ERR_STALE);
        assert_int_equal(test(handle), MEDLEY_OK);
        before = handle;
    }
    assert_true(before >> 12 < 8);
}

#define MANY 100 /* places, the last run of them a short one */
#define MANY_TEXT "100"
#define RUN 16
#define RUN_ROUNDS 1024

static int
set_up_many(void **state)
{
    (void)state;
    one = (engine){.over = ATOMIC32_INIT(1)};
    (void)setenv("MEDLEY_MAX_REQUESTS", MANY_TEXT, 1);
    bool good = med_requests_init(&requests) == MEDLEY_OK && requests.count == MANY;
    (void)setenv("MEDLEY_MAX_REQUESTS", PLACES_TEXT, 1);
    return good ? 0 : -1;
}

static uint32_t
start_and_collect(uint32_t maker, uint32_t *next)
{
    uint32_t handle = start_from(maker, next, &one);
    assert_int_equal(test(handle), MEDLEY_OK);
    return handle & 0xfffu;
}

/* Who has few requests at a time has them where no other has his. */
static void
makers_are_apart(void **state)
{
    uint32_t next[2] = {0, 0};
    bool had[2][MANY] = {{false}};
    uint32_t places[2] = {0, 0};
    (void)state;
    uint32_t lasting = start_from(0, &next[0], &one); /* at a place of the first one's */
    for (uint32_t i = 0; i < 4000; i++) {
        had[i % 2][start_and_collect(i % 2, &next[i % 2])] = true;
    }
    for (uint32_t i = 0; i < MANY; i++) {
        assert_false(had[0][i] && had[1][i]);
        places[0] += had[0][i];
        places[1] += had[1][i];
    }
    assert_int_equal(places[0], RUN - 1);
    assert_int_equal(places[1], RUN);
    assert_int_equal(test(lasting), MEDLEY_OK);
}

/* However unlike they are: some have far more requests than others. */
static void
places_come_equally_far(void **state)
{
    uint32_t next[3] = {0, 0, 0};
    uint32_t least = UINT32_MAX, most = 0;
    (void)state;
    for (uint32_t i = 0; i < 8 * MANY * RUN_ROUNDS; i++) {
        (void)start_and_collect(0, &next[0]);
        if (i % 8 == 0) {
            (void)start_and_collect(1, &next[1]);
        }
        if (i % 4096 == 0) {
            (void)start_and_collect(2, &next[2]);
        }
    }
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t generation =
            (atomic32_load_relaxed(&requests.places[i].word) - requests.first) >> 12;
        least = generation < least ? generation : least;
        most = generation > most ? generation : most;
    }
    assert_in_range(most - least, 0, 3 * RUN_ROUNDS);
}

#define LIVES 1000
#define REMEMBERED 16

/* Starts one, beside which none of those is there. */
static uint32_t
start_beside(const uint32_t former[REMEMBERED])
{
    uint32_t handle = start(&one);
    for (size_t i = 0; i < REMEMBERED; i++) {
        assert_int_equal(med_request_cancel(&requests, former[i]), MEDLEY_ERR_STALE);
        assert_int_equal(test(former[i]), MEDLEY_ERR_STALE);
    }
    return handle;
}

/* A table after the other, in which a place is in use all the time and others more or less: what
 * the former gave is nothing to the next. */
static void
former_tables_are_told_apart(void **state)
{
    uint32_t former[REMEMBERED] = {0};
    engine stays = {.over = ATOMIC32_INIT(0)};
    (void)state;
    atomic32_store_relaxed(&one.over, 1);
    for (uint32_t life = 0; life < LIVES; life++) {
        if (life % 2) {
            (void)start(&stays);
        }
        for (uint32_t i = 0; i < life % 3 * PLACES + life % 5; i++) {
            assert_int_equal(test(start_beside(former)), MEDLEY_OK);
        }
        former[life % REMEMBERED] = start_beside(former);
        med_requests_fini(&requests);
        assert_int_equal(med_requests_init(&requests), MEDLEY_OK);
    }
}

/* Where the generations wrap, too. */
static void
former_tables_are_told_apart_across_the_wrap(void **state)
{
    uint32_t former = 0;
    (void)state;
    atomic32_store_relaxed(&one.over, 1);
    for (int i = 0; i < PLACES; i++) {
        atomic32_store_relaxed(&requests.places[i].word, 0xffff0000u); /* FREE */
    }
    for (uint32_t life = 0; life < 40; life++) {
        for (uint32_t i = 0; i <= PLACES; i++) {
            uint32_t handle = start(&one);
            assert_int_not_equal(handle >> 12, 0);
            assert_int_equal(test(former), MEDLEY_ERR_STALE);
            assert_int_equal(test(handle), MEDLEY_OK);
        }
        former = start(&one);
        med_requests_fini(&requests);
        assert_int_equal(med_requests_init(&requests), MEDLEY_OK);
    }
    assert_true(former >> 12 < 0x1000);
}

#define TOLD_LAST 16u

/* Of a place that has come so far: has it told that one lately? */
static bool
was_told(uint32_t place, uint32_t furthest, uint32_t handle)
{
    uint32_t ago = ((furthest << 12) - (handle & ~0xfffu)) >> 12;
    return (handle & 0xfffu) == place && ago < TOLD_LAST;
}

/* The table whose places have come so far, and the one after it. */
static void
next_tells_nothing_of(const uint32_t furthest[PLACES])
{
    for (uint32_t i = 0; i < PLACES; i++) {
        atomic32_store_relaxed(&requests.places[i].word, furthest[i] << 12); /* FREE */
    }
    med_requests_fini(&requests);
    assert_int_equal(med_requests_init(&requests), MEDLEY_OK);
    for (uint32_t n = 0; n < 4 * PLACES; n++) {
        uint32_t handle = start(&one);
        assert_int_equal(test(handle), MEDLEY_OK);
        for (uint32_t i = 0; i < PLACES; i++) {
            assert_false(was_told(i, furthest[i], handle));
        }
    }
}

/* However much was begun in a table, and though some of its places have gone round and others not:
 * the next tells nothing that it told last. */
static void
far_tables_are_told_apart(void **state)
{
    static const uint32_t far[] = {0x7ffff,  0x80000,  0x80001,  0xffffe,  0xfffff,
                                   0x100000, 0x100001, 0x100007, 0x180000, 0x1fffff};
    (void)state;
    atomic32_store_relaxed(&one.over, 1);
    for (size_t f = 0; f < sizeof far / sizeof far[0]; f++) {
        uint32_t furthest[PLACES];
        for (uint32_t i = 0; i < PLACES; i++) {
            furthest[i] = ((requests.first >> 12) + far[f] - 2 * i) & 0xfffffu;
            furthest[i] += furthest[i] == 0; /* no generation */
        }
        next_tells_nothing_of(furthest);
    }
}

/* The least number is the furthest on. */
static void
some_places_have_gone_round(void **state)
{
    uint32_t furthest[PLACES];
    (void)state;
    atomic32_store_relaxed(&one.over, 1);
    for (uint32_t i = 0; i < PLACES; i++) {
        furthest[i] = (5 - 2 * i) & 0xfffffu;
    }
    next_tells_nothing_of(furthest);
}

/* A child that could not end its parent's tables, and a child of that one, and so on: none tells
 * what any before it told. */
static void
forgotten_tables_are_told_apart(void **state)
{
    enum {
        GENERATIONS = 7,
        EACH = 2 * PLACES
    };
    uint32_t told[GENERATIONS * EACH];
    size_t count = 0;
    (void)state;
    atomic32_store_relaxed(&one.over, 1);
    while (count < GENERATIONS * EACH) {
        for (size_t i = 0; i < EACH; i++) {
            uint32_t handle = start(&one);
            assert_int_equal(test(handle), MEDLEY_OK);
            for (size_t t = 0; t < count; t++) {
                assert_int_not_equal(handle, told[t]);
            }
            told[count++] = handle;
        }
        med_requests left = requests; /* where it is */
        med_requests_forget();
        assert_int_equal(med_requests_init(&requests), MEDLEY_OK);
        med_port_memory_unmap(left.places, left.count * sizeof(med_request));
    }
}

/* A process may be in two systems at once: whichever it leaves last, its next table is behind what
 * both told. */
static void
two_tables_at_once(void **state)
{
    enum {
        EACH = 4 * PLACES
    };
    (void)state;
    atomic32_store_relaxed(&one.over, 1);
    for (int first_ends_first = 0; first_ends_first < 2; first_ends_first++) {
        med_requests other;
        uint32_t told[2 * EACH];
        assert_int_equal(med_requests_init(&other), MEDLEY_OK);
        for (int i = 0; i < EACH; i++) {
            told[i] = start(&one);
            assert_int_equal(test(told[i]), MEDLEY_OK);
        }
        med_requests first = requests;
        requests = other;
        for (int i = EACH; i < 2 * EACH; i++) {
            told[i] = start(&one);
            assert_int_equal(test(told[i]), MEDLEY_OK);
        }
        med_requests_fini(first_ends_first ? &first : &requests);
        med_requests_fini(first_ends_first ? &requests : &first);
        assert_int_equal(med_requests_init(&requests), MEDLEY_OK);
        for (int n = 0; n < EACH; n++) {
            uint32_t handle = start(&one);
            for (int i = 0; i < 2 * EACH; i++) {
                assert_int_not_equal(handle, told[i]);
            }
            assert_int_equal(test(handle), MEDLEY_OK);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_places_in_use, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_abandoned_place_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(generations_wrap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(makers_are_apart, set_up_many, tear_down),
        cmocka_unit_test_setup_teardown(places_come_equally_far, set_up_many, tear_down),
        cmocka_unit_test_setup_teardown(former_tables_are_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(former_tables_are_told_apart_across_the_wrap, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(far_tables_are_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(some_places_have_gone_round, set_up, tear_down),
        cmocka_unit_test_setup_teardown(forgotten_tables_are_told_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_tables_at_once, set_up, tear_down),
    };
    (void)setenv("MEDLEY_MAX_REQUESTS", PLACES_TEXT, 1);
    (void)setenv("MEDLEY_LOG", "quiet", 0);
    return cmocka_run_group_tests_name("table of requests", tests, NULL, NULL);
}
