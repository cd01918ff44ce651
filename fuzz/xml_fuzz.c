/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A machine's description that anybody may have written: the check that stands before hwloc's own
 * reader comes back, says in which line of the file something is wrong, and lets nothing pass that
 * nests deeper than a recursive reader may go, or has definitions of its own. */
#include "fuzz.h"
#include "modules/xml_check.h"

/* So that more gets past the first tag. */
static const char begin[] = "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n";

static void
expect(int good)
{
    if (!good) {
        abort();
    }
}

static unsigned
lines_of(const char *text, size_t length)
{
    unsigned lines = 1;
    for (size_t i = 0; i < length; i++) {
        lines += text[i] == '\n';
    }
    return lines;
}

/* What passed holds its promises, as far as they are seen without reading it as XML. */
static void
passed(const char *text, size_t length)
{
    expect(memchr(text, '\0', length) == NULL);
    expect(memchr(text, '<', length) != NULL && memchr(text, '>', length) != NULL);
}

static void
try_text(const uint8_t *bytes, size_t size, size_t begin_bytes)
{
    /* Exactly so large: a look behind it is seen. */
    char *text = malloc(begin_bytes + size ? begin_bytes + size : 1);
    unsigned line = 0;
    expect(text != NULL);
    memcpy(text, begin, begin_bytes);
    memcpy(text + begin_bytes, bytes, size);
    const char *wrong = xml_check(text, begin_bytes + size, NULL, &line);
    expect(line >= 1 && line <= lines_of(text, begin_bytes + size));
    if (!wrong) {
        passed(text, begin_bytes + size);
    }
    free(text);
}

/* As many tags in each other as the first bytes say: the deepest that passes is XML_DEPTH_MAX. */
static void
try_depth(const uint8_t *bytes, size_t size)
{
    size_t depth = size ? bytes[0] % (2 * XML_DEPTH_MAX) + 1u : 1;
    size_t length = depth * 7;
    char *text = malloc(length);
    unsigned line;
    expect(text != NULL);
    for (size_t i = 0; i < depth; i++) {
        memcpy(text + i * 3, "<a>", 3);
        memcpy(text + depth * 3 + i * 4, "</a>", 4);
    }
    expect((xml_check(text, length, NULL, &line) == NULL) == (depth <= XML_DEPTH_MAX));
    /* And damaged where the next bytes say. */
    for (size_t i = 1; i + 1 < size && i < 9; i += 2) {
        text[bytes[i] * length / 256] = (char)bytes[i + 1];
    }
    (void)xml_check(text, length, NULL, &line);
    free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    try_text(bytes, size, 0);
    try_text(bytes, size, sizeof begin - 1);
    try_depth(bytes, size);
    return 0;
}
