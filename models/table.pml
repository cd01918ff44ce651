/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A table of the registry (src/mrapi/table.c and table_index.c): the life of a row, FREE, CREATING,
 * LIVE, REMOVING, FREE of the next generation; insert, remove, find, the hash, the free list, and
 * repair after the death of who held the table's lock.
 *
 * What find says was true while it looked: the row was LIVE, in that generation, under that key. A
 * row that is LIVE all the time is found, whatever happens to its neighbours, repairs included. One
 * life of a row is ended once. In the end, whoever died wherever: every LIVE row is in the hash,
 * once; every other is in the free list, once; no key is LIVE twice.
 *
 * Three rows or two, four words of hash. All keys belong to the first word: row 0 (key 1), which
 * all want to remove, stands before row 1 (key 3), which stays. Then all insert key 2. Who dies,
 * dies behind any store. The lock is two variables and its recovery one step (models/lock.pml,
 * models/process.pml). Left out: what fill and on_remove do, rows that were never used, scribbling.
 *
 * CONFIG ALL_LIVE            three that insert and remove; two readers
 * CONFIG LAST_ROW            the same where the row that is removed is the one to be had
 * CONFIG ONE_DIES            two, of whom one dies anywhere in its lock; two readers
 * CONFIG TWO_DIE             two, who both die anywhere, also in the repair; a reader
 * MUTANT REMOVE_EMPTIES assertion/ALL_LIVE     remove leaves EMPTY where probes have to pass
 * MUTANT SWEEP_BLINDLY assertion/ALL_LIVE      sweeps though the next entry is in use
 * MUTANT ONE_LOOK assertion/LAST_ROW           find does not look at the state again
 * MUTANT LIVE_FIRST assertion/LAST_ROW         LIVE before the key is there
 * MUTANT KEEP_GENERATION assertion/LAST_ROW    a row is given back in the generation it had
 * MUTANT ANY_LIFE assertion/LAST_ROW           remove does not compare the generation
 * MUTANT EXISTS_UNASKED assertion/ALL_LIVE     insert does not look for the key first
 * MUTANT NO_REPAIR assertion/ONE_DIES          the next holder just goes on
 * MUTANT KEEP_HALF assertion/ONE_DIES          repair leaves rows that are half created or removed
 * MUTANT KEEP_HASH assertion/ONE_DIES          repair leaves entries of rows that are not LIVE
 * MUTANT NO_PUT assertion/ONE_DIES             repair does not enter what is missing
 * MUTANT PUT_ALL assertion/ONE_DIES            repair enters what is there already
 * MUTANT CLEAR_HASH assertion/ONE_DIES         repair clears the hash, then fills it
 * MUTANT KEEP_LIST assertion/ONE_DIES          repair adds to the free list that it finds
 * MUTANT REPAIRED_EARLY assertion/TWO_DIE      the mark of a death is gone when the repair begins,
 *                                              and does not come again when that is cut short
 */
#ifdef LAST_ROW
#define ROWS 2
#else
#define ROWS 3
#endif
#define HASH 4
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

#define EMPTY 0
#define WAS_USED 1
#define ENTRY(row) ((row) + 2)

byte state[ROWS];
byte key[ROWS];
byte next_free[ROWS]; /* here and in the two below: row + 1, or 0 */
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

inline hash_put(row) {
    slot = 0;
    do
    :: slot == HASH || hash[slot] == ENTRY(row) -> break
    :: slot < HASH && hash[slot] <= WAS_USED -> hash[slot] = ENTRY(row); break /* T3 */
    :: else -> slot++
    od;
    slot = 0;
    MAY_DIE(me)
}

/* hash_sweep from `slot` on, down */
inline hash_sweep() {
    if
#ifdef SWEEP_BLINDLY
    :: true ->
#else
    :: hash[(slot + 1) % HASH] == EMPTY ->
#endif
        do
        :: hash[slot] == WAS_USED ->
            hash[slot] = EMPTY;
            MAY_DIE(me)
            slot = (slot + HASH - 1) % HASH
        :: else -> break
        od
    :: else -> skip
    fi
}

inline hash_remove(row) {
    slot = 0;
    do
    :: slot == HASH || hash[slot] == EMPTY -> break
    :: slot < HASH && hash[slot] == ENTRY(row) ->
#ifdef REMOVE_EMPTIES
        hash[slot] = EMPTY;
        MAY_DIE(me)
#else
        hash[slot] = WAS_USED;
        MAY_DIE(me)
        hash_sweep();
#endif
        break
    :: else -> slot++
    od;
    slot = 0
}

inline free_append(row) {
    next_free[row] = 0;
    MAY_DIE(me)
    if
    :: free_tail != 0 -> next_free[free_tail - 1] = row + 1
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
        slot = 0;
        found = 0;
        do
        :: slot == HASH || hash[slot] == EMPTY || found != 0 -> break
        :: else ->
            if
            :: hash[slot] > WAS_USED && STATE(state[hash[slot] - 2]) == LIVE &&
                   key[hash[slot] - 2] == wanted ->
                found = hash[slot] - 1
            :: else -> skip
            fi;
            slot++
        od;
        slot = 0
    }
}

inline repair() {
    do
    :: slot == HASH -> break
    :: else ->
        if
#ifdef CLEAR_HASH
        :: hash[slot] > WAS_USED ->
#else
        :: hash[slot] > WAS_USED && STATE(state[hash[slot] - 2]) != LIVE ->
#endif
#ifndef KEEP_HASH
            hash[slot] = WAS_USED;
            MAY_DIE(me)
#endif
            skip
        :: else -> skip
        fi;
        slot++
    od;
    slot = 0;
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
#ifdef NO_PUT
            skip
#elif defined(PUT_ALL)
            hash_put(row)
#else
            find_locked(key[row]);
            if
            :: found == 0 -> hash_put(row)
            :: else -> skip
            fi
#endif
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
    atomic {
        row = 0;
        found = 0;
        do
        :: slot == HASH -> break
        :: else ->
            assert(hash[slot] <= WAS_USED || STATE(state[hash[slot] - 2]) == LIVE);
            slot++
        od;
        slot = 0
    }
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
        hash_remove(0);
        row_give_back(0);
        free_append(0)
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
        :: next_free[row] == 0 -> free_tail = 0; MAY_DIE(me) skip
        :: else -> skip
        fi;
        free_head = next_free[row];
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
        state[row] = WORD(LIVE, GENERATION(state[row])); /* T1 */
#endif
        MAY_DIE(me)
        hash_put(row)
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

/* med_table_find; a key is one word here. */
proctype reader(byte wanted)
{
    byte slot, entry, before, seen_key;
    bool hit;
    do
    :: slot == HASH || hit -> break
    :: else ->
        entry = hash[slot]; /* A3 */
        if
        :: entry == EMPTY -> break
        :: entry > WAS_USED ->
            before = state[entry - 2]; /* A1 */
            if
            :: STATE(before) == LIVE ->
                seen_key = key[entry - 2]; /* A2 */
                if
#ifdef ONE_LOOK
                :: seen_key == wanted ->
#else
                :: seen_key == wanted && state[entry - 2] == before ->
#endif
                    assert(key_of_life[LIFE(entry - 2, GENERATION(before))] == wanted);
                    hit = true
                :: else -> skip
                fi
            :: else -> skip
            fi
        :: else -> skip
        fi;
        slot++
    od;
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
        :: slot == HASH -> break
        :: slot < HASH && hash[slot] > WAS_USED -> in_hash[hash[slot] - 2]++; slot++
        :: else -> slot++
        od;
        slot = free_head;
        do
        :: slot == 0 -> break
        :: else ->
            in_list[slot - 1]++;
            assert(in_list[slot - 1] == 1);
            assert(next_free[slot - 1] != 0 || free_tail == slot);
            slot = next_free[slot - 1]
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
        hash[0] = ENTRY(0);
        hash[1] = ENTRY(1);
#ifdef LAST_ROW
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
