/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names of MCAPI's status codes. */
#include <stdbool.h>

#include "base/log.h"
#include "base/text.h"
#include "mcapi.h"

#define NAME(code) [MCAPI_##code] = "MCAPI_" #code

static const char *const names[MCAPI_STATUSCODE_END] = {
    NAME(SUCCESS),
    NAME(PENDING),
    NAME(TIMEOUT),
    NAME(ERR_PARAMETER),
    NAME(ERR_DOMAIN_INVALID),
    NAME(ERR_NODE_INVALID),
    NAME(ERR_NODE_INITFAILED),
    NAME(ERR_NODE_INITIALIZED),
    NAME(ERR_NODE_NOTINIT),
    NAME(ERR_NODE_FINALFAILED),
    NAME(ERR_PORT_INVALID),
    NAME(ERR_ENDP_INVALID),
    NAME(ERR_ENDP_EXISTS),
    NAME(ERR_ENDP_GET_LIMIT),
    NAME(ERR_ENDP_DELETED),
    NAME(ERR_ENDP_NOTOWNER),
    NAME(ERR_ENDP_REMOTE),
    NAME(ERR_ENDP_NOPORTS),
    NAME(ERR_ENDP_LIMIT),
    NAME(ERR_ATTR_INCOMPATIBLE),
    NAME(ERR_ATTR_SIZE),
    NAME(ERR_ATTR_NUM),
    NAME(ERR_ATTR_VALUE),
    NAME(ERR_ATTR_NOTSUPPORTED),
    NAME(ERR_ATTR_READONLY),
    NAME(ERR_MSG_SIZE),
    NAME(ERR_MSG_TRUNCATED),
    NAME(ERR_CHAN_OPEN),
    NAME(ERR_CHAN_TYPE),
    NAME(ERR_CHAN_DIRECTION),
    NAME(ERR_CHAN_CONNECTED),
    NAME(ERR_CHAN_OPENPENDING),
    NAME(ERR_CHAN_CLOSEPENDING),
    NAME(ERR_CHAN_NOTOPEN),
    NAME(ERR_CHAN_INVALID),
    NAME(ERR_PKT_SIZE),
    NAME(ERR_SCL_SIZE),
    NAME(ERR_TRANSMISSION),
    NAME(ERR_PRIORITY),
    NAME(ERR_BUF_INVALID),
    NAME(ERR_MEM_LIMIT),
    NAME(ERR_REQUEST_INVALID),
    NAME(ERR_REQUEST_LIMIT),
    NAME(ERR_REQUEST_CANCELLED),
    NAME(ERR_WAIT_PENDING),
    NAME(ERR_GENERAL),
};

char *
mcapi_display_status(mcapi_status_t status, char *status_message, size_t size)
{
    if (!status_message || size == 0) {
        return NULL;
    }
    bool known = (unsigned)status < MCAPI_STATUSCODE_END && names[status];
    med_text_copy(status_message, size, known ? names[status] : "UNKNOWN");
    return status_message;
}

void
mcapi_set_debug_level(int level)
{
    med_log_level_set_number(level);
}
