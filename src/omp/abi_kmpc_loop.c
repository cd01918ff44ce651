/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that clang calls for loops, and for sections, which are loops to it. Its bounds are
 * both within the loop; iterations are counted from 0, modulo 2^64, whatever the variable's type.
 *
 * Of a static loop each thread asks once which part is its own, and nothing is shared: `init`. All
 * others are worksharing constructs (work.h), which end when a thread is told that nothing is left.
 */
#include <stdbool.h>

#include "omp/abi_kmpc.h"
#include "omp/say.h"
#include "omp/schedule/het.h"
#include "omp/work.h"

/* ---- Schedules, as clang numbers them -------------------------------------------------------- */

#define MODIFIERS (3 << 29)    /* monotonic, nonmonotonic */
#define NONMONOTONIC (1 << 30) /* without which loops are to be monotonic */
#define MERGED 128             /* added where a loop's variables are not its iterations' own */
#define ORDERED_FIRST 64
#define ORDERED_LAST 72
#define ORDERED_MORE 32 /* than the same without */

typedef enum loop_kind {
    STATIC_CHUNKED = 33,
    STATIC = 34,
    DYNAMIC = 35,
    GUIDED = 36,
    OF_RUN = 37,
    AUTO = 38,
    TRAPEZOIDAL = 39,
    STATIC_GREEDY = 40,
    STATIC_BALANCED = 41,
    GUIDED_ITERATIVE = 42,
    GUIDED_ANALYTICAL = 43,
    STATIC_STEAL = 44,
    STATIC_BALANCED_CHUNKED = 45,
    GUIDED_SIMD = 46,
    OF_RUN_SIMD = 47,
    TEAMS_CHUNKED = 91,
    TEAMS = 92
} loop_kind;

static uint64_t
at_least_one(int64_t chunk)
{
    return chunk > 0 ? (uint64_t)chunk : 1;
}

static void
schedule_of_run(med_loop *loop, uint32_t monotonic, const med_icv *icv)
{
    loop->schedule = med_schedule_of(icv->schedule | monotonic);
    loop->chunk = icv->chunk;
}

/* The compiler says how many iterations it does at once. */
static uint64_t
vector_of(med_loop *loop, int64_t size)
{
    loop->vector = (uint32_t)at_least_one(size);
    return loop->vector;
}

static void
schedule_put(med_loop *loop, loop_kind kind, uint32_t monotonic, int64_t chunk, const med_icv *icv)
{
    loop->chunk = 0;
    switch (kind) {
    case STATIC_CHUNKED:
    case STATIC_BALANCED_CHUNKED:
        loop->chunk = at_least_one(chunk);
        loop->schedule = &med_schedule_static;
        break;
    case STATIC:
    case AUTO:
    case STATIC_GREEDY:
    case STATIC_BALANCED:
        loop->schedule = &med_schedule_static;
        break;
    case DYNAMIC:
        loop->chunk = at_least_one(chunk);
        loop->schedule = med_schedule_of(MED_SCHEDULE_DYNAMIC | monotonic);
        break;
    case STATIC_STEAL:
        loop->chunk = at_least_one(chunk);
        loop->schedule = med_schedule_of(MED_SCHEDULE_STEAL | monotonic);
        break;
    case GUIDED:
    case TRAPEZOIDAL:
    case GUIDED_ITERATIVE:
    case GUIDED_ANALYTICAL:
        loop->chunk = at_least_one(chunk);
        loop->schedule = &med_schedule_guided;
        break;
    case GUIDED_SIMD:
        loop->chunk = vector_of(loop, chunk);
        loop->schedule = &med_schedule_guided;
        break;
    case OF_RUN:
        schedule_of_run(loop, monotonic, icv);
        break;
    case OF_RUN_SIMD:
        schedule_of_run(loop, monotonic, icv);
        chunk = (int64_t)at_least_one(chunk);
        loop->chunk *= (uint64_t)chunk;
        (void)vector_of(loop, icv->chunk ? (int64_t)icv->chunk * chunk : chunk);
        break;
    default:
        med_say_fatal("a loop has a schedule that Medley's OpenMP lacks");
    }
}

static med_loop
loop_of(uint64_t count, int32_t number, int64_t chunk, const med_icv *icv)
{
    med_loop loop = {.count = count};
    uint32_t monotonic = number & NONMONOTONIC ? 0 : MED_SCHEDULE_MONOTONIC;
    number &= ~MODIFIERS;
    if (number > MERGED) {
        number -= MERGED;
    }
    if (number > ORDERED_FIRST && number <= ORDERED_LAST) {
        loop.ordered = true;
        number -= ORDERED_MORE;
    }
    schedule_put(&loop, (loop_kind)number, monotonic, chunk, icv);
    return loop;
}

/* Where the program has called an entry. */
#define HERE __builtin_return_address(0)

/* ---- Iterations ------------------------------------------------------------------------------ */

/* From the first value to the last one, where there is any. */
static inline uint64_t
count_of(uint64_t first, uint64_t last, int64_t step)
{
    if (step == 1) {
        return last - first + 1;
    }
    return step > 0 ? (last - first) / (uint64_t)step + 1 : (first - last) / -(uint64_t)step + 1;
}

#define IS_EMPTY(first, last, step) ((step) > 0 ? (first) > (last) : (first) < (last))

/* ---- Parts that follow from who asks --------------------------------------------------------- */

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
    uint64_t chunk = at_least_one(size) < count ? at_least_one(size) : count;
    uint64_t chunks = (count - 1) / chunk + 1;
    part p = {.stride = chunks > who.count ? chunk * who.count : count,
              .has_last = (chunks - 1) % who.count == who.number};
    if (who.number < chunks) {
        p.first = chunk * who.number;
        p.behind = count - p.first < chunk ? count : p.first + chunk;
    }
    return p;
}

/* A doacross loop is a construct for all that. */
static void
begin_doacross(med_member *member, uint64_t count, int32_t number, int64_t chunk)
{
    static const med_bounds none;
    med_loop loop = loop_of(count, number, chunk, member->icv);
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
        begin_doacross(member, count, number, chunk);
    }
    switch (number & ~MODIFIERS) {
    case STATIC:
        if (med_work_imposed.parts && !member->work && is_loop(place)) {
            return part_by_speed(member, count, place ? place->source : NULL, code);
        }
        return part_of(count, thread_of(member));
    case TEAMS:
        return part_of(count, team_of(member));
    case TEAMS_CHUNKED:
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

/* As values. Of none the first is the loop's second, and the last its first. */
#define PART_PUT(type, signed_type, p, start, step, first, last, stride)                           \
    {                                                                                              \
        bool none = (p).first == (p).behind;                                                       \
        *(first) = (type)((start) + (none ? 1 : (p).first) * (uint64_t)(step));                    \
        *(last) = (type)((start) + (none ? 0 : (p).behind - 1) * (uint64_t)(step));                \
        *(stride) = (signed_type)((p).stride * (uint64_t)(step));                                  \
    }

/* Of bounds of one type. `team_last`: the end of what the team has, of whose part this is one. */
#define PARTS(suffix, type, signed_type)                                                           \
    FACE void __kmpc_for_static_init_##suffix(                                                     \
        const med_kmpc_place *place, int32_t thread, int32_t kind, int32_t *has_last, type *first, \
        type *last, signed_type *stride, signed_type step, signed_type chunk)                      \
    {                                                                                              \
        (void)thread;                                                                              \
        MED_CALLED_ONLY(MED_OMPT_PLAIN);                                                           \
        if (IS_EMPTY(*first, *last, step)) {                                                       \
            told(place, 0);                                                                        \
            *has_last = 0;                                                                         \
            *stride = step;                                                                        \
            return;                                                                                \
        }                                                                                          \
        uint64_t start = (uint64_t)*first;                                                         \
        uint64_t count = count_of(start, (uint64_t)*last, step);                                   \
        told(place, count);                                                                        \
        const part p = part_asked(kind, count, chunk, place, HERE);                                \
        *has_last = p.has_last;                                                                    \
        PART_PUT(type, signed_type, p, start, step, first, last, stride)                           \
    }                                                                                              \
    FACE void __kmpc_team_static_init_##suffix(                                                    \
        const med_kmpc_place *place, int32_t thread, int32_t *has_last, type *first, type *last,   \
        signed_type *stride, signed_type step, signed_type chunk)                                  \
    {                                                                                              \
        __kmpc_for_static_init_##suffix(place, thread, TEAMS_CHUNKED, has_last, first, last,       \
                                        stride, step, chunk);                                      \
    }                                                                                              \
    FACE void __kmpc_dist_for_static_init_##suffix(                                                \
        const med_kmpc_place *place, int32_t thread, int32_t kind, int32_t *has_last, type *first, \
        type *last, type *team_last, signed_type *stride, signed_type step, signed_type chunk)     \
    {                                                                                              \
        int32_t team_has_last;                                                                     \
        __kmpc_for_static_init_##suffix(NULL, thread, TEAMS, &team_has_last, first, last, stride,  \
                                        step, 0);                                                  \
        *team_last = *last;                                                                        \
        __kmpc_for_static_init_##suffix(place, thread, kind, has_last, first, last, stride, step,  \
                                        chunk);                                                    \
        *has_last &= team_has_last;                                                                \
    }
PARTS(4, int32_t, int32_t)
PARTS(4u, uint32_t, int32_t)
PARTS(8, int64_t, int64_t)
PARTS(8u, uint64_t, int64_t)

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

/* ---- Loops of which threads ask for more ----------------------------------------------------- */

static void
begin(med_member *member,
      uint64_t count,
      int32_t kind,
      uint64_t start,
      int64_t step,
      int64_t chunk,
      const char *source,
      const void *code)
{
    const med_bounds bounds = {.start = start, .step = (uint64_t)step};
    med_loop loop = loop_of(count, kind, chunk, member->icv);
    loop.source = source;
    loop.code = code;
    if (member->dimensions.count) {
        med_kmpc_doacross_begin(member, &loop, &bounds);
    } else {
        med_work_begin(member, &loop, &bounds);
    }
    med_ompt_work_begin(member);
}

/* False: there are none, and the caller is through with the loop. */
static bool
next(med_member *member, med_span *span, med_bounds *bounds, bool *has_last)
{
    const med_work *work = member->work;
    if (!med_work_next(member, span)) {
        med_work_end(member);
        return false;
    }
    *bounds = work->bounds;
    *has_last = span->end == work->count;
    return true;
}

#define LOOPS(suffix, type, signed_type)                                                           \
    FACE void __kmpc_dispatch_init_##suffix(const med_kmpc_place *place, int32_t thread,           \
                                            int32_t kind, type first, type last, signed_type step, \
                                            signed_type chunk)                                     \
    {                                                                                              \
        (void)thread;                                                                              \
        uint64_t start = (uint64_t)first;                                                          \
        MED_CALLED_ONLY(MED_OMPT_PLAIN);                                                           \
        uint64_t count = IS_EMPTY(first, last, step) ? 0 : count_of(start, (uint64_t)last, step);  \
        begin(med_member_get(), count, kind, start, step, chunk, place ? place->source : NULL,     \
              HERE);                                                                               \
    }                                                                                              \
    FACE void __kmpc_dist_dispatch_init_##suffix(const med_kmpc_place *place, int32_t thread,      \
                                                 int32_t kind, int32_t *has_last, type first,      \
                                                 type last, signed_type step, signed_type chunk)   \
    {                                                                                              \
        int32_t team_has_last;                                                                     \
        signed_type stride;                                                                        \
        __kmpc_for_static_init_##suffix(NULL, thread, TEAMS, has_last ? has_last : &team_has_last, \
                                        &first, &last, &stride, step, 0);                          \
        __kmpc_dispatch_init_##suffix(place, thread, kind, first, last, step, chunk);              \
    }                                                                                              \
    FACE int32_t __kmpc_dispatch_next_##suffix(const med_kmpc_place *place, int32_t thread,        \
                                               int32_t *has_last, type *first, type *last,         \
                                               signed_type *stride)                                \
    {                                                                                              \
        med_span span;                                                                             \
        med_bounds bounds;                                                                         \
        bool is_last;                                                                              \
        (void)place;                                                                               \
        (void)thread;                                                                              \
        if (!next(med_member_get(), &span, &bounds, &is_last)) {                                   \
            return 0;                                                                              \
        }                                                                                          \
        *first = (type)(bounds.start + span.first * bounds.step);                                  \
        *last = (type)(bounds.start + (span.end - 1) * bounds.step);                               \
        *stride = (signed_type)bounds.step;                                                        \
        if (has_last) {                                                                            \
            *has_last = is_last;                                                                   \
        }                                                                                          \
        return 1;                                                                                  \
    }                                                                                              \
    /* An ordered loop's iteration is over: the order goes on with what the thread asks for. */    \
    FACE void __kmpc_dispatch_fini_##suffix(const med_kmpc_place *place, int32_t thread)           \
    {                                                                                              \
        (void)place;                                                                               \
        (void)thread;                                                                              \
    }
LOOPS(4, int32_t, int32_t)
LOOPS(4u, uint32_t, int32_t)
LOOPS(8, int64_t, int64_t)
LOOPS(8u, uint64_t, int64_t)

/* Clang 19 says that a loop is over; the thread was told that nothing is left. */
FACE void
__kmpc_dispatch_deinit(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
}
