/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A table of the registry (src/mrapi/table.c and table_index.c): the life of a row, FREE, CREATING,
 * LIVE, REMOVING, FREE of the next generation; insert, remove, find, the hash, the free list, and
 * repair after the death of who held the table's lock.
 *
 * What find says was true while it looked: the row was LIVE, in that generation, under that key. A
 * row that is LIVE all the time is found, whatever happens to its neighbours, repairs included. One
 * life of a row is ended once. In the end, whoever died wherever: every LIVE row is in its chain,
 * once; every other is in the free list, once; no key is LIVE twice.
 *
 * Three rows or two, two chains. In the first stand row 0 (key 1), which all want to remove, and
 * behind it row 1 (key 3), which stays. Then all insert key 2: into the first chain, or with
 * ELSEWHERE into the second. A reader walks once; then he looks at every row. Who dies, dies behind
 * any store. The lock is two variables and its recovery one step (models/lock.pml,
 * models/process.pml). Left out: what fill and on_remove do, rows that were never used, scribbling.
 *
 * CONFIG ALL_LIVE            three that insert and remove; two readers
 * CONFIG LAST_ROW            the same where the row that is removed is the one to be had
 * CONFIG ELSEWHERE           as LAST_ROW, and it goes into the other chain; one reads what stays
 * CONFIG BACK_AGAIN          as ELSEWHERE, and it goes into the chain that it left
 * CONFIG ONE_DIES            two, of whom one dies anywhere in its lock; two readers
 * CONFIG TWO_DIE             two, who both die anywhere, also in the repair; a reader
 * MUTANT OFF_FROM_FRONT assertion/ALL_LIVE     remove takes all that is behind along
 * MUTANT FREE_FIRST assertion/ELSEWHERE        a row is FREE, and in the list, before it leaves
 * MUTANT NEXT_LATE assertion/BACK_AGAIN        next is set behind LIVE
 * MUTANT NEXT_UNLOOKED assertion/ELSEWHERE     a reader goes on without a second look
 * MUTANT ANY_CHAIN assertion/ELSEWHERE         a reader goes on in whichever chain he is
 * MUTANT NO_ROWS assertion/ELSEWHERE           a reader whose chain changed has found nothing
 * MUTANT ONE_LOOK assertion/LAST_ROW           find does not look at the state again
 * MUTANT LIVE_FIRST assertion/LAST_ROW         LIVE before the key is there
 * MUTANT KEEP_GENERATION assertion/LAST_ROW    a row is given back in the generation it had
 * MUTANT ANY_LIFE assertion/LAST_ROW           remove does not compare the generation
 * MUTANT EXISTS_UNASKED assertion/ALL_LIVE     insert does not look for the key first
 * MUTANT NO_REPAIR assertion/ONE_DIES          the next holder just goes on
 * MUTANT KEEP_HALF assertion/ONE_DIES          repair leaves rows that are half created or removed
 * MUTANT KEEP_CHAIN assertion/TWO_DIE          repair leaves rows that are not LIVE in their chain
 * MUTANT NO_PUT assertion/ONE_DIES             repair does not enter what is missing
 * MUTANT PUT_ALL assertion/ONE_DIES            repair enters what is there already
 * MUTANT CLEAR_HASH assertion/ONE_DIES         repair clears the chains, then fills them
 * MUTANT KEEP_LIST assertion/ONE_DIES          repair adds to the free list that it finds
 * MUTANT REPAIRED_EARLY assertion/TWO_DIE      the mark of a death is gone when the repair begins,
 *                                              and does not come again when that is cut short
 */
#ifdef ELSEWHERE
#define LAST_ROW
#define CHAIN(k) ((k) == NEW)
#else
#ifdef BACK_AGAIN
#define LAST_ROW
#endif
#define CHAIN(k) 0
#endif
#ifdef LAST_ROW
#define ROWS 2
#else
#define ROWS 3
#endif
#define HASH 2
#define NEIGHBOUR 1 /* keys */
#define NEW 2
#define STAYS 3
#define JUDGE 4

#define FREE 0
#define CREATING 1
#define LIVE 2
#define REMOVING 3
#define WORD(state, generation) ((state) + (generation) * 4)
#define STATE(w) ((w) % 4)
#define GENERATION(w) ((w) / 4)

byte state[ROWS];
byte key[ROWS];
byte next[ROWS]; /* here and in the two lines below: row + 1, or 0 */
byte free_head, free_tail;
byte hash[HASH];
byte lock; /* who has it; 0: nobody */
bool died; /* its word's bit DIED */

/* What the model knows and the code does not. */
#define LIFE(row, generation) ((row) * 4 + (generation))
byte key_of_life[ROWS * 4];
byte ended[ROWS * 4];
bool is_dead[JUDGE + 1];
byte through;
bool marked; /* a death was marked once */
hidden byte turns; /* of the walk under the lock that is one step: a chain ends */

#if defined(TWO_DIE)
#define MORTAL(me) (me <= 2)
#elif defined(ONE_DIES)
#define MORTAL(me) (me == 1)
#endif
#ifdef MORTAL
#define MAY_DIE(me)                                                                                \
    if                                                                                             \
    :: MORTAL(me) -> goto dead                                                                     \
    :: true -> skip                                                                                \
    fi;
#else
#define MAY_DIE(me)
#endif

/* ---- Under the lock: whoever calls is `me` --------------------------------------------------- */

/* `found`: is the row in its chain? One step: nobody else inserts or removes. `slot` is the row
 * before it, plus 1, or 0: the chain's front. */
inline link_to(row) {
    d_step {
        slot = 0;
        found = hash[CHAIN(key[row])];
        turns = 0;
        do
        :: found == 0 || found == row + 1 -> break
        :: else ->
            turns++;
            assert(turns <= ROWS);
            slot = found;
            found = next[found - 1]
        od
    }
}

inline prepare(row) {
    next[row] = hash[CHAIN(key[row])]; /* T3 */
    MAY_DIE(me)
}

inline front_put(row) {
    hash[CHAIN(key[row])] = row + 1;
    MAY_DIE(me)
}

inline leave(row) {
    link_to(row);
    if
    :: found == 0 -> skip
    :: found != 0 && slot == 0 ->
#ifdef OFF_FROM_FRONT
        hash[CHAIN(key[row])] = 0
#else
        hash[CHAIN(key[row])] = next[row]
#endif
    :: else -> next[slot - 1] = next[row] /* T3 */
    fi;
    slot = 0;
    found = 0;
    MAY_DIE(me)
}

inline free_append(row) {
    next[row] = 0; /* T3 */
    MAY_DIE(me)
    if
    :: free_tail != 0 -> next[free_tail - 1] = row + 1
    :: else -> free_head = row + 1
    fi;
    MAY_DIE(me)
    free_tail = row + 1;
    MAY_DIE(me)
}

/* on_remove, and FREE */
inline row_give_back(row) {
#ifdef KEEP_GENERATION
    state[row] = WORD(FREE, GENERATION(state[row]));
#else
    state[row] = WORD(FREE, GENERATION(state[row]) + 1);
#endif
    MAY_DIE(me)
}

/* Nobody else inserts or removes: one step. `found` is the row's number plus 1, or 0. */
inline find_locked(wanted) {
    d_step {
        found = hash[CHAIN(wanted)];
        turns = 0;
        do
        :: found == 0 -> break
        :: found != 0 && STATE(state[found - 1]) == LIVE && key[found - 1] == wanted -> break
        :: else ->
            turns++;
            assert(turns <= ROWS);
            found = next[found - 1]
        od
    }
}

/* A row that is REMOVING leaves its chain; so would any other that is not LIVE. */
inline chains_mend() {
#ifdef CLEAR_HASH
    hash[0] = 0;
    MAY_DIE(me)
#endif
    do
    :: row == ROWS -> break
    :: else ->
        if
#ifdef KEEP_CHAIN
        :: false -> skip
#else
        :: STATE(state[row]) == REMOVING -> leave(row)
#endif
        :: else -> skip
        fi;
        row++
    od;
    row = 0
}

inline repair() {
    chains_mend();
#ifndef KEEP_LIST
    free_head = 0;
    MAY_DIE(me)
    free_tail = 0;
    MAY_DIE(me)
#endif
    do
    :: row == ROWS -> break
    :: else ->
        if
        :: STATE(state[row]) == LIVE ->
            link_to(row);
#ifdef PUT_ALL
            found = 0;
#endif
            slot = 0;
            if
#ifdef NO_PUT
            :: false -> skip
#else
            :: found == 0 ->
                prepare(row);
                front_put(row)
#endif
            :: else -> skip
            fi;
            found = 0
        :: else ->
            if
#ifdef KEEP_HALF
            :: false -> skip
#else
            :: STATE(state[row]) != FREE -> row_give_back(row)
#endif
            :: else -> skip
            fi;
            free_append(row)
        fi;
        row++
    od;
    row = 0
}

/* lock(): a dead holder is found some time, and his lock marked. */
inline acquire() {
    do
    :: atomic { lock == 0 -> lock = me; half = died; died = false }; break
    :: atomic { lock != 0 && is_dead[lock] ->
            lock = 0;
#ifdef REPAIRED_EARLY
            died = !marked;
#else
            died = true;
#endif
            marked = true
        }
    od;
    MAY_DIE(me)
#ifndef NO_REPAIR
    if
    :: half -> repair(); half = false
    :: else -> skip
    fi
#endif
}

/* med_table_remove of row 0 in its first life */
inline remove() {
    acquire();
    if
#ifdef ANY_LIFE
    :: STATE(state[0]) == LIVE ->
#else
    :: state[0] == WORD(LIVE, 0) ->
#endif
        d_step {
            assert(key[0] == NEIGHBOUR); /* its first life, in truth */
            assert(ended[LIFE(0, GENERATION(state[0]))] == 0);
            ended[LIFE(0, GENERATION(state[0]))]++;
            state[0] = WORD(REMOVING, GENERATION(state[0]))
        };
        MAY_DIE(me)
#ifdef FREE_FIRST
        row_give_back(0);
        free_append(0);
        leave(0)
#else
        leave(0);
        row_give_back(0);
        free_append(0)
#endif
    :: else -> skip
    fi;
    lock = 0
}

/* med_table_insert of NEW */
inline insert() {
    acquire();
    find_locked(NEW);
#ifdef EXISTS_UNASKED
    found = 0;
#endif
    if
    :: found == 0 && free_head != 0 ->
        row = free_head - 1; /* free_pop */
        if
        :: next[row] == 0 -> free_tail = 0; MAY_DIE(me) skip
        :: else -> skip
        fi;
        free_head = next[row];
        MAY_DIE(me)
        assert(STATE(state[row]) == FREE);
        d_step {
            key_of_life[LIFE(row, GENERATION(state[row]))] = NEW;
            state[row] = WORD(CREATING, GENERATION(state[row]))
        };
        MAY_DIE(me)
#ifdef LIVE_FIRST
        state[row] = WORD(LIVE, GENERATION(state[row])); /* T1 */
        MAY_DIE(me)
        key[row] = NEW; /* T2 */
#else
        key[row] = NEW; /* T2 */
        MAY_DIE(me)
#ifndef NEXT_LATE
        prepare(row);
#endif
        state[row] = WORD(LIVE, GENERATION(state[row])); /* T1 */
#endif
        MAY_DIE(me)
#if defined(NEXT_LATE) || defined(LIVE_FIRST)
        prepare(row);
#endif
        front_put(row)
    :: else -> skip
    fi;
    row = 0;
    found = 0;
    lock = 0
}

proctype changer(byte me)
{
    byte slot, row, found;
    bool half;
    remove();
    insert();
    goto finished;
dead:
    is_dead[me] = true;
finished:
    through++
}

/* ---- Without the lock ------------------------------------------------------------------------ */

/* row_look */
inline look(row) {
    before = state[row]; /* A1 */
    seen_key = key[row]; /* A2 */
    seen_next = next[row]; /* A3 */
    same = (state[row] == before)
}

inline match(row) {
    if
#ifdef ONE_LOOK
    :: STATE(before) == LIVE && seen_key == wanted ->
#else
    :: same && STATE(before) == LIVE && seen_key == wanted ->
#endif
        assert(key_of_life[LIFE(row, GENERATION(before))] == wanted);
        hit = true
    :: else -> skip
    fi
}

/* med_table_find; a key is one word here. */
proctype reader(byte wanted)
{
    byte at, before, seen_key, seen_next, steps;
    bool hit, same, again;
    at = hash[CHAIN(wanted)];
    do
    :: at == 0 || hit || again -> break
    :: else ->
        look(at - 1);
        match(at - 1);
        steps++;
        if
#ifndef NEXT_UNLOOKED
        :: !hit && !same -> again = true
#endif
        :: !hit && STATE(before) < LIVE -> again = true
#ifndef ANY_CHAIN
        :: !hit && CHAIN(seen_key) != CHAIN(wanted) -> again = true
#endif
        :: !hit && steps > ROWS -> again = true
        :: else -> at = seen_next
        fi
    od;
#ifndef NO_ROWS
    at = 0;
    do
    :: !again || hit || at == ROWS -> break
    :: else ->
        look(at);
        match(at);
        at++
    od;
#endif
    assert(hit || wanted != STAYS)
}

/* All are through; then it locks, which repairs what is left to be, and looks at everything. */
proctype judge(byte changers)
{
    byte me = JUDGE;
    byte slot, row, found;
    byte in_hash[ROWS];
    byte in_list[ROWS];
    byte new_ones;
    bool half;
    through == changers;
    acquire();
    atomic {
        do
        :: row == HASH -> break
        :: else ->
            slot = hash[row];
            do
            :: slot == 0 -> break
            :: else ->
                in_hash[slot - 1]++;
                assert(in_hash[slot - 1] == 1);
                assert(CHAIN(key[slot - 1]) == row);
                slot = next[slot - 1]
            od;
            row++
        od;
        row = 0;
        slot = free_head;
        do
        :: slot == 0 -> break
        :: else ->
            in_list[slot - 1]++;
            assert(in_list[slot - 1] == 1);
            assert(next[slot - 1] != 0 || free_tail == slot);
            slot = next[slot - 1]
        od;
        do
        :: row == ROWS -> break
        :: else ->
            assert(STATE(state[row]) == LIVE || STATE(state[row]) == FREE);
            assert(in_hash[row] == (STATE(state[row]) == LIVE));
            assert(in_list[row] == (STATE(state[row]) == FREE));
            if
            :: STATE(state[row]) == LIVE && key[row] == NEW -> new_ones++
            :: else -> skip
            fi;
            row++
        od;
        assert(new_ones <= 1);
        assert(STATE(state[1]) == LIVE && key[1] == STAYS)
    };
    goto finished;
dead:
    assert(false);
finished:
    skip
}

init {
    atomic {
        key[0] = NEIGHBOUR;
        key[1] = STAYS;
        key_of_life[LIFE(0, 0)] = NEIGHBOUR;
        key_of_life[LIFE(1, 0)] = STAYS;
        state[0] = WORD(LIVE, 0);
        state[1] = WORD(LIVE, 0);
        hash[0] = 1;
        next[0] = 2;
#if defined(ELSEWHERE) || defined(BACK_AGAIN)
        run reader(STAYS);
#elif defined(LAST_ROW)
        run reader(NEIGHBOUR);
#else
        free_head = 3;
        free_tail = 3;
        run reader(STAYS);
#endif
#ifndef TWO_DIE
        run reader(NEW);
#endif
        run changer(1);
        run changer(2);
#if defined(ALL_LIVE) || defined(LAST_ROW)
        run changer(3);
        run judge(3)
#else
        run judge(2)
#endif
    }
}
