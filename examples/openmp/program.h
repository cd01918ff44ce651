/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the programs here share: their arguments, their clock, how they tell what they found.
 *
 *   NAME [--size S|W|A|N] [--threads N] [--repeat N] [--json] [-h|--help]
 *
 * Each measures `repeat` runs of its parallel part, then verifies the last one's result.
 * Exit: 0 when it was right, 1 when it was wrong or could not be told, 2 on wrong use.
 *
 * Loops of schedule(runtime) are static unless OMP_SCHEDULE says otherwise: what they are without
 * it differs from runtime to runtime.
 */
#ifndef MEDLEY_EXAMPLES_PROGRAM_H
#define MEDLEY_EXAMPLES_PROGRAM_H

#include <omp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM_REPEAT_MAX 100
#define PROGRAM_NO_CLASS (-1)

typedef struct program_about {
    const char *name;
    const char *what;   /* it does, in a line */
    const char *number; /* what N of --size is: "2^N pairs" */
    long least, most;   /* of N */
} program_about;

typedef struct program {
    const program_about *about;
    const char *size; /* as it was given */
    int class;        /* 0, 1, 2: S, W, A; PROGRAM_NO_CLASS: size is `number` */
    long number;
    int repeat;
    bool json;
    int runs; /* that were measured */
    double seconds[PROGRAM_REPEAT_MAX];
    double begin_s;
} program;

static inline void
program_usage(const program_about *about, FILE *to)
{
    fprintf(to,
            "%s: %s\n"
            "usage: %s [--size S|W|A|N] [--threads N] [--repeat N] [--json] [-h|--help]\n"
            "  --size     a class (S is the default), or N: %s, %ld to %ld\n"
            "  --threads  default: what OpenMP says\n"
            "  --repeat   so many runs are measured, 1 to %d; the last one's result is verified\n"
            "exit status: 0 verified, 1 wrong or not told, 2 wrong use\n",
            about->name, about->what, about->name, about->number, about->least, about->most,
            PROGRAM_REPEAT_MAX);
}

/* `or_else`: what the option takes beside numbers. */
static inline long
program_number(const program_about *about,
               const char *option,
               const char *or_else,
               const char *text,
               long least,
               long most)
{
    char *end = NULL;
    long number = text ? strtol(text, &end, 10) : 0;
    if (!text || *text == '\0' || *end != '\0' || number < least || number > most) {
        fprintf(stderr, "%s: %s takes %s%ld to %ld\n", about->name, option, or_else, least, most);
        exit(2);
    }
    return number;
}

static inline void
program_size(program *p, const char *text)
{
    static const char classes[] = "SWA";
    const char *class = text && text[0] && !text[1] ? strchr(classes, text[0]) : NULL;
    p->class = class ? (int)(class - classes) : PROGRAM_NO_CLASS;
    p->size = text;
    if (!class) {
        p->number = program_number(p->about, "--size", "S, W, A, or ", text, p->about->least,
                                   p->about->most);
    }
}

static inline program
program_begin(const program_about *about, int argc, char **argv)
{
    program p = {.about = about, .size = "S", .repeat = 1};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--json") == 0) {
            p.json = true;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            program_usage(about, stdout);
            exit(0);
        } else if (strcmp(argv[i], "--size") == 0) {
            program_size(&p, value);
            i++;
        } else if (strcmp(argv[i], "--threads") == 0) {
            omp_set_num_threads((int)program_number(about, argv[i], "", value, 1, 4096));
            i++;
        } else if (strcmp(argv[i], "--repeat") == 0) {
            p.repeat = (int)program_number(about, argv[i], "", value, 1, PROGRAM_REPEAT_MAX);
            i++;
        } else {
            program_usage(about, stderr);
            exit(2);
        }
    }
    if (!getenv("OMP_SCHEDULE")) {
        omp_set_schedule(omp_sched_static, 0);
    }
    return p;
}

/* Around what is measured. */
static inline void
program_run_begin(program *p)
{
    p->begin_s = omp_get_wtime();
}

static inline void
program_run_end(program *p)
{
    p->seconds[p->runs++] = omp_get_wtime() - p->begin_s;
}

/* Memory, zeroed; ends the program where there is none. */
static inline void *
program_memory(size_t count, size_t size_bytes)
{
    void *memory = count <= PTRDIFF_MAX / size_bytes ? calloc(count, size_bytes) : NULL;
    if (!memory) {
        fprintf(stderr, "no memory for %zu things of %zu bytes\n", count, size_bytes);
        exit(2);
    }
    return memory;
}

/* 46 bits of the generator that NAS's benchmarks use: x' = 5^13 x modulo 2^46. */
#define PROGRAM_RANDOM_FACTOR 1220703125u
#define PROGRAM_RANDOM_MASK ((UINT64_C(1) << 46) - 1)

/* The next number, between 0 and 1. */
static inline double
program_random(uint64_t *seed)
{
    *seed = (*seed * PROGRAM_RANDOM_FACTOR) & PROGRAM_RANDOM_MASK;
    return (double)*seed / (double)(PROGRAM_RANDOM_MASK + 1);
}

/* The seed `steps` numbers later. */
static inline uint64_t
program_random_skip(uint64_t seed, uint64_t steps)
{
    uint64_t factor = PROGRAM_RANDOM_FACTOR;
    for (; steps > 0; steps /= 2) {
        if (steps % 2 == 1) {
            seed = (seed * factor) & PROGRAM_RANDOM_MASK;
        }
        factor = (factor * factor) & PROGRAM_RANDOM_MASK;
    }
    return seed;
}

/* Tells times and verdict; `how` says, like printf, what was verified. What main returns. */
__attribute__((format(printf, 3, 4))) static inline int
program_end(const program *p, bool verified, const char *how, ...)
{
    char words[256];
    va_list arguments;
    va_start(arguments, how);
    (void)vsnprintf(words, sizeof words, how, arguments);
    va_end(arguments);
    if (p->json) {
        printf("{\"program\": \"%s\", \"size\": \"%s\", \"threads\": %d, \"seconds\": [",
               p->about->name, p->size, omp_get_max_threads());
    } else {
        printf("%s: size %s, threads %d, seconds", p->about->name, p->size, omp_get_max_threads());
    }
    for (int i = 0; i < p->runs; i++) {
        printf("%s%.6f", !p->json ? " " : i ? ", " : "", p->seconds[i]);
    }
    if (p->json) {
        printf("], \"verified\": %s, \"how\": \"%s\"}\n", verified ? "true" : "false", words);
    } else {
        printf("\n%s: %s: %s\n", p->about->name, verified ? "verified" : "NOT VERIFIED", words);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror(p->about->name);
        return 1;
    }
    return verified ? 0 : 1;
}

#endif
