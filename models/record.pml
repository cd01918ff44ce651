/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Records that are found by their headers (src/mcapi/record.h): what is received was sent, once, in
 * order and whole, however each is found; and all that was published by the tail is.
 *
 * Four granules; records of one or two, and skips where the ring ends. The second granule of a
 * record says what would be a header, were it looked at there. The producer learns of room only
 * when it has none, so that it does not always know whether the next place is free. The consumer
 * looks at the next header or at the tail as it likes, wherever it may. Counters do not wrap here;
 * that they do is the ring's affair, as is that the producer goes to sleep.
 *
 * CONFIG ALL_LIVE            five records
 * CONFIG PRODUCER_DIES       the same; the producer dies anywhere
 * MUTANT NO_CLEAR assertion/ALL_LIVE       does not say that nothing is at the next place
 * MUTANT CLEAR_LATE assertion/ALL_LIVE     says so when the record is there
 * MUTANT CLEAR_TAKEN assertion/ALL_LIVE    says so without asking whether that place is free
 * MUTANT LEAD_BLINDLY assertion/ALL_LIVE   leads on where it did not say so
 * MUTANT HEADER_FIRST assertion/ALL_LIVE   the header, then the payload
 * MUTANT TAIL_FIRST assertion/ALL_LIVE     the tail, then the header
 * MUTANT LEADS_FOR_EVER assertion/ALL_LIVE the consumer forgets that the last did not lead on
 */
#define CAPACITY 4
#define RECORDS 5
#define AT(index) ((index) % CAPACITY)

#define NONE 0
#define SKIP 1
#define PLAIN 2
#define LEADS_ON 4 /* beside it */

byte kind[CAPACITY];
byte granules[CAPACITY];
byte payload[CAPACITY];
byte tail, head;
bool over; /* the producer is */

/* What the model knows and the code does not. */
byte length_of[RECORDS];
byte published;

#ifdef PRODUCER_DIES
#define MAY_DIE                                                                                    \
    if                                                                                             \
    :: true -> goto dead                                                                           \
    :: true -> skip                                                                                \
    fi;
#else
#define MAY_DIE skip;
#endif

inline clear_next(next) {
    leads = 0;
    if
#ifdef CLEAR_TAKEN
    :: true ->
#else
    :: limit > next ->
#endif
        leads = LEADS_ON;
#if !defined(NO_CLEAR) && !defined(CLEAR_LATE)
        kind[AT(next)] = NONE;
        MAY_DIE
#endif
    :: else ->
#ifdef LEAD_BLINDLY
        leads = LEADS_ON
#else
        skip
#endif
    fi
}

inline fill(size) {
    payload[AT(own)] = number;
    if
    :: size == 2 -> d_step {
        kind[AT(own + 1)] = PLAIN + LEADS_ON;
        granules[AT(own + 1)] = 1;
        payload[AT(own + 1)] = RECORDS
    }
    :: else -> skip
    fi;
    MAY_DIE
}

inline set_header(what, size) {
    granules[AT(own)] = size;
    MAY_DIE
    kind[AT(own)] = what + leads;
    MAY_DIE
}

/* med_record_lead_on, med_record_header_set, med_record_publish */
inline send(what, size) {
    (head + CAPACITY >= own + size || limit >= own + size);
    if
    :: limit < own + size -> limit = head + CAPACITY
    :: else -> skip
    fi;
    clear_next(own + size);
#ifdef HEADER_FIRST
    set_header(what, size);
    fill(size);
#else
    fill(size);
#ifndef TAIL_FIRST
    set_header(what, size);
#endif
#endif
#ifdef CLEAR_LATE
    if
    :: leads -> kind[AT(own + size)] = NONE
    :: else -> skip
    fi;
#endif
    atomic { tail = own + size; published = published + (what == PLAIN -> 1 : 0) };
#ifdef TAIL_FIRST
    set_header(what, size);
#endif
    MAY_DIE
    own = own + size
}

proctype producer()
{
    byte own, limit = CAPACITY, number, size, leads;
    do
    :: number < RECORDS ->
        if
        :: size = 1
        :: size = 2
        fi;
        length_of[number] = size;
        if
        :: size > CAPACITY - AT(own) -> send(SKIP, 1)
        :: else -> skip
        fi;
        send(PLAIN, size);
        number++
    :: else -> break
    od;
#ifdef PRODUCER_DIES
dead:
#endif
    over = true
}

/* med_record_read, med_record_release */
inline take() {
    assert((word & 3) == SKIP || (word & 3) == PLAIN);
    size = granules[AT(own)];
    if
    :: (word & 3) == PLAIN ->
        assert(number < RECORDS && size == length_of[number]);
        assert(payload[AT(own)] == number);
        number++
    :: else -> skip
    fi;
#ifdef LEADS_FOR_EVER
    leads = leads || word >= LEADS_ON;
#else
    leads = word >= LEADS_ON;
#endif
    own = own + size;
    filled = (filled > own -> filled : own);
    head = own
}

proctype consumer()
{
    byte own, filled, number, size, word;
    bool leads, ended, found;
    do
    :: ended = over; /* asked first */
        found = false;
        if
        :: own < filled ->
            word = kind[AT(own)];
            take();
            found = true
        :: own == filled && leads ->
            word = kind[AT(own)];
            if
            :: word != NONE -> take(); found = true
            :: else -> skip
            fi
        :: own == filled ->
            filled = tail; /* behind, if a header was faster */
            found = own < filled;
            filled = (own < filled -> filled : own)
        fi;
        if
        :: ended && !found -> break
        :: else -> skip
        fi
    od;
    assert(number >= published)
}

init
{
    atomic { run producer(); run consumer() }
}
