/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For ports without a linker at run time, and for programs that are linked without one. */
#include "port/port.h"

medley_status_t
med_port_module_open(const char *name,
                     const char *symbol,
                     void **found,
                     char why[MED_PORT_WHY_BYTES])
{
    (void)name;
    (void)symbol;
    (void)found;
    why[0] = '\0';
    return MEDLEY_ERR_NOT_SUPPORTED;
}

medley_status_t
med_port_library_open(const char *path,
                      const char *symbol,
                      void **found,
                      char why[MED_PORT_WHY_BYTES])
{
    return med_port_module_open(path, symbol, found, why);
}

void *
med_port_function_find(const char *beside, const char *name)
{
    (void)beside;
    (void)name;
    return NULL;
}
