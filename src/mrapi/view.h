/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a system looks like from outside: its rows as plain values, for tools.
 *
 * Others work in the system meanwhile, and may have scribbled on it. So every number that comes
 * from the partition and names something in it is checked here, once; what a value then says is
 * only as true as what stands in the row. Nothing is written, nothing waits; each call looks at one
 * row (a lock's at its owner's as well). A row that changes hands while it is read is left out.
 */
#ifndef MEDLEY_MRAPI_VIEW_H
#define MEDLEY_MRAPI_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "medley/status.h"
#include "mrapi/limits.h"
#include "mrapi/node.h"
#include "mrapi/partition.h"
#include "mrapi/rmem.h"
#include "mrapi/system.h"

/* Is there anybody in the system of that name, readable by us or not? MEDLEY_ERR_NOT_FOUND: no such
 * name; MEDLEY_ERR_ACCESS, MEDLEY_ERR_ARGUMENT. */
medley_status_t med_view_inhabited(const char *name, bool *inhabited);

/* Has any process been in it but this one, if only for a moment? */
bool med_view_was_joined(const med_system *system);

typedef struct med_view_system {
    uint64_t size_bytes;
    uint64_t age_ns;
    uint64_t instance; /* tells it from others that had the name before, or have it after */
    uint32_t creator_process_id;
    med_on_death on_death;
} med_view_system;

typedef enum med_view_life {
    MED_VIEW_ALIVE,
    MED_VIEW_LOST,       /* alive; its program dropped the lock that shows it (process.h, keep) */
    MED_VIEW_DEAD,       /* and nobody has noticed yet */
    MED_VIEW_RECOVERING, /* dead, and somebody is about it */
} med_view_life;

typedef struct med_view_process {
    uint32_t process_id; /* as the process itself sees it */
    uint64_t age_ns;
    med_view_life life;
    uint32_t recovered_by; /* RECOVERING: who is at it, as process_id; 0: dead, or not seen here */
} med_view_process;

typedef enum med_view_node_state {
    MED_VIEW_NODE_STARTING,
    MED_VIEW_NODE_RUNNING,
    MED_VIEW_NODE_WAITING,  /* for a lock */
    MED_VIEW_NODE_ENDED,    /* and not yet joined, or removed */
    MED_VIEW_NODE_DEAD,     /* its process died */
    MED_VIEW_NODE_EXPECTED, /* of an image, and nobody is there under its number */
} med_view_node_state;

typedef struct med_view_node {
    uint32_t domain;
    uint32_t number;
    uint32_t process_id; /* 0: its process row is gone */
    uint32_t thread_id;
    uint32_t
        process_here; /* the two as who looks sees them; 0: dead, or not to be seen from here */
    uint32_t thread_here;
    med_node_kind kind;
    char name[MED_NODE_NAME_BYTES]; /* printable; empty: it has none */
    med_view_node_state state;
    bool kept;            /* when it goes, it is expected again */
    med_kind lock_kind;   /* WAITING: a mutex, a semaphore, or a reader/writer lock */
    uint32_t lock_index;  /* WAITING: its row, below the limit of its kind */
    uint32_t lock_number; /* WAITING: its number */
    uint64_t age_ns;
    uint32_t sleeps;
    bool awaits_news; /* its thread sleeps for what others bring it, or did, and nobody has woken
                       * it; of a lock nothing is said here */
} med_view_node;

typedef enum med_view_lock_state {
    MED_VIEW_LOCK_FREE,
    MED_VIEW_LOCK_HELD,
    MED_VIEW_LOCK_DIED, /* free, its last owner died, the next one is told */
    MED_VIEW_LOCK_DEAD, /* its last owner died, nobody gets it again */
} med_view_lock_state;

/* What mutexes, semaphores and reader/writer locks have in common. */
typedef struct med_view_object {
    uint32_t number;
    uint32_t domain;     /* of its creator */
    uint32_t attributes; /* MED_OBJECT_..., of a mutex MED_MUTEX_... */
} med_view_object;

typedef struct med_view_lock {
    med_view_object object;
    med_view_lock_state state;
    bool owner_known; /* HELD by a node that is (still) there */
    uint32_t owner_domain;
    uint32_t owner_number;
    uint32_t depth; /* 0 unless HELD */
    uint32_t slept; /* how often somebody slept for it */
} med_view_lock;

typedef struct med_view_rmem {
    uint32_t number;
    uint32_t size_bytes;
    med_rmem_access access;
    bool owner_known; /* a node that is (still) there */
    uint32_t owner_domain;
    uint32_t owner_number;
    uint32_t attachments;
} med_view_rmem;

typedef struct med_view_shmem {
    bool numbered; /* else it was made without a number */
    uint32_t number;
    uint32_t domain; /* of its creator */
    uint32_t size_bytes;
    uint32_t attributes; /* MED_SHMEM_... */
    uint32_t place;      /* med_port_place, or what was scribbled there */
    uint32_t place_index;
    uint32_t attached;   /* to how many nodes */
    uint64_t address;    /* where it is to be mapped; 0: anywhere */
    uint32_t node_count; /* of the list of those who may get it; 0: all */
} med_view_shmem;

typedef struct med_view_sem {
    med_view_object object;
    uint32_t limit; /* how many may have it at once */
    uint32_t held;  /* how many have it */
    uint32_t slept; /* how often somebody slept for it */
} med_view_sem;

typedef struct med_view_rwl {
    med_view_object object;
    uint32_t limit;            /* how many may read at once */
    uint32_t readers;          /* how many do */
    med_view_lock_state state; /* as to writing */
    bool coming;               /* HELD by one who still waits for readers to leave */
    bool owner_known;          /* as med_view_lock */
    uint32_t owner_domain;
    uint32_t owner_number;
    uint32_t slept;
} med_view_rwl;

/* Of the lock of a table, by which objects come and go. Its numbers are those of who looks, who may
 * want to continue or end it; 0: it is dead, or has none here. */
typedef struct med_view_holder {
    uint32_t process_id;
    med_view_life life;
    uint32_t thread_id;
    bool node_known; /* a node that is there */
    uint32_t domain;
    uint32_t number;
    uint64_t held_ns; /* how long he has had it */
} med_view_holder;

typedef struct med_view_limit {
    uint32_t limit;
    uint32_t used;       /* of sharers: the most that any semaphore or lock allows */
    uint32_t high_water; /* 0: not counted */
} med_view_limit;

void med_view_system_read(const med_system *system, med_view_system *view);
bool med_view_domain_read(const med_system *system, uint32_t index, uint32_t *number);
/* `index` is below the system's limit of the kind. False: nothing there. */
bool med_view_process_read(const med_system *system, uint32_t index, med_view_process *view);
bool med_view_node_read(const med_system *system, uint32_t index, med_view_node *view);
/* Of a mutex, a semaphore or a reader/writer lock. */
bool med_view_object_read(const med_system *system,
                          med_kind kind,
                          uint32_t index,
                          med_view_object *view);
bool med_view_lock_read(const med_system *system, uint32_t index, med_view_lock *view);
/* Looks at all attachments as well. */
bool med_view_rmem_read(const med_system *system, uint32_t index, med_view_rmem *view);
bool med_view_shmem_read(const med_system *system, uint32_t index, med_view_shmem *view);
/* Of its list of nodes, number `i`, below node_count. */
uint32_t med_view_shmem_node(const med_system *system, uint32_t index, uint32_t i);
bool med_view_sem_read(const med_system *system, uint32_t index, med_view_sem *view);
bool med_view_rwl_read(const med_system *system, uint32_t index, med_view_rwl *view);
/* Who has the table of that kind locked: for microseconds, unless he does not go on. Looks at all
 * nodes as well. */
bool med_view_holder_read(const med_system *system, med_kind kind, med_view_holder *view);
/* Of the node in that row of the table, its reference, domain and number. */
bool med_view_node_name(
    const med_system *system, uint32_t index, uint32_t *ref, uint32_t *domain, uint32_t *number);
/* The kind of what a handle names, if that is waited for; else MED_KIND_COUNT. `known`: it is still
 * there, and has this number. */
med_kind
med_view_handle_read(const med_system *system, uint32_t handle, bool *known, uint32_t *number);
/* Counts the rows in use: looks at all of them. */
void med_view_limit_read(const med_system *system, med_limit which, med_view_limit *view);

#endif
