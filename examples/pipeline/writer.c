/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Puts the tiles of the result together, writes the picture, and tells all that it is done. */
#include <stdlib.h>
#include <unistd.h>

#include "picture.h"
#include "stage.h"

#define ALONE_MAX_S 10 /* a quantiser that died is back before that */

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

/* The quantiser ends when it is told that the picture is written: who was killed between telling it
 * and its own end has written it. */
static bool
is_written_already(const char *path)
{
    static unsigned alone_s;
    alone_s = stage_is_there(QUANTISER) ? 0 : alone_s + 1;
    if (alone_s >= ALONE_MAX_S && access(path, R_OK) != 0)
        stage_fail("quantiser", "not there");
    return alone_s >= ALONE_MAX_S;
}

/* Until all tiles are here. False: there is no more to do. */
static bool
collect(channel *in, const char *path)
{
    while (!whole.rgb || here < all) {
        note n;
        stage_close(in);
        if (!stage_receive(&n, 1000)) {
            if (is_written_already(path))
                return false;
        } else if (n.kind == TAKE_ALL) {
            medley_trace_begin("collects");
            if (stage_join(in, &n, false, false))
                receive_all(in);
            medley_trace_end();
        }
    }
    return true;
}

static void
write_it(const char *path)
{
    medley_trace_begin("writes");
    const char *wrong = picture_write(&whole, path);
    medley_trace_end();
    if (wrong)
        stage_fail(path, wrong);
    (void)stage_send(QUANTISER, DONE, 0, 10000);
}

int
main(int count, char **arguments)
{
    stage_begin("writer", WRITER);
    const char *path = count == 2 ? arguments[1] : "";
    if (!path[0])
        stage_fail("the result", "no file is named");
    channel in = {.is_there = false}; /* open until the picture is written: we are still there */
    bool has_all = collect(&in, path);
    if (has_all)
        write_it(path);
    (void)stage_send(LOADER, DONE, 0, has_all ? 10000 : 0);
    stage_close(&in);
    stage_end();
    return 0;
}
