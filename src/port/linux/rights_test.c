/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Whose orders are taken: a program with more rights than its caller obeys none of his variables
 * and opens no module; and the place of a program is not what its first argument says.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux.h"
#include "support/process.h"
#include "support/unit.h"

#define NOBODY 65534
#define NOT_SECURE 77
#define NOT_STARTED 97
#define SECURE_CHILD "--secure-child"
#define NAMED_CHILD "--named-child"

static char folder[] = "/tmp/medley-rights-XXXXXX";

/* ---- What runs in another program ------------------------------------------------------------ */

static int
secure_child(void)
{
    char why[MED_PORT_WHY_BYTES] = "";
    void *found;
    if (!getauxval(AT_SECURE)) {
        return NOT_SECURE; /* a file system that is mounted so that nobody gets rights there */
    }
    child_expect(!med_port_environment("MEDLEY_SYSTEM_IMAGE"));
    child_expect(strcmp(med_linux_folder(), "/dev/shm") == 0);
    child_expect(med_port_module_open("planted", "planted", &found, why) == MEDLEY_ERR_NOT_FOUND);
    child_expect(strstr(why, "more rights"));
    return 0;
}

/* Its first argument says that it lies beside a planted module; so would nobody ask there. */
static int
named_child(void)
{
    char why[MED_PORT_WHY_BYTES] = "";
    void *found;
    child_expect(med_port_module_open("planted", "planted", &found, why) == MEDLEY_ERR_NOT_FOUND);
    child_expect(strstr(why, "there is no medley-planted.so"));
    return 0;
}

/* ---- What starts them ------------------------------------------------------------------------ */

static int
joined(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void
module_plant(char path[128], mode_t folder_mode)
{
    char modules[64];
    (void)snprintf(modules, sizeof modules, "%s/medley", folder);
    (void)mkdir(modules, 0700);
    assert_int_equal(chmod(modules, folder_mode), 0);
    (void)snprintf(path, 128, "%s/medley-planted.so", modules);
    int fd = open(path, O_CREAT | O_WRONLY, 0644);
    assert_true(fd >= 0 && write(fd, "no module", 9) == 9);
    (void)close(fd);
}

static void
module_take_away(const char *path)
{
    char modules[64];
    (void)snprintf(modules, sizeof modules, "%s/medley", folder);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(modules), 0);
}

static void
the_first_argument_is_not_believed(void **state)
{
    (void)state;
    char path[128];
    char name[64];
    module_plant(path, 0755);
    (void)snprintf(name, sizeof name, "%s/program", folder);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", name, NAMED_CHILD, (char *)NULL);
        _exit(errno == ENOEXEC ? NOT_STARTED : 98);
    }
    int status = joined(pid);
    module_take_away(path);
    if (status == NOT_STARTED) {
        not_possible_here("the emulator starts no program of the kind that it emulates");
    }
    assert_int_equal(status, 0);
}

/* A program of the administrator's that anybody may run with his rights. */
static bool
program_copy(const char *path)
{
    char block[65536];
    int from = open("/proc/self/exe", O_RDONLY);
    int to = open(path, O_CREAT | O_WRONLY, 0700);
    ssize_t n = 0;
    while (from >= 0 && to >= 0 && (n = read(from, block, sizeof block)) > 0) {
        if (write(to, block, (size_t)n) != n) {
            break;
        }
    }
    bool fine = from >= 0 && to >= 0 && n == 0 && fchmod(to, 04755) == 0;
    (void)close(from);
    (void)close(to);
    return fine;
}

static void
a_caller_with_fewer_rights_is_not_obeyed(void **state)
{
    (void)state;
    char path[64];
    if (geteuid() != 0) {
        not_possible_here("only the administrator can give rights away");
    }
    (void)snprintf(path, sizeof path, "%s/program", folder);
    assert_true(program_copy(path));
    pid_t pid = fork();
    if (pid == 0) {
        (void)setenv("MEDLEY_SYSTEM_IMAGE", "/etc/shadow", 1);
        (void)setenv("MEDLEY_SHM_DIR", "/tmp", 1);
        (void)setenv("MEDLEY_MODULE_DIR", folder, 1);
        child_expect(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
        execl(path, path, SECURE_CHILD, (char *)NULL);
        _exit(errno == ENOEXEC ? NOT_STARTED : 98);
    }
    int status = joined(pid);
    assert_int_equal(unlink(path), 0);
    if (status == NOT_STARTED) {
        not_possible_here("the emulator starts no program of the kind that it emulates");
    }
    if (status == NOT_SECURE) {
        not_possible_here("programs get no rights of their owner's here");
    }
    assert_int_equal(status, 0);
}

/* ---- Modules that anybody may have put there ------------------------------------------------- */

static void
a_module_that_others_may_replace_is_not_opened(void **state)
{
    (void)state;
    static const struct {
        mode_t folder;
        mode_t file;
    } open_to_all[] = {{0757, 0644}, {0755, 0646}};
    for (size_t i = 0; i < sizeof open_to_all / sizeof open_to_all[0]; i++) {
        char path[128];
        char modules[64];
        char why[MED_PORT_WHY_BYTES] = "";
        void *found;
        module_plant(path, open_to_all[i].folder);
        assert_int_equal(chmod(path, open_to_all[i].file), 0);
        (void)snprintf(modules, sizeof modules, "%s/medley", folder);
        (void)setenv("MEDLEY_MODULE_DIR", modules, 1);
        assert_int_equal(med_port_module_open("planted", "planted", &found, why),
                         MEDLEY_ERR_NOT_FOUND);
        (void)unsetenv("MEDLEY_MODULE_DIR");
        assert_non_null(strstr(why, "may be written by everybody"));
        module_take_away(path);
    }
}

int
main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], SECURE_CHILD) == 0) {
        return secure_child();
    }
    if (count == 2 && strcmp(arguments[1], NAMED_CHILD) == 0) {
        return named_child();
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_argument_is_not_believed),
        cmocka_unit_test(a_caller_with_fewer_rights_is_not_obeyed),
        cmocka_unit_test(a_module_that_others_may_replace_is_not_opened),
    };
    if (!mkdtemp(folder) || chmod(folder, 0755) != 0) {
        perror(folder);
        return 1;
    }
    int failed = cmocka_run_group_tests_name("rights", tests, NULL, NULL);
    (void)rmdir(folder);
    return failed;
}
