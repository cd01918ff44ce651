/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is said when a process attaches to a system, cannot, or leaves it. */
#ifndef MEDLEY_MRAPI_ATTACH_REPORT_H
#define MEDLEY_MRAPI_ATTACH_REPORT_H

#include "base/log.h"
#include "medley/status.h"
#include "mrapi/system.h"

/* "cannot open system 'name': status; advice". Here and below NULL is the private system. */
void med_attach_report(const char *name, medley_status_t status, const char *advice);
#define MED_ATTACH_ADVICE_NAME                                                                     \
    "a name has 1 to 48 letters, digits, '.', '_', '-', and does not start with '.'"
/* What med_attach_report_failure and med_attach_tell call for a line that is wanted. */
void med_attach_report_failure_line(const char *name, medley_status_t status, const char *why);
void med_attach_tell_line(const char *what, const med_system *system);

/* With what to do about it. `why` (may be "") is the port's, and says more than the status. */
static inline void
med_attach_report_failure(const char *name, medley_status_t status, const char *why)
{
    if (med_log_wanted(MED_LOG_ERROR)) {
        med_attach_report_failure_line(name, status, why);
    }
}

void med_attach_report_image_refused(const char *name);
/* "left system 'name', whose file may stay: why" */
void med_attach_report_file_left(const med_port_shared *shared);

/* The coming and going of systems, for who wants to follow it. */
static inline void
med_attach_tell(const char *what, const med_system *system)
{
    if (med_log_wanted(MED_LOG_INFO)) {
        med_attach_tell_line(what, system);
    }
}

#endif
