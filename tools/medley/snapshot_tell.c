/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One error line for each reason, in the words of who attaches (mrapi/attach_report.h) where he has
 * them.
 */
#include "tools/medley/snapshot_tell.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "mrapi/attach_report.h"
#include "port/port.h"
#include "tools/medley/surroundings.h"

/* NULL when the folder can be listed. */
static const char *
folder_fault(void)
{
    int folder = open(surroundings_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        return strerror(errno);
    }
    (void)close(folder);
    return NULL;
}

int
snapshot_no_list_tell(const med_command *command)
{
    const char *fault = folder_fault();
    command_error(command,
                  "cannot list '%s', the folder of shared memory: %s; MEDLEY_SHM_DIR names another",
                  surroundings_folder(), fault ? fault : "it was not there a moment ago");
    return COMMAND_FAILED;
}

int
snapshot_no_system_tell(const med_command *command, const char *name)
{
    if (folder_fault()) {
        return snapshot_no_list_tell(command);
    }
    command_error(command,
                  "no system '%s' of this user; 'medley system list' shows those there are", name);
    return COMMAND_FAILED;
}

int
snapshot_no_name_tell(const med_command *command, const char *name)
{
    if (med_port_shared_name_valid(name)) {
        command_error(command, "the path of the folder of shared memory is too long: %s",
                      surroundings_folder());
        return COMMAND_FAILED;
    }
    return command_usage_error(command, "'%s' is no name of a system: " MED_ATTACH_ADVICE_NAME,
                               name);
}

int
snapshot_no_look_tell(const med_command *command,
                      const char *name,
                      medley_status_t status,
                      const char *why)
{
    if (status == MEDLEY_ERR_ARGUMENT) {
        return snapshot_no_name_tell(command, name);
    }
    if (status == MEDLEY_ERR_NOT_FOUND) {
        return snapshot_no_system_tell(command, name);
    }
    if (status == MEDLEY_TIMEOUT) {
        command_error(command, SNAPSHOT_BLOCKED, name, why);
    } else {
        command_error(command,
                      "system '%s' cannot be read: %s; 'medley system list' shows its state", name,
                      medley_status_text(status));
    }
    return COMMAND_FAILED;
}

int
snapshot_blocked_tell(const med_command *command, const json_t *systems)
{
    int result = COMMAND_OK;
    for (size_t i = 0; i < json_array_size(systems); i++) {
        const json_t *system = json_array_get(systems, i);
        if (strcmp(json_string_value(json_object_get(system, "state")), "blocked") == 0) {
            command_error(command, SNAPSHOT_BLOCKED,
                          json_string_value(json_object_get(system, "name")),
                          json_string_value(json_object_get(system, "reason")));
            result = COMMAND_FAILED;
        }
    }
    return result;
}
