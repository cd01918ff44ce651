/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the control groups grant: the tightest limit from this process's own group up to the root.
 *
 * /proc/self/cgroup names the group in each hierarchy, as number:controllers:path. The one that
 * lists the controller is of version 1, and mounted under the controller's name; else it is
 * version 2's, which lists none. In a container that shows its own part of the tree, a path may
 * lead nowhere: then what is left of the way up is looked at, the root of what is mounted at least.
 *
 * Where no group is in what is mounted, that root is all that there is to look at, whatever the
 * file would say. As a process's first look at its own files it takes 70 us, and the count of a
 * folder's links 10: programs of OpenMP start with this.
 */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "linux.h"
#include "port/port.h"

#define MOUNT "/sys/fs/cgroup"
#define FOLDER_BYTES 4352
#define LIST_BYTES 256
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

/* Texts are put together by hand, here and below, and numbers read: a program reads its quota when
 * it starts, and the C library's formats would be the first that it touches of them. Of one that
 * does not fit, the rest is left out. */
static size_t
text_add(char *text, size_t room, size_t length, const char *more)
{
    size_t left = room - 1 - length;
    size_t bytes = strlen(more) < left ? strlen(more) : left;
    memcpy(text + length, more, bytes);
    text[length + bytes] = '\0';
    return length + bytes;
}

/* The root of one hierarchy: of the controller's own, or of version 2's. */
static void
group_root(group *found, const char *below)
{
    found->v1 = *below != '\0';
    size_t length = text_add(found->folder, FOLDER_BYTES, 0, found->v1 ? MOUNT "/" : MOUNT);
    found->root_bytes = text_add(found->folder, FOLDER_BYTES, length, below);
}

static bool
has_no_groups(const char *folder)
{
    struct stat of;
    return stat(folder, &of) == 0 && S_ISDIR(of.st_mode) && of.st_nlink == 2; /* it and its "." */
}

/* False: there may be others. */
static bool
group_only(const char *controller, group *found)
{
    group_root(found, "");
    if (has_no_groups(found->folder)) {
        return true;
    }
    group_root(found, controller);
    return has_no_groups(found->folder);
}

/* Character by character: a line may be as long as a path, and the stack is a thread's, who may
 * have asked for a small one. */
typedef enum part {
    AT_NUMBER,
    AT_CONTROLLERS,
    AT_PATH,
    AT_PATH_OF_OTHERS
} part;

typedef struct scan {
    part at;
    char controllers[LIST_BYTES];
    size_t length; /* of these; of the folder, at its path */
    bool own;
} scan;

static void
controllers_end(scan *s, const char *controller, group *found)
{
    s->own = list_has(s->controllers, controller);
    s->at = AT_PATH_OF_OTHERS;
    if (s->own || s->controllers[0] == '\0') {
        s->at = AT_PATH;
        group_root(found, s->own ? controller : "");
        s->length = found->root_bytes;
    }
}

/* True: that was the controller's own. */
static bool
line_end(scan *s, group *found)
{
    bool is_own = s->at == AT_PATH && s->own;
    if (s->at == AT_PATH && s->length == found->root_bytes + 1) { /* "/" */
        found->folder[found->root_bytes] = '\0';
    }
    *s = (scan){.at = AT_NUMBER};
    return is_own;
}

/* True: the controller's own line ends there. */
static bool
scan_one(scan *s, char c, const char *controller, group *found)
{
    const char more[] = {c, '\0'};
    if (c == '\n') {
        return line_end(s, found);
    }
    if (s->at == AT_NUMBER) {
        s->at = c == ':' ? AT_CONTROLLERS : AT_NUMBER;
    } else if (s->at == AT_CONTROLLERS && c == ':') {
        controllers_end(s, controller, found);
    } else if (s->at == AT_CONTROLLERS) {
        s->length = text_add(s->controllers, sizeof s->controllers, s->length, more);
    } else if (s->at == AT_PATH) {
        s->length = text_add(found->folder, FOLDER_BYTES, s->length, more);
    }
    return false;
}

/* False: it cannot be told. */
static bool
group_find(const char *controller, group *found)
{
    char bytes[256];
    ssize_t got;
    scan s = {.at = AT_NUMBER};
    bool is_found = false;
    found->folder[0] = '\0';
    int file = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    while (!is_found && (got = read(file, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < got && !is_found; i++) {
            is_found = scan_one(&s, bytes[i], controller, found);
        }
    }
    (void)close(file);
    return true;
}

/* ---- Its limits ------------------------------------------------------------------------------ */

/* Of a word, or below zero: 0, which limits nothing. */
static long long
number_at(const char *digit)
{
    long long number = 0;
    for (; *digit >= '0' && *digit <= '9' && number < LLONG_MAX / 10; digit++) {
        number = number * 10 + (*digit - '0');
    }
    return number;
}

/* Of a file of one or two. False: there is none, and they stay as they are. The folder is its path
 * for a while: it has room behind it. */
static bool
numbers_read(char *folder, const char *leaf, long long numbers[2])
{
    char line[64];
    size_t length = strlen(folder);
    (void)text_add(folder, FOLDER_BYTES, text_add(folder, FOLDER_BYTES, length, "/"), leaf);
    bool is_there = med_linux_line_read(folder, line, sizeof line);
    if (is_there) {
        numbers[0] = number_at(line);
        const char *blank = strchr(line, ' ');
        numbers[1] = blank ? number_at(blank + 1) : 0;
    }
    folder[length] = '\0';
    return is_there;
}

/* 0: no limit, here and below; `known` becomes true where the folder says so. A part of a
 * thousandth counts as one: there is a limit. */
static uint64_t
quota_permille(char *folder, bool v1, bool *known)
{
    long long quota[2] = {0};
    *known |= numbers_read(folder, v1 ? "cpu.cfs_quota_us" : "cpu.max", quota);
    long long period[2] = {quota[1]};
    if (v1 && quota[0] > 0) {
        (void)numbers_read(folder, "cpu.cfs_period_us", period);
    }
    if (quota[0] <= 0 || period[0] <= 0) {
        return 0;
    }
    uint64_t permille = ((uint64_t)quota[0] * 1000 + (uint64_t)period[0] - 1) / (uint64_t)period[0];
    return permille < UINT32_MAX ? permille : UINT32_MAX;
}

static uint64_t
memory_bytes(char *folder, bool v1, bool *known)
{
    long long bytes[2] = {0};
    *known |= numbers_read(folder, v1 ? "memory.limit_in_bytes" : "memory.max", bytes);
    bool limited = bytes[0] > 0 && (!v1 || (uint64_t)bytes[0] < NO_LIMIT_V1);
    return limited ? (uint64_t)bytes[0] : 0;
}

/* Of the group and all above it. */
static uint64_t
tightest(group *of, uint64_t (*limit_of)(char *folder, bool v1, bool *known), bool *known)
{
    uint64_t least = 0;
    while (of->folder[0]) {
        uint64_t limit = limit_of(of->folder, of->v1, known);
        least = limit && (!least || limit < least) ? limit : least;
        char *last = strrchr(of->folder + of->root_bytes, '/');
        if (!last) {
            break;
        }
        *last = '\0';
    }
    return least;
}

/* False: it cannot be told. A root has no limit, and says nothing where the mount can be read. */
static bool
limit_get(const char *controller,
          uint64_t (*limit_of)(char *folder, bool v1, bool *known),
          uint64_t *limit)
{
    group of;
    bool known = false;
    if (group_only(controller, &of)) {
        *limit = tightest(&of, limit_of, &known);
        if (known) {
            return true;
        }
    }
    bool found = group_find(controller, &of);
    *limit = found ? tightest(&of, limit_of, &known) : 0;
    return known || (found && access(MOUNT, R_OK) == 0);
}

bool
med_port_quota_get(uint32_t *permille)
{
    MED_LINUX_NOT_CANCELLED;
    uint64_t limit;
    bool known = limit_get("cpu", quota_permille, &limit);
    *permille = (uint32_t)limit;
    return known;
}

void
med_port_grants_get(med_port_grants *grants)
{
    MED_LINUX_NOT_CANCELLED;
    grants->processors_known = med_port_quota_get(&grants->quota_permille);
    grants->memory_known = limit_get("memory", memory_bytes, &grants->memory_bytes);
}
