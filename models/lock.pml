/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The lock (src/base/lock.c). At most one owner; no wake is lost; a dead owner is recovered.
 *
 * The asymmetric fence: an owner's store that frees the word may reach the others only after his
 * look at the flag (store_buffer); it gets there at any time, and at the latest when somebody's
 * heavy barrier, or the owner's death, has passed. All else is sequentially consistent.
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
 * MUTANT NO_BARRIER deadlock/NO_DEATH          the sleeper does without the heavy barrier
 * MUTANT NO_SECOND_LOOK deadlock/NO_DEATH      the sleeper does not look again behind it
 * MUTANT FORGET_OTHERS deadlock/NO_DEATH       one that was woken tries without setting the flag
 * MUTANT LOOK_THEN_FREE deadlock/NO_DEATH      release looks at the flag, then frees
 * MUTANT PLAIN_SLEEP deadlock/NO_DEATH         sleeps whatever the flag is by now
 * MUTANT LEAVE_SILENTLY deadlock/DEADLINES     gives up without handing on
 * MUTANT LEAVE_EARLY deadlock/DEADLINES        gives up without a second look
 * MUTANT RECOVER_SILENTLY deadlock/DIES_HOLDING    recovers without a wake
 * MUTANT RECOVER_ANY assertion/DIES_HOLDING        recovers whoever owns it by now
 * MUTANT DIED_UNSAID assertion/DIES_HOLDING        the next owner is not told
 * MUTANT DIED_REPEATED assertion/DIES_HOLDING      every later owner is told
 * MUTANT LEAVE_DEAD_SILENTLY deadlock/DIES_UNUSABLE    who finds it dead does not wake the others
 */
#define CONTENDERS 3
#define MORTAL 1 /* the owner that dies */
#define HASTY 2  /* the one with a deadline */
#define DEAD 7

#if defined(DIES_HOLDING) || defined(DIES_UNUSABLE) || defined(DIES_ANYWHERE)
#define WITH_DEATH
#endif

#define OWNER 7 /* the word: owner, and a bit */
#define DIED 8
byte word;
bool flag;
bool store_buffer[CONTENDERS + 1]; /* this one's store of 0 to the word is under way */
bool asleep[CONTENDERS + 1];
byte inside;  /* who is in the critical section, in truth; 0: nobody */
bool is_dead; /* MORTAL is */
bool untold;  /* the lock was recovered, and nobody was told yet */
byte slices;
byte done_count;

#define IS_FREE(w) (((w) & OWNER) == 0)
#define IS_DEAD(w) (((w) & OWNER) == DEAD)

inline drain(who) {
    if
    :: store_buffer[who] ->
        store_buffer[who] = false;
#ifdef DIED_REPEATED
        word = word & DIED
#else
        word = 0
#endif
    :: else -> skip
    fi
}

/* every running thread passes a full fence */
inline heavy_barrier() {
#ifndef NO_BARRIER
    d_step {
        drain(1);
        drain(2);
        drain(3)
    }
#else
    skip
#endif
}

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

/* med_lock_try: the compare-and-swap, where the word looks free */
inline try(me) {
    d_step {
        if
        :: IS_FREE(word) ->
            told = (word & DIED) != 0;
#ifdef DIED_REPEATED
            word = me | (word & DIED);
#else
            word = me;
#endif
            taken = true;
            assert(inside == 0);
            inside = me
        :: IS_DEAD(word) -> gone = true
        :: else -> skip
        fi
    }
}

inline kernel_wait(me) {
#ifdef PLAIN_SLEEP
    asleep[me] = true;
#else
    atomic {
        if
        :: flag -> asleep[me] = true
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
    bool taken, gone, late, told, woken, announced, saw_flag;

    /* spinning, or not */
    if
    :: true -> try(me)
    :: true -> skip
    fi;
    MAY_DIE(me)
    do
    :: taken || gone -> break
    :: !taken && !gone && !late ->
#ifdef FORGET_OTHERS
        if
        :: woken -> try(me)
        :: else -> skip
        fi;
        if
        :: !taken -> flag = true
        :: else -> skip
        fi;
#else
        flag = true;
#endif
        announced = true;
        MAY_DIE(me)
        try(me);
        MAY_DIE(me)
        if
        :: !taken && !gone ->
            heavy_barrier();
#ifndef NO_SECOND_LOOK
            try(me);
#endif
            MAY_DIE(me)
            if
            :: !taken && !gone -> kernel_wait(me); woken = true
            :: else -> skip
            fi
        :: else -> skip
        fi;
        MAY_DIE(me)
    :: !taken && !gone && late -> /* hand_on */
#ifndef LEAVE_SILENTLY
        flag = true;
        try(me);
        if
        :: !taken && !gone ->
#ifndef LEAVE_EARLY
            heavy_barrier();
            try(me)
#else
            skip
#endif
        :: else -> skip
        fi;
#endif
        break
    od;

#ifndef LEAVE_DEAD_SILENTLY
    if
    :: gone && announced -> flag = false; atomic { wake_all() }
    :: else -> skip
    fi;
#endif
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
        saw_flag = flag;
        d_step { inside = 0; store_buffer[me] = true };
#else
        d_step { inside = 0; store_buffer[me] = true };
        MAY_DIE(me)
        saw_flag = flag;
#endif
        MAY_DIE(me)
        if
        :: saw_flag ->
            flag = false;
            MAY_DIE(me)
            atomic { drain(me); wake_one() } /* a system call is a fence */
        :: else -> skip
        fi
    :: else -> skip
    fi;
    goto finished;

dead:
    skip;
    d_step { drain(me); is_dead = true };
finished:
    done_count++
}

/* What is in a store buffer gets out some time. */
proctype memory()
{
end:
    do
    :: d_step { store_buffer[1] -> drain(1) }
    :: d_step { store_buffer[2] -> drain(2) }
    :: d_step { store_buffer[3] -> drain(3) }
    od
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
                word = 0;
                untold = true;
#else
                word = DIED;
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
        flag = false;
        atomic { wake_one() }
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
        run memory();
#ifdef WITH_DEATH
        run recoverer();
        run recoverer()
#endif
    }
}
