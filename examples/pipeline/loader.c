/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads a picture, and sends it tile by tile to the quantiser: in buffers that are filled in place,
 * and never copied on their way. It keeps the picture until the result is written: whenever the
 * quantiser begins anew it gets all tiles again.
 */
#include "picture.h"
#include "stage.h"

static picture whole;

/* Until all are sent, or nobody is there any more. */
static void
send_all(channel *out)
{
    unsigned all = tiles_of(whole.width, whole.height);
    for (unsigned i = 0; i < all; i++) {
        tile *t = stage_tile_take(out);
        if (!t)
            return;
        tile_place(t, &whole, i);
        tile_fill(t, &whole);
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
    medley_trace_begin("reads");
    const char *wrong = picture_read(&whole, path);
    medley_trace_end();
    if (wrong)
        stage_fail(path, wrong);
    for (n.kind = SEND_ALL; n.kind != DONE;) {
        channel out;
        if (stage_receive(&n, 1000) && n.kind == SEND_ALL) {
            medley_trace_begin("loads");
            if (stage_join(&out, &n, true, false))
                send_all(&out);
            medley_trace_end();
            stage_close(&out);
        }
    }
    stage_end();
    return 0;
}
