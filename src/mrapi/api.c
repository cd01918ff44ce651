/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "mrapi/api.h"

mrapi_status_t
med_api_status(const med_api_codes *codes,
               medley_status_t status,
               mrapi_status_t busy,
               mrapi_status_t exists)
{
    switch (status) {
    case MEDLEY_OK:
        return MRAPI_SUCCESS;
    case MEDLEY_TIMEOUT:
        return MRAPI_TIMEOUT;
    case MEDLEY_BUSY:
        return busy;
    case MEDLEY_ERR_EXISTS:
        return exists;
    case MEDLEY_ERR_LIMIT:
        return codes->limit;
    case MEDLEY_ERR_NOT_FOUND:
        return codes->deleted;
    case MEDLEY_ERR_ACCESS:
        return MRAPI_ERR_DOMAIN_NOTSHARED;
    case MEDLEY_ERR_NOT_OWNER:
        return codes->not_locked;
    case MEDLEY_ERR_OWNER_DIED:
        return codes->not_valid;
    case MEDLEY_ERR_NOT_SUPPORTED:
        return MRAPI_ERR_NOT_SUPPORTED;
    default:
        return codes->invalid;
    }
}
