/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* No function of the port changes errno, whether it succeeds or what it asks for is refused. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "linux.h"
#include "support/unit.h"

#define OWN 77 /* nothing that the system says */
#define NO_SUCH "/nonexistent/medley"

/* Which call did it the line says. */
#define KEPT(call)                                                                                 \
    do {                                                                                           \
        errno = OWN;                                                                               \
        (void)(call);                                                                              \
        assert_int_equal(errno, OWN);                                                              \
    } while (0)

/* A sanitizer ends who asks for what there is not, unless he says that he knows. */
#define SANITIZER_IS_TOLD(name)                                                                    \
    __attribute__((visibility("default"))) const char *name(void);                                 \
    const char *name(void)                                                                         \
    {                                                                                              \
        return "allocator_may_return_null=1";                                                      \
    }
SANITIZER_IS_TOLD(__asan_default_options)
SANITIZER_IS_TOLD(__tsan_default_options)

static void
waiting(void **state)
{
    uint32_t word = 1;
    (void)state;
    KEPT(med_port_wait(&word, 0, MED_PORT_FOREVER, MED_PORT_SCOPE_PROCESS));    /* EAGAIN */
    KEPT(med_port_wait(&word, 1, med_port_clock_ns(), MED_PORT_SCOPE_PROCESS)); /* ETIMEDOUT */
    KEPT(med_port_wake(&word, 1, MED_PORT_SCOPE_PROCESS));
    word = 0;
    KEPT(med_port_pi_unlock(&word, MED_PORT_SCOPE_PROCESS)); /* EPERM */
    KEPT(med_port_pi_supported());
    KEPT(med_port_pi_space());
    for (med_port_scope scope = MED_PORT_SCOPE_PROCESS; scope <= MED_PORT_SCOPE_SHARED; scope++) {
        KEPT(med_port_barrier_heavy(scope)); /* EPERM: nobody is registered */
        KEPT(med_port_barrier_prepare(scope));
        KEPT(med_port_barrier_heavy(scope));
    }
    KEPT((med_port_yield(), 0));
}

static void
memory(void **state)
{
    static char page[8192];
    const uint32_t node = 0, no_node = 1023;
    void *address = NULL;
    size_t absurd = SIZE_MAX / 2 - 4095;
    (void)state;
    KEPT(med_port_memory_map(absurd, &address));   /* ENOMEM */
    KEPT((med_port_memory_unmap(page + 1, 1), 0)); /* EINVAL */
    KEPT(med_port_heap_take(absurd));              /* ENOMEM */
    KEPT(med_port_memory_left());
    KEPT(med_port_memory_spread(page, 1, MED_PORT_SPREAD_NEAREST, &node, 1));
    KEPT(med_port_memory_spread(page, 1, MED_PORT_SPREAD_INTERLEAVED, &no_node, 1)); /* EINVAL */
    KEPT(med_port_memory_move_here(page + 1, 1));                                    /* EINVAL */
    KEPT(med_port_memory_pin(page, absurd));                                         /* ENOMEM */
}

static void
machine(void **state)
{
    static const med_processor_set none;
    med_processor_set allowed;
    med_port_processors processors;
    med_port_grants grants;
    uint32_t permille, numbers[4];
    (void)state;
    KEPT((med_port_processors_allowed(&allowed), 0));
    KEPT(med_port_thread_bind(&none)); /* EINVAL */
    KEPT(med_port_processors_discover(&processors));
    KEPT(med_port_processor_first(4711, MED_PORT_SHARES_MEMORY)); /* ENOENT */
    KEPT(med_port_processor_here());
    KEPT(med_port_quota_get(&permille));
    KEPT((med_port_grants_get(&grants), 0));
    KEPT(med_port_threads_running());
    KEPT(med_port_memory_nodes(MED_PORT_MEMORY_HIGH_BANDWIDTH, numbers, 4));
    KEPT(med_port_clock_common_ns());
    KEPT(med_port_random());
}

static void
files(void **state)
{
    char why[MED_PORT_WHY_BYTES], bytes[16];
    size_t length;
    uint64_t inside;
    void *found;
    (void)state;
    KEPT(med_port_file_read(NO_SUCH, bytes, sizeof bytes, &length)); /* ENOENT */
    KEPT(med_port_write_line(NO_SUCH, "lost"));                      /* ENOENT */
    KEPT(med_port_module_open("nonexistent", "any", &found, why));   /* ENOENT */
    KEPT(med_port_library_open(NO_SUCH, "any", &found, why));        /* ENOENT */
    KEPT(med_port_object_beside("libnonexistent", &found, why, sizeof why));
    KEPT(med_port_object_of(&found, why, sizeof why, &inside));
}

static void
shared_memory(void **state)
{
    med_port_shared shared = {.handle = -1};
    (void)state;
    KEPT(med_port_shared_open_existing_until("no-such-name", 0, &shared)); /* ENOENT */
    KEPT((med_port_segment_remove("no-such-name", 1, 1), 0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting), cmocka_unit_test(memory),        cmocka_unit_test(machine),
        cmocka_unit_test(files),   cmocka_unit_test(shared_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
