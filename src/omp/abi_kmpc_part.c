/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that clang calls for static loops, and for sections without a library's schedule: each
 * thread asks once which part is its own, and nothing is shared; but for those that MEDLEY_SCHEDULE
 * has split by the speed of cores, and for doacross loops.
 */
#include "omp/abi_kmpc_loop.h"
#include "omp/schedule/het.h"

/* ---- Whose ----------------------------------------------------------------------------------- */

/* Who asks: a thread of a team, or a team of a league. */
typedef struct asker {
    uint32_t number;
    uint32_t count;
} asker;

static inline asker
thread_of(const med_member *member)
{
    return (asker){member->number, member->team->size};
}

static inline asker
team_of(const med_member *member)
{
    return (asker){member->icv->team_number, member->icv->teams ? member->icv->teams : 1};
}

typedef struct part {
    uint64_t first;
    uint64_t behind; /* the same: it has none */
    uint64_t stride; /* from one of the asker's chunks to its next */
    bool has_last;
} part;

/* As schedule/static.c has them, whose parts they are to equal. */
static inline part
part_of(uint64_t count, asker who)
{
    uint64_t least = count / who.count;
    uint64_t more = count % who.count;
    uint64_t first = least * who.number + (who.number < more ? who.number : more);
    uint64_t behind = first + least + (who.number < more);
    return (part){first, behind, count, first < behind && behind == count};
}

/* The first chunk. Beyond the loop's end there is no stride: the variable might not be able to. */
static part
chunk_of(uint64_t count, int64_t size, asker who)
{
    uint64_t chunk = med_kmpc_at_least_one(size) < count ? med_kmpc_at_least_one(size) : count;
    uint64_t chunks = (count - 1) / chunk + 1;
    part p = {.stride = chunks > who.count ? chunk * who.count : count,
              /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a team has somebody */
              .has_last = (chunks - 1) % who.count == who.number};
    if (who.number < chunks) {
        p.first = chunk * who.number;
        p.behind = count - p.first < chunk ? count : p.first + chunk;
    }
    return p;
}

static const char *
source_of(const med_kmpc_place *place)
{
    return place ? place->source : NULL;
}

/* A doacross loop is a construct for all that. */
static void
begin_doacross(med_member *member,
               uint64_t count,
               int32_t number,
               int64_t chunk,
               const char *source,
               const void *code)
{
    static const med_bounds none;
    med_loop loop = med_kmpc_loop(count, number, chunk, member->icv);
    loop.source = source;
    loop.code = code;
    med_kmpc_doacross_begin(member, &loop, &none);
}

/* A construct for all that, until the thread says that it is through with its part: MEDLEY_SCHEDULE
 * has it split by the speed of cores. */
static part
part_by_speed(med_member *member, uint64_t count, const char *source, const void *code)
{
    static const med_bounds none;
    const med_loop loop = {
        .count = count, .schedule = &med_schedule_hetprobe_whole, .code = code, .source = source};
    med_span span = {.first = 0};
    med_work_begin(member, &loop, &none);
    member->share.parted = true;
    if (!med_work_next(member, &span)) {
        span = (med_span){.first = 0};
    }
    return (part){span.first, span.end, count, span.first < span.end && span.end == count};
}

/* Sections are of different lengths: what one takes tells nothing of the next. */
static inline bool
is_loop(const med_kmpc_place *place)
{
    return !place || !(place->flags & MED_KMPC_WORK_SECTIONS);
}

static inline part
part_asked(
    int32_t number, uint64_t count, int64_t chunk, const med_kmpc_place *place, const void *code)
{
    med_member *member = med_member_get();
    if (member->dimensions.count) {
        begin_doacross(member, count, number, chunk, source_of(place), code);
    }
    switch (number & ~MED_KMPC_MODIFIERS) {
    case MED_KMPC_STATIC:
        if (med_work_imposed.parts && !member->work && is_loop(place)) {
            return part_by_speed(member, count, source_of(place), code);
        }
        return part_of(count, thread_of(member));
    case MED_KMPC_TEAMS:
        return part_of(count, team_of(member));
    case MED_KMPC_TEAMS_CHUNKED:
        return chunk_of(count, chunk, team_of(member));
    default:
        return chunk_of(count, chunk, thread_of(member));
    }
}

/* To a tool that is all of a construct; which, says the place. NULL: it is a part of one. */
static inline void
told(const med_kmpc_place *place, uint64_t count)
{
    if (med_ompt_is_on() && place) {
        uint32_t work = place->flags & MED_KMPC_WORK_DISTRIBUTE ? MED_OMPT_WORK_DISTRIBUTE
                        : place->flags & MED_KMPC_WORK_SECTIONS ? MED_OMPT_WORK_SECTIONS
                                                                : MED_OMPT_WORK_LOOP;
        med_ompt_part_begin(med_member_get(), work, count);
    }
}

/* Of none the first is the loop's second, and the last its first. */
static inline med_kmpc_values
values_of(const part *p, uint64_t start, uint64_t step)
{
    bool none = p->first == p->behind;
    return (med_kmpc_values){.first = start + (none ? 1 : p->first) * step,
                             .last = start + (none ? 0 : p->behind - 1) * step,
                             .stride = p->stride * step,
                             .has_last = p->has_last};
}

/* A loop as it is asked about. Whether it is empty, its variable's type tells alone. */
typedef struct asked {
    const med_kmpc_place *place;
    int32_t kind;
    bool is_empty;
    uint64_t first;
    uint64_t last;
    int64_t step;
    int64_t chunk;
    const void *code;
} asked;

static inline med_kmpc_values
answer(const asked *a)
{
    uint64_t count = a->is_empty ? 0 : med_kmpc_count(a->first, a->last, a->step);
    told(a->place, count);
    if (count == 0) {
        return (med_kmpc_values){.first = a->first, .last = a->last, .stride = (uint64_t)a->step};
    }
    const part p = part_asked(a->kind, count, a->chunk, a->place, a->code);
    return values_of(&p, a->first, (uint64_t)a->step);
}

/* Of bounds of one type. `team_last`: the end of what the team has, of whose part this is one. */
#define PARTS(suffix, type, signed_type)                                                           \
    FACE void __kmpc_for_static_init_##suffix(                                                     \
        const med_kmpc_place *place, int32_t thread, int32_t kind, int32_t *has_last, type *first, \
        type *last, signed_type *stride, signed_type step, signed_type chunk)                      \
    {                                                                                              \
        (void)thread;                                                                              \
        MED_CALLED_ONLY(MED_OMPT_PLAIN);                                                           \
        const bool none = MED_KMPC_IS_EMPTY(*first, *last, step);                                  \
        const med_kmpc_values v = answer(&(asked){place, kind, none, (uint64_t)*first,             \
                                                  (uint64_t)*last, step, chunk, MED_KMPC_HERE});   \
        *first = (type)v.first;                                                                    \
        *last = (type)v.last;                                                                      \
        *stride = (signed_type)v.stride;                                                           \
        *has_last = v.has_last;                                                                    \
    }                                                                                              \
    FACE void __kmpc_team_static_init_##suffix(                                                    \
        const med_kmpc_place *place, int32_t thread, int32_t *has_last, type *first, type *last,   \
        signed_type *stride, signed_type step, signed_type chunk)                                  \
    {                                                                                              \
        __kmpc_for_static_init_##suffix(place, thread, MED_KMPC_TEAMS_CHUNKED, has_last, first,    \
                                        last, stride, step, chunk);                                \
    }                                                                                              \
    FACE void __kmpc_dist_for_static_init_##suffix(                                                \
        const med_kmpc_place *place, int32_t thread, int32_t kind, int32_t *has_last, type *first, \
        type *last, type *team_last, signed_type *stride, signed_type step, signed_type chunk)     \
    {                                                                                              \
        int32_t team_has_last;                                                                     \
        __kmpc_for_static_init_##suffix(NULL, thread, MED_KMPC_TEAMS, &team_has_last, first, last, \
                                        stride, step, 0);                                          \
        *team_last = *last;                                                                        \
        __kmpc_for_static_init_##suffix(place, thread, kind, has_last, first, last, stride, step,  \
                                        chunk);                                                    \
        *has_last &= team_has_last;                                                                \
    }
MED_KMPC_TYPES(PARTS)

FACE void
__kmpc_for_static_fini(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    if (med_ompt_is_on()) {
        med_ompt_part_end(med_member_get());
    }
    if (med_work_imposed.parts) {
        med_member *member = med_member_get();
        if (member->work && member->share.parted) {
            med_hetprobe_whole_end(member);
            med_work_end(member);
        }
    }
}
