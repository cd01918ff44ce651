/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A table of the registry: what is found by a key is that key's, and filled; what is there is found
 * by whoever knows of it; a row that is removed is nobody's; and all of it goes on when the lock's
 * holder is killed anywhere.
 *
 * Actors: three of equal rank. Each has two keys that it alone inserts and removes, in turn, and
 * all have one together; they lie in one chain of the hash, and each half of a key is another's
 * too, so that who sees a half too early sees a key. There are fewer rows than keys.
 */
#include "mrapi/table.h"
#include "port/port.h"
#include "scenarios.h"

#define ACTORS 3u
#define ROUNDS 10u
#define FINDS 64u
#define ROWS 2u
#define ROW_BYTES 32u
#define MEMORY_BYTES 1024u
#define LIVES_MAX 32u

#define EVERYBODYS (2 * ACTORS)
static const med_key keys[EVERYBODYS + 1] = {{1, 11}, {4, 11}, {1, 26},  {1, 67},
                                             {4, 26}, {4, 67}, {118, 11}};

typedef struct row {
    med_row row;
    atomic32 life; /* higher than that of any row before; constant while it is LIVE */
    uint32_t unused[3];
} row;

typedef struct life {
    uint32_t index;
    uint32_t generation;
    uint32_t key;
    bool there; /* known to its maker: inserted, and not removed */
    bool removed;
} life;

typedef struct notes {
    uint32_t count;
    life lives[LIVES_MAX]; /* number + 1 in the row */
} notes;

/* ---- The view -------------------------------------------------------------------------------- */

static medley_status_t
look_at_holder(void *context, uint32_t owner)
{
    const med_table_view *view = context;
    if (owner >= 1 && owner <= ACTORS && sim_is_dead(owner - 1)) {
        (void)med_lock_recover(&view->table->lock, &view->table->sleepers, owner, true,
                               MED_PORT_SCOPE_SHARED);
    }
    return MEDLEY_OK;
}

static void
view_make(const sim_actor *actor, uint32_t rows, med_table_view *view)
{
    *view = (med_table_view){.table = NULL};
    med_table_view_init(view, actor->memory, rows, ROW_BYTES);
    view->scope = MED_PORT_SCOPE_SHARED;
    view->process_ref = actor->index + 1;
    view->on_slice = look_at_holder;
    view->context = view;
}

static void
begin(const sim_actor *director)
{
    med_table_view view;
    SIM_CHECK(med_table_size(ROWS, ROW_BYTES) <= MEMORY_BYTES);
    view_make(director, ROWS, &view);
    med_table_init(&view);
}

/* ---- What is done ---------------------------------------------------------------------------- */

typedef struct filling {
    notes *n;
    uint32_t key;
    uint32_t number;
} filling;

/* The number is the next that nobody has: of two rows the later one's is higher. */
static void
fill(med_row *filled, uint32_t index, uint32_t generation, void *context)
{
    filling *f = context;
    f->number = f->n->count++;
    f->n->lives[f->number] = (life){.index = index, .generation = generation, .key = f->key};
    atomic32_store_relaxed(&((row *)(void *)filled)->life, f->number + 1); /* relaxed: T1 follows */
}

/* It was inserted. */
static uint32_t
made(const filling *f, const med_table_insertion *insertion)
{
    life *l = &f->n->lives[f->number];
    SIM_CHECK(l->index == insertion->index && l->generation == insertion->generation);
    l->there = true;
    return f->number;
}

/* Who made it, if it was made; LIVES_MAX: it is there already, or there is no room. */
static uint32_t
insert(const sim_actor *actor, const med_table_view *view, uint32_t key)
{
    filling f = {.n = actor->notes, .key = key};
    med_table_insertion insertion = {.key = keys[key], .fill = fill, .context = &f};
    medley_status_t status = med_table_insert(view, &insertion);
    SIM_CHECK(status == MEDLEY_OK || status == MEDLEY_ERR_LIMIT ||
              (status == MEDLEY_ERR_EXISTS && key == EVERYBODYS));
    return status == MEDLEY_OK ? made(&f, &insertion) : LIVES_MAX;
}

/* In the place of an own one, which nobody else gets meanwhile. */
static uint32_t
replace(const sim_actor *actor, const med_table_view *view, uint32_t number, uint32_t key)
{
    filling f = {.n = actor->notes, .key = key};
    life *l = &f.n->lives[number];
    med_table_insertion insertion = {.key = keys[key],
                                     .replaces = true,
                                     .only_replaces = sim_random(2),
                                     .index = l->index,
                                     .generation = l->generation,
                                     .fill = fill,
                                     .context = &f};
    l->there = false;
    SIM_CHECK(med_table_insert(view, &insertion) == MEDLEY_OK && !l->removed);
    l->removed = true;
    return made(&f, &insertion);
}

/* May be removed by then, or its row be another's. */
static bool
find(const sim_actor *actor, const med_table_view *view, uint32_t key)
{
    const notes *n = actor->notes;
    uint32_t index, generation;
    if (med_table_find(view, keys[key], &index, &generation) != MEDLEY_OK) {
        return false;
    }
    const row *found = (const row *)(void *)med_table_row(view, index);
    uint32_t number = atomic32_load_relaxed(&found->life); /* relaxed: A1 stands before it */
    uint32_t of = 0;
    while (of < n->count &&
           (n->lives[of].index != index || n->lives[of].generation != generation)) {
        of++;
    }
    SIM_CHECK(of < n->count && n->lives[of].key == key && number >= of + 1);
    return true;
}

static void
remove_life(const sim_actor *actor, const med_table_view *view, uint32_t number)
{
    life *l = &((notes *)actor->notes)->lives[number];
    l->there = false;
    medley_status_t status = med_table_remove(view, l->index, l->generation);
    SIM_CHECK(status == MEDLEY_OK || (status == MEDLEY_ERR_STALE && l->key == EVERYBODYS));
    if (status == MEDLEY_OK) {
        SIM_CHECK(!l->removed);
        l->removed = true;
    }
}

/* One of everybody's, whoever made it. */
static void
remove_everybodys(const sim_actor *actor, const med_table_view *view)
{
    const notes *n = actor->notes;
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->lives[i].there && n->lives[i].key == EVERYBODYS) {
            remove_life(actor, view, i);
            return;
        }
    }
}

static void
act(const sim_actor *actor)
{
    const notes *n = actor->notes;
    med_table_view view;
    uint32_t key = 2 * actor->index;
    uint32_t own = LIVES_MAX;
    view_make(actor, ROWS, &view);
    for (uint32_t round = 0; round < ROUNDS && n->count + ACTORS < LIVES_MAX; round++) {
        uint32_t what = sim_random(7);
        if (what == 0) {
            (void)insert(actor, &view, EVERYBODYS);
        } else if (what == 1) {
            remove_everybodys(actor, &view);
        } else if (what == 2 && own == LIVES_MAX) {
            key ^= 1;
            own = insert(actor, &view, key);
        } else if (what == 3 && own != LIVES_MAX) {
            remove_life(actor, &view, own);
            key ^= 1;
            own = insert(actor, &view, key);
        } else if (what == 4 && own != LIVES_MAX) {
            key ^= sim_random(2); /* the same, or its other */
            own = replace(actor, &view, own, key);
        } else {
            (void)find(actor, &view, sim_random(EVERYBODYS + 1));
        }
        SIM_CHECK(own == LIVES_MAX || find(actor, &view, key));
    }
}

static void
begin_find(const sim_actor *director)
{
    med_table_view view;
    view_make(director, 1, &view);
    med_table_init(&view);
}

/* Of one row, one makes and removes; the others never take the lock, by which they would know. */
static void
act_find(const sim_actor *actor)
{
    med_table_view view;
    view_make(actor, 1, &view);
    for (uint32_t i = 0; actor->index == 0 && i < LIVES_MAX; i++) {
        uint32_t number = insert(actor, &view, sim_random(EVERYBODYS + 1));
        SIM_CHECK(number != LIVES_MAX);
        remove_life(actor, &view, number);
    }
    for (uint32_t i = 0; actor->index != 0 && i < FINDS; i++) {
        (void)find(actor, &view, sim_random(EVERYBODYS + 1));
    }
}

const sim_scenario sim_table = {
    .name = "table",
    .covers = "table table_index table_lock",
    .memory_bytes = MEMORY_BYTES,
    .actors = ACTORS,
    .deaths = 2,
    .mortal = 7,
    .waits_forever = true,
    .begin = begin,
    .act = act,
};

const sim_scenario sim_table_find = {
    .name = "table_find",
    .covers = "insert_locked() row_look()",
    .memory_bytes = MEMORY_BYTES,
    .actors = ACTORS,
    .begin = begin_find,
    .act = act_find,
};
