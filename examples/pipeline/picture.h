/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A picture in memory, and as a file. */
#ifndef PIPELINE_PICTURE_H
#define PIPELINE_PICTURE_H

#include <stddef.h>

#define PICTURE_SIDE_MAX 20000u

typedef struct picture {
    unsigned width, height;
    unsigned char *rgb; /* rows from the top, three bytes a pixel */
} picture;

static inline unsigned char *
picture_at(const picture *of, unsigned x, unsigned y)
{
    return of->rgb + ((size_t)y * of->width + x) * 3;
}

/* All three give NULL, or what is wrong. */
const char *picture_make(picture *made, unsigned width, unsigned height);
/* PNG or JPEG, whatever its name says, as its rows lie there: how the camera was held, which EXIF
 * may tell, is not looked at. */
const char *picture_read(picture *read, const char *path);
/* PNG. The file is there whole, or as it was before; into what is no file, a pipe, it is written as
 * it comes. */
const char *picture_write(const picture *written, const char *path);

#endif
