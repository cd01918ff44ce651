/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One pass over the text, byte by byte, with the names of the open tags on a stack of fixed depth.
 * Whoever calls is told of each tag as it passes.
 */
#include "modules/xml_check.h"

#include <stdbool.h>
#include <string.h>

typedef struct scan {
    const char *at;
    const char *end;
    unsigned line;
    unsigned depth;
    bool root_seen;
    const xml_reader *reader;
    xml_span open[XML_DEPTH_MAX];
} scan;

static bool
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool
is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == ':';
}

static void
step(scan *s)
{
    s->line += *s->at == '\n';
    s->at++;
}

static void
spaces(scan *s)
{
    while (s->at < s->end && is_space(*s->at)) {
        step(s);
    }
}

static bool
take(scan *s, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, text, length) != 0) {
        return false;
    }
    s->at += length;
    return true;
}

/* Up to and with `text`. */
static bool
skip_past(scan *s, const char *text)
{
    while (s->at < s->end) {
        if (take(s, text)) {
            return true;
        }
        step(s);
    }
    return false;
}

static xml_span
name(scan *s)
{
    const char *start = s->at;
    while (s->at < s->end && is_name(*s->at)) {
        s->at++;
    }
    return (xml_span){.start = start, .length = (size_t)(s->at - start)};
}

static const char *
attribute(scan *s)
{
    xml_span its_name = name(s);
    if (its_name.length == 0) {
        return "a tag has something that is no attribute";
    }
    spaces(s);
    if (!take(s, "=")) {
        return "an attribute has no value";
    }
    spaces(s);
    if (s->at == s->end || (*s->at != '"' && *s->at != '\'')) {
        return "a value is not quoted";
    }
    const char quote = *s->at;
    xml_span value = {.start = ++s->at};
    for (; s->at < s->end && *s->at != quote; step(s)) {
        if (*s->at == '<') {
            return "a value is not closed";
        }
    }
    value.length = (size_t)(s->at - value.start);
    if (!take(s, quote == '"' ? "\"" : "'")) {
        return "a value is not closed";
    }
    return s->reader ? s->reader->attribute(s->reader->context, its_name, value) : NULL;
}

/* Up to the end of the tag. */
static const char *
attributes(scan *s, bool *closed)
{
    for (;;) {
        spaces(s);
        *closed = take(s, "/>");
        if (*closed || take(s, ">")) {
            return NULL;
        }
        const char *wrong = attribute(s);
        if (wrong) {
            return wrong;
        }
    }
}

static const char *
tag_closed(scan *s)
{
    return s->reader ? s->reader->end(s->reader->context) : NULL;
}

/* What it is, and all it has, was read. */
static const char *
tag_begun(scan *s, unsigned line)
{
    const char *wrong = s->reader ? s->reader->begun(s->reader->context) : NULL;
    if (wrong) {
        s->line = line;
    }
    return wrong;
}

static const char *
tag_begin(scan *s)
{
    bool closed;
    unsigned line = s->line;
    xml_span its_name = name(s);
    if (its_name.length == 0) {
        return "'<' begins no tag";
    }
    if (s->depth == 0 && s->root_seen) {
        return "something follows the document";
    }
    if (s->depth == XML_DEPTH_MAX) {
        return "tags are nested too deep";
    }
    s->root_seen = true;
    s->open[s->depth] = its_name;
    const char *wrong = s->reader ? s->reader->begin(s->reader->context, its_name, line) : NULL;
    wrong = wrong ? wrong : attributes(s, &closed);
    wrong = wrong ? wrong : tag_begun(s, line);
    if (wrong) {
        return wrong;
    }
    s->depth += !closed;
    return closed ? tag_closed(s) : NULL;
}

static const char *
tag_end(scan *s)
{
    xml_span its_name = name(s);
    spaces(s);
    if (s->depth == 0 || s->open[s->depth - 1].length != its_name.length ||
        memcmp(s->open[s->depth - 1].start, its_name.start, its_name.length) != 0) {
        return "a tag is closed that is not the last one opened";
    }
    s->depth--;
    return take(s, ">") ? tag_closed(s) : "a closing tag does not end";
}

static const char *
markup(scan *s)
{
    if (take(s, "?")) {
        return skip_past(s, "?>") ? NULL : "an instruction does not end";
    }
    if (take(s, "!--")) {
        return skip_past(s, "-->") ? NULL : "a comment does not end";
    }
    if (take(s, "!DOCTYPE")) {
        for (; s->at < s->end && *s->at != '>'; step(s)) {
            if (*s->at == '[') {
                return "the document brings definitions of its own";
            }
        }
        return take(s, ">") ? NULL : "the document type does not end";
    }
    return take(s, "/") ? tag_end(s) : tag_begin(s);
}

const char *
xml_check(const char *text, size_t length, const xml_reader *reader, unsigned *line)
{
    scan s = {.at = text, .end = text + length, .line = 1, .reader = reader};
    const char *wrong = memchr(text, '\0', length) ? "there is a NUL" : NULL;
    while (!wrong && s.at < s.end) {
        if (take(&s, "<")) {
            wrong = markup(&s);
        } else if (s.depth == 0 && !is_space(*s.at)) {
            wrong = "text stands outside of the document";
        } else {
            step(&s);
        }
    }
    *line = s.line;
    if (!wrong && s.depth > 0) {
        wrong = "the file ends before the document does";
    }
    return wrong || s.root_seen ? wrong : "there is nothing";
}
