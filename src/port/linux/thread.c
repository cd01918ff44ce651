/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads on Linux: pthreads. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "port/linux/linux.h"
#include "port/port.h"

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE 6 /* younger in libc than in Linux */
#endif

_Static_assert(sizeof(pthread_t) <= sizeof(uintptr_t), "a thread handle is one word");

/* ---- Start and end --------------------------------------------------------------------------- */

static medley_status_t
status_of(int error)
{
    switch (error) {
    case EINVAL:
        return MEDLEY_ERR_ARGUMENT;
    case EAGAIN: /* there are as many as may be */
        return MEDLEY_ERR_NO_MEMORY;
    case ESRCH:
        return MEDLEY_ERR_NOT_FOUND;
    default:
        return med_linux_status_of(error);
    }
}

static int
attributes_fill(pthread_attr_t *native, const med_port_thread_attributes *wanted)
{
    int error = 0;
    if (wanted->stack_size_bytes) {
        error = pthread_attr_setstacksize(native, wanted->stack_size_bytes);
    }
    if (!error && wanted->priority) {
        struct sched_param parameter = {.sched_priority = wanted->priority};
        error = pthread_attr_setinheritsched(native, PTHREAD_EXPLICIT_SCHED);
        error = error ? error : pthread_attr_setschedpolicy(native, SCHED_FIFO);
        error = error ? error : pthread_attr_setschedparam(native, &parameter);
    }
    if (!error && wanted->processors) {
        const med_processor_set *set = wanted->processors;
        error = pthread_attr_setaffinity_np(native, sizeof *set, (const cpu_set_t *)set);
    }
    return error;
}

medley_status_t
med_port_thread_start(med_port_thread *thread,
                      const med_port_thread_attributes *attributes,
                      void *(*entry)(void *),
                      void *argument)
{
    MED_LINUX_ERRNO_KEPT;
    pthread_t handle;
    int error;
    med_linux_barrier_before_thread();
    if (!attributes || attributes->native) {
        const pthread_attr_t *native = attributes ? attributes->native : NULL;
        error = pthread_create(&handle, native, entry, argument);
    } else {
        pthread_attr_t native;
        error = pthread_attr_init(&native);
        if (!error) {
            error = attributes_fill(&native, attributes);
            error = error ? error : pthread_create(&handle, &native, entry, argument);
            (void)pthread_attr_destroy(&native);
        }
    }
    if (!error) {
        thread->handle = (uintptr_t)handle;
    }
    return status_of(error);
}

size_t
med_port_thread_stack_bytes(void)
{
    MED_LINUX_ERRNO_KEPT;
    pthread_attr_t native;
    size_t bytes = 0;
    if (pthread_attr_init(&native) == 0) {
        (void)pthread_attr_getstacksize(&native, &bytes); /* as `ulimit -s` was at the start */
        (void)pthread_attr_destroy(&native);
    }
    return bytes;
}

/* The system does not tell the ones apart that share a text. */
const char *
med_port_thread_refusal(medley_status_t status)
{
    switch (status) {
    case MEDLEY_ERR_ACCESS:
        return "it is not permitted: no threads at all (a sandbox refuses them), or not of that "
               "scheduling policy or priority; ask for less, or raise the limit (ulimit -r)";
    case MEDLEY_ERR_ARGUMENT:
        return "there is no such stack size, priority or processor for it; ask for others";
    case MEDLEY_ERR_NO_MEMORY:
        return "there is no memory for its stack, or there are as many threads as may be; ask for "
               "a smaller stack, or raise the limits (ulimit -v, ulimit -u, pids.max of the "
               "cgroup)";
    default:
        return NULL;
    }
}

bool
med_port_thread_native_detached(const void *native)
{
    int state = PTHREAD_CREATE_JOINABLE;
    return native && pthread_attr_getdetachstate(native, &state) == 0 &&
           state == PTHREAD_CREATE_DETACHED;
}

medley_status_t
med_port_thread_join(med_port_thread thread, void **result)
{
    /* The thread sanitizer takes even a join that fails for the thread's one. */
    if (pthread_equal((pthread_t)thread.handle, pthread_self())) {
        return status_of(EDEADLK);
    }
    MED_LINUX_NOT_CANCELLED;
    return status_of(pthread_join((pthread_t)thread.handle, result));
}

medley_status_t
med_port_thread_detach(med_port_thread thread)
{
    return status_of(pthread_detach((pthread_t)thread.handle));
}

void
med_port_thread_name(const char *name)
{
    MED_LINUX_ERRNO_KEPT;
    char cut[16] = {0};
    strncpy(cut, name, sizeof cut - 1);
    (void)pthread_setname_np(pthread_self(), cut);
}

_Noreturn void
med_port_thread_exit(void *result)
{
    pthread_exit(result);
}

int
med_port_cancel_hold(void)
{
    int before;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

void
med_port_cancel_release(int before)
{
    (void)pthread_setcancelstate(before, NULL);
}

uint32_t
med_port_process_id(void)
{
    return (uint32_t)getpid();
}

uint32_t
med_port_thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

/* ---- The pointers of the thread -------------------------------------------------------------- */

_Thread_local void *med_port_self_pointer;
_Thread_local void *med_port_member_pointer;

static pthread_key_t exit_key; /* not NULL while one of them is not */
static void (*self_handler)(void *self);
static void (*member_handler)(void *member);
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;
static int exit_error;

static void
thread_ends(void *set)
{
    (void)set;
    if (med_port_member_pointer && member_handler) {
        member_handler(med_port_member_pointer);
        med_port_member_pointer = NULL;
    }
    if (med_port_self_pointer && self_handler) {
        self_handler(med_port_self_pointer);
        med_port_self_pointer = NULL;
    }
}

static void
exit_key_make(void)
{
    exit_error = pthread_key_create(&exit_key, thread_ends);
}

static medley_status_t
exit_key_ready(void)
{
    (void)pthread_once(&exit_once, exit_key_make);
    return status_of(exit_error);
}

static void
exit_key_set(void)
{
    if (self_handler || member_handler) {
        void *set = med_port_self_pointer ? med_port_self_pointer : med_port_member_pointer;
        (void)pthread_setspecific(exit_key, set);
    }
}

medley_status_t
med_port_self_on_exit(void (*on_exit)(void *self))
{
    medley_status_t status = exit_key_ready();
    self_handler = on_exit;
    return status;
}

void
med_port_self_set(void *self)
{
    med_port_self_pointer = self;
    exit_key_set();
}

medley_status_t
med_port_member_on_exit(void (*on_exit)(void *member))
{
    medley_status_t status = exit_key_ready();
    member_handler = on_exit;
    return status;
}

/* Between two members of one thread nothing changes for its end, and this is quick. */
void
med_port_member_set(void *member)
{
    bool is_first = !med_port_member_pointer || !member;
    med_port_member_pointer = member;
    if (is_first) {
        exit_key_set();
    }
}

/* ---- How the thread is scheduled ------------------------------------------------------------- */

static _Thread_local struct {
    uint64_t scheduling_until_ns;
    med_port_scheduling scheduling;
    bool by_deadline;
} local __attribute__((tls_model("initial-exec")));

#define SCHEDULING_VALID_NS 10000000u

static void
scheduling_read(med_port_scheduling *scheduling, bool *by_deadline)
{
    MED_LINUX_ERRNO_KEPT;
    int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    *by_deadline = policy == SCHED_DEADLINE;
    scheduling->processors = med_linux_processors_allowed();
    scheduling->real_time = policy == SCHED_FIFO || policy == SCHED_RR || *by_deadline;
    scheduling->alone = scheduling->processors == 1 && sysconf(_SC_NPROCESSORS_ONLN) == 1;
}

static void
scheduling_refresh(void)
{
    uint64_t now_ns = med_port_clock_ns();
    if (now_ns >= local.scheduling_until_ns) {
        scheduling_read(&local.scheduling, &local.by_deadline);
        local.scheduling_until_ns = now_ns + SCHEDULING_VALID_NS;
    }
}

void
med_port_scheduling_get(med_port_scheduling *scheduling)
{
    scheduling_refresh();
    *scheduling = local.scheduling;
}

uint32_t
med_port_processor_here(void)
{
    MED_LINUX_ERRNO_KEPT;
    int processor = sched_getcpu();
    return processor < 0 ? MED_PORT_PROCESSOR_ANY : (uint32_t)processor;
}

/* Long enough to be a sleep. */
#define YIELD_BY_DEADLINE_NS 20000u

/* Under SCHED_DEADLINE the kernel takes a yield for the end of the thread's work in its period: it
 * would be back in the next one only. */
void
med_port_yield(void)
{
    scheduling_refresh();
    if (!local.by_deadline) {
        (void)sched_yield();
        return;
    }
    struct timespec until = med_linux_timespec_of(med_port_clock_ns() + YIELD_BY_DEADLINE_NS);
    MED_LINUX_NOT_CANCELLED;
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}
