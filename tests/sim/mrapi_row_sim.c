/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Rows that are read between two looks at their state: what a handle of a shared memory is told,
 * by whoever has it, is true of that memory, though it may be deleted meanwhile and its row be
 * another's. Nor does who looks on from outside (view.h) see a mixture of two.
 *
 * Actors: 0 makes and deletes; the others read, by handles that are told without any order, or row
 * by row. Each life has a number, a size, attributes and a place of its own, known to all with its
 * handle.
 */

#include "mrapi.h"
#include "mrapi/shmem.h"
#include "mrapi/view.h"
#include "mrapi_actor.h"
#include "scenarios.h"

#define LIVES_MAX 12u
#define READS 48u
#define NUMBER 7u /* of the first; others follow */
#define BYTES 64u
#define ADDRESS_STEP ((1ull << 32) + (1u << 16)) /* both halves differ */

typedef struct notes {
    mrapi_notes common; /* told: a life + 1 */
    uint32_t lives;
    med_handle handles[LIVES_MAX];
} notes;

/* Nobody maps it, so any address will do. */
static med_shmem_request
request_of(uint32_t life)
{
    bool odd = life % 2;
    return (med_shmem_request){.number = NUMBER + life,
                               .size_bytes = BYTES * (life + 1),
                               .attributes = odd ? MED_SHMEM_DOMAIN_SHARED : 0,
                               .place = odd ? MED_PORT_PLACE_NUMA : MED_PORT_PLACE_ANY,
                               .place_index = odd ? life : 0,
                               .address = (life + 1) * ADDRESS_STEP};
}

static void
make(const sim_actor *actor)
{
    notes *n = actor->notes;
    uint32_t life = n->lives++;
    const med_shmem_request request = request_of(life);
    medley_status_t status = med_shmem_create(med_self_get(), &request, &n->handles[life]);
    SIM_CHECK(status == MEDLEY_OK);
    n->common.told[life % MRAPI_TOLD] = life + 1;
}

static void
read(const sim_actor *actor, uint32_t life)
{
    const notes *n = actor->notes;
    const med_shmem_request wanted = request_of(life);
    med_shmem_request had;
    medley_status_t status = med_shmem_read(med_self_get(), n->handles[life], &had);
    SIM_CHECK(status == MEDLEY_OK || status == MEDLEY_ERR_STALE);
    if (status == MEDLEY_OK) {
        SIM_CHECK(had.number == wanted.number);
        SIM_CHECK(had.size_bytes == wanted.size_bytes);
        SIM_CHECK(had.attributes == wanted.attributes);
        SIM_CHECK(had.place == wanted.place && had.place_index == wanted.place_index);
        SIM_CHECK(had.address == wanted.address);
    }
}

static void
look_on(void)
{
    const med_system *system = med_self_get()->system;
    med_view_shmem view;
    if (med_view_shmem_read(system, sim_random(system->limits.shmems), &view)) {
        const med_shmem_request wanted = request_of(view.number - NUMBER);
        SIM_CHECK(view.number >= NUMBER && view.number < NUMBER + LIVES_MAX);
        SIM_CHECK(view.numbered && view.size_bytes == wanted.size_bytes);
        SIM_CHECK(view.attributes == wanted.attributes);
    }
}

static void
end_one(const sim_actor *actor, uint32_t life)
{
    const notes *n = actor->notes;
    medley_status_t status = med_shmem_delete(med_self_get(), n->handles[life]);
    SIM_CHECK(status == MEDLEY_OK);
}

static void
act(const sim_actor *actor)
{
    const notes *n = actor->notes;
    mrapi_come(actor);
    for (uint32_t i = 0; actor->index == 0 && i < LIVES_MAX; i++) {
        make(actor);
        end_one(actor, i);
    }
    for (uint32_t i = 0; actor->index != 0 && i < READS; i++) {
        uint32_t told = n->common.told[sim_random(MRAPI_TOLD)];
        if (told && sim_random(3) != 0) {
            read(actor, told - 1);
        } else {
            look_on();
        }
    }
    mrapi_go(actor);
}

/* The only row is each memory's in turn. */
static const sim_variable environment[] = {{"MEDLEY_MAX_SHMEMS", "1"}, MRAPI_VARIABLES};

const sim_scenario sim_mrapi_row = {
    .name = "mrapi_row",
    .covers = "word() row_of() med_shmem_read() where_read() fill()",
    .memory_bytes = sizeof(uint32_t),
    .actors = MRAPI_ACTORS,
    .deaths = 0,
    .sees_late = true,
    .begin = mrapi_begin,
    .act = act,
    .environment = environment,
};
