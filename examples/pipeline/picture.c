/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads by libpng and libturbojpeg, what the file begins with says by which. */
#include "picture.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

#define FILE_BYTES_MAX (256u << 20)

const char *
picture_make(picture *made, unsigned width, unsigned height)
{
    if (width < 1 || height < 1 || width > PICTURE_SIDE_MAX || height > PICTURE_SIDE_MAX)
        return "its sides are not 1 to 20000 pixels";
    *made = (picture){width, height, calloc((size_t)width * height, 3)};
    return made->rgb ? NULL : "there is no memory for it";
}

/* ---- PNG ------------------------------------------------------------------------------------- */

static char png_message[96];

static const char *
png_wrong(png_image *png)
{
    snprintf(png_message, sizeof png_message, "%s", png->message);
    png_image_free(png);
    return png_message;
}

static const char *
png_read_bytes(picture *read, const unsigned char *bytes, size_t size)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    const png_color white = {255, 255, 255}; /* behind what is transparent */
    if (!png_image_begin_read_from_memory(&png, bytes, size))
        return png_wrong(&png);
    png.format = PNG_FORMAT_RGB;
    const char *wrong = picture_make(read, png.width, png.height);
    if (wrong) {
        png_image_free(&png);
        return wrong;
    }
    return png_image_finish_read(&png, &white, read->rgb, 0, NULL) ? NULL : png_wrong(&png);
}

/* ---- JPEG ------------------------------------------------------------------------------------ */

static const char *
jpeg_read_bytes(picture *read, const unsigned char *bytes, size_t size)
{
    int width, height, sampling, colours;
    const char *wrong = "there is no memory for it";
    tjhandle jpeg = tjInitDecompress();
    if (!jpeg)
        return wrong;
    if (tjDecompressHeader3(jpeg, bytes, size, &width, &height, &sampling, &colours) != 0)
        wrong = tjGetErrorStr2(jpeg);
    else if (!(wrong = picture_make(read, (unsigned)width, (unsigned)height)) &&
             tjDecompress2(jpeg, bytes, size, read->rgb, width, 0, height, TJPF_RGB, 0) != 0)
        wrong = tjGetErrorStr2(jpeg);
    tjDestroy(jpeg);
    return wrong;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static const char *
bytes_read(const char *path, unsigned char **bytes, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return strerror(errno);
    *bytes = malloc(FILE_BYTES_MAX);
    *size = *bytes ? fread(*bytes, 1, FILE_BYTES_MAX, file) : 0;
    const char *wrong = !*bytes                   ? "there is no memory for it"
                        : ferror(file)            ? strerror(errno)
                        : *size == FILE_BYTES_MAX ? "it is larger than 256 MiB"
                                                  : NULL;
    fclose(file);
    return wrong;
}

const char *
picture_read(picture *read, const char *path)
{
    static const unsigned char png[] = {0x89, 'P', 'N', 'G'}, jpeg[] = {0xff, 0xd8, 0xff};
    unsigned char *bytes = NULL;
    size_t size = 0;
    const char *wrong = bytes_read(path, &bytes, &size);
    if (!wrong && size > sizeof png && memcmp(bytes, png, sizeof png) == 0)
        wrong = png_read_bytes(read, bytes, size);
    else if (!wrong && size > sizeof jpeg && memcmp(bytes, jpeg, sizeof jpeg) == 0)
        wrong = jpeg_read_bytes(read, bytes, size);
    else if (!wrong)
        wrong = "it is neither PNG nor JPEG";
    free(bytes);
    return wrong;
}

const char *
picture_write(const picture *written, const char *path)
{
    char beside[4096];
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = written->width,
                     .height = written->height,
                     .format = PNG_FORMAT_RGB};
    if (snprintf(beside, sizeof beside, "%s.part", path) >= (int)sizeof beside)
        return strerror(ENAMETOOLONG);
    if (!png_image_write_to_file(&png, beside, 0, written->rgb, 0, NULL))
        return png_wrong(&png);
    return rename(beside, path) == 0 ? NULL : strerror(errno);
}
