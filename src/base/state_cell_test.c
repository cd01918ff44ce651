/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The state cell: sizes, pieces, wrap-around, many readers, dying writers, and memory that lies. */
#include <stdlib.h>
#include <string.h>

#include "base/state_cell.h"
#include "support/process.h"
#include "support/unit.h"

static void *
make(uint32_t value_bytes, uint32_t buffers, med_state_cell *cell)
{
    size_t size_bytes = med_state_cell_size(value_bytes, buffers);
    void *memory = aligned_alloc(64, size_bytes);
    assert_non_null(memory);
    assert_int_equal(
        med_state_cell_init(memory, size_bytes, value_bytes, buffers, MED_PORT_SCOPE_PROCESS, cell),
        MEDLEY_OK);
    return memory;
}

/* As if all values before had been written already. */
static void
jump_to(const med_state_cell *cell, uint32_t number)
{
    atomic32_store_relaxed(&cell->shared->counter, number * 2);
}

static void
wrong_arguments_are_refused(void **state)
{
    (void)state;
    med_state_cell cell;
    assert_int_equal(med_state_cell_size(0, 2), 0);
    assert_int_equal(med_state_cell_size(65537, 2), 0);
    assert_int_equal(med_state_cell_size(1, 1), 0);
    assert_int_equal(med_state_cell_size(1, 1025), 0);
    unsigned char *memory = make(10, 2, &cell);
    size_t size_bytes = med_state_cell_size(10, 2);
    assert_int_equal(med_state_cell_init(memory, size_bytes - 1, 10, 2, 0, &cell),
                     MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_state_cell_init(memory + 4, size_bytes, 10, 2, 0, &cell),
                     MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_state_cell_attach(NULL, size_bytes, 0, &cell), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_state_cell_open(&cell, 0), MEDLEY_ERR_ARGUMENT);
    assert_int_equal(med_state_cell_close(&cell, 0), MEDLEY_ERR_ARGUMENT);
    free(memory);
}

static void
every_size_comes_through(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 63, 64, 65, 4095, 65535, 65536};
    static unsigned char in[65536];
    static unsigned char out[65537];
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        for (uint32_t buffers = 2; buffers < 6; buffers++) {
            med_state_cell cell;
            med_state_cell_reader reader = {0};
            void *memory = make(sizes[s], buffers, &cell);
            for (uint32_t number = 1; number < 8; number++) {
                for (uint32_t i = 0; i < sizes[s]; i++) {
                    in[i] = (unsigned char)(i * 7 + number);
                }
                med_state_cell_write(&cell, in);
                out[sizes[s]] = 0xa5;
                assert_int_equal(med_state_cell_read(&cell, &reader, 0, out), MEDLEY_OK);
                assert_memory_equal(in, out, sizes[s]);
                assert_int_equal(out[sizes[s]], 0xa5);
                assert_int_equal(reader.number, number);
            }
            free(memory);
        }
    }
}

static void
nothing_is_there_before_the_first_commit(void **state)
{
    (void)state;
    med_state_cell cell;
    med_state_cell_draft draft;
    med_state_cell_reader reader = {0};
    uint32_t value = 5;
    void *memory = make(4, 2, &cell);
    assert_int_equal(med_state_cell_read(&cell, &reader, 3, &value), MEDLEY_EMPTY);
    med_state_cell_begin(&cell, &draft);
    assert_int_equal(med_state_cell_put(&cell, &draft, 0, &value, 4), MEDLEY_OK);
    assert_int_equal(med_state_cell_read(&cell, &reader, 3, &value), MEDLEY_EMPTY);
    med_state_cell_commit(&cell, &draft);
    assert_int_equal(med_state_cell_read(&cell, &reader, 0, &value), MEDLEY_OK);
    free(memory);
}

static void
pieces_make_a_value(void **state)
{
    (void)state;
    unsigned char in[23];
    unsigned char out[23];
    for (uint32_t i = 0; i < 23; i++) {
        in[i] = (unsigned char)(i + 1);
    }
    for (uint32_t piece = 1; piece <= 23; piece++) {
        med_state_cell cell;
        med_state_cell_draft draft;
        med_state_cell_reader reader = {0};
        void *memory = make(23, 2, &cell);
        med_state_cell_begin(&cell, &draft);
        for (uint32_t at = 0; at < 23; at += piece) {
            uint32_t count = 23 - at < piece ? 23 - at : piece;
            assert_int_equal(med_state_cell_put(&cell, &draft, at, in + at, count), MEDLEY_OK);
        }
        assert_int_equal(med_state_cell_put(&cell, &draft, 23, in, 0), MEDLEY_OK);
        assert_int_equal(med_state_cell_put(&cell, &draft, 23, in, 1), MEDLEY_ERR_ARGUMENT);
        assert_int_equal(med_state_cell_put(&cell, &draft, 1, in, 23), MEDLEY_ERR_ARGUMENT);
        assert_int_equal(med_state_cell_put(&cell, &draft, UINT32_MAX, in, 2), MEDLEY_ERR_ARGUMENT);
        assert_int_equal(med_state_cell_put(&cell, &draft, 2, in, UINT32_MAX), MEDLEY_ERR_ARGUMENT);
        med_state_cell_commit(&cell, &draft);
        assert_int_equal(med_state_cell_read(&cell, &reader, 0, out), MEDLEY_OK);
        assert_memory_equal(in, out, 23);
        free(memory);
    }
}

static void
numbers_start_again_at_one(void **state)
{
    (void)state;
    static const uint32_t all_buffers[] = {2, 3, 4, 5, 7, 1024};
    for (size_t b = 0; b < sizeof all_buffers / sizeof all_buffers[0]; b++) {
        med_state_cell cell;
        med_state_cell_reader reader = {0};
        void *memory = make(8, all_buffers[b], &cell);
        assert_true(cell.last > (UINT32_MAX >> 1) - 1024);
        jump_to(&cell, cell.last - 3);
        for (uint64_t i = 1; i < 3000; i++) {
            uint64_t value = 0;
            med_state_cell_write(&cell, &i);
            assert_int_equal(med_state_cell_read(&cell, &reader, 0, &value), MEDLEY_OK);
            assert_int_equal(value, i);
            assert_int_equal(reader.number, i <= 3 ? cell.last - 3 + i : i - 3);
        }
        free(memory);
    }
}

/* A reader that was stopped with value `read` in hand sees the counter as the writer has it now. */
static void
a_value_is_kept_for_as_long_as_promised(void **state)
{
    (void)state;
    med_state_cell cell;
    med_state_cell_draft draft;
    void *memory = make(4, 3, &cell);
    jump_to(&cell, cell.last - 1);
    atomic32 *kept = cell.words + (cell.last - 2) % 3 * cell.stride_words;
    atomic32_store_relaxed(kept, 4711);
    uint32_t other = 1;
    med_state_cell_write(&cell, &other);
    med_state_cell_write(&cell, &other);
    assert_int_equal(atomic32_load_relaxed(kept), 4711);
    med_state_cell_begin(&cell, &draft);
    assert_int_equal(atomic32_load_relaxed(kept), 4711);
    assert_ptr_equal(draft.words, kept);
    assert_int_equal(draft.number, 2);
    free(memory);
}

static void
a_dead_writers_seat_is_free_again(void **state)
{
    (void)state;
    med_state_cell cell;
    med_state_cell_draft draft;
    med_state_cell_reader reader = {0};
    uint64_t value = 11;
    void *memory = make(8, 2, &cell);
    assert_int_equal(med_state_cell_open(&cell, 1), MEDLEY_OK);
    assert_int_equal(med_state_cell_open(&cell, 2), MEDLEY_BUSY);
    assert_int_equal(med_state_cell_close(&cell, 2), MEDLEY_ERR_NOT_OWNER);
    med_state_cell_write(&cell, &value);
    med_state_cell_begin(&cell, &draft);
    assert_int_equal(med_state_cell_put(&cell, &draft, 3, "half", 4), MEDLEY_OK);
    assert_false(med_state_cell_recover(&cell, 2));
    assert_false(med_state_cell_recover(&cell, 0));
    assert_true(med_state_cell_recover(&cell, 1));
    assert_false(med_state_cell_recover(&cell, 1));
    value = 0;
    assert_int_equal(med_state_cell_read(&cell, &reader, 0, &value), MEDLEY_OK);
    assert_int_equal(value, 11);
    assert_int_equal(med_state_cell_open(&cell, 2), MEDLEY_OK);
    value = 12;
    med_state_cell_write(&cell, &value);
    value = 0;
    assert_int_equal(med_state_cell_read(&cell, &reader, 0, &value), MEDLEY_OK);
    assert_int_equal(value, 12);
    assert_int_equal(reader.number, 2);
    assert_int_equal(med_state_cell_close(&cell, 2), MEDLEY_OK);
    free(memory);
}

static medley_status_t
peer_is_dead(void *context)
{
    ++*(int *)context;
    return MEDLEY_ERR_PEER_DIED;
}

static void
a_wait_ends_as_it_should(void **state)
{
    (void)state;
    med_state_cell cell;
    med_state_cell_reader reader = {0};
    uint32_t value = 1;
    int slices = 0;
    void *memory = make(4, 2, &cell);
    assert_int_equal(med_state_cell_wait_until(&cell, &reader, 0, NULL, NULL), MEDLEY_TIMEOUT);
    med_state_cell_write(&cell, &value);
    assert_int_equal(med_state_cell_wait_until(&cell, &reader, 0, NULL, NULL), MEDLEY_OK);
    assert_int_equal(med_state_cell_read(&cell, &reader, 0, &value), MEDLEY_OK);
    assert_int_equal(med_state_cell_wait_until(&cell, &reader, 0, NULL, NULL), MEDLEY_TIMEOUT);
    assert_int_equal(
        med_state_cell_wait_until(&cell, &reader, MED_PORT_FOREVER, peer_is_dead, &slices),
        MEDLEY_ERR_PEER_DIED);
    assert_int_equal(slices, 1);
    free(memory);
}

/* ---- Collisions, exactly --------------------------------------------------------------------- */

/* The reader's copy runs into a page that it may not write; the signal handler plays the writer. */
enum {
    PAGE_BYTES = 4096,
    INTERRUPTED_BYTES = 64
};

static struct interruption {
    med_state_cell cell;
    unsigned char *page;
    uint32_t commits;
    bool begins; /* one more, without a commit */
} interruption;

static void
interrupt(int signal_number)
{
    (void)signal_number;
    unsigned char value[INTERRUPTED_BYTES];
    for (uint32_t i = 0; i < interruption.commits; i++) {
        memset(value, (int)(i + 2), sizeof value);
        med_state_cell_write(&interruption.cell, value);
    }
    if (interruption.begins) {
        med_state_cell_draft draft;
        med_state_cell_begin(&interruption.cell, &draft);
        (void)med_state_cell_put(&interruption.cell, &draft, 0, "?", 1);
    }
    (void)mprotect(interruption.page, PAGE_BYTES, PROT_READ | PROT_WRITE);
}

/* Reads value 1 while `commits` more are written; what the read gave in `first`. */
static medley_status_t
read_interrupted(
    uint32_t commits, bool begins, uint32_t retries_max, med_state_cell_reader *reader, int *first)
{
    unsigned char value[INTERRUPTED_BYTES];
    unsigned char *target = interruption.page - INTERRUPTED_BYTES / 2;
    void *memory = make(INTERRUPTED_BYTES, 3, &interruption.cell);
    jump_to(&interruption.cell, interruption.cell.last - 2);
    memset(value, 1, sizeof value);
    med_state_cell_write(&interruption.cell, value);
    interruption.commits = commits;
    interruption.begins = begins;
    assert_int_equal(mprotect(interruption.page, PAGE_BYTES, PROT_NONE), 0);
    *reader = (med_state_cell_reader){0};
    medley_status_t status = med_state_cell_read(&interruption.cell, reader, retries_max, target);
    *first = target[0];
    if (status == MEDLEY_OK) {
        for (uint32_t i = 0; i < INTERRUPTED_BYTES; i++) {
            assert_int_equal(target[i], *first);
        }
    }
    free(memory);
    return status;
}

static void
a_copy_is_good_until_its_buffer_comes_round(void **state)
{
    (void)state;
    int first = 0;
    med_state_cell_reader reader;
    struct sigaction before[2];
    struct sigaction action = {.sa_handler = interrupt};
    interruption.page = (unsigned char *)process_shared_memory(2 * PAGE_BYTES) + PAGE_BYTES;
    assert_int_equal(sigaction(SIGSEGV, &action, &before[0]), 0);
    assert_int_equal(sigaction(SIGBUS, &action, &before[1]), 0);
    for (uint32_t commits = 0; commits < 3; commits++) {
        assert_int_equal(read_interrupted(commits, false, 0, &reader, &first), MEDLEY_OK);
        assert_int_equal(first, 1);
    }
    assert_int_equal(read_interrupted(1, true, 0, &reader, &first), MEDLEY_OK);
    assert_int_equal(first, 1);
    for (uint32_t commits = 2; commits < 8; commits++) {
        assert_int_equal(read_interrupted(commits, true, 0, &reader, &first),
                         MEDLEY_EMPTY_PRODUCER_INSERTING);
        assert_int_equal(reader.collisions, 1);
        assert_int_equal(reader.retries_worst, 0);
        assert_int_equal(read_interrupted(commits, true, 1, &reader, &first), MEDLEY_OK);
        assert_int_equal(first, commits + 1);
        assert_int_equal(reader.retries_worst, 1);
        assert_int_equal(reader.collisions, 0);
    }
    assert_int_equal(read_interrupted(3, false, 0, &reader, &first),
                     MEDLEY_EMPTY_PRODUCER_INSERTING);
    assert_int_equal(sigaction(SIGSEGV, &before[0], NULL), 0);
    assert_int_equal(sigaction(SIGBUS, &before[1], NULL), 0);
}

/* ---- One writer, many readers ---------------------------------------------------------------- */

/* Every word of a value is the value's own number, counted from the start of the test. */
enum {
    READERS = 5,
    WORDS_MAX = 16384
};

typedef struct stress {
    med_state_cell cell;
    uint32_t words;
    uint32_t reads; /* of each reader */
    uint32_t retries_max;
    bool waits;
    atomic32 done; /* readers */
} stress;

typedef struct stress_reader {
    stress *stress;
    med_state_cell_reader reader;
    uint32_t torn;
    uint32_t backwards;
    uint32_t given_up;
    uint32_t value[WORDS_MAX];
} stress_reader;

static void
look_at(stress_reader *r, uint32_t *newest)
{
    for (uint32_t i = 1; i < r->stress->words; i++) {
        r->torn += r->value[i] != r->value[0];
    }
    r->backwards += r->value[0] < *newest;
    *newest = r->value[0];
}

static void *
stress_read(void *argument)
{
    stress_reader *r = argument;
    stress *s = r->stress;
    uint32_t newest = 0;
    for (uint32_t read = 0; read < s->reads; read++) {
        if (s->waits && med_state_cell_wait_until(&s->cell, &r->reader, MED_PORT_FOREVER, NULL,
                                                  NULL) != MEDLEY_OK) {
            r->torn++;
        }
        medley_status_t status =
            med_state_cell_read(&s->cell, &r->reader, s->retries_max, r->value);
        if (status == MEDLEY_OK) {
            look_at(r, &newest);
        } else {
            r->given_up += status == MEDLEY_EMPTY_PRODUCER_INSERTING;
        }
    }
    (void)atomic32_fetch_add_relaxed(&s->done, 1);
    return NULL;
}

/* Goes on until every reader has had enough. */
static void
stress_write(stress *s)
{
    static uint32_t value[WORDS_MAX];
    for (uint32_t number = 1; atomic32_load_relaxed(&s->done) < READERS; number++) {
        for (uint32_t i = 0; i < s->words; i++) {
            value[i] = number;
        }
        med_state_cell_write(&s->cell, value);
        if (s->waits) {
            med_port_yield();
        }
    }
}

static void
run_stress(stress *s, uint32_t buffers)
{
    static stress_reader readers[READERS];
    med_port_thread threads[READERS];
    void *memory = make(s->words * 4, buffers, &s->cell);
    /* Soon the numbers start again; the buffers hold what the jumped-over left: 0. */
    jump_to(&s->cell, s->cell.last - 100);
    for (int i = 0; i < READERS; i++) {
        memset(&readers[i], 0, sizeof readers[i]);
        readers[i].stress = s;
        assert_int_equal(med_port_thread_start(&threads[i], NULL, stress_read, &readers[i]),
                         MEDLEY_OK);
    }
    stress_write(s);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(med_port_thread_join(threads[i], NULL), MEDLEY_OK);
        assert_int_equal(readers[i].torn, 0);
        assert_int_equal(readers[i].backwards, 0);
        assert_int_equal(readers[i].given_up, readers[i].reader.collisions);
        assert_true(readers[i].reader.retries_worst <= s->retries_max);
    }
    free(memory);
}

static void
readers_see_whole_values_only(void **state)
{
    (void)state;
    static stress s;
    s = (stress){.words = 16, .reads = 100000, .retries_max = 1};
    run_stress(&s, 2);
    s = (stress){.words = 512, .reads = 4000, .retries_max = 3};
    run_stress(&s, 3);
    s = (stress){.words = WORDS_MAX, .reads = 200, .retries_max = 0};
    run_stress(&s, 2);
}

static void
readers_that_sleep_are_woken(void **state)
{
    (void)state;
    static stress s;
    s = (stress){.words = 4, .reads = 1000, .retries_max = 8, .waits = true};
    run_stress(&s, 4);
}

/* ---- Death of the writer --------------------------------------------------------------------- */
enum {
    KILLS = 40,
    DEATH_WORDS = 200
};

/* Writes until it is killed, or its test has failed; every word is the value's number. */
static int
writer_run(test_process *parent, void *argument)
{
    const med_state_cell *cell = argument;
    uint32_t value[DEATH_WORDS];
    child_expect(med_state_cell_open(cell, 7) == MEDLEY_OK);
    for (uint32_t round = 1; round % 256 != 0 || getppid() == parent->pid; round++) {
        med_state_cell_draft draft;
        med_state_cell_begin(cell, &draft);
        for (uint32_t i = 0; i < DEATH_WORDS; i++) {
            value[i] = draft.number;
        }
        child_expect(med_state_cell_put(cell, &draft, 0, value, sizeof value) == MEDLEY_OK);
        med_state_cell_commit(cell, &draft);
    }
    return 0;
}

static void
read_whole(const med_state_cell *cell, med_state_cell_reader *reader)
{
    uint32_t value[DEATH_WORDS];
    uint32_t before = reader->number;
    if (med_state_cell_read(cell, reader, 4, value) != MEDLEY_OK) {
        med_port_yield();
        return;
    }
    assert_true(reader->number >= before);
    for (uint32_t i = 0; i < DEATH_WORDS; i++) {
        assert_int_equal(value[i], reader->number);
    }
}

static void
readers_survive_the_writer(void **state)
{
    (void)state;
    med_state_cell cell;
    med_state_cell_reader reader = {0};
    size_t size_bytes = med_state_cell_size(DEATH_WORDS * 4, 2);
    void *memory = process_shared_memory(size_bytes);
    assert_int_equal(
        med_state_cell_init(memory, size_bytes, DEATH_WORDS * 4, 2, MED_PORT_SCOPE_SHARED, &cell),
        MEDLEY_OK);
    for (uint32_t i = 0; i < KILLS; i++) {
        test_process writer;
        uint32_t first = reader.number;
        process_start(&writer, writer_run, &cell);
        while (reader.number - first < 100 + i) {
            read_whole(&cell, &reader);
        }
        process_kill(&writer);
        assert_int_equal(process_join(&writer), -SIGKILL);
        first = reader.number;
        for (int again = 0; again < 3; again++) {
            read_whole(&cell, &reader);
        }
        assert_true(reader.number != 0);
        assert_true(med_state_cell_recover(&cell, 7));
    }
}

/* ---- Memory that lies ------------------------------------------------------------------------ */
static void
check_lie(void *memory, atomic32 *word, uint32_t lie, medley_status_t wanted)
{
    med_state_cell cell;
    uint32_t truth = atomic32_load_relaxed(word);
    atomic32_store_relaxed(word, lie);
    assert_int_equal(
        med_state_cell_attach(memory, med_state_cell_size(100, 4), MED_PORT_SCOPE_PROCESS, &cell),
        wanted);
    atomic32_store_relaxed(word, truth);
}

static void
attach_checks_what_it_finds(void **state)
{
    (void)state;
    med_state_cell cell;
    med_state_cell other;
    void *memory = make(100, 4, &cell);
    size_t size_bytes = med_state_cell_size(100, 4);
    memset(&other, 0, sizeof other);
    assert_int_equal(med_state_cell_attach(memory, size_bytes, MED_PORT_SCOPE_PROCESS, &other),
                     MEDLEY_OK);
    assert_int_equal(other.last, cell.last);
    assert_int_equal(other.stride_words, cell.stride_words);
    assert_int_equal(med_state_cell_attach(memory, size_bytes - 1, 0, &other), MEDLEY_ERR_CORRUPT);
    assert_int_equal(med_state_cell_attach(memory, 127, 0, &other), MEDLEY_ERR_CORRUPT);
    med_state_cell_shared *shared = cell.shared;
    uint32_t kind = atomic32_load_relaxed(&shared->stamp.kind);
    check_lie(memory, &shared->stamp.kind, __builtin_bswap32(kind), MEDLEY_ERR_BYTE_ORDER);
    check_lie(memory, &shared->stamp.kind, kind ^ 1, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &shared->stamp.version, 2, MEDLEY_ERR_VERSION);
    check_lie(memory, &shared->value_bytes, 0, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &shared->value_bytes, 129, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &shared->value_bytes, UINT32_MAX, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &shared->buffers, 0, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &shared->buffers, 5, MEDLEY_ERR_CORRUPT);
    check_lie(memory, &shared->buffers, UINT32_MAX, MEDLEY_ERR_CORRUPT);
    free(memory);
}

static void
scribbled_contents_bound_every_call(void **state)
{
    (void)state;
    med_state_cell cell;
    unsigned char value[100] = {0};
    unsigned char *memory = make(100, 3, &cell);
    uint32_t random = 1;
    for (int round = 0; round < 500; round++) {
        for (size_t i = 64; i < med_state_cell_size(100, 3); i++) {
            random = random * 1664525u + 1013904223u;
            memory[i] = (unsigned char)(round % 5 ? random >> 24 : UINT8_MAX);
        }
        med_state_cell_reader reader = {0};
        (void)med_state_cell_read(&cell, &reader, 2, value);
        med_state_cell_write(&cell, value);
        assert_int_equal(med_state_cell_read(&cell, &reader, 2, value), MEDLEY_OK);
        (void)med_state_cell_open(&cell, 3);
        (void)med_state_cell_close(&cell, 3);
        (void)med_state_cell_recover(&cell, 3);
    }
    free(memory);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(every_size_comes_through),
        cmocka_unit_test(nothing_is_there_before_the_first_commit),
        cmocka_unit_test(pieces_make_a_value),
        cmocka_unit_test(numbers_start_again_at_one),
        cmocka_unit_test(a_value_is_kept_for_as_long_as_promised),
        cmocka_unit_test(a_dead_writers_seat_is_free_again),
        cmocka_unit_test(a_wait_ends_as_it_should),
        cmocka_unit_test(a_copy_is_good_until_its_buffer_comes_round),
        cmocka_unit_test(readers_survive_the_writer),
        cmocka_unit_test(attach_checks_what_it_finds),
        cmocka_unit_test(scribbled_contents_bound_every_call),
        cmocka_unit_test(readers_see_whole_values_only),
        cmocka_unit_test(readers_that_sleep_are_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
