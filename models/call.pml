/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A waker that looks at a word of its own (src/base/wait.c, `call`): each side of a ring with one
 * producer and one consumer. No wake is lost.
 *
 * One waker publishes so many rounds; one sleeper waits for each, and would sleep for good if it
 * missed a wake: a deadlock, which is what Spin looks for. What either stores goes into its store
 * buffer, in order, and becomes visible at any later time; only the sleeper's heavy barrier drains
 * both. At first, and again when the waker likes (what it knows is used up), its word says STOPPED;
 * whenever it has looked closer it says GOES_ON, but STOPPED as long as its barrier costs
 * something. The flag is changed by read-modify-writes, which drain the buffer of whoever does
 * them, but for the waker's, which is relaxed.
 *
 * CONFIG HEAVY               the asymmetric fence: the waker has none, the sleeper drains both
 * CONFIG LIGHT_IS_FENCE      before the machine is ready: the waker always stops, and has a fence
 * CONFIG READY_LATE          the change (src/port/linux/barrier.c): the machine registers at any
 *                            time, drains both once, then says that it is ready, which the waker
 *                            asks at P3, and again at P4. What it reads at P4 it may have loaded
 *                            ahead of its turn, unless it was drained since
 * MUTANT LOOK_BEFORE_STORE deadlock  the waker looks at the flag, then stores into its word
 * MUTANT ONE_CALL deadlock           the sleeper does not look whether the call stands
 * MUTANT CALL_LATE deadlock          calls behind the barrier
 * MUTANT FLAG_LATE deadlock          sets the flag behind the barrier
 * MUTANT NO_HEAVY deadlock           the barrier drains only the sleeper's own buffer
 * MUTANT GOES_ON_UNREADY deadlock/READY_LATE  goes on before the machine is ready
 * MUTANT NO_FENCE deadlock/READY_LATE         has no fence before the machine is ready
 * MUTANT READY_FIRST deadlock/READY_LATE      the machine is ready before it has registered
 * MUTANT NOT_DRAINED deadlock/READY_LATE      the machine is ready without a drain
 */
#define ROUNDS 3
#define GOES_ON 0
#define STOPPED 1
#define CALLED 2
#define CALLS 2

mtype = {CONDITION, STOP};

byte condition;      /* in memory; how many rounds were published */
byte stop = STOPPED; /* in memory */
chan waker_buffer = [2 * ROUNDS + 2] of {mtype, byte};
chan sleeper_buffer = [1] of {byte};
byte waker_stops; /* of them in the waker's buffer, */
byte waker_stop;  /* and the last one's value */
bool flag;
byte count;
bool asleep;
bool registered; /* READY_LATE: the sleeper's barrier drains the waker, too */
bool ready;
bool ahead;      /* the waker has loaded the flag, */
bool flag_ahead; /* and found this */

inline drain_one() {
    if
    :: waker_buffer ? [CONDITION, _] -> waker_buffer ? CONDITION, condition
    :: waker_buffer ? [STOP, _] ->
        waker_buffer ? STOP, stop;
        waker_stops--
    fi
}

inline drain_waker() {
    do
    :: nempty(waker_buffer) -> drain_one()
    :: empty(waker_buffer) -> break
    od;
    ahead = false
}

inline drain_sleeper() {
    if
    :: nempty(sleeper_buffer) -> sleeper_buffer ? stop
    :: empty(sleeper_buffer) -> skip
    fi
}

#ifdef READY_LATE
active proctype machine()
{
#ifdef READY_FIRST
    ready = true;
#endif
    registered = true;
#ifndef NOT_DRAINED
    d_step {
        drain_sleeper();
        drain_waker()
    };
#endif
    ready = true
}
#endif

active proctype memory()
{
end:
    do
    :: d_step { nempty(waker_buffer) -> drain_one() }
    :: d_step { nempty(sleeper_buffer) -> sleeper_buffer ? stop }
    od
}

inline store_stop(value) {
    d_step {
        waker_buffer ! STOP, value;
        waker_stop = value;
        waker_stops++
    }
}

/* med_wait_wake */
inline look_at_flag() {
#ifdef LIGHT_IS_FENCE
    d_step { drain_waker() };
#endif
#ifdef READY_LATE
#ifndef NO_FENCE
    if
    :: ready -> skip
    :: !ready -> d_step { drain_waker() }
    fi;
#endif
    d_step { /* P4 */
        seen = (ahead -> flag_ahead : flag);
        ahead = false
    }
#else
    seen = flag; /* P4 */
#endif
    if
    :: seen -> d_step {
        flag = false;
        count++;
        asleep = false
    }
    :: !seen -> skip
    fi
}

/* med_ring_producer_stopped */
inline look_closer() {
#ifdef LOOK_BEFORE_STORE
    look_at_flag();
    store_stop(GOES_ON)
#else
#ifdef LIGHT_IS_FENCE
    store_stop(STOPPED);
#else
#if defined(READY_LATE) && !defined(GOES_ON_UNREADY)
    may_go_on = ready;
    store_stop((may_go_on -> GOES_ON : STOPPED)); /* P3 */
#else
    store_stop(GOES_ON); /* P3 */
#endif
#endif
    look_at_flag()
#endif
}

proctype waker()
{
    byte round;
    byte word;
    bool seen;
    bool may_go_on;
    for (round : 1 .. ROUNDS) {
#ifdef READY_LATE
        if
        :: d_step {
            ahead = true;
            flag_ahead = flag
        }
        :: skip
        fi;
#endif
        waker_buffer ! CONDITION, round; /* P1 */
        d_step { /* P2 */
            if
            :: waker_stops > 0 -> word = waker_stop
            :: waker_stops == 0 -> word = stop
            fi
        };
        if
        :: word != GOES_ON -> look_closer()
        :: word == GOES_ON -> skip
        :: true -> look_closer() /* used up at this very index */
        fi
    }
}

inline set_flag() {
    d_step {
        drain_sleeper();
        flag = true; /* W1 */
        expected = count
    }
}

inline heavy_barrier() {
    d_step { /* W2 */
        drain_sleeper();
#ifdef READY_LATE
        if
        :: registered -> drain_waker()
        :: !registered -> skip
        fi
#else
#ifndef NO_HEAVY
        drain_waker()
#endif
#endif
    }
}

proctype sleeper()
{
    byte round;
    byte expected;
    byte calls;
    bool holds;
    for (round : 1 .. ROUNDS) {
        holds = condition >= round;
        do
        :: holds -> break
        :: !holds ->
#ifndef FLAG_LATE
            set_flag();
#endif
            calls = 0;
            do
            :: calls == CALLS -> break
            :: calls < CALLS ->
                calls++;
#ifndef CALL_LATE
                sleeper_buffer ! CALLED; /* W4 */
#endif
                heavy_barrier();
#ifdef CALL_LATE
                sleeper_buffer ! CALLED;
#endif
#ifdef FLAG_LATE
                set_flag();
#endif
                holds = condition >= round; /* W3 */
                if
                :: holds -> break
#ifdef ONE_CALL
                :: !holds -> break
#else
                :: !holds && stop == CALLED -> break /* W5 */
                :: !holds && stop != CALLED -> skip
#endif
                fi
            od;
            if
            :: holds -> skip
            :: !holds ->
                atomic {
                    if
                    :: flag && count == expected -> asleep = true
                    :: !(flag && count == expected) -> skip
                    fi
                };
                !asleep; /* the kernel's wait drains the buffer of who sleeps */
                d_step {
                    drain_sleeper();
                    holds = condition >= round
                }
            fi
        od
    }
}

init {
    atomic {
        run waker();
        run sleeper()
    }
}
