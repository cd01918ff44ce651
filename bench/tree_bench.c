/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Resource trees: of this machine, by the quick reader and by hwloc, and of 128 cores, from a file
 * that hwloc wrote (read and checked apart) and from a description. Printed; nobody else has such.
 */
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "bench_system.h"
#include "medley/medley.h"
#include "port/port.h"

#define MACHINE                                                                                    \
    "package:2 [numa(memory=68719476736)] l3:8(size=33554432) l2:8(size=1048576) core:1 pu:1"
#define MACHINE_PROCESSORS 128u

typedef struct machine {
    const char *variable; /* NULL: this one */
    const char *value;
    uint32_t processors; /* 0: as many as there are */
} machine;

static uint32_t
processors_below(const mrapi_resource_t *resource)
{
    uint32_t count = resource->resource_type == MRAPI_RSRC_CPU;
    for (uint32_t i = 0; i < resource->child_count; i++) {
        count += processors_below(resource->children[i]);
    }
    return count;
}

/* Milliseconds of one tree, and its end. */
static bool
measure_tree(const bench *b, void *context, double *values)
{
    const machine *m = context;
    double samples[20];
    uint64_t count = bench_count(b, 20);
    mrapi_status_t status = MRAPI_SUCCESS;
    bool right = bench_system_open(NULL);
    (void)unsetenv("HWLOC_XMLFILE");
    (void)unsetenv("HWLOC_SYNTHETIC");
    if (m->variable) {
        (void)setenv(m->variable, m->value, 1);
    }
    for (uint64_t i = 0; i < count && right; i++) {
        uint64_t start_ns = med_port_clock_ns();
        mrapi_resource_t *root = mrapi_resources_get(MEDLEY_RSRC_ALL, &status);
        uint32_t processors = root ? processors_below(root) : 0;
        right = processors > 0 && (m->processors == 0 || processors == m->processors);
        mrapi_resource_tree_free(&root, &status);
        samples[i] = (double)(med_port_clock_ns() - start_ns) / 1e6;
    }
    bench_system_close();
    values[0] = right ? bench_permille(samples, count, 500) : 0;
    return right || bench_failed("tree", "no tree, or not of that machine");
}

static bool
sink_count(void *context, const med_topology_part *part, uint32_t *number)
{
    uint32_t *count = context;
    (void)part;
    *number = (*count)++;
    return true;
}

/* Of the quick reader its parts only: the library prefers the module where there is one. */
static bool
measure_quick(const bench *b, void *context, double *values)
{
    double samples[20];
    uint64_t count = bench_count(b, 20);
    bool right = true;
    (void)context;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t parts = 0;
        char why[MED_PORT_WHY_BYTES];
        const med_topology_sink sink = {.add = sink_count, .context = &parts};
        uint64_t start_ns = med_port_clock_ns();
        right = right && med_port_topology_read(&sink, why, sizeof why) == MEDLEY_OK && parts > 2;
        samples[i] = (double)(med_port_clock_ns() - start_ns) / 1e6;
    }
    values[0] = bench_permille(samples, count, 500);
    return right || bench_failed("quick reader", "no parts");
}

static bool
recorded(const char *file)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0) {
        return false;
    }
    bool done = hwloc_topology_set_synthetic(topology, MACHINE) == 0 &&
                hwloc_topology_load(topology) == 0 &&
                hwloc_topology_export_xml(topology, file, 0) == 0;
    hwloc_topology_destroy(topology);
    return done;
}

int
main(int argc, char **argv)
{
    bench b;
    char file[] = "/tmp/medley-bench-XXXXXX";
    int fd = mkstemp(file);
    machine here = {.variable = NULL};
    machine from_file = {"HWLOC_XMLFILE", file, MACHINE_PROCESSORS};
    machine described = {"HWLOC_SYNTHETIC", MACHINE, MACHINE_PROCESSORS};
    bench_subject subjects[] = {{"this machine, hwloc", measure_tree, &here},
                                {"this machine, quick reader", measure_quick, NULL},
                                {"128 cores, XML file", measure_tree, &from_file},
                                {"128 cores, description", measure_tree, &described}};
    bench_question question = {.name = "resource tree",
                               .setting = "all parts, got and freed; median of 20",
                               .unit = "ms",
                               .value_count = 1,
                               .subjects = subjects,
                               .subject_count = BENCH_COUNT(subjects)};
    (void)setenv("MEDLEY_MODULE_DIR", BENCH_MODULES, 0);
    bench_begin(&b, argc, argv, "tree_bench", "Resource trees");
    if (fd < 0 || !recorded(file)) {
        (void)fprintf(stderr, "tree_bench: no file with a machine\n");
        return 1;
    }
    bench_ask(&b, &question);
    (void)close(fd);
    (void)unlink(file);
    return bench_end(&b);
}
