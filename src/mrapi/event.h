/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Events that programs may want to hear of (mrapi_resource_register_callback). The events are the
 * process's: whoever notices one tells those of its program that asked. */
#ifndef MEDLEY_MRAPI_EVENT_H
#define MEDLEY_MRAPI_EVENT_H

#include <stdint.h>

#include "medley/status.h"
#include "mrapi.h"

/* `callback` hears of every `frequency`-th `event`; 0: no longer. MEDLEY_ERR_LIMIT. */
medley_status_t
med_event_listen(mrapi_event_t event, uint32_t frequency, void (*callback)(mrapi_event_t event));

/* Tells who listens. */
void med_event_tell_listeners(mrapi_event_t event);
/* That function; NULL in a program that never listens (parts.h). */
extern void (*const med_event_teller)(mrapi_event_t event);

/* It has happened. Two loads when nobody listens. Any thread; it holds none of the program's locks,
 * but may have a table of the registry locked while it waits for another, and finds a death there:
 * a callback that wants the first table waits until its patience ends, and fails. */
static inline void
med_event_tell(mrapi_event_t event)
{
    if (med_event_teller) {
        med_event_teller(event);
    }
}

#endif
