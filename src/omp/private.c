/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is known of a variable stands in a list by its address, under a lock, and for ever. What a
 * thread has is its own: a table by the variables' addresses, at the member that the thread is
 * outside of all regions that it leads. So only a first use by a thread takes the lock.
 */
#include "omp/private.h"

#include <stdint.h>
#include <string.h>

#include "mrapi/heap_lent.h"
#include "omp/lock.h"
#include "omp/say.h"
#include "omp/team.h"

typedef struct variable {
    struct variable *next;
    void *address;
    void *(*make)(void *copy);
    void (*destroy)(void *copy);
    void *image; /* of its bytes at the first use; NULL: there was none yet, or `make` is asked */
} variable;

static struct {
    med_own_lock lock;
    variable *first;
} variables;

typedef struct entry {
    const variable *of; /* NULL: it is free */
    void *copy;
} entry;

typedef struct med_privates {
    size_t count;
    size_t room; /* a power of two; at least one entry is free */
    entry entries[];
} med_privates;

static void *
memory_take(size_t size_bytes)
{
    void *memory = med_heap_lend(size_bytes);
    if (!memory) {
        med_say_fatal("there is no memory for a thread's own variables");
    }
    return memory;
}

/* ---- Variables ------------------------------------------------------------------------------- */

/* With the lock. */
static variable *
variable_of(void *address)
{
    variable *v = variables.first;
    while (v && v->address != address) {
        v = v->next;
    }
    if (!v) {
        v = memory_take(sizeof *v);
        v->address = address;
        v->next = variables.first;
        variables.first = v;
    }
    return v;
}

void
med_private_register(void *address, void *(*make)(void *copy), void (*destroy)(void *copy))
{
    med_omp_lock_set(med_own_lock_here(&variables.lock), med_member_get());
    variable *v = variable_of(address);
    v->destroy = destroy; /* before `make`, by which others take it for told: also in a child */
    v->make = make;
    med_omp_lock_unset(&variables.lock.lock);
}

/* Used, as large as that. */
static const variable *
variable_met(med_member *member, void *address, size_t size_bytes)
{
    med_omp_lock_set(med_own_lock_here(&variables.lock), member);
    variable *v = variable_of(address);
    if (!v->make && !v->image) {
        v->image = memcpy(memory_take(size_bytes), address, size_bytes);
    }
    med_omp_lock_unset(&variables.lock.lock);
    return v;
}

/* ---- A thread's copies ----------------------------------------------------------------------- */

#define ROOM_FIRST 8u
#define OWNER_FIRST 1u /* who comes first gets the first number */

/* That it is when it leads no region. */
static med_member *
member_of_thread(med_member *member)
{
    while (!member->thread_of_team && member->team->leader) {
        member = member->team->leader;
    }
    return member;
}

/* That variable's, or a free one. */
static entry *
entry_of(med_privates *p, const void *address)
{
    size_t at = (size_t)((uintptr_t)address / sizeof(void *) * 0x9e3779b1u);
    while (p->entries[at % p->room].of && p->entries[at % p->room].of->address != address) {
        at++;
    }
    return &p->entries[at % p->room];
}

static med_privates *
larger(med_privates *old)
{
    size_t room = ROOM_FIRST;
    while (old && room <= old->room) {
        room *= 2;
    }
    med_privates *p = memory_take(sizeof *p + room * sizeof p->entries[0]);
    p->room = room;
    for (size_t i = 0; old && i < old->room; i++) {
        if (old->entries[i].of) {
            *entry_of(p, old->entries[i].of->address) = old->entries[i];
            p->count++;
        }
    }
    med_heap_take_back(old);
    return p;
}

static void *
copy_make(const med_member *thread, const variable *v, size_t size_bytes)
{
    if (thread->owner == OWNER_FIRST) {
        return v->address;
    }
    void *copy = memory_take(size_bytes);
    if (v->make) {
        (void)v->make(copy);
    } else {
        memcpy(copy, v->image, size_bytes);
    }
    return copy;
}

void *
med_private_get(med_member *member, void *address, size_t size_bytes)
{
    med_member *thread = member_of_thread(member);
    if (!thread->privates || 2 * thread->privates->count >= thread->privates->room) {
        thread->privates = larger(thread->privates);
    }
    entry *e = entry_of(thread->privates, address);
    if (!e->of) {
        const variable *v = variable_met(member, address, size_bytes);
        void *copy = copy_make(thread, v, size_bytes);
        e = entry_of(thread->privates, address); /* making it may have used others */
        *e = (entry){.of = v, .copy = copy};
        thread->privates->count++;
    }
    return e->copy;
}

void
med_privates_destroy(med_privates *p)
{
    for (size_t i = 0; p && i < p->room; i++) {
        const entry *e = &p->entries[i];
        if (e->of && e->copy != e->of->address) {
            if (e->of->destroy) {
                e->of->destroy(e->copy);
            }
            med_heap_take_back(e->copy);
        }
    }
    med_heap_take_back(p);
}
