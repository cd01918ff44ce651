/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The texts of medley_status_t. */
#include "medley/status.h"

static const char *const texts[MEDLEY_STATUS_COUNT] = {
    [MEDLEY_OK] = "done",
    [MEDLEY_TIMEOUT] = "the deadline passed",
    [MEDLEY_BUSY] = "held by somebody else",
    [MEDLEY_FULL] = "no room",
    [MEDLEY_FULL_CONSUMER_READING] = "no room, a reader is making some",
    [MEDLEY_EMPTY] = "nothing there",
    [MEDLEY_EMPTY_PRODUCER_INSERTING] = "nothing yet, a writer is at it",
    [MEDLEY_ERR_ARGUMENT] = "wrong argument",
    [MEDLEY_ERR_LIMIT] = "a configured limit is reached",
    [MEDLEY_ERR_EXISTS] = "already there",
    [MEDLEY_ERR_NOT_FOUND] = "not found",
    [MEDLEY_ERR_STALE] = "the object is gone",
    [MEDLEY_ERR_NOT_OWNER] = "only the owner may do this",
    [MEDLEY_ERR_OWNER_DIED] = "the owner died",
    [MEDLEY_ERR_PEER_DIED] = "the peer died",
    [MEDLEY_ERR_NO_MEMORY] = "no memory",
    [MEDLEY_ERR_ACCESS] = "owned by somebody else, or open to others",
    [MEDLEY_ERR_VERSION] = "made by another version of Medley",
    [MEDLEY_ERR_BYTE_ORDER] = "made by a machine of the other byte order",
    [MEDLEY_ERR_CORRUPT] = "corrupt contents",
    [MEDLEY_ERR_NOT_SUPPORTED] = "not supported here",
    [MEDLEY_ERR_SYSTEM] = "refused by the operating system",
    [MEDLEY_ERR_CANCELED] = "canceled",
};

const char *
medley_status_text(medley_status_t status)
{
    return (unsigned)status < MEDLEY_STATUS_COUNT ? texts[status] : "unknown status";
}
