/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that clang calls (clang 14 to 19, as it emits them; what each does is OpenMP 5.0's):
 * regions, and what stands in them. Arguments are translated here, and nothing else is done.
 */
#include "omp/abi_kmpc.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/atomic.h"
#include "base/text.h"
#include "omp/lock.h"
#include "omp/say.h"

/* ---- Calls ----------------------------------------------------------------------------------- */

#define FOUR(i) a[i], a[(i) + 1], a[(i) + 2], a[(i) + 3]
#define SIXTEEN(i) FOUR(i), FOUR((i) + 4), FOUR((i) + 8), FOUR((i) + 12)
#define SIXTY_FOUR(i) SIXTEEN(i), SIXTEEN((i) + 16), SIXTEEN((i) + 32), SIXTEEN((i) + 48)

/* Those that come after a function's own arguments are the caller's alone: so few sizes do. */
void
med_kmpc_call_make(void *data)
{
    const med_kmpc_call *call = data;
    med_member *member = med_member_get();
    MED_OMPT_EXIT_FRAME(member);
    med_kmpc_float_inherit(call->float_control);
    void *const *a = call->arguments;
    int32_t thread = med_kmpc_thread(member);
    int32_t number = (int32_t)member->number;
    if (call->count <= 4) {
        call->lines(&thread, &number, FOUR(0));
    } else if (call->count <= 16) {
        call->lines(&thread, &number, SIXTEEN(0));
    } else if (call->count <= 64) {
        call->lines(&thread, &number, SIXTY_FOUR(0));
    } else {
        call->lines(&thread, &number, SIXTY_FOUR(0), SIXTY_FOUR(64), SIXTY_FOUR(128),
                    SIXTY_FOUR(192));
    }
}

static uint32_t
arguments_passed(uint32_t count)
{
    return count <= 4 ? 4 : count <= 16 ? 16 : count <= 64 ? 64 : MED_KMPC_ARGUMENTS;
}

void
med_kmpc_call_fill(med_kmpc_call *call, med_kmpc_lines lines, int32_t count, va_list arguments)
{
    if (count > (int32_t)MED_KMPC_ARGUMENTS) {
        med_say_fatal("a construct uses more than 256 variables of those around it");
    }
    call->lines = lines;
    call->count = (uint32_t)count;
    call->float_control = med_port_float_control();
    for (uint32_t i = 0; i < call->count; i++) {
        call->arguments[i] = va_arg(arguments, void *);
    }
    for (uint32_t i = call->count; i < arguments_passed(call->count); i++) {
        call->arguments[i] = NULL;
    }
}

/* ---- Parallel -------------------------------------------------------------------------------- */

FACE void
__kmpc_push_num_threads(const med_kmpc_place *place, int32_t thread, int32_t count)
{
    (void)place;
    (void)thread;
    med_member_get()->threads_wanted = count > 0 ? (uint32_t)count : 0;
}

#define BIND_PRIMARY 5 /* clang's number of the clause's newer word; of the older one it is ours */

FACE void
__kmpc_push_proc_bind(const med_kmpc_place *place, int32_t thread, int32_t bind)
{
    (void)place;
    (void)thread;
    bool is_ours = bind >= MED_BIND_FALSE && bind <= MED_BIND_SPREAD;
    med_member_get()->bind_wanted = is_ours                ? (uint32_t)bind
                                    : bind == BIND_PRIMARY ? MED_BIND_PRIMARY
                                                           : MED_BIND_FALSE;
}

/* What was said of the next region is said of no other. */
static void
wants_nothing(med_member *leader)
{
    leader->threads_wanted = 0;
    leader->bind_wanted = MED_BIND_FALSE;
}

FACE void
__kmpc_fork_call(const med_kmpc_place *place, int32_t count, med_kmpc_lines lines, ...)
{
    MED_KMPC_CALL(call);
    (void)place;
    med_member *leader = MED_CALLED(MED_OMPT_PLAIN);
    uint32_t threads = med_team_threads(leader, leader->threads_wanted);
    med_team_run(leader, threads, med_kmpc_call_make, &call);
    med_kmpc_float_inherit(call.float_control);
    wants_nothing(leader);
}

/* One thread executes what follows, until `end`. */
FACE void
__kmpc_serialized_parallel(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    med_member *leader = MED_CALLED(1);
    wants_nothing(leader);
    med_member *first = med_team_start(leader, 1, NULL, NULL);
    first->float_control = med_port_float_control();
    med_team_go(first);
}

FACE void
__kmpc_end_serialized_parallel(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    med_member *first = med_member_get();
    med_team_finish(first);
    med_kmpc_float_inherit(first->float_control);
}

FACE void
__kmpc_fork_call_if(const med_kmpc_place *place,
                    int32_t count,
                    med_kmpc_lines lines,
                    int32_t condition,
                    void *argument)
{
    if (condition) {
        __kmpc_fork_call(place, count, lines, argument);
    } else {
        med_kmpc_call call = {.lines = lines,
                              .count = 1,
                              .float_control = med_port_float_control(),
                              .arguments = {argument}};
        med_member *leader = MED_CALLED(1);
        wants_nothing(leader);
        med_team_run(leader, 1, med_kmpc_call_make, &call);
        med_kmpc_float_inherit(call.float_control);
    }
}

/* ---- Who is who ------------------------------------------------------------------------------ */

FACE int32_t
__kmpc_global_thread_num(const med_kmpc_place *place)
{
    (void)place;
    return med_kmpc_thread(med_member_get());
}

FACE int32_t
__kmpc_bound_thread_num(const med_kmpc_place *place)
{
    (void)place;
    return (int32_t)med_member_get()->number;
}

FACE int32_t
__kmpc_bound_num_threads(const med_kmpc_place *place)
{
    (void)place;
    return (int32_t)med_member_get()->team->size;
}

FACE int32_t
__kmpc_in_parallel(const med_kmpc_place *place)
{
    (void)place;
    return med_member_get()->team->active_level > 0;
}

FACE int32_t
__kmpc_ok_to_fork(const med_kmpc_place *place)
{
    (void)place;
    return 1;
}

FACE void
__kmpc_begin(const med_kmpc_place *place, int32_t flags)
{
    (void)place;
    (void)flags;
}

FACE void
__kmpc_end(const med_kmpc_place *place)
{
    (void)place;
}

/* ---- Barriers, and who executes what --------------------------------------------------------- */

FACE void
__kmpc_barrier(const med_kmpc_place *place, int32_t thread)
{
    (void)thread;
    (void)med_told_barrier(med_kmpc_barrier_kind(place));
}

FACE void
__kmpc_flush(const med_kmpc_place *place)
{
    (void)place;
    atomic_fence_seq_cst();
    MED_CALLED_ONLY(MED_OMPT_PLAIN);
    med_ompt_flush();
}

static bool
is_masked(med_member *member, int32_t number)
{
    bool is_mine = (int32_t)member->number == number;
    if (is_mine) {
        med_ompt_masked(member, false);
    }
    return is_mine;
}

FACE int32_t
__kmpc_masked(const med_kmpc_place *place, int32_t thread, int32_t number)
{
    (void)place;
    (void)thread;
    return is_masked(MED_CALLED(MED_OMPT_PLAIN), number);
}

FACE int32_t
__kmpc_master(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    return is_masked(MED_CALLED(MED_OMPT_PLAIN), 0);
}

FACE int32_t
__kmpc_single(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    return med_told_single();
}

/* The end of what one thread executes, or what all do: nothing is to do, but for tools. */
#define ENDS(name, event)                                                                          \
    FACE void name(const med_kmpc_place *place, int32_t thread)                                    \
    {                                                                                              \
        (void)place;                                                                               \
        (void)thread;                                                                              \
        if (med_ompt_is_on()) {                                                                    \
            event;                                                                                 \
        }                                                                                          \
    }
ENDS(__kmpc_scope, med_ompt_part_begin(MED_CALLED(MED_OMPT_PLAIN), MED_OMPT_WORK_SCOPE, 0))
ENDS(__kmpc_end_scope, med_ompt_part_end(med_member_get()))
ENDS(__kmpc_end_masked, med_ompt_masked(MED_CALLED(MED_OMPT_PLAIN), true))
ENDS(__kmpc_end_master, med_ompt_masked(MED_CALLED(MED_OMPT_PLAIN), true))
ENDS(__kmpc_end_single, med_ompt_single_end(med_member_get()))

FACE void
__kmpc_ordered(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    med_told_ordered();
}

FACE void
__kmpc_end_ordered(const med_kmpc_place *place, int32_t thread)
{
    (void)place;
    (void)thread;
    med_told_ordered_end();
}

/* What the thread that executed a single has is copied to all others. */
FACE void
__kmpc_copyprivate(const med_kmpc_place *place,
                   int32_t thread,
                   size_t size,
                   void *data,
                   void (*copy)(void *to, void *from),
                   int32_t is_mine)
{
    (void)place;
    (void)thread;
    (void)size;
    med_member *member = MED_CALLED(MED_OMPT_BARRIER_IMPLICIT);
    if (is_mine) {
        med_team_copy_give(member, data);
    } else {
        copy(data, med_team_copy_take(member));
    }
    (void)med_told_barrier_of(member);
}

/* The same where each copies for himself what it returns; a barrier of his follows. */
FACE void *
__kmpc_copyprivate_light(const med_kmpc_place *place, int32_t thread, void *data)
{
    (void)place;
    (void)thread;
    med_member *member = MED_CALLED(MED_OMPT_BARRIER_IMPLICIT);
    if (!data) {
        return med_team_copy_take(member);
    }
    med_team_copy_give(member, data);
    return data;
}

/* ---- Critical, reductions -------------------------------------------------------------------- */

/* The compiler has 32 zeroed bytes for each name: the first of them are the lock. */
FACE void
__kmpc_critical(const med_kmpc_place *place, int32_t thread, med_lock *name)
{
    (void)place;
    (void)thread;
    med_told_lock_set(name, MED_OMPT_CRITICAL);
}

FACE void
__kmpc_critical_with_hint(const med_kmpc_place *place,
                          int32_t thread,
                          med_lock *name,
                          uint32_t hint)
{
    (void)place;
    (void)thread;
    (void)hint;
    med_told_lock_set(name, MED_OMPT_CRITICAL);
}

FACE void
__kmpc_end_critical(const med_kmpc_place *place, int32_t thread, med_lock *name)
{
    (void)place;
    (void)thread;
    med_told_lock_unset(name, MED_OMPT_CRITICAL);
}

/* ---- What a program says --------------------------------------------------------------------- */

#define SEVERITY_FATAL 2
#define PLACE_FIELDS 4u /* file, function, line, column, each behind a ';' */

/* "file:line:column: ", as compilers write it. */
static void
place_put(med_text *line, const med_kmpc_place *place)
{
    const char *at = place && place->source ? place->source : "";
    for (uint32_t field = 0; *at == ';' && field < PLACE_FIELDS; field++) {
        for (at++; *at && *at != ';'; at++) {
            const char more[] = {*at, '\0'};
            med_text_string(line, field != 1 ? more : "");
        }
        med_text_string(line, field == 1 ? "" : field + 1 < PLACE_FIELDS ? ":" : ": ");
    }
}

FACE void
__kmpc_error(const med_kmpc_place *place, int32_t severity, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    med_text line = {.length = 0};
    MED_CALLED_ONLY(MED_OMPT_PLAIN);
    med_ompt_error(severity == SEVERITY_FATAL, text, length);
    place_put(&line, place);
    med_text_string(&line, "error directive encountered");
    med_text_string(&line, text ? ": " : "");
    if (severity == SEVERITY_FATAL) {
        med_say_text_fatal(line.bytes, text, length);
    }
    med_say_text(line.bytes, text, length);
}
