/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Puts the tiles of the result together, writes the picture, and tells all that it is done. */
#include <stdlib.h>

#include "picture.h"
#include "stage.h"

static picture whole;
static unsigned char *is_here; /* a byte for each tile */
static unsigned here, all;

static void
begin(const tile *first)
{
    const char *wrong = picture_make(&whole, first->picture_width, first->picture_height);
    if (wrong)
        stage_fail("the picture", wrong);
    all = tiles_of(whole.width, whole.height);
    is_here = calloc(all, 1);
    if (!is_here)
        stage_fail("the picture", "there is no memory for it");
}

/* It may come again, from a quantiser that has begun anew: then it is the same. */
static void
put(const tile *t)
{
    unsigned number = tile_number(t, &whole);
    if (number == all)
        stage_fail("the picture", "what came is none of its tiles");
    tile_put(t, &whole);
    here += !is_here[number];
    is_here[number] = 1;
    stage_progress("collects", here, all);
}

/* Until all are here, or nobody sends any more. */
static void
receive_all(channel *in)
{
    tile *t;
    while ((!whole.rgb || here < all) && (t = stage_tile_receive(in)) != NULL) {
        if (!whole.rgb)
            begin(t);
        put(t);
        stage_tile_release(t);
    }
}

int
main(int count, char **arguments)
{
    stage_begin("writer", WRITER);
    const char *path = count == 2 ? arguments[1] : "";
    channel in = {.is_there = false}; /* open until the picture is written: we are still there */
    while (!whole.rgb || here < all) {
        note n;
        stage_close(&in);
        if (stage_receive(&n, 1000) && n.kind == TAKE_ALL) {
            medley_trace_begin("collects");
            if (stage_join(&in, &n, false, false))
                receive_all(&in);
            medley_trace_end();
        }
    }
    medley_trace_begin("writes");
    const char *wrong = picture_write(&whole, path);
    medley_trace_end();
    if (wrong)
        stage_fail(path, wrong);
    (void)stage_send(QUANTISER, DONE, 0, 10000);
    (void)stage_send(LOADER, DONE, 0, 10000);
    stage_close(&in);
    stage_end();
    return 0;
}
