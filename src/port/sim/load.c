/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Virtual processes: each has a copy of the program, loaded by itself, with variables of its own,
 * and sees the shared memory at addresses of its own.
 */
#include "engine.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
said(const char *what)
{
    (void)fprintf(stderr, "sim: %s\n", what);
    return false;
}

/* Views, private memories and stacks lie side by side, so that one comparison finds them. */
static bool
memory_map(void)
{
    size_t private_bytes = (size_t)SIM_PROCESSES_MAX * SIM_PRIVATE_BYTES;
    size_t stack_bytes = (size_t)SIM_FIBERS_MAX * SIM_STACK_BYTES;
    size_t view_bytes = (size_t)SIM_PROCESSES_MAX * SIM_VIEW_BYTES;
    char *at = mmap(NULL, view_bytes + private_bytes + stack_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int fd = memfd_create("sim-shared", MFD_CLOEXEC);
    if (at == MAP_FAILED || fd < 0 || ftruncate(fd, SIM_VIEW_BYTES) != 0) {
        return said("no memory");
    }
    for (uint32_t process = 0; process < SIM_PROCESSES_MAX; process++) {
        if (mmap(at + (size_t)process * SIM_VIEW_BYTES, SIM_VIEW_BYTES, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
            return said("no view");
        }
        /* Caches: the processes' own. */
        if (mmap(at + (size_t)process * SIM_VIEW_BYTES + SIM_CACHED_AT, SIM_CACHED_BYTES,
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                 0) == MAP_FAILED) {
            return said("no cache");
        }
    }
    (void)close(fd);
    sim.views = (uintptr_t)at;
    sim.notes = calloc(1, SIM_NOTES_BYTES);
    return sim.notes || said("no notes");
}

/* The part of a loaded object that stays writable: its last segment, less what was made read-only.
 */
static int
find_globals(struct dl_phdr_info *info, size_t size, void *context)
{
    sim_process *process = context;
    (void)size;
    if (info->dlpi_addr != process->base) {
        return 0;
    }
    uintptr_t relro_end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_GNU_RELRO) {
            relro_end = start + segment->p_memsz;
        }
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W)) {
            process->globals = start;
            process->globals_bytes = segment->p_memsz;
        }
    }
    if (relro_end > process->globals) {
        process->globals_bytes -= relro_end - process->globals;
        process->globals = relro_end;
    }
    return 1;
}

/* A file of its own makes the loader load it anew. */
static int
copy_of(const char *program)
{
    int source = open(program, O_RDONLY | O_CLOEXEC);
    int copy = memfd_create("sim-program", MFD_CLOEXEC);
    struct stat st;
    bool copied = source >= 0 && copy >= 0 && fstat(source, &st) == 0;
    for (off_t at = 0; copied && at < st.st_size;) {
        copied = sendfile(copy, source, &at, (size_t)(st.st_size - at)) > 0;
    }
    if (source >= 0) {
        (void)close(source);
    }
    if (!copied && copy >= 0) {
        (void)close(copy);
        copy = -1;
    }
    return copy;
}

static bool
process_load(sim_process *process, const char *program)
{
    char path[32];
    int fd = copy_of(program);
    if (fd < 0) {
        return said("cannot copy the program");
    }
    /* It stays open: the loader takes a path that it has seen for a file that it has. */
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!loaded) {
        return said(dlerror());
    }
    struct link_map *map = NULL;
    if (dlinfo(loaded, RTLD_DI_LINKMAP, &map) != 0) {
        return said("no link map");
    }
    process->base = map->l_addr;
    process->scenarios = dlsym(loaded, "sim_scenarios");
    (void)dl_iterate_phdr(find_globals, process);
    process->globals_fresh = malloc(process->globals_bytes + 1);
    if (process->globals_bytes > SIM_GLOBALS_BYTES) {
        return said("the program has more variables than SIM_GLOBALS_BYTES");
    }
    if (!process->scenarios || !process->globals_fresh) {
        return said("the program is not as it should be");
    }
    memcpy(process->globals_fresh, (void *)process->globals, process->globals_bytes);
    return true;
}

bool
sim_world_begin(const char *program)
{
    sim.process_count = SIM_PROCESSES_MAX;
    bool good = memory_map() && (sim_crashes_begin() || said("no handlers"));
    for (uint32_t i = 0; good && i < sim.process_count; i++) {
        good = process_load(&sim.processes[i], program);
        if (good && i > 0 && sim.processes[i].base == sim.processes[i - 1].base) {
            return said("two processes share one copy");
        }
    }
    return good;
}
