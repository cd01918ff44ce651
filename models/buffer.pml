/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Whose a buffer is on its way through a lane (src/mcapi/buffer.h, exchange.c, exchange_buffers.c,
 * lane.c).
 *
 * Nobody uses a buffer that another uses; what is received was sent, and once; nothing is taken
 * from the next life of a lane; and in the end, whoever died wherever, the buffer is free.
 *
 * One buffer, one row. In its first life the sender takes the buffer, hands it over to the lane,
 * publishes its name, and leaves; the receiver reads the name, hands it over to itself, and leaves,
 * before or after it gives the buffer back. Whoever is the second to leave takes back what the lane
 * has, and then removes the row. The third does not die: it recovers who is dead, sweeps, takes
 * back what belongs to lives that are over or whose receiver has left, and sends to itself by the
 * row's second life. So a sender may stay in the lane until the buffer has left it. Who may die,
 * dies behind any store. The lives themselves: models/lane.pml; the pool: models/pool.pml.
 *
 * CONFIG ONE_DIES            the sender dies anywhere
 * CONFIG TWO_DIE             the receiver does, too
 * MUTANT PUBLISH_FIRST assertion/ONE_DIES      publishes the name, then hands over
 * MUTANT SAME_OWNER assertion/ONE_DIES         all lives of a lane have one number
 * MUTANT UNTAKEN assertion/ONE_DIES            the receiver uses what the lane has
 * MUTANT KEEP_UNDER_WAY assertion/ONE_DIES     nobody takes back what a lane has
 * MUTANT KEEP_OF_DEAD assertion/ONE_DIES       nobody takes back what a dead one has
 * MUTANT KEEP_WHILE_SENT assertion/ONE_DIES    nothing is taken back before the sender has left
 * MUTANT TAKE_UNREAD assertion/ONE_DIES        it is once only the sender has left, too
 */
#define SENDER 1
#define RECEIVER 2
#define LAST 3 /* who does not die */
#ifdef SAME_OWNER
#define LANE(life) 4
#else
#define LANE(life) (4 + (life))
#endif

#define P 1
#define C 2

byte owner; /* of the buffer; 0: free */
bool named; /* its name is in the ring */
byte life;  /* of the row */
byte ends;

/* What the model knows and the code does not. */
byte user;
byte sent, received;
bool is_dead[4], is_recovered[4];
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

/* The compare-and-swap of bit_set.h */
inline change(from, to, done) {
    atomic {
        done = (owner == from);
        if
        :: done -> owner = to
        :: else -> skip
        fi
    };
    MAY_DIE
}

/* A look and a plain store, by the only one who may make that step (buffer.h). */
inline change_alone(from, to, done) {
    done = (owner == from);
    MAY_DIE
    if
    :: done -> owner = to
    :: else -> skip
    fi;
    MAY_DIE
}

/* lane_remove, of the first life */
inline remove() {
#ifndef KEEP_UNDER_WAY
    change(LANE(0), 0, done);
#endif
    atomic {
        if
        :: life == 0 -> life = 1; ends = 0
        :: else -> skip
        fi
    };
    MAY_DIE
}

inline leave(side) {
    atomic {
        assert(life == 0);
        before = ends;
        ends = ends | side
    };
    MAY_DIE
    if
    :: before & (P + C - side) -> remove()
    :: else -> skip
    fi
}

proctype sender(byte me)
{
    byte before;
    bool done;

    change(0, me, done);
    if
    :: done -> skip
    :: else -> goto leaves /* the third has it: then there is none */
    fi;
    atomic { assert(user == 0); user = me };
    MAY_DIE
    assert(user == me);
#ifdef PUBLISH_FIRST
    named = true;
    MAY_DIE
    atomic { assert(user == me && owner == me); user = 0; owner = LANE(0); sent++ };
    MAY_DIE
#else
    atomic { assert(user == me && owner == me); user = 0 };
    change_alone(me, LANE(0), done);
    assert(done);
    atomic { named = true; sent++ };
    MAY_DIE
#endif
    if
    :: owner != LANE(0) -> skip /* has nothing more to send until then */
    :: true -> skip
    fi;
leaves:
    leave(P);
    goto finished;
dead:
    atomic { is_dead[me] = true; user = (user == me -> 0 : user) };
finished:
    over++
}

proctype receiver(byte me)
{
    byte before;
    bool done, left;

    if
    :: named ->
#ifdef UNTAKEN
        done = true;
#else
        change_alone(LANE(0), me, done);
#endif
        assert(done); /* nobody else can have it */
        atomic { assert(user == 0); user = me; received++; assert(received <= sent) };
        MAY_DIE
        if
        :: true -> leave(C); left = true
        :: true -> skip
        fi;
        atomic { assert(user == me); user = 0 };
#ifdef UNTAKEN
        change(LANE(0), 0, done);
#else
        change(me, 0, done);
        assert(done)
#endif
    :: true -> skip /* leaves without */
    fi;
    if
    :: !left -> leave(C)
    :: else -> skip
    fi;
    goto finished;
dead:
    atomic { is_dead[me] = true; user = (user == me -> 0 : user) };
finished:
    over++
}

inline recover(whom, side) {
    if
    :: is_dead[whom] && !is_recovered[whom] ->
#ifndef KEEP_OF_DEAD
        change(whom, 0, done);
#endif
        is_recovered[whom] = true;
        if
        :: life == 0 && !(ends & side) -> leave(side)
        :: else -> skip
        fi
    :: else -> skip
    fi
}

#ifdef KEEP_WHILE_SENT
#define LEFT false
#elif defined(TAKE_UNREAD)
#define LEFT ends
#else
#define LEFT (ends & C)
#endif

/* med_exchange_reclaim, of the first life */
inline reclaim() {
    all_sent = named && life == 0 && (ends & C);
#ifndef KEEP_UNDER_WAY
    seen = owner;
    if
    :: seen == LANE(0) && (life != 0 || LEFT) -> change(LANE(0), 0, done)
    :: else -> skip
    fi;
#endif
    assert(!all_sent || owner != LANE(0));
    all_sent = false
}

inline look_after() {
    recover(SENDER, P);
    recover(RECEIVER, C);
    if
    :: life == 0 && ends == (P | C) -> remove()
    :: else -> skip
    fi;
    reclaim()
}

proctype last(byte me)
{
    byte before, seen;
    bool done, all_sent;

    do
    :: life == 0 ->
        look_after();
        life != 0 || ends == (P | C) || ((ends & C) && owner == LANE(0)) ||
            (is_dead[SENDER] && !is_recovered[SENDER]) ||
            (is_dead[RECEIVER] && !is_recovered[RECEIVER])
    :: else -> break
    od;
    look_after();
    /* Both ends of the first life have left: the buffer comes free soon. */
    do
    :: owner == 0 -> break
    :: else -> over == 2; look_after(); assert(owner == 0)
    od;
    change(0, me, done);
    assert(done);
    atomic { assert(user == 0); user = me };
    atomic { assert(user == me && owner == me); user = 0; owner = LANE(1) };
    change(LANE(1), me, done);
    assert(done); /* nobody stole it */
    atomic { assert(user == 0); user = me };
    atomic { assert(user == me && owner == me); user = 0; owner = 0 };
    over == 2;
    look_after();
    assert(owner == 0 && user == 0 && received <= 1);
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
