/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The module that reads machines by hwloc: machines that we do not have, from descriptions and from
 * files, and files that are none. As in most programs hwloc is here for the module alone; what
 * writes files by it is another program.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "modules/child.h"
#include "port/port.h"
#include "support/process.h"
#include "support/random.h"
#include "support/unit.h"

#define LARGE                                                                                      \
    "package:2 [numa(memory=68719476736)] l3:8(size=33554432) l2:8(size=1048576) core:1 pu:1"
#define SMALL "package:2 [numa(memory=2147483648)] l2:1(size=4194304) core:2 pu:2"
#define MUTATIONS 300

static med_topology_read read_machine;
static char file[256];

/* ---- Writing and reading --------------------------------------------------------------------- */

/* What a program that has hwloc says of `file`, or of writing a machine to it: its exit status. */
static int
program(const char *description)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        const char *path = getenv("HWLOC_PROGRAM");
        (void)execl(path, path, file, description, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Has hwloc write the machine to `file`, and gives its text. */
static size_t
xml_of(const char *description, char **text)
{
    struct stat st;
    assert_int_equal(program(description), 0);
    FILE *stream = fopen(file, "r");
    assert_non_null(stream);
    assert_int_equal(fstat(fileno(stream), &st), 0);
    *text = malloc((size_t)st.st_size + 1);
    assert_non_null(*text);
    assert_int_equal(fread(*text, 1, (size_t)st.st_size, stream), st.st_size);
    assert_int_equal(fclose(stream), 0);
    (*text)[st.st_size] = '\0';
    return (size_t)st.st_size;
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

/* As hwloc looks for them. */
static const char *const variables[] = {"HWLOC_FSROOT", "HWLOC_CPUID_PATH", "HWLOC_SYNTHETIC",
                                        "HWLOC_XMLFILE"};

static medley_status_t
read_with(const char *variable, const char *value, machine *m)
{
    const med_topology_sink sink = {.add = count_part, .context = m};
    *m = (machine){.parts = 0};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        (void)unsetenv(variables[i]);
    }
    assert_int_equal(variable ? setenv(variable, value, 1) : 0, 0);
    medley_status_t status = read_machine(&sink, m->why, sizeof m->why);
    assert_int_equal(status == MEDLEY_OK, m->why[0] == '\0');
    return status;
}

static bool
names_a_line(const char *why)
{
    size_t length = strlen(file);
    return strncmp(why, file, length) == 0 && why[length] == ':' && why[length + 1] >= '1' &&
           why[length + 1] <= '9';
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

/* The machine of SMALL, with something put behind what it has of `behind`. */
static void
small_with(const char *behind, const char *more)
{
    machine m;
    char *text;
    size_t length = xml_of(SMALL, &text);
    const char *at = strstr(text, behind);
    char *changed = malloc(length + strlen(more) + 1);
    assert_non_null(at);
    assert_non_null(changed);
    at += strlen(behind);
    (void)sprintf(changed, "%.*s%s%s", (int)(at - text), text, more, at);
    file_write(changed, strlen(changed));
    if (read_with("HWLOC_XMLFILE", file, &m) != MEDLEY_OK) {
        fail_msg("'%s' was said of: %s", m.why, more);
    }
    assert_int_equal(m.of_kind[MED_TOPOLOGY_PROCESSOR], 8);
    free(changed);
    free(text);
}

/* SMALL, with all of `was` replaced, in front of it `first`. */
static void
rewritten(const char *first, const char *was, const char *put)
{
    char *text;
    size_t length = xml_of(SMALL, &text);
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    (void)fputs(first, stream);
    for (size_t i = 0; i < length;) {
        bool here = strncmp(text + i, was, strlen(was)) == 0;
        (void)fprintf(stream, "%.*s", here ? (int)strlen(put) : 1, here ? put : text + i);
        i += here ? strlen(was) : 1;
    }
    assert_int_equal(fclose(stream), 0);
    free(text);
}

/* Does hwloc read XML by libxml, here? By its plugin alone, which some do not install. */
static void
skip_without_plugin(void)
{
    rewritten("", "\"", "'");
    int status = program(NULL);
    assert_in_range(status, 0, 1);
    if (status != 0) {
        (void)fprintf(stderr, "not possible here: hwloc has no plugin for libxml\n");
        skip();
    }
}

#define IN_MACHINE "gp_index=\"1\">"
#define IN_END "exported_support\"/>" /* where hwloc looks over what it does not know */

/* As people and programs write XML: hwloc reads all of it. */
static void
written_otherwise(void **state)
{
    (void)state;
    skip_without_plugin();
    small_with(IN_MACHINE, "<info name=\"&amp;&lt;&gt;&quot;&apos;\" value='\"'/>");
    small_with(IN_MACHINE, "<info name=\"&#38;&#x26;&#00000000000038;\" value=\"&#x1F600;\"/>");
    small_with(IN_MACHINE, "<info name=\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\x7f\" value=\"\"/>");
    small_with(IN_END, "&defined-elsewhere;");
    small_with(IN_MACHINE, "<info name = 'a'\n\tvalue = 'b'\t/>");
    small_with(IN_END, "<!-- & \" - - -><- -->");
    small_with(IN_END, "<?of another & ?><?another?>");
    small_with(IN_END, "<![CDATA[& <object> -- ]] >]]>");
    small_with("?>", "<!--a--><?b?>\n");
    small_with("</topology>", "\n<!--a--><?b?>\n");
    small_with("\"hwloc2.dtd", "[>");
}

/* Many, of which hwloc knows few; and more than a tag may have. */
static void
many_attributes(void **state)
{
    enum {
        MANY = 50,
        TOO_MANY = 80
    };
    char more[2000] = " \xc3\xa9=\"\"";
    machine m;
    (void)state;
    skip_without_plugin();
    for (int i = 0; i < MANY; i++) {
        (void)sprintf(more + strlen(more), " a%d=\"\"", i);
    }
    small_with("type=\"Machine\"", more);
    (void)sprintf(more, "<topology\n");
    for (int i = 0; i < TOO_MANY; i++) {
        (void)sprintf(more + strlen(more), " a%d=\"\"", i);
    }
    file_write(more, strlen(more));
    assert_int_equal(read_with("HWLOC_XMLFILE", file, &m), MEDLEY_ERR_CORRUPT);
    assert_non_null(strstr(m.why, ":2: a tag has too many attributes"));
}

/* ---- Written by others ----------------------------------------------------------------------- */

static const struct {
    const char *first;
    const char *was;
    const char *put;
} otherwise[] = {
    {"", "\n", "\r\n"},
    {"", "\"", "'"},
    {"\xef\xbb\xbf", "\n", "\n"},
    {"", "encoding=\"UTF-8\"", "encoding='iso-8859-1' standalone = \"no\" "},
    {"", "encoding=\"UTF-8\"", "encoding = 'us-ascii'\n"},
};

/* What hwloc's plugin for libxml reads, and its own parser does not. */
static void
written_by_others(void **state)
{
    machine m;
    (void)state;
    skip_without_plugin();
    for (size_t i = 0; i < sizeof otherwise / sizeof otherwise[0]; i++) {
        rewritten(otherwise[i].first, otherwise[i].was, otherwise[i].put);
        if (read_with("HWLOC_XMLFILE", file, &m) != MEDLEY_OK) {
            fail_msg("'%s' was said of %zu", m.why, i);
        }
        assert_int_equal(m.of_kind[MED_TOPOLOGY_PROCESSOR], 8);
    }
    assert_null(dlsym(RTLD_DEFAULT, "hwloc_topology_init")); /* nothing of it stays */
}

/* As where it is not installed. */
static void
without_the_plugin(void **state)
{
    machine m;
    char said[sizeof file + 200];
    (void)state;
    assert_int_equal(setenv("HWLOC_PLUGINS_PATH", getenv("MEDLEY_SHM_DIR"), 1), 0);
    rewritten("", "\"", "'");
    medley_status_t status = read_with("HWLOC_XMLFILE", file, &m);
    rewritten("", "\"", "\"");
    assert_int_equal(read_with("HWLOC_XMLFILE", file, &(machine){.parts = 0}), MEDLEY_OK);
    (void)unsetenv("HWLOC_PLUGINS_PATH");
    assert_int_equal(status, MEDLEY_ERR_CORRUPT);
    (void)snprintf(said, sizeof said,
                   "%s:4: hwloc cannot make a machine of what begins here; without its plugin for "
                   "libxml (install libhwloc-plugins) it reads only XML as it writes it",
                   file);
    assert_string_equal(m.why, said);
}

/* ---- This machine, and folders --------------------------------------------------------------- */

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

/* As in a folder that a machine's files were copied to; here hwloc asks the processor itself. */
static void
machine_of_a_folder(void **state)
{
    machine m;
    char folder[300];
    (void)state;
    (void)snprintf(folder, sizeof folder, "%s/root", getenv("MEDLEY_SHM_DIR"));
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(read_with("HWLOC_FSROOT", folder, &m), MEDLEY_OK);
    assert_true(m.of_kind[MED_TOPOLOGY_PROCESSOR] > 0);
    assert_int_equal(rmdir(folder), 0);
}

static volatile sig_atomic_t children_gone;

static void
child_gone(int number)
{
    (void)number;
    children_gone = children_gone + 1;
}

/* Whatever somebody else may have written; but not what this machine says of itself. */
static void
read_apart(void **state)
{
    machine m;
    (void)state;
    (void)signal(SIGCHLD, child_gone);
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        int before = children_gone;
        (void)read_with(variables[i], "core:2", &m);
        assert_int_equal(children_gone, before + 1);
    }
    int before = children_gone;
    assert_int_equal(read_with(NULL, NULL, &m), MEDLEY_OK);
    assert_int_equal(children_gone, before);
    (void)signal(SIGCHLD, SIG_DFL);
}

/* Opened by who reads it, it has one who writes it, who never does. */
static void *
end_the_reader(void *fifo)
{
    int fd = open(fifo, O_WRONLY | O_CLOEXEC);
    (void)kill(0, SIGALRM); /* as the reader's alarm, much later */
    return fd >= 0 ? fifo : NULL;
}

static void
not_for_us(int number)
{
    (void)number;
}

/* In a process group of its own. */
static int
reads_without_end(test_process *parent, void *folder)
{
    char fifo[400], said[400];
    pthread_t writer;
    machine m;
    (void)parent;
    (void)snprintf(fifo, sizeof fifo, "%s/sys/devices/system/cpu/online", (char *)folder);
    child_expect(setpgid(0, 0) == 0);
    (void)signal(SIGALRM, not_for_us);
    child_expect(pthread_create(&writer, NULL, end_the_reader, fifo) == 0);
    child_expect(read_with("HWLOC_FSROOT", folder, &m) == MEDLEY_TIMEOUT);
    child_expect(pthread_join(writer, NULL) == 0);
    (void)snprintf(said, sizeof said, "HWLOC_FSROOT=%s: hwloc took longer than %u s to read it",
                   (char *)folder, CHILD_PATIENCE_S);
    child_expect(strcmp(m.why, said) == 0);
    return 0;
}

/* A file that has no end: said with the variable that chose it. */
static void
too_slow(void **state)
{
    static const char *const parts[] = {"", "/sys", "/sys/devices", "/sys/devices/system",
                                        "/sys/devices/system/cpu"};
    const size_t count = sizeof parts / sizeof parts[0];
    char folder[300], path[400];
    test_process child;
    (void)state;
    (void)snprintf(folder, sizeof folder, "%s/endless", getenv("MEDLEY_SHM_DIR"));
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(path, sizeof path, "%s%s", folder, parts[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    (void)snprintf(path, sizeof path, "%s%s/online", folder, parts[count - 1]);
    assert_int_equal(mkfifo(path, 0600), 0);
    process_start(&child, reads_without_end, folder);
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(unlink(path), 0);
    for (size_t i = count; i-- > 0;) {
        (void)snprintf(path, sizeof path, "%s%s", folder, parts[i]);
        assert_int_equal(rmdir(path), 0);
    }
}

/* The first, for hwloc and for us. */
static void
of_several_variables(void **state)
{
    machine m;
    const med_topology_sink sink = {.add = count_part, .context = &m};
    (void)state;
    assert_int_equal(read_with("HWLOC_SYNTHETIC", "core:3 pu:1", &m), MEDLEY_OK);
    (void)setenv("HWLOC_XMLFILE", "nowhere.xml", 1);
    m = (machine){.parts = 0};
    assert_int_equal(read_machine(&sink, m.why, sizeof m.why), MEDLEY_OK);
    assert_int_equal(m.of_kind[MED_TOPOLOGY_PROCESSOR], 3);
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
        {"<topology><object type=\"PU\"/></topology>\n<b/>\n", ":2: something follows"},
        {"<topology version=\"2.0\">\n</topology>\n", ":2: there is no machine in it"},
        {"<?xml version=\"1.0\"?>\n<machine/>\n", ":2: it is no topology"},
        {"<topology\nversion=\"9.0\"/>\n", ":2: a version of the format"},
        {"<topology>\n<object\n type=\"Toaster\"/>\n</topology>", ":3: an object is of no known"},
        {"<topology>\n<object type=\"Machine\"/>\n</topology>",
         ":3: the machine has no processors"},
        {"<topology>\n<object\n type=\"Machine\" type=\"PU\"/>\n",
         ":3: a tag has an attribute twice"},
        {"<topology>\n<object type=\"Machine\"name=\"\"/>\n", ":2: no space before an attribute"},
        {"<topology>\n<info name=\"a & b\"/>\n", ":2: '&' begins nothing"},
        {"<topology>\n<info name=\"&shy;\"/>\n", ":2: '&' begins what names no character"},
        {"<topology>\n<info name=\"&#0;\"/>\n", ":2: '&' begins what names no character"},
        {"<topology>\n<info name=\"&#xd800;\"/>\n", ":2: '&' begins what names no character"},
        {"<topology>\n\n&#x;<info/>\n", ":3: '&' begins what names no character"},
        {"<topology>\n<info name=\"\xc3(\"/>\n", ":2: there is a byte that is no character"},
        {"<topology>\n<info name=\"\xc0\x80\"/>\n", ":2: there is a byte that is no character"},
        {"<topology>\n<info name=\"\x01\"/>\n", ":2: there is a byte that is no character"},
        {"<topology>\n<info name=\"\xe0\x80\x80\"/>\n", ":2: there is a byte that is no character"},
        {"<topology>\n<info name=\"\xed\xa0\x80\"/>\n", ":2: there is a byte that is no character"},
        {"<topology>\n<info name=\"\xf4\x90\x80\x80\"/>\n",
         ":2: there is a byte that is no character"},
        {"<topology>\n<!-- a -- b --></topology>\n", ":2: a comment does not end, or has"},
        {"<topology>\n<info name=\"\n&amp;\n&\"/>\n", ":4: '&' begins nothing"},
        {"<topology>\n&#xx;\n\n<info/>\n", ":2: '&' begins what names no character"},
        {"<topology>\n]]></topology>\n", ":2: ']]>' ends nothing"},
        {"<topology>\n<![CDATA[ ]]</topology>\n", ":3: text does not end"},
        {"<?xml version=\"1.0\"?>\n<!DOCTYPE>\n", ":2: the document type is none"},
        {"\n<!DOCTYPE t PUBLIC \"\"\n\"\n>", ":4: the document type is none"},
        {"<topology>\n<?a&?></topology>\n", ":2: an instruction has no space"},
        {"<topology>\n<1/></topology>\n", ":2: '<' begins no tag"},
        {"<topology>\n<?xml version=\"1.0\"?></topology>\n", ":2: an instruction stands where"},
        {"<topology>\n<!DOCTYPE t></topology>\n", ":2: a document type does not stand"},
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

/* The line of `text` that has `mark`. */
static unsigned
line_of(const char *text, const char *mark)
{
    unsigned line = 1;
    const char *end = strstr(text, mark);
    assert_non_null(end);
    for (; text < end; text++) {
        line += *text == '\n';
    }
    return line;
}

/* A good machine, but for one thing: said with its line. */
static void
a_machine_but_for(const char *text, const char *good, const char *bad, const char *said)
{
    machine m;
    char want[200];
    const char *at = strstr(text, good);
    assert_non_null(at);
    char *changed = malloc(strlen(text) + strlen(bad) + 1);
    assert_non_null(changed);
    (void)sprintf(changed, "%.*s%s%s", (int)(at - text), text, bad, at + strlen(good));
    (void)snprintf(want, sizeof want, ":%u: %s", line_of(text, good), said);
    file_write(changed, strlen(changed));
    assert_int_equal(read_with("HWLOC_XMLFILE", file, &m), MEDLEY_ERR_CORRUPT);
    if (!strstr(m.why, want)) {
        fail_msg("'%s' was said of %s instead of %s, not '%s'", m.why, bad, good, want);
    }
    free(changed);
}

static void
almost_a_machine(void **state)
{
    static const char *const wrong[][3] = {
        {"type=\"Package\"", "type=\"Parcel\"", "an object is of no known type"},
        {"type=\"Core\"", "type=\"PU\"", "a processor's cpuset"},
        {"type=\"Core\"", "type=\"Machine\"", "a machine stands in"},
        {"type=\"Core\"", "type=\"Misc\"", "a device has a set"},
        {"type=\"Machine\"", "type=\"Package\"", "the first object is no machine"},
        {"object type=\"Core\"", "object os_index=\"1\" type=\"Core\"", "an object's type is not"},
        {"gp_index=\"", "gp_index=\"x", "a value is no number"},
        {"cache_size=\"4194304\"", "cache_size=\"4 MiB\"", "a value is no number"},
        {"cache_size=\"", "cache_size=\"99999999999999999999999", "a value is no number"},
        {"local_memory=\"", "local_memory=\"-", "a value is no number"},
        {"local_memory=\"", "local_memory=\"9999999999999", "a value is no number"},
        {" depth=\"2\"", " depth=\"3\"", "a cache's depth"},
        {" cache_type=\"0\"", " cache_type=\"2\"", "a cache's depth"},
        {" cpuset=\"0x000000ff\"", "", "an object lacks cpuset"},
        {" cpuset=\"0x000000ff\"", " cpuset=\"all\"", "a set is none"},
        {" cpuset=\"0x000000ff\"", " cpuset=\",0x000000ff\"", "a set is none"},
        {" nodeset=\"0x00000003\"", " nodeset=\"0x100000003\"", "a set is none"},
        {" cpuset=\"0x0000000f\"", " cpuset=\"0x0000ffff\"", "an object's set has"},
        {"type=\"PU\" os_index=\"3\"", "type=\"PU\" os_index=\"4\"", "a processor's cpuset"},
        {"type=\"NUMANode\" os_index=\"1\"", "type=\"NUMANode\" os_index=\"-1\"", "a value is"},
        {"<info name=", "<information name=", "an object has something that none has"},
    };
    char *text;
    (void)state;
    (void)xml_of(SMALL, &text);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        a_machine_but_for(text, wrong[i][0], wrong[i][1], wrong[i][2]);
    }
    free(text);
}

/* What only hwloc finds is said with the line in which the machine begins. */
static void
what_hwloc_finds(void **state)
{
    static const char more[] = "<cpukind/></topology>\n"; /* of no processors */
    char *text;
    char said[sizeof file + 80];
    machine m;
    (void)state;
    size_t length = xml_of(SMALL, &text);
    const char *end = strstr(text, "</topology>");
    assert_non_null(end);
    char *changed = malloc(length + sizeof more);
    assert_non_null(changed);
    (void)sprintf(changed, "%.*s%s", (int)(end - text), text, more);
    file_write(changed, strlen(changed));
    (void)snprintf(said, sizeof said, "%s:%u: hwloc cannot make a machine of what begins here",
                   file, line_of(text, "<object type=\"Machine\""));
    free(changed);
    assert_int_equal(read_with("HWLOC_XMLFILE", file, &m), MEDLEY_ERR_CORRUPT);
    assert_memory_equal(m.why, said, strlen(said)); /* and how to get the plugin, without */
    free(text);
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
    assert_int_equal(read_with("HWLOC_FSROOT", "nowhere", &m), MEDLEY_ERR_CORRUPT);
    assert_string_equal(m.why, "HWLOC_FSROOT=nowhere describes no machine");
    assert_int_equal(read_with("HWLOC_CPUID_PATH", "nowhere", &m), MEDLEY_ERR_CORRUPT);
    assert_string_equal(m.why, "HWLOC_CPUID_PATH=nowhere describes no machine");
}

/* hwloc's own reader calls itself for each level. */
static void
too_deep(void **state)
{
    enum {
        LEVELS = 200000
    };
    static const char root[] = "<topology>";
    static const char tag[] = "<object type=\"Group\">";
    machine m;
    (void)state;
    char *text = malloc(sizeof root + LEVELS * (sizeof tag - 1));
    assert_non_null(text);
    memcpy(text, root, sizeof root - 1);
    char *end = text + sizeof root - 1;
    for (size_t i = 0; i < LEVELS; i++, end += sizeof tag - 1) {
        memcpy(end, tag, sizeof tag - 1);
    }
    file_write(text, (size_t)(end - text));
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
        assert_true(names_a_line(m.why));
    }
    free(text);
}

/* Whatever comes of it, it is a machine or an error with its line. */
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
        bool good = read_with("HWLOC_XMLFILE", file, &m) == MEDLEY_OK;
        if (!good && !names_a_line(m.why)) {
            fail_msg("no line: %s", m.why);
        }
        machines += good;
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
        cmocka_unit_test(written_otherwise),
        cmocka_unit_test(many_attributes),
        cmocka_unit_test(written_by_others),
        cmocka_unit_test(without_the_plugin),
        cmocka_unit_test(too_slow),
        cmocka_unit_test(this_machine),
        cmocka_unit_test(machine_of_a_folder),
        cmocka_unit_test(read_apart),
        cmocka_unit_test(of_several_variables),
        cmocka_unit_test(no_machine),
        cmocka_unit_test(almost_a_machine),
        cmocka_unit_test(what_hwloc_finds),
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
    if (dlsym(RTLD_DEFAULT, "hwloc_topology_init")) {
        (void)fprintf(stderr, "hwloc is here for more than the module\n");
        return 1;
    }
    (void)setenv("HWLOC_HIDE_ERRORS", "2", 1);
    (void)snprintf(file, sizeof file, "%s/machine.xml", getenv("MEDLEY_SHM_DIR"));
    return cmocka_run_group_tests_name("modules/hwloc", tests, NULL, NULL);
}
