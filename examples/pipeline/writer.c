/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Puts the tiles of the result together, writes the picture, and tells all that it is done. */
#include <string.h>

#include "picture.h"
#include "stage.h"

static picture whole;
static unsigned char *is_here; /* a byte for each tile */
static unsigned here, all;

static void
begin(const tile *first)
{
    const char *wrong = picture_make(&whole, first->picture_width, first->picture_height);
    picture seen; /* for its memory */
    all = tiles_across(whole.width) * tiles_across(whole.height);
    wrong =
        wrong ? wrong : picture_make(&seen, tiles_across(whole.width), tiles_across(whole.height));
    if (wrong)
        stage_fail("the picture", wrong);
    is_here = seen.rgb;
}

/* It may come again, from a quantiser that has begun anew: then it is the same. */
static void
put(const tile *t)
{
    unsigned number = t->y / TILE_SIDE * tiles_across(whole.width) + t->x / TILE_SIDE;
    for (unsigned row = 0; row < t->height; row++)
        memcpy(picture_at(&whole, t->x, t->y + row), t->rgb + row * t->width * 3, t->width * 3);
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
    while (!whole.rgb || here < all) {
        note n;
        channel in;
        if (stage_receive(&n, 1000) && n.kind == TAKE_ALL) {
            if (stage_join(&in, &n, false, false))
                receive_all(&in);
            stage_close(&in);
        }
    }
    const char *wrong = picture_write(&whole, path);
    if (wrong)
        stage_fail(path, wrong);
    (void)stage_send(QUANTISER, DONE, 0, 10000);
    (void)stage_send(LOADER, DONE, 0, 10000);
    stage_end();
    return 0;
}
