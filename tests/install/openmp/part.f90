! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! As part.c, in Fortran.
subroutine in_gfortran() bind(c)
    use omp_lib
    use iso_c_binding
    implicit none
    interface
        subroutine note(number) bind(c)
            import c_int
            integer(c_int), value :: number
        end subroutine
    end interface
    integer :: i
    !$omp parallel num_threads(4)
    !$omp do schedule(dynamic)
    do i = 1, 4
        !$omp task
        if (omp_get_thread_num() < 0) stop 1
        !$omp end task
    end do
    !$omp end do
    call note(int(omp_get_thread_num(), c_int))
    !$omp end parallel
end subroutine
