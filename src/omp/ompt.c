/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The life of a tool. It is looked for when the first thread becomes a member, once; until that is
 * decided the word says that there is one, and who then comes to an event finds out. It ends with
 * the program, or when it asks for that.
 *
 * What may run together: anything, with an end: who tells of an event just then may still call the
 * tool, as everywhere where a thread can be between two lines.
 */
#include "mrapi/heap_lent.h"
#include "omp/ompt_inner.h"
#include "omp/once.h"
#include "omp/say.h"
#include "omp/target.h"
#include "port/port.h"

atomic32 med_ompt_word = ATOMIC32_INIT(1);

static ompt_start_tool_result_t *tool;
static atomic32 is_ended;

/* ---- Ends ------------------------------------------------------------------------------------ */

static void
end(void)
{
    /* Relaxed, both: as in med_ompt_is_on; and one of those who come is the first. */
    atomic32_store_relaxed(&med_ompt_word, 0);
    if (tool && atomic32_fetch_add_relaxed(&is_ended, 1) == 0) { /* relaxed: as above */
        med_ompt_callbacks_clear();
        if (tool->finalize) {
            tool->finalize(&tool->tool_data);
        }
    }
}

/* Threads that wait for regions end now, so that the tool hears of it. Within a region there is no
 * time for that. */
void
med_ompt_end(void)
{
    med_member *member = med_port_member_get();
    if (med_ompt_is_on() && member && !member->team->leader) {
        (void)med_team_rest(member);
        med_ompt_thread_end(member);
    }
    end();
}

/* ---- Begins ---------------------------------------------------------------------------------- */

static bool
start(void)
{
    tool = med_ompt_tool_find();
    if (!tool) {
        return false;
    }
    bool is_active =
        tool->initialize && tool->initialize(med_ompt_lookup, MED_DEVICE_HOST, &tool->tool_data);
    med_ompt_tool_say(is_active ? "The tool is active." : "The tool does not want to be active.",
                      NULL);
    if (!is_active) {
        tool = NULL;
        med_ompt_callbacks_clear();
    }
    return is_active && med_port_at_exit(med_ompt_end) == MEDLEY_OK;
}

bool
med_ompt_begin(void)
{
    static med_once once;
    if (med_once_begin(&once)) {
        bool is_active = start();
        med_ompt_tool_say(NULL, NULL);
        if (!is_active) {
            atomic32_store_relaxed(&med_ompt_word, 0); /* relaxed: as in med_ompt_is_on */
        }
        med_once_end(&once);
    }
    return med_ompt_is_on();
}

/* ---- Records --------------------------------------------------------------------------------- */

void *
med_ompt_memory(size_t size_bytes)
{
    void *memory = med_heap_lend(size_bytes);
    if (!memory) {
        med_say_fatal("there is no memory for what a tool is told");
    }
    return memory;
}

med_ompt_task *
med_ompt_task_of(med_task *task)
{
    if (!task->ompt) {
        task->ompt = med_ompt_memory(sizeof *task->ompt);
    }
    return task->ompt;
}

void
med_ompt_forget(const med_member *member)
{
    bool is_first_of_thread = member->number > 0 || !member->team->leader;
    med_heap_take_back(member->implicit.ompt);
    if (is_first_of_thread) {
        med_heap_take_back(member->ompt);
    }
}

void
med_ompt_task_reset(med_ompt_task *task, int flags)
{
    *task = (med_ompt_task){.flags = flags,
                            .state = ompt_state_work_parallel,
                            .memory = task->memory,
                            .memory_bytes = task->memory_bytes};
}

med_member *
med_ompt_called_told(med_member *member, uint32_t kind, const void *return_address, void *frame)
{
    med_ompt_task *task = med_ompt_current(member);
    task->called_from = return_address;
    task->kind = kind;
    task->frame.enter_frame.ptr = frame;
    task->frame.enter_frame_flags = ompt_frame_runtime | ompt_frame_cfa;
    return member;
}

void
med_ompt_lines_of_caller(med_ompt_task *outer, med_ompt_task *task)
{
    outer->frame.enter_frame_flags = ompt_frame_application | ompt_frame_stackaddress;
    task->frame.exit_frame = outer->frame.enter_frame;
    task->frame.exit_frame_flags = outer->frame.enter_frame_flags;
}

ompt_state_t
med_ompt_state_of_work(const med_member *member)
{
    return member->team->level > 0 ? ompt_state_work_parallel : ompt_state_work_serial;
}
