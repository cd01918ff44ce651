/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Code at addresses that a scenario chooses: each is a jump to where it really stands. */
#include <string.h>
#include <sys/mman.h>

#include "engine.h"

#define HALVES 2u
#define APART (1ull << 32)
#define CODE_BYTES 64u

#if defined(__x86_64__)
/* jmp to the address behind it */
static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0, 0, 0};
#define JUMP_BYTES 6u
#elif defined(__aarch64__)
/* ldr x16, behind it; br x16 */
static const uint8_t jump[] = {0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6};
#define JUMP_BYTES 8u
#else
#error "no jump for this processor"
#endif

static char *pages; /* one at each upper half */
static sim_code *functions[HALVES][HALVES];

static char *
page_of(uint32_t high)
{
    return pages + (uintptr_t)high * APART;
}

static bool
pages_map(void)
{
    void *at = mmap(NULL, APART + SIM_PAGE_BYTES, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pages = at == MAP_FAILED ? NULL : at;
    return pages;
}

static bool
jump_write(char *page, char *at, sim_code *function)
{
    if (mprotect(page, SIM_PAGE_BYTES, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    memcpy(at, jump, JUMP_BYTES);
    memcpy(at + JUMP_BYTES, &function, sizeof function);
    __builtin___clear_cache(at, at + CODE_BYTES);
    return mprotect(page, SIM_PAGE_BYTES, PROT_READ | PROT_EXEC) == 0;
}

/* What a run before had there mostly stays. */
sim_code *
sim_code_place(uint32_t high, uint32_t low, sim_code *function)
{
    if (high >= HALVES || low >= HALVES || (!pages && !pages_map())) {
        sim_fail(SIM_FULL, "code", 0, 0);
    }
    char *page = page_of(high);
    char *at = page + (uintptr_t)low * CODE_BYTES;
    if (functions[high][low] != function && !jump_write(page, at, function)) {
        sim_fail(SIM_FULL, "code", 0, 0);
    }
    functions[high][low] = function;
    return (sim_code *)(uintptr_t)at;
}
