/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shows how far the stages are, in one line: each sends its progress as a state, of which only the
 * newest value is received, however seldom that is looked at.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stage.h"

#define WIDTH 16  /* of a stage's bar, where there is room; */
#define BESIDE 60 /* beside all bars: names, brackets, what they do */
#define LOOK_MS 20
#define PATIENCE_MS 50

static const char *const names[STAGES] = {
    [LOADER] = "loader", [QUANTISER] = "quantiser", [WRITER] = "writer"};
static channel from[STAGES];
static progress newest[STAGES];

static volatile sig_atomic_t is_over;

static void
end(int number)
{
    (void)number;
    is_over = 1;
}

static void
look(unsigned stage)
{
    mcapi_status_t status;
    size_t size;
    progress came;
    if (!from[stage].is_open)
        return;
    medley_mcapi_state_recv(from[stage].in, &came, sizeof came, &size, &status);
    if (status == MCAPI_SUCCESS && size == sizeof came)
        newest[stage] = came;
    else if (status == MCAPI_ERR_ENDP_DELETED)
        stage_close(&from[stage]);
}

/* All in one line of the terminal: one that is broken cannot be written over. */
static unsigned
width_of_a_bar(void)
{
    struct winsize terminal;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &terminal) != 0 || terminal.ws_col == 0)
        return WIDTH;
    unsigned width = terminal.ws_col > BESIDE + STAGES ? (terminal.ws_col - 1u - BESIDE) / 3 : 1;
    return width < WIDTH ? width : WIDTH;
}

static void
show(void)
{
    char line[256], bar[WIDTH + 1];
    size_t length = 0;
    unsigned width = width_of_a_bar();
    for (unsigned stage = LOADER; stage <= WRITER; stage++) {
        const progress *p = &newest[stage];
        unsigned filled = p->of ? p->done * width / p->of : 0;
        memset(bar, '.', width);
        memset(bar, '#', filled <= width ? filled : width);
        bar[width] = '\0';
        length += (size_t)snprintf(line + length, sizeof line - length, "%s [%s] %-8s ",
                                   names[stage], bar, p->does);
    }
    fprintf(stderr, isatty(STDERR_FILENO) ? "\r%s" : "%s\n", line);
}

/* A stage wants to be watched: perhaps a new one, where another was. */
static void
watch(const note *n)
{
    if (n->kind != WATCH_ME || n->from < LOADER || n->from > WRITER)
        return;
    if (from[n->from].is_open)
        stage_close(&from[n->from]);
    if (!stage_join(&from[n->from], n, false, true))
        stage_close(&from[n->from]);
}

int
main(void)
{
    note n;
    signal(SIGTERM, end);
    stage_begin("bar", BAR);
    stage_be_patient(PATIENCE_MS); /* with a stage that may be dead */
    while (!is_over) {
        progress before[STAGES];
        memcpy(before, newest, sizeof before);
        if (stage_receive(&n, LOOK_MS))
            watch(&n);
        for (unsigned stage = LOADER; stage <= WRITER; stage++)
            look(stage);
        if (memcmp(before, newest, sizeof before) != 0)
            show();
    }
    if (isatty(STDERR_FILENO))
        fputc('\n', stderr);
    stage_end();
    return 0;
}
