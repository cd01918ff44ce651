/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The pool (src/base/pool.c): caches, and buffers that go from a sender to a receiver.
 *
 * Nobody uses a buffer that another uses, or has in his cache; a handle that was given back is
 * refused; and in the end, whoever died wherever, every buffer is free, exactly once.
 *
 * Two buffers. The sender refills his cache with what there is, takes one, and tells its handle;
 * what is left in the cache he drains. The receiver takes it over, and gives it into his cache;
 * tries to give it once more; takes it from there again, and drains. The third does not die, uses
 * what is free meanwhile, recovers the dead, and looks at everything in the end. Who may die, dies
 * behind any store. That entries are found again: models/bit_set.pml.
 *
 * CONFIG ONE_DIES            the sender dies anywhere
 * CONFIG TWO_DIE             the receiver does, too
 * MUTANT HAND_OVER_BY_STORE assertion/ONE_DIES looks whose it is, then writes the new owner
 * MUTANT TAKE_UNHANDED assertion/ONE_DIES      the receiver uses what he was told of, whose ever
 * MUTANT KEEP_CACHED assertion/ONE_DIES        recovery leaves what lies in a cache
 * MUTANT UNENDED assertion/ONE_DIES            give leaves the use open
 * MUTANT DRAIN_AND_KEEP assertion/ONE_DIES     what is drained stays in the cache
 */
#define BUFFERS 2
#define SENDER 1
#define RECEIVER 2
#define LAST 3 /* who does not die */

byte owner[BUFFERS];
byte generation[BUFFERS] = 1; /* even in a use */
byte mail;                    /* a handle: buffer + 2 * generation */

/* What the model knows and the code does not. */
byte user[BUFFERS];
bool is_dead[4];
byte over;

#ifdef TWO_DIE
#define MORTAL(me) (me <= 2)
#else
#define MORTAL(me) (me == SENDER)
#endif
#define MAY_DIE                                                                                    \
    if                                                                                             \
    :: MORTAL(me) -> goto dead                                                                     \
    :: true -> skip                                                                                \
    fi;

/* med_bit_set_claim of one buffer, into the cache, which is a set of bits here. */
inline claim(b) {
    d_step {
        if
        :: owner[b] == 0 ->
            owner[b] = me;
            cache = cache | (1 << b);
            generation[b] = generation[b] + (generation[b] % 2 == 0 -> 1 : 0)
        :: else -> skip
        fi
    };
    MAY_DIE
}

inline use_begin(b) {
    d_step {
        assert(owner[b] == me && user[b] == 0);
        cache = cache & ~(1 << b);
        generation[b] = generation[b] + 1;
        user[b] = me
    };
    MAY_DIE
}

/* med_pool_give into the cache: MEDLEY_ERR_STALE leaves `given` false */
inline give(b, g) {
    given = false;
    d_step {
        if
        :: generation[b] == g && owner[b] == me ->
#ifndef UNENDED
            generation[b] = g + 1;
#endif
            user[b] = 0;
            given = true;
            cache = cache | (1 << b)
        :: else -> skip
        fi
    };
    MAY_DIE
}

inline drain_one(b) {
    if
    :: cache & (1 << b) ->
        d_step {
            assert(user[b] != me);
            if
            :: owner[b] == me -> owner[b] = 0
            :: else -> skip
            fi;
#ifndef DRAIN_AND_KEEP
            cache = cache & ~(1 << b)
#endif
        };
        MAY_DIE
        skip
    :: else -> skip
    fi
}

inline recover_one(b, whom) {
    d_step {
        if
#ifdef KEEP_CACHED
        :: is_dead[whom] && owner[b] == whom && generation[b] % 2 == 0 ->
#else
        :: is_dead[whom] && owner[b] == whom ->
#endif
            owner[b] = 0;
            if
            :: user[b] == whom -> user[b] = 0
            :: else -> skip
            fi
        :: else -> skip
        fi
    }
}

inline recover_dead() {
    recover_one(0, SENDER);
    recover_one(1, SENDER);
    recover_one(0, RECEIVER);
    recover_one(1, RECEIVER)
}

proctype sender(byte me)
{
    byte cache, b;

    claim(0);
    claim(1);
    if
    :: cache & 1 -> b = 0
    :: cache & 2 -> b = 1
    :: cache == 0 -> goto finished
    fi;
    use_begin(b);
    mail = b + 2 * generation[b];
    MAY_DIE
    drain_one(0);
    drain_one(1);
    goto finished;
dead:
    is_dead[me] = true;
finished:
    over++
}

proctype receiver(byte me)
{
    byte cache, b, g;
    bool given, mine;

    if
    :: mail != 0 -> b = mail % 2; g = mail / 2
    :: over != 0 && mail == 0 -> goto finished /* there will be none */
    fi;
    /* med_pool_hand_over */
#ifdef TAKE_UNHANDED
    mine = true;
    d_step { assert(user[b] == SENDER); user[b] = me };
#elif defined(HAND_OVER_BY_STORE)
    mine = (generation[b] == g && owner[b] == SENDER);
    if
    :: mine -> d_step { assert(user[b] == SENDER); owner[b] = me; user[b] = me }; MAY_DIE
        skip
    :: else -> skip
    fi;
#else
    if
    :: generation[b] == g ->
        d_step {
            if
            :: owner[b] == SENDER ->
                assert(user[b] == SENDER);
                owner[b] = me;
                user[b] = me;
                mine = true
            :: else -> skip
            fi
        };
        MAY_DIE
        skip
    :: else -> skip
    fi;
#endif
    if
    :: mine ->
        assert(owner[b] == me && user[b] == me);
        give(b, g);
        assert(given);
        give(b, g);
        assert(!given);
        use_begin(b);
        give(b, generation[b]);
        drain_one(b);
        drain_one(b)
    :: else -> skip
    fi;
    assert(cache == 0);
    goto finished;
dead:
    is_dead[me] = true;
finished:
    over++
}

proctype last(byte me)
{
    byte cache;
    bool given;

    recover_dead();
    claim(0);
    claim(1);
    if
    :: cache & 1 -> use_begin(0); give(0, generation[0])
    :: else -> skip
    fi;
    if
    :: cache & 2 -> use_begin(1); give(1, generation[1])
    :: else -> skip
    fi;
    drain_one(0);
    drain_one(1);
    over == 2;
    recover_dead();
    /* The mail of one who died, to one who died: the sender's, until he is recovered. */
    d_step {
        assert(owner[0] == 0 || (owner[0] == SENDER && !is_dead[SENDER] && user[0] == SENDER));
        assert(owner[1] == 0 || (owner[1] == SENDER && !is_dead[SENDER] && user[1] == SENDER));
        assert(is_dead[RECEIVER] || (owner[0] == 0 && owner[1] == 0))
    };
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
