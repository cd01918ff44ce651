/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a tool is told of worksharing constructs, and of what else stands in a program's lines. The
 * compilers' names say that a construct ends and not which, so the task remembers. Of a single
 * gcc's do not even say that: it ends, to a tool, with what its thread does next that cannot stand
 * within one.
 */
#include "omp/ompt_inner.h"

static void
tell(med_ompt_task *task, uint32_t work, ompt_scope_endpoint_t endpoint, uint64_t count)
{
    MED_OMPT_TELL(ompt_callback_work, (ompt_work_t)work, endpoint, med_ompt_region_data(task),
                  &task->data, count,
                  endpoint == ompt_scope_begin ? task->called_from : task->work_from);
}

static void
begin(med_ompt_task *task, uint32_t work, uint64_t count)
{
    task->work = work;
    task->work_count = count;
    task->work_from = task->called_from;
    tell(task, work, ompt_scope_begin, count);
    med_ompt_back(task);
}

static void
end(med_ompt_task *task)
{
    if (task->work) {
        tell(task, task->work, ompt_scope_end, task->work_count);
        task->work = 0;
    }
}

void
med_ompt_single_close(const med_member *member, med_ompt_task *task)
{
    (void)member;
    if (task->single) {
        task->single = false;
        end(task);
    }
}

/* ---- Loops, sections ------------------------------------------------------------------------- */

void
med_ompt_work_begin_told(med_member *member)
{
    med_ompt_task *task = med_ompt_current(member);
    uint32_t said = med_ompt_kind_take(task);
    med_ompt_single_close(member, task);
    begin(task,
          said                        ? said
          : member->work->is_sections ? (uint32_t)ompt_work_sections
                                      : (uint32_t)ompt_work_loop,
          member->work->count);
}

void
med_ompt_work_end_told(med_member *member)
{
    end(med_ompt_current(member));
}

void
med_ompt_part_begin_told(med_member *member, uint32_t work, uint64_t count)
{
    med_ompt_task *task = med_ompt_current(member);
    med_ompt_single_close(member, task);
    begin(task, work, count);
}

void
med_ompt_part_end_told(med_member *member)
{
    end(med_ompt_current(member));
}

void
med_ompt_dispatch_told(med_member *member, const med_span *span)
{
    med_ompt_task *task = med_ompt_current(member);
    ompt_dispatch_chunk_t chunk = {.start = span->first, .iterations = span->end - span->first};
    bool is_section = member->work->is_sections;
    ompt_data_t instance = {.ptr = &chunk};
    if (is_section) {
        instance.ptr = (void *)(uintptr_t)task->work_from;
    }
    MED_OMPT_TELL(ompt_callback_dispatch, med_ompt_region_data(task), &task->data,
                  is_section ? ompt_dispatch_section : ompt_dispatch_ws_loop_chunk, instance);
}

/* ---- Single, masked -------------------------------------------------------------------------- */

bool
med_ompt_single(const void *return_address, void *frame)
{
    med_member *member =
        med_ompt_called_told(med_member_get(), MED_OMPT_PLAIN, return_address, frame);
    med_ompt_task *task = med_ompt_current(member);
    bool is_mine = med_team_single(member);
    med_ompt_single_close(member, task);
    begin(task, is_mine ? ompt_work_single_executor : ompt_work_single_other, 1);
    task->single = is_mine;
    if (!is_mine) {
        end(task);
    }
    return is_mine;
}

void
med_ompt_single_end_told(med_member *member)
{
    med_ompt_single_close(member, med_ompt_current(member));
}

void
med_ompt_masked_told(med_member *member, bool is_end)
{
    med_ompt_task *task = med_ompt_current(member);
    MED_OMPT_TELL(ompt_callback_masked, is_end ? ompt_scope_end : ompt_scope_begin,
                  med_ompt_region_data(task), &task->data, task->called_from);
    med_ompt_back(task);
}

/* ---- What has no end ------------------------------------------------------------------------- */

void
med_ompt_flush_told(void)
{
    med_member *member = med_member_get();
    med_ompt_task *task = med_ompt_current(member);
    MED_OMPT_TELL(ompt_callback_flush, member->ompt ? &member->ompt->data : NULL,
                  task->called_from);
    med_ompt_back(task);
}

void
med_ompt_cancel_told(med_member *member, int flags)
{
    med_ompt_task *task = med_ompt_current(member);
    MED_OMPT_TELL(ompt_callback_cancel, &task->data, flags, task->called_from);
    med_ompt_back(task);
}

void
med_ompt_error_told(bool is_fatal, const char *text, size_t length)
{
    med_ompt_task *task = med_ompt_current(med_member_get());
    MED_OMPT_TELL(ompt_callback_error, is_fatal ? ompt_fatal : ompt_warning, text, length,
                  task->called_from);
    med_ompt_back(task);
}
