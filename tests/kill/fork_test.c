/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Birth by fork: the child is a stranger to the systems that its parent is in. */
#include "support/unit.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "base/atomic.h"
#include "kill/survivor.h"
#include "medley/medley.h"
#include "medley/mrapi_ext.h"
#include "mrapi/system.h"
#include "port/port.h"
#include "support/partition_file.h"
#include "support/system.h"

static int
born_by_fork(test_process *parent, void *argument)
{
    mrapi_status_t status;
    mrapi_key_t key;
    const mrapi_mutex_hndl_t *mutex = argument;
    (void)mrapi_node_id_get(&status);
    child_expect(status == MRAPI_ERR_NODE_NOTINIT);
    mrapi_mutex_unlock(*mutex, &key, &status);
    child_expect(status == MRAPI_ERR_NODE_NOTINIT);
    child_expect(medley_system_close() == MEDLEY_ERR_NOT_FOUND); /* its parent's open */
    node_up(OTHER);
    (void)mrapi_mutex_trylock(*mutex, &key, &status);
    child_expect(status == MRAPI_ERR_MUTEX_LOCKED);
    process_say(parent, 'u');
    char how = process_hear(parent);
    if (how == 'f') {
        node_down();
    } else if (how == 'e') {
        exit(0);
    }
    return 0; /* by _exit */
}

static void
fork_gives_a_stranger(void **state)
{
    mrapi_status_t status;
    mrapi_key_t key;
    (void)state;
    assert_int_equal(medley_system_open(test_system_name()), MEDLEY_OK);
    mrapi_mutex_hndl_t mutex = mutex_make(0);
    mrapi_mutex_lock(mutex, &key, MRAPI_TIMEOUT_INFINITE, &status);
    for (const char *how = "fe_"; *how; how++) {
        test_process child;
        process_start(&child, born_by_fork, &mutex);
        assert_int_equal(process_hear(&child), 'u');
        process_say(&child, *how);
        assert_int_equal(process_join(&child), 0);
        assert_int_equal(mrapi_node_id_get(&status), SURVIVOR);
        assert_true(partition_exists(test_system_name()));
        system_is_whole();
    }
    mrapi_mutex_unlock(mutex, &key, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    mutex_delete(mutex);
    assert_int_equal(medley_system_close(), MEDLEY_OK);
}

static int
only_listens(test_process *parent, void *argument)
{
    (void)argument;
    process_say(parent, 'l');
    (void)process_hear(parent);
    return 0;
}

static void
fork_inherits_no_life(void **state)
{
    test_process child;
    (void)state;
    node_up(SURVIVOR);
    process_start(&child, only_listens, NULL);
    assert_int_equal(process_hear(&child), 'l');
    node_down();
    assert_false(partition_exists(test_system_name())); /* nobody lives in it, says everybody */
    process_say(&child, 'g');
    assert_int_equal(process_join(&child), 0);
}

/* ---- Handlers of the program ----------------------------------------------------------------- */

typedef struct own_handlers {
    void (*before)(void);
    void (*in_parent)(void);
    void (*in_child)(void);
    bool child_is_node; /* by its handler */
} own_handlers;

static mrapi_mutex_hndl_t of_parent;

static void
leaves(void)
{
    node_down();
}

static void
comes(void)
{
    node_up(HOLDER);
}

static void
leaves_and_comes(void)
{
    node_down();
    node_up(HOLDER);
}

static void
comes_as_another(void)
{
    node_up(OTHER);
}

static void
reads_the_machine(void)
{
    mrapi_status_t status;
    mrapi_resource_t *tree = mrapi_resources_get(MRAPI_RSRC_CPU, &status);
    child_expect(tree && status == MRAPI_SUCCESS);
    mrapi_resource_tree_free(&tree, &status);
    child_expect(status == MRAPI_SUCCESS);
}

/* As a stranger may that never was in it. */
static void
tries_what_was_its_parents(void)
{
    mrapi_status_t status;
    mrapi_key_t key;
    mrapi_mutex_lock(of_parent, &key, 1000, &status);
    child_expect(status == MRAPI_ERR_NODE_NOTINIT);
    mrapi_finalize(&status);
    child_expect(status == MRAPI_ERR_NODE_NOTINIT);
}

static int
forks_with_handlers(test_process *parent, void *argument)
{
    const own_handlers *own = argument;
    mrapi_status_t status;
    (void)parent;
    (void)alarm(STUCK_AFTER_S / 2);
    child_expect(pthread_atfork(own->before, own->in_parent, own->in_child) == 0);
    node_up(HOLDER);
    of_parent = mrapi_mutex_create(MUTEX, NULL, &status);
    pid_t pid = fork();
    child_expect(pid >= 0);
    if (pid == 0) {
        (void)mrapi_node_id_get(&status);
        child_expect((status == MRAPI_SUCCESS) == own->child_is_node);
        if (!own->child_is_node) {
            node_up(OTHER);
        }
        node_down();
        _exit(0);
    }
    int ended = 0;
    child_expect(waitpid(pid, &ended, 0) == pid && ended == 0);
    node_down();
    return 0;
}

/* They are placed before the first call of ours. (The first test: a child of one who has called us
 * inherits that our handlers, which stand there from the start, have something to do.) */
static void
handlers_of_the_program(void **state)
{
    own_handlers kinds[] = {
        {.before = leaves, .in_parent = comes},
        {.in_parent = leaves_and_comes},
        {.before = leaves, .in_parent = comes, .in_child = comes_as_another, .child_is_node = true},
        {.in_child = tries_what_was_its_parents},
        {.in_child = comes_as_another, .child_is_node = true},
        {.before = reads_the_machine, .in_parent = reads_the_machine},
    };
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        test_process child;
        process_start(&child, forks_with_handlers, &kinds[i]);
        assert_int_equal(process_join(&child), 0);
        assert_false(partition_exists(test_system_name()));
    }
}

/* ---- A private system ------------------------------------------------------------------------ */

#define GENERATIONS 4

static bool
is_mapped(void *page)
{
    return msync(page, 1, MS_ASYNC) == 0 || errno != ENOMEM;
}

typedef struct generation {
    uint32_t number;
    void *of_parent[3]; /* what its parent's system consisted of */
    const char *memory; /* of the heap: what the first one made */
} generation;

/* Has its parent's memory, and nothing of its parent's system; then makes its own, and a child. */
static int
next_generation(test_process *parent, void *argument)
{
    const generation *g = argument;
    (void)parent;
    for (uint32_t i = 0; i < 3; i++) {
        child_expect(!is_mapped(g->of_parent[i]));
    }
    child_expect(strcmp(g->memory, "kept") == 0);
    if (g->number == GENERATIONS) {
        return 0;
    }
    test_process child;
    child_expect(medley_system_open(NULL) == MEDLEY_OK);
    node_up(OTHER);
    const med_system *system = med_self_get()->system;
    generation next = {.number = g->number + 1,
                       .of_parent = {system->header, system->selves, system->mappings.of_row},
                       .memory = g->memory};
    process_start(&child, next_generation, &next);
    child_expect(process_join(&child) == 0);
    node_down();
    child_expect(medley_system_close() == MEDLEY_OK);
    return 0;
}

static void
private_systems_are_not_inherited(void **state)
{
    test_process child;
    mrapi_status_t status;
    (void)state;
    assert_int_equal(medley_system_open(NULL), MEDLEY_OK);
    node_up(SURVIVOR);
    mrapi_shmem_attributes_t attributes;
    mrapi_shmem_init_attributes(&attributes, &status);
    attributes.use_malloc = MRAPI_TRUE;
    (void)mrapi_shmem_create_malloc(1, 64, &attributes, &status);
    assert_int_equal(status, MRAPI_SUCCESS);
    (void)strcpy(attributes.mem_addr, "kept");
    const med_system *system = med_self_get()->system;
    generation first = {.number = 1,
                        .of_parent = {system->header, system->selves, system->mappings.of_row},
                        .memory = attributes.mem_addr};
    process_start(&child, next_generation, &first);
    assert_int_equal(process_join(&child), 0);
    assert_true(is_mapped(system->header));
    node_down();
    assert_int_equal(medley_system_close(), MEDLEY_OK);
}

/* ---- Inside a fork --------------------------------------------------------------------------- */

/* A signal that comes when all that a fork needs is had, and whose handler forks. */
static bool signal_comes_inside;
static pid_t forked_inside;

void __wrap_med_linux_barrier_before_fork(void);
void __real_med_linux_barrier_before_fork(void);

void
__wrap_med_linux_barrier_before_fork(void)
{
    if (signal_comes_inside) {
        signal_comes_inside = false;
        (void)raise(SIGUSR1);
    }
    __real_med_linux_barrier_before_fork();
}

static void *header_of_parent;

/* ThreadSanitizer starts a thread of its own in a child, and takes that for the handler's doing. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *
__tsan_default_options(void)
{
    return "report_signal_unsafe=0";
}

static void
forks_inside(int signal)
{
    (void)signal;
    forked_inside = fork();
    if (forked_inside == 0) {
        _exit(is_mapped(header_of_parent));
    }
}

/* Neither child has anything of its parent's system: both forks had what they need. */
static void
a_handler_forks_inside_a_fork(void **state)
{
    struct sigaction action = {.sa_handler = forks_inside}, before;
    test_process child;
    int ended = -1;
    (void)state;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    assert_int_equal(medley_system_open(NULL), MEDLEY_OK);
    node_up(SURVIVOR);
    const med_system *system = med_self_get()->system;
    generation last = {.number = GENERATIONS,
                       .of_parent = {system->header, system->selves, system->mappings.of_row},
                       .memory = "kept"};
    header_of_parent = system->header;
    for (int i = 0; i < 2; i++) { /* and the second finds nothing of the first */
        signal_comes_inside = true;
        process_start(&child, next_generation, &last);
        assert_int_equal(process_join(&child), 0);
        assert_int_equal(waitpid(forked_inside, &ended, 0), forked_inside);
        assert_int_equal(ended, 0);
    }
    assert_true(is_mapped(system->header));
    node_down();
    assert_int_equal(medley_system_close(), MEDLEY_OK);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

/* ---- While others are at it ------------------------------------------------------------------ */

static atomic32 stop;

static void *
comes_and_goes(void *argument)
{
    (void)argument;
    while (!atomic32_load_acquire(&stop)) {
        child_expect(medley_system_open(NULL) == MEDLEY_OK);
        child_expect(medley_system_close() == MEDLEY_OK);
    }
    return NULL;
}

static int
comes_and_goes_once(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    (void)alarm(STUCK_AFTER_S / 2);
    child_expect(medley_system_open(NULL) == MEDLEY_OK);
    node_up(OTHER);
    node_down();
    child_expect(medley_system_close() == MEDLEY_OK);
    return 0;
}

static void
fork_while_another_thread_comes_and_goes(void **state)
{
    med_port_thread thread;
    (void)state;
    assert_int_equal(med_port_thread_start(&thread, NULL, comes_and_goes, NULL), MEDLEY_OK);
    for (uint32_t i = 0; i < 100; i++) {
        test_process child;
        process_start(&child, comes_and_goes_once, NULL);
        assert_int_equal(process_join(&child), 0);
    }
    atomic32_store_release(&stop, 1);
    assert_int_equal(med_port_thread_join(thread, NULL), MEDLEY_OK);
}

static atomic32 opener_thread;
static uint32_t asked_by_parent;

static void *
opens(void *argument)
{
    (void)argument;
    atomic32_store_release(&opener_thread, med_port_thread_id());
    child_expect(medley_system_open(test_system_name()) == MEDLEY_OK);
    return NULL;
}

static uint32_t
ask(med_requests *requests)
{
    static const med_request_operations none = {.progress = NULL};
    uint32_t next = 0;
    med_request *request;
    child_expect(med_request_begin(requests, OTHER, &next, &none, &request) == MEDLEY_OK);
    return med_request_end_at_once(requests, request, (med_request_outcome){.status = MEDLEY_OK});
}

/* Whose parent's systems were not to be had at the fork: it leaves what it has of them alone. */
static int
opens_too(test_process *parent, void *argument)
{
    (void)alarm(STUCK_AFTER_S / 2);
    child_expect(is_mapped(argument));
    process_say(parent, 'o');
    child_expect(medley_system_open(test_system_name()) == MEDLEY_OK);
    /* What its parent asked for is none of its requests. */
    med_requests requests;
    child_expect(med_requests_init(&requests) == MEDLEY_OK);
    for (uint32_t i = 0; i < requests.count; i++) {
        child_expect(ask(&requests) != asked_by_parent);
    }
    med_requests_fini(&requests);
    child_expect(medley_system_close() == MEDLEY_OK);
    return 0;
}

static void
fork_while_another_thread_opens(void **state)
{
    test_process keeper;
    test_process child;
    med_port_thread thread;
    uint32_t id;
    med_system *private_one;
    (void)state;
    assert_int_equal(med_system_attach(NULL, &private_one), MEDLEY_OK);
    asked_by_parent = ask(&private_one->requests);
    process_start(&keeper, section_keeper, NULL);
    assert_int_equal(process_hear(&keeper), 's');
    assert_int_equal(med_port_thread_start(&thread, NULL, opens, NULL), MEDLEY_OK);
    do {
        id = atomic32_load_acquire(&opener_thread);
    } while (id == 0 || !process_sleeps((pid_t)id));
    process_start(&child, opens_too, private_one->header);
    assert_int_equal(process_hear(&child), 'o');
    process_say(&keeper, 'g');
    assert_int_equal(process_join(&keeper), 0);
    assert_int_equal(process_join(&child), 0);
    assert_int_equal(med_port_thread_join(thread, NULL), MEDLEY_OK);
    assert_int_equal(medley_system_close(), MEDLEY_OK);
    med_system_release(private_one);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(handlers_of_the_program),
        WITH_SURVIVOR(fork_gives_a_stranger),
        cmocka_unit_test(fork_inherits_no_life),
        cmocka_unit_test(private_systems_are_not_inherited),
        cmocka_unit_test(a_handler_forks_inside_a_fork),
        cmocka_unit_test(fork_while_another_thread_comes_and_goes),
        cmocka_unit_test(fork_while_another_thread_opens),
    };
    test_system_prepare();
    (void)alarm(STUCK_AFTER_S);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
