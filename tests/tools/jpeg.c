/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* jpeg FILE [cmyk]: writes a JPEG picture of 40 by 24 pixels, for examples/pipeline to read. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

#define WIDTH 40
#define HEIGHT 24

int
main(int count, char **arguments)
{
    static unsigned char pixels[WIDTH * HEIGHT * 4];
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    int format = count == 3 && strcmp(arguments[2], "cmyk") == 0 ? TJPF_CMYK : TJPF_RGB;
    tjhandle jpeg = tjInitCompress();
    FILE *file = count > 1 ? fopen(arguments[1], "wb") : NULL;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (unsigned char)(i * i / 97);
    bool is_written = jpeg && file &&
                      tjCompress2(jpeg, pixels, WIDTH, 0, HEIGHT, format, &bytes, &size, TJSAMP_444,
                                  90, 0) == 0 &&
                      fwrite(bytes, size, 1, file) == 1;
    if (file && fclose(file) != 0)
        is_written = false;
    tjFree(bytes);
    if (jpeg)
        tjDestroy(jpeg);
    return is_written ? EXIT_SUCCESS : EXIT_FAILURE;
}
