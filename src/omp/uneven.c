/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Variables of the environment that are about unlike cores. */
#include "omp/uneven.h"

#include "base/log.h"
#include "omp/cores.h"
#include "omp/icv.h"
#include "port/port.h"

static bool
percent_read(med_value value, uint32_t *percent)
{
    uint64_t number;
    if (!med_value_number(&value, 1, 100, &number) || !med_value_end(&value)) {
        return false;
    }
    *percent = (uint32_t)number;
    return true;
}

bool
med_uneven_read_percent(med_settings *settings, med_value value)
{
    return percent_read(value, &settings->uneven.probe_percent);
}

bool
med_uneven_read_again(med_settings *settings, med_value value)
{
    return percent_read(value, &settings->uneven.again_percent);
}

static bool
count_read(med_value value, uint32_t most, uint32_t *count)
{
    uint64_t number;
    if (!med_value_number(&value, 0, most, &number) || !med_value_end(&value)) {
        return false;
    }
    *count = (uint32_t)number;
    return true;
}

bool
med_uneven_read_most(med_settings *settings, med_value value)
{
    return count_read(value, UINT32_MAX, &settings->uneven.probes_most);
}

bool
med_uneven_read_probe_again(med_settings *settings, med_value value)
{
    return count_read(value, INT32_MAX, &settings->uneven.probe_again);
}

bool
med_uneven_read_ratios(med_settings *settings, med_value value)
{
    med_uneven *uneven = &settings->uneven;
    uint64_t number;
    uneven->ratio_count = 0;
    do {
        if (uneven->ratio_count == MED_CLASSES_MAX ||
            !med_value_number(&value, 1, MED_WEIGHT_MOST, &number)) {
            return false;
        }
        uneven->ratios[uneven->ratio_count++] = (uint32_t)number;
    } while (med_value_mark(&value, ':'));
    return med_value_end(&value);
}

/* Is a processor in two of them? */
static bool
is_twofold(const med_places *classes)
{
    med_processor_set all = {{0}};
    bool is_twofold = false;
    for (uint32_t i = 0; i < classes->count; i++) {
        is_twofold |= !med_processor_set_join(&all, &classes->list[i]);
    }
    return is_twofold;
}

bool
med_uneven_read_classes(med_settings *settings, med_value value)
{
    const med_places *classes = &settings->uneven.classes;
    return med_places_read(&value, &settings->uneven.classes) &&
           classes->count <= MED_CLASSES_MAX && !is_twofold(classes);
}

void
med_uneven_settle(med_settings *settings)
{
    med_uneven *uneven = &settings->uneven;
    if (uneven->ratio_count && uneven->ratio_count != med_cores_count(settings)) {
        med_log_ignored("MEDLEY_CSR", med_port_environment("MEDLEY_CSR"),
                        "a number for each class of cores, as MEDLEY_CORE_CLASSES or the system "
                        "has them");
        uneven->ratio_count = 0;
    }
}

bool
med_uneven_is(uint32_t kind)
{
    kind &= ~MED_SCHEDULE_MONOTONIC;
    return kind == MED_SCHEDULE_HETPROBE || kind == MED_SCHEDULE_HETPROBE_I;
}

bool
med_uneven_is_wanted(const med_settings *settings)
{
    return med_uneven_is(settings->initial.schedule) ||
           (settings->uneven.imposes && med_uneven_is(settings->uneven.kind));
}
