/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A file of ELF, of this machine's word. Somebody wrote it: nothing in it is taken for true. */
#include "tools/medley/symbol.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

typedef struct tables {
    ElfW(Sym) * symbols;
    size_t symbol_count;
    char *names;
    size_t names_bytes;
} tables;

/* ---- The file -------------------------------------------------------------------------------- */

/* `count` items from there on, in memory of their own; NULL: the file has not as many. */
static void *
part_read(FILE *file, uint64_t at, uint64_t count, size_t item_bytes)
{
    if (count == 0 || fseek(file, 0, SEEK_END) != 0) {
        return NULL;
    }
    long end = ftell(file);
    if (end < 0 || at > (uint64_t)end || count > ((uint64_t)end - at) / item_bytes ||
        fseek(file, (long)at, SEEK_SET) != 0) {
        return NULL;
    }
    void *part = malloc((size_t)count * item_bytes);
    if (part && fread(part, item_bytes, (size_t)count, file) != count) {
        free(part);
        return NULL;
    }
    return part;
}

static bool
head_read(FILE *file, ElfW(Ehdr) * head)
{
    return fread(head, sizeof *head, 1, file) == 1 && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
           head->e_ident[EI_CLASS] == OWN_CLASS && head->e_shentsize == sizeof(ElfW(Shdr));
}

static bool
tables_read(FILE *file, const ElfW(Shdr) * sections, size_t count, uint32_t type, tables *t)
{
    for (size_t i = 0; i < count; i++) {
        const ElfW(Shdr) *of = &sections[i];
        if (of->sh_type != type || of->sh_link >= count) {
            continue;
        }
        const ElfW(Shdr) *names = &sections[of->sh_link];
        t->symbol_count = of->sh_size / sizeof *t->symbols;
        t->symbols = part_read(file, of->sh_offset, t->symbol_count, sizeof *t->symbols);
        t->names_bytes = names->sh_size;
        t->names = part_read(file, names->sh_offset, t->names_bytes, 1);
        return t->symbols && t->names;
    }
    return false;
}

static void
tables_free(tables *t)
{
    free(t->symbols);
    free(t->names);
    *t = (tables){.symbols = NULL};
}

/* The whole one, or what is left of it for the loader. */
static bool
tables_find(FILE *file, tables *t)
{
    ElfW(Ehdr) head;
    if (!head_read(file, &head)) {
        return false;
    }
    ElfW(Shdr) *sections = part_read(file, head.e_shoff, head.e_shnum, sizeof *sections);
    bool found = sections && tables_read(file, sections, head.e_shnum, SHT_SYMTAB, t);
    if (sections && !found) {
        tables_free(t);
        found = tables_read(file, sections, head.e_shnum, SHT_DYNSYM, t);
    }
    free(sections);
    return found;
}

/* ---- The symbol ------------------------------------------------------------------------------ */

static bool
has(const tables *t, const ElfW(Sym) * symbol, uint64_t inside)
{
    return (symbol->st_info & 0xf) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
           inside - symbol->st_value < symbol->st_size && symbol->st_name < t->names_bytes &&
           memchr(t->names + symbol->st_name, '\0', t->names_bytes - symbol->st_name);
}

static bool
look(const tables *t, uint64_t inside, char *name, size_t size, uint64_t *beyond)
{
    for (size_t i = 0; i < t->symbol_count; i++) {
        const ElfW(Sym) *symbol = &t->symbols[i];
        if (has(t, symbol, inside)) {
            (void)snprintf(name, size, "%s", t->names + symbol->st_name);
            *beyond = inside - symbol->st_value;
            return true;
        }
    }
    return false;
}

bool
symbol_find(const char *path, uint64_t inside, char *name, size_t size, uint64_t *beyond)
{
    FILE *file = fopen(path, "rbe");
    if (!file) {
        return false;
    }
    tables t = {.symbols = NULL};
    bool found = tables_find(file, &t) && look(&t, inside, name, size, beyond);
    tables_free(&t);
    (void)fclose(file);
    return found;
}
