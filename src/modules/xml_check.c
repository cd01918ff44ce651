/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the document says of its encoding, then a pass over all characters, then one over the text,
 * byte by byte, with the names of the open tags on a stack of fixed depth, and those of a tag's
 * attributes on another. Whoever calls is told of each tag as it passes.
 */
#include "modules/xml_check.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "modules/xml_text.h"

typedef struct scan {
    const char *at;
    const char *end;
    unsigned line;
    unsigned depth;
    bool root_seen;
    const xml_reader *reader;
    xml_span open[XML_DEPTH_MAX];
    xml_span given[XML_ATTRIBUTES_MAX]; /* of the tag that is being read */
    unsigned given_count;
    bool marked;            /* as UTF-8, by its first bytes */
    bool utf8;              /* else ISO-8859-1 */
    bool typed;             /* the document says of what type it is */
    bool defined_elsewhere; /* and where that type is defined */
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
           c == '-' || c == '.' || c == ':' || (unsigned char)c >= 0x80;
}

static bool
may_begin_name(char c)
{
    return is_name(c) && !(c >= '0' && c <= '9') && c != '-' && c != '.';
}

static bool
same(xml_span a, xml_span b)
{
    return a.length == b.length && memcmp(a.start, b.start, a.length) == 0;
}

static void
step(scan *s)
{
    s->line += *s->at == '\n';
    s->at++;
}

/* Past them. False: there were none. */
static bool
spaces(scan *s)
{
    const char *start = s->at;
    while (s->at < s->end && is_space(*s->at)) {
        step(s);
    }
    return s->at > start;
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
    while (s->at < s->end && (s->at == start ? may_begin_name(*s->at) : is_name(*s->at))) {
        s->at++;
    }
    return (xml_span){.start = start, .length = (size_t)(s->at - start)};
}

/* Each once. */
static const char *
attribute_name(scan *s, xml_span *its_name)
{
    *its_name = name(s);
    if (its_name->length == 0) {
        return "a tag has something that is no attribute";
    }
    for (unsigned i = 0; i < s->given_count; i++) {
        if (same(s->given[i], *its_name)) {
            return "a tag has an attribute twice";
        }
    }
    if (s->given_count == XML_ATTRIBUTES_MAX) {
        return "a tag has too many attributes";
    }
    s->given[s->given_count++] = *its_name;
    return NULL;
}

/* Past one byte of a value, or of text between tags. */
static const char *
step_text(scan *s)
{
    const char *wrong =
        *s->at == '&' ? xml_reference_check(s->at, (size_t)(s->end - s->at), s->defined_elsewhere)
                      : NULL;
    if (!wrong) {
        step(s);
    }
    return wrong;
}

static const char *
attribute(scan *s)
{
    xml_span its_name;
    const char *wrong = attribute_name(s, &its_name);
    if (wrong) {
        return wrong;
    }
    (void)spaces(s);
    if (!take(s, "=")) {
        return "an attribute has no value";
    }
    (void)spaces(s);
    if (s->at == s->end || (*s->at != '"' && *s->at != '\'')) {
        return "a value is not quoted";
    }
    const char quote = *s->at;
    xml_span value = {.start = ++s->at};
    while (!wrong && s->at < s->end && *s->at != quote) {
        wrong = *s->at == '<' ? "a value is not closed" : step_text(s);
    }
    if (wrong) {
        return wrong;
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
    s->given_count = 0;
    for (;;) {
        bool apart = spaces(s);
        *closed = take(s, "/>");
        if (*closed || take(s, ">")) {
            return NULL;
        }
        const char *wrong = apart ? attribute(s) : "no space before an attribute";
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
    (void)spaces(s);
    if (s->depth == 0 || !same(s->open[s->depth - 1], its_name)) {
        return "a tag is closed that is not the last one opened";
    }
    s->depth--;
    return take(s, ">") ? tag_closed(s) : "a closing tag does not end";
}

/* Behind "<?". One of XML itself would be the declaration. */
static const char *
instruction(scan *s)
{
    xml_span its_name = name(s);
    bool of_xml = its_name.length == 3 && strncasecmp(its_name.start, "xml", 3) == 0;
    if (its_name.length == 0 || of_xml) {
        return "an instruction stands where none of its name may";
    }
    if (take(s, "?>")) {
        return NULL;
    }
    if (!spaces(s)) {
        return "an instruction has no space behind its name";
    }
    return skip_past(s, "?>") ? NULL : "an instruction does not end";
}

static const char *
comment(scan *s)
{
    return skip_past(s, "--") && take(s, ">") ? NULL : "a comment does not end, or has '--' in it";
}

/* Text that is nothing else, whatever it looks like. */
static const char *
literal_text(scan *s)
{
    if (s->depth == 0) {
        return "text stands outside of the document";
    }
    return skip_past(s, "]]>") ? NULL : "text does not end";
}

static bool
quoted(scan *s)
{
    return take(s, "\"") ? skip_past(s, "\"") : take(s, "'") && skip_past(s, "'");
}

/* Where the type is defined, if it says so. */
static bool
definition(scan *s)
{
    bool public = take(s, "PUBLIC");
    s->defined_elsewhere = public || take(s, "SYSTEM");
    if (!s->defined_elsewhere) {
        return true;
    }
    return spaces(s) && quoted(s) && (!public || (spaces(s) && quoted(s)));
}

static const char *
document_type(scan *s)
{
    if (s->root_seen || s->typed) {
        return "a document type does not stand in front of the document";
    }
    s->typed = true;
    (void)spaces(s);
    if (name(s).length == 0 || (spaces(s) && !definition(s))) {
        return "the document type is none";
    }
    (void)spaces(s);
    if (take(s, "[")) {
        return "the document brings definitions of its own";
    }
    return take(s, ">") ? NULL : "the document type does not end";
}

static const char *
markup(scan *s)
{
    if (take(s, "?")) {
        return instruction(s);
    }
    if (take(s, "!--")) {
        return comment(s);
    }
    if (take(s, "![CDATA[")) {
        return literal_text(s);
    }
    if (take(s, "!DOCTYPE")) {
        return document_type(s);
    }
    return take(s, "/") ? tag_end(s) : tag_begin(s);
}

/* Between tags. */
static const char *
content(scan *s)
{
    if (s->depth == 0 && !is_space(*s->at)) {
        return "text stands outside of the document";
    }
    if (take(s, "]]>")) {
        return "']]>' ends nothing";
    }
    return step_text(s);
}

/* ---- What stands before all else ------------------------------------------------------------- */

/* Past that part of the declaration, if it comes now; then `value` is its value, else without a
 * start. False: it has none. */
static bool
declared(scan *s, const char *its_name, xml_span *value)
{
    *value = (xml_span){.start = NULL};
    (void)spaces(s);
    if (!is_space(s->at[-1]) || !take(s, its_name)) {
        return true;
    }
    (void)spaces(s);
    if (!take(s, "=")) {
        return false;
    }
    (void)spaces(s);
    value->start = s->at + 1;
    bool good = quoted(s);
    value->length = good ? (size_t)(s->at - 1 - value->start) : 0;
    return good;
}

static bool
is_text(xml_span span, const char *text)
{
    return same(span, (xml_span){.start = text, .length = strlen(text)});
}

/* As all of XML 1 have it, which may be read as 1.0. */
static bool
is_version(xml_span version)
{
    return version.length > 2 && memcmp(version.start, "1.", 2) == 0 &&
           strspn(version.start + 2, "0123456789") == version.length - 2;
}

/* Behind "<?xml". */
static const char *
declaration(scan *s)
{
    xml_span version, encoding, standalone;
    if (!declared(s, "version", &version) || !version.start || !is_version(version) ||
        !declared(s, "encoding", &encoding) || !declared(s, "standalone", &standalone)) {
        return "the declaration of XML is none";
    }
    if (standalone.start && !is_text(standalone, "yes") && !is_text(standalone, "no")) {
        return "the declaration of XML is none";
    }
    if (encoding.start && !xml_encoding_find(encoding.start, encoding.length, &s->utf8)) {
        return "the encoding is not read here; want UTF-8, US-ASCII or ISO-8859-1";
    }
    if (s->marked && !s->utf8) {
        return "the document begins as UTF-8, and says that it is of another encoding";
    }
    (void)spaces(s);
    return take(s, "?>") ? NULL : "the declaration of XML does not end";
}

static const char *
beginning(scan *s)
{
    static const char word[] = "<?xml";
    const size_t bytes = sizeof word - 1;
    s->marked = take(s, "\xef\xbb\xbf"); /* some programs begin UTF-8 so */
    if ((size_t)(s->end - s->at) > bytes && is_space(s->at[bytes]) && take(s, word)) {
        return declaration(s);
    }
    return NULL;
}

/* Of the whole document. */
static const char *
characters(scan *s, const char *text)
{
    size_t at;
    const char *wrong = xml_characters_check(text, (size_t)(s->end - text), s->utf8, &at);
    if (wrong) {
        s->line = 1;
        for (size_t i = 0; i < at; i++) {
            s->line += text[i] == '\n';
        }
    }
    return wrong;
}

const char *
xml_check(const char *text, size_t length, const xml_reader *reader, unsigned *line)
{
    scan s = {.at = text, .end = text + length, .line = 1, .utf8 = true, .reader = reader};
    const char *wrong = beginning(&s);
    wrong = wrong ? wrong : characters(&s, text);
    while (!wrong && s.at < s.end) {
        wrong = take(&s, "<") ? markup(&s) : content(&s);
    }
    *line = s.line;
    if (!wrong && s.depth > 0) {
        wrong = "the file ends before the document does";
    }
    return wrong || s.root_seen ? wrong : "there is nothing";
}
