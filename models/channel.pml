/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The life of a channel (src/mcapi/channel.c, lane.c, endpoint.c): two endpoints are set, connected
 * by anybody, opened by their owners, closed, connected again, deleted.
 *
 * Connected ends agree; an end is of one channel only, and is opened by its owner alone, of the
 * life that it was told of; a connection is seen by both owners, until each has closed; who dies
 * connecting leaves nothing that hinders others; and in the end, whoever died wherever, the rows
 * are free.
 *
 * Two endpoints, two rows. Each owner may set its endpoint, opens and closes it as often as it is
 * connected, and deletes it. Two connect them: one may die behind any store; the other does not,
 * recovers who is dead, and wants a row for a lane of its own too, which may have a name that a
 * dead one left. Removal and the passes of an endpoint that goes are as in lane.pml, and shorter
 * here: a pass is one step under the lock. What a dead one was making is undone, and keeps its
 * generation, as if that had come round; otherwise generations do not wrap.
 *
 * CONFIG CONNECTOR_DIES      who connects dies anywhere
 * CONFIG OWNER_DIES          the sender's node does
 * MUTANT LOOKS_UNLOCKED assertion/CONNECTOR_DIES   looks whether the ends are free, then locks
 * MUTANT AGREES_UNLOCKED assertion/CONNECTOR_DIES  looks whether they agree, then locks
 * MUTANT SETS_UNLOCKED assertion/CONNECTOR_DIES    an endpoint is set without the lock
 * MUTANT ANY_LANE assertion/CONNECTOR_DIES         does not ask whose the lane is that an end names
 * MUTANT CLEARS_ANY assertion/CONNECTOR_DIES       closes, then says "free", whatever is named then
 * MUTANT FIRST_REMOVES assertion/CONNECTOR_DIES    the first to close removes the row
 * MUTANT NAMES_ONE assertion/CONNECTOR_DIES        only the sender is told of the lane
 */
#define SENDER 1 /* owns endpoint 0 */
#define RECEIVER 2
#define CONNECTOR 3
#define LAST 4 /* who does not die */

#define GONE(end) (1 << (end))
#define BOTH 3
#define CHANNEL 1 /* of `pair` */
#define OTHER 2   /* a lane of LAST's own, between other endpoints */

bool live[2];
byte generation[2];
byte pair[2];
byte ends[2];
byte lock;

byte names[2]; /* of each endpoint: 1 + row + 2 * generation; 0: none */
bool attribute[2];
bool closing[2], gone[2];

/* What the model knows and the code does not. */
byte user[4]; /* of row and side, 2 * row + side: who uses it */
bool is_dead[5];
byte connects_over;
byte over;

#ifdef OWNER_DIES
#define MORTAL(me) (me == SENDER)
#else
#define MORTAL(me) (me == CONNECTOR)
#endif
#define MAY_DIE                                                                                    \
    if                                                                                             \
    :: MORTAL(me) -> goto dead                                                                     \
    :: true -> skip                                                                                \
    fi;

/* What a dead one had under way is not LIVE, and so undone. */
#define TAKE_LOCK                                                                                  \
    d_step {                                                                                       \
        (lock == 0 || is_dead[lock]);                                                              \
        lock = me                                                                                  \
    };                                                                                             \
    MAY_DIE

/* med_endpoint_channel */
#define NAMED(end) ((names[end] - 1) & 1)
#ifdef ANY_LANE
#define IS_END(end) true
#else
#define IS_END(end) (pair[NAMED(end)] == CHANNEL)
#endif
#define IS_CONNECTED(end)                                                                          \
    (names[end] != 0 && live[NAMED(end)] && generation[NAMED(end)] == ((names[end] - 1) >> 1) &&   \
     IS_END(end))

/* The lock is had. */
inline remove(row, life) {
    d_step {
        if
        :: live[row] && generation[row] == life ->
            assert(user[2 * row] == 0 && user[2 * row + 1] == 0);
            live[row] = false;
            generation[row]++
        :: else -> skip
        fi
    }
}

inline sweep() {
    TAKE_LOCK
    d_step {
        row = 0;
        do
        :: row < 2 ->
            if
            :: live[row] && ends[row] == BOTH ->
                assert(user[2 * row] == 0 && user[2 * row + 1] == 0);
                live[row] = false;
                generation[row]++
            :: else -> skip
            fi;
            row++
        :: else -> break
        od;
        lock = 0
    };
    MAY_DIE
}

/* The endpoint goes: says so, leaves its lanes. */
inline delete(end) {
    closing[end] = true;
    MAY_DIE
    TAKE_LOCK
    d_step {
        row = 0;
        do
        :: row < 2 ->
            if
            :: live[row] && pair[row] == CHANNEL -> ends[row] = ends[row] | GONE(end)
            :: else -> skip
            fi;
            row++
        :: else -> break
        od;
        lock = 0
    };
    MAY_DIE
    sweep();
    gone[end] = true;
    MAY_DIE
}

inline recover(whom, end) {
    if
    :: is_dead[whom] && !gone[end] ->
        d_step {
            user[end] = (user[end] == whom -> 0 : user[end]);
            user[2 + end] = (user[2 + end] == whom -> 0 : user[2 + end])
        };
        delete(end)
    :: else -> skip
    fi
}

inline free_row() {
    d_step {
        row = 0;
        if
        :: !live[0] -> row = 0
        :: live[0] && !live[1] -> row = 1
        :: else -> row = 2
        fi
    }
}

/* med_channel_connect. There is one lane of that key at most. */
inline connect() {
#ifdef LOOKS_UNLOCKED
    may = !IS_CONNECTED(0) && !IS_CONNECTED(1);
#endif
#ifdef AGREES_UNLOCKED
    agree = attribute[0] == attribute[1];
#endif
    TAKE_LOCK
#ifndef LOOKS_UNLOCKED
    may = !IS_CONNECTED(0) && !IS_CONNECTED(1);
#endif
#ifndef AGREES_UNLOCKED
    agree = attribute[0] == attribute[1];
#endif
    free_row();
    if
    :: may && agree && row < 2 && !closing[0] && !closing[1] ->
        names[0] = 1 + row + 2 * generation[row];
        MAY_DIE
#ifndef NAMES_ONE
        names[1] = 1 + row + 2 * generation[row];
        MAY_DIE
#endif
        d_step {
            assert(!live[1 - row] || pair[1 - row] != CHANNEL || ends[1 - row] == BOTH ||
                   (user[2 * (1 - row)] == 0 && user[2 * (1 - row) + 1] == 0));
            pair[row] = CHANNEL;
            ends[row] = 0;
            live[row] = true
        };
        MAY_DIE
    :: else -> skip
    fi;
    lock = 0;
    MAY_DIE
}

proctype owner(byte me; byte end)
{
    byte row, life, before, rounds;

    if
    :: true -> skip
    :: true ->
#ifndef SETS_UNLOCKED
        TAKE_LOCK
#endif
        if
        :: !IS_CONNECTED(end) ->
            MAY_DIE
            attribute[end] = true;
            MAY_DIE
        :: else -> skip
        fi;
#ifndef SETS_UNLOCKED
        lock = 0;
        MAY_DIE
#endif
    fi;
    do
    :: rounds < 2 ->
        rounds++;
        (IS_CONNECTED(end) || connects_over == 2);
        if
        :: IS_CONNECTED(end) -> skip
        :: else ->
            /* No connection is hidden from its ends. */
            d_step {
                assert(!live[0] || pair[0] != CHANNEL || (ends[0] & GONE(end)));
                assert(!live[1] || pair[1] != CHANNEL || (ends[1] & GONE(end)))
            };
            break
        fi;
        d_step { row = NAMED(end); life = (names[end] - 1) >> 1 };
        MAY_DIE
        d_step {
            assert(live[row] && generation[row] == life && !(ends[row] & GONE(end)));
            assert(user[2 * row + end] == 0 && user[2 * (1 - row) + end] != me);
            assert(attribute[0] == attribute[1] || closing[1 - end]);
            user[2 * row + end] = me
        };
        MAY_DIE
        assert(user[2 * row + end] == me && live[row] && generation[row] == life);
        assert(pair[row] == CHANNEL);
        /* closes: it uses it no more, */
#ifdef CLEARS_ANY
        user[2 * row + end] = 0;
#else
        d_step {
            user[2 * row + end] = 0;
            if
            :: names[end] == 1 + row + 2 * life -> names[end] = 0
            :: else -> skip
            fi
        };
#endif
        MAY_DIE
        /* and leaves */
        d_step { before = ends[row]; ends[row] = ends[row] | GONE(end) };
        MAY_DIE
        if
#ifdef FIRST_REMOVES
        :: true ->
#else
        :: before & GONE(1 - end) ->
#endif
            TAKE_LOCK
            remove(row, life);
            lock = 0;
            MAY_DIE
        :: else -> skip
        fi;
#ifdef CLEARS_ANY
        names[end] = 0;
#endif
        skip
    :: rounds < 2 && connects_over == 2 && !IS_CONNECTED(end) -> break
    :: rounds == 2 -> break
    od;
    delete(end);
    goto finished;
dead:
    is_dead[me] = true;
finished:
    over++
}

proctype connector(byte me)
{
    byte row;
    bool may, agree;

    connect();
    connect();
    goto finished;
dead:
    is_dead[me] = true;
finished:
    skip;
    d_step { connects_over++; over++ }
}

proctype last(byte me)
{
    byte row, mine;
    bool may, agree;

    connect();
    /* A lane of its own, between other endpoints. */
    TAKE_LOCK
    free_row();
    mine = row;
    if
    :: mine < 2 ->
        d_step {
            assert(user[2 * mine] == 0 && user[2 * mine + 1] == 0);
            pair[mine] = OTHER;
            ends[mine] = 0;
            live[mine] = true;
            user[2 * mine] = me;
            user[2 * mine + 1] = me
        }
    :: else -> skip
    fi;
    lock = 0;
    recover(SENDER, 0);
    connect();
    if
    :: mine < 2 ->
        d_step {
            assert(live[mine] && pair[mine] == OTHER);
            assert(user[2 * mine] == me && user[2 * mine + 1] == me);
            user[2 * mine] = 0;
            user[2 * mine + 1] = 0;
            ends[mine] = BOTH
        }
    :: else -> skip
    fi;
    sweep();
    connects_over++;
    (over == 3);
    recover(SENDER, 0);
    sweep();
    assert(!live[0] && !live[1] && gone[0] && gone[1]);
    goto finished;
dead:
    assert(false);
finished:
    over++
}

init {
    atomic {
        run owner(SENDER, 0);
        run owner(RECEIVER, 1);
        run connector(CONNECTOR);
        run last(LAST)
    }
}
