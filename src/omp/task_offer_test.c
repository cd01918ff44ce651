/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* When a member goes alone, for how long, and what ends it; by a clock that the test turns. */
#include "omp/task_offer.h"

#include "support/unit.h"

#define MAKER 0x1000u
#define WITH_OTHERS_TICKS 400u /* a task, when others help */
#define TINY_TICKS 20u         /* and alone */

static med_task_offer offer;
static uint64_t now;

/* A stretch with others; so many tasks of it were theirs. */
static void
stretch(uint32_t taken, uint32_t at_once)
{
    offer.taken = taken;
    offer.at_once = at_once;
    now += (uint64_t)(taken + at_once) * WITH_OTHERS_TICKS;
    med_offer_turn(&offer, now);
}

/* Until it knows how long a task takes with others, and tries to go alone. */
static void
learn(void)
{
    med_offer_begin(&offer);
    med_offer_change(&offer, MAKER);
    med_offer_turn(&offer, now);
    for (uint32_t i = 0; !offer.alone; i++) {
        assert_true(i < 3);
        assert_int_equal(offer.enough, MED_OFFER_LEAST);
        stretch(24, 8);
    }
}

/* So many tasks it executes before it offers again, or `most`. */
static uint32_t
alone_for(uint32_t task_ticks, uint32_t most)
{
    for (uint32_t i = 0; i < most; i++) {
        if (!med_offer_is_unlooked(&offer) && !med_offer_goes_on(&offer, now)) {
            return i;
        }
        now += task_ticks;
    }
    return most;
}

#define MANY 100000u

static void
tasks_shorter_than_a_theft_are_not_offered(void **state)
{
    uint32_t longest = 0;
    (void)state;
    learn();
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(offer.enough, 0);
        uint32_t count = alone_for(TINY_TICKS, MANY);
        assert_true(count >= longest && count < MANY);
        longest = count;
        assert_int_equal(offer.alone, 0);
        assert_int_equal(offer.enough, MED_OFFER_LEAST);
        med_offer_turn(&offer, now);
        stretch(32, 0);
    }
    assert_true(longest > 10000);
}

static void
a_long_one_ends_it(void **state)
{
    (void)state;
    for (uint32_t before = 0; before < 64; before++) {
        learn();
        assert_int_equal(alone_for(TINY_TICKS, before), before);
        assert_true(alone_for(1000000, MANY) <= MED_OFFER_UNLOOKED);
        assert_int_equal(offer.enough, MED_OFFER_LEAST);
    }
}

static void
what_is_no_faster_alone_is_offered(void **state)
{
    (void)state;
    learn();
    uint32_t tries = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        if (offer.alone) {
            assert_true(alone_for(WITH_OTHERS_TICKS * 2, MANY) < 100);
            tries++;
            med_offer_turn(&offer, now);
        }
        stretch(16, 16);
    }
    assert_true(tries > 10);
    assert_true(tries < 100);
}

static void
what_nobody_takes_tells_nothing(void **state)
{
    (void)state;
    med_offer_begin(&offer);
    med_offer_change(&offer, MAKER);
    med_offer_turn(&offer, now);
    for (uint32_t i = 0; i < 100; i++) {
        stretch(7, 32);
        assert_int_equal(offer.alone, 0);
    }
}

static void
another_maker_offers(void **state)
{
    (void)state;
    learn();
    assert_int_equal(alone_for(TINY_TICKS, 10), 10);
    med_offer_change(&offer, MAKER + 1);
    assert_int_equal(offer.alone, 0);
    assert_int_equal(offer.enough, MED_OFFER_LEAST);
}

/* What it makes behind a wait may have to meet. */
static void
who_waits_offers_again(void **state)
{
    (void)state;
    learn();
    assert_int_equal(offer.enough, 0);
    med_offer_pause(&offer, MAKER);
    assert_int_equal(offer.alone, 0);
    assert_int_equal(offer.enough, MED_OFFER_LEAST);
    for (uint32_t i = 0; i < 100; i++) { /* a stretch that a wait ends is none */
        stretch(24, 8);
        med_offer_pause(&offer, MAKER);
        assert_int_equal(offer.alone, 0);
    }
}

/* Enough grows with what others take, and shrinks when they do not. */
static void
who_is_robbed_offers_more(void **state)
{
    (void)state;
    med_offer_begin(&offer);
    for (uint32_t i = 0; i < 20; i++) {
        offer.is_begun = false; /* of no stretch: how long all takes is another test's */
        (void)med_offer_taken(&offer, 0, MED_TASK_QUEUE);
    }
    assert_int_equal(offer.enough, MED_TASK_QUEUE);
    for (uint32_t i = 0; i < MED_TASK_QUEUE; i++) {
        med_offer_untouched(&offer, MAKER);
    }
    assert_int_equal(offer.enough, MED_OFFER_LEAST);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_shorter_than_a_theft_are_not_offered),
        cmocka_unit_test(a_long_one_ends_it),
        cmocka_unit_test(what_is_no_faster_alone_is_offered),
        cmocka_unit_test(what_nobody_takes_tells_nothing),
        cmocka_unit_test(another_maker_offers),
        cmocka_unit_test(who_waits_offers_again),
        cmocka_unit_test(who_is_robbed_offers_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
