/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What attaching says: why a system cannot be opened and what helps, and, for who wants to know,
 * that one was created, joined or left, with its limits.
 */
#include "mrapi/attach_report.h"

#include "base/text.h"

/* In quotes only what is a name: a named system may be called "private". NULL: the private one. */
static void
system_tell(med_text *text, const char *name)
{
    if (!name) {
        med_text_string(text, "the private system");
        return;
    }
    med_text_string(text, "system '");
    med_text_string(text, name);
    med_text_string(text, "'");
}

/* ---- It cannot be opened --------------------------------------------------------------------- */

static void
report(const char *name, const char *why, const char *advice)
{
    med_text text = {.length = 0};
    med_text_string(&text, "cannot open ");
    system_tell(&text, name);
    med_text_string(&text, ": ");
    med_text_string(&text, why);
    if (advice) {
        med_text_string(&text, "; ");
        med_text_string(&text, advice);
    }
    med_log(MED_LOG_ERROR, &text);
}

void
med_attach_report(const char *name, medley_status_t status, const char *advice)
{
    if (med_log_wanted(MED_LOG_ERROR)) {
        report(name, medley_status_text(status), advice);
    }
}

void
med_attach_report_image_refused(const char *name)
{
    if (med_log_wanted(MED_LOG_ERROR)) {
        report(name, "its image was refused", NULL);
    }
}

/* What to do, unless `why` says so. */
static const char *
advice_for(const char *name, medley_status_t status, const char *why)
{
    if (!name && status != MEDLEY_ERR_NO_MEMORY) {
        return NULL; /* the rest is of names, and of others in it */
    }
    switch (status) {
    case MEDLEY_ERR_ACCESS:
        return "see who made it, or choose another name with MEDLEY_SYSTEM";
    case MEDLEY_ERR_NO_MEMORY:
        return *why ? NULL
                    : "this process has no room for it (ulimit -v, ulimit -l); lower "
                      "limits (MEDLEY_MAX_...) need less";
    case MEDLEY_ERR_VERSION:
    case MEDLEY_ERR_BYTE_ORDER:
        return "processes of another Medley live in it: choose another name with MEDLEY_SYSTEM";
    case MEDLEY_ERR_CORRUPT:
        return "end the processes in it ('medley ps' names them) and start again";
    case MEDLEY_ERR_ARGUMENT:
        return med_port_shared_name_valid(name) ? "the folder's path (MEDLEY_SHM_DIR) is too long"
                                                : MED_ATTACH_ADVICE_NAME;
    default:
        return NULL;
    }
}

void
med_attach_report_failure_line(const char *name, medley_status_t status, const char *why)
{
    report(name, *why ? why : medley_status_text(status), advice_for(name, status, why));
}

/* ---- Coming and going ------------------------------------------------------------------------ */

/* A line that long is told, and the next begun: with one more limit it stays uncut. */
#define LINE_FULL_BYTES 180u

/* "created system 'mine'" */
static med_text
line_begin(const char *what, const med_system *system)
{
    med_text text = {.length = 0};
    med_text_string(&text, what);
    med_text_string(&text, " ");
    system_tell(&text, system->scope == MED_PORT_SCOPE_PROCESS ? NULL : system->shared.name);
    return text;
}

void
med_attach_tell_line(const char *what, const med_system *system)
{
    med_text text = line_begin(what, system);
    const char *before = ": ";
    for (uint32_t i = 0; i < MED_LIMIT_COUNT; i++) {
        if (text.length > LINE_FULL_BYTES) {
            med_log(MED_LOG_INFO, &text);
            text = line_begin("of", system);
            before = ": ";
        }
        med_text_string(&text, before);
        before = ", ";
        med_text_count(&text, system->limits.of[i], med_limit_infos[i].name);
    }
    med_log(MED_LOG_INFO, &text);
}

void
med_attach_report_file_left(const med_port_shared *shared)
{
    med_text text = {.length = 0};
    med_text_string(&text, "left system '");
    med_text_string(&text, shared->name);
    med_text_string(&text, "', whose file may stay: ");
    med_text_string(&text, shared->why);
    med_log(MED_LOG_ERROR, &text);
}
