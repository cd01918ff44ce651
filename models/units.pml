/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Units (src/base/units.c), waited for as src/base/lock.c does where several may be had at once: no
 * sleeper is left asleep while a unit is free and nobody is about to wake him.
 *
 * Two units, had by two who give them back, and two who want one each: by the end both must have
 * had one, though the first may keep his for ever. The asymmetric fence is that of lock.pml: a
 * store that frees may be under way until a heavy barrier, or for as long as it likes. There are no
 * slices.
 *
 * CONFIG NO_DEATH            as said
 * CONFIG DEADLINES           one of the two may give up at his deadline
 * MUTANT NO_BARRIER deadlock/NO_DEATH          the sleeper does without the heavy barrier
 * MUTANT NO_SECOND_LOOK deadlock/NO_DEATH      the sleeper does not look again behind it
 * MUTANT LOOK_THEN_FREE deadlock/NO_DEATH      who gives back looks at the flag, then frees
 * MUTANT NO_PASS_ON deadlock/NO_DEATH          who gets one looks for no other unit
 * MUTANT PASS_ON_IF_WOKEN deadlock/NO_DEATH    he does if he was woken, not if he set the flag only
 * MUTANT PASS_ON_EARLY deadlock/NO_DEATH       he looks without the heavy barrier
 * MUTANT FORGET_OTHERS deadlock/NO_DEATH       he tries without setting the flag
 * MUTANT LEAVE_SILENTLY deadlock/DEADLINES     gives up without handing on
 * MUTANT LEAVE_EARLY deadlock/DEADLINES        gives up without a second look
 */
#define HOLDERS 2
#define PEOPLE 4
#define HASTY 3

byte word[2];
bool flag;
bool store_buffer[PEOPLE + 1]; /* this one's store of 0 is under way */
byte buffered[PEOPLE + 1];     /* to that unit */
bool asleep[PEOPLE + 1];

inline drain(who) {
    if
    :: store_buffer[who] -> store_buffer[who] = false; word[buffered[who]] = 0
    :: else -> skip
    fi
}

/* every running thread passes a full fence */
inline heavy_barrier() {
    d_step {
        drain(1);
        drain(2);
        drain(3);
        drain(4)
    }
}

/* the kernel wakes one, any one */
inline wake_one() {
    if
    :: asleep[3] -> asleep[3] = false
    :: asleep[4] -> asleep[4] = false
    :: !asleep[3] && !asleep[4] -> skip
    fi
}

inline release(me, unit) {
#ifdef LOOK_THEN_FREE
    saw_flag = flag;
    d_step { buffered[me] = unit; store_buffer[me] = true };
#else
    d_step { buffered[me] = unit; store_buffer[me] = true };
    saw_flag = flag;
#endif
    if
    :: saw_flag ->
        flag = false;
        atomic { drain(me); wake_one() } /* a system call is a fence */
    :: else -> skip
    fi
}

/* med_units_take: one word after the other */
inline attempt(me) {
    d_step {
        if
        :: word[0] == 0 -> word[0] = me; taken = true; mine = 0
        :: else -> skip
        fi
    };
    d_step {
        if
        :: !taken && word[1] == 0 -> word[1] = me; taken = true; mine = 1
        :: else -> skip
        fi
    }
}

inline wake_if_free() {
#ifndef PASS_ON_EARLY
    heavy_barrier();
#endif
    seen = (word[0] == 0);
    seen = seen || (word[1] == 0);
    if
    :: seen -> flag = false; atomic { wake_one() }
    :: else -> skip
    fi
}

proctype holder(byte me)
{
    bool saw_flag;
    release(me, me - 1)
}

proctype contender(byte me)
{
    bool taken, late, woken, announced, seen, saw_flag;
    byte mine;

    attempt(me);
    do
    :: taken -> break
    :: !taken && !late ->
#ifdef FORGET_OTHERS
        if
        :: woken -> attempt(me)
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
        if
        :: !taken -> attempt(me)
        :: else -> skip
        fi;
        if
        :: !taken ->
#ifndef NO_BARRIER
            heavy_barrier();
#endif
#ifndef NO_SECOND_LOOK
            attempt(me);
#endif
            if
            :: !taken ->
                atomic {
                    if
                    :: flag -> asleep[me] = true
                    :: else -> skip
                    fi
                };
                if
                :: !asleep[me] -> skip
#ifdef DEADLINES
                :: atomic { me == HASTY && asleep[me] -> asleep[me] = false; late = true }
#endif
                fi;
#ifdef DEADLINES
                if
                :: me == HASTY -> late = true /* woken, and late all the same */
                :: true -> skip
                fi;
#endif
                woken = true
            :: else -> skip
            fi
        :: else -> skip
        fi
    :: !taken && late -> /* hand_on */
#ifndef LEAVE_SILENTLY
        flag = true;
        attempt(me);
        if
        :: !taken ->
#ifndef LEAVE_EARLY
            heavy_barrier();
            attempt(me)
#else
            skip
#endif
        :: else -> skip
        fi;
#endif
        break
    od;
#ifndef NO_PASS_ON
    if
#ifdef PASS_ON_IF_WOKEN
    :: taken && woken -> wake_if_free()
#else
    :: taken && announced -> wake_if_free()
#endif
    :: else -> skip
    fi;
#endif
    if
    :: taken -> release(me, mine)
    :: true -> skip /* keeps it */
    fi
}

/* What is in a store buffer gets out some time. */
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
        word[0] = 1;
        word[1] = 2;
        run holder(1);
        run holder(2);
        run contender(3);
        run contender(4);
        run memory()
    }
}
