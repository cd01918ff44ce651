/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A node for others to look at: holder DOMAIN NODE [VERB NUMBER]...
 *
 *   create, recursive, inherit   makes a mutex: plain, recursive, with priority inheritance
 *   get                          takes the handle of one that another made
 *   lock                         takes it
 *   wait                         says "ready" and takes it, which is expected to block
 *   sem3, getsem, take, waitsem  likewise, a semaphore that three have at once
 *   rwl, getrwl, read, write, waitrwl
 *                                likewise, a reader/writer lock: to read, and to write
 *
 *   exchange                     of endpoints 1 and 2, 3 and 4, sends as many messages and
 *                                scalars from one to the other, and receives one of each
 *   stream                       of the same, says "ready" and sends from 1 to 2 and receives that,
 *                                again and again, until its standard input ends (any number)
 *   await                        makes endpoint 1 (any number), says "ready" and receives there,
 *                                where nobody sends
 *   any                          makes an endpoint under whichever port (any number)
 *   table, section               locks that kind's table, or enters the section (any number), and
 *                                is stopped there, until it is continued
 *   careless                     opens the system's file and closes it again (any number)
 *   open                         opens the system whose name is the number, or fails to
 *
 * Then it says "ready" and stays until its standard input ends.
 */
#include <fcntl.h>
#include <mcapi.h>
#include <medley/medley.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mrapi/system.h"

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

/* False: it is not about semaphores. */
static bool
do_sem_verb(const char *verb, unsigned number, mrapi_status_t *status)
{
    if (strcmp(verb, "sem3") == 0) {
        handles[number] = mrapi_sem_create(number, NULL, 3, status);
    } else if (strcmp(verb, "getsem") == 0) {
        handles[number] = mrapi_sem_get(number, status);
    } else if (strcmp(verb, "take") == 0) {
        mrapi_sem_lock(handles[number], MRAPI_TIMEOUT_INFINITE, status);
    } else if (strcmp(verb, "waitsem") == 0) {
        say_ready();
        mrapi_sem_lock(handles[number], MRAPI_TIMEOUT_INFINITE, status);
    } else {
        return false;
    }
    return true;
}

/* False: it is not about reader/writer locks. */
static bool
do_rwl_verb(const char *verb, unsigned number, mrapi_status_t *status)
{
    if (strcmp(verb, "rwl") == 0) {
        handles[number] = mrapi_rwl_create(number, NULL, 4, status);
    } else if (strcmp(verb, "getrwl") == 0) {
        handles[number] = mrapi_rwl_get(number, status);
    } else if (strcmp(verb, "read") == 0) {
        mrapi_rwl_lock(handles[number], MRAPI_RWL_READER, MRAPI_TIMEOUT_INFINITE, status);
    } else if (strcmp(verb, "write") == 0) {
        mrapi_rwl_lock(handles[number], MRAPI_RWL_WRITER, MRAPI_TIMEOUT_INFINITE, status);
    } else if (strcmp(verb, "waitrwl") == 0) {
        say_ready();
        mrapi_rwl_lock(handles[number], MRAPI_RWL_WRITER, MRAPI_TIMEOUT_INFINITE, status);
    } else {
        return false;
    }
    return true;
}

static void
expect_exchange(bool good, const char *what)
{
    if (!good) {
        (void)fprintf(stderr, "holder: exchange: %s\n", what);
        exit(1);
    }
}

static void
request_end(mcapi_request_t request, const char *what)
{
    mcapi_status_t status;
    size_t size;
    (void)mcapi_wait(&request, &size, MCAPI_TIMEOUT_INFINITE, &status);
    expect_exchange(status == MCAPI_SUCCESS, what);
}

static void
exchange_scalars(mcapi_endpoint_t from, mcapi_endpoint_t to, unsigned number)
{
    mcapi_status_t status;
    mcapi_request_t request;
    unsigned sender, receiver;
    mcapi_sclchan_connect_i(from, to, &request, &status);
    request_end(request, "connect");
    mcapi_sclchan_send_open_i(&sender, from, &request, &status);
    request_end(request, "open to send");
    mcapi_sclchan_recv_open_i(&receiver, to, &request, &status);
    request_end(request, "open to receive");
    for (unsigned i = 0; i < number; i++) {
        mcapi_sclchan_send_uint32(sender, i, &status);
        expect_exchange(status == MCAPI_SUCCESS, "send a scalar");
    }
    expect_exchange(mcapi_sclchan_recv_uint32(receiver, &status) == 0, "receive a scalar");
}

static void
endpoints_make(mcapi_endpoint_t *ends, unsigned count)
{
    mcapi_status_t status;
    mcapi_info_t info;
    const med_self *self = med_self_get();
    mcapi_initialize(self->domain, self->node, NULL, NULL, &info, &status);
    expect_exchange(status == MCAPI_SUCCESS, "initialize");
    for (unsigned i = 0; i < count; i++) {
        ends[i] = mcapi_endpoint_create(i + 1, &status);
        expect_exchange(status == MCAPI_SUCCESS, "create");
    }
}

static void
exchange(unsigned number)
{
    mcapi_status_t status;
    mcapi_endpoint_t ends[4];
    unsigned char message[24] = "";
    size_t size;
    endpoints_make(ends, 4);
    for (unsigned i = 0; i < number; i++) {
        mcapi_msg_send(ends[0], ends[1], message, sizeof message, 2, &status);
        expect_exchange(status == MCAPI_SUCCESS, "send a message");
    }
    mcapi_msg_recv(ends[1], message, sizeof message, &size, &status);
    expect_exchange(status == MCAPI_SUCCESS, "receive a message");
    exchange_scalars(ends[2], ends[3], number);
}

static bool
input_has_ended(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) != 0;
}

static void
stream(void)
{
    mcapi_status_t status;
    mcapi_endpoint_t ends[4];
    unsigned char message[24] = "";
    size_t size;
    endpoints_make(ends, 4);
    say_ready();
    while (!input_has_ended()) {
        mcapi_msg_send(ends[0], ends[1], message, sizeof message, 2, &status);
        expect_exchange(status == MCAPI_SUCCESS, "send a message");
        mcapi_msg_recv(ends[1], message, sizeof message, &size, &status);
        expect_exchange(status == MCAPI_SUCCESS, "receive a message");
    }
}

static void
await_message(void)
{
    mcapi_status_t status;
    mcapi_endpoint_t end;
    unsigned char message[24];
    size_t size;
    endpoints_make(&end, 1);
    say_ready();
    mcapi_msg_recv(end, message, sizeof message, &size, &status);
}

static void
make_any_endpoint(void)
{
    mcapi_status_t status;
    mcapi_endpoint_t ignored;
    endpoints_make(&ignored, 0);
    (void)mcapi_endpoint_create(MCAPI_PORT_ANY, &status);
    expect_exchange(status == MCAPI_SUCCESS, "create any");
}

static medley_status_t
stop(void *context)
{
    (void)context;
    say_ready();
    return raise(SIGSTOP) == 0 ? MEDLEY_OK : MEDLEY_ERR_SYSTEM;
}

static void
stop_with_table(unsigned kind)
{
    if (med_table_hold(&med_self_get()->system->tables[kind], stop, NULL) != MEDLEY_OK) {
        exit(1);
    }
}

static void
stop_in_section(void)
{
    med_port_shared *shared = &med_self_get()->system->shared;
    if (med_port_shared_lock_until(shared, MED_PORT_FOREVER) != MEDLEY_OK ||
        stop(NULL) != MEDLEY_OK) {
        exit(1);
    }
    med_port_shared_unlock(shared);
}

static void
be_careless(void)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/medley-%u-%s", getenv("MEDLEY_SHM_DIR"),
                   (unsigned)geteuid(), getenv("MEDLEY_SYSTEM"));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || close(fd) != 0) {
        perror(path);
        exit(1);
    }
}

static void
do_verb(const char *verb, unsigned number)
{
    mrapi_status_t status = MRAPI_SUCCESS;
    mrapi_key_t key;
    if (do_sem_verb(verb, number, &status) || do_rwl_verb(verb, number, &status)) {
        expect(status, verb);
        return;
    }
    if (strcmp(verb, "create") == 0) {
        create(number, 0);
    } else if (strcmp(verb, "recursive") == 0) {
        create(number, MRAPI_MUTEX_RECURSIVE);
    } else if (strcmp(verb, "inherit") == 0) {
        create(number, MEDLEY_MUTEX_PRIORITY_INHERITANCE);
    } else if (strcmp(verb, "exchange") == 0) {
        exchange(number);
    } else if (strcmp(verb, "stream") == 0) {
        stream();
    } else if (strcmp(verb, "await") == 0) {
        await_message();
    } else if (strcmp(verb, "any") == 0) {
        make_any_endpoint();
    } else if (strcmp(verb, "table") == 0) {
        stop_with_table(number);
    } else if (strcmp(verb, "section") == 0) {
        stop_in_section();
    } else if (strcmp(verb, "careless") == 0) {
        be_careless();
    } else if (strcmp(verb, "open") == 0) {
        char name[16];
        (void)snprintf(name, sizeof name, "%u", number);
        (void)medley_system_open(name);
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
