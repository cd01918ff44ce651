/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Gives a picture few colours, found by k-means, and dark lines where its brightness changes: an
 * ordinary OpenMP program between two channels. Sums are of whole numbers, so the result is the
 * same with however many threads.
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "picture.h"
#include "stage.h"

#define COLOURS 24
#define ROUNDS_MAX 30
#define LOOKED_AT_MAX 1000000 /* pixels: enough to know the colours of any picture */
#define EDGE 140              /* of brightness, between neighbours on both sides */

static picture whole;
static int colours[COLOURS][3];

/* ---- Which colours --------------------------------------------------------------------------- */

static int
nearest(const unsigned char *pixel)
{
    int best = 0, best_square = INT32_MAX;
    for (int c = 0; c < COLOURS; c++) {
        int red = pixel[0] - colours[c][0], green = pixel[1] - colours[c][1],
            blue = pixel[2] - colours[c][2];
        int square = red * red + green * green + blue * blue;
        if (square < best_square) {
            best_square = square;
            best = c;
        }
    }
    return best;
}

static void
colours_begin(void)
{
    size_t pixels = (size_t)whole.width * whole.height;
    for (size_t c = 0; c < COLOURS; c++)
        for (int i = 0; i < 3; i++)
            colours[c][i] = whole.rgb[pixels * (2 * c + 1) / (2 * COLOURS) * 3 + (size_t)i];
}

/* Each colour moves to the middle of the pixels nearest to it; of a large picture, of every
 * so many-th of them. True: none has. */
static int
colours_move(void)
{
    long pixels = (long)whole.width * whole.height, step = 1 + pixels / LOOKED_AT_MAX;
    long sums[COLOURS * 4] = {0};
    int settled = 1;
#pragma omp parallel for schedule(dynamic, 4096) reduction(+ : sums[:COLOURS * 4])
    for (long p = 0; p < pixels; p += step) {
        const unsigned char *pixel = whole.rgb + p * 3;
        long *sum = sums + nearest(pixel) * 4;
        sum[0] += pixel[0];
        sum[1] += pixel[1];
        sum[2] += pixel[2];
        sum[3]++;
    }
    for (int c = 0; c < COLOURS; c++)
        for (int i = 0; i < 3 && sums[c * 4 + 3] > 0; i++) {
            int middle = (int)(sums[c * 4 + i] / sums[c * 4 + 3]);
            settled &= middle == colours[c][i];
            colours[c][i] = middle;
        }
    return settled;
}

/* In how many rounds. */
static unsigned
colours_find(void)
{
    unsigned round = 1;
    colours_begin();
    for (; round < ROUNDS_MAX && !colours_move(); round++)
        stage_progress("colours", round, ROUNDS_MAX);
    return round;
}

/* ---- The result, tile by tile ---------------------------------------------------------------- */

static int
brightness(unsigned x, unsigned y)
{
    const unsigned char *pixel = picture_at(&whole, x, y);
    return (2 * pixel[0] + 5 * pixel[1] + pixel[2]) / 8;
}

/* Sobel's filter; a picture's border has no edges. */
static int
is_edge(unsigned x, unsigned y)
{
    if (x == 0 || y == 0 || x + 1 == whole.width || y + 1 == whole.height)
        return 0;
    int across = 0, down = 0;
    for (unsigned i = 0; i < 3; i++) {
        int weight = i == 1 ? 2 : 1;
        across += weight * (brightness(x + 1, y - 1 + i) - brightness(x - 1, y - 1 + i));
        down += weight * (brightness(x - 1 + i, y + 1) - brightness(x - 1 + i, y - 1));
    }
    return abs(across) + abs(down) > EDGE;
}

static void
paint(tile *t)
{
#pragma omp parallel for
    for (unsigned row = 0; row < t->height; row++)
        for (unsigned column = 0; column < t->width; column++) {
            unsigned x = t->x + column, y = t->y + row;
            const int *colour = colours[nearest(picture_at(&whole, x, y))];
            int shade = is_edge(x, y) ? 4 : 1;
            for (unsigned i = 0; i < 3; i++)
                t->rgb[(row * t->width + column) * 3 + i] = (unsigned char)(colour[i] / shade);
        }
}

/* False: nobody takes them any more. */
static int
send_all(channel *out)
{
    unsigned all = tiles_of(whole.width, whole.height);
    for (unsigned i = 0; i < all; i++) {
        tile *t = stage_tile_take(out);
        if (!t)
            return 0;
        tile_place(t, &whole, i);
        paint(t);
        if (!stage_tile_send(out, t))
            return 0;
        stage_progress("paints", i + 1, all);
    }
    return 1;
}

/* ---- The picture, tile by tile --------------------------------------------------------------- */

/* False: it is not all there, and the loader is gone. */
static int
receive_all(channel *in)
{
    unsigned all = 1;
    for (unsigned i = 0; i < all; i++) {
        tile *t = stage_tile_receive(in);
        if (!t)
            return 0;
        if (i == 0) {
            const char *wrong = picture_make(&whole, t->picture_width, t->picture_height);
            if (wrong)
                stage_fail("the picture", wrong);
            all = tiles_of(whole.width, whole.height);
        }
        if (tile_number(t, &whole) != i)
            stage_fail("the picture", "what came is not its next tile");
        tile_put(t, &whole);
        stage_tile_release(t);
    }
    return 1;
}

/* The writer says when it has all. Should it be gone, the other end of the channel is, too. */
static int
await_done(channel *out)
{
    note n = {.kind = TAKE_ALL};
    while (n.kind != DONE) {
        if (stage_receive(&n, 500))
            continue;
        tile *t = stage_tile_take(out);
        if (!t)
            return 0;
        tile_place(t, &whole, 0); /* once more: are you there? */
        paint(t);
        if (!stage_tile_send(out, t))
            return 0;
    }
    return 1;
}

int
main(void)
{
    channel in, out;
    stage_begin("quantiser", QUANTISER);
    if (!stage_offer(&in, TILES_IN, false, false) || !stage_offer(&out, TILES_OUT, true, false))
        stage_fail("channels", "cannot be made");
    if (!stage_open_to(&in, LOADER, SEND_ALL))
        stage_fail("loader", "has not connected");
    if (!stage_open_to(&out, WRITER, TAKE_ALL))
        stage_fail("writer", "has not connected");
    medley_trace_begin("gathers"); /* for medley run --trace-svg: what this node is at */
    if (!receive_all(&in))
        stage_fail("loader", "gone before all tiles were here");
    medley_trace_end();
    double began = omp_get_wtime();
    medley_trace_begin("colours");
    unsigned rounds = colours_find();
    medley_trace_end();
    double found = omp_get_wtime();
    medley_trace_begin("paints");
    if (!send_all(&out))
        stage_fail("writer", "gone before the picture was written");
    medley_trace_end();
    printf("%d colours in %u rounds: %.1f ms; painted: %.1f ms; %d threads\n", COLOURS, rounds,
           (found - began) * 1e3, (omp_get_wtime() - found) * 1e3, omp_get_max_threads());
    fflush(stdout);
    if (!await_done(&out))
        stage_fail("writer", "gone before the picture was written");
    stage_end();
    return 0;
}
