/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * OpenMP on harts, without an operating system: what the compiler makes of directives runs on them.
 * Prints a line per check; the emulation ends with the number of those that failed.
 */
#include <stdbool.h>
#include <stdint.h>

#include "port/port.h"
#include "port/riscv_virt/virt.h"

/* The compiler comes without omp.h. */
int omp_get_thread_num(void);
int omp_get_num_threads(void);
int omp_get_num_procs(void);
int omp_get_max_threads(void);
double omp_get_wtime(void);

#define COUNT 1000

static int
team_of_all(void)
{
    int came = 0, numbers = 0;
#pragma omp parallel reduction(+ : came, numbers)
    {
        came++;
        numbers += omp_get_thread_num();
    }
    return came == omp_get_num_procs() && numbers == came * (came - 1) / 2 &&
           omp_get_max_threads() == came && came >= 4;
}

static bool
is_shared_out(bool *done)
{
    bool all = true;
    for (int i = 0; i < COUNT; i++) {
        all &= done[i];
        done[i] = false;
    }
    return all;
}

static int
loops(void)
{
    static bool done[COUNT];
    int in_order = 0;
    bool all = true;
#pragma omp parallel for schedule(static, 3)
    for (int i = 0; i < COUNT; i++) {
        done[i] = true;
    }
    all &= is_shared_out(done);
#pragma omp parallel for schedule(dynamic, 7)
    for (int i = 0; i < COUNT; i++) {
        done[i] = true;
    }
    all &= is_shared_out(done);
#pragma omp parallel for schedule(guided) ordered
    for (int i = 0; i < COUNT; i++) {
#pragma omp ordered
        in_order += in_order == i;
    }
    return all && in_order == COUNT;
}

static int
one_at_a_time(void)
{
    int count = 0, singles = 0, wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    for (int i = 0; i < COUNT; i++) {
#pragma omp critical
        count++;
#pragma omp barrier
        wrong += count != (i + 1) * omp_get_num_threads();
#pragma omp single
        singles++;
    }
    return count == COUNT * omp_get_max_threads() && singles == COUNT && wrong == 0;
}

static int
fibonacci(int n)
{
    int a, b;
    if (n < 2) {
        return n;
    }
#pragma omp task shared(a)
    a = fibonacci(n - 1);
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static int
tasks(void)
{
    int result = 0, steps[3] = {0};
#pragma omp parallel
#pragma omp single
    {
        result = fibonacci(15);
#pragma omp task depend(out : steps[0])
        steps[0] = 1;
#pragma omp task depend(in : steps[0]) depend(out : steps[1])
        steps[1] = steps[0] + 1;
#pragma omp task depend(in : steps[1])
        steps[2] = steps[1] + 1;
    }
    return result == 610 && steps[2] == 3;
}

static int
smaller_teams(void)
{
    int came[3] = {0};
    for (int i = 0; i < 300; i++) {
#pragma omp parallel num_threads(1 + i % 3)
#pragma omp atomic
        came[i % 3]++;
    }
    return came[0] == 100 && came[1] == 200 && came[2] == 300;
}

/* More than there are harts: as many as there are, and a word about it. */
static int
larger_teams(void)
{
    int came = 0;
#pragma omp parallel num_threads(1000) reduction(+ : came)
    came++;
    return came == omp_get_num_procs();
}

static uint32_t failures;

static void
check(const char *name, int holds)
{
    med_virt_console_write(holds ? "ok      " : "FAILED  ");
    med_virt_console_write(name);
    med_virt_console_write("\n");
    failures += !holds;
}

int
main(void)
{
    double begin = omp_get_wtime();
    check("openmp: a team of all harts", team_of_all());
    check("openmp: loops are shared out", loops());
    check("openmp: critical, barrier, single", one_at_a_time());
    check("openmp: tasks", tasks());
    check("openmp: smaller teams", smaller_teams());
    check("openmp: no larger teams", larger_teams());
    check("openmp: time passes", omp_get_wtime() > begin);
    med_port_log(failures ? "bare_openmp: failed" : "bare_openmp: passed");
    return (int)failures;
}
