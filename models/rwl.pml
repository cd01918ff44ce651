/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The reader/writer lock (src/base/rwlock.c): nobody is inside with a writer; no wake is lost; a
 * dead writer's word comes free, and is told of if he might have changed something.
 *
 * Two readers, each with a unit of his own, and two writers. What is sequentially consistent in the
 * code is so here; a store that frees (release) may be under way, as in lock.pml. Waiting for
 * readers to leave is wait.pml's affair: here it is waiting for the units to be free. There are no
 * slices.
 *
 * CONFIG NO_DEATH            as said
 * CONFIG DEADLINES           a writer who waits for readers may give up
 * CONFIG DIES                a writer may die coming, or writing; no one sleeps then for ever
 * MUTANT LOOK_THEN_TAKE assertion/NO_DEATH     the reader looks at the word, then takes his unit
 * MUTANT SCAN_THEN_TAKE assertion/NO_DEATH     the writer looks at the units, then takes the word
 * MUTANT BUFFERED_UNIT assertion/NO_DEATH      the reader's taking is under way while he looks
 * MUTANT BUFFERED_WORD assertion/NO_DEATH      the writer's taking is
 * MUTANT STAY assertion/NO_DEATH               a reader who sees the writer does not back out
 * MUTANT NO_PASS_ON deadlock/NO_DEATH          a reader who gets in wakes nobody
 * MUTANT NO_BARRIER deadlock/NO_DEATH          the sleeper does without the heavy barrier
 * MUTANT KEEP_THE_WORD deadlock/DEADLINES      who gives up does not give the word back
 * MUTANT GIVE_UP_SILENTLY deadlock/DEADLINES   he does, and wakes nobody
 * MUTANT RECOVER_SILENTLY deadlock/DIES        recovers without a wake
 * MUTANT TOLD_TOO_MUCH assertion/DIES          one who was only coming is told of
 * MUTANT TOLD_TOO_LITTLE assertion/DIES        one who was writing is not
 */
#define READER(p) ((p) <= 2)
#define PEOPLE 4
#define MORTAL 3 /* writers are 3 and 4 */
#define HASTY 3

#define OWNER 7 /* the word: owner, and two bits */
#define COMING 8
#define DIED 16
byte word;
bool unit[3];
bool flag; /* of those who wait for the word */
bool store_buffer[PEOPLE + 1];
byte buffered[PEOPLE + 1]; /* the value that is under way: to the word, or (readers) to the unit */
bool asleep[PEOPLE + 1];

byte reading, writing; /* who is inside, in truth */
bool is_dead, was_writing;
bool changed; /* a writer died writing, and none has been since */

#define FREE ((word & OWNER) == 0)

inline drain(who) {
    if
    :: store_buffer[who] ->
        store_buffer[who] = false;
        if
        :: who <= 2 -> unit[who] = (buffered[who] != 0)
        :: else -> word = buffered[who]
        fi
    :: else -> skip
    fi
}

inline heavy_barrier() {
    d_step {
        drain(1);
        drain(2);
        drain(3);
        drain(4)
    }
}

inline wake_one() {
    if
    :: asleep[1] -> asleep[1] = false
    :: asleep[2] -> asleep[2] = false
    :: asleep[3] -> asleep[3] = false
    :: asleep[4] -> asleep[4] = false
    :: !asleep[1] && !asleep[2] && !asleep[3] && !asleep[4] -> skip
    fi
}

inline reader_takes(me) {
#ifdef BUFFERED_UNIT
    d_step { buffered[me] = 1; store_buffer[me] = true };
#else
    d_step { drain(me); unit[me] = true };
#endif
}

/* read_attempt */
inline read_attempt(me) {
    seen = word;
    if
    :: (seen & OWNER) != 0 -> skip
    :: else ->
        reader_takes(me);
#ifndef LOOK_THEN_TAKE
        seen = word;
#endif
        if
#ifdef STAY
        :: true -> had = true
#else
        :: (seen & OWNER) == 0 -> had = true
        :: else -> d_step { drain(me); unit[me] = false } /* back out */
#endif
        fi
    fi
}

/* write_attempt */
inline write_attempt(me) {
#ifdef SCAN_THEN_TAKE
    (!unit[1]);
    (!unit[2]);
#endif
    d_step {
        if
        :: FREE ->
            drain(me);
#ifdef BUFFERED_WORD
            buffered[me] = me | COMING | (word & DIED);
            store_buffer[me] = true;
#else
            word = me | COMING | (word & DIED);
#endif
            had = true
        :: else -> skip
        fi
    }
}

inline attempt(me) {
    if
    :: READER(me) -> read_attempt(me)
    :: else -> write_attempt(me)
    fi
}

/* med_contest_run: until it is had */
inline contest(me) {
    attempt(me);
    do
    :: had -> break
    :: else ->
        flag = true;
        announced = true;
        attempt(me);
        if
        :: !had ->
#ifndef NO_BARRIER
            heavy_barrier();
#endif
            attempt(me);
            if
            :: !had ->
                atomic {
                    if
                    :: flag -> asleep[me] = true
                    :: else -> skip
                    fi
                };
                !asleep[me]
            :: else -> skip
            fi
        :: else -> skip
        fi
    od;
#ifndef NO_PASS_ON
    if
    :: READER(me) && announced ->
        heavy_barrier();
        if
        :: FREE -> flag = false; atomic { wake_one() }
        :: else -> skip
        fi
    :: else -> skip
    fi
#else
    skip
#endif
}

proctype reader(byte me)
{
    bool had, announced;
    byte seen;

    contest(me);
    d_step {
        reading++;
        assert(writing == 0);
        assert(((seen & DIED) != 0) == changed)
    };
    d_step { reading--; buffered[me] = 0; store_buffer[me] = true }
}

proctype writer(byte me)
{
    bool had, announced, saw_flag;
    byte seen;

    contest(me);
#ifdef DIES
    if
    :: me == MORTAL -> goto dead
    :: true -> skip
    fi;
#endif
#ifndef SCAN_THEN_TAKE
    if
    :: !unit[1] && !unit[2] -> skip
#ifdef DEADLINES
    :: me == HASTY -> goto gives_up
#endif
    fi;
#endif
    d_step {
        writing++;
        assert(writing == 1 && reading == 0);
#ifndef BUFFERED_WORD
        assert(((word & DIED) != 0) == changed);
        word = me;
#endif
        changed = false
    };
#ifdef DIES
    if
    :: me == MORTAL -> was_writing = true; goto dead
    :: true -> skip
    fi;
#endif
    d_step { drain(me); writing--; buffered[me] = 0; store_buffer[me] = true };
    saw_flag = flag;
    if
    :: saw_flag -> flag = false; atomic { drain(me); wake_one() }
    :: else -> skip
    fi;
    goto finished;

#ifdef DEADLINES
gives_up:
    skip;
#ifndef KEEP_THE_WORD
    d_step { drain(me); word = word & DIED };
#ifndef GIVE_UP_SILENTLY
    saw_flag = flag;
    if
    :: saw_flag -> flag = false; atomic { wake_one() }
    :: else -> skip
    fi;
#endif
#endif
    goto finished;
#endif
dead:
    is_dead = true;
finished:
    skip
}

/* med_rwlock_recover_writer of MORTAL, once he is known to be dead */
proctype recoverer()
{
end:
    is_dead;
    d_step {
        if
        :: (word & OWNER) == MORTAL ->
            if
            :: was_writing -> writing = 0; changed = true
            :: else -> skip
            fi;
#if defined(TOLD_TOO_MUCH)
            word = DIED
#elif defined(TOLD_TOO_LITTLE)
            word = word & DIED
#else
            word = ((word & COMING) != 0 -> word & DIED : DIED)
#endif
        :: else -> skip
        fi
    };
#ifndef RECOVER_SILENTLY
    flag = false;
    atomic { wake_one() }
#endif
}

proctype memory()
{
end:
    do
    :: d_step { store_buffer[1] -> drain(1) }
    :: d_step { store_buffer[2] -> drain(2) }
    :: d_step { store_buffer[3] -> drain(3) }
    :: d_step { store_buffer[4] -> drain(4) }
    od
}

init {
    atomic {
        run reader(1);
        run reader(2);
        run writer(3);
        run writer(4);
        run memory();
#ifdef DIES
        run recoverer()
#endif
    }
}
