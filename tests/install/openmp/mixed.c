/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program of parts that several compilers have built: their regions have the same threads, and
 * the process has one file of ours, and none of another runtime. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4

void note(int number);
void in_gcc(void);
void in_gxx(void);
void in_gfortran(void);
void in_clang(void);

static pid_t threads[THREADS];
static int others;
static int calls;

/* By each thread of a region, with its number. */
void
note(int number)
{
    pid_t me = gettid();
    if (number < 0 || number >= THREADS || (threads[number] && threads[number] != me)) {
#pragma omp atomic
        others++;
    } else {
        threads[number] = me;
    }
#pragma omp atomic
    calls++;
}

static int
threads_now(void)
{
    char line[256];
    int count = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        (void)sscanf(line, "Threads: %d", &count);
    }
    return status ? fclose(status), count : 0;
}

/* Files that are mapped at their beginning, of one runtime's names or the other's. */
static int
files(void)
{
    char line[4096];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        count +=
            strstr(line, " 00000000 ") &&
            (strstr(line, "/libgomp.") || strstr(line, "/libomp.") || strstr(line, "/libiomp"));
    }
    return maps ? fclose(maps), count : 0;
}

int
main(void)
{
    for (int i = 0; i < 3; i++) {
        in_gcc();
        in_clang();
        in_gfortran();
        in_gxx();
    }
    (void)printf("calls %d, by others %d, threads %d, files %d\n", calls, others, threads_now(),
                 files());
    return calls != 3 * 4 * THREADS || others || threads_now() != THREADS || files() > 1;
}
