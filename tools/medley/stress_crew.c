/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One process for all nodes that are threads, and one for each other. This process starts them and
 * waits; it is itself in no system. A node that finds something wrong ends its process with status
 * 1; whoever ends in any other way than well, or a signal to end, ends all: they are killed, and
 * the system, in which nobody lives then, is removed. A child does not outlive this process.
 */
#include "tools/medley/stress_crew.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "medley/medley.h"
#include "mrapi/limits.h"
#include "mrapi/system.h"
#include "tools/medley/output.h"
#include "tools/medley/surroundings.h"

#define PROGRESS_INTERVAL_NS 200000000L
#define SYSTEM_BYTES 32
#define WHO_NAMED_MAX 4u /* of those that failed alike */
#define STATES_IN_LANE 4u
#define STATE_EXTRA 128u /* what a lane keeps beside each */

typedef struct member {
    pid_t pid;
    uint32_t node; /* the one that it is; 0: all that are threads */
    bool ended;
    bool killed; /* by this process, unless it was ending */
    int result;  /* as of waitpid; 0 also of who was killed by this process */
} member;

typedef struct crew {
    const med_command *command;
    const deployment *d;
    stress_shared *shared;
    json_t *failed;
    char system[SYSTEM_BYTES];
    sigset_t before; /* signals that were blocked */
    pid_t parent;
    uint32_t count;
    uint32_t running;
    bool well;
    member members[DEPLOYMENT_NODES_MAX + 1];
} crew;

/* ---- What they need -------------------------------------------------------------------------- */

uint64_t
stress_transactions(const deployment *d)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < d->channel_count; i++) {
        count += d->channels[i].count;
    }
    return count;
}

stress_shared *
stress_shared_make(const deployment *d)
{
    size_t bytes = sizeof(stress_shared) + d->node_count * sizeof(stress_record);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    stress_shared *shared = memory;
    pthread_barrierattr_t attributes;
    bool made = pthread_barrierattr_init(&attributes) == 0 &&
                pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0 &&
                pthread_barrier_init(&shared->step, &attributes, d->node_count) == 0;
    return made ? shared : NULL;
}

/* A limit that the standard does not reach, unless the user has set it. */
static void
limit_raise(const med_limit_info *info, uint32_t needed)
{
    char text[16];
    if (needed > info->standard) {
        (void)snprintf(text, sizeof text, "%" PRIu32,
                       needed < info->largest ? needed : info->largest);
        (void)setenv(info->variable, text, 0);
    }
}

static void
limits_raise(const deployment *d)
{
    uint32_t largest = 0, states = 0; /* the lane of a state holds a few of it */
    for (uint32_t i = 0; i < d->channel_count; i++) {
        uint32_t size = d->channels[i].size_bytes;
        largest = size > largest ? size : largest;
        states = d->channels[i].type == DEPLOYMENT_STATE && size > states ? size : states;
    }
    limit_raise(&med_limit_infos[MED_LIMIT_LANE_BYTES], STATES_IN_LANE * (states + STATE_EXTRA));
    limit_raise(&med_limit_infos[MED_LIMIT_NODES], d->node_count);
    limit_raise(&med_limit_infos[MED_LIMIT_PROCESSES], d->node_count + 1);
    limit_raise(&med_limit_infos[MED_LIMIT_ENDPOINTS], d->channel_count * 2);
    limit_raise(&med_limit_infos[MED_LIMIT_LANES], d->channel_count);
    limit_raise(&med_limit_infos[MED_LIMIT_BUFFERS], d->channel_count * 4);
    limit_raise(&med_limit_infos[MED_LIMIT_BUFFER_BYTES], largest);
    limit_raise(&med_limit_requests, d->channel_count * 2 + d->node_count);
}

/* ---- A member -------------------------------------------------------------------------------- */

typedef struct thread_node {
    const crew *crew;
    uint32_t number;
} thread_node;

/* Where a node writes what went wrong; number 0: the process of all that are threads. */
static char *
error_of(const crew *c, uint32_t number)
{
    return number ? c->shared->records[number - 1].error : c->shared->threads_error;
}

/* The others wait for it: none of the process goes on. */
static void
node_run(const crew *c, uint32_t number)
{
    if (!stress_node_run(c->d, number, c->shared)) {
        _exit(EXIT_FAILURE);
    }
}

static void *
thread_run(void *context)
{
    const thread_node *t = context;
    node_run(t->crew, t->number);
    return NULL;
}

static void
threads_run(const crew *c)
{
    static pthread_t threads[DEPLOYMENT_NODES_MAX + 1];
    static thread_node nodes[DEPLOYMENT_NODES_MAX + 1];
    for (uint32_t i = 1; i <= c->d->node_count; i++) {
        nodes[i] = (thread_node){.crew = c, .number = i};
        if (c->d->nodes[i].run == DEPLOYMENT_THREADS &&
            pthread_create(&threads[i], NULL, thread_run, &nodes[i]) != 0) {
            stress_error_write(error_of(c, i), "its thread cannot be started");
            _exit(EXIT_FAILURE);
        }
    }
    for (uint32_t i = 1; i <= c->d->node_count; i++) {
        if (c->d->nodes[i].run == DEPLOYMENT_THREADS) {
            (void)pthread_join(threads[i], NULL);
        }
    }
}

/* What its process needs before the nodes, and behind them. */
static void
expect(const crew *c, uint32_t number, const char *what, medley_status_t status)
{
    char text[STRESS_ERROR_BYTES / 3];
    if (status != MEDLEY_OK) {
        (void)snprintf(text, sizeof text, "%s system '%s': %s", what, c->system,
                       medley_status_text(status));
        stress_reason_write(error_of(c, number), text);
        _exit(EXIT_FAILURE);
    }
}

/* Never returns. What a terminal sends to all is the parent's to hear. */
static void
member_run(const crew *c, uint32_t number)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != c->parent) {
        _exit(EXIT_FAILURE);
    }
    (void)signal(SIGINT, SIG_IGN);
    (void)sigprocmask(SIG_SETMASK, &c->before, NULL);
    stress_hear();
    expect(c, number, "opening", medley_system_open(c->system));
    stress_hear_anew();
    if (number) {
        node_run(c, number);
    } else {
        threads_run(c);
    }
    expect(c, number, "leaving", medley_system_close());
    stress_hear_anew();
    _exit(EXIT_SUCCESS);
}

static bool
member_start(crew *c, uint32_t number)
{
    pid_t pid = fork();
    if (pid == 0) {
        member_run(c, number);
    }
    if (pid < 0) {
        command_error(c->command, "a process cannot be started: %s", strerror(errno));
        return false;
    }
    c->members[c->count++] = (member){.pid = pid, .node = number};
    c->running++;
    return true;
}

static bool
members_start(crew *c)
{
    bool threads = false;
    (void)fflush(NULL); /* or each would write what is kept back */
    for (uint32_t i = 1; i <= c->d->node_count; i++) {
        if (c->d->nodes[i].run == DEPLOYMENT_THREADS) {
            threads = true;
        } else if (!member_start(c, i)) {
            return false;
        }
    }
    return !threads || member_start(c, 0);
}

/* ---- Their ends ------------------------------------------------------------------------------ */

static bool
is_of(const crew *c, const member *m, uint32_t number)
{
    return m->node ? m->node == number : c->d->nodes[number].run == DEPLOYMENT_THREADS;
}

/* How far it is; of all that are threads, the last of them. */
static const char *
state_name(const crew *c, const member *m, uint32_t number)
{
    uint32_t least = STRESS_LEAVING;
    for (uint32_t i = 1; i <= c->d->node_count; i++) {
        /* Relaxed: it has ended, or it is for showing. */
        uint32_t state = atomic32_load_relaxed(&c->shared->records[i - 1].state);
        least = is_of(c, m, i) && (!number || number == i) && state < least ? state : least;
    }
    return stress_state_names[least];
}

/* For the document, and to be told. Number 0: all of the process. */
static void
failure_add(const crew *c, const member *m, uint32_t number, const char *message)
{
    (void)json_array_append_new(
        c->failed, json_pack("{s:o, s:I, s:s, s:o}", "node", output_number(number != 0, number),
                             "process_id", (json_int_t)m->pid, "state", state_name(c, m, number),
                             "message", output_string(message)));
}

/* Of who says nothing himself. */
static void
end_add(const crew *c, const member *m)
{
    char message[64];
    if (WIFSIGNALED(m->result)) {
        (void)snprintf(message, sizeof message, "killed by signal %d (%s)", WTERMSIG(m->result),
                       strsignal(WTERMSIG(m->result)));
    } else {
        (void)snprintf(message, sizeof message, "ended with status %d", WEXITSTATUS(m->result));
    }
    failure_add(c, m, m->node, message);
}

/* What a process and its nodes say themselves. Whether any does. */
static bool
errors_add(const crew *c, const member *m)
{
    bool any = false;
    for (uint32_t i = 0; i <= c->d->node_count; i++) {
        const char *error = error_of(c, i);
        if (*error && (i ? is_of(c, m, i) : !m->node)) {
            failure_add(c, m, i, error);
            any = true;
        }
    }
    return any;
}

/* All have ended. First in the list is who died: what others say may come of it. */
static void
failures_add(const crew *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (WIFSIGNALED(c->members[i].result)) {
            end_add(c, &c->members[i]);
        }
    }
    for (uint32_t i = 0; i < c->count; i++) {
        const member *m = &c->members[i];
        if (!WIFSIGNALED(m->result) && !errors_add(c, m) && m->result != 0) {
            end_add(c, m);
        }
    }
}

static bool
is_same(const json_t *failure, const json_t *other)
{
    return json_equal(json_object_get(failure, "state"), json_object_get(other, "state")) &&
           json_equal(json_object_get(failure, "message"), json_object_get(other, "message"));
}

static void
who_write(FILE *text, const json_t *failure)
{
    long process_id = (long)json_integer_value(json_object_get(failure, "process_id"));
    const json_t *node = json_object_get(failure, "node");
    if (json_is_integer(node)) {
        (void)fprintf(text, "node %ld (process %ld)", (long)json_integer_value(node), process_id);
    } else {
        (void)fprintf(text, "process %ld, of the nodes that are threads,", process_id);
    }
}

/* All that failed as this one did. False: one before it did, so it is told. */
static bool
all_write(FILE *text, const json_t *failed, const json_t *failure)
{
    uint32_t count = 0;
    for (size_t i = 0; i < json_array_size(failed); i++) {
        const json_t *other = json_array_get(failed, i);
        if (!is_same(failure, other)) {
            continue;
        }
        if (count == 0 && other != failure) {
            return false;
        }
        if (count < WHO_NAMED_MAX) {
            (void)fputs(count ? ", " : "", text);
            who_write(text, other);
        }
        count++;
    }
    if (count > WHO_NAMED_MAX) {
        (void)fprintf(text, " and %" PRIu32 " more", count - WHO_NAMED_MAX);
    }
    return true;
}

/* Those that failed alike in one line. */
static void
failures_tell(const crew *c)
{
    for (size_t i = 0; i < json_array_size(c->failed); i++) {
        const json_t *failure = json_array_get(c->failed, i);
        char *who = NULL;
        size_t size;
        FILE *text = open_memstream(&who, &size);
        bool is_first = text && all_write(text, c->failed, failure);
        if (text && fclose(text) == 0 && is_first) {
            command_error(c->command, "%s while %s: %s", who,
                          json_string_value(json_object_get(failure, "state")),
                          json_string_value(json_object_get(failure, "message")));
        }
        free(who);
    }
}

/* Takes it, if it has ended. */
static void
member_collect(crew *c, member *m, int options)
{
    int result;
    if (m->ended || waitpid(m->pid, &result, options) != m->pid) {
        return;
    }
    m->result = m->killed && WIFSIGNALED(result) && WTERMSIG(result) == SIGKILL ? 0 : result;
    c->well = c->well && m->result == 0;
    m->ended = true;
    c->running--;
}

static void
members_collect(crew *c, int options)
{
    for (uint32_t i = 0; i < c->count; i++) {
        member_collect(c, &c->members[i], options);
    }
}

/* A death is noticed before it can be collected, and who noticed it may be collected first: who is
 * ending by himself is waited for. */
static void
member_end(crew *c, member *m)
{
    if (!m->ended && surroundings_process_ends((uint32_t)m->pid)) {
        member_collect(c, m, 0);
    }
    if (!m->ended) {
        m->killed = true;
        (void)kill(m->pid, SIGKILL);
    }
}

static void
members_kill(crew *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        member_end(c, &c->members[i]);
    }
    c->well = false;
    members_collect(c, 0);
    char why[MED_PORT_WHY_BYTES];
    medley_status_t status = med_system_remove(c->system, med_system_deadline_ns(), why);
    if (status != MEDLEY_OK && status != MEDLEY_ERR_NOT_FOUND) {
        command_error(c->command, "system '%s' is left over: %s %s", c->system,
                      medley_status_text(status), why);
    }
}

/* ---- Watching -------------------------------------------------------------------------------- */

static uint64_t
received_by_all(const crew *c)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < c->d->node_count; i++) {
        /* Relaxed: for showing. */
        count += atomic64_load_relaxed(&c->shared->records[i].received) +
                 atomic64_load_relaxed(&c->shared->records[i].skipped);
    }
    return count;
}

static void
progress_show(const crew *c, bool last)
{
    uint64_t all = stress_transactions(c->d), now = received_by_all(c);
    (void)fprintf(stderr, "\r%s: %" PRIu64 " of %s, %u %%%s", c->d->name, now,
                  output_count_text(all, "transactions"), (unsigned)(now * 100 / all),
                  last ? "\n" : "");
    (void)fflush(stderr);
}

static void
watch(crew *c, const sigset_t *awaited)
{
    static const struct timespec interval = {.tv_nsec = PROGRESS_INTERVAL_NS};
    bool shows = isatty(STDERR_FILENO);
    int heard = 0;
    while (c->running && c->well) {
        int number = sigtimedwait(awaited, NULL, shows ? &interval : NULL);
        if (number == SIGCHLD) {
            members_collect(c, WNOHANG);
        } else if (number > 0) {
            heard = number;
            c->well = false;
        }
        if (shows) {
            progress_show(c, !c->running || !c->well);
        }
    }
    if (heard) {
        command_error(c->command, "ended by signal %d (%s) after %" PRIu64 " of %s", heard,
                      strsignal(heard), received_by_all(c),
                      output_count_text(stress_transactions(c->d), "transactions"));
    }
}

bool
stress_crew_run(const med_command *command,
                const deployment *d,
                stress_shared *shared,
                json_t *failed)
{
    static crew c;
    sigset_t awaited;
    c = (crew){.command = command,
               .d = d,
               .shared = shared,
               .failed = failed,
               .parent = getpid(),
               .well = true};
    (void)snprintf(c.system, sizeof c.system, "stress-%ld", (long)c.parent);
    limits_raise(d);
    (void)signal(SIGCHLD, SIG_DFL); /* who started this may have it ignored */
    (void)sigemptyset(&awaited);
    (void)sigaddset(&awaited, SIGCHLD);
    (void)sigaddset(&awaited, SIGINT);
    (void)sigaddset(&awaited, SIGTERM);
    (void)sigaddset(&awaited, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &awaited, &c.before);
    c.well = members_start(&c);
    watch(&c, &awaited);
    if (!c.well) {
        members_kill(&c);
        failures_add(&c);
        failures_tell(&c);
    }
    (void)sigprocmask(SIG_SETMASK, &c.before, NULL);
    return c.well;
}
