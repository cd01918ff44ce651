/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Objects that the process consists of: by their files' names, beside the caller's own, or by an
 * address. */
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"

typedef struct search {
    const char *name;
    uintptr_t own; /* an address in the caller's object, which does not count */
    char *path;
    size_t path_bytes;
    bool is_found;
} search;

static bool
has_address(const struct dl_phdr_info *object, uintptr_t address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        uintptr_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
        if (object->dlpi_phdr[i].p_type == PT_LOAD &&
            address - begin < object->dlpi_phdr[i].p_memsz) {
            return true;
        }
    }
    return false;
}

/* libNAME.so.1, libNAME-16.so.5, and as Python's packages have it libNAME-a34b3233.so.1. */
static bool
is_named(const char *file, const char *name)
{
    size_t length = strlen(name);
    return strncmp(file, name, length) == 0 && (file[length] == '.' || file[length] == '-');
}

static int
look(struct dl_phdr_info *object, size_t size_bytes, void *context)
{
    search *s = context;
    const char *file = strrchr(object->dlpi_name, '/');
    (void)size_bytes;
    file = file ? file + 1 : object->dlpi_name;
    if (is_named(file, s->name) && !has_address(object, s->own)) {
        (void)snprintf(s->path, s->path_bytes, "%s", object->dlpi_name);
        s->is_found = true;
    }
    return s->is_found;
}

bool
med_port_object_beside(const char *name, const void *own, char *path, size_t path_bytes)
{
    MED_LINUX_ERRNO_KEPT;
    search s = {.name = name, .own = (uintptr_t)own, .path = path, .path_bytes = path_bytes};
    (void)dl_iterate_phdr(look, &s);
    return s.is_found;
}

/* ---- By an address --------------------------------------------------------------------------- */

typedef struct place {
    uintptr_t address;
    char *path;
    size_t path_bytes;
    uintptr_t inside;
    bool is_found;
} place;

/* The program itself is there without a name. */
static int
look_inside(struct dl_phdr_info *object, size_t size_bytes, void *context)
{
    place *p = context;
    (void)size_bytes;
    if (has_address(object, p->address)) {
        (void)snprintf(p->path, p->path_bytes, "%s", object->dlpi_name);
        p->inside = p->address - object->dlpi_addr;
        p->is_found = true;
    }
    return p->is_found;
}

bool
med_port_object_of(const void *address, char *path, size_t path_bytes, uint64_t *inside)
{
    MED_LINUX_ERRNO_KEPT;
    place p = {.address = (uintptr_t)address, .path = path, .path_bytes = path_bytes};
    (void)dl_iterate_phdr(look_inside, &p);
    if (p.is_found && !path[0]) {
        ssize_t length = readlink("/proc/self/exe", path, path_bytes - 1);
        path[length > 0 ? length : 0] = '\0';
    }
    *inside = p.inside;
    return p.is_found;
}
