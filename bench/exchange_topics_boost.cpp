// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A boost::lockfree::spsc_queue for each subscriber, by copy.
#include <memory>

#include <boost/lockfree/spsc_queue.hpp>

#include "exchange_topics.h"
#include "ring_bench.h"

namespace {

struct element {
    uint64_t word[TOPIC_WORDS];
};

using queue =
    boost::lockfree::spsc_queue<element, boost::lockfree::capacity<TOPIC_QUEUE_ELEMENTS - 1>>;

struct run_of_queues {
    uint32_t subscribers;
    uint64_t count;
    bool good;
    queue queues[TOPIC_SUBSCRIBERS_MAX];
};

void
published(void *argument)
{
    auto *run = static_cast<run_of_queues *>(argument);
    element e = {};
    for (uint64_t i = 0; i < run->count; i++) {
        e.word[0] = e.word[TOPIC_WORDS - 1] = i;
        for (uint32_t s = 0; s < run->subscribers; s++) {
            while (!run->queues[s].push(e)) {
                ring_relax();
            }
        }
    }
}

void
received(void *argument)
{
    auto *run = static_cast<run_of_queues *>(argument);
    bool good = true;
    element e;
    for (uint64_t i = 0; i < run->count; i++) {
        for (uint32_t s = 0; s < run->subscribers; s++) {
            while (!run->queues[s].pop(e)) {
                ring_relax();
            }
            good = good && e.word[0] == i && e.word[TOPIC_WORDS - 1] == i;
        }
    }
    run->good = good;
}

} // namespace

bool
topic_queues_measure(const bench *b, void *context, double *values)
{
    const auto *c = static_cast<const topic_case *>(context);
    auto run = std::make_unique<run_of_queues>();
    run->subscribers = c->subscribers;
    run->count = bench_count(b, c->count);
    bench_thread threads[] = {{published, run.get(), 0, false}, {received, run.get(), 1, false}};
    uint64_t ns = bench_run(b, threads, 2);
    values[0] = static_cast<double>(run->count) * 1e3 / static_cast<double>(ns);
    return run->good || bench_failed("boost spsc_queue", "wrong content or order");
}
