/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Modules on Linux: shared objects in a folder of their own, `medley`, which lies in the library
 * folder. An installation may be moved, so that folder is sought from where this code was loaded
 * from: beside the shared library, or, when it is linked into a program, from the program's folder.
 *
 * What is opened runs with all rights of the process. So where a program lies is what the kernel
 * says, not its first argument, which its caller chooses; only a module of this user or of the
 * administrator, which nobody else may replace, is opened; and none in a program that has more
 * rights than its caller, because a module may bring libraries that open more by variables of
 * their own, as hwloc does.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"

#define PATH_BYTES 1024u

/* The folder of the object that this code is in; empty: not told. */
static void
own_folder(char folder[PATH_BYTES])
{
    Dl_info info;
    struct link_map *map = NULL;
    folder[0] = '\0';
    bool found = dladdr1(MED_TOPOLOGY_MODULE_SYMBOL, &info, (void **)&map, RTLD_DL_LINKMAP) != 0;
    if (found && map && map->l_name[0] == '/') { /* the program's own name there is empty */
        (void)snprintf(folder, PATH_BYTES, "%s", map->l_name);
    } else {
        ssize_t length = readlink("/proc/self/exe", folder, PATH_BYTES - 1);
        folder[length > 0 ? length : 0] = '\0';
    }
    char *last = strrchr(folder, '/');
    if (last) {
        *last = '\0';
    }
}

typedef struct module_search {
    const char *name;
    void *handle;
    char *why; /* MED_PORT_WHY_BYTES */
} module_search;

/* May nobody but this user and the administrator have put it there, or replace it? */
static bool
is_trusted(const char *path, char why[MED_PORT_WHY_BYTES])
{
    struct stat st;
    if (stat(path, &st) != 0 || (st.st_uid != 0 && st.st_uid != geteuid())) {
        (void)snprintf(why, MED_PORT_WHY_BYTES, "%.200s belongs to another user", path);
    } else if (st.st_mode & S_IWOTH) {
        (void)snprintf(why, MED_PORT_WHY_BYTES, "%.200s may be written by everybody", path);
    } else {
        return true;
    }
    return false;
}

/* What is not there is passed over; what is there and cannot be opened ends the search. */
static bool
search_in(module_search *search, const char *folder, const char *below)
{
    char path[PATH_BYTES + 128];
    int length = snprintf(path, sizeof path, "%s%s/medley-%s.so", folder, below, search->name);
    if (length < 0 || (size_t)length >= sizeof path || access(path, F_OK) != 0) {
        return false;
    }
    char *file = strrchr(path, '/');
    *file = '\0';
    bool trusted = is_trusted(path, search->why);
    *file = '/';
    if (!trusted || !is_trusted(path, search->why)) {
        return true;
    }
    search->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!search->handle) {
        const char *error = dlerror();
        (void)snprintf(search->why, MED_PORT_WHY_BYTES, "%.300s", error ? error : path);
    }
    return true;
}

static void
search_everywhere(module_search *search)
{
    char folder[PATH_BYTES];
    if (getauxval(AT_SECURE)) {
        (void)snprintf(search->why, MED_PORT_WHY_BYTES,
                       "a program that has more rights than its caller opens no modules");
        return;
    }
    const char *chosen = med_port_environment("MEDLEY_MODULE_DIR");
    if (chosen && *chosen) {
        (void)snprintf(search->why, MED_PORT_WHY_BYTES,
                       "there is no medley-%s.so in MEDLEY_MODULE_DIR, %.200s", search->name,
                       chosen);
        (void)search_in(search, chosen, "");
        return;
    }
    own_folder(folder);
    (void)snprintf(search->why, MED_PORT_WHY_BYTES,
                   "there is no medley-%s.so in %.180s/medley; MEDLEY_MODULE_DIR says where it is",
                   search->name, folder[0] ? folder : MEDLEY_FULL_LIBDIR);
    if (folder[0] && (search_in(search, folder, "/medley") ||
                      search_in(search, folder, "/../" MEDLEY_LIBDIR "/medley"))) {
        return;
    }
    (void)search_in(search, MEDLEY_FULL_LIBDIR, "/medley");
}

medley_status_t
med_port_module_open(const char *name,
                     const char *symbol,
                     void **found,
                     char why[MED_PORT_WHY_BYTES])
{
    MED_LINUX_NOT_CANCELLED;
    module_search search = {.name = name, .handle = NULL, .why = why};
    search_everywhere(&search);
    if (!search.handle) {
        return MEDLEY_ERR_NOT_FOUND;
    }
    void *address = dlsym(search.handle, symbol);
    if (!address) {
        (void)snprintf(why, MED_PORT_WHY_BYTES, "medley-%s.so has no '%s'", name, symbol);
        return MEDLEY_ERR_NOT_FOUND;
    }
    why[0] = '\0';
    *found = address;
    return MEDLEY_OK;
}

medley_status_t
med_port_library_open(const char *path,
                      const char *symbol,
                      void **found,
                      char why[MED_PORT_WHY_BYTES])
{
    MED_LINUX_NOT_CANCELLED;
    if (getauxval(AT_SECURE)) {
        (void)snprintf(why, MED_PORT_WHY_BYTES,
                       "a program that has more rights than its caller opens no libraries");
        return MEDLEY_ERR_ACCESS;
    }
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    void *address = handle ? dlsym(handle, symbol) : NULL;
    if (!address) {
        const char *error = dlerror();
        (void)snprintf(why, MED_PORT_WHY_BYTES, "%.300s", error ? error : path);
        if (handle) {
            (void)dlclose(handle);
        }
        return MEDLEY_ERR_NOT_FOUND;
    }
    why[0] = '\0';
    *found = address;
    return MEDLEY_OK;
}

void *
med_port_function_find(const char *beside, const char *name)
{
    MED_LINUX_NOT_CANCELLED;
    Dl_info file;
    const void *there = dlsym(RTLD_DEFAULT, beside);
    void *library =
        there && dladdr(there, &file) ? dlopen(file.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = library ? dlsym(library, name) : NULL;
    if (library) {
        (void)dlclose(library); /* it was there before */
    }
    return found;
}
