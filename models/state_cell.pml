/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The state cell (src/base/state_cell.c): begin, put, commit and read, with the seat's open, close
 * and recover. No reader gets a torn value, or one older than it got before.
 *
 * A value is two words, both its number. The writer has no step in which it could wait. A reader
 * makes at most RETRIES + 1 copies, and fails only when the writer began as many values as there
 * are buffers while the copy lasted.
 *
 * Two buffers. Numbers go round after LAST = 6, and the first value of a run is the one after 4, so
 * that they do; fewer values are written than would bring a reader's number round to itself. The
 * wait for news is models/wait.pml.
 *
 * CONFIG ALL_LIVE            one writer, four values; a reader of two, a reader of one
 * CONFIG FIRST_VALUES        the same, from an empty cell
 * CONFIG THREE_BUFFERS       the same with three buffers
 * CONFIG WRITER_DIES         the writer dies at any step; two free the seat, two want it; a reader
 * MUTANT COMMIT_FIRST assertion/ALL_LIVE      commits, then puts
 * MUTANT NO_SECOND_LOOK assertion/ALL_LIVE    believes a copy without looking at the head
 * MUTANT LOOK_TOO_EARLY assertion/ALL_LIVE    looks at the head before the second word
 * MUTANT HEAD_LAST assertion/ALL_LIVE         numbers the head when the value is put
 * MUTANT LOOK_AT_COUNTER assertion/ALL_LIVE   looks at the counter, which knows of no begun value
 * MUTANT ROUND_TO_ZERO assertion/ALL_LIVE     number 0 comes after the last
 * MUTANT LAST_BUFFER_TWICE assertion/ALL_LIVE the last number is no multiple of the buffers
 * MUTANT SAME_BUFFER assertion/ALL_LIVE       writes where the newest value lies
 * MUTANT COUNT_FIRST assertion/WRITER_DIES    the next writer goes on behind a value half written
 * MUTANT FREE_BLINDLY assertion/WRITER_DIES   frees the seat whoever has it by now
 * MUTANT SIT_BLINDLY assertion/WRITER_DIES    takes the seat whoever has it
 */
#ifdef THREE_BUFFERS
#define BUFFERS 3
#else
#define BUFFERS 2
#endif
#ifdef LAST_BUFFER_TWICE
#define LAST 5
#else
#define LAST 6
#endif
#ifdef FIRST_VALUES
#define FIRST 0
#else
#define FIRST 4
#endif
#ifdef WRITER_DIES
#define VALUES 2 /* by each writer */
#else
#define VALUES 4
#endif
#define RETRIES 1
#define MORTAL 1

byte word[BUFFERS * 2];
byte head[BUFFERS];
byte counter = FIRST;
byte seat;

/* What the model knows and the code does not. */
byte writing; /* who is between begin and commit, in truth */
byte order;   /* how many were committed */
byte order_of[LAST + 1];
bool is_dead;

#ifdef WRITER_DIES
#define MAY_DIE(me)                                                                                \
    if                                                                                             \
    :: me == MORTAL -> goto dead                                                                   \
    :: true -> skip                                                                                \
    fi;
#else
#define MAY_DIE(me)
#endif

/* med_state_cell_begin */
inline begin() {
    d_step {
        assert(writing == 0 || (writing == MORTAL && is_dead));
        writing = me;
        number = counter
    };
#ifdef SAME_BUFFER
    buffer = (number + BUFFERS - 1) % BUFFERS;
#else
    buffer = number % BUFFERS;
#endif
#ifdef ROUND_TO_ZERO
    number = (number + 1) % (LAST + 1)
#else
    number = (number < LAST -> number + 1 : 1)
#endif
#ifdef COUNT_FIRST
    ;
    counter = number
#endif
#ifndef HEAD_LAST
    ;
    head[buffer] = number
#endif
}

inline commit() {
    d_step {
        assert(writing == me);
        order++;
        order_of[number] = order;
        counter = number; /* R1 */
#ifndef COMMIT_FIRST
        writing = 0
#endif
    }
}

proctype writer(byte me)
{
    byte number, buffer, written;
    atomic { /* med_state_cell_open, until the seat is free: A3 */
#ifndef SIT_BLINDLY
        seat == 0;
#endif
        seat = me
    };
    do
    :: written == VALUES -> break
    :: else ->
        MAY_DIE(me)
        begin();
        MAY_DIE(me)
#ifdef COMMIT_FIRST
        commit();
#endif
        word[buffer * 2] = number; /* R2 */
        MAY_DIE(me)
        word[buffer * 2 + 1] = number;
        MAY_DIE(me)
#ifdef HEAD_LAST
        head[buffer] = number;
#endif
#ifdef COMMIT_FIRST
        writing = 0;
#else
        commit();
#endif
        written++
    od;
    MAY_DIE(me)
    atomic { /* med_state_cell_close: R3 */
        assert(seat == me);
        seat = 0
    };
    goto through;
dead:
    is_dead = true;
through:
    skip
}

/* med_state_cell_recover(MORTAL) */
proctype recoverer()
{
    bool his;
end:
    is_dead;
#ifdef FREE_BLINDLY
    his = (seat == MORTAL);
    if
    :: his -> seat = 0
    :: else -> skip
    fi
#else
    d_step {
        if
        :: seat == MORTAL -> seat = 0 /* R3 */
        :: else -> skip
        fi
    }
#endif
}

inline second_look() {
    d_step {
#ifdef NO_SECOND_LOOK
        whole = true
#elif defined(LOOK_AT_COUNTER)
        ahead = (counter >= number -> counter - number : counter + LAST - number);
        whole = (ahead < BUFFERS)
#else
        whole = (head[(number - 1) % BUFFERS] == number)
#endif
    }
}

/* med_state_cell_read, so often */
proctype reader(byte wanted)
{
    byte number, first, second, ahead, retries, newest_before, order_before, reads;
    bool whole, had_one;
    had_one = (FIRST != 0);
    do
    :: reads == wanted -> break
    :: else ->
        retries = 0;
        do
        :: true ->
            d_step { /* A1 */
                number = counter;
                newest_before = order
            };
            if
            :: number == 0 -> assert(!had_one); break
            :: else -> skip
            fi;
            first = word[((number - 1) % BUFFERS) * 2]; /* A2 */
#ifdef LOOK_TOO_EARLY
            second_look();
#endif
            second = word[((number - 1) % BUFFERS) * 2 + 1];
#ifndef LOOK_TOO_EARLY
            second_look();
#endif
            if
            :: whole ->
                d_step {
                    assert(first == number && second == number);
                    assert(order_of[number] >= order_before);
                    order_before = order_of[number];
                    had_one = true
                };
                break
            :: !whole ->
                assert(order - newest_before >= BUFFERS - 1);
                retries++;
                if
                :: retries > RETRIES -> break
                :: else -> skip
                fi
            fi
        od;
        atomic {
            assert(retries <= RETRIES + 1);
            number = 0;
            first = 0;
            second = 0;
            ahead = 0;
            newest_before = 0;
            whole = false;
            reads++
        }
    od
}

init {
    atomic {
#ifndef FIRST_VALUES
        word[((FIRST - 1) % BUFFERS) * 2] = FIRST;
        word[((FIRST - 1) % BUFFERS) * 2 + 1] = FIRST;
        head[(FIRST - 1) % BUFFERS] = FIRST;
#endif
        run reader(2);
        run writer(1);
#ifdef WRITER_DIES
        run writer(2);
        run recoverer();
        run recoverer()
#else
        run reader(1)
#endif
    }
}
