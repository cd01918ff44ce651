/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A recording as a picture: time runs to the right, each node is a row, in which stands what it was
 * at - the innermost of the spans that lie there - and above that what the program calls it;
 * between rows messages are arrows.
 *
 * A row is painted by columns of the picture: what was there for most of a column's time gives its
 * colour, so that a million spans make no larger a picture than ten do. A label stands in a span
 * that has room for it. Of many messages some are drawn, evenly, and the legend says how many.
 *
 * Nodes of one name share a row: who died and came back goes on where it was.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/medley/output_file.h"
#include "tools/medley/svg.h"
#include "tools/medley/trace_write.h"

#define COLUMNS 1200u
#define LEFT 190.0 /* of the picture, for the names */
#define RIGHT 30.0 /* beside the last column */
#define TOP 70.0
#define ROW 46.0    /* from one row to the next */
#define STRIP 14.0  /* of that, for what the program named; */
#define BAR 20.0    /* and for what it was at */
#define LEGEND 26.0 /* its lines */
#define ARROWS_MOST 300u
#define BESIDE 9.0       /* a cross, its label */
#define LABEL_LEAST 24.0 /* in less room none is drawn */
#define NONE 0xffu
#define ALIVE (TIMELINE_KIND_COUNT + 0u)

/* Of Okabe and Ito, which most eyes tell apart. */
static const char *const colours[TIMELINE_KIND_COUNT + 1] = {
    [TIMELINE_NAMED] = "#56b4e9", [TIMELINE_REGION] = "#009e73", [TIMELINE_TASK] = "#8fd4bc",
    [TIMELINE_TEAM] = "#f0e442",  [TIMELINE_LOCK] = "#d55e00",   [TIMELINE_EXCHANGE] = "#f6c66b",
    [ALIVE] = "#dddddd",
};
#define DIED "#cc0000"
#define ARROW "#444444"

/* A death is a cross, all else a line; what the legend calls them. */
static const struct {
    const char *colour;
    const char *name;
} marks[TIMELINE_WOKEN] = {
    [TIMELINE_MARK] = {"#0072b2", "marked by the program"},
    [TIMELINE_DIED] = {DIED, "died"},
    [TIMELINE_OWNER_DIED] = {DIED, "has a dead owner's lock"},
    [TIMELINE_STUCK] = {"#cc79a7", "waits for who does not go on"},
};

typedef struct picture {
    svg svg;
    const timeline *t;
    const char *system_name;
    uint64_t lost; /* events */
    double scale;  /* columns for a nanosecond */
    bool *strips;  /* of rows: the program has named something there */
    bool seen[TIMELINE_KIND_COUNT + 1];
    bool marked[TIMELINE_WOKEN];
} picture;

/* ---- Where ----------------------------------------------------------------------------------- */

static double
x_of(const picture *p, uint64_t ns)
{
    uint64_t since_ns = ns > p->t->begin_ns ? ns - p->t->begin_ns : 0;
    return LEFT + (double)since_ns * p->scale;
}

/* Of the strip; and of the bar beneath it. */
static double
top_of(const picture *p, uint32_t track)
{
    return TOP + ROW * p->t->tracks[track].row;
}

static double
bar_of(const picture *p, uint32_t track)
{
    return top_of(p, track) + STRIP;
}

/* Where what comes from above meets the row. */
static double
edge_of(const picture *p, uint32_t track)
{
    return p->strips[p->t->tracks[track].row] ? top_of(p, track) : bar_of(p, track);
}

static double
bottom_of(const picture *p, uint32_t track)
{
    return bar_of(p, track) + BAR;
}

static bool
strips_find(picture *p)
{
    const timeline *t = p->t;
    p->strips = calloc(t->row_count + 1, sizeof *p->strips);
    for (size_t i = 0; p->strips && i < t->span_count; i++) {
        if (t->spans[i].kind == TIMELINE_NAMED) {
            p->strips[t->tracks[t->spans[i].track].row] = true;
        }
    }
    return p->strips != NULL;
}

/* ---- The bars -------------------------------------------------------------------------------- */

/* For each column how long what was there. Spans come by their ends, so what lies within another
 * one comes first: the later one has what is left of a column. */
typedef struct columns {
    float share[COLUMNS][TIMELINE_KIND_COUNT + 1];
    float left[COLUMNS];
} columns;

static void
column_take(columns *c, unsigned column, unsigned kind, double part)
{
    float taken = (float)part < c->left[column] ? (float)part : c->left[column];
    c->share[column][kind] += taken;
    c->left[column] -= taken;
}

static void
columns_take(const picture *p, columns *c, unsigned kind, uint64_t begin_ns, uint64_t end_ns)
{
    double from = x_of(p, begin_ns) - LEFT;
    double to = x_of(p, end_ns) - LEFT;
    for (unsigned column = (unsigned)from; column < COLUMNS && column < to; column++) {
        double first = from > column ? from : column;
        double behind = to < column + 1.0 ? to : column + 1.0;
        column_take(c, column, kind, behind - first);
    }
}

static unsigned
most_of(const columns *c, unsigned column)
{
    unsigned most = NONE;
    float share = 0;
    for (unsigned kind = 0; kind <= ALIVE; kind++) {
        if (c->share[column][kind] > share) {
            share = c->share[column][kind];
            most = kind;
        }
    }
    return most;
}

static void
run_draw(picture *p, uint32_t track, unsigned first, unsigned behind, unsigned kind)
{
    bool is_named = kind == TIMELINE_NAMED;
    const svg_box box = {LEFT + first, is_named ? top_of(p, track) : bar_of(p, track),
                         behind - first, is_named ? STRIP - 1 : BAR};
    p->seen[kind] = true;
    svg_rect(&p->svg, box, &(svg_paint){.fill = colours[kind]});
}

static void
columns_draw(picture *p, const columns *c, uint32_t track)
{
    unsigned first = 0;
    for (unsigned column = 1; column <= COLUMNS; column++) {
        unsigned kind = most_of(c, first);
        if (column < COLUMNS && most_of(c, column) == kind) {
            continue;
        }
        if (kind != NONE) {
            run_draw(p, track, first, column, kind);
        }
        first = column;
    }
}

static void
columns_clear(columns *c)
{
    memset(c, 0, sizeof *c);
    for (unsigned column = 0; column < COLUMNS; column++) {
        c->left[column] = 1;
    }
}

/* What the program named, or all else. */
static void
spans_take(const picture *p, columns *c, uint32_t track, bool named)
{
    const timeline *t = p->t;
    columns_clear(c);
    for (size_t i = 0; i < t->span_count; i++) {
        const timeline_span *span = &t->spans[i];
        if (span->track == track && (span->kind == TIMELINE_NAMED) == named) {
            columns_take(p, c, span->kind, span->begin_ns, span->end_ns);
        }
    }
}

static bool
track_draw(picture *p, uint32_t track)
{
    const timeline_track *of = &p->t->tracks[track];
    columns *c = malloc(sizeof *c);
    if (!c) {
        return false;
    }
    svg_group_begin(&p->svg, "node", NULL);
    spans_take(p, c, track, true);
    columns_draw(p, c, track);
    spans_take(p, c, track, false);
    columns_take(p, c, ALIVE, of->begin_ns, of->end_ns);
    columns_draw(p, c, track);
    svg_group_end(&p->svg);
    free(c);
    return true;
}

/* ---- Labels ---------------------------------------------------------------------------------- */

/* What says more than the colour does. */
static bool
has_label(const timeline_span *span)
{
    return span->kind == TIMELINE_NAMED || span->kind == TIMELINE_REGION ||
           span->kind == TIMELINE_TASK;
}

/* `drawn_to`: how far those of its line go to the right already. */
static void
label_draw(picture *p, const timeline_span *span, double *drawn_to)
{
    static const svg_font font = {.size = 11, .anchor = SVG_START};
    bool is_named = span->kind == TIMELINE_NAMED;
    double from = x_of(p, span->begin_ns) + 3;
    double width = x_of(p, span->end_ns) - from - 3;
    double y = is_named ? top_of(p, span->track) + STRIP - 4 : bottom_of(p, span->track) - 6;
    char text[PLACES_TEXT_BYTES];
    (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(span->label, "+"), span->label);
    if (from < *drawn_to || width < LABEL_LEAST) {
        return;
    }
    size_t whole = strlen(text);
    svg_text_cut(text, &font, width);
    bool is_most = strlen(text) == whole || 3 * strlen(text) >= 2 * whole + 6; /* of ".." two */
    if (text[0] && is_most) {
        svg_text(&p->svg, (svg_point){from, y}, &font, "%s", text);
        *drawn_to = from + svg_text_width(text, &font) + 4;
    }
}

/* Outer ones have theirs where no inner one was drawn before, which comes first. */
static void
labels_draw(picture *p)
{
    const timeline *t = p->t;
    for (uint32_t track = 0; track < t->track_count; track++) {
        double drawn_to[2] = {0, 0};
        for (size_t i = 0; i < t->span_count; i++) {
            const timeline_span *span = &t->spans[i];
            if (span->track == track && has_label(span)) {
                label_draw(p, span, &drawn_to[span->kind == TIMELINE_NAMED]);
            }
        }
    }
}

/* ---- Messages and marks ---------------------------------------------------------------------- */

static void
head_draw(picture *p, svg_point at, bool downwards)
{
    double back = downwards ? -6 : 6;
    const svg_point head[] = {at, {at.x - 3, at.y + back}, {at.x + 3, at.y + back}};
    svg_polygon(&p->svg, head, 3, &(svg_paint){.fill = ARROW});
}

static void
message_draw(picture *p, const timeline_message *message)
{
    bool downwards = p->t->tracks[message->to].row > p->t->tracks[message->from].row;
    const svg_point from = {x_of(p, message->sent_ns),
                            downwards ? bottom_of(p, message->from) : edge_of(p, message->from)};
    const svg_point to = {x_of(p, message->received_ns),
                          downwards ? edge_of(p, message->to) : bottom_of(p, message->to)};
    svg_line(&p->svg, from, to, &(svg_paint){.stroke = ARROW, .stroke_width = 0.7});
    head_draw(p, to, downwards);
}

static bool
crosses_rows(const picture *p, const timeline_message *message)
{
    return p->t->tracks[message->from].row != p->t->tracks[message->to].row;
}

/* How many there are, and how many of those were drawn. */
static void
messages_draw(picture *p, size_t *all, size_t *drawn)
{
    const timeline *t = p->t;
    *all = *drawn = 0;
    for (size_t i = 0; i < t->message_count; i++) {
        *all += crosses_rows(p, &t->messages[i]);
    }
    size_t every = *all / ARROWS_MOST + 1;
    svg_group_begin(&p->svg, "messages", NULL);
    for (size_t i = 0, number = 0; i < t->message_count; i++) {
        if (crosses_rows(p, &t->messages[i]) && number++ % every == 0) {
            message_draw(p, &t->messages[i]);
            (*drawn)++;
        }
    }
    svg_group_end(&p->svg);
}

static void
sign_draw(picture *p, timeline_mark_kind kind, svg_box box)
{
    const svg_paint paint = {.stroke = marks[kind].colour, .stroke_width = 2.5};
    double right = box.x + box.width, bottom = box.y + box.height, middle = box.x + box.width / 2;
    if (kind == TIMELINE_DIED) {
        svg_line(&p->svg, (svg_point){box.x, box.y}, (svg_point){right, bottom}, &paint);
        svg_line(&p->svg, (svg_point){box.x, bottom}, (svg_point){right, box.y}, &paint);
    } else {
        svg_line(&p->svg, (svg_point){middle, box.y}, (svg_point){middle, bottom}, &paint);
    }
}

/* To the right of its cross, or to the left, where the time ends there. */
static void
death_label_draw(picture *p, const char *label, svg_point at)
{
    svg_font font = {.size = 11, .anchor = SVG_START, .bold = true, .colour = DIED};
    bool fits = at.x + BESIDE + svg_text_width(label, &font) <= LEFT + COLUMNS;
    font.anchor = fits ? SVG_START : SVG_END;
    at.x += fits ? BESIDE : -BESIDE;
    svg_text(&p->svg, at, &font, "%s", label);
}

static void
mark_draw(picture *p, const timeline_mark *mark)
{
    double x = x_of(p, mark->time_ns);
    double y = bar_of(p, mark->track);
    p->marked[mark->kind] = true;
    svg_group_begin(&p->svg, "mark", mark->label);
    if (mark->kind == TIMELINE_DIED) {
        sign_draw(p, mark->kind, (svg_box){x - 6, y + 3, 12, BAR - 6});
        death_label_draw(p, mark->label, (svg_point){x, y + BAR + 9});
    } else {
        sign_draw(p, mark->kind, (svg_box){x, y - 4, 0, BAR + 4});
    }
    svg_group_end(&p->svg);
}

/* ---- Around it ------------------------------------------------------------------------------- */

/* 1, 2 or 5 of a power of ten: at most ten of them. */
static uint64_t
tick_ns(uint64_t length_ns)
{
    uint64_t tick = 1;
    for (unsigned i = 0; length_ns / tick >= 10; i++) {
        tick = i % 3 == 1 ? tick / 2 * 5 : tick * 2;
    }
    return tick;
}

static void
time_text(char *text, size_t size, uint64_t ns, uint64_t tick)
{
    static const struct {
        uint64_t ns;
        const char *unit;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "µs"}, {1, "ns"}};
    unsigned i = 0;
    while (units[i].ns > tick && i < 3) {
        i++;
    }
    (void)snprintf(text, size, "%" PRIu64 " %s", ns / units[i].ns, units[i].unit);
}

static void
axis_draw(picture *p)
{
    static const svg_font font = {.size = 11, .anchor = SVG_MIDDLE, .colour = "#555555"};
    uint64_t length_ns = p->t->end_ns - p->t->begin_ns;
    uint64_t tick = tick_ns(length_ns ? length_ns : 1);
    double bottom = TOP + ROW * p->t->row_count;
    svg_group_begin(&p->svg, "time", NULL);
    for (uint64_t at = 0; at <= length_ns; at += tick) {
        char text[32];
        double x = x_of(p, p->t->begin_ns + at);
        time_text(text, sizeof text, at, tick);
        svg_line(&p->svg, (svg_point){x, TOP - 8}, (svg_point){x, bottom},
                 &(svg_paint){.stroke = "#dddddd"});
        svg_text(&p->svg, (svg_point){x, TOP - 14}, &font, "%s", text);
    }
    svg_group_end(&p->svg);
}

/* Of a program's name as much as there is room for beside its node's number. */
static void
name_make(const recording_node *node, const svg_font *font, double width, char *text, size_t size)
{
    char program[RECORDING_PROGRAM_BYTES], name[MED_NODE_NAME_BYTES + 64];
    timeline_node_text(node, name, sizeof name);
    svg_text_cut(name, font, width);
    (void)snprintf(program, sizeof program, "%s", node->program);
    svg_text_cut(program, font, width - svg_text_width(" ", font) - svg_text_width(name, font));
    (void)snprintf(text, size, "%s%s%s", program, *program ? " " : "", name);
}

static void
names_draw(picture *p)
{
    static const svg_font font = {.size = 12, .anchor = SVG_END};
    for (uint32_t track = 0; track < p->t->track_count; track++) {
        char text[RECORDING_PROGRAM_BYTES + MED_NODE_NAME_BYTES + 66];
        if (track > 0 && p->t->tracks[track].row == p->t->tracks[track - 1].row) {
            continue;
        }
        name_make(p->t->tracks[track].of, &font, LEFT - 16, text, sizeof text);
        svg_text(&p->svg, (svg_point){LEFT - 8, bar_of(p, track) + BAR - 6}, &font, "%s", text);
    }
}

/* ---- The legend ------------------------------------------------------------------------------ */

static const svg_font legend_font = {.size = 12, .anchor = SVG_START};

/* What is explained: the box of its sign. `at` goes on to the next, on a new line where the one is
 * full. */
static svg_box
legend_put(picture *p, svg_point *at, const char *name)
{
    double width = 20 + svg_text_width(name, &legend_font);
    if (at->x + width > LEFT + COLUMNS + RIGHT) {
        *at = (svg_point){LEFT, at->y + LEGEND};
    }
    const svg_box box = {at->x, at->y, 14, 14};
    svg_text(&p->svg, (svg_point){at->x + 20, at->y + 12}, &legend_font, "%s", name);
    at->x += width + 26;
    return box;
}

/* Only what is to be seen. */
static void
legend_draw(picture *p, size_t messages, size_t drawn)
{
    svg_point at = {LEFT, TOP + ROW * p->t->row_count + 18};
    for (unsigned kind = 0; kind <= ALIVE; kind++) {
        const char *name = kind == ALIVE ? "runs, or is not told of" : timeline_kind_names[kind];
        if (p->seen[kind]) {
            svg_rect(&p->svg, legend_put(p, &at, name), &(svg_paint){.fill = colours[kind]});
        }
    }
    for (unsigned kind = 0; kind < TIMELINE_WOKEN; kind++) {
        if (p->marked[kind]) {
            sign_draw(p, (timeline_mark_kind)kind, legend_put(p, &at, marks[kind].name));
        }
    }
    svg_text(&p->svg, (svg_point){LEFT, at.y + 12 + LEGEND}, &legend_font,
             "%zu messages between nodes, %zu of them drawn as arrows%s", messages, drawn,
             p->lost ? "; some events were lost" : "");
}

static void
title_draw(picture *p)
{
    static const svg_font font = {.size = 16, .anchor = SVG_START, .bold = true};
    double length_ms = (double)(p->t->end_ns - p->t->begin_ns) / 1e6;
    svg_text(&p->svg, (svg_point){LEFT, 26}, &font, "system %s: %.4g ms", p->system_name,
             length_ms);
}

/* ---- The picture ----------------------------------------------------------------------------- */

static bool
all_draw(picture *p)
{
    const timeline *t = p->t;
    size_t messages, drawn;
    bool has_memory = true;
    title_draw(p);
    axis_draw(p);
    names_draw(p);
    for (uint32_t track = 0; track < t->track_count && has_memory; track++) {
        has_memory = track_draw(p, track);
    }
    labels_draw(p);
    messages_draw(p, &messages, &drawn);
    for (size_t i = 0; i < t->mark_count; i++) {
        if (t->marks[i].kind != TIMELINE_WOKEN) { /* its wait ends there, as one sees */
            mark_draw(p, &t->marks[i]);
        }
    }
    legend_draw(p, messages, drawn);
    return has_memory;
}

static bool
picture_write(FILE *file, void *context)
{
    picture *p = context;
    double height = TOP + ROW * p->t->row_count + 3 * LEGEND + 30;
    svg_begin(&p->svg, file, LEFT + COLUMNS + RIGHT, height, "timeline");
    bool drawn = all_draw(p);
    return svg_end(&p->svg) && drawn;
}

bool
trace_svg_write(const char *path, const char *system_name, const timeline *t, uint64_t lost)
{
    uint64_t length_ns = t->end_ns - t->begin_ns;
    picture p = {.t = t,
                 .system_name = system_name,
                 .lost = lost,
                 .scale = (double)COLUMNS / (double)(length_ns ? length_ns : 1)};
    bool written = strips_find(&p) && output_file_write(path, picture_write, &p);
    free(p.strips);
    return written;
}
