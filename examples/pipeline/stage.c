/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A node, its mailbox, its channels: each call of MCAPI that the stages make stands here. */
#include "stage.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS 1000u         /* in microseconds */
#define WATCHED_MS 100u  /* patience with who is to watch it */
#define PROGRESS_MS 500u /* between two tries to be watched */
#define TOLD_MS 500u     /* between two notes of a channel that nobody connects */

static const char *stage_name;
static unsigned own_node;
static mcapi_endpoint_t mail;
static unsigned patience_ms = 10000; /* with who is about to come */

void
stage_fail(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", stage_name, what, why);
    exit(1);
}

static void
must(mcapi_status_t status, const char *what)
{
    char text[MCAPI_MAX_STATUS_SIZE];
    if (status != MCAPI_SUCCESS)
        stage_fail(what, mcapi_display_status(status, text, sizeof text));
}

void
stage_be_patient(unsigned ms)
{
    patience_ms = ms;
}

void
stage_begin(const char *name, unsigned node)
{
    mcapi_info_t info;
    mcapi_status_t status;
    stage_name = name;
    own_node = node;
    mcapi_initialize(0, node, NULL, NULL, &info, &status);
    must(status, "it is no node");
    mail = mcapi_endpoint_create(MAIL, &status);
    must(status, "it has no mailbox");
}

void
stage_end(void)
{
    mcapi_status_t status;
    mcapi_finalize(&status);
}

/* ---- Notes ----------------------------------------------------------------------------------- */

bool
stage_send(unsigned to, note_kind kind, unsigned port, unsigned patience_ms)
{
    mcapi_status_t status;
    note sent = {kind, own_node, port};
    mcapi_endpoint_t box = mcapi_endpoint_get(0, to, MAIL, patience_ms * MS, &status);
    if (status == MCAPI_SUCCESS)
        mcapi_msg_send(mail, box, &sent, sizeof sent, 0, &status);
    return status == MCAPI_SUCCESS;
}

bool
stage_receive(note *received, unsigned patience_ms)
{
    mcapi_status_t status;
    mcapi_timeout_t patience = patience_ms * MS;
    size_t size = 0;
    mcapi_endpoint_set_attribute(mail, MCAPI_ENDP_ATTR_TIMEOUT, &patience, sizeof patience,
                                 &status);
    must(status, "its mailbox has no timeout");
    mcapi_msg_recv(mail, received, sizeof *received, &size, &status);
    return status == MCAPI_SUCCESS && size == sizeof *received;
}

bool
stage_is_there(unsigned node)
{
    mcapi_status_t status;
    mcapi_endpoint_get(0, node, MAIL, 0, &status);
    return status == MCAPI_SUCCESS;
}

/* ---- Channels -------------------------------------------------------------------------------- */

/* False: it has not ended well, or not yet. */
static bool
wait_for(mcapi_request_t request, mcapi_status_t status)
{
    size_t size;
    mcapi_status_t cancelled;
    if (status != MCAPI_SUCCESS)
        return false;
    mcapi_wait(&request, &size, patience_ms * MS, &status);
    if (status == MCAPI_TIMEOUT)
        mcapi_cancel(&request, &cancelled);
    return status == MCAPI_SUCCESS;
}

/* Attributes are settled before another hears of it: it could be connected from then on. */
static bool
end_make(channel *made, unsigned port, bool is_out, bool of_states)
{
    mcapi_status_t status;
    mcapi_endp_attr_buffer_type_t newest_only = MCAPI_ENDP_ATTR_STATE_BUFFER;
    *made = (channel){.port = port, .is_out = is_out};
    made->end = mcapi_endpoint_create(port, &status);
    made->is_there = status == MCAPI_SUCCESS;
    if (made->is_there && of_states)
        mcapi_endpoint_set_attribute(made->end, MCAPI_ENDP_ATTR_BUFFER_TYPE, &newest_only,
                                     sizeof newest_only, &status);
    return status == MCAPI_SUCCESS;
}

bool
stage_offer(channel *made, unsigned port, bool is_out, bool of_states)
{
    return end_make(made, port, is_out, of_states);
}

/* Until it is connected. */
static bool
end_open(channel *opened)
{
    mcapi_status_t status;
    mcapi_request_t request;
    if (opened->is_out)
        mcapi_pktchan_send_open_i(&opened->out, opened->end, &request, &status);
    else
        mcapi_pktchan_recv_open_i(&opened->in, opened->end, &request, &status);
    opened->is_open = wait_for(request, status);
    return opened->is_open;
}

bool
stage_open_to(channel *opened, unsigned to, note_kind kind)
{
    unsigned patience = patience_ms;
    stage_be_patient(TOLD_MS);
    for (unsigned ms = 0; ms < patience && !opened->is_open; ms += TOLD_MS)
        if (!stage_send(to, kind, opened->port, patience) || end_open(opened))
            break;
    stage_be_patient(patience);
    return opened->is_open;
}

/* Each time by a port of its own: what it had to one that is dead now may still be there. */
bool
stage_join(channel *made, const note *offer, bool is_out, bool of_states)
{
    static unsigned joined;
    mcapi_status_t status;
    mcapi_request_t request;
    if (!end_make(made, JOINED + joined++, is_out, of_states))
        return false;
    mcapi_endpoint_t other =
        mcapi_endpoint_get(0, offer->from, offer->port, patience_ms * MS, &status);
    if (status != MCAPI_SUCCESS)
        return false;
    mcapi_pktchan_connect_i(is_out ? made->end : other, is_out ? other : made->end, &request,
                            &status);
    return wait_for(request, status) && end_open(made);
}

/* What lies in it until the other end takes it stays. */
void
stage_close(channel *closed)
{
    mcapi_status_t status;
    mcapi_request_t request;
    if (closed->is_open) {
        if (closed->is_out)
            mcapi_pktchan_send_close_i(closed->out, &request, &status);
        else
            mcapi_pktchan_recv_close_i(closed->in, &request, &status);
        (void)wait_for(request, status);
    }
    if (closed->is_there)
        mcapi_endpoint_delete(closed->end, &status); /* not while the other end is open */
    *closed = (channel){.is_there = false};
}

tile *
stage_tile_take(channel *to)
{
    mcapi_status_t status;
    tile *taken = medley_mcapi_pktchan_take(to->out, &status);
    return status == MCAPI_SUCCESS ? taken : NULL;
}

bool
stage_tile_send(channel *to, tile *filled)
{
    mcapi_status_t status, given_back;
    size_t size = offsetof(tile, rgb) + (size_t)filled->width * filled->height * 3;
    medley_mcapi_pktchan_send_taken(to->out, filled, size, &status);
    if (status != MCAPI_SUCCESS)
        mcapi_pktchan_release(filled, &given_back);
    return status == MCAPI_SUCCESS;
}

tile *
stage_tile_receive(channel *from)
{
    mcapi_status_t status;
    void *received;
    size_t size;
    mcapi_pktchan_recv(from->in, &received, &size, &status);
    return status == MCAPI_SUCCESS ? received : NULL;
}

void
stage_tile_release(tile *received)
{
    mcapi_status_t status;
    mcapi_pktchan_release(received, &status);
}

/* ---- How far it is --------------------------------------------------------------------------- */

static unsigned
now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned)(now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

/* The work waits for it no longer than this: the bar may be dead. */
static void
ask_to_be_watched(channel *to, unsigned port)
{
    unsigned patience = patience_ms;
    stage_be_patient(WATCHED_MS);
    if (!stage_offer(to, port, true, true) || !stage_send(BAR, WATCH_ME, port, 0) || !end_open(to))
        stage_close(to);
    stage_be_patient(patience);
}

/* Who is not watched tries to be, now and then, each time by another port. */
static bool
is_watched(channel *to)
{
    static unsigned tried_ms, tries;
    if (!to->is_open && (tries == 0 || now_ms() - tried_ms > PROGRESS_MS)) {
        ask_to_be_watched(to, PROGRESS + tries++);
        tried_ms = now_ms();
    }
    return to->is_open;
}

void
stage_progress(const char *does, unsigned done, unsigned of)
{
    static channel to;
    mcapi_status_t status;
    progress newest = {.done = done, .of = of};
    snprintf(newest.does, sizeof newest.does, "%s", does);
    if (is_watched(&to)) {
        mcapi_pktchan_send(to.out, &newest, sizeof newest, &status);
        if (status != MCAPI_SUCCESS)
            stage_close(&to);
    }
}
