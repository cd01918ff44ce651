/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shared memory: a segment of its own beside the partition, a row of the registry that describes
 * it, and this process's mapping of it. docs/design/memory.md
 */
#ifndef MEDLEY_MRAPI_SHMEM_H
#define MEDLEY_MRAPI_SHMEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/lock.h"
#include "medley/status.h"
#include "mrapi/handle.h"
#include "mrapi/limits.h"
#include "mrapi/node.h"
#include "mrapi/table.h"

struct med_system;

#define MED_SHMEM_ERROR_EXT 2u
#define MED_SHMEM_DOMAIN_SHARED 4u /* other domains may get it */

typedef struct med_shmem_row {
    med_row row;          /* key: 0, number; or 1, and any, when it has none */
    atomic32 attributes;  /* fixed at creation, as is the rest */
    atomic32 domain;      /* of its creator */
    atomic32 file;        /* the number of its segment; 0: it has none (any more) */
    atomic32 size_bytes;  /* never 0 */
    atomic32 place;       /* med_port_place, checked where it is used */
    atomic32 place_index; /* which of the kind */
    atomic32 address_low; /* where it is to be mapped; 0: anywhere */
    atomic32 address_high;
    atomic32 node_count; /* of the list; 0: any node may get it */
    uint32_t unused[3];
    /* Followed by one bit for each node row, set while that node has it attached: under the table's
     * lock; cleared by the node, or by its recovery under that lock. Then the list: the numbers of
     * the nodes that may get it. */
} med_shmem_row;
_Static_assert(sizeof(med_shmem_row) == 64, "one line, before the bits");
_Static_assert(offsetof(med_shmem_row, address_low) == 40, "the same in every build");

uint32_t med_shmem_row_bytes(const med_limits *limits);

typedef struct med_shmem_request {
    uint32_t number; /* or MED_OBJECT_ANY */
    uint32_t size_bytes;
    uint32_t attributes;
    uint32_t place; /* med_port_place */
    uint32_t place_index;
    uint64_t address;
    const unsigned *nodes; /* the list, of mrapi_node_t */
    uint32_t node_count;
} med_shmem_request;

/* MEDLEY_ERR_EXISTS, MEDLEY_ERR_LIMIT, MEDLEY_ERR_NO_MEMORY, MEDLEY_ERR_NOT_SUPPORTED (no such
 * place; the log says why), MEDLEY_ERR_ARGUMENT (no page begins at the address). */
medley_status_t
med_shmem_create(med_self *self, const med_shmem_request *request, med_handle *shmem);
/* The same, and the caller has it attached: both or neither, whoever else is stopped meanwhile.
 * MEDLEY_ERR_NO_MEMORY also: it cannot be mapped (there), and the log says why. */
medley_status_t med_shmem_create_attached(med_self *self,
                                          const med_shmem_request *request,
                                          med_handle *shmem,
                                          void **address);
/* MEDLEY_ERR_NOT_FOUND; MEDLEY_ERR_ACCESS: another domain's, not shared; MEDLEY_ERR_NOT_OWNER: the
 * node is not in its list. */
medley_status_t med_shmem_get(med_self *self, uint32_t number, med_handle *shmem);

/* All of the following: MEDLEY_ERR_ARGUMENT for what is no handle of a shared memory,
 * MEDLEY_ERR_STALE for one that was deleted. */

/* Maps it, or finds it mapped by another node of this process. MEDLEY_ERR_EXISTS: the node has it
 * attached; as get; MEDLEY_ERR_NO_MEMORY: it cannot be mapped (there), and the log says why;
 * MEDLEY_ERR_CORRUPT: its segment is not what the row says. */
medley_status_t med_shmem_attach(med_self *self, med_handle shmem, void **address);
/* MEDLEY_ERR_NOT_OWNER: the node has it not attached. The process's last node unmaps it. */
medley_status_t med_shmem_detach(med_self *self, med_handle shmem);
/* MEDLEY_BUSY: a living node has it attached. */
medley_status_t med_shmem_delete(med_self *self, med_handle shmem);

/* What it was made with; the list is left out. */
medley_status_t med_shmem_read(med_self *self, med_handle shmem, med_shmem_request *made_with);

/* ---- Recovery -------------------------------------------------------------------------------- */

/* Detaches, among `count` rows from `first` on, those that a gone node has attached. */
medley_status_t med_shmem_recover_rows(struct med_system *system,
                                       uint32_t first,
                                       uint32_t count,
                                       uint32_t node_ref,
                                       uint32_t thread_id);
/* Removes the segment that a gone node was making. */
void med_shmem_recover_making(struct med_system *system, uint32_t node_ref);
/* The table's on_remove. */
void med_shmem_row_removed(const med_table_view *view, med_row *row);

/* Number `i` of its list of nodes, below the limit of nodes. For showing. */
uint32_t med_shmem_listed(const struct med_system *system, const med_shmem_row *row, uint32_t i);
/* How many nodes have it attached. For showing. */
uint32_t med_shmem_attached_count(const struct med_system *system, const med_shmem_row *row);

/* ---- What this process has mapped ------------------------------------------------------------ */

typedef struct med_mapping {
    void *address; /* NULL: not mapped */
    uint32_t file; /* the number of the segment that is mapped, as are the next two */
    uint32_t size_bytes;
    uint32_t place;
    uint32_t users; /* how many nodes of this process have it attached */
} med_mapping;

/* Private to the process; one for each row. */
typedef struct med_mappings {
    med_lock lock; /* of the other fields; taken last: nothing is taken inside */
    med_lock_sleepers sleepers;
    med_mapping *of_row;
    atomic32 *users; /* for each row, one bit for each node row: this process's that use it */
    uint32_t row_count;
    uint32_t kept; /* row + 1 of a segment that stays mapped for its maker's first attach, or 0 */
} med_mappings;

/* Does memory of this process lie in a segment that it has mapped, with all of its bytes? Then in
 * which, and where. */
bool med_shmem_holds(struct med_system *system,
                     const void *memory,
                     uint32_t size_bytes,
                     uint32_t *file,
                     uint32_t *offset);
/* Maps a segment that some row names once more, for the caller alone, who unmaps it: whatever
 * becomes of the row. MEDLEY_ERR_NOT_FOUND, or what the port says. */
medley_status_t
med_shmem_map_again(const struct med_system *system, uint32_t file, med_port_segment *segment);

/* When the process attaches to the system, and when it leaves. */
medley_status_t med_mappings_init(struct med_system *system);
void med_mappings_fini(struct med_system *system);
/* In a child of fork, which has inherited no segment. */
void med_mappings_forget(struct med_system *system);

#endif
