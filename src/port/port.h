/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The port contract: everything that Medley asks of a machine.
 *
 * One folder beside this file implements it for each kind of machine (linux, riscv_virt, cortex_m;
 * bare has what the last two share; sim simulates one). Nothing above this floor knows an operating
 * system or a processor; no `#ifdef` for one stands anywhere else. Barriers, locks and queues are
 * not here: they are written once, in base.
 *
 * Words
 *   word      a 32-bit aligned location that somebody may wait on
 *   scope     who shares the memory in question: the threads of this process, or other processes
 *             too
 *   slot      the number under which a process claims to be alive in a shared memory
 *   deadline  a time on med_port_clock_ns(); MED_PORT_FOREVER is never
 *
 * Functions return medley_status_t, MEDLEY_ERR_NOT_SUPPORTED where a machine cannot do it. None
 * allocates on a heap except thread start, processor discovery, and the heap's own. All may be
 * called by any thread unless it is said otherwise. None is a point at which a thread is cancelled:
 * its caller may have a lock in hand, or something half made. Nor is a section, from its first
 * function to its last. None changes errno, where there is one: a program looks at it behind what
 * it never knew to be a call, such as the end of an OpenMP region.
 */
#ifndef MEDLEY_PORT_PORT_H
#define MEDLEY_PORT_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "medley/status.h"
#include "port/atomic_store.h"
#include "port/inner.h"
#include "port/processor_set.h"
#include "port/topology.h"

#define MED_PORT_FOREVER UINT64_MAX

typedef enum med_port_scope {
    MED_PORT_SCOPE_PROCESS, /* threads of this process only */
    MED_PORT_SCOPE_SHARED,  /* every process that maps the memory */
} med_port_scope;

/* ---- What there is at all -------------------------------------------------------------------- */

/* Known when the port is built, so that what a machine cannot have costs its programs no code. What
 * may be there can still turn out to be missing: MEDLEY_ERR_NOT_SUPPORTED. */
static inline bool med_port_has_processes(void); /* others, and memories shared with them by name */
static inline bool med_port_has_threads(void);   /* beside the one that runs main() */
static inline bool med_port_has_pi(void);        /* locks with priority inheritance */
static inline bool med_port_has_environment(void);
static inline bool med_port_has_cache_drop(void); /* an instruction for med_port_cache_drop */
/* Does the build ask for little code? Then what there is twice, for speed alone, is there once. */
static inline bool med_port_is_small(void);
/* And MED_PORT_OPTIONAL, before a function that a program may lack: it is NULL where nothing calls
 * for its file. A machine with other processes lacks nothing: what one does, another recovers. */

/* ---- Private memory -------------------------------------------------------------------------- */

/* Zero-filled, aligned to a page (hosted) or to 64 bytes (bare metal), never moved. After a fork
 * the child has a copy of its own. */
MED_INNER medley_status_t med_port_memory_map(size_t size_bytes, void **address);
MED_INNER void med_port_memory_unmap(void *address, size_t size_bytes);

/* How much memory this process may still map, where there is a limit to that (ulimit -v);
 * UINT64_MAX: there is none, or nobody tells. Where there is one it reads a file. */
MED_INNER uint64_t med_port_memory_left(void);

/* Memory nodes: memories of which each is nearer to some processors than to others. */
typedef enum med_port_memory_kind {
    MED_PORT_MEMORY_ALL,
    MED_PORT_MEMORY_HIGH_BANDWIDTH, /* of these the machine says that they have more than others */
} med_port_memory_kind;

/* Those that this process may use: how many there are of the kind, of which no more than `room`
 * are written, the lowest numbers first. Reads files. */
MED_INNER uint32_t med_port_memory_nodes(med_port_memory_kind kind,
                                         uint32_t *numbers,
                                         uint32_t room);

typedef enum med_port_spread {
    MED_PORT_SPREAD_NEAREST,     /* next to the calling thread */
    MED_PORT_SPREAD_BLOCKED,     /* a part on each node, in the nodes' order */
    MED_PORT_SPREAD_INTERLEAVED, /* page by page */
} med_port_spread;

/* Of what med_port_memory_map gave, before it is touched: its pages come to lie on these nodes, and
 * elsewhere only when they are full. MEDLEY_ERR_NOT_SUPPORTED: not on these, or nothing is moved
 * here; MEDLEY_ERR_ARGUMENT: on none. */
MED_INNER medley_status_t med_port_memory_spread(void *address,
                                                 size_t size_bytes,
                                                 med_port_spread spread,
                                                 const uint32_t *nodes,
                                                 uint32_t count);
/* Likewise mapped, touched or not: its pages come to lie next to the calling thread, as it runs
 * now, and elsewhere only when there is no room; what stands there goes with them.
 * MEDLEY_ERR_NOT_SUPPORTED: nothing is moved here. */
MED_INNER medley_status_t med_port_memory_move_here(void *address, size_t size_bytes);
/* Likewise mapped: its pages are there, and stay until it is unmapped. MEDLEY_ERR_LIMIT: that is
 * more than this process may have so. A child of fork has them as any others. */
MED_INNER medley_status_t med_port_memory_pin(void *address, size_t size_bytes);

/* ---- Shared memory --------------------------------------------------------------------------- */

/* A named memory of this user that several processes map. Its name lives as long as somebody keeps
 * it; its size is fixed by the creator.
 *
 * Between open and unlock, and between lock and unlock, the caller is alone: no other process is
 * inside such a section of the same name, no other thread of this process inside one of any name. A
 * process that dies inside leaves it; one that is stopped inside stays. So whoever wants to enter
 * says until when he waits; then he gets MEDLEY_TIMEOUT, and `why` names the process that is
 * inside, where the machine can tell, and what to do about it. A deadline that has passed is one
 * try. Sections do not nest.
 *
 * A process opens a name at most once at a time (a second open gives MEDLEY_ERR_EXISTS): on Linux,
 * closing any descriptor of a file drops all locks that the process holds on it. */
#ifndef MED_PORT_WHY_BYTES
#define MED_PORT_WHY_BYTES 320 /* less where there is nobody to read it */
#endif
#ifndef MED_PORT_PATH_BYTES
#define MED_PORT_PATH_BYTES 256 /* as above */
#endif
typedef struct med_port_shared {
    intptr_t handle; /* the port's own, as are the next two */
    uint64_t device;
    uint64_t inode;
    void *address;     /* NULL until mapped */
    size_t size_bytes; /* what the name holds; 0 when the open made it */
    bool in_section;
    char name[64];
    char path[MED_PORT_PATH_BYTES]; /* where it lay when it was opened, whatever the environment and
                                       the user are later; the port's own */
    char why[MED_PORT_WHY_BYTES];   /* what made an open, lock or remove fail, where it can be told:
                                       names the file, folder or process; outlives the close */
} med_port_shared;

/* Opens or makes the name and enters its section. MEDLEY_ERR_ACCESS when something of that name is
 * not ours alone; MEDLEY_ERR_ARGUMENT when the name is empty, longer than MED_PORT_NAME_MAX, or has
 * a character other than letters, digits, '.', '_' and '-', or starts with '.'. */
#define MED_PORT_NAME_MAX 48
medley_status_t
med_port_shared_open_until(const char *name, uint64_t deadline_ns, med_port_shared *shared);
bool med_port_shared_name_valid(const char *name);
/* As open, but MEDLEY_ERR_NOT_FOUND instead of making it. */
medley_status_t med_port_shared_open_existing_until(const char *name,
                                                    uint64_t deadline_ns,
                                                    med_port_shared *shared);
/* As open_existing, for one who only reads: does not enter the section, and waits for no other
 * process. Only while another process holds a slot, which vouches for the contents; MEDLEY_EMPTY
 * when none does, or it cannot be told. */
medley_status_t med_port_shared_open_aside(const char *name, med_port_shared *shared);
/* Gives it `size_bytes` of zeroed storage, all of it really there: MEDLEY_ERR_NO_MEMORY now rather
 * than a fault later, and `why`. In the section only. */
medley_status_t med_port_shared_resize(med_port_shared *shared, size_t size_bytes);
/* Maps all of it; the mapping is not inherited by a child of fork. MEDLEY_ERR_NO_MEMORY: the
 * process has no room for it. */
medley_status_t med_port_shared_map(med_port_shared *shared);
/* Enters the section again. */
medley_status_t med_port_shared_lock_until(med_port_shared *shared, uint64_t deadline_ns);
void med_port_shared_unlock(med_port_shared *shared);
/* Which other process is in the section, if one is, and since when (0: the machine cannot tell, of
 * either). For showing. */
bool med_port_shared_section_look(const med_port_shared *shared,
                                  uint32_t *process_id,
                                  uint64_t *since_ns);
/* The name goes, the memory stays until the last user closes. In the section only.
 * MEDLEY_ERR_ACCESS: the machine does not let us. */
medley_status_t med_port_shared_remove(med_port_shared *shared);
/* Unmaps, leaves the section, gives up every slot this process holds there. Waits for no other
 * process. */
void med_port_shared_close(med_port_shared *shared);
/* In a child of fork: forgets it, and whatever sections the parent's threads were in. Drops nothing
 * of the parent's. NULL: nothing was open. */
void med_port_shared_forget(med_port_shared *shared);
/* `handler` is called when the program has taken a shared memory's handle from us (closed all its
 * descriptors): from then on every slot of it counts as held, and its section cannot be entered. */
void med_port_shared_on_lost(void (*handler)(const char *name));
/* Calls `visit` with each name there is, until it returns false. */
medley_status_t med_port_shared_list(bool (*visit)(const char *name, void *context), void *context);

/* ---- Segments -------------------------------------------------------------------------------- */

/* A memory of its own, beside a shared memory whose name it carries, or of this process alone. Of
 * one name, `instance` and `number` tell segments apart; who chooses them sees to it that none is
 * used twice. Needs no section; unlike the shared memory it may be open several times. */
typedef enum med_port_place {
    MED_PORT_PLACE_ANY,
    MED_PORT_PLACE_NUMA,       /* on memory node `place_index`, and no other */
    MED_PORT_PLACE_HUGE_PAGES, /* on pages as large as the machine has */
    MED_PORT_PLACE_TIGHT,      /* in tightly coupled memory `place_index` of the board */
    MED_PORT_PLACE_COUNT
} med_port_place;

/* A tightly coupled memory of the board: as fast for its cores as their own, and small. */
typedef struct med_port_tight {
    const char *name;
    void *address;
    size_t size_bytes;
} med_port_tight;

/* Number `index`, from 0 on; false: the board has no more. */
bool med_port_tight_get(uint32_t index, med_port_tight *memory);

typedef struct med_port_segment {
    const char *beside; /* the shared memory's `path`; NULL: of this process alone. This and the
                           next are the caller's */
    uint64_t instance;
    uint32_t number;
    uint32_t size_bytes;
    uint32_t place;
    uint32_t place_index;
    uint64_t wanted; /* the address where it is to be mapped; 0: anywhere */
    intptr_t handle; /* the port's own */
    void *address;   /* NULL until mapped */
    char why[MED_PORT_WHY_BYTES];
} med_port_segment;

/* Makes it, zeroed, all of its storage really there: MEDLEY_ERR_NO_MEMORY now rather than a fault
 * later. MEDLEY_ERR_EXISTS: the number is taken, by whom says `why`; MEDLEY_ERR_NOT_SUPPORTED: the
 * machine has no such place; MEDLEY_ERR_ARGUMENT: no page begins at the wanted address, or no
 * program can have so much there. One of this process alone is mapped at once, and the errors of
 * map are among create's. */
medley_status_t med_port_segment_create(med_port_segment *segment);
/* MEDLEY_ERR_NOT_FOUND; MEDLEY_ERR_CORRUPT: it is not of that size; MEDLEY_ERR_ACCESS: not ours. */
medley_status_t med_port_segment_open(med_port_segment *segment);
/* Of an open one. Replaces nothing that is mapped: MEDLEY_ERR_EXISTS when something is at the
 * wanted address; MEDLEY_ERR_ARGUMENT as create. Not inherited by a child of
 * fork. */
medley_status_t med_port_segment_map(med_port_segment *segment);
/* What is mapped stays mapped. */
void med_port_segment_close(med_port_segment *segment);
void med_port_segment_unmap(void *address, uint32_t size_bytes, uint32_t place);
/* Part of a mapped one is about to be used: its pages are mapped now, whole ones, so that no first
 * touch of them is a fault. Where the machine cannot, the touch does it. */
void med_port_segment_ready(void *address, size_t size_bytes);
/* The name goes, the memory stays until the last user unmaps. Idempotent. */
void med_port_segment_remove(const char *beside, uint64_t instance, uint32_t number);
/* All of that instance beside a shared memory; 0: of whichever, in the section of what is opened by
 * that name, when nobody lives there. */
void med_port_segments_remove(const char *beside, uint64_t instance);

/* ---- The process's heap ---------------------------------------------------------------------- */

/* Aligned for any type, not zeroed; NULL: there is no more. */
MED_INNER void *med_port_heap_take(size_t size_bytes);
MED_INNER void med_port_heap_give(void *block, size_t size_bytes);

/* Memory is short: threads that come to the heap from now on share what it has, where each would
 * get a part of its own. */
MED_INNER void med_port_heap_share(void);

/* ---- Is a process alive? --------------------------------------------------------------------- */

/* A process claims a slot of a shared memory; the claim ends when it drops it or dies, however it
 * dies, and at the instant it is dead. A slot number means the same in every version of Medley. */
#define MED_PORT_SLOT_MAX 4096
/* MEDLEY_BUSY when another process holds it. */
medley_status_t med_port_slot_claim(med_port_shared *shared, uint32_t slot);
void med_port_slot_drop(med_port_shared *shared, uint32_t slot);
/* Does a process other than the caller hold the slot? True when the machine cannot tell. Wait-free,
 * about 0.2 us on Linux, 0.4 us where nobody does. */
bool med_port_slot_held(const med_port_shared *shared, uint32_t slot);
/* The number of the process that holds the slot, as the caller's own PID namespace has it; 0: no
 * other process holds it, or it has no number here. For showing. */
uint32_t med_port_slot_process(const med_port_shared *shared, uint32_t slot);
/* Does any process other than the caller hold any slot, or has one lost its own? */
bool med_port_slot_any_held(const med_port_shared *shared);
/* In the section, by who exits: its slot counts as held until it is dead, but not for who asks
 * whether any stays. Of those who exit at a time the last in the section finds that none does. */
void med_port_slot_exits(med_port_shared *shared, uint32_t slot);
/* As any_held, but for those who exit. */
bool med_port_slot_any_stays(const med_port_shared *shared);

/* A program can lose the slots of its process, and live: on Linux when it opens a shared memory's
 * file itself and closes it again. Does the process of that number hold the slot but for this? Only
 * of a process whose numbers are the caller's, and which claimed it: a slot that is not held and
 * not lost is that of a dead one. For who found it not held; some microseconds. */
bool med_port_slot_lost(const med_port_shared *shared, uint32_t slot, uint32_t process_id);
/* Sees to it that the caller still holds its slot. MEDLEY_ERR_STALE: it had lost it, and holds it
 * again; MEDLEY_BUSY: it had, and now another process holds it. About 0.2 us on Linux. */
medley_status_t med_port_slot_keep(med_port_shared *shared, uint32_t slot);

MED_INNER uint32_t med_port_process_id(void);
MED_INNER uint32_t med_port_thread_id(void);

/* At every fork run `before`, in the thread that forks, then `in_parent` there, and `in_child` in
 * the child; any may be NULL. `handler` runs at the exit of a process that exits by itself, while
 * its other threads may still run. Registered once each, for the life of the process; but all of
 * them stand nearer to the fork, or the end, than whatever the program has registered, however
 * early: what its own handlers call finds everything as at any other time. */
medley_status_t
med_port_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));
/* For showing: what the program's file is called. */
const char *med_port_program_name(void);
/* How many forks stand between this process and the first one of its program. */
MED_INNER uint32_t med_port_process_life(void);
medley_status_t med_port_on_exit(void (*handler)(void));
/* At the exit of a process that exits by itself, too; but while all that was loaded is still in
 * order, as the program's own. Any number of times, the last one first. */
MED_INNER medley_status_t med_port_at_exit(void (*handler)(void));

/* ---- Threads and cores ----------------------------------------------------------------------- */
typedef struct med_port_thread {
    uintptr_t handle; /* on Linux the pthread_t */
} med_port_thread;

typedef struct med_port_thread_attributes {
    const void *native;      /* the machine's own record (pthread_attr_t), or NULL; wins */
    size_t stack_size_bytes; /* 0: the machine's default */
    int32_t priority;        /* 0: as the caller; 1..99: real-time, higher is more urgent */
    const med_processor_set *processors; /* where it may run; NULL: as the caller */
} med_port_thread_attributes;

/* Starts `entry(argument)` on a thread of its own (bare metal: on an idle core). `attributes` may
 * be NULL. The thread is there until joined or detached. */
MED_INNER medley_status_t med_port_thread_start(med_port_thread *thread,
                                                const med_port_thread_attributes *attributes,
                                                void *(*entry)(void *),
                                                void *argument);
/* What the machine's default takes of memory; 0: nobody knows. */
MED_INNER size_t med_port_thread_stack_bytes(void);
/* Why such a start failed, as a rule, and what helps; NULL: the status says it all. */
MED_INNER const char *med_port_thread_refusal(medley_status_t status);
/* Does a native record ask for a thread that nobody joins? */
bool med_port_thread_native_detached(const void *native);
/* Blocks until it has ended. MEDLEY_ERR_SYSTEM: it is the calling thread, which would wait for
 * itself. */
MED_INNER medley_status_t med_port_thread_join(med_port_thread thread, void **result);
medley_status_t med_port_thread_detach(med_port_thread thread);
/* Names the calling thread for debuggers; up to 15 characters are used. */
MED_INNER void med_port_thread_name(const char *name);
/* Ends the calling thread. Does not return. */
_Noreturn void med_port_thread_exit(void *result);
/* For who calls a function that is not ours with a lock in hand: the calling thread is not
 * cancelled until what hold returned is given back. Nests. */
int med_port_cancel_hold(void);
void med_port_cancel_release(int before);

/* One pointer per thread, NULL at first. `on_exit` (one per process) is called with the pointer
 * when a thread ends that has set one that is not NULL, from that thread, whichever way it ends. */
static inline void *med_port_self_get(void);
void med_port_self_set(void *self);
medley_status_t med_port_self_on_exit(void (*on_exit)(void *self));
/* A second one, for the runtime of a language, whose threads need not be nodes (src/omp). At a
 * thread's end it comes before the first. */
static inline void *med_port_member_get(void);
MED_INNER void med_port_member_set(void *member);
MED_INNER medley_status_t med_port_member_on_exit(void (*on_exit)(void *member));

/* ---- Waiting on a word ----------------------------------------------------------------------- */
/* Sleeps while the word holds `expected`, until woken or the deadline. MEDLEY_OK: woken, the word
 * differed, or for no reason; MEDLEY_TIMEOUT: the deadline passed. Bare metal: sleeps for an event.
 */
medley_status_t
med_port_wait(const uint32_t *word, uint32_t expected, uint64_t deadline_ns, med_port_scope scope);
/* Wakes up to `count` waiters; how many, where the machine tells. */
uint32_t med_port_wake(const uint32_t *word, uint32_t count, med_port_scope scope);

/* Locks with priority inheritance: the word holds the owner's med_port_thread_id(), or 0, and two
 * bits of the machine's own on top. MEDLEY_ERR_OWNER_DIED: got it, but its owner had died.
 * MEDLEY_ERR_PEER_DIED: the word names a thread that is gone, or one that has no such locks.
 * MEDLEY_ERR_EXISTS: the owner waits for the caller, or is the caller: to wait would be to wait for
 * itself.
 * Only the slow paths are here; the fast ones are a compare-and-swap of 0 and the own number. Who
 * gets it sees what was done by whoever gave it back, here or there, or died with it, and his
 * number carries what he did before; to give it back releases. What is refused orders nothing. */
#define MED_PORT_PI_OWNER_MASK 0x3fffffffu
/* The machine's: the owner died. It leaves it alone in the word of a living one, but for giving
 * back, where it may have to be asked again. */
#define MED_PORT_PI_DIED 0x40000000u
/* No thread has a number with this bit, so such a word names one that is gone: whoever asks is told
 * MEDLEY_ERR_PEER_DIED, unless others still wait for whom it named before (MEDLEY_ERR_SYSTEM). */
#define MED_PORT_PI_GONE 0x20000000u
static inline uint32_t
med_port_pi_gone(uint32_t stamp)
{
    return MED_PORT_PI_GONE | (stamp & (MED_PORT_PI_GONE - 1));
}
bool med_port_pi_supported(void);
/* Names the space in which this process's thread numbers hold; 0: it cannot be told. Processes of
 * different spaces cannot share such a lock, nor can one that does not know its own. */
uint32_t med_port_pi_space(void);
medley_status_t med_port_pi_lock(uint32_t *word, uint64_t deadline_ns, med_port_scope scope);
medley_status_t med_port_pi_unlock(uint32_t *word, med_port_scope scope);

/* An asymmetric store-then-load fence: the light half stands on hot paths and costs a load and a
 * branch; the heavy half stands where somebody is about to sleep and pays for both. If A runs
 * "store x; light; load y" and B runs "store y; heavy; load x", at least one sees the other's
 * store. A process that the machine does not yet stop for others' heavy halves runs a full fence as
 * its light half, and arranges to be stopped once it has run a few. The heavy half is false where
 * the machine refuses it though light halves of this process are no fences any more: then neither
 * may have seen the other. */
static inline void med_port_barrier_light(med_port_scope scope);
bool med_port_barrier_heavy(med_port_scope scope);
/* Does the light half cost nothing here by now? Then it stays so, but in a child of fork, and this
 * may stand for it: it keeps the compiler's order. */
static inline bool med_port_barrier_is_free(med_port_scope scope);
static inline void med_port_barrier_free(void);
/* Arranges it, now where that is cheap, else in the background. Idempotent. */
void med_port_barrier_prepare(med_port_scope scope);

/* ---- Doorbells ------------------------------------------------------------------------------- */

/* Wakes another domain, which need not share coherent memory. Rings are counted, not lost. */
typedef struct med_port_doorbell {
    intptr_t handle; /* Linux: an eventfd, fit for poll() */
} med_port_doorbell;
medley_status_t med_port_doorbell_create(med_port_doorbell *bell);
void med_port_doorbell_destroy(med_port_doorbell *bell);
medley_status_t med_port_doorbell_ring(med_port_doorbell bell);
/* Blocks until it has rung since the last wait; how often goes to `count` (may be NULL). */
medley_status_t
med_port_doorbell_wait(med_port_doorbell bell, uint64_t deadline_ns, uint64_t *count);

/* ---- Time ------------------------------------------------------------------------------------ */
/* Nanoseconds since some fixed point; monotonic. Deadlines are on this clock. */
MED_INNER uint64_t med_port_clock_ns(void);
/* The same for all processes of the machine: for what is written down for others. On Linux the
 * other clock is not: a time namespace has its own. */
uint64_t med_port_clock_common_ns(void);
/* Not before `duration_ns` from now; busy below the cost of sleeping. */
void med_port_delay_ns(uint64_t duration_ns);
void med_port_delay_until_ns(uint64_t deadline_ns);
/* Lets another thread of the same core run, and comes back as soon as that may be. */
void med_port_yield(void);
/* The processor on which the caller runs, or ran a moment ago; MED_PORT_PROCESSOR_ANY: it cannot be
 * told. Cheap enough inside a spin. */
#define MED_PORT_PROCESSOR_ANY UINT32_MAX
MED_INNER uint32_t med_port_processor_here(void);
/* Inside a spin: tells the processor so. */
static inline void med_port_cpu_relax(void);

/* ---- Processors ------------------------------------------------------------------------------ */
typedef enum med_port_isa_t {
    MED_PORT_ISA_UNKNOWN,
    MED_PORT_ISA_X86_64,
    MED_PORT_ISA_AARCH64,
    MED_PORT_ISA_ARM,
    MED_PORT_ISA_RISCV64,
    MED_PORT_ISA_RISCV32,
    MED_PORT_ISA_PPC64,
    MED_PORT_ISA_COUNT
} med_port_isa_t;
/* The instruction set that this code was built for. */
static inline med_port_isa_t med_port_isa(void);
/* Does it do all loads in the order of the program, and all stores? */
static inline bool med_port_keeps_order(void);

typedef struct med_port_processors {
    uint32_t online;  /* in the machine */
    uint32_t allowed; /* where this process may run */
} med_port_processors;
/* Fast: start-up reads it. Caches, memories, classes: MRAPI's metadata. */
MED_INNER medley_status_t med_port_processors_discover(med_port_processors *processors);
/* Those where the calling thread may run. None: it cannot be told. */
MED_INNER void med_port_processors_allowed(med_processor_set *allowed);
/* The calling thread runs on one of these from now on. MEDLEY_ERR_ARGUMENT: it may on none of them;
 * MEDLEY_ERR_NOT_SUPPORTED. */
MED_INNER medley_status_t med_port_thread_bind(const med_processor_set *processors);
/* So many threads of the whole machine run, or could; 0: it cannot be told. Reads a file. */
MED_INNER uint32_t med_port_threads_running(void);
/* The lowest number of those with which a processor has this in common: its own, if nobody's. Reads
 * files. */
typedef enum med_port_shares {
    MED_PORT_SHARES_CORE,
    MED_PORT_SHARES_CACHE, /* the largest */
    MED_PORT_SHARES_MEMORY,
    MED_PORT_SHARES_PACKAGE
} med_port_shares;
MED_INNER uint32_t med_port_processor_first(uint32_t processor, med_port_shares shares);
/* Of unlike cores, those alike have the same number, and faster ones a higher one; 0: nothing is
 * told. Where it says how fast they are beside each other, it is a capacity. Reads files. */
MED_INNER uint32_t med_port_processor_rank(uint32_t processor, bool *is_capacity);
/* For showing: the machine's name, cut off where it does not fit. */
MED_INNER void med_port_host_name(char *name, size_t size_bytes);
/* What the operating system grants the group that this process is in (Linux: its control group).
 * Reads files: for showing, and for who has the time. */
typedef struct med_port_grants {
    bool processors_known; /* false: it cannot be told */
    /* Of processor time, in thousandths of one processor, rounded up; 0: no limit. */
    uint32_t quota_permille;
    bool memory_known;
    uint64_t memory_bytes; /* 0: no limit */
} med_port_grants;
MED_INNER void med_port_grants_get(med_port_grants *grants);
/* The quota alone. False: it cannot be told. */
MED_INNER bool med_port_quota_get(uint32_t *permille);
/* How many processors the calling thread may use, whether it is scheduled in real time, and whether
 * there is no other processor at all. Cheap enough before a sleep, not inside a spin. */
typedef struct med_port_scheduling {
    uint32_t processors;
    bool real_time;
    bool alone;
} med_port_scheduling;
void med_port_scheduling_get(med_port_scheduling *scheduling);

/* The whole machine, as well as the port itself can tell: med_topology_read (topology.h).
 * MEDLEY_ERR_NOT_SUPPORTED. */
medley_status_t med_port_topology_read(const med_topology_sink *sink, char *why, size_t why_bytes);

/* ---- Counters -------------------------------------------------------------------------------- */

typedef enum med_port_counter_kind {
    MED_PORT_COUNTER_TIME_NS, /* at work */
    MED_PORT_COUNTER_CYCLES,
    MED_PORT_COUNTER_INSTRUCTIONS,
    MED_PORT_COUNTER_CACHE_MISSES,
    MED_PORT_COUNTER_KIND_COUNT
} med_port_counter_kind;

/* Counts what a processor does, or one thread of some process of this user. */
typedef struct med_port_counter {
    med_port_counter_kind kind; /* this and the next four are the caller's */
    bool of_processor;
    uint32_t processor;
    uint32_t process_id;
    uint32_t thread_id;
    char why[MED_PORT_WHY_BYTES];
    /* The port's own: */
    intptr_t handle;
    uint64_t estimate;
    uint64_t looked_at[3]; /* what `estimate` comes from */
} med_port_counter;

/* MEDLEY_ERR_NOT_SUPPORTED: this machine, or this user here, cannot; MEDLEY_BUSY: all counters of
 * the kind are taken; MEDLEY_ERR_NOT_FOUND: no such processor or thread. `why` says more. */
medley_status_t med_port_counter_open(med_port_counter *counter);
/* Never runs backwards while what is counted lives. An estimate, where the machine has fewer
 * counters than are asked for, so that each counts for part of the time. MEDLEY_ERR_NOT_FOUND: it
 * is gone. One thread at a time. */
medley_status_t med_port_counter_read(med_port_counter *counter, uint64_t *value);
/* Time until now in which it could not count is not made up for at the next look. */
void med_port_counter_forgive(med_port_counter *counter);
void med_port_counter_close(med_port_counter *counter);

/* ---- Modules --------------------------------------------------------------------------------- */

/* Opens the module `name` of this version of Medley, for good, and finds what it exports as
 * `symbol`. MEDLEY_ERR_NOT_FOUND: it is not installed, or not for this version; `why` says where it
 * was looked for. MEDLEY_ERR_NOT_SUPPORTED: this machine has no modules. */
medley_status_t med_port_module_open(const char *name,
                                     const char *symbol,
                                     void **found,
                                     char why[MED_PORT_WHY_BYTES]);

/* Opens a library that the user names, and finds what it exports as `symbol`; without that it is
 * closed again. MEDLEY_ERR_NOT_FOUND; MEDLEY_ERR_ACCESS: this program opens none; `why` says more.
 * MEDLEY_ERR_NOT_SUPPORTED: this machine has no libraries. */
MED_INNER medley_status_t med_port_library_open(const char *path,
                                                const char *symbol,
                                                void **found,
                                                char why[MED_PORT_WHY_BYTES]);
/* The function `name` of the library that has the function `beside`, if all of the process see that
 * one; NULL: there is none. */
MED_INNER void *med_port_function_find(const char *beside, const char *name);

/* Has the process a shared object whose file's name is this, up to a dot or a hyphen, beside the
 * one with the address `own`? Then where that file is, cut off where it does not fit. */
MED_INNER bool
med_port_object_beside(const char *name, const void *own, char *path, size_t path_bytes);

/* In what object of the process does the address lie? Where the object's file is, cut off where it
 * does not fit, and the address as that file has it. */
MED_INNER bool
med_port_object_of(const void *address, char *path, size_t path_bytes, uint64_t *inside);

/* ---- Copies and caches ----------------------------------------------------------------------- */
/* `rows` rows of `row_bytes` each; strides in bytes between the starts of rows. rows 1 is the plain
 * copy. Source and target do not overlap. Where there is no engine, start does the whole copy. An
 * engine copies what is in memory: caches are the caller's to clean and to invalidate. */
typedef struct med_port_copy {
    void *target;
    const void *source;
    size_t row_bytes;
    size_t rows;
    size_t target_stride_bytes;
    size_t source_stride_bytes;
    uintptr_t state; /* the port's own */
} med_port_copy;
medley_status_t med_port_copy_start(med_port_copy *copy);
bool med_port_copy_done(med_port_copy *copy);
medley_status_t med_port_copy_wait(med_port_copy *copy);

/* For memory shared with a core that does not snoop: clean writes back, invalidate throws away. */
void med_port_cache_clean(const void *address, size_t size_bytes);
void med_port_cache_invalidate(void *address, size_t size_bytes);

/* For memory that one core writes and another reads, again and again: the reader drops the lines
 * that it will not look at again, and the next writer need not take them from it, which costs him
 * more than to write them. Nothing is lost: what was written is in memory, then, and seen. Whole
 * lines, also of what is beside in them. Costs a few ns a line; nothing where there is no such
 * instruction: med_port_cache_drops says whether there is. */
void med_port_cache_drop(const void *address, size_t size_bytes);
bool med_port_cache_drops(void);

/* ---- Another process's memory ---------------------------------------------------------------- */

/* The memory of one process that lives now; of that process and no other, whoever gets its number
 * afterwards, and whatever it executes: but see `alive`. */
typedef struct med_port_peer {
    intptr_t handle; /* the port's own */
    uint32_t process_id;
    /* Does the process live that is meant? Asked after opening; and where the machine goes by the
     * process's number alone, before what is written (unless it was asked just now: then one that
     * executes something else may get bytes that were meant for what it was), and after what was
     * read or went wrong. */
    bool (*alive)(void *context);
    void *context;
    /* When it was last found alive, by the processor's counter, and for how much of that this is
     * believed; when that was learned, by the clock. The port's own, zeroed by open. */
    uint64_t alive_ticks;
    uint64_t alive_for_ticks;
    uint64_t learned_ns;
} med_port_peer;

/* Opens the memory of a process by its number; `alive` and `context` are the caller's, set before.
 * MEDLEY_ERR_PEER_DIED: it is dead; MEDLEY_ERR_ACCESS: the machine does not let this process;
 * MEDLEY_ERR_NOT_SUPPORTED. */
medley_status_t med_port_peer_open(uint32_t process_id, med_port_peer *peer);
void med_port_peer_close(med_port_peer *peer);

/* Rows of bytes, to a peer's memory or from it. */
typedef struct med_port_peer_copy {
    void *local;
    uint64_t remote; /* an address in the peer */
    uint32_t row_bytes;
    uint32_t rows;
    uint32_t local_stride_bytes;
    uint32_t remote_stride_bytes;
    bool write; /* to the peer */
} med_port_peer_copy;

/* Blocks while the machine copies. MEDLEY_ERR_PEER_DIED: the peer died before or meanwhile;
 * MEDLEY_ERR_NOT_FOUND: nothing is mapped there, or the peer itself could not read it, or write it;
 * MEDLEY_ERR_ACCESS. Of a copy that fails, a part may be done. */
medley_status_t med_port_peer_copy_run(med_port_peer *peer, const med_port_peer_copy *copy);

/* ---- Surroundings ---------------------------------------------------------------------------- */
/* A variable of the environment, or NULL. Constant until the program changes its environment. */
MED_INNER const char *med_port_environment(const char *name);
/* Reads a plain file, whole. MEDLEY_ERR_NOT_FOUND, MEDLEY_ERR_ACCESS; MEDLEY_ERR_ARGUMENT: not a
 * plain file; MEDLEY_ERR_LIMIT: larger than `size_bytes`; MEDLEY_ERR_SYSTEM. */
medley_status_t
med_port_file_read(const char *path, char *bytes, size_t size_bytes, size_t *length);
/* Ends the program, as by its own exit where there is such a thing. Does not return. */
MED_INNER _Noreturn void med_port_program_end(int status);
/* A number that nobody else can guess. */
uint32_t med_port_random(void);
/* One line to where errors go (standard error, the console). */
MED_INNER void med_port_log(const char *line);
/* One line to where the user says: "stdout", "stderr", or to the end of the file of that name.
 * MEDLEY_ERR_ACCESS, MEDLEY_ERR_SYSTEM; MEDLEY_ERR_NOT_SUPPORTED: this machine has no files. */
MED_INNER medley_status_t med_port_write_line(const char *where, const char *line);

#include "port/isa.h"
#include "port_inline.h" /* what this port has inline */

#endif
