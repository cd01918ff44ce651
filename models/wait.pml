/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The wait object (src/base/wait.c). No wake is lost.
 *
 * Two wakers publish to two sleepers, each sleeper waiting for a condition of its own on the one
 * wait word, in rounds; or in one round with a third sleeper, which dies at any step. What a waker
 * publishes goes into its store buffer and becomes visible at any later time; nothing the waker
 * itself does drains the buffer, not even its compare-and-swap (relaxed, wait.c). Only the
 * sleeper's heavy barrier does.
 *
 * Slices are left out: a sleeper sleeps until it is woken. So a missed wake is a deadlock, which is
 * what Spin looks for.
 *
 * CONFIG HEAVY               the asymmetric fence: the waker has none, the sleeper drains everybody
 * CONFIG SLEEPER_DIES        the same, one round, with the sleeper that dies
 * CONFIG LIGHT_IS_FENCE      before the machine is ready: the waker's light half is a full fence
 * CONFIG CROWD               a crowd's: at any time a sleeper tells the wakers to pay, and sleepers
 *                            who know that they do have no barrier (med_wait_crowd)
 * MUTANT NO_HEAVY deadlock           the sleeper has only a fence of its own
 * MUTANT LOOK_BEFORE_FLAG deadlock   looks at the condition, then sets the flag and sleeps
 * MUTANT KEEP_FLAG deadlock          the waker wakes without changing the word
 * MUTANT WAKE_ONE deadlock           the waker wakes one of them, perhaps the wrong one
 * MUTANT NO_COUNT deadlock           the waker clears the flag but does not count: ABA on the word
 * MUTANT PLAIN_SLEEP deadlock        sleeps whatever the word holds by now
 * MUTANT TURN_AT_ONCE deadlock/CROWD a crowd's wakers are told without a barrier
 * MUTANT TURN_EARLY deadlock/CROWD   sleepers rely on them before it
 */
#define SLEEPERS 2
#define WAKERS 2
#ifdef SLEEPER_DIES
#define ROUNDS 1
#else
#define ROUNDS 2
#endif
#define COUNT_MODULUS 16 /* more than the wakes of one run */

byte condition[SLEEPERS];                /* in memory; how many rounds were published */
chan buffer[WAKERS] = [ROUNDS] of {byte} /* in the waker's store buffer */
bool flag;                               /* the wait word: bit 0 */
byte count;                              /* the wait word: the other bits */
byte pays; /* a crowd's: 0 the sleeper, 1 both, 2 the waker */
bool asleep[SLEEPERS + 1];               /* in the kernel's queue; the last is the one that dies */

inline drain(w) {
    do
    :: nempty(buffer[w]) -> buffer[w] ? condition[w]
    :: empty(buffer[w]) -> break
    od
}

/* Stores leave a buffer in order, whenever they like. */
active proctype memory()
{
end:
    do
    :: atomic { nempty(buffer[0]) -> buffer[0] ? condition[0] }
    :: atomic { nempty(buffer[1]) -> buffer[1] ? condition[1] }
    od
}

inline kernel_wake() {
#ifdef WAKE_ONE
    if
    :: asleep[0] -> asleep[0] = false
    :: asleep[1] -> asleep[1] = false
    :: asleep[2] -> asleep[2] = false
    :: !asleep[0] && !asleep[1] && !asleep[2] -> skip
    fi
#else
    asleep[0] = false;
    asleep[1] = false;
    asleep[2] = false
#endif
}

/* med_wait_wake */
proctype waker(byte w)
{
    byte round;
    bool seen;
    for (round : 1 .. ROUNDS) {
        buffer[w] ! round; /* P1 */
#ifdef LIGHT_IS_FENCE
        d_step { drain(w) };
#endif
#ifdef CROWD
        if
        :: pays > 0 -> atomic { drain(w) } /* R3: a change of the word */
        :: pays == 0 -> skip
        fi;
#endif
        seen = flag; /* P2 */
        if
        :: !seen -> skip
        :: seen ->
            d_step { /* the compare-and-swap; lost when another waker was first */
                if
                :: flag ->
#ifndef KEEP_FLAG
                    flag = false;
#endif
#if !defined(KEEP_FLAG) && !defined(NO_COUNT)
                    count = (count + 1) % COUNT_MODULUS;
#endif
                    skip
                :: !flag -> seen = false
                fi
            };
            if
            :: seen -> atomic { kernel_wake() }
            :: !seen -> skip
            fi
        fi
    }
}

inline set_flag() {
    d_step {
        flag = true; /* W1 */
        expected = count
    }
}

inline drain_all() {
    d_step { /* W2, W6 */
        drain(0);
        drain(1)
    }
}

/* Of a crowd: whether it need not pay itself. */
inline turn() {
    if
    :: atomic { pays == 0 -> pays = 1 };
#ifdef TURN_EARLY
        pays = 2;
#endif
#ifndef TURN_AT_ONCE
        drain_all();
#endif
        pays = 2
    :: true -> skip /* nobody has computed beside it, or another is at it */
    fi
}

inline heavy_barrier() {
#ifdef CROWD
    if
    :: paid -> skip
    :: !paid -> drain_all(); skip
    fi
#elif !defined(NO_HEAVY) && !defined(LIGHT_IS_FENCE)
    drain_all()
#else
    skip
#endif
}

inline kernel_wait(s) {
#ifdef PLAIN_SLEEP
    asleep[s] = true;
#else
    atomic {
        if
        :: flag && count == expected -> asleep[s] = true
        :: !(flag && count == expected) -> skip
        fi
    };
#endif
    !asleep[s]
}

/* med_wait_until, from the first sleep_once on */
proctype sleeper(byte s)
{
    byte round;
    byte expected;
#ifdef CROWD
    bool paid;
#endif
    for (round : 1 .. ROUNDS) {
        do
#ifdef LOOK_BEFORE_FLAG
        :: true ->
            if
            :: condition[s] >= round -> break
            :: condition[s] < round -> skip
            fi;
            set_flag();
            heavy_barrier();
            kernel_wait(s)
#else
        :: true ->
#ifdef CROWD
            turn();
            paid = pays == 2;
#endif
            set_flag();
            heavy_barrier();
            if
            :: condition[s] >= round -> break /* W3 */
            :: condition[s] < round -> skip
            fi;
            kernel_wait(s);
            if
            :: condition[s] >= round -> break
            :: condition[s] < round -> skip
            fi
#endif
        od
    }
}

/* Waits for nothing anybody publishes; dies before W1, after it, or asleep. */
proctype doomed()
{
    byte expected;
    if
    :: true ->
        set_flag();
        if
        :: true -> atomic {
            if
            :: flag && count == expected -> asleep[SLEEPERS] = true
            :: !(flag && count == expected) -> skip
            fi
        }
        :: true -> skip
        fi
    :: true -> skip
    fi;
    asleep[SLEEPERS] = false
}

init {
    atomic {
        run waker(0);
        run waker(1);
        run sleeper(0);
        run sleeper(1);
#ifdef SLEEPER_DIES
        run doomed()
#endif
    }
}
