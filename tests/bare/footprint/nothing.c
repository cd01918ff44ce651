/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An empty program: what is paid without Medley, to be taken off the others. */
int main(void);

int
main(void)
{
    return 0;
}
