/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the stages have in common. A stage may be killed at any time, and is started again: then the
 * others find that what they do with it fails, and wait for its next note.
 */
#ifndef PIPELINE_STAGE_H
#define PIPELINE_STAGE_H

#include <mcapi.h>
#include <medley/mcapi_ext.h>
#include <medley/medley.h>
#include <stdbool.h>

#include "tile.h"

/* Becomes that node, with a mailbox. */
void stage_begin(const char *name, unsigned node);
void stage_end(void);
/* How long it waits for another in what is below; 10 s unless said otherwise. */
void stage_be_patient(unsigned ms);
/* Ends this process: "name: what: why". */
void stage_fail(const char *what, const char *why);

/* ---- Notes: false when it cannot be done in that time ---------------------------------------- */

bool stage_send(unsigned to, note_kind kind, unsigned port, unsigned patience_ms);
bool stage_receive(note *received, unsigned patience_ms);
/* Is it there now, with its mailbox? */
bool stage_is_there(unsigned node);

/* ---- Channels, of packets or of states ------------------------------------------------------- */

typedef struct channel {
    mcapi_endpoint_t end; /* the caller's */
    unsigned port;
    union {
        mcapi_pktchan_send_hndl_t out;
        mcapi_pktchan_recv_hndl_t in;
    };
    bool is_out, is_there, is_open;
} channel;

/* Who begins makes his end, and opens it to another: tells of it in a note, until it is connected;
 * again and again, for who has taken the note may die before he connects. */
bool stage_offer(channel *made, unsigned port, bool is_out, bool of_states);
bool stage_open_to(channel *opened, unsigned to, note_kind kind);
/* Who gets the note connects an end of his own with it, and opens that. */
bool stage_join(channel *made, const note *offer, bool is_out, bool of_states);
void stage_close(channel *closed);

/* The next tile to fill, in place; NULL: nobody is at the other end. */
tile *stage_tile_take(channel *to);
bool stage_tile_send(channel *to, tile *filled);
/* The next one that came; it is given back by stage_tile_release. NULL: no more will come. */
tile *stage_tile_receive(channel *from);
void stage_tile_release(tile *received);

/* ---- How far it is --------------------------------------------------------------------------- */

/* A state: only the newest counts, and nobody waits for it. */
typedef struct progress {
    char does[24];
    unsigned done, of;
} progress;

void stage_progress(const char *does, unsigned done, unsigned of);

#endif
