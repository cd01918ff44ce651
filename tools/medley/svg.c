/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Each element is one line. Errors of the stream stay in it until the end, so that nobody needs to
 * look before.
 *
 * Widths of letters are those of DejaVu Sans, Debian's usual one, which is wider than Arial,
 * Helvetica, Liberation or Noto: what fits by them fits in those too.
 */
#include "tools/medley/svg.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#define TEXT_BYTES 1024u
#define NUMBER_BYTES 32u
#define BOLD_WIDER 1.15

/* ---- Text ------------------------------------------------------------------------------------ */

/* How many bytes the character has that begins here; 0: it is none that XML allows. */
static size_t
character_bytes(const unsigned char *at)
{
    size_t bytes = *at < 0x80 ? 1 : *at < 0xC2 ? 0 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
    unsigned long code = bytes < 2 ? *at : *at & (0x7Fu >> bytes);
    if (*at > 0xF4) {
        return 0;
    }
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return 0;
        }
        code = code << 6 | (at[i] & 0x3F);
    }
    bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
    bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    bool control = code < ' ' || (code >= 0x7F && code < 0xA0) || code == 0xFFFE || code == 0xFFFF;
    return overlong || surrogate || control || code > 0x10FFFF ? 0 : bytes;
}

static void
escaped_write(svg *s, const char *text)
{
    while (*text) {
        size_t bytes = character_bytes((const unsigned char *)text);
        switch (*text) {
        case '&':
            (void)fputs("&amp;", s->file);
            break;
        case '<':
            (void)fputs("&lt;", s->file);
            break;
        case '>':
            (void)fputs("&gt;", s->file);
            break;
        case '"':
            (void)fputs("&quot;", s->file);
            break;
        default:
            (void)fprintf(s->file, "%.*s", bytes ? (int)bytes : 1, bytes ? text : "?");
        }
        text += bytes ? bytes : 1;
    }
}

/* In hundredths of the font's size. */
static unsigned
letter_width(unsigned char letter)
{
    static const unsigned char widths[] = {
        32, 41, 46, 84, 64, 95, 78, 28, 39, 39, 50, 84, 32, 37,  32, 34, 64, 64, 64,
        64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 77, 64,
        58, 78, 76, 30, 30, 66, 56, 87, 75, 79, 61, 79, 70, 64,  62, 74, 69, 99, 69,
        62, 69, 39, 34, 39, 84, 50, 50, 62, 64, 55, 64, 62, 36,  64, 64, 28, 28, 58,
        28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60,  53, 64, 34, 64, 84,
    };
    return letter >= ' ' && letter <= '~' ? widths[letter - ' '] : 100;
}

/* Of the first bytes of a text. */
static double
width_of(const char *text, size_t bytes, const svg_font *font)
{
    unsigned hundredths = 0;
    for (size_t at = 0; at < bytes;) {
        size_t step = character_bytes((const unsigned char *)text + at);
        hundredths += letter_width((unsigned char)text[at]);
        at += step ? step : 1;
    }
    return hundredths * font->size / 100 * (font->bold ? BOLD_WIDER : 1);
}

double
svg_text_width(const char *text, const svg_font *font)
{
    return width_of(text, strlen(text), font);
}

void
svg_text_cut(char *text, const svg_font *font, double width)
{
    static const char end[] = "..";
    const size_t end_bytes = sizeof end - 1;
    size_t length = strlen(text);
    size_t keep = 0;
    if (svg_text_width(text, font) <= width) {
        return;
    }
    width -= svg_text_width(end, font);
    if (width < 0 || length < end_bytes) {
        *text = '\0';
        return;
    }
    for (size_t at = 0; at + end_bytes <= length && width_of(text, at, font) <= width;) {
        size_t step = character_bytes((const unsigned char *)text + at);
        keep = at;
        at += step ? step : 1;
    }
    memcpy(text + keep, end, sizeof end);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

/* To a hundredth of a pixel, without needless zeros. Nothing may be endless: it would be no SVG. */
static void
number_write(svg *s, const char *name, double value)
{
    char digits[NUMBER_BYTES];
    assert(value > -1e12 && value < 1e12);
    int length = snprintf(digits, sizeof digits, "%.2f", value);
    while (digits[length - 1] == '0') {
        length--;
    }
    length -= digits[length - 1] == '.';
    bool nothing = length == 2 && digits[0] == '-' && digits[1] == '0';
    (void)fprintf(s->file, "%s%.*s", name, length - nothing, digits + nothing);
}

static void
attribute_write(svg *s, const char *name, double value)
{
    (void)fprintf(s->file, " %s=\"", name);
    number_write(s, "", value);
    (void)fputc('"', s->file);
}

static void
word_write(svg *s, const char *name, const char *word)
{
    (void)fprintf(s->file, " %s=\"", name);
    escaped_write(s, word);
    (void)fputc('"', s->file);
}

/* And the end of the element. */
static void
paint_write(svg *s, const svg_paint *paint)
{
    word_write(s, "fill", paint->fill ? paint->fill : "none");
    if (paint->stroke) {
        word_write(s, "stroke", paint->stroke);
    }
    if (paint->stroke && paint->stroke_width > 0) {
        attribute_write(s, "stroke-width", paint->stroke_width);
    }
    if (paint->dashes) {
        word_write(s, "stroke-dasharray", paint->dashes);
    }
    (void)fputs("/>\n", s->file);
}

static void
element_begin(svg *s, const char *element)
{
    (void)fprintf(s->file, "%*s<%s", (int)(2 * s->depth), "", element);
}

/* ---- Elements -------------------------------------------------------------------------------- */

static void
title_write(svg *s, const char *title)
{
    element_begin(s, "title");
    (void)fputc('>', s->file);
    escaped_write(s, title);
    (void)fputs("</title>\n", s->file);
}

void
svg_begin(svg *s, FILE *file, double width, double height, const char *title)
{
    static const svg_paint paper = {.fill = "white"};
    *s = (svg){.file = file};
    (void)fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\"",
                file);
    attribute_write(s, "width", width);
    attribute_write(s, "height", height);
    number_write(s, " viewBox=\"0 0 ", width);
    number_write(s, " ", height);
    (void)fputs("\" font-family=\"sans-serif\">\n", file);
    s->depth = 1;
    title_write(s, title);
    svg_rect(s, (svg_box){.width = width, .height = height}, &paper);
}

bool
svg_end(svg *s)
{
    assert(s->depth == 1);
    (void)fputs("</svg>\n", s->file);
    return fflush(s->file) == 0 && !ferror(s->file);
}

void
svg_group_begin(svg *s, const char *kind, const char *tip)
{
    element_begin(s, "g");
    word_write(s, "class", kind);
    (void)fputs(">\n", s->file);
    s->depth++;
    if (tip) {
        title_write(s, tip);
    }
}

void
svg_group_end(svg *s)
{
    assert(s->depth > 1);
    s->depth--;
    element_begin(s, "/g>\n");
}

void
svg_rect(svg *s, svg_box box, const svg_paint *paint)
{
    element_begin(s, "rect");
    attribute_write(s, "x", box.x);
    attribute_write(s, "y", box.y);
    attribute_write(s, "width", box.width);
    attribute_write(s, "height", box.height);
    if (paint->round > 0) {
        attribute_write(s, "rx", paint->round);
    }
    paint_write(s, paint);
}

void
svg_line(svg *s, svg_point from, svg_point to, const svg_paint *paint)
{
    element_begin(s, "line");
    attribute_write(s, "x1", from.x);
    attribute_write(s, "y1", from.y);
    attribute_write(s, "x2", to.x);
    attribute_write(s, "y2", to.y);
    paint_write(s, paint);
}

void
svg_polygon(svg *s, const svg_point *points, size_t count, const svg_paint *paint)
{
    element_begin(s, "polygon points=\"");
    for (size_t i = 0; i < count; i++) {
        number_write(s, i ? " " : "", points[i].x);
        number_write(s, ",", points[i].y);
    }
    (void)fputc('"', s->file);
    paint_write(s, paint);
}

void
svg_text(svg *s, svg_point at, const svg_font *font, const char *format, ...)
{
    static const char *const anchors[] = {
        [SVG_START] = "start", [SVG_MIDDLE] = "middle", [SVG_END] = "end"};
    char text[TEXT_BYTES]; /* cut off there: no picture is that wide */
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    element_begin(s, "text");
    attribute_write(s, "x", at.x);
    attribute_write(s, "y", at.y);
    attribute_write(s, "font-size", font->size);
    if (font->anchor != SVG_START) {
        word_write(s, "text-anchor", anchors[font->anchor]);
    }
    if (font->bold) {
        word_write(s, "font-weight", "bold");
    }
    if (font->colour) {
        word_write(s, "fill", font->colour);
    }
    (void)fputc('>', s->file);
    escaped_write(s, text);
    (void)fputs("</text>\n", s->file);
}
