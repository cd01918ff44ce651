/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads by libpng and libturbojpeg, what the file begins with says by which. */
#include "picture.h"

#include <errno.h>
#include <png.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <turbojpeg.h>
#include <unistd.h>

#define FILE_BYTES_MAX (256u << 20)

const char *
picture_make(picture *made, unsigned width, unsigned height)
{
    if (width < 1 || height < 1 || width > PICTURE_SIDE_MAX || height > PICTURE_SIDE_MAX)
        return "its sides are not 1 to 20000 pixels";
    *made = (picture){width, height, calloc((size_t)width * height, 3)};
    return made->rgb ? NULL : "there is no memory for it";
}

/* What a library says, which is gone with what it says it of. */
static const char *
kept(const char *message)
{
    static char text[200];
    snprintf(text, sizeof text, "%s", message);
    return text;
}

/* ---- PNG ------------------------------------------------------------------------------------- */

static const char *
png_wrong(png_image *png)
{
    const char *wrong = kept(png->message);
    png_image_free(png);
    return wrong;
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

/* What a file that was cut off lacks, the library fills with grey, and merely warns of it. Of any
 * other the last scan is followed by the end marker. */
static bool
jpeg_is_whole(const unsigned char *bytes, size_t size)
{
    const unsigned char scan = 0xda, end = 0xd9;
    for (size_t i = size - 1; i > 0; i--)
        if (bytes[i - 1] == 0xff && (bytes[i] == scan || bytes[i] == end))
            return bytes[i] == end;
    return false;
}

/* What a call that gave `status` says of the file. A warning, of stray bytes as a rule, is nothing
 * against a picture that is whole: every viewer shows it. */
static const char *
jpeg_wrong(tjhandle jpeg, int status, const unsigned char *bytes, size_t size)
{
    if (status == 0)
        return NULL;
    if (tjGetErrorCode(jpeg) != TJERR_WARNING)
        return kept(tjGetErrorStr2(jpeg));
    return jpeg_is_whole(bytes, size) ? NULL : "it is cut off: the end of it is missing";
}

static const char *
jpeg_read_by(tjhandle jpeg, picture *read, const unsigned char *bytes, size_t size)
{
    int width = 0, height = 0, sampling, colours = 0;
    int status = tjDecompressHeader3(jpeg, bytes, size, &width, &height, &sampling, &colours);
    const char *wrong = jpeg_wrong(jpeg, status, bytes, size);
    if (wrong)
        return wrong;
    if (width == 0) /* no error to the library: it may be tables that others are to be read by */
        return "there is no picture in it";
    if (colours == TJCS_CMYK || colours == TJCS_YCCK)
        return "its colours are those of print, CMYK: it must be made RGB first";
    if ((wrong = picture_make(read, (unsigned)width, (unsigned)height)) != NULL)
        return wrong;
    status = tjDecompress2(jpeg, bytes, size, read->rgb, width, 0, height, TJPF_RGB, 0);
    return jpeg_wrong(jpeg, status, bytes, size);
}

static const char *
jpeg_read_bytes(picture *read, const unsigned char *bytes, size_t size)
{
    tjhandle jpeg = tjInitDecompress();
    if (!jpeg)
        return "there is no memory for it";
    const char *wrong = jpeg_read_by(jpeg, read, bytes, size);
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

static const char *
png_write_open(const picture *written, FILE *file)
{
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = written->width,
                     .height = written->height,
                     .format = PNG_FORMAT_RGB};
    bool is_written = png_image_write_to_stdio(&png, file, 0, written->rgb, 0, NULL) != 0;
    const char *wrong = is_written ? NULL : png_wrong(&png);
    return fclose(file) != 0 && !wrong ? strerror(errno) : wrong;
}

/* Of this run alone: whoever is started again in it takes it over. */
static FILE *
open_beside(const char *path, char *name, size_t size)
{
    const char *run = getenv("MEDLEY_SYSTEM");
    if (snprintf(name, size, "%s.%s.part", path, run ? run : "") >= (int)size) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    return fopen(name, "wb");
}

/* Another may write the same, and who is killed on the way has written nothing to `path`. */
static const char *
write_beside(const picture *written, const char *path)
{
    char beside[4096];
    FILE *file = open_beside(path, beside, sizeof beside);
    if (!file)
        return strerror(errno);
    const char *wrong = png_write_open(written, file);
    if (!wrong && rename(beside, path) != 0)
        wrong = strerror(errno);
    if (wrong)
        unlink(beside);
    return wrong;
}

const char *
picture_write(const picture *written, const char *path)
{
    struct stat there;
    if (stat(path, &there) != 0 || S_ISREG(there.st_mode))
        return write_beside(written, path);
    FILE *file = fopen(path, "wb");
    return file ? png_write_open(written, file) : strerror(errno);
}
