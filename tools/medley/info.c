/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* medley info: what Medley finds on this machine, or on a recorded one. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "medley/medley.h"
#include "port/port.h"
#include "tools/medley/command.h"
#include "tools/medley/info_picture.h"
#include "tools/medley/output.h"
#include "tools/medley/surroundings.h"
#include "tools/medley/topology.h"
#include "tools/medley/tree.h"

#define WHY_BYTES 1024u

static const char help[] =
    "usage: medley info [--json] [--tree] [--xml FILE] [--svg FILE]\n"
    "\n"
    "Shows what Medley finds here: domains, processors and how many of them this process\n"
    "gets, what its control group grants, classes of cores, caches, memories, shared\n"
    "memory, barriers, and the limits that a system started now would have.\n"
    "\n"
    "  --json      one JSON document\n"
    "  --tree      the machine as MRAPI's tree of resources instead\n"
    "  --xml FILE  the machine that hwloc recorded in FILE (lstopo FILE.xml) instead\n"
    "  --svg FILE  draws it: packages, memories, caches, cores by class, processors;\n"
    "              - is standard output\n"
    "  -h, --help  this text\n";

typedef struct info_options {
    bool json;
    bool tree;
    const char *xml; /* NULL: this machine */
    const char *svg; /* NULL: it is not drawn */
} info_options;

/* ---- Finding out ----------------------------------------------------------------------------- */

static const char *
isa_name(void)
{
    static const char *const names[MED_PORT_ISA_COUNT] = {
        [MED_PORT_ISA_UNKNOWN] = "unknown", [MED_PORT_ISA_X86_64] = "x86_64",
        [MED_PORT_ISA_AARCH64] = "aarch64", [MED_PORT_ISA_ARM] = "arm",
        [MED_PORT_ISA_RISCV64] = "riscv64", [MED_PORT_ISA_RISCV32] = "riscv32",
        [MED_PORT_ISA_PPC64] = "ppc64",
    };
    return names[med_port_isa()];
}

/* A machine of one kind of processor is one domain. Takes over what is known of its parts. */
static json_t *
domain_json(const json_t *topology, const char *isa)
{
    return json_pack(
        "{s:i, s:s, s:O, s:O, s:O, s:O, s:O, s:O}", "domain", 0, "instruction_set", isa,
        "processors", json_object_get(topology, "processors"), "cores",
        json_object_get(topology, "cores"), "packages", json_object_get(topology, "packages"),
        "core_classes", json_object_get(topology, "core_classes"), "caches",
        json_object_get(topology, "caches"), "memories", json_object_get(topology, "memories"));
}

static json_t *
machine_json(const json_t *topology)
{
    const char *source = json_string_value(json_object_get(topology, "source"));
    return json_pack("{s:s, s:O, s:O}", "source", source ? source : "this machine", "model",
                     json_object_get(topology, "model"), "vendor",
                     json_object_get(topology, "vendor"));
}

static json_t *
processors_json(void)
{
    med_port_processors found = {.online = 0};
    (void)med_port_processors_discover(&found);
    return json_pack("{s:I, s:I}", "online", (json_int_t)found.online, "allowed",
                     (json_int_t)found.allowed);
}

/* 0: no limit; null: it cannot be told. */
static json_t *
group_json(void)
{
    med_port_grants found;
    med_port_grants_get(&found);
    return json_pack("{s:o, s:o}", "quota_permille",
                     output_number(found.processors_known, found.quota_permille), "memory_bytes",
                     output_number(found.memory_known, found.memory_bytes));
}

static json_t *
document_recorded(const json_t *topology)
{
    const char *isa = json_string_value(json_object_get(topology, "architecture"));
    return json_pack("{s:s, s:o, s:[o]}", "version", medley_version(), "machine",
                     machine_json(topology), "domains",
                     domain_json(topology, isa ? isa : "unknown"));
}

static json_t *
document_here(const json_t *topology)
{
    json_t *machine = machine_json(topology);
    json_t *hypervisor = surroundings_virtual();
    (void)json_object_update(machine, hypervisor);
    json_decref(hypervisor);
    return json_pack("{s:s, s:o, s:o, s:o, s:[o], s:I, s:o, s:o, s:o}", "version", medley_version(),
                     "machine", machine, "processors", processors_json(), "group", group_json(),
                     "domains", domain_json(topology, isa_name()), "page_bytes",
                     surroundings_page_bytes(), "shared_memory", surroundings_shared_memory(),
                     "membarrier", surroundings_membarrier(), "limits", surroundings_limits());
}

/* ---- As text --------------------------------------------------------------------------------- */

static void
pages_cell(const json_t *row, const json_t *value, char *cell)
{
    size_t length = 0;
    (void)row;
    cell[0] = '\0';
    for (size_t i = 0; i < json_array_size(value) && length < OUTPUT_CELL_BYTES; i++) {
        const json_t *size = json_object_get(json_array_get(value, i), "size_bytes");
        length += (size_t)snprintf(cell + length, OUTPUT_CELL_BYTES - length, "%s%s", i ? ", " : "",
                                   output_size_text((uint64_t)json_integer_value(size)));
    }
    if (length == 0) {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "-");
    }
}

static void
memory_size(const json_t *row, const json_t *value, char *cell)
{
    if (json_is_integer(value)) {
        output_size(row, value, cell);
    } else {
        (void)snprintf(cell, OUTPUT_CELL_BYTES, "unknown");
    }
}

static const output_column class_columns[] = {
    {"CORES OF A KIND", "processors", NULL, false}, {"COUNT", "count", NULL, true},
    {"EFFICIENCY", "efficiency", NULL, true},       {"TYPE", "core_type", NULL, false},
    {"CAPACITY", "capacity", NULL, true},           {"MHZ", "frequency_max_mhz", NULL, true},
};

static const output_column cache_columns[] = {
    {"CACHE", "name", NULL, false},
    {"TYPE", "type", NULL, false},
    {"SIZE", "size_bytes", output_size, true},
    {"LINE", "line_bytes", output_size, true},
    {"COUNT", "count", NULL, true},
    {"PROCESSORS EACH", "processors_each", NULL, true},
};

static const output_column memory_columns[] = {
    {"MEMORY", "number", NULL, true},
    {"SIZE", "size_bytes", memory_size, true},
    {"KIND", "kind", NULL, false},
    {"PAGES", "pages", pages_cell, false},
    {"PROCESSORS", "processors", NULL, false},
};

static const output_column limit_columns[] = {
    {"LIMIT", "name", NULL, false},        {"VALUE", "value", NULL, true},
    {"STANDARD", "standard", NULL, true},  {"LARGEST", "largest", NULL, true},
    {"VARIABLE", "variable", NULL, false},
};

static const char *
yes_no(const json_t *value, const char *yes, const char *no)
{
    return json_is_null(value) || !value ? "cannot be told" : json_is_true(value) ? yes : no;
}

static const char *
text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "unknown";
}

static json_int_t
number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* "2 cores", by the key. */
static const char *
count_of(const json_t *object, const char *things)
{
    return output_count_text((uint64_t)number_of(object, things), things);
}

static void
machine_print(const json_t *document)
{
    const json_t *machine = json_object_get(document, "machine");
    (void)printf("medley %s on %s: %s\n", text_of(document, "version"), text_of(machine, "source"),
                 text_of(machine, "model"));
    if (json_object_get(machine, "virtual")) {
        (void)printf("virtual machine: %s; emulated: %s\n",
                     yes_no(json_object_get(machine, "virtual"), "yes", "no"),
                     yes_no(json_object_get(machine, "emulated"), "yes", "no"));
    }
}

static void
processors_print(const json_t *processors)
{
    (void)printf("processors: %d online, %d allowed\n", (int)number_of(processors, "online"),
                 (int)number_of(processors, "allowed"));
}

static void
group_print(const json_t *group)
{
    const json_t *quota = json_object_get(group, "quota_permille");
    const json_t *memory = json_object_get(group, "memory_bytes");
    (void)fputs("control group: processors ", stdout);
    if (json_integer_value(quota) > 0) {
        (void)printf("%.2f", (double)json_integer_value(quota) / 1000);
    } else {
        (void)fputs(yes_no(quota, "", "no limit"), stdout);
    }
    (void)fputs(", memory ", stdout);
    if (json_integer_value(memory) > 0) {
        (void)puts(output_size_text((uint64_t)json_integer_value(memory)));
    } else {
        (void)puts(yes_no(memory, "", "no limit"));
    }
}

static void
domain_print(const json_t *domain)
{
    (void)printf("\ndomain %d: %s, %s, %s, %s\n", (int)number_of(domain, "domain"),
                 text_of(domain, "instruction_set"), count_of(domain, "processors"),
                 count_of(domain, "cores"), count_of(domain, "packages"));
    OUTPUT_TABLE(json_object_get(domain, "core_classes"), class_columns);
    OUTPUT_TABLE(json_object_get(domain, "caches"), cache_columns);
    OUTPUT_TABLE(json_object_get(domain, "memories"), memory_columns);
}

static void
surroundings_print(const json_t *document)
{
    const json_t *shared = json_object_get(document, "shared_memory");
    const json_t *barrier = json_object_get(document, "membarrier");
    if (json_is_integer(json_object_get(shared, "size_bytes"))) {
        (void)printf("\nshared memory: %s, %s, %s free", text_of(shared, "folder"),
                     output_size_text((uint64_t)number_of(shared, "size_bytes")),
                     output_size_text((uint64_t)number_of(shared, "free_bytes")));
    } else {
        (void)printf("\nshared memory: %s is not there; named systems cannot start",
                     text_of(shared, "folder"));
    }
    (void)printf("; pages of %s\n", output_size_text((uint64_t)number_of(document, "page_bytes")));
    (void)printf("membarrier: private %s, global %s\n",
                 yes_no(json_object_get(barrier, "private_expedited"), "yes", "no: fences instead"),
                 yes_no(json_object_get(barrier, "global_expedited"), "yes", "no: fences instead"));
    (void)puts("limits of a system that starts now:");
    OUTPUT_TABLE(json_object_get(document, "limits"), limit_columns);
}

static void
document_print(const json_t *document)
{
    const json_t *processors = json_object_get(document, "processors");
    const json_t *domains = json_object_get(document, "domains");
    machine_print(document);
    if (processors) {
        processors_print(processors);
        group_print(json_object_get(document, "group"));
    }
    for (size_t i = 0; i < json_array_size(domains); i++) {
        domain_print(json_array_get(domains, i));
    }
    if (json_object_get(document, "limits")) {
        surroundings_print(document);
    }
}

/* ---- The command ----------------------------------------------------------------------------- */

/* As a picture; with --json the document says where it is. */
static int
draw(const med_command *command, const info_options *options, json_t *document, const json_t *parts)
{
    bool good = info_picture_write(options->svg, document, parts);
    if (!good) {
        command_error(command, "cannot write '%s': %s", options->svg, strerror(errno));
    } else if (options->json) {
        (void)json_object_set_new(document, "picture", output_string(options->svg));
        output_json(json_incref(document), false);
    }
    return good ? COMMAND_OK : COMMAND_FAILED;
}

static int
show(const med_command *command, const info_options *options)
{
    int result = COMMAND_OK;
    char why[WHY_BYTES];
    json_t *topology = topology_take(options->xml, why, sizeof why);
    if (!topology) {
        command_error(command, "%s", why);
        return COMMAND_FAILED;
    }
    bool here = json_is_null(json_object_get(topology, "source"));
    const char *disobeyed = json_string_value(json_object_get(topology, "disobeyed"));
    if (disobeyed) {
        command_error(command,
                      "%s: hwloc cannot make a machine of it; this is the machine it runs on",
                      disobeyed);
    }
    json_t *document = here ? document_here(topology) : document_recorded(topology);
    if (options->svg) {
        result = draw(command, options, document, json_object_get(topology, "parts"));
    } else if (options->json) {
        output_json(json_incref(document), false);
    } else {
        document_print(document);
    }
    json_decref(document);
    json_decref(topology);
    return result;
}

static int
show_tree(const med_command *command, const info_options *options)
{
    command_hear_library(); /* which says what is wrong */
    json_t *tree = tree_take(options->xml);
    if (!tree) {
        command_error(command, "there is no tree");
        return COMMAND_FAILED;
    }
    if (options->json) {
        output_json(tree, false);
    } else {
        tree_print(tree);
        json_decref(tree);
    }
    return COMMAND_OK;
}

static int
run(const med_command *command, int argc, char **argv)
{
    static const struct option known[] = {COMMAND_OPTIONS,
                                          {"tree", no_argument, NULL, 't'},
                                          {"xml", required_argument, NULL, 'x'},
                                          {"svg", required_argument, NULL, 's'},
                                          {NULL, 0, NULL, 0}};
    info_options options = {.xml = NULL};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, COMMAND_SHORT_OPTIONS, known, NULL)) != -1) {
        if (option == 'j') {
            options.json = true;
        } else if (option == 't') {
            options.tree = true;
        } else if (option == 'x') {
            options.xml = optarg;
        } else if (option == 's') {
            options.svg = optarg;
        } else {
            return command_other_option(command, option, argv);
        }
    }
    if (options.xml && !*options.xml) {
        return command_usage_error(command, "--xml names no file");
    }
    if (options.svg && !*options.svg) {
        return command_usage_error(command, "--svg names no file");
    }
    if (options.svg && options.tree) {
        return command_usage_error(command, "want one of --svg and --tree");
    }
    if (options.svg && options.json && strcmp(options.svg, "-") == 0) {
        return command_usage_error(command,
                                   "--json goes to standard output: want a file for --svg");
    }
    if (argv[optind]) {
        return command_usage_error(command, "'%s': info takes no arguments", argv[optind]);
    }
    return options.tree ? show_tree(command, &options) : show(command, &options);
}

const med_command command_info = {
    .name = "info",
    .summary = "this machine as Medley sees it",
    .help = help,
    .run = command_run,
    .body = run,
};
