/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the control groups grant: the tightest limit from this process's own group up to the root.
 *
 * /proc/self/cgroup names the group in each hierarchy, as number:controllers:path. The one that
 * lists the controller is of version 1, and mounted under the controller's name; else it is
 * version 2's, which lists none. In a container that shows its own part of the tree, a path may
 * lead nowhere: then what is left of the way up is looked at, the root of what is mounted at least.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"

#define MOUNT "/sys/fs/cgroup"
#define FOLDER_BYTES 4352
#define NO_LIMIT_V1 (UINT64_C(1) << 62) /* of memory: what the kernel gives out is more */

typedef struct group {
    bool v1;
    char folder[FOLDER_BYTES]; /* "": in none */
    size_t root_bytes;         /* of `folder`, before its path in the hierarchy */
} group;

/* ---- Which group ----------------------------------------------------------------------------- */

static bool
list_has(const char *list, const char *wanted)
{
    size_t bytes = strlen(wanted);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        if (strncmp(at, wanted, bytes) == 0 && (at[bytes] == ',' || at[bytes] == '\0')) {
            return true;
        }
    }
    return false;
}

static void
group_set(group *found, const char *below, const char *path)
{
    found->v1 = *below != '\0';
    (void)snprintf(found->folder, FOLDER_BYTES, MOUNT "%s%s%s", found->v1 ? "/" : "", below, path);
    found->root_bytes = strlen(MOUNT) + (found->v1 ? 1 + strlen(below) : 0);
}

/* One line; true when it is the controller's own. */
static bool
group_line(char *line, const char *controller, group *found)
{
    char *list = strchr(line, ':');
    char *path = list ? strchr(list + 1, ':') : NULL;
    if (!path) {
        return false;
    }
    *list++ = '\0';
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    bool own = list_has(list, controller);
    if (own || *list == '\0') {
        group_set(found, own ? controller : "", path);
    }
    return own;
}

/* False: it cannot be told. */
static bool
group_find(const char *controller, group *found)
{
    char line[FOLDER_BYTES - 64];
    bool own = false;
    found->folder[0] = '\0';
    FILE *file = access(MOUNT, R_OK) == 0 ? fopen("/proc/self/cgroup", "re") : NULL;
    if (!file) {
        return false;
    }
    while (!own && fgets(line, sizeof line, file)) {
        own = group_line(line, controller, found);
    }
    (void)fclose(file);
    return true;
}

/* ---- Its limits ------------------------------------------------------------------------------ */

/* Of a file of one or two. What is not there, or is a word, leaves them as they are. */
static void
numbers_read(const char *folder, const char *leaf, long long numbers[2])
{
    char path[FOLDER_BYTES + 32];
    char line[64];
    (void)snprintf(path, sizeof path, "%s/%s", folder, leaf);
    if (med_linux_line_read(path, line, sizeof line)) {
        char *end;
        numbers[0] = strtoll(line, &end, 10);
        numbers[1] = strtoll(end, NULL, 10);
    }
}

/* 0: no limit, here and below. A part of a thousandth counts as one: there is a limit. */
static uint64_t
quota_permille(const char *folder, bool v1)
{
    long long quota[2] = {0};
    long long period[2] = {0};
    numbers_read(folder, v1 ? "cpu.cfs_quota_us" : "cpu.max", quota);
    if (v1) {
        numbers_read(folder, "cpu.cfs_period_us", period);
    } else {
        period[0] = quota[1];
    }
    if (quota[0] <= 0 || period[0] <= 0) {
        return 0;
    }
    uint64_t permille = ((uint64_t)quota[0] * 1000 + (uint64_t)period[0] - 1) / (uint64_t)period[0];
    return permille < UINT32_MAX ? permille : UINT32_MAX;
}

static uint64_t
memory_bytes(const char *folder, bool v1)
{
    long long bytes[2] = {0};
    numbers_read(folder, v1 ? "memory.limit_in_bytes" : "memory.max", bytes);
    bool limited = bytes[0] > 0 && (!v1 || (uint64_t)bytes[0] < NO_LIMIT_V1);
    return limited ? (uint64_t)bytes[0] : 0;
}

/* Of the group and all above it. */
static uint64_t
tightest(group *of, uint64_t (*limit_of)(const char *folder, bool v1))
{
    uint64_t least = 0;
    while (of->folder[0]) {
        uint64_t limit = limit_of(of->folder, of->v1);
        least = limit && (!least || limit < least) ? limit : least;
        char *last = strrchr(of->folder + of->root_bytes, '/');
        if (!last) {
            break;
        }
        *last = '\0';
    }
    return least;
}

void
med_port_grants_get(med_port_grants *grants)
{
    MED_LINUX_NOT_CANCELLED;
    group of;
    grants->processors_known = group_find("cpu", &of);
    grants->quota_permille = grants->processors_known ? (uint32_t)tightest(&of, quota_permille) : 0;
    grants->memory_known = group_find("memory", &of);
    grants->memory_bytes = grants->memory_known ? tightest(&of, memory_bytes) : 0;
}
