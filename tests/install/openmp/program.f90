! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! As program.c, in Fortran.
program main
    use omp_lib
    implicit none
    integer, parameter :: threads = 4, many = 1000
    integer(omp_nest_lock_kind) :: nest
    integer(omp_lock_kind) :: lock
    integer :: i, total, kept, locked
    integer, save :: mine = -1
!$omp threadprivate(mine)

    total = 0
    kept = 0
    locked = 0
    call omp_init_lock(lock)
    call omp_init_nest_lock(nest)
    !$omp parallel do num_threads(threads) schedule(dynamic, 7) reduction(+ : total)
    do i = 1, many
        total = total + i
    end do
    !$omp parallel num_threads(threads)
    mine = omp_get_thread_num()
    do i = 1, many
        call omp_set_nest_lock(nest)
        call omp_set_nest_lock(nest)
        locked = locked + 1
        call omp_unset_nest_lock(nest)
        call omp_unset_nest_lock(nest)
    end do
    !$omp end parallel
    !$omp parallel num_threads(threads) reduction(+ : kept)
    if (mine == omp_get_thread_num()) kept = kept + 1
    !$omp end parallel
    call omp_set_lock(lock)
    call omp_unset_lock(lock)
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nest)
    print *, "total", total, "kept", kept, "locked", locked
    if (total /= many * (many + 1) / 2 .or. kept /= threads .or. locked /= threads * many) stop 1
end program
