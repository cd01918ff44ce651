/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One publishes, several subscribe; and what a program would do instead: a ring for each subscriber
 * in the same process, boost::lockfree::spsc_queue, and a push into every one. One thread publishes
 * and one receives for all, as there may be no more than two processors: so no subscriber waits for
 * another's turn. Numbers are checked. */
#ifndef MEDLEY_BENCH_EXCHANGE_TOPICS_H
#define MEDLEY_BENCH_EXCHANGE_TOPICS_H

#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TOPIC_SUBSCRIBERS_MAX 4u
#define TOPIC_WORDS 3u /* 24 bytes */
#define TOPIC_QUEUE_ELEMENTS 16384u

typedef struct topic_case {
    uint32_t subscribers;
    uint64_t count; /* is published */
} topic_case;

/* `context`: topic_case. value: million published a second, each received by all */
bool topic_measure(const bench *b, void *context, double *values);
bool topic_queues_measure(const bench *b, void *context, double *values);

#ifdef __cplusplus
}
#endif
#endif
