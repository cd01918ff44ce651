/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What travels in the pipeline: whose mail is where, the notes that go there, and tiles. */
#ifndef PIPELINE_TILE_H
#define PIPELINE_TILE_H

#include "picture.h"

enum {
    LOADER = 1,
    QUANTISER,
    WRITER,
    BAR,
    STAGES
}; /* nodes, all of domain 0 */

/* Ports of a node; from the last two on, one after the other. */
enum {
    MAIL,
    TILES_IN,
    TILES_OUT,
    JOINED = 1000,
    PROGRESS = 1000000
};

typedef enum note_kind {
    SEND_ALL, /* the quantiser has begun: to the loader, who sends it all tiles, */
    TAKE_ALL, /* and to the writer, who gets its results */
    WATCH_ME, /* to the bar, from a stage that tells how far it is */
    DONE      /* the writer, to all: the picture is written */
} note_kind;

typedef struct note {
    note_kind kind;
    unsigned from; /* node */
    unsigned port; /* his end of the channel that it is about */
} note;

#define TILE_SIDE 64

/* One packet. Of tiles at the right and lower edge there is less. */
typedef struct tile {
    unsigned picture_width, picture_height;
    unsigned x, y; /* of its upper left corner, in pixels; what it has is `width` by `height` */
    unsigned width, height;
    unsigned char rgb[TILE_SIDE * TILE_SIDE * 3];
} tile;

/* How many a picture of that size has: they are numbered from its upper left corner, by rows. */
unsigned tiles_of(unsigned width, unsigned height);
/* An empty one becomes that picture's tile of that number, but for its pixels. */
void tile_place(tile *placed, const picture *of, unsigned number);
/* Its number; `tiles_of` the picture where it is none of that picture's. */
unsigned tile_number(const tile *t, const picture *of);
/* Pixels, from the picture and into it. */
void tile_fill(tile *filled, const picture *from);
void tile_put(const tile *t, picture *into);

#endif
