/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the system's errors are to Medley. */
#include <errno.h>

#include "linux.h"

medley_status_t
med_linux_status_of(int error)
{
    switch (error) {
    case 0:
        return MEDLEY_OK;
    case ENOENT:
    case ENOTDIR:
        return MEDLEY_ERR_NOT_FOUND;
    case EEXIST:
        return MEDLEY_ERR_EXISTS;
    case EACCES:
    case EPERM:
        return MEDLEY_ERR_ACCESS;
    case EDQUOT:
    case EFBIG:
    case ENOMEM:
    case ENOSPC:
        return MEDLEY_ERR_NO_MEMORY;
    default:
        return MEDLEY_ERR_SYSTEM;
    }
}

medley_status_t
med_linux_status_of_folder(int error)
{
    medley_status_t status = med_linux_status_of(error);
    return status == MEDLEY_ERR_ACCESS ? MEDLEY_ERR_SYSTEM : status;
}

const char *
med_linux_advice_of(int error)
{
    switch (error) {
    case EMFILE:
        return "; raise the limit of files (ulimit -n)";
    case ENFILE:
        return "; raise the machine's limit of files (fs.file-max)";
    default:
        return "";
    }
}
