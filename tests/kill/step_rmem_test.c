/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Killed while it makes, deletes, or uses a remote memory. What it made goes with it, its number is
 * free; what it was attached to, its owner may delete; and bytes are old or new. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kill/scenario.h"
#include "support/process.h"

enum {
    TESTERS = 7, /* numbers of remote memories */
    CHILDS = 8,
    BYTES = 256,
    OLD = 1,
    NEW = 2
};

static unsigned char testers[BYTES];
static unsigned char childs[BYTES];
static mrapi_rmem_hndl_t rmem;

static mrapi_rmem_hndl_t
made(mrapi_rmem_id_t number, void *memory)
{
    mrapi_status_t status;
    mrapi_rmem_hndl_t handle =
        mrapi_rmem_create(number, memory, MRAPI_RMEM_ATYPE_ANY, NULL, BYTES, &status);
    must(status, "create of a remote memory");
    return handle;
}

/* ---- The tester ------------------------------------------------------------------------------ */

/* The owner, or one whose number is wanted. Once; it stays till the check. */
static void
tester_makes(void)
{
    (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    memset(testers, OLD, sizeof testers);
    rmem = made(TESTERS, testers);
}

/* Nobody need have noticed the death before. */
static void
tester_deletes(void)
{
    mrapi_status_t status;
    for (int i = 0; i < BYTES; i++) {
        if (testers[i] != OLD && testers[i] != NEW) {
            must(MRAPI_ERR_PARAMETER, "a byte that nobody wrote");
        }
    }
    mrapi_rmem_delete(rmem, &status);
    must(status, "delete after the death of who was attached");
}

static void
number_is_free(void)
{
    mrapi_status_t status;
    mrapi_rmem_hndl_t handle = made(CHILDS, childs);
    mrapi_rmem_delete(handle, &status);
    must(status, "delete of its successor");
}

/* ---- The child ------------------------------------------------------------------------------- */

static void
op_make(void)
{
    (void)made(CHILDS, childs);
}

static void
child_makes_first(void)
{
    child_up();
    rmem = made(CHILDS, childs);
}

static void
op_delete_rmem(void)
{
    mrapi_status_t status;
    mrapi_rmem_delete(rmem, &status);
    must(status, "delete of a remote memory");
}

static void
op_attach(void)
{
    mrapi_status_t status;
    rmem = mrapi_rmem_get(TESTERS, MRAPI_RMEM_SWCACHE, &status);
    must(status, "get of a remote memory");
    mrapi_rmem_attach(rmem, MRAPI_RMEM_SWCACHE, &status);
    must(status, "attach");
}

/* Its own, so that it can be attached before the marker. */
static void
child_attaches_first(void)
{
    mrapi_status_t status;
    child_makes_first();
    mrapi_rmem_attach(rmem, MRAPI_RMEM_SWCACHE, &status);
    must(status, "attach to its own");
}

static void
op_use(void)
{
    mrapi_status_t status;
    mrapi_request_t request;
    size_t size;
    unsigned char bytes[BYTES];
    memset(bytes, NEW, sizeof bytes);
    op_attach();
    mrapi_rmem_write_i(rmem, 3, bytes, 0, 1, 100, 2, 1, &request, &status);
    must(status, "write");
    (void)mrapi_wait(&request, &size, MRAPI_TIMEOUT_INFINITE, &status);
    must(status, "wait");
    mrapi_rmem_flush(rmem, &status);
    must(status, "flush");
}

static void
op_detach(void)
{
    mrapi_status_t status;
    mrapi_rmem_detach(rmem, &status);
    must(status, "detach");
}

static void
op_leave(void)
{
    node_down();
}

/* ---- Who has died before --------------------------------------------------------------------- */

/* Owns one, and is attached to the tester's. */
static int
rmem_victim(test_process *parent, void *argument)
{
    (void)parent;
    (void)argument;
    node_up(VICTIM);
    op_make();
    op_attach();
    (void)raise(SIGKILL);
    return 1;
}

static void
tester_makes_and_one_dies(void)
{
    tester_makes();
    former_dies(rmem_victim);
}

static void
both_are_free(void)
{
    tester_deletes();
    number_is_free();
}

static const scenario scenarios[] = {
    {.name = "rmem_make",
     .operation = {.prepare = child_up, .operate = op_make},
     .after = number_is_free},
    {.name = "rmem_delete",
     .operation = {.prepare = child_makes_first, .operate = op_delete_rmem},
     .after = number_is_free},
    {.name = "rmem_attach",
     .operation = {.prepare = child_up, .operate = op_attach},
     .before = tester_makes,
     .after = tester_deletes},
    {.name = "rmem_use",
     .operation = {.prepare = child_up, .operate = op_use},
     .before = tester_makes,
     .after = tester_deletes},
    {.name = "rmem_detach",
     .operation = {.prepare = child_attaches_first, .operate = op_detach},
     .after = number_is_free},
    {.name = "rmem_leave",
     .operation = {.prepare = child_attaches_first, .operate = op_leave},
     .after = number_is_free},
    {.name = "rmem_recover",
     .operation = {.prepare = child_up, .operate = op_recover},
     .before = tester_makes_and_one_dies,
     .after = both_are_free},
    {.name = "fail_rmem_attach",
     .operation = {.prepare = child_up, .operate = op_attach},
     .fail = true,
     .before = tester_makes,
     .after = tester_deletes},
};

int
main(int argc, char **argv)
{
    return scenarios_main(argc, argv, "rmem", scenarios, sizeof scenarios / sizeof scenarios[0]);
}
