/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ring with many producers (src/base/ring_mpsc.c): lanes, their owners, the consumer's map.
 *
 * What is committed is delivered exactly once, in the order in which its producer committed it, and
 * nothing else is delivered - whoever dies, wherever. Producer 1 sends, releases its lane, claims
 * again and sends more; producer 2 sends beside it, in lanes of two slots. The consumer looks only
 * at lanes whose bit in the map is set.
 *
 * An element is delivered when the consumer releases it: one that it dies with is there again.
 *
 * CONFIG ALL_LIVE              nobody dies; two lanes
 * CONFIG PRODUCER_DIES         producer 2 dies at any step; two recover it at once; two lanes
 * CONFIG RECOVERER_DIES        the same with one lane, and one of the two dies at any step
 * CONFIG CONSUMER_DIES         the consumer dies at any step; another takes its place; two lanes
 * MUTANT COMMIT_FIRST assertion/ALL_LIVE         commits, then fills
 * MUTANT RELEASE_FIRST assertion/ALL_LIVE        gives the slot back, then reads it
 * MUTANT CLEAR_BLINDLY assertion/ALL_LIVE        clears a bit and does not look again
 * MUTANT RETIRE_OWNED assertion/ALL_LIVE         looks again, but not whether somebody joined
 * MUTANT RETIRE_FILLED assertion/ALL_LIVE        looks again, but not whether there is leftover
 * MUTANT BIT_AFTER_SEND assertion/ALL_LIVE       sets the bit after the first commit
 * MUTANT IGNORE_LEFTOVER assertion/ALL_LIVE      claims any free lane, its own leftover elsewhere
 * MUTANT KEEP_LEFTOVER assertion/ALL_LIVE        keeps a lane in which there is another's leftover
 * MUTANT COMMIT_RESERVED assertion/PRODUCER_DIES recovery hands over what was only reserved
 * MUTANT FREE_BLINDLY assertion/PRODUCER_DIES    recovery frees the lane whoever owns it by now
 * MUTANT LANE_STAYS assertion/PRODUCER_DIES      recovery keeps the lane that it finds drained
 * MUTANT MAP_AS_FOUND assertion/CONSUMER_DIES    a new consumer trusts the map it finds
 */
#ifdef RECOVERER_DIES
#define LANES 1
#else
#define LANES 2
#endif
#define CAPACITY 2
#define PRODUCERS 2
#define VALUE(p, n) ((p) * 8 + (n)) /* an element: who sent it, and as which of his */

#if defined(PRODUCER_DIES) || defined(RECOVERER_DIES)
#define WITH_DEATH
#endif
#define MORTAL 2

typedef Lane {
    byte owner;  /* 0: nobody */
    byte former; /* who committed last */
    byte tail;
    byte head;
    byte slot[CAPACITY]
};
Lane lane[LANES];
bool map[LANES]; /* one word in truth: its bits change by fetch_or and fetch_and */

/* What the model knows and the code does not. */
byte committed[PRODUCERS + 1];
byte delivered[PRODUCERS + 1];
byte finished; /* producers that are through */
bool is_dead;  /* MORTAL is */
bool recovered;

#define DRAINED(l) (lane[l].tail == lane[l].head)

#ifdef WITH_DEATH
#define MAY_DIE(me)                                                                                \
    if                                                                                             \
    :: me == MORTAL -> goto dead                                                                   \
    :: true -> skip                                                                                \
    fi;
#else
#define MAY_DIE(me)
#endif

/* compare-and-swap of 0 and me in the owner of lane l; `got` says whether */
inline try_owner(l, me) {
    d_step {
        if
        :: lane[l].owner == 0 -> lane[l].owner = me; got = true
        :: else -> got = false
        fi
    }
}

/* med_ring_mpsc_claim, again and again until there is a lane: `mine` */
inline claim(me) {
    mine = LANES;
    do
    :: mine < LANES -> break
    :: mine == LANES ->
        i = 0;
        busy = false;
#ifndef IGNORE_LEFTOVER
        /* First a lane in which something of mine is left. */
        do
        :: i == LANES -> break
        :: i < LANES && lane[i].former == me && !DRAINED(i) -> busy = true; break
        :: else -> i++
        od;
        if
        :: !busy -> i = 0
        :: busy -> try_lane(me)
        fi;
#endif
        do
        :: busy || mine < LANES || i == LANES -> break
        :: !busy && mine == LANES && i < LANES ->
            if
#ifdef IGNORE_LEFTOVER
            :: lane[i].owner == 0 -> try_lane(me)
#else
            :: lane[i].owner == 0 && DRAINED(i) -> try_lane(me)
#endif
            :: else -> skip
            fi;
            i++
        od
    od
}

/* Lane i becomes `mine`, unless there is somebody else's leftover in it by now. */
inline try_lane(me) {
    try_owner(i, me);
    if
    :: got ->
        MAY_DIE(me)
        if
#ifdef KEEP_LEFTOVER
        :: false -> skip
#else
        :: !DRAINED(i) && lane[i].former != me -> lane[i].owner = 0
#endif
        :: else ->
            lane[i].former = me;
            MAY_DIE(me)
            mine = i;
#ifndef BIT_AFTER_SEND
            map[i] = true
#endif
        fi
    :: else -> skip
    fi
}

inline send(me) {
    (lane[mine].tail - lane[mine].head < CAPACITY); /* waits for space */
    MAY_DIE(me)
#ifdef COMMIT_FIRST
    d_step { committed[me]++; lane[mine].tail++ };
    lane[mine].slot[(lane[mine].tail - 1) % CAPACITY] = VALUE(me, sent);
#else
    lane[mine].slot[lane[mine].tail % CAPACITY] = VALUE(me, sent);
    MAY_DIE(me)
    d_step {
        assert(lane[mine].owner == me);
        committed[me]++;
        lane[mine].tail++ /* R1 */
    };
#endif
    sent++;
    MAY_DIE(me)
}

inline release(me) {
    assert(lane[mine].owner == me);
    lane[mine].owner = 0
}

proctype producer(byte me)
{
    byte mine, i, sent;
    bool got, busy;
    claim(me);
    send(me);
#ifdef BIT_AFTER_SEND
    map[mine] = true;
#endif
    if
    :: me == 1 ->
#ifndef WITH_DEATH
        send(me);
#endif
        release(me);
        claim(me);
        send(me)
    :: else -> skip
    fi;
    release(me);
    d_step { finished++ };
    goto through;
dead:
    is_dead = true;
through:
    skip
}

/* med_ring_mpsc_recover(MORTAL) */
proctype recoverer(bool mortal)
{
    byte i;
    bool seen;
end:
    is_dead;
    do
    :: i == LANES -> break
    :: i < LANES ->
        seen = (lane[i].owner == MORTAL);
#ifdef RECOVERER_DIES
        if
        :: mortal -> goto dead
        :: true -> skip
        fi;
#endif
#ifdef LANE_STAYS
        if
        :: seen && DRAINED(i) -> seen = false
        :: else -> skip
        fi;
#endif
        d_step {
            if
#ifdef FREE_BLINDLY
            :: seen ->
#else
            :: seen && lane[i].owner == MORTAL ->
#endif
                lane[i].owner = 0;
#ifdef COMMIT_RESERVED
                lane[i].tail++
#endif
            :: else -> skip
            fi;
            seen = false
        };
        i++
    od;
    recovered = true;
dead:
    skip
}

#ifdef CONSUMER_DIES
#define CONSUMER_MAY_DIE                                                                           \
    if                                                                                             \
    :: mortal -> goto dead                                                                         \
    :: true -> skip                                                                                \
    fi;
#else
#define CONSUMER_MAY_DIE
#endif

/* The element is the consumer's now, for good. */
inline deliver(element) {
    assert(element / 8 >= 1 && element / 8 <= PRODUCERS);
    assert(element % 8 == delivered[element / 8]);
    delivered[element / 8]++;
    assert(delivered[element / 8] <= committed[element / 8])
}

/* One run: what there was in lane l when it looked. */
inline consume(l) {
    do
    :: lane[l].head == limit -> break
    :: else ->
#ifdef RELEASE_FIRST
        lane[l].head++;
        element = lane[l].slot[(lane[l].head - 1) % CAPACITY];
        d_step { deliver(element) };
#else
        element = lane[l].slot[lane[l].head % CAPACITY];
        CONSUMER_MAY_DIE
        d_step { deliver(element); lane[l].head++ }; /* R2 */
#endif
        CONSUMER_MAY_DIE
    od
}

/* Lane l has nothing and no owner: it leaves the map, unless that has changed. */
inline retire(l) {
    map[l] = false;
    CONSUMER_MAY_DIE
#ifndef CLEAR_BLINDLY
    if
#if defined(RETIRE_OWNED)
    :: !DRAINED(l) -> map[l] = true
#elif defined(RETIRE_FILLED)
    :: lane[l].owner != 0 -> map[l] = true
#else
    :: lane[l].owner != 0 || !DRAINED(l) -> map[l] = true
#endif
    :: else -> skip
    fi;
#endif
}

proctype consumer(bool mortal, second)
{
    byte l, limit, element;
    bool last;
#ifndef MAP_AS_FOUND
    if
    :: second -> map[0] = true; map[LANES - 1] = true
    :: else -> skip
    fi;
#endif
    do
    :: true ->
        last = (finished == PRODUCERS || (finished == PRODUCERS - 1 && recovered));
        l = 0;
        do
        :: l == LANES -> break
        :: l < LANES ->
            if
            :: map[l] ->
                limit = lane[l].tail; /* A1 */
                CONSUMER_MAY_DIE
                if
                :: limit != lane[l].head -> consume(l)
                :: else ->
                    if
                    :: lane[l].owner == 0 -> retire(l)
                    :: else -> skip
                    fi
                fi
            :: else -> skip
            fi;
            l++
        od;
        if
        :: last -> break
        :: else -> skip
        fi
    od;
    atomic {
        assert(delivered[1] == committed[1]);
        assert(delivered[2] == committed[2]);
        assert(lane[0].owner == 0 && lane[LANES - 1].owner == 0)
    };
    goto through;
dead:
    run consumer(false, true);
through:
    skip
}

init {
    atomic {
        run producer(1);
        run producer(2);
#ifdef WITH_DEATH
        run recoverer(true);
        run recoverer(false);
#endif
        run consumer(true, false)
    }
}
