/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One thread, which looks, draws, and waits for a key or the next look. Signals that end it, and
 * the one that says that the terminal has another size, come while it waits and never else: so none
 * is lost between a look at a flag and the wait, and the terminal is put back in order by the same
 * lines, whoever ends it.
 */
#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "port/port.h"
#include "tools/medley/command.h"
#include "tools/medley/top_change.h"
#include "tools/medley/top_kernel.h"
#include "tools/medley/top_look.h"
#include "tools/medley/top_screen.h"
#include "tools/medley/top_wait.h"

#define NS_PER_S 1000000000u
/* Of an escape key, which is the beginning of others too. */
#define ESCAPE_MS 50

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define ENDING_COUNT (sizeof ending / sizeof ending[0])

static volatile sig_atomic_t ended_by; /* a signal; 0: by none */

static void
end_asked(int signal)
{
    ended_by = signal;
}

/* What is blocked from now on but in the wait; gives what was. */
static void
signals_begin(sigset_t *before)
{
    const struct sigaction action = {.sa_handler = end_asked};
    sigset_t blocked;
    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGWINCH);
    for (size_t i = 0; i < ENDING_COUNT; i++) {
        struct sigaction usual;
        (void)sigaddset(&blocked, ending[i]);
        (void)sigaction(ending[i], NULL, &usual);
        if (usual.sa_handler != SIG_IGN) { /* nohup(1) has it so */
            (void)sigaction(ending[i], &action, NULL);
        }
    }
    (void)sigprocmask(SIG_BLOCK, &blocked, before);
}

/* As the signal that ended it would have. */
static void
end_by(int signal, const sigset_t *before)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    (void)sigaction(signal, &usual, NULL);
    (void)raise(signal);
    (void)sigprocmask(SIG_SETMASK, before, NULL);
}

/* ---- Looking --------------------------------------------------------------------------------- */

typedef struct watched {
    json_t *look; /* the last one */
    uint64_t next_ns;
} watched;

/* When the system that is watched is gone, or none can be listed any more. */
static json_t *
look_at_nothing(void)
{
    return json_pack("{s:I, s:o, s:[]}", "clock_ns", (json_int_t)med_port_clock_ns(), "processors",
                     top_kernel_processors(), "systems");
}

static void
show(top_screen *screen, watched *w, json_t *now)
{
    top_waits_tell(w->look, now);
    json_t *document = top_change(w->look, now);
    top_view_show(&screen->view, document);
    json_decref(document);
    json_decref(w->look);
    w->look = now;
    w->next_ns = med_port_clock_ns() + (uint64_t)(screen->interval_s * NS_PER_S);
    screen->hurry = false;
}

static void
look_again(top_screen *screen, watched *w)
{
    json_t *now;
    if (top_look(screen->system, med_port_clock_ns() + TOP_PATIENCE_NS, &now) != MEDLEY_OK) {
        now = look_at_nothing();
    }
    show(screen, w, now);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Until there is a key, a signal, or it is time to look. False: there is no terminal any more. */
static bool
wait_for_something(const top_screen *screen, const watched *w, const sigset_t *mask)
{
    struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
    uint64_t now_ns = med_port_clock_ns();
    uint64_t left_ns = w->next_ns > now_ns ? w->next_ns - now_ns : 0;
    struct timespec left = {.tv_sec = (time_t)(left_ns / NS_PER_S),
                            .tv_nsec = (long)(left_ns % NS_PER_S)};
    int ready = ppoll(&keys, 1, screen->paused ? NULL : &left, mask);
    return ready <= 0 || !(keys.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static void
keys_take(top_screen *screen, watched *w)
{
    int key;
    while (!screen->over && (key = getch()) != ERR) {
        top_keys_press(screen, key);
        if (screen->hurry) {
            look_again(screen, w);
        }
    }
}

static void
watch(top_screen *screen, watched *w, const sigset_t *mask)
{
    while (!screen->over && !ended_by) {
        if (!screen->paused && med_port_clock_ns() >= w->next_ns) {
            look_again(screen, w);
        }
        top_draw(screen);
        screen->over = !wait_for_something(screen, w, mask);
        keys_take(screen, w);
    }
}

/* ---- The terminal ---------------------------------------------------------------------------- */

/* NULL: it is no terminal that ncurses can use. */
static SCREEN *
terminal_begin(void)
{
    (void)setlocale(LC_CTYPE, "");
    SCREEN *terminal = newterm(NULL, stdout, stdin);
    if (terminal) {
        (void)cbreak();
        (void)noecho();
        (void)nonl();
        (void)keypad(stdscr, TRUE);
        (void)nodelay(stdscr, TRUE);
        (void)set_escdelay(ESCAPE_MS);
        (void)curs_set(0);
        top_draw_begin();
    }
    return terminal;
}

int
top_live(const char *system, double interval_s, json_t *first)
{
    top_screen screen = {.system = system, .interval_s = interval_s};
    watched w = {.look = NULL};
    sigset_t before;
    signals_begin(&before);
    SCREEN *terminal = terminal_begin();
    if (!terminal) {
        json_decref(first);
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
        return COMMAND_FAILED;
    }
    top_view_begin(&screen.view, system != NULL);
    show(&screen, &w, first);
    watch(&screen, &w, &before);
    (void)endwin();
    delscreen(terminal);
    top_targets_drop(&screen.targets);
    top_view_end(&screen.view);
    json_decref(w.look);
    if (ended_by) {
        end_by(ended_by, &before);
    }
    return COMMAND_OK;
}
