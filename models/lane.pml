/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The life of a lane (src/mcapi/lane.c, endpoint.c): made, used by its two sides, left by each, its
 * row removed and another pair's.
 *
 * While a side has not left, the row and its memory are that lane's; no side is used by two; no
 * lane is made for an endpoint that is gone; and in the end, whoever died wherever, the row is
 * free.
 *
 * One row. The sender makes a lane to the receiver, sends, and deletes its endpoint, or drops the
 * lane when the receiver is gone, and may make it again. The receiver finds it, receives, may leave
 * it for good (what lies there is corrupt) and looks again all the same, retires it when the sender
 * is gone, or deletes its endpoint at any time. The third does not die; it wants the row for a lane
 * from itself to itself, recovers who is dead, and looks at everything in the end. Who may die,
 * dies behind any store. That an insertion or removal is whole: models/table.pml; its lock here is
 * had by one who lives, a dead one's by whoever wants it. Generations do not wrap here.
 *
 * A topic's lane its receiver makes, and its sender, who publishes, may not come to it for long:
 * until he has taken it up it is over when the receiver has left. He goes through the lanes twice,
 * each time perhaps not before the third has had the row, takes up what he finds, and drops it, or
 * deletes his endpoint. The receiver subscribes twice, and leaves, or deletes his endpoint.
 *
 * CONFIG ONE_DIES            the sender dies anywhere
 * CONFIG TWO_DIE             the receiver does, too
 * CONFIG TOPIC               the same of a topic's
 * MUTANT ATTACH_LEFT assertion/ONE_DIES        attaches to what it has left
 * MUTANT FIRST_REMOVES assertion/ONE_DIES      the first to leave removes the row
 * MUTANT REMOVE_ANY assertion/ONE_DIES         a removal does not ask which life it is
 * MUTANT MARK_BY_STORE assertion/ONE_DIES       looks at the ends, then writes them
 * MUTANT UNASKED assertion/ONE_DIES             makes a lane without asking whether an end closes
 * MUTANT PASS_UNLOCKED assertion/ONE_DIES       an endpoint goes through its lanes without the lock
 * MUTANT CLOSE_LAST assertion/ONE_DIES          goes through its lanes, then says that it closes
 * MUTANT NEVER_SWEEP assertion/ONE_DIES         what a dead one left between GONE and removal stays
 * MUTANT WAITED_FOR deadlock/TOPIC              what nobody took up ends with both all the same
 * MUTANT STAYS_ALONE assertion/TOPIC            what was taken up ends with the receiver
 * MUTANT TAKE_ANY deadlock/TOPIC                taking up does not ask which life it is
 * MUTANT TAKE_OVER assertion/TOPIC              nor whether the receiver has left
 * MUTANT TAKE_BY_STORE assertion/TOPIC          looks at the ends, then writes them
 * MUTANT UNTAKEN_UP assertion/TOPIC             the sender attaches without taking it up
 */
#define SENDER 1
#define RECEIVER 2
#define LAST 3 /* who does not die */

#define P 1 /* of `ends`: the producer is gone */
#define C 2
#define U 4 /* it was not taken up */

#ifdef TOPIC
#define TWO_DIE
#endif

bool live;
byte generation;
byte pair; /* SENDER: the lane from SENDER to RECEIVER; LAST: its own */
byte ends;
byte ends_life; /* of what life they are: in the same word */
byte lock;
bool closing[4]; /* of the endpoint of each */
bool gone[4];    /* its row is removed */

/* What the model knows and the code does not. */
byte producer, consumer; /* who uses that side of the memory */
bool is_dead[4];
byte over;
bool had; /* the third has had the row */

#ifdef WAITED_FOR
#define IS_OVER(e) (((e) & (P | C)) == (P | C))
#else
#define IS_OVER(e) (((e) & C) && ((e) & (P | U)))
#endif

#ifdef TWO_DIE
#define MORTAL(me) (me != LAST)
#else
#define MORTAL(me) (me == SENDER)
#endif
#define MAY_DIE                                                                                    \
    if                                                                                             \
    :: MORTAL(me) -> goto dead                                                                     \
    :: true -> skip                                                                                \
    fi;

#define TAKE_LOCK                                                                                  \
    d_step {                                                                                       \
        (lock == 0 || is_dead[lock]);                                                              \
        lock = me                                                                                  \
    };                                                                                             \
    MAY_DIE

/* med_table_remove of that life */
inline remove(life) {
    TAKE_LOCK
    d_step {
        if
#ifdef REMOVE_ANY
        :: live ->
#else
        :: live && generation == life ->
#endif
            assert(producer == 0 && consumer == 0);
            live = false;
            generation++
        :: else -> skip
        fi;
        lock = 0
    };
    MAY_DIE
}

inline sweep() {
    d_step { swept = generation; both = live && IS_OVER(ends) };
    if
#ifdef NEVER_SWEEP
    :: false ->
#else
    :: both ->
#endif
        remove(swept)
    :: else -> skip
    fi
}

/* side_leaves: what the ends were before */
inline mark(side) {
#ifdef MARK_BY_STORE
    before = ends;
    d_step { ends = before | side };
#else
    d_step { before = ends; ends = ends | side };
#endif
    MAY_DIE
}

/* med_lane_leave of a side that the caller has not left */
inline leave(side, life) {
    d_step {
        assert(live && generation == life);
        if
        :: side == P && producer == me -> producer = 0
        :: side == C && consumer == me -> consumer = 0
        :: else -> skip
        fi
    };
    mark(side);
    if
#ifdef FIRST_REMOVES
    :: true ->
#else
    :: IS_OVER(before | side) ->
#endif
        remove(life)
    :: else -> skip
    fi
}

/* leave_all, for the endpoint of that node */
inline pass(whose) {
#ifndef PASS_UNLOCKED
    TAKE_LOCK
#endif
    if
    :: live && pair == SENDER && whose == SENDER -> mark(P)
    :: live && pair == SENDER && whose == RECEIVER -> mark(C)
    :: else -> skip
    fi;
#ifndef PASS_UNLOCKED
    lock = 0;
    MAY_DIE
#endif
    sweep()
}

inline delete(whose) {
#ifdef CLOSE_LAST
    pass(whose);
    closing[whose] = true;
#else
    closing[whose] = true;
    MAY_DIE
    pass(whose);
#endif
    gone[whose] = true;
    MAY_DIE
}

/* The dead one's sides are nobody's. */
inline recover(whom) {
    if
    :: is_dead[whom] && !gone[whom] ->
        d_step {
            if
            :: producer == whom -> producer = 0
            :: else -> skip
            fi;
            if
            :: consumer == whom -> consumer = 0
            :: else -> skip
            fi
        };
        delete(whom)
    :: else -> skip
    fi
}

/* lane_fill, and LIVE; with the lock held */
#define MAKE(whose, unready)                                                                       \
    d_step {                                                                                       \
        ends = unready;                                                                            \
        ends_life = generation;                                                                    \
        pair = whose;                                                                              \
        live = true;                                                                               \
        life = generation;                                                                         \
        made = true                                                                                \
    }

#ifndef TOPIC
proctype sender(byte me)
{
    byte before, swept, life, rounds;
    bool both, made;

    do
    :: rounds < 2 ->
        rounds++;
        made = false;
        TAKE_LOCK
        if
#ifdef UNASKED
        :: !live ->
#else
        :: !live && !closing[RECEIVER] ->
#endif
            MAY_DIE
            MAKE(SENDER, 0)
            MAY_DIE
        :: else -> skip
        fi;
        lock = 0;
        MAY_DIE
        if
        :: made -> skip
        :: else -> goto without
        fi;
        d_step { assert(producer == 0 && live && generation == life); producer = me };
        MAY_DIE
        assert(producer == me && live && pair == SENDER && generation == life);
        if
        :: ends & C -> leave(P, life)
        :: true -> break
        fi;
without:
        skip
    :: else -> break
    od;
    skip;
    d_step {
        if
        :: producer == me -> producer = 0
        :: else -> skip
        fi
    };
    delete(SENDER);
    goto finished;
dead:
    is_dead[me] = true;
finished:
    over++
}

proctype receiver(byte me)
{
    byte before, swept, life, looks;
    bool both;

    do
    :: looks < 2 ->
        looks++;
        /* lanes_look, and attach */
        d_step {
#ifdef ATTACH_LEFT
            both = live && pair == SENDER;
#else
            both = live && pair == SENDER && !(ends & C);
#endif
            life = generation;
            if
            :: both -> assert(consumer == 0); consumer = me
            :: else -> skip
            fi
        };
        if
        :: both ->
            MAY_DIE
            assert(consumer == me && live && pair == SENDER && generation == life);
            if
            :: ends & P -> leave(C, life)
            :: true -> leave(C, life) /* corrupt */
            :: true -> break
            fi
        :: else -> skip
        fi
    :: else -> break
    :: true -> break
    od;
    skip;
    d_step {
        if
        :: consumer == me -> consumer = 0
        :: else -> skip
        fi
    };
    delete(RECEIVER);
    goto finished;
dead:
    is_dead[me] = true;
finished:
    over++
}

#else
/* The receiver: subscribes. */
proctype receiver(byte me)
{
    byte before, swept, life, rounds;
    bool both, made;

    do
    :: rounds < 2 ->
        rounds++;
        made = false;
        TAKE_LOCK
        if
        :: !live && !closing[SENDER] ->
            MAY_DIE
            MAKE(SENDER, U)
            MAY_DIE
        :: else -> skip
        fi;
        lock = 0;
        MAY_DIE
        if
        :: made ->
            d_step { assert(consumer == 0 && live && generation == life); consumer = me };
            MAY_DIE
            assert(consumer == me && live && pair == SENDER && generation == life);
            if
            :: true -> leave(C, life)
            :: true -> break
            fi
        :: else -> skip
        fi
    :: else -> break
    od;
    skip;
    d_step {
        if
        :: consumer == me -> consumer = 0
        :: else -> skip
        fi
    };
    delete(RECEIVER);
    goto finished;
dead:
    is_dead[me] = true;
finished:
    over++
}

/* med_lane_take_up */
inline take_up() {
#ifdef TAKE_BY_STORE
    before = ends;
    taken = ends_life == life && !IS_OVER(before);
    if
    :: taken -> ends = before & ~U
    :: else -> skip
    fi;
#else
    d_step {
#ifdef TAKE_ANY
        taken = !IS_OVER(ends);
#else
#ifdef TAKE_OVER
        taken = ends_life == life;
#else
        taken = ends_life == life && !IS_OVER(ends);
#endif
#endif
        if
        :: taken ->
#ifdef STAYS_ALONE
            skip
#else
            ends = ends & ~U
#endif
        :: else -> skip
        fi
    };
#endif
    MAY_DIE
}

/* The sender: publishes. */
proctype sender(byte me)
{
    byte before, swept, life, looks;
    bool both, taken;

    do
    :: looks < 2 ->
        looks++;
        if
        :: true -> had
        :: true -> skip
        fi;
        /* subscribers_look: of the row's state, then of its key, perhaps a later life's */
        d_step { both = live; life = generation };
        both = both && pair == SENDER;
        if
        :: both ->
#ifdef UNTAKEN_UP
            taken = true;
#else
            take_up();
#endif
            if
            :: taken ->
                d_step { /* attach */
                    both = live && generation == life && !(ends & P);
                    if
                    :: both -> assert(producer == 0); producer = me
                    :: else -> skip
                    fi
                };
                if
                :: both ->
                    MAY_DIE
                    assert(producer == me && live && pair == SENDER && generation == life);
                    if
                    :: ends & C -> leave(P, life)
                    :: true -> leave(P, life) /* corrupt */
                    :: true -> break
                    fi
                :: else -> skip
                fi
            :: else -> skip
            fi
        :: else -> skip
        fi
    :: else -> break
    od;
    skip;
    d_step {
        if
        :: producer == me -> producer = 0
        :: else -> skip
        fi
    };
    delete(SENDER);
    goto finished;
dead:
    is_dead[me] = true;
finished:
    over++
}
#endif

/* A lane from itself to itself, as soon as there is room. */
proctype last(byte me)
{
    byte before, swept, life;
    bool both, made;

    do
    :: !made ->
        recover(SENDER);
        recover(RECEIVER);
        sweep();
        TAKE_LOCK
        if
        :: !live ->
            MAKE(me, 0);
            had = true;
            lock = 0
        :: else ->
            lock = 0;
            /* Nothing to do until somebody does something. */
            !live || IS_OVER(ends) || (is_dead[SENDER] && !gone[SENDER]) ||
                (is_dead[RECEIVER] && !gone[RECEIVER])
        fi
    :: else -> break
    od;
    skip;
    d_step { assert(producer == 0 && consumer == 0); producer = me; consumer = me };
    assert(producer == me && consumer == me && live && pair == me && generation == life);
    leave(P, life);
    assert(consumer == me && live && pair == me && generation == life);
    leave(C, life);
    over == 2;
    recover(SENDER);
    recover(RECEIVER);
    sweep();
    assert(!live && producer == 0 && consumer == 0 && gone[SENDER] && gone[RECEIVER]);
    goto finished;
dead:
    assert(false);
finished:
    over++
}

init {
    atomic {
        run sender(SENDER);
        run receiver(RECEIVER);
        run last(LAST)
    }
}
