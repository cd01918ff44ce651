/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The lock (src/base/lock.c). At most one owner; no wake is lost; a dead owner is recovered.
 *
 * Without slices a sleeper sleeps until it is woken, and a lost wake is a deadlock. Slices exist
 * only in DIES_ANYWHERE, where they end when nothing else can happen, and at most one for each
 * sleeper: that is what a death costs.
 *
 * CONFIG NO_DEATH            three contenders, no slices
 * CONFIG DEADLINES           the same, and a sleeper may give up at its deadline
 * CONFIG DIES_HOLDING        the first owner dies holding it; two recover it at once; no slices
 * CONFIG DIES_UNUSABLE       the same, but nobody may have the lock again
 * CONFIG DIES_ANYWHERE       one contender dies at any step; recovered; slices
 * MUTANT FORGET_WAITERS deadlock/NO_DEATH      one that slept takes the lock without WAITERS
 * MUTANT LOOK_THEN_FREE deadlock/NO_DEATH      release looks at WAITERS, then stores 0
 * MUTANT PLAIN_SLEEP deadlock/NO_DEATH         sleeps whatever the word holds by now
 * MUTANT LEAVE_SILENTLY deadlock/DEADLINES     gives up without leaving WAITERS behind
 * MUTANT RECOVER_SILENTLY deadlock/DIES_HOLDING    recovers without a wake
 * MUTANT RECOVER_ANY assertion/DIES_HOLDING        recovers whoever owns it by now
 * MUTANT DIED_UNSAID assertion/DIES_HOLDING        the next owner is not told
 * MUTANT DIED_REPEATED assertion/DIES_HOLDING      every later owner is told
 * MUTANT DEAD_WAKE_ONE deadlock/DIES_UNUSABLE      a lock that is dead wakes one
 */
#define CONTENDERS 3
#define MORTAL 1 /* the owner that dies */
#define HASTY 2  /* the one with a deadline */
#define DEAD 7

#if defined(DIES_HOLDING) || defined(DIES_UNUSABLE) || defined(DIES_ANYWHERE)
#define WITH_DEATH
#endif

#define OWNER 7 /* the word: owner, and two bits */
#define WAITERS 8
#define DIED 16
byte word;
bool asleep[CONTENDERS + 1];
byte inside;   /* who is in the critical section, in truth; 0: nobody */
bool is_dead;  /* MORTAL is */
bool untold; /* the lock was recovered, and nobody was told yet */
byte slices;

#define IS_FREE(w) (((w) & OWNER) == 0)
#define IS_DEAD(w) (((w) & OWNER) == DEAD)

/* the kernel wakes one, any one */
inline wake_one() {
    if
    :: asleep[1] -> asleep[1] = false
    :: asleep[2] -> asleep[2] = false
    :: asleep[3] -> asleep[3] = false
    :: !asleep[1] && !asleep[2] && !asleep[3] -> skip
    fi
}

inline wake_all() {
    asleep[1] = false;
    asleep[2] = false;
    asleep[3] = false
}

/* take(): a word that looks free becomes mine. Sets `taken`. */
inline take(me, keep) {
    d_step {
        if
        :: seen == word ->
#ifdef DIED_REPEATED
            word = me | (seen & DIED) | (seen & WAITERS) | keep;
#else
            word = me | (seen & WAITERS) | keep;
#endif
            taken = true;
            told = (seen & DIED) != 0;
            assert(inside == 0);
            inside = me
        :: else -> seen = word
        fi
    }
}

/* announce(): takes the word when it is free, else leaves WAITERS on it. */
inline announce(me, keep) {
    seen = word;
    do
    :: IS_DEAD(seen) -> gone = true; break
    :: IS_FREE(seen) ->
        take(me, keep);
        if
        :: taken -> break
        :: else -> skip
        fi
    :: !IS_DEAD(seen) && !IS_FREE(seen) && (seen & WAITERS) -> break
    :: !IS_DEAD(seen) && !IS_FREE(seen) && !(seen & WAITERS) ->
        d_step {
            if
            :: seen == word -> word = seen | WAITERS; announced = true
            :: else -> seen = word
            fi
        };
        if
        :: announced -> seen = seen | WAITERS; announced = false; break
        :: else -> skip
        fi
    od
}

#ifdef FORGET_WAITERS
#define KEEP 0
#else
#define KEEP WAITERS
#endif

inline kernel_wait(me) {
#ifdef PLAIN_SLEEP
    asleep[me] = true;
#else
    atomic {
        if
        :: seen == word -> asleep[me] = true
        :: else -> skip
        fi
    };
#endif
    if
    :: !asleep[me] -> skip
#ifdef DEADLINES
    :: atomic { me == HASTY && asleep[me] -> asleep[me] = false; late = true }
#endif
#ifdef DIES_ANYWHERE
    :: atomic { me == MORTAL && asleep[me] -> asleep[me] = false; goto dead }
    :: atomic { timeout -> asleep[me] = false; slices++; assert(slices <= CONTENDERS - 1) }
#endif
    fi
#ifdef DEADLINES
    ;
    if
    :: me == HASTY -> late = true /* woken, and late all the same */
    :: true -> skip
    fi
#endif
}

#ifdef DIES_ANYWHERE
#define MAY_DIE(me)                                                                                \
    if                                                                                             \
    :: me == MORTAL -> goto dead                                                                   \
    :: true -> skip                                                                                \
    fi;
#else
#define MAY_DIE(me)
#endif

/* Acquire, be inside, release. */
proctype contender(byte me)
{
    byte seen;
    bool taken, gone, late, told, announced, had_waiters;

    /* try_fast, and spinning: both are tries on a word seen free */
    if
    :: true -> seen = word;
        if
        :: IS_FREE(seen) -> take(me, 0)
        :: else -> skip
        fi
    :: true -> skip
    fi;
    MAY_DIE(me)
    do
    :: taken || gone -> break
    :: !taken && !gone && !late ->
        announce(me, KEEP);
        MAY_DIE(me)
        if
        :: !taken && !gone -> kernel_wait(me)
        :: else -> skip
        fi;
        MAY_DIE(me)
    :: !taken && !gone && late ->
#ifdef LEAVE_SILENTLY
        seen = word;
        if
        :: IS_FREE(seen) -> take(me, 0)
        :: else -> skip
        fi;
#else
        announce(me, KEEP);
#endif
        break
    od;

    if
    :: taken ->
        assert((word & OWNER) == me && inside == me);
        if
        :: told -> assert(untold); untold = false
        :: !told -> assert(!untold)
        fi;
        assert(inside == me);
#if defined(DIES_HOLDING) || defined(DIES_UNUSABLE)
        if
        :: me == MORTAL -> goto dead
        :: else -> skip
        fi;
#endif
        MAY_DIE(me)
#ifdef LOOK_THEN_FREE
        had_waiters = (word & WAITERS) != 0;
        d_step { inside = 0; word = 0 };
#else
        d_step {
            inside = 0;
            had_waiters = (word & WAITERS) != 0;
#ifdef DIED_REPEATED
            word = word & DIED
#else
            word = 0
#endif
        };
#endif
        MAY_DIE(me)
        if
        :: had_waiters -> atomic { wake_one() }
        :: else -> skip
        fi
    :: else -> skip
    fi;
    goto finished;

dead:
    is_dead = true;
finished:
    skip
}

/* med_lock_recover of MORTAL, once it is known to be dead */
proctype recoverer()
{
    byte seen;
    bool done;
end:
    is_dead;
    seen = word;
    do
#ifdef RECOVER_ANY
    :: !done && !IS_FREE(seen) ->
#else
    :: !done && (seen & OWNER) == MORTAL ->
#endif
        d_step {
            if
            :: seen == word ->
                done = true;
#if defined(DIES_UNUSABLE)
                word = DEAD | DIED;
#elif defined(DIED_UNSAID)
                word = seen & WAITERS;
                untold = true;
#else
                word = (seen & WAITERS) | DIED;
                untold = true;
#endif
                if
                :: inside == MORTAL -> inside = 0
                :: else -> skip
                fi
            :: else -> seen = word
            fi
        }
    :: else -> break
    od;
    if
    :: done ->
#ifndef RECOVER_SILENTLY
#if defined(DIES_UNUSABLE) && !defined(DEAD_WAKE_ONE)
        atomic { wake_all() }
#else
        atomic { wake_one() }
#endif
#else
        skip
#endif
    :: else -> skip
    fi
}

init {
    atomic {
        run contender(1);
        run contender(2);
        run contender(3);
#ifdef WITH_DEATH
        run recoverer();
        run recoverer()
#endif
    }
}
