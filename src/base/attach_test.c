/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What everything that lies in shared memory does alike when it is made and attached to: memory of
 * the wrong place or size is refused, and no field is believed. Each test on each structure.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bit_set.h"
#include "base/pool.h"
#include "base/state_cell.h"
#include "base/trace.h"
#include "support/rings.h"
#include "support/unit.h"

/* Room for the view of any of them. */
typedef union any_view {
    med_bit_set bit_set;
    med_pool pool;
    med_state_cell state_cell;
    med_trace trace;
    ring_ends ring;
} any_view;

#define FIELDS_MAX 6
#define LIES_MAX 6

/* A word, and what it must not say. */
typedef struct field {
    size_t at;
    medley_status_t status;
    bool exact; /* also nothing a little or a lot above the truth */
    uint32_t lie_count;
    uint32_t lies[LIES_MAX];
} field;

#define COUNT(...) (sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define EXACT(type, name, ...)                                                                     \
    {                                                                                              \
        offsetof(type, name), MEDLEY_ERR_CORRUPT, true, COUNT(__VA_ARGS__),                        \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define BOUNDED(type, name, ...)                                                                   \
    {                                                                                              \
        offsetof(type, name), MEDLEY_ERR_CORRUPT, false, COUNT(__VA_ARGS__),                       \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* The stamp comes first in all of them. */
typedef struct structure {
    const char *name;
    size_t (*size)(void);
    medley_status_t (*init)(void *memory, size_t size_bytes);
    medley_status_t (*attach)(void *memory, size_t size_bytes, any_view *view);
    size_t fixed_bytes;
    field fields[FIELDS_MAX];
} structure;

static const structure *tested;

/* ---- The structures -------------------------------------------------------------------------- */

static size_t
bit_set_size(void)
{
    return med_bit_set_size(100);
}

static medley_status_t
bit_set_init(void *memory, size_t size_bytes)
{
    med_bit_set set;
    return med_bit_set_init(memory, size_bytes, 100, &set);
}

static medley_status_t
bit_set_attach(void *memory, size_t size_bytes, any_view *view)
{
    return med_bit_set_attach(memory, size_bytes, &view->bit_set);
}

static size_t
pool_size(void)
{
    return med_pool_size(10, 256);
}

static medley_status_t
pool_init(void *memory, size_t size_bytes)
{
    med_pool pool;
    return med_pool_init(memory, size_bytes, 10, 256, 41, &pool);
}

static medley_status_t
pool_attach(void *memory, size_t size_bytes, any_view *view)
{
    return med_pool_attach(memory, size_bytes, &view->pool);
}

static size_t
state_cell_size(void)
{
    return med_state_cell_size(100, 4);
}

static medley_status_t
state_cell_init(void *memory, size_t size_bytes)
{
    med_state_cell cell;
    return med_state_cell_init(memory, size_bytes, 100, 4, MED_PORT_SCOPE_PROCESS, &cell);
}

static medley_status_t
state_cell_attach(void *memory, size_t size_bytes, any_view *view)
{
    return med_state_cell_attach(memory, size_bytes, MED_PORT_SCOPE_PROCESS, &view->state_cell);
}

static size_t
trace_size(void)
{
    return med_trace_size(2, 8);
}

static medley_status_t
trace_init(void *memory, size_t size_bytes)
{
    med_trace trace;
    return med_trace_init(memory, size_bytes, 2, 8, &trace);
}

static medley_status_t
trace_attach(void *memory, size_t size_bytes, any_view *view)
{
    return med_trace_attach(memory, size_bytes, &view->trace);
}

/* Of such a size that no wrong shape listed below is as large. */
static const ring_wanted ring_wanted_of[RING_KINDS] = {
    {MED_RING_LINE, 1020, 16}, {MED_RING_PACKED, 1020, 16}, {3, 8, 128}, {33, 8, 8}};

#define RING(number, name)                                                                         \
    static size_t name##_size(void)                                                                \
    {                                                                                              \
        uint32_t size_bytes = 0;                                                                   \
        (void)ring_kinds[number].size(&ring_wanted_of[number], &size_bytes);                       \
        return size_bytes;                                                                         \
    }                                                                                              \
    static medley_status_t name##_init(void *memory, size_t size_bytes)                            \
    {                                                                                              \
        return ring_kinds[number].init(memory, size_bytes, &ring_wanted_of[number]);               \
    }                                                                                              \
    static medley_status_t name##_attach(void *memory, size_t size_bytes, any_view *view)          \
    {                                                                                              \
        return ring_kinds[number].attach(&view->ring, memory, size_bytes);                         \
    }

RING(0, line)
RING(1, packed)
RING(2, mpsc)
RING(3, mpmc)

#define CALLS(name) #name, name##_size, name##_init, name##_attach

static const structure structures[] = {
    {CALLS(bit_set),
     sizeof(med_bit_set_shared),
     {BOUNDED(med_bit_set_shared, capacity, 0, 501, 65537, UINT32_MAX)}},
    {CALLS(pool),
     sizeof(med_pool_shared),
     {EXACT(med_pool_shared, capacity, 9),
      BOUNDED(med_pool_shared, buffer_bytes, 0, 257, UINT32_MAX),
      BOUNDED(med_pool_shared, tag, 65536, UINT32_MAX),
      /* Its bit set comes next. */
      {sizeof(med_pool_shared) + offsetof(med_bit_set_shared, capacity),
       MEDLEY_ERR_CORRUPT,
       true,
       1,
       {9}},
      {sizeof(med_pool_shared) + offsetof(med_bit_set_shared, stamp.version),
       MEDLEY_ERR_VERSION,
       true,
       1,
       {2}}}},
    {CALLS(state_cell),
     sizeof(med_state_cell_shared),
     {BOUNDED(med_state_cell_shared, value_bytes, 0, 129, UINT32_MAX),
      EXACT(med_state_cell_shared, buffers, 1)}},
    {CALLS(trace),
     sizeof(med_trace_shared),
     {EXACT(med_trace_shared, lanes, 0x80000000u),
      EXACT(med_trace_shared, records, 7, 0x80000000u)}},
    {CALLS(line),
     sizeof(med_ring),
     {EXACT(med_ring, shape.layout, 2, 3, 64),
      EXACT(med_ring, shape.element_bytes, 1, 7, 64, 4096, 65537),
      EXACT(med_ring, shape.stride_bytes, 1, 64, 1023, 1020, 4096),
      EXACT(med_ring, shape.capacity, 1, 2, 3, 7, 15, 64),
      EXACT(med_ring, shape.size_bytes, 1, 64, 4096, 65537)}},
    {CALLS(packed),
     sizeof(med_ring),
     {EXACT(med_ring, shape.layout, 1, 3, 64),
      EXACT(med_ring, shape.element_bytes, 1, 7, 64, 4096, 65537),
      EXACT(med_ring, shape.stride_bytes, 1, 64, 1019, 1024, 4096),
      EXACT(med_ring, shape.capacity, 1, 2, 3, 7, 15, 64),
      EXACT(med_ring, shape.size_bytes, 1, 64, 4096, 65537)}},
    {CALLS(mpsc),
     sizeof(med_ring_mpsc),
     {EXACT(med_ring_mpsc, shape.lanes, 1, 2), EXACT(med_ring_mpsc, shape.element_bytes, 1, 7),
      EXACT(med_ring_mpsc, shape.capacity, 1, 127), EXACT(med_ring_mpsc, shape.lane_bytes, 1),
      EXACT(med_ring_mpsc, shape.size_bytes, 1)}},
    {CALLS(mpmc),
     sizeof(med_ring_mpmc),
     {BOUNDED(med_ring_mpmc, shape.sides, 0, 32, 65, 257, UINT32_MAX),
      EXACT(med_ring_mpmc, shape.element_bytes, 65537), EXACT(med_ring_mpmc, shape.capacity, 7),
      EXACT(med_ring_mpmc, shape.stride_bytes, 15), EXACT(med_ring_mpmc, shape.size_bytes, 1)}},
};

/* ---- The tests ------------------------------------------------------------------------------- */

#define ALIGNED_TO 128u

/* Exactly as much memory as it needs, so that a step outside is seen. */
static unsigned char *
memory_new(size_t *size_bytes)
{
    *size_bytes = tested->size();
    unsigned char *memory =
        aligned_alloc(ALIGNED_TO, (*size_bytes + ALIGNED_TO - 1) / ALIGNED_TO * ALIGNED_TO);
    assert_non_null(memory);
    return memory;
}

/* What is refused leaves the view as it was. */
static void
expect_refused(void *memory, size_t size_bytes, medley_status_t status)
{
    any_view view;
    any_view before;
    memset(&view, 0x55, sizeof view);
    memset(&before, 0x55, sizeof before);
    assert_int_equal(tested->attach(memory, size_bytes, &view), status);
    assert_memory_equal(&view, &before, sizeof view);
}

static void
memory_is_checked(void **state)
{
    (void)state;
    static const size_t misplaced[] = {4, 8, 32};
    size_t size_bytes;
    unsigned char *memory = memory_new(&size_bytes);
    any_view view;
    assert_int_equal(tested->init(NULL, size_bytes), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(tested->init(memory, size_bytes - 1), MEDLEY_ERR_ARGUMENT);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(tested->init(memory + misplaced[i], size_bytes), MEDLEY_ERR_ARGUMENT);
    }
    assert_int_equal(tested->init(memory, size_bytes), MEDLEY_OK);
    expect_refused(NULL, size_bytes, MEDLEY_ERR_ARGUMENT);
    for (size_t i = 0; i < 3; i++) {
        expect_refused(memory + misplaced[i], size_bytes - misplaced[i], MEDLEY_ERR_ARGUMENT);
    }
    expect_refused(memory, size_bytes - 1, MEDLEY_ERR_CORRUPT);
    expect_refused(memory, tested->fixed_bytes - 1, MEDLEY_ERR_CORRUPT);
    expect_refused(memory, 8, MEDLEY_ERR_CORRUPT);
    assert_int_equal(tested->attach(memory, size_bytes, &view), MEDLEY_OK);
    free(memory);
}

static void
expect_lie_found(unsigned char *memory, size_t at, uint32_t lie, medley_status_t status)
{
    atomic32 *word = (atomic32 *)(void *)(memory + at);
    uint32_t truth = atomic32_load_relaxed(word);
    atomic32_store_relaxed(word, lie);
    expect_refused(memory, tested->size(), status);
    atomic32_store_relaxed(word, truth);
}

static void
stamps_are_checked(void **state)
{
    (void)state;
    size_t size_bytes;
    unsigned char *memory = memory_new(&size_bytes);
    assert_int_equal(tested->init(memory, size_bytes), MEDLEY_OK);
    uint32_t kind = atomic32_load_relaxed(&((med_stamp *)(void *)memory)->kind);
    const uint32_t others[] = {0, kind ^ 1, kind + 1, ~kind};
    expect_lie_found(memory, offsetof(med_stamp, kind), __builtin_bswap32(kind),
                     MEDLEY_ERR_BYTE_ORDER);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        expect_lie_found(memory, offsetof(med_stamp, kind), others[i], MEDLEY_ERR_CORRUPT);
    }
    uint32_t version = atomic32_load_relaxed(&((med_stamp *)(void *)memory)->version);
    const uint32_t versions[] = {version - 1, version + 1, version + 98, UINT32_MAX};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        expect_lie_found(memory, offsetof(med_stamp, version), versions[i], MEDLEY_ERR_VERSION);
    }
    free(memory);
}

static void
no_field_is_believed(void **state)
{
    (void)state;
    size_t size_bytes;
    unsigned char *memory = memory_new(&size_bytes);
    any_view view;
    assert_int_equal(tested->init(memory, size_bytes), MEDLEY_OK);
    for (const field *f = tested->fields; f < tested->fields + FIELDS_MAX && f->at != 0; f++) {
        uint32_t truth = atomic32_load_relaxed((atomic32 *)(void *)(memory + f->at));
        const uint32_t near_truth[] = {0, truth + 1, truth * 2, truth | 0x80000000u, UINT32_MAX};
        for (uint32_t i = 0; i < f->lie_count; i++) {
            expect_lie_found(memory, f->at, f->lies[i], f->status);
        }
        for (uint32_t i = 0; f->exact && i < 5; i++) {
            expect_lie_found(memory, f->at, near_truth[i], f->status);
        }
    }
    assert_int_equal(tested->attach(memory, size_bytes, &view), MEDLEY_OK);
    free(memory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_checked),
        cmocka_unit_test(stamps_are_checked),
        cmocka_unit_test(no_field_is_believed),
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof structures / sizeof structures[0]; i++) {
        tested = &structures[i];
        failed += cmocka_run_group_tests_name(tested->name, tests, NULL, NULL);
    }
    return failed;
}
