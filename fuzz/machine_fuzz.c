/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A machine's description that anybody may have written, as far as it is looked at before hwloc
 * gets it: a good one, with some of its bytes changed, or whatever there is. The line that is told
 * is one of the text. */
#include "fuzz.h"
#include "modules/machine_check.h"

#define SETS " cpuset=\"0x3\" complete_cpuset=\"0x3\" nodeset=\"0x1\" complete_nodeset=\"0x1\">\n"
#define PU(n, set)                                                                                 \
    "<object type=\"PU\" os_index=\"" n "\" cpuset=\"" set "\" complete_cpuset=\"" set             \
    "\" nodeset=\"0x1\" complete_nodeset=\"0x1\"/>\n"

static const char good[] =
    "<topology version=\"2.0\">\n"
    "<object type=\"Machine\"" SETS "<info name=\"a\" value=\"b\"/>\n"
    "<object type=\"NUMANode\" os_index=\"0\" local_memory=\"64\"" SETS "</object>\n"
    "<object type=\"L2Cache\" depth=\"2\" cache_type=\"0\"" SETS PU("0", "0x1")
        PU("1", "0x2") "</object>\n"
                       "</object>\n"
                       "</topology>\n";

static void
expect(int is_so)
{
    if (!is_so) {
        abort();
    }
}

/* Exactly so large: a look behind it is seen. */
static const char *
check(const char *bytes, size_t size)
{
    char *text = malloc(size ? size : 1);
    unsigned line = 0, lines = 1;
    expect(text != NULL);
    memcpy(text, bytes, size);
    for (size_t i = 0; i < size; i++) {
        lines += text[i] == '\n';
    }
    const char *wrong = machine_check(text, size, &line);
    expect(line >= 1 && line <= lines);
    free(text);
    return wrong;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char changed[sizeof good - 1];
    (void)check((const char *)bytes, size);
    memcpy(changed, good, sizeof changed);
    expect(check(changed, sizeof changed) == NULL);
    for (size_t i = 0; i + 2 < size && i < 24; i += 3) {
        changed[((size_t)bytes[i] << 8 | bytes[i + 1]) % sizeof changed] = (char)bytes[i + 2];
    }
    (void)check(changed, sizeof changed);
    return 0;
}
