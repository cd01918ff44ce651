/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The bit set. What may run together: everything, by anybody, but for one slot: begin and end are
 * its owner's, and nobody gives a slot back while it is handed over.
 *
 * The truth about an entry is its owner word; the bits only tell where to look. They err to one
 * side:
 *   - A bit is cleared after its entry was taken, by who took it, and set after it was put back, by
 *     who put it back. An entry's taking comes before its putting back, and that before the next
 *     taking (R1 -> A1), so the last to touch the bit of a free entry is one that sets it: whoever
 *     put it back last, or somebody later. Between putting back and setting, the entry is free and
 *     not found; it is found soon, or, should its owner die there, after his recovery.
 *   - A bit may be set while the entry is taken: its owner died before he cleared it, or a recovery
 *     set it late. Whoever looks there reads the owner word and goes on.
 * So no entry is lost, and none is had by two.
 *
 * The hint (first_free_word) lies at or below the lowest set bit, unless an entry was put back
 * behind the back of a search that then moved it up. A search that finds nothing above goes round
 * once: the lowest is then not the lowest, but nothing is missed.
 *
 * The generation is even in a use. A recovered entry keeps the even one of its dead owner's use;
 * claim ends that use, so old slots stay old. high_water is the highest index that was taken, plus
 * one: when the lowest is taken, all below it are had, so that many are had at once.
 *
 * Linearisation: take and claim, the compare-and-swap of the owner word from 0; give, that of the
 * generation; hand over and recover, that of the owner word. Progress: wait-free; each call looks
 * at each entry at most once (raising high_water and lowering the hint are lock-free). Death: at
 * any instruction; what the dead one had, has his number and is found by recover, also when he died
 * in a recovery. Model: models/bit_set.pml. Tests: random kills in bit_set_crowd_test.c.
 */
#include "base/bit_set.h"

#define KIND MED_STAMP_KIND('B', 'S', 'E', 'T')
#define VERSION 1u
#define BITS 32u

static uint64_t
free_bits_bytes(uint32_t capacity)
{
    return med_stamp_round_up((capacity + BITS - 1) / BITS * sizeof(atomic32));
}

size_t
med_bit_set_size(uint32_t capacity)
{
    if (capacity == 0 || capacity > MED_BIT_SET_CAPACITY_MAX) {
        return 0;
    }
    return (size_t)(sizeof(med_bit_set_shared) + free_bits_bytes(capacity) +
                    med_stamp_round_up((uint64_t)capacity * sizeof(med_bit_set_entry)));
}

static void
view(void *memory, uint32_t capacity, med_bit_set *set)
{
    unsigned char *bytes = memory;
    set->shared = memory;
    set->free_bits = (atomic32 *)(void *)(bytes + sizeof(med_bit_set_shared));
    set->entries = (med_bit_set_entry *)(void *)(bytes + sizeof(med_bit_set_shared) +
                                                 free_bits_bytes(capacity));
    set->capacity = capacity;
    set->words = (capacity + BITS - 1) / BITS;
}

/* The bits of a word that stand for entries: all but in the last word. */
static uint32_t
bits_of(const med_bit_set *set, uint32_t word)
{
    uint32_t rest = set->capacity - word * BITS;
    return rest >= BITS ? UINT32_MAX : (1u << rest) - 1u;
}

medley_status_t
med_bit_set_init(void *memory, size_t size_bytes, uint32_t capacity, med_bit_set *set)
{
    size_t needed_bytes = med_bit_set_size(capacity);
    if (needed_bytes == 0 || !set || !med_stamp_fits(memory, size_bytes, needed_bytes)) {
        return MEDLEY_ERR_ARGUMENT;
    }
    view(memory, capacity, set);
    /* Relaxed, all: the creator publishes the memory afterwards. */
    atomic32_store_relaxed(&set->shared->capacity, capacity);
    atomic32_store_relaxed(&set->shared->first_free_word, 0);
    atomic32_store_relaxed(&set->shared->high_water, 0);
    for (uint32_t word = 0; word < set->words; word++) {
        atomic32_store_relaxed(&set->free_bits[word], bits_of(set, word));
    }
    for (uint32_t index = 0; index < capacity; index++) {
        atomic32_store_relaxed(&set->entries[index].owner, MED_BIT_SET_NOBODY);
        atomic32_store_relaxed(&set->entries[index].generation, 1);
    }
    med_stamp_write(&set->shared->stamp, KIND, VERSION);
    return MEDLEY_OK;
}

medley_status_t
med_bit_set_attach(void *memory, size_t size_bytes, med_bit_set *set)
{
    if (!set) {
        return MEDLEY_ERR_ARGUMENT;
    }
    const med_bit_set_shared *shared = memory;
    medley_status_t status = med_stamp_attach(memory, size_bytes, sizeof *shared, KIND, VERSION);
    if (status != MEDLEY_OK) {
        return status;
    }
    /* Relaxed: constant since before the memory was published; read once. */
    uint32_t capacity = atomic32_load_relaxed(&shared->capacity);
    size_t needed_bytes = med_bit_set_size(capacity);
    if (needed_bytes == 0 || needed_bytes > size_bytes) {
        return MEDLEY_ERR_CORRUPT;
    }
    view(memory, capacity, set);
    return MEDLEY_OK;
}

/* ---- Claim ----------------------------------------------------------------------------------- */

/* A recovered entry comes with its dead owner's use still open: ends it. The new owner only. */
static void
end_dead_use(med_bit_set_entry *entry)
{
    /* Relaxed, both: see begin. A1 showed us the last owner's changes. */
    uint32_t generation = atomic32_load_relaxed(&entry->generation);
    if ((generation & 1u) == 0) {
        atomic32_store_relaxed(&entry->generation, generation | 1u);
    }
}

static bool
claim_one(med_bit_set_entry *entry, uint32_t owner)
{
    /* Relaxed: a look that spares a lost compare-and-swap. */
    uint32_t seen = atomic32_load_relaxed(&entry->owner);
    /* A1 entry left, and, where recover is between, use over <- R1 (put back), R2 (bit_set.h) */
    if (seen != MED_BIT_SET_NOBODY || !atomic32_cas_acquire(&entry->owner, &seen, owner)) {
        return false;
    }
    end_dead_use(entry);
    return true;
}

/* Claims up to `count` entries of one word of bits. */
static uint32_t
claim_in_word(
    const med_bit_set *set, uint32_t word, uint32_t owner, uint16_t *indices, uint32_t count)
{
    /* Relaxed: a bit is a hint. */
    uint32_t left = atomic32_load_relaxed(&set->free_bits[word]) & bits_of(set, word);
    uint32_t taken = 0;
    uint32_t got = 0;
    for (; left != 0 && got < count; left &= left - 1) {
        uint32_t index = word * BITS + (uint32_t)__builtin_ctz(left);
        if (claim_one(&set->entries[index], owner)) {
            taken |= left & (~left + 1u);
            indices[got++] = (uint16_t)index;
        }
    }
    if (taken != 0) {
        /* Relaxed: after the taking (A1) and before the putting back (R1) by coherence. */
        (void)atomic32_fetch_and_relaxed(&set->free_bits[word], ~taken);
    }
    return got;
}

static void
raise_high_water(const med_bit_set *set, uint32_t value)
{
    /* Relaxed, both: statistics. */
    uint32_t seen = atomic32_load_relaxed(&set->shared->high_water);
    while (seen < value && !atomic32_cas_relaxed(&set->shared->high_water, &seen, value)) {
    }
}

uint32_t
med_bit_set_claim(
    const med_bit_set *set, uint32_t owner, uint32_t start, uint16_t *indices, uint32_t count)
{
    if (owner == MED_BIT_SET_NOBODY) {
        return 0;
    }
    /* Relaxed: a hint, and it may be anything. */
    uint32_t hint = atomic32_load_relaxed(&set->shared->first_free_word);
    bool lowest = start == MED_BIT_SET_LOWEST;
    uint32_t word = lowest ? hint % set->words : start % set->capacity / BITS;
    uint32_t last = hint;
    uint32_t got = 0;
    for (uint32_t looked = 0; looked < set->words && got < count; looked++) {
        uint32_t more = claim_in_word(set, word, owner, indices + got, count - got);
        if (more != 0) {
            last = word;
            got += more;
            raise_high_water(set, indices[got - 1] + 1u);
        }
        word = word + 1 == set->words ? 0 : word + 1;
    }
    if (lowest && last != hint) {
        /* Relaxed: a hint; when it has moved meanwhile, it knows better. */
        (void)atomic32_cas_relaxed(&set->shared->first_free_word, &hint, last);
    }
    return got;
}

uint32_t
med_bit_set_free(const med_bit_set *set, uint32_t enough)
{
    uint32_t count = 0;
    for (uint32_t word = 0; word < set->words && count < enough; word++) {
        uint32_t bits = atomic32_load_relaxed(&set->free_bits[word]); /* relaxed: a hint */
        count += (uint32_t)__builtin_popcount(bits & bits_of(set, word));
    }
    return count < enough ? count : enough;
}

/* ---- Putting back ---------------------------------------------------------------------------- */

static void
show_free(const med_bit_set *set, uint32_t word, uint32_t bits)
{
    /* Relaxed, all: hints; R1 carries what matters. */
    (void)atomic32_fetch_or_relaxed(&set->free_bits[word], bits);
    uint32_t hint = atomic32_load_relaxed(&set->shared->first_free_word);
    while (word < hint && !atomic32_cas_relaxed(&set->shared->first_free_word, &hint, word)) {
    }
}

void
med_bit_set_unclaim(const med_bit_set *set, uint32_t owner, const uint16_t *indices, uint32_t count)
{
    uint32_t word = 0;
    uint32_t bits = 0; /* put back in this word, not shown yet */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = indices[i];
        if (bits != 0 && index / BITS != word) {
            show_free(set, word, bits);
            bits = 0;
        }
        uint32_t expected = owner;
        word = index / BITS;
        if (index < set->capacity && owner != MED_BIT_SET_NOBODY &&
            atomic32_cas_release(&set->entries[index].owner, &expected,
                                 MED_BIT_SET_NOBODY)) { /* R1 entry left -> A1 (claim) */
            bits |= 1u << index % BITS;
        }
    }
    if (bits != 0) {
        show_free(set, word, bits);
    }
}

uint32_t
med_bit_set_recover(const med_bit_set *set, uint32_t dead_owner)
{
    uint32_t recovered = 0;
    if (dead_owner == MED_BIT_SET_NOBODY) {
        return 0;
    }
    for (uint32_t index = 0; index < set->capacity; index++) {
        /* Relaxed: checked by the compare-and-swap. */
        uint32_t owner = atomic32_load_relaxed(&set->entries[index].owner);
        /* R1 entry left -> A1 (claim): what the dead one wrote was made visible by his death (the
         * query that found him dead), and goes on to the next owner. So does
         * what who handed it over to him wrote, and lives: this change continues R2 (bit_set.h). */
        if (owner == dead_owner &&
            atomic32_cas_release(&set->entries[index].owner, &owner, MED_BIT_SET_NOBODY)) {
            recovered++;
            owner = MED_BIT_SET_NOBODY;
        }
        /* Also what he, or his recoverer, put back and did not live to show. */
        uint32_t bit = 1u << index % BITS;
        if (owner == MED_BIT_SET_NOBODY &&
            !(atomic32_load_relaxed(&set->free_bits[index / BITS]) & bit)) { /* relaxed: a hint */
            show_free(set, index / BITS, bit);
        }
    }
    return recovered;
}

/* ---- Slots ----------------------------------------------------------------------------------- */

medley_status_t
med_bit_set_take(const med_bit_set *set, uint32_t owner, uint32_t start, med_bit_set_slot *slot)
{
    uint16_t index = 0;
    if (owner == MED_BIT_SET_NOBODY) {
        return MEDLEY_ERR_ARGUMENT;
    }
    if (med_bit_set_claim(set, owner, start, &index, 1) == 0) {
        return MEDLEY_FULL;
    }
    slot->index = index;
    slot->generation = med_bit_set_begin(set, index);
    return MEDLEY_OK;
}

medley_status_t
med_bit_set_check(const med_bit_set *set, med_bit_set_slot slot, uint32_t owner)
{
    if (slot.index >= set->capacity || slot.generation == 0 || (slot.generation & 1u) ||
        owner == MED_BIT_SET_NOBODY) {
        return MEDLEY_ERR_ARGUMENT;
    }
    const med_bit_set_entry *entry = &set->entries[slot.index];
    /* Relaxed, both: if the slot is the caller's, nobody changes them; if not, either answer was
     * true a moment ago. */
    if (atomic32_load_relaxed(&entry->generation) != slot.generation) {
        return MEDLEY_ERR_STALE;
    }
    uint32_t seen = atomic32_load_relaxed(&entry->owner);
    if (seen != owner) {
        return seen == MED_BIT_SET_NOBODY ? MEDLEY_ERR_STALE : MEDLEY_ERR_NOT_OWNER;
    }
    return MEDLEY_OK;
}

medley_status_t
med_bit_set_give(const med_bit_set *set, med_bit_set_slot slot, uint32_t owner)
{
    medley_status_t status = med_bit_set_end(set, slot, owner);
    if (status == MEDLEY_OK) {
        uint16_t index = (uint16_t)slot.index;
        med_bit_set_unclaim(set, owner, &index, 1);
    }
    return status;
}

medley_status_t
med_bit_set_hand_over(const med_bit_set *set, med_bit_set_slot slot, uint32_t from, uint32_t to)
{
    medley_status_t status = med_bit_set_check(set, slot, from);
    if (status != MEDLEY_OK || to == MED_BIT_SET_NOBODY) {
        return status != MEDLEY_OK ? status : MEDLEY_ERR_ARGUMENT;
    }
    /* Relaxed: what the slot stands for goes to the new owner with the slot, by an edge of those
     * who pass it on. */
    return atomic32_cas_relaxed(&set->entries[slot.index].owner, &from, to) ? MEDLEY_OK
                                                                            : MEDLEY_ERR_STALE;
}

void
med_bit_set_statistics_get(const med_bit_set *set, med_bit_set_statistics *statistics)
{
    uint32_t in_use = 0;
    uint32_t claimed = 0;
    for (uint32_t index = 0; index < set->capacity; index++) {
        const med_bit_set_entry *entry = &set->entries[index];
        /* Relaxed, all: statistics. */
        bool had = atomic32_load_relaxed(&entry->owner) != MED_BIT_SET_NOBODY;
        bool idle = atomic32_load_relaxed(&entry->generation) & 1u;
        in_use += had && !idle;
        claimed += had && idle;
    }
    uint32_t high_water = atomic32_load_relaxed(&set->shared->high_water); /* relaxed: likewise */
    statistics->in_use = in_use;
    statistics->claimed = claimed;
    statistics->high_water = high_water < set->capacity ? high_water : set->capacity;
}
