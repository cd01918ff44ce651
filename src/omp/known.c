/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Addresses that somebody has to know again: lists by their low bits, each under a lock,
 * and changed by one store. */
#include "omp/known.h"

#include <stddef.h>
#include <stdint.h>

#include "mrapi/heap_lent.h"
#include "omp/lock.h"
#include "omp/say.h"

#define LISTS 256u
#define LOW_BITS_SAME 16u /* of addresses of the heap */

typedef struct known {
    struct known *next;
    const void *address;
} known;

static struct list {
    _Alignas(64) med_own_lock lock;
    known *first;
} lists[LISTS];

static struct list *
list_of(const void *address)
{
    return &lists[(uintptr_t)address / LOW_BITS_SAME % LISTS];
}

void
med_known_put(const void *address)
{
    struct list *list = list_of(address);
    known *one = med_heap_lend(sizeof *one);
    if (!one) {
        med_say_fatal("there is no memory to note what an allocator gave");
    }
    med_omp_lock_set(med_own_lock_here(&list->lock), med_member_get());
    *one = (known){.next = list->first, .address = address};
    list->first = one;
    med_omp_lock_unset(&list->lock.lock);
}

bool
med_known_take(const void *address)
{
    struct list *list = list_of(address);
    med_omp_lock_set(med_own_lock_here(&list->lock), med_member_get());
    known **at = &list->first;
    while (*at && (*at)->address != address) {
        at = &(*at)->next;
    }
    known *found = *at;
    if (found) {
        *at = found->next;
    }
    med_omp_lock_unset(&list->lock.lock);
    med_heap_take_back(found);
    return found != NULL;
}
