/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The one status type of Medley.
 *
 * Every function of Medley that can fail returns a medley_status_t; MEDLEY_OK is zero. Values from
 * MEDLEY_TIMEOUT to MEDLEY_EMPTY_PRODUCER_INSERTING are ordinary outcomes of an operation that
 * could not be done right now; values from MEDLEY_ERR_ARGUMENT on are errors. The standards' own
 * codes (mrapi_status_t, mcapi_status_t) are made from these in one table per standard.
 */
#ifndef MEDLEY_STATUS_H
#define MEDLEY_STATUS_H

#include "medley/decls.h"

MEDLEY_DECLS_BEGIN

typedef enum medley_status {
    MEDLEY_OK = 0,

    /* Not now. Nothing was changed; the same call may succeed later. */
    MEDLEY_TIMEOUT,               /* the deadline passed */
    MEDLEY_BUSY,                  /* somebody else holds it (try forms) */
    MEDLEY_FULL,                  /* no room: yield, then retry */
    MEDLEY_FULL_CONSUMER_READING, /* no room, but a reader is about to make some: retry at once */
    MEDLEY_EMPTY,                 /* nothing there: yield, then retry */
    MEDLEY_EMPTY_PRODUCER_INSERTING, /* nothing yet, but a writer is at it: retry at once */

    /* Errors. */
    MEDLEY_ERR_ARGUMENT,      /* an argument is outside what the function accepts */
    MEDLEY_ERR_LIMIT,         /* a configured limit is reached; the log names it */
    MEDLEY_ERR_EXISTS,        /* the name or number is taken */
    MEDLEY_ERR_NOT_FOUND,     /* no such name or number */
    MEDLEY_ERR_STALE,         /* the handle's object is gone */
    MEDLEY_ERR_NOT_OWNER,     /* only the owner may do this */
    MEDLEY_ERR_OWNER_DIED,    /* the owner died; see medley_lock_owner_died() */
    MEDLEY_ERR_PEER_DIED,     /* the other side of an exchange died */
    MEDLEY_ERR_NO_MEMORY,     /* the machine gave no memory */
    MEDLEY_ERR_ACCESS,        /* owned by somebody else, or open to others */
    MEDLEY_ERR_VERSION,       /* made by another version or layout of Medley */
    MEDLEY_ERR_BYTE_ORDER,    /* made by a machine of the other byte order */
    MEDLEY_ERR_CORRUPT,       /* contents that no correct peer writes */
    MEDLEY_ERR_NOT_SUPPORTED, /* this port or this machine cannot do it */
    MEDLEY_ERR_SYSTEM,        /* the operating system refused; the log says why */
    MEDLEY_ERR_CANCELED,      /* somebody canceled it */

    MEDLEY_STATUS_COUNT
} medley_status_t;

/*
 * The status as a short English sentence without a full stop. Never NULL; the text is constant.
 * Any thread, any time, interrupt handlers included.
 */
const char *medley_status_text(medley_status_t status);

MEDLEY_DECLS_END
#endif
