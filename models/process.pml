/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Processes: liveness (src/mrapi/process.c): claim_free, claim_dead, come_alive, release; and
 * recovery (process_recover.c): recovery_claim, and the steps of clean_up: locks of tables, claims,
 * nodes, the row.
 *
 * Nobody who lives is taken anything from; a row comes free, or to a newcomer, only when nothing is
 * left of its dead; no compare-and-swap fails that fails only when a peer scribbled; nobody waits
 * for ever; and in the end, whoever died wherever, all is given back.
 *
 * Two rows, one table's lock, a node for each of three processes. A process comes (in the section,
 * which the kernel ends with who is in it), recovers who is dead, inserts its node, removes it, and
 * goes. The third does not die, comes last to its end, and then looks at everything. Who may die,
 * dies behind any store. A slot is held until it is dropped, or its holder is dead.
 *
 * STUCK: whoever wants the table's lock to remove a node may give up, since somebody has it who
 * lives. A recoverer then gives the claim back; a newcomer in a dead one's row drops the slot; who
 * goes drops his slot and leaves his row LIVE, which is to die. The third does not give up, and a
 * newcomer once.
 *
 * TAKEN_OVER: a recoverer may be stopped, so who has waited long takes the recovery over from him;
 * then he goes on where he was. Of two rows, it is a newcomer with the dead one's slot who does. A
 * newcomer at it is taken over by nobody: what is of his generation is his.
 *
 * Rows are tried in any order, where the code goes up: so two stand for many. Who waits for the
 * table's lock recovers its dead holder himself (med_process_look), but for one who is recovering
 * the other row: of two rows, that one's lock he has freed, and there is no third. models/lock.pml
 * has the sleep, models/table.pml the repair. The locks of a node go with it, in one step.
 * Generations do not wrap here.
 *
 * CONFIG ONE_DIES            one of three dies anywhere
 * CONFIG TWO_DIE             two of three do, also at each other's recovery, and at the newcomer's
 * CONFIG STUCK               one of three dies anywhere, and who has to wait may give up
 * CONFIG TAKEN_OVER          one of three dies anywhere, and who recovers him may lose that
 * MUTANT SLOT_LAST assertion/ONE_DIES          comes alive, then takes the slot
 * MUTANT DROP_FIRST assertion/ONE_DIES         drops the slot, then gives the row back
 * MUTANT SAME_GENERATION assertion/ONE_DIES    a row's next life has the generation of the last
 * MUTANT UNASKED assertion/ONE_DIES            recovers who is LIVE without asking for his slot
 * MUTANT NEWCOMER_TOO assertion/TAKEN_OVER     takes a recovery over from a newcomer who lives
 * MUTANT LOSS_UNSEEN assertion/TAKEN_OVER      who lost a recovery ends it as if it were his
 * MUTANT ANY_GENERATION assertion/TAKEN_OVER   who lost it takes from a newcomer what he has
 * MUTANT ROW_FIRST assertion/ONE_DIES          the row comes free before the nodes leave
 * MUTANT KEEP_NODES assertion/ONE_DIES         recovery leaves the nodes
 * MUTANT KEEP_LOCKS assertion/ONE_DIES         recovery leaves the table's lock
 * MUTANT NODES_FIRST deadlock/ONE_DIES         the nodes first, which need the table's lock
 * MUTANT NEVER_TAKE_OVER assertion/TWO_DIE     a recoverer's claim stays his, dead or alive
 * MUTANT KEEP_CLAIMS assertion/TWO_DIE         recovery leaves the claims
 * MUTANT GIVE_BACK_FREE assertion/STUCK        who gives up a recovery sets the row free
 * MUTANT LEAVE_FREE assertion/STUCK            who leaves a node behind sets his row free
 */
#define ROWS 2
#define PROCESSES 3
#define LAST 3 /* who does not die */

#define FREE 0
#define LIVE 1
#define DEAD 2
#define RECOVERING 3
#define WORD(state, by, generation) ((state) + (by) * 4 + (generation) * 8)
#define STATE(w) ((w) % 4)
#define BY(w) (((w) / 4) % 2)
#define GENERATION(w) ((w) / 8)

#define REF(row, generation) ((row) + 1 + (generation) * 4)
#define ROW_OF(ref) (((ref) % 4) - 1)
#ifdef ANY_GENERATION
#define NAMES_THE_DEAD(ref) (ref != 0 && ROW_OF(ref) == i)
#else
#define NAMES_THE_DEAD(ref) (ref != 0 && ROW_OF(ref) == i && (ref) / 4 <= generation)
#endif
#ifdef TAKEN_OVER
#define OR_ELSE true /* he is long at it, or so it seems */
#else
#define OR_ELSE else
#endif

byte word[ROWS];
byte slot[ROWS];           /* who holds it; 0: nobody */
byte section;              /* likewise */
byte lock;                 /* of the table: a process reference, or 0 */
byte node[PROCESSES + 1]; /* LIVE with this reference in it, or 0 */

/* What the model knows and the code does not. */
byte life[64]; /* whose a reference is */
bool is_dead[PROCESSES + 1];
byte over;

#ifdef TWO_DIE
#define MORTAL(me) (me <= 2)
#else
#define MORTAL(me) (me == 1)
#endif
#define MAY_DIE                                                                                    \
    if                                                                                             \
    :: MORTAL(me) -> goto dead                                                                     \
    :: true -> skip                                                                                \
    fi;

/* ---- Recovery -------------------------------------------------------------------------------- */

/* One look at row `i`, and its compare-and-swap: `got` when it is RECOVERING(by us) now. */
inline recovery_claim() {
    got = false;
    do
    :: true ->
        seen = word[i];
        if
        :: STATE(seen) == FREE -> break
#ifdef UNASKED
        :: STATE(seen) == LIVE ->
#else
        :: STATE(seen) == LIVE && slot[i] != 0 -> break
        :: STATE(seen) == LIVE && slot[i] == 0 ->
#endif
            next = WORD(DEAD, 0, GENERATION(seen))
#ifdef NEVER_TAKE_OVER
        :: STATE(seen) == RECOVERING -> break
#else
        :: STATE(seen) == RECOVERING && slot[BY(seen)] != 0 -> break
#ifdef NEWCOMER_TOO
        :: STATE(seen) == RECOVERING && BY(seen) == i && slot[i] != 0 ->
            next = WORD(DEAD, 0, GENERATION(seen))
#endif
        :: STATE(seen) == RECOVERING && slot[BY(seen)] == 0 ->
            next = WORD(DEAD, 0, GENERATION(seen))
#endif
        :: STATE(seen) == DEAD -> next = WORD(RECOVERING, mine, GENERATION(seen))
        fi;
        d_step {
            if
            :: word[i] == seen -> word[i] = next; got = (STATE(next) == RECOVERING)
            :: else -> skip
            fi
        };
        MAY_DIE
        if
        :: got -> break
        :: else -> skip
        fi
    od;
    seen = 0
}

/* Whoever holds the lock in the name of row `i` is dead. */
inline recover_table_lock() {
#ifndef KEEP_LOCKS
    seen = lock;
    if
    :: NAMES_THE_DEAD(seen) ->
        d_step {
            if
            :: lock == seen -> assert(is_dead[life[seen]]); lock = 0
            :: else -> skip
            fi
        };
        MAY_DIE
        skip
    :: else -> skip
    fi;
    seen = 0
#else
    skip
#endif
}

/* Of two rows, the one that is not `i`. */
inline recover_claims() {
#ifndef KEEP_CLAIMS
    seen = word[1 - i];
    if
    :: STATE(seen) == RECOVERING && BY(seen) == i ->
        d_step {
            if
            :: word[1 - i] == seen -> word[1 - i] = WORD(DEAD, 0, GENERATION(seen))
            :: else -> skip
            fi
        };
        MAY_DIE
        skip
    :: else -> skip
    fi;
    seen = 0
#else
    skip
#endif
}

/* Somebody has the lock who lives. */
#define IS_STUCK (lock != 0 && lock != ref && slot[ROW_OF(lock)] != 0)

/* Without looking whether its holder lives: see the head. */
inline take_lock() {
    if
    :: atomic { lock == 0 -> lock = ref }
#ifdef STUCK
    :: me != LAST -> gave_up = true /* who had it lived, and may be gone by now */
#endif
    fi;
    MAY_DIE
}

inline remove_node(n) {
    d_step {
        assert(lock == ref);
        if
        :: node[n] == seen -> assert(n == me || is_dead[n]); node[n] = 0
        :: else -> skip
        fi
    };
    MAY_DIE
    lock = 0;
    MAY_DIE
    seen = 0
}

/* The nodes whose reference is of row `i`, of its dead: at most one is, which `n` finds. */
inline find_node() {
    d_step {
        n = 1;
        do
        :: n > PROCESSES -> break
        :: n <= PROCESSES && NAMES_THE_DEAD(node[n]) -> break
        :: else -> n++
        od;
        seen = (n <= PROCESSES -> node[n] : 0)
    }
}

inline recover_nodes() {
#ifndef KEEP_NODES
    find_node();
    if
    :: seen != 0 ->
        take_lock();
        if
        :: !gave_up -> remove_node(n)
        :: else -> seen = 0
        fi
    :: else -> skip
    fi;
    n = 0
#else
    skip
#endif
}

/* med_process_recover of row `i` */
inline recover() {
    recovery_claim();
    if
    :: got ->
        generation = GENERATION(next);
#ifdef NODES_FIRST
        recover_nodes();
        recover_table_lock();
        recover_claims();
#else
        recover_table_lock();
        recover_claims();
#ifndef ROW_FIRST
        recover_nodes();
#endif
#endif
        d_step {
#ifndef TAKEN_OVER
            assert(word[i] == WORD(RECOVERING, mine, generation));
#endif
            if
#ifdef LOSS_UNSEEN
            :: true ->
#else
            :: word[i] == WORD(RECOVERING, mine, generation) -> /* R2, D1 */
#endif
#ifdef GIVE_BACK_FREE
                word[i] = WORD(FREE, 0, generation)
#else
                word[i] = WORD((gave_up -> DEAD : FREE), 0, generation);
                assert(gave_up || !(NAMES_THE_DEAD(node[1]) || NAMES_THE_DEAD(node[2]) ||
                                    NAMES_THE_DEAD(node[3])))
#endif
            :: else -> skip /* lost */
            fi;
            gave_up = false
        };
        MAY_DIE
#ifdef ROW_FIRST
        recover_nodes();
#endif
        generation = 0;
        got = false
    :: else -> skip
    fi
}

/* ---- Claim ----------------------------------------------------------------------------------- */

inline take_slot() {
    d_step {
        if
        :: slot[mine] == 0 -> slot[mine] = me; got = true
        :: else -> got = false
        fi
    };
    MAY_DIE
}

inline come_alive() {
    ref = REF(mine, generation);
    d_step {
        assert(word[mine] == seen); /* L1 */
        assert(slot[mine] == me || STATE(seen) == FREE);
        word[mine] = WORD(LIVE, 0, generation);
        life[ref] = me;
        seen = 0
    };
    MAY_DIE
}

inline claim_free() {
    if
    :: STATE(word[mine]) == FREE ->
#ifdef SLOT_LAST
        got = true;
#else
        take_slot();
#endif
        seen = word[mine]; /* A2 */
        if
        :: got && STATE(seen) == FREE ->
#ifdef SAME_GENERATION
            generation = GENERATION(seen);
#else
            generation = GENERATION(seen) + 1;
#endif
            come_alive();
#ifdef SLOT_LAST
            take_slot();
#endif
            there = true
        :: got && STATE(seen) != FREE -> slot[mine] = 0
        :: else -> skip
        fi
    :: else -> skip
    fi
}

/* Its recoverer, under the generation that it will live in. */
inline claim_dead() {
    take_slot();
    if
    :: got ->
        seen = word[mine]; /* A1 */
        generation = GENERATION(seen) + 1;
        if
        :: STATE(seen) == RECOVERING && BY(seen) != mine && slot[BY(seen)] != 0 -> got = false
        :: OR_ELSE ->
            d_step {
                if
                :: word[mine] == seen -> word[mine] = WORD(RECOVERING, mine, generation)
                :: else -> got = false
                fi
            };
            MAY_DIE
            skip
        fi;
        if
        :: got ->
            ref = REF(mine, generation);
            d_step { life[ref] = me };
            i = mine;
            recover_table_lock();
            recover_claims();
            /* the nodes; a dead holder of the lock is of the other row: med_process_look */
#ifndef KEEP_NODES
            find_node();
            if
            :: seen != 0 ->
                seen = 0;
                look_for_lock();
                i = mine;
                if
                :: !gave_up ->
                    find_node();
                    if
                    :: seen != 0 -> remove_node(n)
                    :: else -> lock = 0 /* gone meanwhile */
                    fi
                :: else -> skip
                fi
            :: else -> skip
            fi;
            n = 0;
#endif
            if
            :: gave_up -> gave_up = false; may_give_up = false; ref = 0; slot[mine] = 0
            :: else ->
                seen = WORD(RECOVERING, mine, generation);
                come_alive();
                there = true
            fi
        :: else -> slot[mine] = 0
        fi
    :: else -> skip
    fi;
    got = false
}

/* med_table's lock(), by one who looks whether its holder lives. */
inline look_for_lock() {
    kept = generation;
    do
    :: atomic { lock == 0 -> lock = ref }; break
#ifdef STUCK
    :: me != LAST && may_give_up && IS_STUCK -> gave_up = true; break
#endif
    :: atomic { lock != 0 && slot[ROW_OF(lock)] == 0 -> i = ROW_OF(lock) };
        recover()
    od;
    generation = kept;
    kept = 0;
    MAY_DIE
}

proctype process(byte me)
{
    byte mine, i, n, seen, next, generation, kept, ref;
    bool got, there, gave_up;
    bool may_give_up = true;

    do /* med_process_claim, again and again */
    :: there -> break
    :: else ->
        atomic { section == 0 -> section = me };
        if
        :: mine = 0
        :: mine = 1
        fi;
        claim_free();
        if
        :: !there && STATE(word[0]) != FREE && STATE(word[1]) != FREE -> claim_dead()
        :: else -> skip
        fi;
        section = 0
    od;
    generation = 0;
    got = false;
    i = 1 - mine;
    recover(); /* med_process_recover_all */
    MAY_DIE

    may_give_up = false;
    look_for_lock();
    d_step { assert(lock == ref); node[me] = ref };
    MAY_DIE
    d_step { assert(lock == ref); lock = 0 };
    MAY_DIE
    may_give_up = true;
    look_for_lock();
    if
    :: !gave_up -> seen = ref; remove_node(me)
    :: else -> skip
    fi;

    if
    :: me == LAST ->
        over == PROCESSES - 1;
        i = 1 - mine;
        recover();
        d_step {
            assert(STATE(word[1 - mine]) == FREE && slot[1 - mine] == 0);
            assert(lock == 0 && node[1] == 0 && node[2] == 0)
        }
    :: else -> skip
    fi;

    /* med_process_release */
    atomic { section == 0 -> section = me };
    assert(word[mine] == WORD(LIVE, 0, GENERATION(word[mine])));
#ifdef DROP_FIRST
    slot[mine] = 0;
    MAY_DIE
    assert(STATE(word[mine]) == LIVE);
    word[mine] = WORD(FREE, 0, GENERATION(word[mine]));
    MAY_DIE
#else
    if
#ifndef LEAVE_FREE
    :: gave_up -> is_dead[me] = true
#endif
    :: else -> word[mine] = WORD(FREE, 0, GENERATION(word[mine])) /* R2 */
    fi;
    MAY_DIE
    d_step { if :: slot[mine] == me -> slot[mine] = 0 :: else -> assert(false) fi };
    MAY_DIE
#endif
    section = 0;
    goto finished;
dead:
    atomic { /* the kernel */
        is_dead[me] = true;
        if
        :: slot[mine] == me -> slot[mine] = 0
        :: else -> skip
        fi;
        if
        :: section == me -> section = 0
        :: else -> skip
        fi
    };
finished:
    over++
}

init {
    atomic {
        run process(1);
        run process(2);
        run process(3)
    }
}
