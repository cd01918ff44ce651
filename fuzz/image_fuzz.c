/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A system from a file that anybody may have written: whatever it is, it is read or refused, all
 * of what is read is within its bounds, and reading it again gives the same. */
#include "base/log.h"
#include "fuzz.h"
#include "mrapi/image.h"

static const char begin[] = "medley-system: 1\n";
static unsigned list[MED_IMAGE_LIST_ROOM];

static void
expect(int good)
{
    if (!good) {
        abort();
    }
}

/* How many items there are. */
static uint32_t
walk(med_image *image)
{
    med_image_reader reader;
    med_image_item item;
    medley_status_t status;
    uint32_t count = 0;
    med_image_rewind(image, &reader);
    while ((status = med_image_next(&reader, &item)) == MEDLEY_OK) {
        expect(item.section < MED_IMAGE_SECTION_COUNT && item.node_count <= MED_IMAGE_LIST_MAX);
        expect(item.number != MED_IMAGE_NUMBER_ANY && item.place < MED_PORT_PLACE_COUNT);
        expect(item.section != MED_IMAGE_SHMEMS || item.size_bytes > 0);
        expect(item.section != MED_IMAGE_ENDPOINTS || item.number <= MED_IMAGE_PORT_MAX);
        count++;
    }
    expect(status == MEDLEY_EMPTY);
    return count;
}

/* As it is, or, so that more gets past the first line, behind that. */
static void
try_text(const uint8_t *bytes, size_t size, size_t begin_bytes)
{
    char *text = fuzz_memory(begin_bytes + size + 1);
    char *at = realloc(text, begin_bytes + size ? begin_bytes + size : 1);
    med_image image;
    med_limits limits;
    expect(at != NULL);
    memcpy(at, begin, begin_bytes);
    memcpy(at + begin_bytes, bytes, size);
    if (med_image_open_text("image", at, (uint32_t)(begin_bytes + size), list, &image) ==
        MEDLEY_OK) {
        expect(walk(&image) == walk(&image));
        med_limits_from_environment(&limits);
        med_image_limits(&image, &limits);
        expect(med_limits_valid(&limits));
        (void)med_image_check(&image, &limits);
    }
    free(at);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    med_log_level_set(MED_LOG_QUIET);
    try_text(bytes, size, 0);
    try_text(bytes, size, sizeof begin - 1);
    return 0;
}
