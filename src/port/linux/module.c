/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Modules on Linux: shared objects in a folder of their own, `medley`, which lies in the library
 * folder. An installation may be moved, so that folder is sought from where this code was loaded
 * from: beside the shared library, or, when it is linked into a program, from the program's folder.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "port/port.h"

#define PATH_BYTES 1024u

/* The folder of the object that this code is in; empty: not told. */
static void
own_folder(char folder[PATH_BYTES])
{
    Dl_info info;
    folder[0] = '\0';
    if (dladdr(MED_TOPOLOGY_MODULE_SYMBOL, &info) && info.dli_fname && info.dli_fname[0] == '/') {
        (void)snprintf(folder, PATH_BYTES, "%s", info.dli_fname);
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

/* What is not there is passed over; what is there and cannot be opened ends the search. */
static bool
search_in(module_search *search, const char *folder, const char *below)
{
    char path[PATH_BYTES + 128];
    int length = snprintf(path, sizeof path, "%s%s/medley-%s.so", folder, below, search->name);
    if (length < 0 || (size_t)length >= sizeof path || access(path, F_OK) != 0) {
        return false;
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
    const char *chosen = secure_getenv("MEDLEY_MODULE_DIR");
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
