/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with many producers and many consumers (src/base/ring_mpmc.c): reserve, commit, cancel,
 * take, release, join and recover; the words of the slots, head, tail, the owners of the sides.
 *
 * Slots are reserved in the order of tail and taken in the order of head, each by one; what is
 * committed is taken once, whole; no side ever finds a word that it would call CORRUPT; and nobody
 * waits for ever, consumers behind a slot whose producer has stopped excepted.
 *
 * Who finds no room, or no element, waits until the word that said so or the counter changes: what
 * the wait object is for (models/wait.pml). So whoever stays stuck is a deadlock, which is what
 * Spin looks for. A comparison with the word that was seen stands for the compare-and-swap. One or
 * two slots, at most four times reserved. The lap does not wrap here; what that costs is said at
 * the head of ring_mpmc.c. Nor is the bound on tries here, which is for peers that scribble.
 *
 * In the configurations with a death the owner that dies is 2 (a producer) or 4 (a consumer),
 * behind any step that others can see; 5 and 6 recover it at once, and a newcomer, 7, takes its
 * side when that comes free.
 *
 * CONFIG ALL_LIVE              two producers, one of which may cancel; two consumers
 * CONFIG ONE_SLOT              the same in a ring of one slot
 * CONFIG PRODUCER_STOPS        a producer stops for ever, at any step; nobody recovers
 * CONFIG CONSUMER_STOPS        a consumer does
 * CONFIG PRODUCER_DIES         a producer dies; a newcomer takes over its side and produces
 * CONFIG RECOVERER_DIES        the same without a newcomer; one of the two recoverers dies as well
 * CONFIG CONSUMER_DIES         a consumer dies; what it had taken is lost; a newcomer consumes
 * CONFIG SALVAGE               the same, and what it had taken is kept by who recovers
 * MUTANT COMMIT_FIRST assertion/ALL_LIVE         commits, then fills
 * MUTANT RELEASE_FIRST assertion/ALL_LIVE        releases, then reads
 * MUTANT SAME_LAP assertion/ALL_LIVE             a released slot is free in the lap it had
 * MUTANT IGNORE_LAP assertion/ALL_LIVE           takes what is full, of whichever lap
 * MUTANT CLAIM_BLINDLY assertion/ALL_LIVE        claims by a store: the word may have changed
 * MUTANT MOVE_BLINDLY assertion/ONE_SLOT         moves tail on by a store
 * MUTANT STAND_AT_SKIP deadlock/ALL_LIVE         does not pass over a slot that was given up
 * MUTANT TRUST_THE_PAST assertion/ALL_LIVE       believes a word without asking whether the counter
 *                                                has moved on meanwhile
 * MUTANT NO_HELP_TAIL deadlock/PRODUCER_STOPS    leaves tail to who claimed the slot at tail
 * MUTANT NO_HELP_HEAD deadlock/CONSUMER_STOPS    leaves head to who claimed the slot at head
 * MUTANT COMMIT_RESERVED assertion/PRODUCER_DIES recovery hands over what was only reserved
 * MUTANT ANY_OWNER assertion/PRODUCER_DIES       recovery undoes claims of the side, whoever has it
 * MUTANT UNDO_BLINDLY assertion/PRODUCER_DIES    recovery undoes a claim by a store
 * MUTANT SIDE_FIRST deadlock/RECOVERER_DIES      recovery frees the side, then undoes its claims
 * MUTANT KEEP_READING deadlock/CONSUMER_DIES     recovery leaves what was taken
 * MUTANT KEEP_BEFORE_CLAIM assertion/SALVAGE     keeps the element before the slot is its own
 */
#if defined(ONE_SLOT) || defined(CONSUMER_DIES) || defined(SALVAGE)
#define CAPACITY 1
#else
#define CAPACITY 2
#endif

#if defined(PRODUCER_DIES) || defined(RECOVERER_DIES)
#define MORTAL 2
#define RECOVERED
#elif defined(CONSUMER_DIES) || defined(SALVAGE)
#define MORTAL 4
#define RECOVERED
#elif defined(PRODUCER_STOPS)
#define MORTAL 2
#elif defined(CONSUMER_STOPS)
#define MORTAL 4
#endif

#if defined(PRODUCER_DIES) || defined(CONSUMER_DIES) || defined(SALVAGE)
#define NEWCOMER 7
#endif

/* Who takes part: where a newcomer comes, the mortal one is the only one of its kind. */
#ifdef PRODUCER_DIES
#define FIRST_SENDS 0
#elif defined(PRODUCER_STOPS) || defined(CONSUMER_STOPS) || defined(RECOVERER_DIES)
#define FIRST_SENDS 1 /* where some stop, there is room for all */
#else
#define FIRST_SENDS 2
#endif
#if !defined(CONSUMER_DIES) && !defined(SALVAGE)
#define SECOND_PRODUCER
#endif
#if !defined(PRODUCER_DIES) && !defined(RECOVERER_DIES)
#define SECOND_CONSUMER
#endif
#if defined(CONSUMER_DIES) || defined(SALVAGE)
#define NO_FIRST_CONSUMER
#endif

#define INDICES 4 /* slots that are reserved in one run, at most */

/* The word: bits 0..2 side, then state, then lap. */
#define FREE 0
#define WRITING 1
#define FULL 2
#define READING 3
#define SKIP 4
#define WORD(lap, state, side) ((lap) * 40 + (state) * 8 + (side))
#define LAP(w) ((w) / 40)
#define STATE(w) (((w) % 40) / 8)
#define SIDE(w) ((w) % 8)
#define LAP_OF(i) ((i) / CAPACITY)

byte word[CAPACITY];
byte element[CAPACITY];
byte tail, head;
byte owner[8]; /* of a side: 0 nobody; 1 to 4 start with the side of their number */

/* What the model knows and the code does not. */
byte reserved, taken;    /* how many claims of each kind there were */
byte filled[INDICES];    /* what was committed there; 0: nothing */
byte delivered[INDICES]; /* how often it was read to the end */
byte lost;               /* taken by who died */
byte producers_left;
byte actors, done_count;
bool is_dead; /* MORTAL is */
byte recovered;

#ifdef MORTAL
#define MAY_DIE(me)                                                                                \
    if                                                                                             \
    :: me == MORTAL -> goto dead                                                                   \
    :: true -> skip                                                                                \
    fi;
#else
#define MAY_DIE(me)
#endif

inline move_on(counter) {
    d_step {
        if
#ifdef MOVE_BLINDLY
        :: true -> counter = index + 1
#else
        :: counter == index -> counter = index + 1
        :: else -> skip
#endif
        fi
    }
}

inline claim(state) {
    d_step {
        if
#ifdef CLAIM_BLINDLY
        :: true ->
#else
        :: word[index % CAPACITY] == seen ->
#endif
            word[index % CAPACITY] = WORD(LAP_OF(index), state, side);
            got = true
        :: else -> got = false
        fi
    }
}

/* med_ring_mpmc_reserve, until there is room */
inline reserve(me) {
    do
    :: true ->
        index = tail;                    /* A3 */
        seen = word[index % CAPACITY];   /* A2 */
        if
        :: LAP(seen) == LAP_OF(index) && STATE(seen) == FREE ->
            atomic {
                claim(WRITING);
                if
                :: got -> assert(index == reserved); reserved++
                :: else -> skip
                fi
            };
            if
            :: got ->
                break
            :: else -> skip
            fi
        :: (LAP(seen) == LAP_OF(index) && STATE(seen) != FREE) || LAP(seen) == LAP_OF(index) + 1 ->
#ifdef NO_HELP_TAIL
            tail != index
#else
            move_on(tail)
#endif
        :: else ->
#ifndef TRUST_THE_PAST
            if
            :: tail == index ->
#else
            if
            :: true ->
#endif
                assert(LAP(seen) + 1 == LAP_OF(index) && STATE(seen) != FREE);
                (word[index % CAPACITY] != seen || tail != index)
#ifndef TRUST_THE_PAST
            :: else -> skip
#endif
            fi
        fi
    od
}

inline fill_and_commit(me) {
#ifdef COMMIT_FIRST
    d_step {
        filled[index] = me * 8 + sent;
        word[index % CAPACITY] = WORD(LAP_OF(index), FULL, 0)
    };
    element[index % CAPACITY] = me * 8 + sent
#else
    element[index % CAPACITY] = me * 8 + sent;
    MAY_DIE(me)
    d_step {
        assert(word[index % CAPACITY] == WORD(LAP_OF(index), WRITING, side));
        filled[index] = me * 8 + sent;
        word[index % CAPACITY] = WORD(LAP_OF(index), FULL, 0); /* R1 */
        seen = 0;
        index = 0
    };
    MAY_DIE(me)
    skip
#endif
}

proctype producer(byte me, side, count)
{
    byte index, seen, sent;
    bool got;
    MAY_DIE(me)
    do
    :: sent == count -> break
    :: else ->
        reserve(me);
        MAY_DIE(me)
        move_on(tail); /* R3 */
        MAY_DIE(me)
        sent++;
        if
        :: true -> fill_and_commit(me)
#ifndef MORTAL
        :: me == 1 -> word[index % CAPACITY] = WORD(LAP_OF(index), SKIP, 0) /* cancel */
#endif
        fi
    od;
    owner[side] = 0; /* R5, med_ring_mpmc_leave */
    goto finished;
dead:
    is_dead = true;
finished:
    atomic { producers_left--; done_count++ }
}

/* Nothing is to come, and nothing to be had. */
#define DRAINED (producers_left == 0 && taken == reserved)

/* med_ring_mpmc_take, until there is an element, or nothing more to come: `got` */
inline take(me) {
    do
    :: true ->
        index = head;                  /* A3 */
        seen = word[index % CAPACITY]; /* A1 */
        if
#ifdef IGNORE_LAP
        :: STATE(seen) == FULL ->
#else
        :: LAP(seen) == LAP_OF(index) && STATE(seen) == FULL ->
#endif
            atomic {
                claim(READING);
                if
                :: got -> assert(index == taken); taken++
                :: else -> skip
                fi
            };
            if
            :: got -> break
            :: else -> skip
            fi
#ifdef IGNORE_LAP
        :: LAP(seen) == LAP_OF(index) && STATE(seen) == SKIP ->
#elif defined(STAND_AT_SKIP)
        :: LAP(seen) == LAP_OF(index) && STATE(seen) == SKIP ->
            (word[index % CAPACITY] != seen)
        :: false ->
#else
        :: LAP(seen) == LAP_OF(index) && STATE(seen) == SKIP ->
#endif
            atomic { /* skip */
                if
                :: word[index % CAPACITY] == seen ->
                    word[index % CAPACITY] = WORD(LAP_OF(index) + 1, FREE, 0); /* R2 */
                    assert(index == taken);
                    taken++;
                    got = true
                :: else -> got = false
                fi
            };
            MAY_DIE(me)
            if
            :: got -> move_on(head)
            :: else -> skip
            fi;
            got = false
        :: LAP(seen) == LAP_OF(index) + 1 ||
               (LAP(seen) == LAP_OF(index) && STATE(seen) == READING) ->
#ifdef NO_HELP_HEAD
            head != index
#else
            move_on(head)
#endif
        :: else ->
#ifndef TRUST_THE_PAST
            if
            :: head == index ->
#else
            if
            :: true ->
#endif
                assert((LAP(seen) == LAP_OF(index) &&
                           (STATE(seen) == FREE || STATE(seen) == WRITING)) ||
                       (LAP(seen) + 1 == LAP_OF(index) && STATE(seen) == READING));
#ifdef PRODUCER_STOPS
end_behind_it:
#endif
                if
                :: word[index % CAPACITY] != seen || head != index -> skip
                :: DRAINED -> got = false; break
                fi
#ifndef TRUST_THE_PAST
            :: else -> skip
#endif
            fi
        fi
    od
}

inline deliver() {
    assert(element[index % CAPACITY] == filled[index] && filled[index] != 0);
    assert(delivered[index] == 0);
    delivered[index]++
}

proctype consumer(byte me, side)
{
    byte index, seen;
    bool got;
    MAY_DIE(me)
    do
    :: true ->
        take(me);
        if
        :: !got -> break
        :: else -> skip
        fi;
        MAY_DIE(me)
        move_on(head); /* R3 */
        MAY_DIE(me)
#ifdef RELEASE_FIRST
        word[index % CAPACITY] = WORD(LAP_OF(index) + 1, FREE, 0);
        d_step { deliver() };
#else
        /* It has an element when it lets go of it: R2. */
        d_step {
            assert(word[index % CAPACITY] == WORD(LAP_OF(index), READING, side));
            deliver();
#ifdef SAME_LAP
            word[index % CAPACITY] = WORD(LAP_OF(index), FREE, 0)
#else
            word[index % CAPACITY] = WORD(LAP_OF(index) + 1, FREE, 0)
#endif
        };
#endif
        d_step { got = false; seen = 0; index = 0 };
        MAY_DIE(me)
        skip
    od;
    owner[side] = 0; /* R5 */
    goto finished;
dead:
    is_dead = true;
#ifdef CONSUMER_STOPS
    if
    :: word[index % CAPACITY] == WORD(LAP_OF(index), READING, side) -> lost++
    :: else -> skip
    fi;
#endif
finished:
    done_count++
}

#ifdef RECOVERED
/* med_ring_mpmc_recover(MORTAL) */
inline undo() {
    lap = LAP(seen);
    if
    :: STATE(seen) == WRITING ->
        d_step {
            if
#ifdef UNDO_BLINDLY
            :: true ->
#else
            :: word[slot] == seen ->
#endif
#ifdef COMMIT_RESERVED
                word[slot] = WORD(lap, FULL, 0)
#else
                word[slot] = WORD(lap, SKIP, 0)
#endif
            :: else -> skip
            fi
        }
#ifndef KEEP_READING
    :: STATE(seen) == READING ->
#ifdef SALVAGE
        index = lap * CAPACITY + slot;
#ifdef KEEP_BEFORE_CLAIM
        d_step { deliver() };
#endif
        d_step {
            if
            :: word[slot] == seen -> word[slot] = WORD(lap, READING, me); got = true
            :: else -> got = false
            fi
        };
        if
        :: got ->
#ifndef KEEP_BEFORE_CLAIM
            d_step { deliver() };
#endif
            word[slot] = WORD(lap + 1, FREE, 0) /* R2 */
        :: else -> skip
        fi
#else
        d_step {
            if
            :: word[slot] == seen -> word[slot] = WORD(lap + 1, FREE, 0); lost++ /* R2 */
            :: else -> skip
            fi
        }
#endif
#endif
    :: else -> skip
    fi
}

inline free_side() {
    side = 0;
    do
    :: side == 5 -> break
    :: else ->
        d_step {
            if
            :: owner[side] == MORTAL -> owner[side] = 0 /* R5 */
            :: else -> skip
            fi;
            side++
        }
    od
}

#ifdef RECOVERER_DIES
#define RECOVERER_MAY_DIE                                                                          \
    if                                                                                             \
    :: me == 5 -> goto dead                                                                        \
    :: true -> skip                                                                                \
    fi;
#else
#define RECOVERER_MAY_DIE
#endif

proctype recoverer(byte me)
{
    byte slot, seen, lap, index, side;
    bool got;
end:
    is_dead;
#ifdef RECOVERER_DIES
    /* The second comes when the first has died or is through: he sees what it left. */
    if
    :: me == 6 -> recovered > 0
    :: else -> skip
    fi;
#endif
#ifdef SIDE_FIRST
    got = (owner[MORTAL] == MORTAL);
    free_side();
    RECOVERER_MAY_DIE
    if
    :: !got -> goto dead
    :: else -> skip
    fi;
#endif
    do
    :: slot == CAPACITY -> break
    :: else ->
        seen = word[slot]; /* A4 */
        RECOVERER_MAY_DIE
        if
#if defined(ANY_OWNER) || defined(SIDE_FIRST)
        :: SIDE(seen) == MORTAL ->
#else
        :: (STATE(seen) == WRITING || STATE(seen) == READING) && owner[SIDE(seen)] == MORTAL ->
#endif
            undo()
        :: else -> skip
        fi;
        RECOVERER_MAY_DIE
        slot++
    od;
#ifndef SIDE_FIRST
    free_side();
#endif
dead:
    recovered++
}
#endif

#ifdef NEWCOMER
/* Joins on the side that the dead one had, and does as it did. */
proctype newcomer()
{
    atomic { owner[MORTAL] == 0; owner[MORTAL] = NEWCOMER }; /* A5 */
#if MORTAL == 2
    run producer(NEWCOMER, MORTAL, 1)
#else
    run consumer(NEWCOMER, MORTAL)
#endif
}
#endif

/* All are through: nothing is left of what was committed. */
proctype judge()
{
    byte i, missing;
#ifdef PRODUCER_STOPS
end: /* consumers may stand before its slot */
#endif
    done_count == actors;
#ifdef RECOVERED
    !is_dead || recovered == 2;
#endif
    d_step {
#ifndef PRODUCER_STOPS
        assert(taken == reserved);
#endif
        do
        :: i == INDICES -> break
        :: else ->
            if
            :: filled[i] != 0 && delivered[i] == 0 -> missing++
            :: else -> skip
            fi;
            i++
        od;
        assert(missing == lost);
        assert(lost <= 1)
    }
}

init {
    atomic {
        owner[1] = 1;
        owner[2] = 2;
        owner[3] = 3;
        owner[4] = 4;
        producers_left = 1;
        actors = 1;
        run producer(1, 1, FIRST_SENDS);
#ifndef NO_FIRST_CONSUMER
        actors++;
        run consumer(3, 3);
#endif
#ifdef SECOND_PRODUCER
        producers_left++;
        actors++;
        run producer(2, 2, 1);
#endif
#ifdef SECOND_CONSUMER
        actors++;
        run consumer(4, 4);
#endif
#ifdef RECOVERED
        run recoverer(5);
        run recoverer(6);
#endif
#ifdef NEWCOMER
        actors++;
        run newcomer();
#if MORTAL == 2
        producers_left++;
#endif
#endif
        run judge()
    }
}
