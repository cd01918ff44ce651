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
 * CONFIG ONE_DIES            the sender dies anywhere
 * CONFIG TWO_DIE             the receiver does, too
 * MUTANT ATTACH_LEFT assertion/ONE_DIES        attaches to what it has left
 * MUTANT FIRST_REMOVES assertion/ONE_DIES      the first to leave removes the row
 * MUTANT REMOVE_ANY assertion/ONE_DIES         a removal does not ask which life it is
 * MUTANT MARK_BY_STORE assertion/ONE_DIES       looks at the ends, then writes them
 * MUTANT UNASKED assertion/ONE_DIES             makes a lane without asking whether an end closes
 * MUTANT PASS_UNLOCKED assertion/ONE_DIES       an endpoint goes through its lanes without the lock
 * MUTANT CLOSE_LAST assertion/ONE_DIES          goes through its lanes, then says that it closes
 * MUTANT NEVER_SWEEP assertion/ONE_DIES         what a dead one left between GONE and removal stays
 */
#define SENDER 1
#define RECEIVER 2
#define LAST 3 /* who does not die */

#define P 1 /* of `ends`: the producer is gone */
#define C 2

bool live;
byte generation;
byte pair; /* SENDER: the lane from SENDER to RECEIVER; LAST: its own */
byte ends;
byte lock;
bool closing[4]; /* of the endpoint of each */
bool gone[4];    /* its row is removed */

/* What the model knows and the code does not. */
byte producer, consumer; /* who uses that side of the memory */
bool is_dead[4];
byte over;

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
    d_step { swept = generation; both = live && ends == (P | C) };
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
    :: before & (P + C - side) ->
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
            d_step { ends = 0; pair = SENDER; live = true; life = generation; made = true }
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
            d_step { ends = 0; pair = me; live = true; life = generation; made = true };
            lock = 0
        :: else ->
            lock = 0;
            /* Nothing to do until somebody does something. */
            !live || ends == (P | C) || (is_dead[SENDER] && !gone[SENDER]) ||
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
