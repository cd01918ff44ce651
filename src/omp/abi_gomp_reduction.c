/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that gcc calls for reductions by tasks (GCC 12). It describes what is reduced in an
 * array of words, from which it takes the copies' addresses as well: that of a part is
 * words[2] + number * words[1], and a part that nobody has used is zeroed.
 *
 *   0      how many are reduced
 *   1      the bytes of a part
 *   2      its alignment; from the registration on where the first part is
 *   3 - 6  the library's; 4 is where the memory begins that was taken for it, if any
 *   7 ...  three of each: the original's address, the copy's offset, the library's
 */
#include <stdint.h>

#include "mrapi/heap_lent.h"
#include "omp/abi_gomp.h"
#include "omp/cancel.h"
#include "omp/face.h"
#include "omp/say.h"
#include "omp/team.h"

#define WORD_COUNT 0
#define WORD_BYTES 1
#define WORD_ALIGN 2
#define WORD_PARTS 2
#define WORD_BLOCK 4
#define WORD_LIST 7

static size_t
bytes_of(const uintptr_t *words, uint32_t members)
{
    return words[WORD_BYTES] * members + words[WORD_ALIGN];
}

/* From now on the parts are in that memory. */
static med_reductions
reductions_of(uintptr_t *words, uint32_t members, uintptr_t memory)
{
    uintptr_t align = words[WORD_ALIGN];
    words[WORD_PARTS] = (memory + align - 1) / align * align;
    return (med_reductions){.list = (const med_reduced *)&words[WORD_LIST],
                            .count = words[WORD_COUNT],
                            .part_bytes = words[WORD_BYTES],
                            .parts = words[WORD_PARTS],
                            .members = members};
}

static uintptr_t
memory_take(uintptr_t *words, uint32_t members)
{
    void *memory = med_heap_lend(bytes_of(words, members));
    if (!memory) {
        med_say_fatal("there is no memory for what tasks reduce");
    }
    words[WORD_BLOCK] = (uintptr_t)memory;
    return words[WORD_BLOCK];
}

/* ---- Groups ---------------------------------------------------------------------------------- */

FACE void
GOMP_taskgroup_reduction_register(uintptr_t *words)
{
    med_member *member = med_member_get();
    uint32_t members = member->team->size;
    const med_reductions reductions = reductions_of(words, members, memory_take(words, members));
    med_reduction_begin(member, &reductions);
}
LLVM(GOMP_taskgroup_reduction_register)

void
med_gomp_no_reductions(uintptr_t *words)
{
    words[WORD_PARTS] = 0;
}

FACE void
GOMP_taskgroup_reduction_unregister(uintptr_t *words)
{
    med_heap_take_back((void *)words[WORD_BLOCK]);
}
LLVM(GOMP_taskgroup_reduction_unregister)

/* Each of so many addresses becomes that of the member's copy; of the first ones, `originals`, the
 * addresses of what they are copies of stand behind all. */
FACE void
GOMP_task_reduction_remap(size_t count, size_t originals, void **addresses)
{
    const med_member *member = med_member_get();
    for (size_t i = 0; i < count; i++) {
        med_reduction_found found;
        if (!med_reduction_find(member, addresses[i], &found)) {
            med_say_fatal("a task takes part in a reduction that no task group around it has");
        }
        addresses[i] = med_reduction_copy(&found);
        if (i < originals) {
            addresses[count + i] = (void *)(found.one->original + found.at);
        }
    }
}
LLVM(GOMP_task_reduction_remap)

/* ---- Regions --------------------------------------------------------------------------------- */

/* Of which each member is in a group that reduces. */
typedef struct region {
    void (*entry)(void *data);
    void *data;
    med_reductions reductions;
} region;

static void
enter(void *context)
{
    const region *r = context;
    med_member *member = med_member_get();
    med_task_group_begin_implied(member);
    med_reduction_begin(member, &r->reductions);
    r->entry(r->data);
    med_task_group_end(member);
}

/* The data begin with the address of the words. Of so many members. */
FACE unsigned
GOMP_parallel_reductions(void (*entry)(void *), void *data, unsigned threads, unsigned flags)
{
    med_member *leader = MED_CALLED(threads);
    uintptr_t *words = *(uintptr_t **)data;
    region r = {.entry = entry, .data = data};
    leader->bind_wanted = flags & MED_GOMP_BIND_MASK;
    med_member *first = med_team_start(leader, med_team_threads(leader, threads), enter, &r);
    uint32_t members = first->team->size;
    r.reductions = reductions_of(words, members, memory_take(words, members));
    med_team_go(first);
    med_ompt_lines(first, enter, &r);
    med_team_finish(first);
    return members;
}
LLVM(GOMP_parallel_reductions)

/* ---- Worksharing constructs ------------------------------------------------------------------ */

#define LINE 64u

/* Behind the construct's own memory, in the same block: so it lasts until the team comes round to
 * the construct's place, whoever is through with it when. */
void
med_gomp_begin(
    med_member *member, med_loop *loop, const med_bounds *bounds, void **memory, uintptr_t *words)
{
    size_t own_bytes = memory ? ((uintptr_t)*memory + LINE - 1) / LINE * LINE : 0;
    loop->memory_bytes = own_bytes + (words ? bytes_of(words, member->team->size) : 0);
    med_work_begin(member, loop, bounds);
    med_ompt_work_begin(member);
    uintptr_t block = (uintptr_t)member->work->memory;
    if (memory) {
        *memory = (void *)block;
    }
    if (words) {
        const med_reductions reductions =
            reductions_of(words, member->team->size, block + own_bytes);
        med_task_group_begin_implied(member);
        med_reduction_begin(member, &reductions);
    }
}

/* All members execute it, and it shares nothing out. */
FACE void
GOMP_scope_start(uintptr_t *words)
{
    med_member *member = MED_CALLED(MED_OMPT_WORK_SCOPE);
    static const med_bounds bounds;
    med_loop loop = {.schedule = &med_schedule_static};
    med_gomp_begin(member, &loop, &bounds, NULL, words);
    med_work_end(member);
}
LLVM(GOMP_scope_start)

/* Behind the construct's end the first member combines what the others find here. */
FACE void
GOMP_workshare_task_reduction_unregister(bool cancelled)
{
    med_member *member = MED_CALLED(MED_OMPT_PLAIN);
    med_task_group_end(member);
    if (!cancelled) {
        med_told_barrier_of(member);
    }
}
LLVM(GOMP_workshare_task_reduction_unregister)
