/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads a picture, and sends it tile by tile to the quantiser: in buffers that are filled in place,
 * and never copied on their way. It keeps the picture until the result is written: whenever the
 * quantiser begins anew it gets all tiles again.
 */
#include <string.h>

#include "picture.h"
#include "stage.h"

static picture whole;

static void
fill(tile *t, unsigned x, unsigned y)
{
    t->picture_width = whole.width;
    t->picture_height = whole.height;
    t->x = x;
    t->y = y;
    t->width = whole.width - x < TILE_SIDE ? whole.width - x : TILE_SIDE;
    t->height = whole.height - y < TILE_SIDE ? whole.height - y : TILE_SIDE;
    for (unsigned row = 0; row < t->height; row++)
        memcpy(t->rgb + row * t->width * 3, picture_at(&whole, x, y + row), t->width * 3);
}

/* Until all are sent, or nobody is there any more. */
static void
send_all(channel *out)
{
    unsigned across = tiles_across(whole.width), all = across * tiles_across(whole.height);
    for (unsigned i = 0; i < all; i++) {
        tile *t = stage_tile_take(out);
        if (!t)
            return;
        fill(t, i % across * TILE_SIDE, i / across * TILE_SIDE);
        if (!stage_tile_send(out, t))
            return;
        stage_progress("loads", i + 1, all);
    }
}

int
main(int count, char **arguments)
{
    note n;
    stage_begin("loader", LOADER);
    const char *path = count == 2 ? arguments[1] : "";
    const char *wrong = picture_read(&whole, path);
    if (wrong)
        stage_fail(path, wrong);
    for (n.kind = SEND_ALL; n.kind != DONE;) {
        channel out;
        if (stage_receive(&n, 1000) && n.kind == SEND_ALL) {
            if (stage_join(&out, &n, true, false))
                send_all(&out);
            stage_close(&out);
        }
    }
    stage_end();
    return 0;
}
