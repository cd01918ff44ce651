/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Byte by byte. How long a reference is, leading zeros and all, is nobody's limit. */
#include "modules/xml_text.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#define CODE_MAX 0x10ffffu

/* ---- Characters ------------------------------------------------------------------------------ */

static bool
is_character(uint32_t code)
{
    if (code < 0x20) {
        return code == '\t' || code == '\n' || code == '\r';
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return !surrogate && code != 0xfffe && code != 0xffff && code <= CODE_MAX;
}

/* How many bytes follow that first one; 4: it is none. */
static size_t
bytes_behind(unsigned char first)
{
    return first < 0x80   ? 0
           : first < 0xc2 ? 4
           : first < 0xe0 ? 1
           : first < 0xf0 ? 2
           : first < 0xf5 ? 3
                          : 4;
}

/* The length of the character that begins there; 0: none does. */
static size_t
character_bytes(const unsigned char *at, size_t left)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    size_t behind = bytes_behind(at[0]);
    if (behind >= left || behind == 4) {
        return 0;
    }
    uint32_t code = behind == 0 ? at[0] : at[0] & 0x3fu >> behind;
    for (size_t i = 1; i <= behind; i++) {
        if ((at[i] & 0xc0u) != 0x80) {
            return 0;
        }
        code = code << 6 | (at[i] & 0x3fu);
    }
    return code >= least[behind] && is_character(code) ? behind + 1 : 0;
}

bool
xml_encoding_find(const char *name, size_t length, bool *utf8)
{
    static const struct {
        const char *name;
        bool utf8;
    } known[] = {{"UTF-8", true}, {"UTF8", true},        {"US-ASCII", true},
                 {"ASCII", true}, {"ISO-8859-1", false}, {"ISO-LATIN-1", false}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strlen(known[i].name) == length && strncasecmp(known[i].name, name, length) == 0) {
            *utf8 = known[i].utf8;
            return true;
        }
    }
    return false;
}

const char *
xml_characters_check(const char *text, size_t length, bool utf8, size_t *at)
{
    const char *nul = memchr(text, '\0', length);
    *at = nul ? (size_t)(nul - text) : 0;
    if (nul) {
        return "there is a NUL; want UTF-8, US-ASCII or ISO-8859-1";
    }
    while (*at < length) {
        const unsigned char *next = (const unsigned char *)text + *at;
        size_t bytes = utf8 ? character_bytes(next, length - *at) : is_character(*next);
        if (bytes == 0) {
            return utf8 ? "there is a byte that is no character of UTF-8, or a control character"
                        : "there is a control character";
        }
        *at += bytes;
    }
    return NULL;
}

/* ---- References ------------------------------------------------------------------------------ */

/* -1: it is no digit. */
static int
digit(char c, unsigned base)
{
    int value = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    return value < (int)base ? value : -1;
}

/* What stands between "&#" and ';'. */
static bool
is_numbered(const char *at, const char *end)
{
    unsigned base = at < end && *at == 'x' ? 16 : 10;
    uint32_t code = 0;
    at += base == 16;
    bool good = at < end;
    for (; good && at < end; at++) {
        good = digit(*at, base) >= 0 && code <= CODE_MAX;
        code = good ? code * base + (uint32_t)digit(*at, base) : 0;
    }
    return good && is_character(code);
}

static bool
is_known(const char *at, size_t length)
{
    static const char *const named[] = {"amp", "lt", "gt", "quot", "apos"};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (strlen(named[i]) == length && memcmp(at, named[i], length) == 0) {
            return true;
        }
    }
    return false;
}

/* A name, with a ';' behind it; any byte above ASCII may be part of a letter. */
static size_t
name_bytes(const char *at, const char *end)
{
    const char *start = at;
    while (at < end &&
           ((unsigned char)*at >= 0x80 || strchr("_:", *at) || (*at >= 'a' && *at <= 'z') ||
            (*at >= 'A' && *at <= 'Z') || (at > start && strchr("-.0123456789", *at)))) {
        at++;
    }
    return at < end && *at == ';' ? (size_t)(at - start) : 0;
}

const char *
xml_reference_check(const char *text, size_t length, bool defined_elsewhere)
{
    const char *end = text + length;
    const char *at = text + 1;
    if (at < end && *at == '#') {
        const char *closed = memchr(at, ';', length - 1);
        return closed && is_numbered(at + 1, closed) ? NULL : "'&' begins what names no character";
    }
    size_t bytes = name_bytes(at, end);
    if (bytes == 0) {
        return "'&' begins nothing";
    }
    return defined_elsewhere || is_known(at, bytes) ? NULL : "'&' begins what names no character";
}
