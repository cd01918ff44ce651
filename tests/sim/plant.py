# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies a source file with one bug planted in it: of those that the mutants do not know, since no
order is weakened. What it replaces must stand there once.

usage: plant.py BUG SOURCE PLANTED
"""
import sys

BUGS = {
    # The sleeper's call (src/base/wait.c).
    "call_missing": ("    if (request->call) {\n", "    if (!request) {\n"),
    "call_late": (
        "        call(request);\n"
        "        /* W2 flag, then condition <-> B1 (wait.h), B3 */\n"
        "        (void)med_port_barrier_heavy(request->scope);\n",
        "        (void)med_port_barrier_heavy(request->scope);\n"
        "        call(request);\n"),
    "call_once": ("#define CALLS 2 ", "#define CALLS 1 "),
    # Who goes on from a barrier wakes nobody; or who is about to sleep counts as one who has slept.
    "pass_unsaid": (
        "    } else if (sees && member->waiter.sleeps == sleeps) {\n",
        "    } else if (sees && member->waiter.sleeps < sleeps) {\n"),
    "slept_early": ("    bool slept = false;\n", "    bool slept = true;\n    waiter->sleeps++;\n"),
    # A crowd's wakers are told to pay without a barrier (`scope` stays in use: no check is meant);
    # or who relies on them does not look anew.
    "turn_at_once": (
        "&pays, MED_WAIT_PAYS_BOTH) &&\n        med_port_barrier_heavy(scope)) {",
        "&pays, MED_WAIT_PAYS_BOTH) &&\n        (med_port_barrier_is_free(scope) || true)) {"),
    "crowd_unseen": (
        "    med_port_barrier_light(request->scope); /* B3 what he has published, then condition <-> W2 */\n",
        ""),
    # Who spins, and whom the owner relies on (src/base/lock.c).
    "hint_kept": (
        "            hint(contest, 0);\n",
        ""),
    "hint_unannounced": (
        "    medley_status_t status = announce(contest, sleepers);\n"
        "    return status == MEDLEY_BUSY ? spin(contest) : status;\n",
        "    (void)sleepers;\n"
        "    return spin(contest);\n"),
    # Who is not told of a region (src/omp/gate.c).
    "told_of_next": ("    if ((told ^ round) & 1 || ", "    if ("),
    "told_once": (
        " || atomic32_load_relaxed(&gate->round) != round) {\n",
        ") {\n"),
    # Who was called away from the region's end cancels it again (src/omp/cancel.c).
    "end_moved": ("    if (!team->leader || med_cancel_region_is(member)) {\n", "    if (!team->leader) {\n"),
    # A construct that another begins in a cancelled region (src/omp/work.c).
    "begun_unawaited": ("            if (w.turn != turn_of(w.construct, BEGINS)) {\n", "            if (w.turn) {\n"),
    # The waker who goes on (src/base/ring_spsc.c).
    "wake_first": (
        "    atomic32_store_relaxed(stop, med_port_barrier_is_free(scope) ? until : index);\n"
        "    return med_wait_wake_misses(sleepers, scope);\n",
        "    bool misses = med_wait_wake_misses(sleepers, scope);\n"
        "    atomic32_store_relaxed(stop, med_port_barrier_is_free(scope) ? until : index);\n"
        "    return misses;\n"),
    "unready": (
        "    atomic32_store_relaxed(stop, med_port_barrier_is_free(scope) ? until : index);\n",
        "    (void)index;\n"
        "    atomic32_store_relaxed(stop, until);\n"),
    # Two who make lanes to one endpoint at once (src/mcapi/endpoint.c).
    "count_lost": (
        "    while (!atomic32_cas_release(&row->lanes_made, &seen, seen + 1)) {\n"
        "    }\n",
        "    atomic32_store_release(&row->lanes_made, seen + 1);\n"),
    # A death, and a lane that is of no use to its sender (watch.c, lane_own.c, endpoint.c).
    "watch_believes": (
        "    return med_node_alive(self->system, atomic32_load_relaxed(&row->side[MED_LANE_CONSUMER]));\n",
        "    return true;\n"),
    "lanes_kept": (
        "        (void)med_lanes_give_up(self);\n    }\n}\n",
        "    }\n}\n"),
    "death_unsaid": (
        "->closing, died ? *died : 1);\n",
        "->closing, died ? 1 : 1);\n"),
    # Whose a slot of the heap is (src/mrapi/heap.c, heap_return.c).
    "heap_unrefused": (
        "    return !(ended & MED_HEAP_RETURNED);\n",
        "    return true;\n"),
    "heap_unmarked": (
        "    while (!atomic32_cas_relaxed(&slot->ended, &ended, lives | (ended & MED_HEAP_RETURNED))) {\n"
        "    }\n",
        "    (void)lives;\n"),
    "heap_unsaid": (
        "        med_heap_go_to(self->heap, slot->index);\n",
        ""),
    "heap_unfenced": (
        "    bool may = med_port_barrier_heavy(MED_PORT_SCOPE_PROCESS);\n",
        "    bool may = true;\n"),
    "heap_noted_late": (
        "    ends_note(heap, list);\n"
        "    /* T4 ended, then at <-> T3 (heap.h) */\n"
        "    bool may = med_port_barrier_heavy(MED_PORT_SCOPE_PROCESS);\n",
        "    bool may = med_port_barrier_heavy(MED_PORT_SCOPE_PROCESS);\n"
        "    ends_note(heap, list);\n"),
    "heap_unlooked": (
        "if (!may || slot->index == at || !slot_take_over(",
        "if ((void)at, !may || !slot_take_over("),
    # Tasks that exclude each other (src/omp/task_exclude.c).
    "exclusions_unsorted": (
        "    for (; at > 0 && of->list[at - 1] > *one; at--) {\n"
        "        of->list[at] = of->list[at - 1];\n"
        "    }\n",
        ""),
    "exclusion_lost": (
        "    one->waiting = next->next;\n",
        "    one->waiting = NULL;\n"),
    "exclusion_freed": (
        "    uintptr_t seen = atomic_word_load_relaxed(&one->word); /* relaxed: both below check it */\n",
        "    uintptr_t seen = FREE;\n"
        "    if (atomic_word_load_relaxed(&one->word) != FREE) {\n"
        "        return true;\n"
        "    }\n"),
    # Whom a task waits for (src/omp/task_table.c).
    "named_twice": (
        "    if (last(at)->kind == kind || last(at)->kind == MED_DEPEND_OUT) {\n",
        "    if (kind || last(at)->kind == MED_DEPEND_OUT) {\n"),
    "all_unseen": (
        "    behind(task, of->count ? of : &table->all);\n",
        "    (void)table;\n"
        "    behind(task, of);\n"),
    # Groups (src/omp/task_group.c, task.c, task_list.c).
    "group_unwaited": (
        "    med_task_until_clear(member, &group->tally, group);\n",
        ""),
    "group_miscounted": (
        "        med_tally_add(&group->tally, group->keeper == member);\n",
        "        med_tally_add(&group->tally, true);\n"),
    "listed_lost": (
        "    *(ahead ? &ahead->behind : &list->first) = task;\n",
        "    if (!ahead) {\n"
        "        list->first = task;\n"
        "    }\n"),
    "group_runs_on": (
        "        atomic32_store_relaxed(&group->cancelled, 1); /* relaxed: as above */\n",
        "        (void)group;\n"),
    # Loops on unlike cores (src/omp/schedule/hetprobe.c, hetprobe_i.c).
    "probe_unlocked": (
        "    med_omp_lock_set(&work->het->lock, member);\n"
        "    if (own->measures) {\n"
        "        (void)med_het_measured(work, own, work->het->probe_each);\n"
        "    }\n"
        "    if (work->het->is_split) {\n"
        "        units = part_of_rest(work, own);\n"
        "        own->has_part = true;\n"
        "    } else {\n"
        "        units = part_meanwhile(work);\n"
        "    }\n"
        "    med_omp_lock_unset(&work->het->lock);\n",
        "    (void)member;\n"
        "    if (own->measures) {\n"
        "        (void)med_het_measured(work, own, work->het->probe_each);\n"
        "    }\n"
        "    if (work->het->is_split) {\n"
        "        units = part_of_rest(work, own);\n"
        "        own->has_part = true;\n"
        "    } else {\n"
        "        units = part_meanwhile(work);\n"
        "    }\n"),
    "queue_unlocked": (
        "    med_omp_lock_set(&work->het->lock, member);\n"
        "    *units = part_of_it(work, own, had);\n"
        "    med_omp_lock_unset(&work->het->lock);\n",
        "    *units = part_of_it(work, own, had);\n"),
    "probe_kept": (
        "    own->probe = (med_units){.first = 0};\n",
        ""),
    "last_again": (
        "    if (units.first == units.end && !het->last_given) {\n",
        "    if (units.first == units.end) {\n"),
    # Events of tasks that were given up (src/omp/task_event.c).
    "event_finishes": (
        "        med_task_release(member, task);\n    }\n    if (wait) {\n",
        "        (void)member;\n        put(team, task);\n    }\n    if (wait) {\n"),
    "event_forgotten": (
        "    if (med_task_event_half(task, MED_TASK_HALF_DISCARDED)) {\n",
        "    if (med_task_event_half(task, MED_TASK_HALF_DISCARDED) || true) {\n"),
    # What is allowed to who waits (src/omp/task_queue.c).
    "group_unknown": (
        "    return group && atomic_word_load_acquire(&task->group) == (uintptr_t)group;\n",
        "    (void)task;\n"
        "    return group && false;\n"),
    # Groups of a barrier (src/base/barrier.c, src/omp/cancel.c).
    "group_unseen": (
        "        if (!wait_for(barrier, member, &group)) {\n"
        "            return false;\n"
        "        }\n",
        "        (void)group;\n"),
    "brought_late": (
        "    return !is_top(barrier, member) || (member->combine && !is_first);\n",
        "    return !is_top(barrier, member) || (member->combine && !is_first && false);\n"),
    "brought_unread": (
        "        combine_group(&group, member);\n",
        ""),
    "news_early": (
        "    if (!wait_for(barrier, member, &all)) {\n"
        "        return false;\n"
        "    }\n"
        "    if (sees) {\n",
        "    if (member->line != member->index) {\n"
        "        say_as_leader(barrier, member, "
        "&barrier->lines[barrier->lines[member->index].news]);\n"
        "    }\n"
        "    if (!wait_for(barrier, member, &all)) {\n"
        "        return false;\n"
        "    }\n"
        "    if (sees) {\n"),
    "unread_gone": (
        "        med_cancel_await_read(member, member->gave);\n",
        ""),
    "unread_replaced": (
        "    if (med_cancel_region_is(member)) {\n"
        "        med_cancel_await_read(",
        "    if (false) {\n"
        "        med_cancel_await_read("),
    "leader_gone": (
        "        med_barrier_come(member->barrier, &member->place);\n"
        "    }\n"
        "    member->early = false;\n"
        "    med_team_depart(member);\n",
        "        med_barrier_come(member->barrier, &member->place);\n"
        "        med_team_depart(member);\n"
        "    }\n"
        "    member->early = false;\n"),
    # A cancelled region (src/omp/doacross.c).
    "iteration_awaited": (
        "    (void)med_work_wait(member, &member->team->wait, is_posted, NULL, &w);\n",
        "    while (!is_posted(&w)) {\n"
        "        med_port_yield();\n"
        "    }\n"),
}


def main(bug, source, planted):
    with open(source, encoding="utf-8") as file:
        text = file.read()
    right, wrong = BUGS[bug]
    if text.count(right) != 1:
        sys.exit(f"plant.py: {bug}: what it replaces is not in {source}, or more than once")
    with open(planted, "w", encoding="utf-8") as file:
        file.write(text.replace(right, wrong))


main(*sys.argv[1:])
