/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which part of a picture a tile is, and its pixels. */
#include "tile.h"

#include <string.h>

static unsigned
across(unsigned pixels)
{
    return (pixels + TILE_SIDE - 1) / TILE_SIDE;
}

static unsigned
up_to_side(unsigned pixels)
{
    return pixels < TILE_SIDE ? pixels : TILE_SIDE;
}

unsigned
tiles_of(unsigned width, unsigned height)
{
    return across(width) * across(height);
}

void
tile_place(tile *placed, const picture *of, unsigned number)
{
    placed->picture_width = of->width;
    placed->picture_height = of->height;
    placed->x = number % across(of->width) * TILE_SIDE;
    placed->y = number / across(of->width) * TILE_SIDE;
    placed->width = up_to_side(of->width - placed->x);
    placed->height = up_to_side(of->height - placed->y);
}

/* It came from another process: it is compared with what it would be. */
unsigned
tile_number(const tile *t, const picture *of)
{
    tile right;
    unsigned none = tiles_of(of->width, of->height);
    unsigned number = t->y / TILE_SIDE * across(of->width) + t->x / TILE_SIDE;
    if (number >= none)
        return none;
    tile_place(&right, of, number);
    return memcmp(&right, t, offsetof(tile, rgb)) == 0 ? number : none;
}

void
tile_fill(tile *filled, const picture *from)
{
    for (unsigned row = 0; row < filled->height; row++)
        memcpy(filled->rgb + row * filled->width * 3, picture_at(from, filled->x, filled->y + row),
               filled->width * 3);
}

void
tile_put(const tile *t, picture *into)
{
    for (unsigned row = 0; row < t->height; row++)
        memcpy(picture_at(into, t->x, t->y + row), t->rgb + row * t->width * 3, t->width * 3);
}
