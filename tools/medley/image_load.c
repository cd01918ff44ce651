/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* medley system load: a system that is made of a file, and kept while it is wanted. */
#include "tools/medley/image.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "mrapi/image.h"
#include "mrapi/system.h"
#include "mrapi/view.h"
#include "tools/medley/output.h"

#define LOOK_INTERVAL_NS 50000000

/* ---- Signals --------------------------------------------------------------------------------- */

/* Those that end it. They are blocked, and taken here. */
static sigset_t ends;

static void
ends_block(void)
{
    (void)sigemptyset(&ends);
    (void)sigaddset(&ends, SIGINT);
    (void)sigaddset(&ends, SIGTERM);
    (void)sigaddset(&ends, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &ends, NULL);
}

/* Once it is, it stays: nobody takes the signal. */
static bool
is_ended(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 &&
           (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
            sigismember(&pending, SIGHUP) == 1);
}

static void
keep(const med_system *system, bool until_joined)
{
    static const struct timespec interval = {.tv_nsec = LOOK_INTERVAL_NS};
    while (!(until_joined && med_view_was_joined(system))) {
        if (sigtimedwait(&ends, NULL, until_joined ? &interval : NULL) >= 0) {
            return;
        }
    }
}

/* ---- Loading --------------------------------------------------------------------------------- */

static void
loaded_print(const char *path, const char *name, bool until_joined, bool json)
{
    if (json) {
        output_json(json_pack("{s:{s:o, s:o, s:s}}", "loaded", "system", output_string(name),
                              "file", output_string(path), "kept_until",
                              until_joined ? "joined" : "ended"),
                    false);
    } else {
        (void)printf("system '%s' is there; %s\n", name,
                     until_joined ? "kept until a process joins it"
                                  : "kept until this process is ended (SIGINT, SIGTERM, SIGHUP)");
    }
    (void)fflush(stdout);
}

static int
hold(const char *path, const char *name, bool until_joined, bool json)
{
    med_system *system;
    if (med_system_attach(name, &system) != MEDLEY_OK) {
        return COMMAND_FAILED;
    }
    loaded_print(path, name, until_joined, json);
    keep(system, until_joined);
    med_system_release(system);
    return COMMAND_OK;
}

/* Standard input's text lies where it is until this process ends. */
static medley_status_t
input_open(med_image *image)
{
    static char text[MED_IMAGE_BYTES_MAX + 1];
    static unsigned list[MED_IMAGE_LIST_ROOM];
    static const char name[] = "standard input";
    size_t length = fread(text, 1, sizeof text, stdin);
    const char *why = length > MED_IMAGE_BYTES_MAX ? "it is larger than 4 MiB" : strerror(errno);
    if (length > MED_IMAGE_BYTES_MAX || ferror(stdin)) {
        *image = (med_image){.path = name};
        return med_image_refuse(image, 0, "cannot be read", NULL, 0, why);
    }
    return med_image_open_text(name, text, (uint32_t)length, list, image);
}

static medley_status_t
file_open(const char *path, med_image *image)
{
    return med_image_open(path, "there is no such file; 'medley system save' writes one", image);
}

/* It was ended while it made the system, which is gone. */
static int
ended_first(const med_command *command, const char *name)
{
    command_error(command, "ended by a signal before system '%s' was there", name);
    return COMMAND_FAILED;
}

static int
make_and_hold(const med_command *command,
              med_image *image,
              const char *path,
              const char *name,
              bool until_joined,
              bool json)
{
    medley_status_t status = med_system_open_image(name, image);
    if (status != MEDLEY_OK) {
        return status == MEDLEY_ERR_CANCELED ? ended_first(command, name) : COMMAND_FAILED;
    }
    int result = is_ended() ? ended_first(command, name) : hold(path, name, until_joined, json);
    (void)med_system_close();
    return result;
}

int
image_load(
    const med_command *command, const char *path, const char *name, bool until_joined, bool json)
{
    med_image image;
    med_log_level_set(MED_LOG_ERROR); /* what is wrong with the file, the library tells */
    command_hear_library();
    bool from_input = strcmp(path, "-") == 0;
    if ((from_input ? input_open(&image) : file_open(path, &image)) != MEDLEY_OK) {
        return COMMAND_FAILED;
    }
    ends_block();
    image.ended = is_ended;
    int result = COMMAND_FAILED;
    name = name ? name : image.name;
    if (!*name) {
        command_error(command, "'%s' names no system: add 'name: NAME' to it, or give --name NAME",
                      path);
    } else {
        result = make_and_hold(command, &image, path, name, until_joined, json);
    }
    med_image_close(&image);
    return result;
}
