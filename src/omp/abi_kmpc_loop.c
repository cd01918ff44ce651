/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that clang calls for loops of which threads ask for more until they are told that
 * nothing is left, and for sections, which are loops to it: worksharing constructs (work.h).
 */
#include "omp/abi_kmpc_loop.h"

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
    med_loop loop = med_kmpc_loop(count, kind, chunk, member->icv);
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
next(med_kmpc_values *v)
{
    med_member *member = med_member_get();
    const med_work *work = member->work;
    med_span span;
    if (!med_work_next(member, &span)) {
        med_work_end(member);
        return false;
    }
    const med_bounds *bounds = &work->bounds;
    *v = (med_kmpc_values){.first = bounds->start + span.first * bounds->step,
                           .last = bounds->start + (span.end - 1) * bounds->step,
                           .stride = bounds->step,
                           .has_last = span.end == work->count};
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
        uint64_t count = MED_KMPC_IS_EMPTY(first, last, step)                                      \
                             ? 0                                                                   \
                             : med_kmpc_count(start, (uint64_t)last, step);                        \
        begin(med_member_get(), count, kind, start, step, chunk, place ? place->source : NULL,     \
              MED_KMPC_HERE);                                                                      \
    }                                                                                              \
    FACE void __kmpc_dist_dispatch_init_##suffix(const med_kmpc_place *place, int32_t thread,      \
                                                 int32_t kind, int32_t *has_last, type first,      \
                                                 type last, signed_type step, signed_type chunk)   \
    {                                                                                              \
        int32_t team_has_last;                                                                     \
        signed_type stride;                                                                        \
        __kmpc_for_static_init_##suffix(NULL, thread, MED_KMPC_TEAMS,                              \
                                        has_last ? has_last : &team_has_last, &first, &last,       \
                                        &stride, step, 0);                                         \
        __kmpc_dispatch_init_##suffix(place, thread, kind, first, last, step, chunk);              \
    }                                                                                              \
    FACE int32_t __kmpc_dispatch_next_##suffix(const med_kmpc_place *place, int32_t thread,        \
                                               int32_t *has_last, type *first, type *last,         \
                                               signed_type *stride)                                \
    {                                                                                              \
        med_kmpc_values v;                                                                         \
        (void)place;                                                                               \
        (void)thread;                                                                              \
        if (!next(&v)) {                                                                           \
            return 0;                                                                              \
        }                                                                                          \
        *first = (type)v.first;                                                                    \
        *last = (type)v.last;                                                                      \
        *stride = (signed_type)v.stride;                                                           \
        if (has_last) {                                                                            \
            *has_last = v.has_last;                                                                \
        }                                                                                          \
        return 1;                                                                                  \
    }                                                                                              \
    /* An ordered loop's iteration is over: the order goes on with what the thread asks for. */    \
    FACE void __kmpc_dispatch_fini_##suffix(const med_kmpc_place *place, int32_t thread)           \
    {                                                                                              \
        (void)place;                                                                               \
        (void)thread;                                                                              \
    }
MED_KMPC_TYPES(LOOPS)

/* Clang 19 says that a loop is over; the thread was told that nothing is left. */
FACE void
__kmpc_dispatch_deinit(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
}
