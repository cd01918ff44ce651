/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A second runtime in the process is named, once; alone, nothing is said. */
#include <dlfcn.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"

static int
regions_go(void)
{
    int came = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(3) reduction(+ : came)
    {
#pragma omp parallel num_threads(2) reduction(+ : came)
        came++;
    }
    return came;
}

/* How many lines it says, with that in them, in a process of its own; -1: it went wrong. */
static int
said_of(const char *library, const char *text)
{
    int ends[2];
    char line[1024];
    int count = 0;
    int status = 1;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        bool good = regions_go() == 6; /* before: it is found though it comes late */
        good = good && (!library || dlopen(library, RTLD_NOW | RTLD_LOCAL));
        good = good && omp_pause_resource_all(omp_pause_soft) == 0 && regions_go() == 6;
        _exit(good ? 0 : 1);
    }
    (void)close(ends[1]);
    FILE *said = fdopen(ends[0], "r");
    assert_non_null(said);
    while (fgets(line, sizeof line, said)) {
        count += strstr(line, text) != NULL;
    }
    (void)fclose(said);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? count : -1;
}

static void
it_is_named_once(void **state)
{
    (void)state;
    assert_int_equal(said_of(OPENMP_OF_GCC, OPENMP_OF_GCC), 1);
}

/* As it comes in packages of Python, under a name of its own. */
static void
under_another_name_it_is_named(void **state)
{
    (void)state;
    char folder[] = "/tmp/medley_second_XXXXXX";
    char file[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(file, sizeof file, "%s/libgomp-a34b3233.so.1.0.0", folder);
    assert_int_equal(symlink(OPENMP_OF_GCC, file), 0);
    assert_int_equal(said_of(file, file), 1);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void
alone_nothing_is_said(void **state)
{
    (void)state;
    assert_int_equal(said_of(NULL, ""), 0);
}

/* What programs are linked with, opened as if it were the library, is that. */
static void
the_linkers_is_ours(void **state)
{
    (void)state;
    int (*threads)(void);
    void *handle = dlopen(OPENMP_FOLDER "/libomp.so", RTLD_NOW | RTLD_LOCAL);
    void *found = handle ? dlsym(handle, "omp_get_max_threads") : NULL;
    assert_non_null(found);
    memcpy(&threads, &found, sizeof threads);
    assert_int_equal(threads(), omp_get_max_threads());
    assert_int_equal(said_of(OPENMP_FOLDER "/libomp.so", ""), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_named_once), cmocka_unit_test(under_another_name_it_is_named),
        cmocka_unit_test(alone_nothing_is_said), cmocka_unit_test(the_linkers_is_ours)};
    return cmocka_run_group_tests_name("second", tests, NULL, NULL);
}
