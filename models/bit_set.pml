/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The bit set (src/base/bit_set.c): take, give and recover, entry by entry.
 *
 * Nobody has an entry that another has; a slot of a use that is over is refused, whoever has the
 * entry now; and in the end, whoever died wherever, every entry is free and found.
 *
 * Two entries in one word of bits. Three people take and give, one of them twice, and try old
 * slots: that of the entry's last use, their own or one that a dead owner may have told them. The
 * third does not die, and looks at everything in the end. Whoever lives recovers who is dead, also
 * two at once. Who may die, dies behind any store. The first_free_word is left out: it only says
 * where to look first. Generations do not wrap here.
 *
 * CONFIG ONE_DIES            one of three dies anywhere
 * CONFIG TWO_DIE             two of three do, also in the other's recovery
 * MUTANT UNASKED assertion/ONE_DIES            takes by a look and a store
 * MUTANT RECOVER_BY_STORE assertion/ONE_DIES   recovers by a look and a store
 * MUTANT NO_SHOW assertion/ONE_DIES            recovery shows nothing that was put back in silence
 * MUTANT KEEP_CLAIMED assertion/ONE_DIES       recovery leaves what was not yet in use
 * MUTANT KEEP_USE assertion/ONE_DIES           claim leaves the dead owner's use open
 * MUTANT SAME_GENERATION assertion/ONE_DIES    a use has the generation of the last
 * MUTANT NO_GENERATION assertion/ONE_DIES      give does not look at the generation
 */
#define ENTRIES 2
#define LAST 3 /* who does not die */
#define ROUNDS(me) (me == 2 -> 2 : 1)

byte owner[ENTRIES];
byte generation[ENTRIES] = 1; /* even in a use */
bool is_shown[ENTRIES] = true;

/* What the model knows and the code does not. */
byte user[ENTRIES];
byte last_use[ENTRIES]; /* its generation, known to all */
bool is_dead[4];
byte over;

#ifdef TWO_DIE
#define MORTAL(me) (me <= 2)
#else
#define MORTAL(me) (me == 1)
#endif
#define MAY_DIE                                                                                    \
    if                                                                                             \
    :: MORTAL(me) -> goto dead                                                                     \
    :: true -> skip                                                                                \
    fi;

inline claim() {
    shown = is_shown[0] + 2 * is_shown[1];
    e = 0;
    do
    :: e == ENTRIES -> break
    :: e < ENTRIES && !(shown & (1 << e)) -> e++
    :: e < ENTRIES && (shown & (1 << e)) ->
#ifdef UNASKED
        seen = owner[e];
        if
        :: seen == 0 -> owner[e] = me; break
        :: else -> e++
        fi
#else
        d_step {
            seen = owner[e];
            if
            :: seen == 0 -> owner[e] = me
            :: else -> skip
            fi
        };
        if
        :: seen == 0 -> break
        :: else -> e++
        fi
#endif
    od;
    shown = 0;
    seen = 0;
    if
    :: e < ENTRIES ->
        MAY_DIE
#ifndef KEEP_USE
        if
        :: generation[e] % 2 == 0 -> generation[e] = generation[e] + 1; MAY_DIE
            skip
        :: else -> skip
        fi;
#endif
        is_shown[e] = false;
        MAY_DIE
        skip
    :: else -> skip
    fi
}

inline begin() {
    d_step {
        assert(user[e] == 0);
#ifdef SAME_GENERATION
        slot = (last_use[e] != 0 -> last_use[e] : 2);
#else
        slot = generation[e] + 1 + (generation[e] % 2 == 0 -> 1 : 0);
#endif
        generation[e] = slot;
        last_use[e] = slot;
        user[e] = me
    };
    MAY_DIE
}

/* med_bit_set_end of slot (e, g): was it so? */
inline end_use(g) {
    d_step {
#ifdef NO_GENERATION
        ended = (owner[e] == me);
#else
        ended = (generation[e] == g && owner[e] == me);
#endif
        if
        :: ended -> generation[e] = g + 1
        :: else -> skip
        fi
    };
    if
    :: ended -> MAY_DIE
        skip
    :: else -> skip
    fi
}

inline put_back() {
    d_step { assert(owner[e] == me); user[e] = 0; owner[e] = 0 };
    MAY_DIE
    is_shown[e] = true;
    MAY_DIE
}

inline recover(whom) {
    r = 0;
    do
    :: r == ENTRIES -> break
    :: r < ENTRIES ->
        seen = owner[r];
        if
#ifdef KEEP_CLAIMED
        :: seen == whom && generation[r] % 2 == 0 ->
#else
        :: seen == whom ->
#endif
#ifdef RECOVER_BY_STORE
            d_step {
                owner[r] = 0;
                seen = 0;
                if
                :: user[r] == whom -> user[r] = 0
                :: else -> skip
                fi
            };
#else
            d_step {
                seen = owner[r];
                if
                :: seen == whom ->
                    owner[r] = 0;
                    seen = 0;
                    if
                    :: user[r] == whom -> user[r] = 0
                    :: else -> skip
                    fi
                :: else -> skip
                fi
            };
#endif
            MAY_DIE
            skip
        :: else -> skip
        fi;
#ifndef NO_SHOW
        if
        :: seen == 0 && !is_shown[r] -> is_shown[r] = true; MAY_DIE
            skip
        :: else -> skip
        fi;
#endif
        r++
    od;
    r = 0;
    seen = 0
}

inline recover_dead() {
    if
    :: is_dead[1] -> recover(1)
    :: else -> skip
    fi;
    if
    :: is_dead[2] -> recover(2)
    :: else -> skip
    fi
}

proctype person(byte me)
{
    byte e, r, shown, seen, slot, old, round;
    bool ended;

    do
    :: round == ROUNDS(me) -> break
    :: round < ROUNDS(me) ->
        recover_dead();
        claim();
        if
        :: e < ENTRIES ->
            if
            :: last_use[e] != 0 -> end_use(last_use[e]); assert(!ended)
            :: else -> skip
            fi;
            old = last_use[e];
            begin();
            if
            :: old != 0 -> end_use(old); assert(!ended)
            :: else -> skip
            fi;
            old = 0;
            assert(user[e] == me && owner[e] == me);
            end_use(slot);
            assert(ended);
            put_back();
            ended = false;
            slot = 0
        :: else -> skip
        fi;
        e = 0;
        round++
    od;
    if
    :: me == LAST ->
        over == 2;
        recover_dead();
        d_step {
            assert(owner[0] == 0 && owner[1] == 0);
            assert(is_shown[0] && is_shown[1]);
            assert(user[0] == 0 && user[1] == 0)
        }
    :: else -> skip
    fi;
    goto finished;
dead:
    is_dead[me] = true;
finished:
    over++
}

init {
    atomic {
        run person(1);
        run person(2);
        run person(LAST)
    }
}
