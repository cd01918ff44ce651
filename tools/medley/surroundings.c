/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The folder of shared memory, barriers, page size, limits, and whether this machine is a virtual
 * one: of what /proc, the kernel and the environment say.
 */
#include "tools/medley/surroundings.h"

#include <linux/membarrier.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mrapi/limits.h"

const char *
surroundings_folder(void)
{
    const char *chosen = getenv("MEDLEY_SHM_DIR");
    return chosen && chosen[0] == '/' ? chosen : "/dev/shm";
}

json_t *
surroundings_shared_memory(void)
{
    const char *folder = surroundings_folder();
    struct statvfs space;
    if (statvfs(folder, &space) != 0) {
        return json_pack("{s:s, s:n, s:n}", "folder", folder, "size_bytes", "free_bytes");
    }
    return json_pack("{s:s, s:I, s:I}", "folder", folder, "size_bytes",
                     (json_int_t)space.f_blocks * (json_int_t)space.f_frsize, "free_bytes",
                     (json_int_t)space.f_bavail * (json_int_t)space.f_frsize);
}

json_t *
surroundings_membarrier(void)
{
    long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    commands = commands < 0 ? 0 : commands;
    return json_pack("{s:b, s:b}", "private_expedited",
                     (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0, "global_expedited",
                     (commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0);
}

/* ---- A process ------------------------------------------------------------------------------- */

#define STAT_BYTES 256
#define STAT_FIELDS_TO_FLAGS 6 /* from the state on */
#define STAT_FLAG_EXITING 0x4u /* Linux's PF_EXITING: before anything of it is let go */

/* What /proc says of a process behind its name, from its state on; or NULL. */
static const char *
stat_read(uint32_t process_id, char line[STAT_BYTES])
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/%u/stat", (unsigned)process_id);
    FILE *file = fopen(path, "re");
    if (!file) {
        return NULL;
    }
    const char *read = fgets(line, STAT_BYTES, file);
    (void)fclose(file);
    const char *name_end = read ? strrchr(line, ')') : NULL; /* what follows cannot contain it */
    return name_end && name_end[1] == ' ' ? name_end + 2 : NULL;
}

bool
surroundings_process_stopped(uint32_t process_id)
{
    char line[STAT_BYTES];
    const char *state = stat_read(process_id, line);
    return state && (*state == 'T' || *state == 't');
}

bool
surroundings_process_ends(uint32_t process_id)
{
    char line[STAT_BYTES];
    const char *state = stat_read(process_id, line);
    for (int i = 0; state && i < STAT_FIELDS_TO_FLAGS; i++) {
        state = strchr(state, ' ');
        state = state ? state + 1 : NULL;
    }
    return state && (strtoul(state, NULL, 10) & STAT_FLAG_EXITING);
}

/* ---- Virtual, emulated ----------------------------------------------------------------------- */

typedef struct cpuinfo {
    bool has_flags; /* a processor that lists its features, hypervisor among them */
    bool hypervisor;
    bool named_emulator; /* QEMU calls a processor that it emulates so */
} cpuinfo;

static bool
has_word(const char *line, const char *wanted)
{
    size_t length = strlen(wanted);
    for (const char *at = strstr(line, wanted); at; at = strstr(at + 1, wanted)) {
        bool begins = at > line && (at[-1] == ' ' || at[-1] == '\t');
        if (begins && (at[length] == ' ' || at[length] == '\n' || !at[length])) {
            return true;
        }
    }
    return false;
}

static void
cpuinfo_line(const char *line, cpuinfo *info)
{
    if (strncmp(line, "flags\t", 6) == 0) {
        info->has_flags = true;
        info->hypervisor = has_word(line, "hypervisor");
    } else if (strncmp(line, "model name\t", 11) == 0) {
        info->named_emulator = has_word(line, "TCG");
    }
}

/* The first processor's lines. */
static void
cpuinfo_read(cpuinfo *info)
{
    char *line = NULL;
    size_t size = 0;
    FILE *file = fopen("/proc/cpuinfo", "re");
    if (!file) {
        return;
    }
    while (getline(&line, &size, file) > 1) {
        cpuinfo_line(line, info);
    }
    free(line);
    (void)fclose(file);
}

/* What other machines have instead of a flag. */
static bool
hypervisor_announced(void)
{
    return access("/proc/device-tree/hypervisor", F_OK) == 0 ||
           access("/sys/hypervisor/type", F_OK) == 0;
}

static json_t *
told(bool known, bool value)
{
    return known ? json_boolean(value) : json_null();
}

json_t *
surroundings_virtual(void)
{
    cpuinfo info = {.has_flags = false};
    cpuinfo_read(&info);
    bool hypervisor = info.hypervisor || hypervisor_announced();
    bool metal = info.has_flags && !hypervisor;
    return json_pack("{s:o, s:o}", "virtual", told(hypervisor || metal, hypervisor), "emulated",
                     told(info.named_emulator || metal, info.named_emulator));
}

json_int_t
surroundings_page_bytes(void)
{
    return sysconf(_SC_PAGESIZE);
}

/* ---- Limits ---------------------------------------------------------------------------------- */

json_t *
surroundings_limits(void)
{
    med_limits limits;
    med_limits_from_environment(&limits);
    json_t *rows = json_array();
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        const med_limit_info *info = &med_limit_infos[i];
        (void)json_array_append_new(
            rows, json_pack("{s:s, s:s, s:I, s:I, s:I}", "name", info->name, "variable",
                            info->variable, "value", (json_int_t)limits.of[i], "standard",
                            (json_int_t)info->standard, "largest", (json_int_t)info->largest));
    }
    return rows;
}
