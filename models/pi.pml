/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Mutexes with priority inheritance after their holder's death (src/mrapi/mutex_pi.c), and what
 * the kernel does with their words.
 *
 * The word starts with number 1, whose thread is dead. A thread of that number lives all the same:
 * a stranger, who may go at any time (STRANGER), or a node, which wants the mutex as others do
 * (BEARER). In REBORN contender 2 dies anywhere, and a stranger gets his number. Where the word is
 * GONE it is GONE + stamp.
 *
 * In RENEWED nobody is dead at first. Contender 2 deletes the mutex, or dies anywhere, and the row
 * is another's: contender 4 makes it, and 3 has the handle of the former one (life).
 *
 * The kernel keeps those who wait, and whom they wait for (k_owner), as long as anybody waits. At
 * the death of that one it gives the lock to one of them, and that one's number into the word,
 * whatever stands there. Everything else is sequentially consistent.
 *
 * CONFIG STRANGER     two contenders, a stranger
 * CONFIG BEARER       three contenders, one of whom has the dead one's number
 * CONFIG RECOVERED    two contenders, one of whom has it, and two recoveries
 * CONFIG REBORN       three contenders, one of whom dies, and a recovery
 * CONFIG RENEWED      three contenders, one of whom deletes, and one has the row's next mutex
 * MUTANT BURY_TO_FREE assertion/STRANGER    a burial frees the word
 * MUTANT TAKE_UNASKED assertion/STRANGER    GONE is taken without asking the kernel
 * MUTANT NO_SLICES deadlock/STRANGER        who waits for the stranger waits until he goes
 * MUTANT NO_NEWS assertion/STRANGER         who takes GONE is not told
 * MUTANT NO_WANTS assertion/BEARER          who has just taken it does not claim it
 * MUTANT NO_MARK assertion/BEARER           a burial compares with the word as it was
 * MUTANT NO_LOCK assertion/RECOVERED        several bury at once
 * MUTANT NO_STAMP assertion/REBORN          one GONE is like another
 * MUTANT WORD_FREED assertion/RENEWED       the next mutex begins with a free word
 * MUTANT NO_LOOK assertion/RENEWED          who has it does not look whether it is gone
 * MUTANT NO_FORMER assertion/RENEWED        a former mutex's death is told of the next one
 */
#define GONE 8 /* and a stamp of two bits */
#define NUMBER 15
#define MARK 16
#define WAITERS 32
#define IS_GONE(w) (((w) & GONE) != 0)

#ifdef RENEWED
byte word;
#else
byte word = 1;
#endif
byte life = 1;    /* of the row; 2: it is nobody's */
bool former;      /* pi_death is FORMER */
byte owner;       /* pi_owner */
bool wants[5];    /* waiting_for */
bool node[8];     /* a living node has that number */
bool task[5];     /* a living thread has that number, whoever it is */
bool queued[5];
bool handed[5];
byte k_owner;     /* 0: dead */
bool table_lock;
byte stamp;
byte inside;
#ifdef RENEWED
bool untold;
#else
bool untold = true;
#endif

#if defined(REBORN) || defined(RENEWED)
#define ONE_DIES
#endif

#define QUEUE (queued[1] || queued[2] || queued[3] || queued[4])

/* The kernel passes it on to one, any one, who waits; he writes the word when he runs. */
inline hand() {
    if
    :: queued[1] -> handed[1] = true
    :: queued[2] -> handed[2] = true
    :: queued[3] -> handed[3] = true
    :: queued[4] -> handed[4] = true
    fi
}

/* The end of a thread, in the kernel. */
inline task_ends(n) {
    task[n] = false;
    if
    :: QUEUE && k_owner == n -> k_owner = 0; hand()
    :: else -> skip
    fi
}

/* FUTEX_UNLOCK_PI, where somebody waits for the caller. */
inline hand_over() {
    hand();
    if
    :: handed[1] -> k_owner = 1
    :: handed[2] -> k_owner = 2
    :: handed[3] -> k_owner = 3
    :: handed[4] -> k_owner = 4
    fi;
    word = k_owner | WAITERS
}

#define NOTHING 0
#define HAD 1
#define ASLEEP 2
#define NOBODY 3 /* ESRCH */
#define REFUSED 4

/* FUTEX_LOCK_PI */
inline kernel_lock(me) {
    atomic {
        if
        :: (word & NUMBER) == me -> says = REFUSED
        :: (word & NUMBER) != me && QUEUE ->
            if
            :: k_owner != 0 && k_owner == (word & NUMBER) -> queued[me] = true; says = ASLEEP
            :: else -> says = REFUSED
            fi
        :: (word & NUMBER) == 0 && !QUEUE -> word = me; says = HAD
        :: (word & NUMBER) != me && (word & NUMBER) != 0 && !QUEUE ->
            word = word | WAITERS;
            if
            :: !IS_GONE(word) && task[word & NUMBER] ->
                k_owner = word & NUMBER;
                queued[me] = true;
                says = ASLEEP
            :: else -> says = NOBODY
            fi
        fi
    }
}

/* Until it is handed over, or the slice ends. */
inline kernel_wait(me) {
    if
    :: atomic { handed[me] ->
        handed[me] = false;
        if
        :: k_owner == 0 -> told = true /* its owner died; by unlock the word is written already */
        :: else -> skip
        fi;
        word = me | WAITERS;
        k_owner = me;
        queued[me] = false;
        says = HAD }
#ifndef NO_SLICES
    :: atomic { !handed[me] -> queued[me] = false; says = NOTHING }
#endif
#ifdef ONE_DIES
    :: atomic { me == 2 && !handed[me] -> queued[me] = false; goto dead }
    :: atomic { me == 2 && handed[me] -> goto dead }
#endif
    fi
}

#ifdef ONE_DIES
#define MAY_DIE(me)                                                                                \
    if                                                                                             \
    :: me == 2 -> goto dead                                                                        \
    :: true -> skip                                                                                \
    fi
#else
#define MAY_DIE(me) skip
#endif

/* Who buries knows that he has it not himself. */
#define MAY_CLAIM(n, me) (node[n] && (n) != me)

/* First what he wants, then what he has. */
inline claimed(me) {
    is_claimed = false;
    if
    :: MAY_CLAIM(number, me) ->
#ifndef NO_WANTS
        is_claimed = wants[number];
#endif
        is_claimed = is_claimed || owner == number
    :: else -> skip
    fi
}

inline bury(me) {
#ifndef NO_LOCK
    atomic { !table_lock -> table_lock = true };
#endif
    seen = word;
    number = seen & NUMBER;
    if
    :: number == 0 || IS_GONE(seen) -> skip
    :: else ->
        claimed(me);
        if
        :: is_claimed -> skip
        :: else ->
#ifdef NO_MARK
            marked = seen;
#else
            marked = seen | MARK;
#endif
            atomic {
                if
                :: word == seen -> word = marked; swapped = true
                :: else -> swapped = false
                fi
            };
            if
            :: swapped ->
#ifndef NO_MARK
                claimed(me);
#endif
                atomic {
                    if
                    :: word != marked -> skip
                    :: word == marked && is_claimed -> word = seen
                    :: word == marked && !is_claimed ->
#ifdef BURY_TO_FREE
                        word = 0;
                        untold = false /* said elsewhere */
#else
#ifndef NO_STAMP
                        stamp = (stamp + 1) & 3;
#endif
                        word = GONE | stamp
#endif
                    fi
                }
            :: else -> skip
            fi
        fi
    fi;
    atomic { seen = 0; marked = 0; number = 0; swapped = false; is_claimed = false };
#ifndef NO_LOCK
    table_lock = false;
#endif
}

proctype contender(byte me; byte rounds; byte handle)
{
    byte says, asked, seen, marked, number;
    bool told, swapped, is_claimed;

    do
    :: rounds == 0 -> break
    :: else ->
        rounds--;
        wants[me] = true;
        atomic {
            if
            :: word == 0 -> word = me; says = HAD
            :: else -> says = NOTHING
            fi
        };
        MAY_DIE(me);
        do
        :: says == HAD -> break
        :: else ->
            asked = word & NUMBER;
#ifdef TAKE_UNASKED
            if
            :: IS_GONE(asked) -> says = NOBODY
            :: else -> kernel_lock(me)
            fi;
#else
            kernel_lock(me);
#endif
            if
            :: says == ASLEEP -> kernel_wait(me)
            :: says == NOBODY && IS_GONE(asked) ->
                atomic {
                    if
                    :: (word & NUMBER) == asked ->
                        word = me;
#ifndef NO_NEWS
                        told = true;
#endif
                        says = HAD
                    :: else -> says = NOTHING
                    fi
                }
            :: else -> skip
            fi;
            asked = 0;
            MAY_DIE(me);
            if
            :: says != HAD && word != 0 && !IS_GONE(word) -> bury(me)
            :: else -> skip
            fi;
            if
            :: says != HAD && handle != life -> wants[me] = false; goto finished
            :: else -> skip
            fi
        od;
#ifndef NO_LOOK
        if
        :: handle != life -> told = false; goto gives
        :: else -> skip
        fi;
#endif
        atomic {
            assert(handle == life);
            assert(inside == 0);
#ifndef NO_FORMER
            told = told && !former;
#endif
            former = false;
            assert(told == untold);
            inside = me;
            untold = false;
            told = false
        };
        MAY_DIE(me);
        owner = me;
        wants[me] = false;
        MAY_DIE(me);
        atomic {
            inside = 0;
#ifdef RENEWED
            if
            :: me == 2 -> life = 2
            :: else -> skip
            fi
#endif
        };
        MAY_DIE(me);
gives:
        do
        :: atomic { word == me -> word = 0 }; break
        :: atomic { word != me ->
            assert((word & NUMBER) == me); /* nobody takes it from the living */
            if
            :: !QUEUE -> word = 0; says = NOTHING
            :: QUEUE && k_owner == me -> hand_over(); says = NOTHING
            :: else -> says = REFUSED
            fi };
            if
            :: says == NOTHING -> break
            :: else -> skip
            fi
        od;
        atomic { says = NOTHING; wants[me] = false }
    od;
    goto finished;
dead:
    atomic {
        node[me] = false;
        wants[me] = false;
        if
        :: inside == me -> inside = 0
        :: else -> skip
        fi;
        if
        :: (word & NUMBER) == me && handle == life -> untold = true
        :: else -> skip
        fi;
        if
        :: handed[me] -> /* the kernel passes it on as its own */
            handed[me] = false;
            queued[me] = false;
            if
            :: QUEUE -> k_owner = 0; hand()
            :: else -> skip
            fi
        :: else -> skip
        fi;
        task_ends(me)
    };
    atomic { task[me] = true }; /* a stranger, from here on */
    if
    :: true -> atomic { task_ends(me) }
    :: true -> skip
    fi;
finished:
    skip
}

/* A process that recovers another: it wants nothing. */
proctype recoverer()
{
    byte seen, marked, number;
    bool swapped, is_claimed;
    bury(0);
    bury(0)
}

/* Makes the row's next mutex. */
proctype maker()
{
end:
    atomic {
        life == 2;
        life = 3;
        former = word != 0;
#ifdef WORD_FREED
        word = 0;
#endif
        run contender(4, 1, 3)
    }
}

proctype stranger()
{
    if
    :: atomic { task_ends(1) }
    :: true -> skip
    fi
}

init {
    atomic {
#if defined(STRANGER)
        node[2] = true; task[2] = true;
        node[3] = true; task[3] = true;
        task[1] = true;
        run contender(2, 1, 1);
        run contender(3, 1, 1);
        run stranger()
#elif defined(BEARER)
        node[1] = true; task[1] = true;
        node[2] = true; task[2] = true;
        node[3] = true; task[3] = true;
        run contender(1, 2, 1);
        run contender(2, 1, 1);
        run contender(3, 1, 1)
#elif defined(RECOVERED)
        node[1] = true; task[1] = true;
        node[2] = true; task[2] = true;
        run contender(1, 1, 1);
        run contender(2, 1, 1);
        run recoverer();
        run recoverer()
#elif defined(REBORN)
        node[2] = true; task[2] = true;
        node[3] = true; task[3] = true;
        node[4] = true; task[4] = true;
        run contender(2, 1, 1);
        run contender(3, 1, 1);
        run contender(4, 1, 1);
        run recoverer()
#elif defined(RENEWED)
        node[2] = true; task[2] = true;
        node[3] = true; task[3] = true;
        node[4] = true; task[4] = true;
        run contender(2, 1, 1);
        run contender(3, 1, 1);
        run maker()
#endif
    }
}
