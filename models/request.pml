/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Requests that stand in a queue of their maker's (src/mrapi/request.h, src/mcapi/pending.c), and
 * another thread that cancels them: of each either what came of it is had, once, or it was
 * canceled, and then nothing is done for it any more; what is received goes to the first that is
 * wanted, in order; and nobody sleeps on.
 *
 * One maker asks for three things, with two places, and waits for each. What he asks for comes at
 * any time, or never. Another cancels whatever has not ended, in any order; a third waits for one.
 * A look and the sleep behind it are one step: that they are as good as one is wait.pml's.
 *
 * CONFIG ANY                     whatever comes, whatever is canceled
 * MUTANT NO_TURN assertion       the maker makes a step without its turn
 * MUTANT IN_TURN assertion       cancels while the maker has the turn
 * MUTANT TAKEN_EARLY assertion   a place is had by the next while it stands in the queue
 * MUTANT NO_WAKE deadlock        who cancels wakes nobody
 * MUTANT NOT_TOLD deadlock       who ends one wakes nobody
 * MUTANT RAISED_LATE deadlock    who waits for another's raises the flag behind his look
 */
#define ASKED 3
#define PLACES 2
#define NOBODY 255

mtype = {FREE, VALID, COMPLETED, CANCELED}

mtype state[PLACES] = FREE;
bool turn[PLACES];
bool queued[PLACES];
byte life[PLACES] = NOBODY; /* which of those asked for: its generation */
byte came, had;             /* how many things came, and were received */
bool watched;
bool maker_sleeps, waiter_sleeps;

/* The maker's own. */
byte queue[ASKED]; /* places */
byte queue_length;

/* What the model knows and the code does not. */
byte got[ASKED];
bool collected[ASKED];
bool canceled[ASKED];
byte asked;
bool over;

inline wake_all() {
    maker_sleeps = false;
    waiter_sleeps = false
}

/* Some request is over. */
inline tell() {
#ifndef NOT_TOLD
    if
    :: watched -> atomic { watched = false; wake_all() }
    :: else -> skip
    fi
#else
    skip
#endif
}

inline queue_take_first() {
    d_step {
        first = 0;
        do
        :: first + 1 < queue_length -> queue[first] = queue[first + 1]; first++
        :: else -> break
        od;
        queue_length--;
        first = 0
    }
}

/* Whatever can be done. */
inline bring_forward() {
    do
    :: queue_length == 0 -> break
    :: queue_length > 0 ->
        place = queue[0];
        which = life[place];
        may = true;
        d_step {
            if
            :: state[place] == VALID -> turn[place] = true
            :: else -> may = false
            fi
        };
#ifdef NO_TURN
        turn[place] = false;
#endif
        if
        :: !may ->
            queue_take_first();
            queued[place] = false
        :: may && came > had ->
            had++;
            got[which] = had;
            assert(!canceled[which]);
            queue_take_first();
            d_step {
                queued[place] = false;
                turn[place] = false;
                state[place] = COMPLETED
            };
            tell()
        :: may && came == had ->
            turn[place] = false;
            break
        fi
    od
}

/* By whom it is asked for. `ended`: he need not ask again. */
inline ask(number) {
    atomic {
        ended = false;
        where = 0;
        do
        :: where < PLACES && life[where] == number -> break
        :: where < PLACES && life[where] != number -> where++
        :: where == PLACES -> break
        od;
        if
        :: where == PLACES -> ended = true /* another has its place by now */
        :: where < PLACES && state[where] == CANCELED -> ended = true
        :: where < PLACES && state[where] == FREE -> ended = true
        :: where < PLACES && state[where] == COMPLETED ->
            assert(!collected[number] && !canceled[number] && got[number] > 0);
            collected[number] = true;
            state[where] = FREE;
            ended = true;
            tell()
        :: where < PLACES && state[where] == VALID -> skip
        fi
    }
}

active proctype maker()
{
    byte number, place, which, first, where, round;
    bool may, ended;
    for (number : 0 .. ASKED - 1) {
        /* A place; when there is none, what stands in the queue is looked through. */
        do
        :: atomic {
            place = 0;
            do
            :: place == PLACES -> break
            :: place < PLACES && state[place] == FREE -> break
#ifdef TAKEN_EARLY
            :: place < PLACES && state[place] == CANCELED -> break
#else
            :: place < PLACES && state[place] == CANCELED && !queued[place] -> break
            :: place < PLACES && state[place] == CANCELED && queued[place] -> place++
#endif
            :: place < PLACES && (state[place] == VALID || state[place] == COMPLETED) -> place++
            od;
            if
            :: place < PLACES ->
                assert(!queued[place]);
                life[place] = number;
                queued[place] = true;
                state[place] = VALID;
                queue[queue_length] = place;
                queue_length++;
                asked = number + 1;
                break
            :: else -> skip
            fi
           };
           bring_forward();
           /* Nothing to be had: he waits for the first. */
           ask(number - 1);
           ask(number - 2)
        od;
        bring_forward()
    }
    for (round : 0 .. ASKED - 1) {
        do
        :: bring_forward();
           atomic {
               ask(round);
               if
               :: ended -> break
               :: !ended && queue_length > 0 && (came > had || state[queue[0]] != VALID) -> skip
               :: else -> maker_sleeps = true
               fi
           };
           !maker_sleeps
        od
    }
    over = true;
    for (round : 0 .. ASKED - 1) {
        assert(collected[round] + canceled[round] == 1);
        assert(!canceled[round] || got[round] == 0)
    }
}

active proctype comes()
{
    do
    :: came < ASKED -> atomic { came++; maker_sleeps = false }
    :: break
    od
}

active proctype canceler()
{
    byte where;
    byte number;
end:
    do
    :: over -> break
    :: atomic {
        !over && asked > 0;
        if
        :: where = 0
        :: where = 1
        fi;
        number = life[where];
        if
#ifdef IN_TURN
        :: number != NOBODY && state[where] == VALID ->
#else
        :: number != NOBODY && state[where] == VALID && !turn[where] ->
#endif
            state[where] = CANCELED;
            assert(!canceled[number] && !collected[number]);
            assert(got[number] == 0);
            canceled[number] = true
        :: else -> number = NOBODY
        fi
       };
       if
       :: number != NOBODY ->
#ifndef NO_WAKE
           atomic { wake_all() }
#else
           skip
#endif
       :: else -> skip
       fi
    od
}

active proctype waiter()
{
    byte number, where;
    bool ended;
    asked > 0;
    if
    :: number = 0
    :: number = asked - 1
    fi;
    do
    ::
#ifndef RAISED_LATE
       watched = true;
#endif
       atomic {
           ask(number);
           if
           :: ended -> break
           :: else -> skip
           fi
#ifdef RAISED_LATE
       };
       atomic {
           watched = true;
           waiter_sleeps = true
       };
#else
           /* A flag that was lowered since is raised again before the sleep. */
           waiter_sleeps = watched
       };
#endif
       !waiter_sleeps
    od
}
