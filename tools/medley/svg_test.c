/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Pictures, letter by letter; what names may do to them; how long texts are. */
#include "tools/medley/svg.h"

#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

static char *picture;
static size_t picture_size;

/* A picture in memory: begun, and ended. */
static svg
begun(void)
{
    svg s;
    svg_begin(&s, open_memstream(&picture, &picture_size), 300, 200.5, "<a> & \"b\"");
    return s;
}

static void
ended(svg *s)
{
    assert_true(svg_end(s));
    (void)fclose(s->file);
}

static void
holds(const char *line)
{
    if (!strstr(picture, line)) {
        fail_msg("no line\n%s\nin\n%s", line, picture);
    }
}

static void
elements_are_as_svg_has_them(void **state)
{
    static const svg_paint whole = {
        .fill = "#eee", .stroke = "black", .stroke_width = 1.5, .dashes = "4 2", .round = 3};
    static const svg_paint plain = {.stroke = "red"};
    static const svg_point triangle[] = {{0, 0}, {10, 0}, {5, 7.25}};
    svg s = begun();
    (void)state;
    svg_group_begin(&s, "outer", "a tip");
    svg_rect(&s, (svg_box){1, 2, 30, 40.126}, &whole);
    svg_line(&s, (svg_point){-0.001, 0}, (svg_point){100, 50}, &plain);
    svg_group_end(&s);
    svg_polygon(&s, triangle, 3, &plain);
    svg_text(&s, (svg_point){5, 6}, &(svg_font){.size = 12}, "%d of %s", 7, "nine");
    svg_text(&s, (svg_point){5, 6},
             &(svg_font){.size = 9, .anchor = SVG_END, .bold = true, .colour = "navy"}, "x");
    ended(&s);
    assert_memory_equal(picture, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg ", 44);
    holds(" width=\"300\" height=\"200.5\" viewBox=\"0 0 300 200.5\" font-family=\"sans-serif\">\n"
          "  <title>&lt;a&gt; &amp; &quot;b&quot;</title>\n"
          "  <rect x=\"0\" y=\"0\" width=\"300\" height=\"200.5\" fill=\"white\"/>\n"
          "  <g class=\"outer\">\n"
          "    <title>a tip</title>\n"
          "    <rect x=\"1\" y=\"2\" width=\"30\" height=\"40.13\" rx=\"3\" fill=\"#eee\" "
          "stroke=\"black\" stroke-width=\"1.5\" stroke-dasharray=\"4 2\"/>\n"
          "    <line x1=\"0\" y1=\"0\" x2=\"100\" y2=\"50\" fill=\"none\" stroke=\"red\"/>\n"
          "  </g>\n"
          "  <polygon points=\"0,0 10,0 5,7.25\" fill=\"none\" stroke=\"red\"/>\n"
          "  <text x=\"5\" y=\"6\" font-size=\"12\">7 of nine</text>\n"
          "  <text x=\"5\" y=\"6\" font-size=\"9\" text-anchor=\"end\" font-weight=\"bold\" "
          "fill=\"navy\">x</text>\n"
          "</svg>\n");
    free(picture);
}

/* What is no letter of XML is none of the picture, whoever wrote it. */
static void
names_cannot_break_it(void **state)
{
    static const struct {
        const char *name;
        const char *written;
    } names[] = {
        {"a<b>&\"c\"", "a&lt;b&gt;&amp;&quot;c&quot;"},
        {"\x01\x1f\x7f|\n|\t", "???|?|?"},
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
         "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\xff\x80", "??"},           /* begins nothing */
        {"\xc3", "?"},                /* goes on nowhere */
        {"\xc0\xaf", "??"},           /* longer than it must be */
        {"\xe0\x80\xaf", "???"},      /* likewise */
        {"\xed\xa0\x80", "???"},      /* half of a pair */
        {"\xef\xbf\xbf", "???"},      /* no character */
        {"\xf4\x90\x80\x80", "????"}, /* beyond the last */
        {"\xc2\x9b"
         "31m",
         "??31m"}, /* a control character of terminals */
        {"%s%n", "%s%n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        svg s = begun();
        svg_text(&s, (svg_point){0, 9}, &(svg_font){.size = 9}, "%s", names[i].name);
        ended(&s);
        char element[64];
        (void)snprintf(element, sizeof element, "\">%s</text>", names[i].written);
        holds(element);
        free(picture);
    }
}

static void
texts_have_a_width(void **state)
{
    static const svg_font font = {.size = 10}, bold = {.size = 10, .bold = true};
    (void)state;
    assert_true(svg_text_width("", &font) == 0);
    assert_true(svg_text_width("0", &font) > 6 && svg_text_width("0", &font) < 7);
    assert_true(svg_text_width("WW", &font) > 4 * svg_text_width("i", &font));
    assert_true(svg_text_width("\xe2\x82\xac", &font) == 10);
    assert_true(svg_text_width("core", &bold) > svg_text_width("core", &font));
}

static void
long_texts_are_cut(void **state)
{
    static const svg_font font = {.size = 10};
    static const char whole[] = "a n\xc3\xb6"
                                "de's name";
    bool cut_before = false;
    (void)state;
    for (double width = svg_text_width(whole, &font); width >= 0; width -= 0.5) {
        char text[sizeof whole];
        memcpy(text, whole, sizeof whole);
        svg_text_cut(text, &font, width);
        size_t length = strlen(text);
        bool cut = strcmp(text, whole) != 0;
        assert_true(svg_text_width(text, &font) <= width);
        assert_true(cut || !cut_before);
        if (cut && length > 0) {
            assert_string_equal(text + length - 2, "..");
            assert_memory_equal(text, whole, length - 2);
            assert_true((whole[length - 2] & 0xC0) != 0x80); /* no half letters */
        }
        cut_before = cut;
    }
    assert_true(cut_before);
    char one[] = "W";
    svg_text_cut(one, &font, 9);
    assert_string_equal(one, "");
}

/* A full disk, say. */
static void
errors_are_told_at_the_end(void **state)
{
    FILE *full = fopen("/dev/full", "w");
    svg s;
    (void)state;
    assert_non_null(full);
    svg_begin(&s, full, 10, 10, "full");
    for (int i = 0; i < 10000; i++) {
        svg_rect(&s, (svg_box){1, 1, 1, 1}, &(svg_paint){.fill = "black"});
    }
    assert_false(svg_end(&s));
    (void)fclose(full);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_as_svg_has_them), cmocka_unit_test(names_cannot_break_it),
        cmocka_unit_test(texts_have_a_width),           cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(errors_are_told_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
