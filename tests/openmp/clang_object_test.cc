// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects of C++ in tasks, as clang has them: each private copy is made once and destroyed once,
// whether the task is executed, is a part of a loop, or is cancelled.
#include <omp.h>

#include <cstdlib>
#include <vector>

extern "C" {
#include "support/unit.h"
}

namespace {
const int threads = 4;
int alive;

void
count(int change)
{
#pragma omp atomic
    alive += change;
}

class object {
  public:
    explicit object(int v = 0) : value(v), room(100, v)
    {
        count(1);
    }
    object(const object &other) : value(other.value), room(other.room)
    {
        count(1);
    }
    object &operator=(const object &other) = default;
    ~object()
    {
        count(-1);
    }
    object &operator+=(const object &other)
    {
        value += other.value;
        return *this;
    }
    bool is(int v) const
    {
        return value == v && room.size() == 100 && room[99] == v;
    }
    int value;

  private:
    std::vector<int> room;
};

#pragma omp declare reduction(+ : object : omp_out += omp_in)

void
tasks_have_copies(void **)
{
    int wrong = 0;
    for (int round = 0; round < 20; round++) {
        object one(5);
#pragma omp parallel num_threads(1 + round % threads)
#pragma omp single
        for (int i = 0; i < 200; i++) {
#pragma omp task firstprivate(one) shared(wrong) if (i % 3) untied
            {
                bool is_right = one.is(5);
#pragma omp taskyield
                if (!is_right || !one.is(5)) {
#pragma omp atomic
                    wrong++;
                }
            }
        }
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(alive, 0);
}

void
parts_of_loops_have_copies(void **)
{
    int wrong = 0;
    for (int round = 0; round < 20; round++) {
        object one(5), last;
#pragma omp parallel num_threads(1 + round % threads)
#pragma omp single
#pragma omp taskloop firstprivate(one) lastprivate(last) shared(wrong) num_tasks(7)
        for (int i = 0; i < 100; i++) {
            last = object(i);
            if (!one.is(5)) {
#pragma omp atomic
                wrong++;
            }
        }
        wrong += !last.is(99);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(alive, 0);
}

// Of those that have begun to wait for their turn as well as of those that were never met.
void
cancelled_tasks_have_copies_no_more(void **)
{
    int executed = 0, thing = 0;
    for (int round = 0; round < 20; round++) {
        object one(5);
#pragma omp parallel num_threads(1 + round % threads)
#pragma omp single
#pragma omp taskgroup
        {
#pragma omp task depend(out : thing)
            {
#pragma omp cancel taskgroup
            }
            for (int i = 0; i < 100; i++) {
#pragma omp task firstprivate(one) shared(executed) depend(in : thing)
                {
#pragma omp atomic
                    executed += one.value;
                }
            }
        }
    }
    assert_int_equal(executed, 0);
    assert_int_equal(alive, 0);
}

void
copies_that_tasks_reduce(void **)
{
    for (int round = 0; round < 20; round++) {
        object sum(1);
#pragma omp parallel num_threads(1 + round % threads)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
        for (int i = 0; i < 100; i++) {
#pragma omp task in_reduction(+ : sum)
            sum += object(i);
        }
        assert_int_equal(sum.value, 1 + 99 * 50);
    }
    assert_int_equal(alive, 0);
}
} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_have_copies),
        cmocka_unit_test(parts_of_loops_have_copies),
        cmocka_unit_test(cancelled_tasks_have_copies_no_more),
        cmocka_unit_test(copies_that_tasks_reduce),
    };
    // Read at the first region.
    if (setenv("OMP_CANCELLATION", "true", 1) != 0) {
        return 1;
    }
    return cmocka_run_group_tests_name("objects", tests, NULL, NULL);
}
