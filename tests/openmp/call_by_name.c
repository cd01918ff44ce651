/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls the function of that library that has that name, without arguments. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int
main(int count, char **words)
{
    void (*function)(void);
    void *library = count > 2 ? dlopen(words[1], RTLD_NOW) : NULL;
    void *symbol = library ? dlsym(library, words[2]) : NULL;
    if (!symbol) {
        (void)fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    memcpy(&function, &symbol, sizeof function);
    function();
    return 0;
}
