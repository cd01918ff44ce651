/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the environment says of unlike cores, and of loops that are shared out between them. */
#ifndef MEDLEY_OMP_UNEVEN_H
#define MEDLEY_OMP_UNEVEN_H

#include <stdbool.h>
#include <stdint.h>

#include "omp/places.h"
#include "omp/schedule/split.h"
#include "omp/value.h"

struct med_settings;

typedef struct med_uneven {
    uint32_t probe_percent; /* of a loop's iterations: MEDLEY_PROBE_PERCENT */
    uint32_t probes_most;   /* of one loop: MEDLEY_MAX_PROBES */
    uint32_t probe_again; /* after so many invocations behind these; 0: never: MEDLEY_PROBE_AGAIN */
    uint32_t again_percent; /* of a loop, from one probe to the next: OMP_HET_PTG */
    uint32_t ratio_count;   /* MEDLEY_CSR; 0: they are measured */
    uint32_t ratios[MED_CLASSES_MAX];
    med_places classes; /* MEDLEY_CORE_CLASSES; none: as the machine says */
    bool imposes;       /* MEDLEY_SCHEDULE */
    uint32_t kind;      /* that, of a med_schedule_kind; */
    uint64_t chunk;
} med_uneven;

#define MED_UNEVEN_INITIAL                                                                         \
    {                                                                                              \
        .probe_percent = 10, .probes_most = 10, .again_percent = 10                                \
    }

/* Each reads one variable. False: it is none. */
bool med_uneven_read_percent(struct med_settings *settings, med_value value);
bool med_uneven_read_most(struct med_settings *settings, med_value value);
bool med_uneven_read_probe_again(struct med_settings *settings, med_value value);
bool med_uneven_read_again(struct med_settings *settings, med_value value);
bool med_uneven_read_ratios(struct med_settings *settings, med_value value);
bool med_uneven_read_classes(struct med_settings *settings, med_value value);
/* When all are read: what does not go together is named in a warning. */
void med_uneven_settle(struct med_settings *settings);
/* Is a loop of that kind shared out by the speed of cores? */
bool med_uneven_is(uint32_t kind);
/* Does a schedule that the environment names share out by the speed of cores? */
bool med_uneven_is_wanted(const struct med_settings *settings);

#endif
