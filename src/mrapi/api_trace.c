/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a program itself says to the trace of its node's system. */
#include "medley/medley.h"
#include "mrapi/node.h"
#include "mrapi/traced.h"

static void
tell(med_traced_event event, const char *name)
{
    const med_self *self = med_self_get();
    if (self && med_traced_is_on(self->system)) {
        med_traced_letters(self->system, self->ref, event, name ? name : "");
    }
}

void
medley_trace_begin(const char *name)
{
    tell(MED_TRACED_BEGINS, name);
}

void
medley_trace_end(void)
{
    tell(MED_TRACED_ENDS, NULL);
}

void
medley_trace_mark(const char *name)
{
    tell(MED_TRACED_MARK, name);
}
