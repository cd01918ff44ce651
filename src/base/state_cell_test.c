/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The state cell: sizes, pieces, wrap-around, collisions to the instruction, memory that lies. */
#include <string.h>

#include "base/state_cell_test.h"
#include "support/process.h"
#include "support/random.h"

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

/* Long ones that begin on a line, on a word, and in a word. */
static void
long_pieces_make_a_value(void **state)
{
    (void)state;
    static const uint32_t firsts[] = {0, 64, 8, 3, 504, 1};
    static unsigned char in[6000];
    static unsigned char out[sizeof in];
    for (uint32_t i = 0; i < sizeof in; i++) {
        in[i] = (unsigned char)(i * 7 + i / 256);
    }
    for (size_t f = 0; f < sizeof firsts / sizeof firsts[0]; f++) {
        for (uint32_t piece = 255; piece <= 5001; piece += 257 + piece / 2) {
            med_state_cell cell;
            med_state_cell_draft draft;
            med_state_cell_reader reader = {0};
            void *memory = make(sizeof in, 2, &cell);
            med_state_cell_begin(&cell, &draft);
            assert_int_equal(med_state_cell_put(&cell, &draft, 0, in, firsts[f]), MEDLEY_OK);
            for (uint32_t at = firsts[f]; at < sizeof in; at += piece) {
                uint32_t count = sizeof in - at < piece ? (uint32_t)sizeof in - at : piece;
                assert_int_equal(med_state_cell_put(&cell, &draft, at, in + at, count), MEDLEY_OK);
            }
            med_state_cell_commit(&cell, &draft);
            assert_int_equal(med_state_cell_read(&cell, &reader, 0, out), MEDLEY_OK);
            assert_memory_equal(in, out, sizeof in);
            free(memory);
        }
    }
}

/* Others' words are what they were: whoever writes a long piece stays inside it. */
static void
a_long_piece_leaves_what_is_around_it(void **state)
{
    (void)state;
    static unsigned char in[2048];
    static unsigned char out[2048];
    static unsigned char wanted[sizeof in];
    med_state_cell cell;
    med_state_cell_draft draft;
    med_state_cell_reader reader = {0};
    void *memory = make(sizeof in, 2, &cell);
    memset(in, 0x5a, sizeof in);
    for (uint32_t count = 505; count < 1100; count++) {
        uint32_t first = count % 3 * 64 + count % 5 * 3;
        memset(wanted, 0, sizeof wanted);
        memset(wanted + first, 0x5a, count);
        med_state_cell_begin(&cell, &draft);
        memset(out, 0, sizeof out);
        assert_int_equal(med_state_cell_put(&cell, &draft, 0, out, sizeof out), MEDLEY_OK);
        assert_int_equal(med_state_cell_put(&cell, &draft, first, in, count), MEDLEY_OK);
        med_state_cell_commit(&cell, &draft);
        assert_int_equal(med_state_cell_read(&cell, &reader, 0, out), MEDLEY_OK);
        assert_memory_equal(wanted, out, sizeof out);
    }
    free(memory);
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
        assert_true(cell.last > UINT32_MAX - 1024);
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
    atomic64 *kept =
        med_state_cell_words_of(&cell, med_state_cell_head_after(&cell, cell.last - 2));
    atomic64_store_relaxed(kept, 4711);
    uint32_t other = 1;
    med_state_cell_write(&cell, &other);
    med_state_cell_write(&cell, &other);
    assert_int_equal(atomic64_load_relaxed(kept), 4711);
    med_state_cell_begin(&cell, &draft);
    assert_int_equal(atomic64_load_relaxed(kept), 4711);
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

static void
who_attaches_sees_the_same(void **state)
{
    (void)state;
    med_state_cell cell;
    med_state_cell other;
    void *memory = make(100, 4, &cell);
    assert_int_equal(
        med_state_cell_attach(memory, med_state_cell_size(100, 4), MED_PORT_SCOPE_PROCESS, &other),
        MEDLEY_OK);
    assert_ptr_equal(other.first, cell.first);
    assert_int_equal(other.last, cell.last);
    assert_int_equal(other.stride_bytes, cell.stride_bytes);
    assert_int_equal(other.value_at, cell.value_at);
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
    assert_int_equal(sigaction(SIGSEGV, &before[0], NULL), 0);
    assert_int_equal(sigaction(SIGBUS, &before[1], NULL), 0);
}

/* ---- Memory that lies ------------------------------------------------------------------------ */
static void
records_are_as_long_as_they_are(void **state)
{
    (void)state;
    static const unsigned char in[24] = "a record, and its bytes";
    unsigned char out[24];
    uint32_t count = 0;
    med_state_cell cell;
    med_state_cell_reader reader = {0};
    void *memory = make(sizeof in, 3, &cell);
    assert_int_equal(med_state_cell_newest(&cell), 0);
    assert_int_equal(med_state_cell_read_record(&cell, &reader, 0, out, 24, &count), MEDLEY_EMPTY);
    assert_int_equal(med_state_cell_write_record(&cell, in, 25), MEDLEY_ERR_ARGUMENT);
    for (uint32_t length = 0; length <= 24; length++) {
        memset(out, 0xa5, sizeof out);
        assert_int_equal(med_state_cell_write_record(&cell, in, length), MEDLEY_OK);
        assert_int_equal(med_state_cell_read_record(&cell, &reader, 0, out, 13, &count), MEDLEY_OK);
        assert_int_equal(count, length);
        assert_int_equal(med_state_cell_newest(&cell), reader.number);
        uint32_t copied = length < 13 ? length : 13;
        assert_memory_equal(out, in, copied);
        assert_int_equal(out[copied], 0xa5);
    }
    uint32_t number = reader.number;
    atomic32_store_relaxed(&med_state_cell_head_after(&cell, number - 1)->length, 25);
    assert_int_equal(med_state_cell_read_record(&cell, &reader, 0, out, 24, &count),
                     MEDLEY_ERR_CORRUPT);
    free(memory);
}

static void
what_is_written_at_once_is_a_record(void **state)
{
    (void)state;
    uint64_t in[7];
    uint64_t out[8];
    uint32_t count = 0;
    med_state_cell cell;
    med_state_cell_reader reader = {0};
    assert_int_equal(sizeof in, MED_STATE_CELL_AT_ONCE_MAX);
    for (uint32_t value_bytes = sizeof in; value_bytes < 200; value_bytes += 100) {
        void *memory = make(value_bytes, 3, &cell);
        jump_to(&cell, cell.last - 3);
        for (uint32_t words = 0; words <= 7; words++) {
            memset(in, (int)words + 1, sizeof in);
            memset(out, 0xa5, sizeof out);
            uint32_t number = med_state_cell_write_at_once(&cell, in, words * 8);
            assert_int_equal(number, words < 3 ? cell.last - 2 + words : words - 2);
            assert_int_equal(med_state_cell_read_record(&cell, &reader, 0, out, sizeof out, &count),
                             MEDLEY_OK);
            assert_int_equal(reader.number, number);
            assert_int_equal(count, words * 8);
            assert_memory_equal(out, in, count);
            assert_int_equal(((unsigned char *)out)[count], 0xa5);
        }
        free(memory);
    }
}

static void
the_longest_value_is_what_there_is_room_for(void **state)
{
    (void)state;
    static const size_t too_small[] = {0, 64, 128, 128 + 2 * 64 - 1};
    for (size_t i = 0; i < sizeof too_small / sizeof too_small[0]; i++) {
        assert_int_equal(med_state_cell_value_max(too_small[i], 2), 0);
    }
    for (size_t size_bytes = 128 + 3 * 64; size_bytes < 3000; size_bytes++) {
        uint32_t most = med_state_cell_value_max(size_bytes, 3);
        assert_true(med_state_cell_size(most, 3) <= size_bytes);
        assert_true(med_state_cell_size(most + 1, 3) > size_bytes);
    }
    assert_int_equal(med_state_cell_value_max(1u << 30, 2), MED_STATE_CELL_VALUE_BYTES_MAX);
}

static void
scribbled_contents_bound_every_call(void **state)
{
    (void)state;
    med_state_cell cell;
    unsigned char value[100] = {0};
    unsigned char *memory = make(100, 3, &cell);
    test_random random = {1};
    for (int round = 0; round < 500; round++) {
        for (size_t i = 64; i < med_state_cell_size(100, 3); i++) {
            memory[i] = (unsigned char)(round % 5 ? random_word(&random) : UINT8_MAX);
        }
        med_state_cell_reader reader = {0};
        uint32_t count;
        (void)med_state_cell_read(&cell, &reader, 2, value);
        (void)med_state_cell_read_record(&cell, &reader, 2, value, sizeof value, &count);
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
        cmocka_unit_test(long_pieces_make_a_value),
        cmocka_unit_test(a_long_piece_leaves_what_is_around_it),
        cmocka_unit_test(numbers_start_again_at_one),
        cmocka_unit_test(a_value_is_kept_for_as_long_as_promised),
        cmocka_unit_test(a_dead_writers_seat_is_free_again),
        cmocka_unit_test(a_wait_ends_as_it_should),
        cmocka_unit_test(who_attaches_sees_the_same),
        cmocka_unit_test(a_copy_is_good_until_its_buffer_comes_round),
        cmocka_unit_test(records_are_as_long_as_they_are),
        cmocka_unit_test(what_is_written_at_once_is_a_record),
        cmocka_unit_test(the_longest_value_is_what_there_is_room_for),
        cmocka_unit_test(scribbled_contents_bound_every_call),
    };
    return cmocka_run_group_tests_name("state_cell", tests, NULL, NULL);
}
