// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threadprivate variables that the library keeps, as clang has it do so with -fnoopenmp-use-tls: of
// plain ones, of objects of C++, of more than a table begins with; in nested regions, in threads of
// the program's own.
#include <omp.h>
#include <pthread.h>

extern "C" {
#include "support/unit.h"
}

namespace {
const int threads = 4;
int alive;

class object {
  public:
    object() : value(7)
    {
#pragma omp atomic
        alive++;
    }
    object(const object &other) = default;
    object &operator=(const object &other) = default;
    ~object()
    {
#pragma omp atomic
        alive--;
    }
    int value;
};

int plain = 5;
#pragma omp threadprivate(plain)
object whole;
#pragma omp threadprivate(whole)
int a[3], b[3], c[3], d[3], e[3], f[3], g[3], h[3], i[3], j[3], k[3], l[3];
#pragma omp threadprivate(a, b, c, d, e, f, g, h, i, j, k, l)

int
sum_of_many()
{
    return a[2] + b[2] + c[2] + d[2] + e[2] + f[2] + g[2] + h[2] + i[2] + j[2] + k[2] + l[2];
}

void
many_are(int n)
{
    a[2] = b[2] = c[2] = d[2] = e[2] = f[2] = g[2] = h[2] = i[2] = j[2] = k[2] = l[2] = n;
}

// From one region to the next, too.
void
each_thread_has_its_own(void **)
{
    int wrong = 0;
    int *address = &plain;
    omp_set_dynamic(0);
    for (int round = 0; round < 20; round++) {
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
        {
            int me = omp_get_thread_num();
            wrong +=
                plain != 5 + round * me || whole.value != 7 + round || sum_of_many() != 12 * round;
            wrong += me == 0 && &plain != address;
            plain += me;
            whole.value++;
            many_are(round + 1);
        }
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(plain, 5);
    assert_int_equal(whole.value, 27);
    assert_int_equal(alive, threads);
}

void
the_first_ones_are_copied_in(void **)
{
    int wrong = 0;
    plain = 41;
    whole.value = 43;
#pragma omp parallel num_threads(threads) copyin(plain, whole) reduction(+ : wrong)
    {
        wrong += plain != 41 || whole.value != 43;
        plain = omp_get_thread_num();
    }
    assert_int_equal(wrong, 0);
    plain = 5;
}

// Who leads an inner region is the same thread there.
void
inner_regions_have_their_leaders(void **)
{
    int wrong = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : wrong)
    {
        plain = 100 + omp_get_thread_num();
        int outer = plain;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
        {
            wrong += omp_get_thread_num() == 0 && plain != outer;
            plain = -1;
        }
        wrong += plain != -1;
    }
    assert_int_equal(wrong, 0);
    plain = 5;
}

void *
another(void *context)
{
    int *wrong = static_cast<int *>(context);
    *wrong += plain != 5 || whole.value != 7;
    plain = 9;
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
        *wrong += omp_get_thread_num() == 0 && plain != 9;
    }
    return NULL;
}

// Whose copies end with it, and with its team.
void
threads_of_the_program_have_theirs(void **)
{
    int before = alive;
    for (int round = 0; round < 10; round++) {
        int wrong = 0;
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, another, &wrong), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(wrong, 0);
        assert_int_equal(plain, 5);
    }
    assert_int_equal(alive, before);
}
} // namespace

int
main()
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_thread_has_its_own),
        cmocka_unit_test(the_first_ones_are_copied_in),
        cmocka_unit_test(inner_regions_have_their_leaders),
        cmocka_unit_test(threads_of_the_program_have_theirs),
    };
    return cmocka_run_group_tests_name("threadprivate", tests, NULL, NULL);
}
