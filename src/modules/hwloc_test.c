/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The module that reads machines by hwloc: machines that we do not have, from descriptions and from
 * files, and files that are none.
 */
#include <stdlib.h>
#include <string.h>

#include <hwloc.h>

#include "modules/xml_check.h"
#include "port/port.h"
#include "support/random.h"
#include "support/unit.h"

#define LARGE                                                                                      \
    "package:2 [numa(memory=68719476736)] l3:8(size=33554432) l2:8(size=1048576) core:1 pu:1"
#define SMALL "package:2 [numa(memory=2147483648)] l2:1(size=4194304) core:2 pu:2"
#define MUTATIONS 300

static med_topology_read read_machine;
static char file[256];

/* ---- Writing and reading --------------------------------------------------------------------- */

static size_t
xml_of(const char *description, char **text)
{
    hwloc_topology_t topology;
    char *xml;
    int length;
    assert_int_equal(hwloc_topology_init(&topology), 0);
    assert_int_equal(hwloc_topology_set_synthetic(topology, description), 0);
    assert_int_equal(hwloc_topology_load(topology), 0);
    assert_int_equal(hwloc_topology_export_xmlbuffer(topology, &xml, &length, 0), 0);
    *text = malloc((size_t)length);
    assert_non_null(*text);
    memcpy(*text, xml, (size_t)length);
    hwloc_free_xmlbuffer(topology, xml);
    hwloc_topology_destroy(topology);
    return (size_t)length - 1; /* without its NUL */
}

static void
file_write(const char *text, size_t length)
{
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(text, 1, length, stream), length);
    assert_int_equal(fclose(stream), 0);
}

typedef struct machine {
    uint32_t parts;
    uint32_t of_kind[MED_TOPOLOGY_KIND_COUNT];
    uint64_t memory_bytes;
    char why[MED_PORT_WHY_BYTES];
} machine;

static bool
count_part(void *context, const med_topology_part *part, uint32_t *number)
{
    machine *m = context;
    assert_true((uint32_t)part->kind < MED_TOPOLOGY_KIND_COUNT);
    assert_true(m->parts == 0 || part->parent < m->parts);
    assert_int_equal(part->kind == MED_TOPOLOGY_MACHINE, m->parts == 0);
    assert_non_null(memchr(part->name, '\0', sizeof part->name));
    assert_true(part->name[0] != '\0');
    m->of_kind[part->kind]++;
    m->memory_bytes += part->kind == MED_TOPOLOGY_MEMORY ? part->size_bytes : 0;
    *number = m->parts++;
    return true;
}

static medley_status_t
read_with(const char *variable, const char *value, machine *m)
{
    const med_topology_sink sink = {.add = count_part, .context = m};
    *m = (machine){.parts = 0};
    (void)unsetenv("HWLOC_XMLFILE");
    (void)unsetenv("HWLOC_SYNTHETIC");
    assert_int_equal(variable ? setenv(variable, value, 1) : 0, 0);
    medley_status_t status = read_machine(&sink, m->why, sizeof m->why);
    assert_int_equal(status == MEDLEY_OK, m->why[0] == '\0');
    return status;
}

/* ---- Machines -------------------------------------------------------------------------------- */

static void
large_expected(const machine *m)
{
    assert_int_equal(m->of_kind[MED_TOPOLOGY_PROCESSOR], 128);
    assert_int_equal(m->of_kind[MED_TOPOLOGY_CORE], 128);
    assert_int_equal(m->of_kind[MED_TOPOLOGY_CACHE], 16 + 128);
    assert_int_equal(m->of_kind[MED_TOPOLOGY_PACKAGE], 2);
    assert_int_equal(m->of_kind[MED_TOPOLOGY_MEMORY], 2);
    assert_int_equal(m->memory_bytes, UINT64_C(2) << 36);
}

static void
large_machine(void **state)
{
    machine m;
    char *text;
    (void)state;
    assert_int_equal(read_with("HWLOC_SYNTHETIC", LARGE, &m), MEDLEY_OK);
    large_expected(&m);
    size_t length = xml_of(LARGE, &text);
    file_write(text, length);
    assert_int_equal(read_with("HWLOC_XMLFILE", file, &m), MEDLEY_OK);
    large_expected(&m);
    free(text);
}

static void
this_machine(void **state)
{
    machine m, quick = {.parts = 0};
    med_port_processors processors;
    const med_topology_sink sink = {.add = count_part, .context = &quick};
    (void)state;
    assert_int_equal(read_with(NULL, NULL, &m), MEDLEY_OK);
    assert_int_equal(med_port_processors_discover(&processors), MEDLEY_OK);
    assert_int_equal(m.of_kind[MED_TOPOLOGY_PROCESSOR], processors.online);
    /* The quick reader sees the same, but for what it leaves out. */
    assert_int_equal(med_port_topology_read(&sink, quick.why, sizeof quick.why), MEDLEY_OK);
    assert_int_equal(quick.of_kind[MED_TOPOLOGY_PROCESSOR], processors.online);
    assert_int_equal(quick.of_kind[MED_TOPOLOGY_CACHE], m.of_kind[MED_TOPOLOGY_CACHE]);
    assert_int_equal(quick.of_kind[MED_TOPOLOGY_MEMORY], 1);
    assert_true(quick.memory_bytes > 0);
}

/* ---- What is none ---------------------------------------------------------------------------- */

static void
no_machine(void **state)
{
    static const struct {
        const char *text;
        const char *said;
    } wrong[] = {
        {"", ":1: there is nothing"},
        {"neither\n", ":1: text stands outside"},
        {"<topology>\n<object type=\"Machine\">\n</topology>\n", ":3: a tag is closed"},
        {"<topology>\n<object type=Machine/>\n</topology>\n", ":2: a value is not quoted"},
        {"<topology>\n\n<object type=\"Mach\n", ":4: a value is not closed"},
        {"<topology>\n<object type=\"Machine\"/>\n", ":3: the file ends"},
        {"<!DOCTYPE t [\n<!ENTITY a \"aaaa\">]>\n<t/>", ":1: the document brings definitions"},
        {"<a/>\n<b/>\n", ":2: something follows"},
        {"<topology version=\"2.0\">\n</topology>\n", "hwloc cannot make a machine of it"},
    };
    machine m;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        file_write(wrong[i].text, strlen(wrong[i].text));
        assert_int_equal(read_with("HWLOC_XMLFILE", file, &m), MEDLEY_ERR_CORRUPT);
        if (!strstr(m.why, wrong[i].said)) {
            fail_msg("'%s' was said of: %s", m.why, wrong[i].text);
        }
    }
}

static void
no_file(void **state)
{
    machine m;
    (void)state;
    assert_int_equal(read_with("HWLOC_XMLFILE", "nowhere.xml", &m), MEDLEY_ERR_CORRUPT);
    assert_non_null(strstr(m.why, "nowhere.xml: No such file"));
    assert_int_equal(read_with("HWLOC_XMLFILE", "/dev/zero", &m), MEDLEY_ERR_CORRUPT);
    assert_non_null(strstr(m.why, "not a plain file"));
    assert_int_equal(read_with("HWLOC_SYNTHETIC", "a large one, please", &m), MEDLEY_ERR_CORRUPT);
    assert_non_null(strstr(m.why, "HWLOC_SYNTHETIC=a large one, please"));
}

/* hwloc's own reader calls itself for each level. */
static void
too_deep(void **state)
{
    enum {
        LEVELS = 200000
    };
    static const char tag[] = "<object type=\"Group\">";
    machine m;
    (void)state;
    char *text = malloc(LEVELS * (sizeof tag - 1));
    assert_non_null(text);
    for (size_t i = 0; i < LEVELS; i++) {
        memcpy(text + i * (sizeof tag - 1), tag, sizeof tag - 1);
    }
    file_write(text, LEVELS * (sizeof tag - 1));
    assert_int_equal(read_with("HWLOC_XMLFILE", file, &m), MEDLEY_ERR_CORRUPT);
    assert_non_null(strstr(m.why, "nested too deep"));
    free(text);
}

static void
cut_short(void **state)
{
    char *text;
    machine m;
    (void)state;
    size_t length = xml_of(SMALL, &text);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '>')) {
        length--;
    }
    for (size_t cut = 0; cut <= length; cut += 1 + cut % 13) {
        file_write(text, cut);
        assert_int_equal(read_with("HWLOC_XMLFILE", file, &m), MEDLEY_ERR_CORRUPT);
    }
    free(text);
}

/* Whatever comes of it, it is a machine or an error. */
static void
changed_here_and_there(void **state)
{
    static const char put[] = "0123456789-\"<>/ =fx,NaPUCore\n";
    char *text;
    machine m;
    unsigned machines = 0;
    (void)state;
    size_t length = xml_of(SMALL, &text);
    char *changed = malloc(length);
    test_random random = test_random_of(0);
    for (int i = 0; i < MUTATIONS; i++) {
        memcpy(changed, text, length);
        for (uint32_t n = 1 + random_below(&random, 4); n > 0; n--) {
            size_t at = random_below(&random, (uint32_t)length);
            changed[at] = put[random_below(&random, sizeof put - 1)];
        }
        file_write(changed, length);
        machines += read_with("HWLOC_XMLFILE", file, &m) == MEDLEY_OK;
    }
    assert_true(machines > 0 && machines < MUTATIONS);
    free(changed);
    free(text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_machine),
        cmocka_unit_test(this_machine),
        cmocka_unit_test(no_machine),
        cmocka_unit_test(no_file),
        cmocka_unit_test(too_deep),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(changed_here_and_there),
    };
    const med_topology_module *module;
    void *found;
    char why[MED_PORT_WHY_BYTES];
    if (med_port_module_open("hwloc", MED_TOPOLOGY_MODULE_SYMBOL, &found, why) != MEDLEY_OK) {
        (void)fprintf(stderr, "%s\n", why);
        return 1;
    }
    module = found;
    read_machine = module->read;
    (void)setenv("HWLOC_HIDE_ERRORS", "2", 1);
    (void)snprintf(file, sizeof file, "%s/machine.xml", getenv("MEDLEY_SHM_DIR"));
    return cmocka_run_group_tests_name("modules/hwloc", tests, NULL, NULL);
}
