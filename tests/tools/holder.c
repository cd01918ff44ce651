/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A node for others to look at: holder DOMAIN NODE [VERB MUTEX]...
 *
 *   create, recursive, inherit   makes a mutex: plain, recursive, with priority inheritance
 *   get                          takes the handle of one that another made
 *   lock                         takes it
 *   wait                         says "ready" and takes it, which is expected to block
 *
 * Then it says "ready" and stays until its standard input ends.
 */
#include <medley/medley.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUTEXES 64

static mrapi_mutex_hndl_t handles[MUTEXES];

static void
expect(mrapi_status_t status, const char *what)
{
    if (status != MRAPI_SUCCESS) {
        char text[MRAPI_MAX_STATUS_SIZE];
        (void)fprintf(stderr, "holder: %s: %s\n", what,
                      mrapi_display_status(status, text, sizeof text));
        exit(1);
    }
}

static void
create(unsigned number, mrapi_uint_t attribute)
{
    mrapi_status_t status;
    mrapi_mutex_attributes_t attributes;
    mrapi_boolean_t yes = MRAPI_TRUE;
    mrapi_mutex_init_attributes(&attributes, &status);
    if (attribute) {
        mrapi_mutex_set_attribute(&attributes, attribute, &yes, sizeof yes, &status);
        expect(status, "attribute");
    }
    handles[number] = mrapi_mutex_create(number, &attributes, &status);
    expect(status, "create");
}

static void
say_ready(void)
{
    (void)puts("ready");
    (void)fflush(stdout);
}

static void
do_verb(const char *verb, unsigned number)
{
    mrapi_status_t status = MRAPI_SUCCESS;
    mrapi_key_t key;
    if (strcmp(verb, "create") == 0) {
        create(number, 0);
    } else if (strcmp(verb, "recursive") == 0) {
        create(number, MRAPI_MUTEX_RECURSIVE);
    } else if (strcmp(verb, "inherit") == 0) {
        create(number, MEDLEY_MUTEX_PRIORITY_INHERITANCE);
    } else if (strcmp(verb, "get") == 0) {
        handles[number] = mrapi_mutex_get(number, &status);
    } else {
        if (strcmp(verb, "wait") == 0) {
            say_ready();
        }
        mrapi_mutex_lock(handles[number], &key, MRAPI_TIMEOUT_INFINITE, &status);
    }
    expect(status, verb);
}

int
main(int argc, char **argv)
{
    mrapi_status_t status;
    mrapi_info_t info;
    if (argc < 3) {
        return 2;
    }
    mrapi_initialize((mrapi_domain_t)atoi(argv[1]), (mrapi_node_t)atoi(argv[2]), 0, &info, &status);
    expect(status, "initialize");
    for (int i = 3; i + 1 < argc; i += 2) {
        do_verb(argv[i], (unsigned)atoi(argv[i + 1]) % MUTEXES);
    }
    say_ready();
    while (getchar() != EOF) {
    }
    mrapi_finalize(&status);
    return 0;
}
