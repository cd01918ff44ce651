/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What `make demo` shows, measured: a picture through the three stages of examples/pipeline, of
 * which one is an OpenMP program. How long that one takes on each OpenMP library; and what it costs
 * to record who did what when. Each restart is a run of all stages; its picture must be the first
 * one's to the last byte.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

typedef struct run_case {
    const char *name;
    const char *libraries; /* of OpenMP, in a folder that is looked through first; NULL: Medley's */
    const char *options;   /* of medley run */
} run_case;

#define OWN "--own-openmp"
static const run_case runtimes[] = {{"medley", NULL, ""},
                                    {"libgomp", OPENMP_RUNTIMES_FOLDER "/libgomp", OWN},
                                    {"libomp", OPENMP_RUNTIMES_FOLDER "/libomp", OWN}};
static const run_case recorded[] = {{"recorded", NULL, "--trace-chrome \"$RESULT.json\""},
                                    {"not recorded", NULL, ""}};

/* ---- Pictures -------------------------------------------------------------------------------- */

#define PICTURE_BYTES_MAX (64u << 20)

static char result[] = "/tmp/medley-demo-XXXXXX";
static struct {
    unsigned char *bytes;
    size_t count;
} first; /* picture that was made */

static void
files_remove(void)
{
    char record[sizeof result + 8];
    (void)snprintf(record, sizeof record, "%s.json", result);
    (void)unlink(record);
    (void)unlink(result);
}

/* The first one is kept. */
static bool
is_as_the_first(void)
{
    FILE *file = fopen(result, "rb");
    unsigned char *bytes = malloc(PICTURE_BYTES_MAX);
    size_t count = file && bytes ? fread(bytes, 1, PICTURE_BYTES_MAX, file) : 0;
    if (file) {
        (void)fclose(file);
    }
    if (count > 0 && !first.bytes) {
        first.bytes = bytes;
        first.count = count;
        return true;
    }
    bool same = count > 0 && count == first.count && memcmp(bytes, first.bytes, count) == 0;
    free(bytes);
    return same;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* What the quantiser says: how long finding colours and painting took, in ms. */
static bool
stage_read(FILE *output, double *stage_ms)
{
    char line[256];
    double colours_ms, painted_ms;
    bool read = false;
    while (fgets(line, sizeof line, output)) {
        if (sscanf(line, "%*d colours in %*d rounds: %lf ms; painted: %lf ms", &colours_ms,
                   &painted_ms) == 2) {
            *stage_ms = colours_ms + painted_ms;
            read = true;
        }
    }
    return read;
}

static void
environment_set(const char *libraries)
{
    (void)setenv("RESULT", result, 1);
    (void)(libraries ? setenv("LD_LIBRARY_PATH", libraries, 1) : unsetenv("LD_LIBRARY_PATH"));
}

/* `values`: the stage, and all of the run. */
static bool
measure(const bench *b, void *context, double *values)
{
    const run_case *c = context;
    char command[1024];
    (void)b;
    environment_set(c->libraries);
    (void)snprintf(command, sizeof command,
                   "cd " PIPELINE_FOLDER " && exec " MEDLEY_PROGRAM
                   " run --plain --file pipeline.yaml %s 2>/dev/null",
                   c->options);
    double began_s = bench_now_s();
    FILE *output = popen(command, "r"); /* NOLINT(cert-env33-c): this build's */
    if (!output) {
        return bench_failed(c->name, strerror(errno));
    }
    bool read = stage_read(output, &values[0]);
    bool ended = pclose(output) == 0;
    values[1] = (bench_now_s() - began_s) * 1e3;
    return (read && ended && is_as_the_first()) ||
           bench_failed(c->name, "no picture, or another one");
}

static void
ask(bench *b,
    const char *name,
    const char *setting,
    const run_case *cases,
    uint32_t count,
    const bench_goal *goals,
    uint32_t goal_count)
{
    bench_subject subjects[BENCH_SUBJECTS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        subjects[i] = (bench_subject){cases[i].name, measure, (void *)(uintptr_t)&cases[i]};
    }
    bench_ask(b, &(bench_question){.name = name,
                                   .setting = setting,
                                   .unit = "ms",
                                   .value_names = {"stage", "all"},
                                   .value_count = 2,
                                   .subjects = subjects,
                                   .subject_count = count,
                                   .goals = goals,
                                   .goal_count = goal_count});
}

/* The one that `make demo` takes; or that of the documents' tests. */
static const char *
picture_choose(void)
{
    static const char packaged[] = "/usr/share/matplotlib/mpl-data/sample_data/grace_hopper.jpg";
    const char *picture = access(packaged, R_OK) == 0 ? packaged : PICTURE_OF_TESTS;
    (void)setenv("PICTURE", picture, 1);
    return strrchr(picture, '/') + 1;
}

int
main(int argc, char **argv)
{
    static const bench_goal beside[] = {{.name = "the OpenMP stage beside the better",
                                         .first_peer = 1,
                                         .peer_count = 2,
                                         .direction = BENCH_AT_MOST,
                                         .factor = 1.0}};
    static const bench_goal traced[] = {
        BENCH_BESIDE("the OpenMP stage, recorded beside not", 1, BENCH_AT_MOST, 1.05),
        {.name = "the whole run, recorded and written beside not",
         .first_peer = 1,
         .peer_count = 1,
         .direction = BENCH_AT_MOST,
         .factor = 1.05,
         .value = 1,
         .report_only = true}};
    char setting[256];
    bench b;
    bench_begin(&b, argc, argv, "demo_bench", "The demo: a picture through three stages");
    int file = mkstemp(result);
    if (file < 0) {
        (void)bench_failed("demo", strerror(errno));
        return 1;
    }
    (void)close(file);
    (void)snprintf(setting, sizeof setting,
                   "%s, 24 colours and edges, all processors; each run is four processes",
                   picture_choose());
    ask(&b, "demo", setting, runtimes, BENCH_COUNT(runtimes), beside, BENCH_COUNT(beside));
    ask(&b, "demo, recorded", setting, recorded, BENCH_COUNT(recorded), traced,
        BENCH_COUNT(traced));
    files_remove();
    free(first.bytes);
    return bench_end(&b);
}
