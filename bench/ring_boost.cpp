// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// boost::lockfree::spsc_queue: pushed by copy, consumed in place (consume_one) or by copy (pop).
#include <new>

#include <boost/lockfree/spsc_queue.hpp>

#include "ring_bench.h"

namespace {

template <uint32_t words> struct element {
    uint64_t word[words];
};

template <uint32_t words, uint32_t capacity>
using queue = boost::lockfree::spsc_queue<element<words>, boost::lockfree::capacity<capacity - 1>>;

using queue_8 = queue<1, RING_CAPACITY_8>;
using queue_24 = queue<3, RING_CAPACITY_24>;
using queue_4k = queue<512, RING_CAPACITY_4K>;

size_t
size_bytes(ring_work work)
{
    uint32_t words = ring_work_words(work);
    return words == 1 ? sizeof(queue_8) : words == 3 ? sizeof(queue_24) : sizeof(queue_4k);
}

bool
make(ring_run *run)
{
    switch (ring_work_words(run->work)) {
    case 1:
        run->system = new (run->memory) queue_8;
        return true;
    case 3:
        run->system = new (run->memory) queue_24;
        return true;
    default:
        run->system = new (run->memory) queue_4k;
        return true;
    }
}

template <typename Queue, uint32_t words, uint32_t ahead>
void
produce(void *argument)
{
    auto *run = static_cast<const ring_run *>(argument);
    auto *q = static_cast<Queue *>(run->system);
    element<words> filled[ahead];
    for (uint64_t i = 0; i < run->count; i += ahead) {
        for (uint32_t n = 0; n < ahead; n++) {
            ring_fill(filled[n].word, words, i + n);
        }
        for (uint32_t n = 0; n < ahead; n++) {
            while (!q->push(filled[n])) {
                ring_relax();
            }
        }
    }
}

template <typename Queue, uint32_t words>
void
consume_in_place(void *argument)
{
    auto *run = static_cast<ring_run *>(argument);
    auto *q = static_cast<Queue *>(run->system);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < run->count; i++) {
        auto check = [&](const element<words> &e) { wrong |= ring_check(e.word, words, i); };
        while (!q->consume_one(check)) {
            ring_relax();
        }
    }
    run->wrong = wrong;
}

template <typename Queue, uint32_t words>
void
consume_copy(void *argument)
{
    auto *run = static_cast<ring_run *>(argument);
    auto *q = static_cast<Queue *>(run->system);
    uint64_t wrong = 0;
    element<words> e;
    for (uint64_t i = 0; i < run->count; i++) {
        while (!q->pop(e)) {
            ring_relax();
        }
        wrong |= ring_check(e.word, words, i);
    }
    run->wrong = wrong;
}

template <typename Queue, uint32_t words>
void
produce_burst(void *argument)
{
    auto *run = static_cast<const ring_run *>(argument);
    auto *q = static_cast<Queue *>(run->system);
    element<words> filled[RING_BURST];
    for (uint64_t i = 0; i < run->count; i += RING_BURST) {
        for (uint32_t n = 0; n < RING_BURST; n++) {
            ring_fill(filled[n].word, words, i + n);
        }
        for (size_t done = 0; done < RING_BURST;) {
            size_t pushed = q->push(filled + done, RING_BURST - done);
            done += pushed;
            if (!pushed) {
                ring_relax();
            }
        }
    }
}

template <typename Queue, uint32_t words>
void
consume_burst(void *argument)
{
    auto *run = static_cast<ring_run *>(argument);
    auto *q = static_cast<Queue *>(run->system);
    uint64_t wrong = 0;
    element<words> e[RING_BURST];
    for (uint64_t i = 0; i < run->count;) {
        size_t popped = q->pop(e, RING_BURST);
        for (size_t n = 0; n < popped; n++) {
            wrong |= ring_check(e[n].word, words, i + n);
        }
        i += popped;
        if (!popped) {
            ring_relax();
        }
    }
    run->wrong = wrong;
}

} // namespace

extern "C" const ring_system ring_boost = {
    "boost spsc_queue",
    size_bytes,
    make,
    {produce<queue_8, 1, 32>, produce<queue_24, 3, 32>, produce_burst<queue_8, 1>,
     produce_burst<queue_24, 3>, produce<queue_8, 1, 32>, produce<queue_24, 3, 32>,
     produce<queue_24, 3, 1>, nullptr, produce<queue_4k, 512, 1>},
    {consume_in_place<queue_8, 1>, consume_in_place<queue_24, 3>, consume_burst<queue_8, 1>,
     consume_burst<queue_24, 3>, consume_copy<queue_8, 1>, consume_copy<queue_24, 3>,
     consume_copy<queue_24, 3>, nullptr, consume_in_place<queue_4k, 512>},
};
