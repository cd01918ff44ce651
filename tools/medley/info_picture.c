/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Parts in parts. First each is measured, the inner ones before the outer: as wide as its label and
 * what is in it; what is in it flows in rows, of which there are as many as make it about as wide
 * as a page. Then each gets its place, the outer ones before the inner, and is drawn. So nothing
 * overlaps, whatever it is called.
 *
 *   a frame (machine, package, group, core)    a bar (cache, memory)    a cell (processor)
 *     +- label ------------+                     [label             ]     [7]
 *     | bars of memory     |                      what is behind it
 *     | what is in it      |
 *     +--------------------+
 */
#include "tools/medley/info_picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/medley/output.h"
#include "tools/medley/output_file.h"
#include "tools/medley/svg.h"

#define LABEL_BYTES 128u
#define MARGIN 16.0
#define PADDING 8.0 /* within a frame, and beside a label */
#define GAP 6.0
#define LINE 18.0 /* of text */
#define BAR 20.0
#define CELL 22.0
#define BASELINE 14.0 /* from the top of a bar or a line */
#define PAGE 1.5      /* as wide as this times its height */
#define TITLE_WIDTH 900.0
#define RAGGED 0.6 /* how bad a last row is that is not full: as logarithms of a page's sides */

static const svg_font label_font = {.size = 12, .colour = "#202020"};
static const svg_font cell_font = {.size = 12, .anchor = SVG_MIDDLE, .colour = "#202020"};
static const svg_font barred_font = {.size = 12, .anchor = SVG_MIDDLE, .colour = "#707070"};
static const svg_font title_font = {.size = 18, .bold = true, .colour = "#202020"};

/* Of the classes of cores; those that follow begin again. */
static const svg_paint class_paints[] = {
    {.fill = "#bcdcf0", .stroke = "#2b6f9e", .round = 3},
    {.fill = "#fbd3a4", .stroke = "#b35806", .round = 3},
    {.fill = "#c3e6bd", .stroke = "#2f7d32", .round = 3},
    {.fill = "#ddd2ec", .stroke = "#6a4c93", .round = 3},
    {.fill = "#f7c6c5", .stroke = "#a83232", .round = 3},
    {.fill = "#d6d6d6", .stroke = "#555555", .round = 3},
};
#define CLASS_PAINTS (sizeof class_paints / sizeof class_paints[0])

static const svg_paint barred_paint = {
    .fill = "white", .stroke = "#909090", .dashes = "3 2", .round = 3};

/* How parts of a kind are drawn. Processors, and the cores that they are in, as their class. */
typedef enum shape {
    SHAPE_FRAME,
    SHAPE_BAR,
    SHAPE_CELL,
} shape;

static const struct kind {
    const char *name;
    shape shape;
    svg_paint paint;
} kinds[] = {
    {"machine", SHAPE_FRAME, {.fill = "#fafafa", .stroke = "#606060", .round = 4}},
    {"package", SHAPE_FRAME, {.fill = "#eeeeee", .stroke = "#606060", .round = 4}},
    {"group", SHAPE_FRAME, {.fill = "none", .stroke = "#909090", .dashes = "4 3", .round = 4}},
    {"core", SHAPE_FRAME, {.fill = "white", .stroke = "#606060", .round = 3}},
    {"memory", SHAPE_BAR, {.fill = "#fff0b8", .stroke = "#a08000", .round = 3}},
    {"cache", SHAPE_BAR, {.fill = "#e2e6ea", .stroke = "#808890", .round = 3}},
    {"processor", SHAPE_CELL, {.fill = "white", .stroke = "#606060", .round = 3}},
};

typedef struct part {
    const struct kind *kind;
    char label[LABEL_BYTES];
    size_t class;       /* of a processor, or of the first in a core */
    bool barred;        /* a processor that this process does not get */
    size_t processors;  /* in it */
    struct part *parts; /* in it; memories first, which have a row each */
    size_t count;
    size_t memories;
    double row; /* how long its rows are, at most */
    svg_box box;
} part;

/* ---- What there is --------------------------------------------------------------------------- */

static json_int_t
integer_of(const json_t *row, const char *key)
{
    return json_integer_value(json_object_get(row, key));
}

static const char *
string_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static const struct kind *
kind_of(const json_t *json)
{
    const char *name = string_of(json, "kind");
    size_t i = 0;
    while (i + 1 < sizeof kinds / sizeof kinds[0] && strcmp(kinds[i].name, name) != 0) {
        i++;
    }
    return &kinds[i];
}

/* "L2 1 MiB", "memory 0: 16 GiB, HBM", "core 3", "package 0", "7". */
static void
label_write(part *p, const json_t *json)
{
    const json_t *size = json_object_get(json, "size_bytes");
    const json_t *number = json_object_get(json, "number");
    const char *subtype = string_of(json, "subtype");
    const char *size_text = json_is_integer(size)
                                ? output_size_text((uint64_t)json_integer_value(size))
                                : "size unknown";
    char digits[24] = "";
    if (json_is_integer(number)) {
        (void)snprintf(digits, sizeof digits, "%" JSON_INTEGER_FORMAT, json_integer_value(number));
    }
    const char *kind = p->kind->name;
    if (strcmp(kind, "cache") == 0) {
        (void)snprintf(p->label, LABEL_BYTES, "%.60s %s", string_of(json, "name"), size_text);
    } else if (strcmp(kind, "memory") == 0) {
        (void)snprintf(p->label, LABEL_BYTES, "memory %s: %s%s%.60s", digits, size_text,
                       *subtype ? ", " : "", subtype);
    } else if (p->kind->shape == SHAPE_CELL) {
        (void)snprintf(p->label, LABEL_BYTES, "%s", digits);
    } else {
        (void)snprintf(p->label, LABEL_BYTES, "%s%s%s", kind, *digits ? " " : "", digits);
    }
}

static bool part_make(part *p, const json_t *json);

static void
part_free(part *p)
{
    for (size_t i = 0; i < p->count; i++) {
        part_free(&p->parts[i]);
    }
    free(p->parts);
}

/* False: no memory; what was made is there. */
static bool
parts_make(part *p, const json_t *json)
{
    const json_t *memories = json_object_get(json, "memories");
    const json_t *children = json_object_get(json, "children");
    p->memories = json_array_size(memories);
    size_t count = p->memories + json_array_size(children);
    p->parts = calloc(count + 1, sizeof *p->parts);
    for (size_t i = 0; p->parts && i < count; i++) {
        const json_t *inner = i < p->memories ? json_array_get(memories, i)
                                              : json_array_get(children, i - p->memories);
        p->count++;
        if (!part_make(&p->parts[i], inner)) {
            return false;
        }
    }
    return p->parts != NULL;
}

static bool
part_make(part *p, const json_t *json)
{
    *p = (part){.kind = kind_of(json), .class = (size_t)integer_of(json, "class")};
    p->barred = json_is_false(json_object_get(json, "allowed"));
    label_write(p, json);
    if (!parts_make(p, json)) {
        return false;
    }
    if (p->count > p->memories) {
        p->class = p->parts[p->memories].class;
    }
    p->processors = p->kind->shape == SHAPE_CELL;
    for (size_t i = p->memories; i < p->count; i++) {
        p->processors += p->parts[i].processors;
    }
    return true;
}

/* ---- How large it is ------------------------------------------------------------------------- */

/* Of what is in it, when rows end at `row`. A row has at least one. */
static void
rows_measure(const part *p, double row, double *width, double *height)
{
    double x = 0, y = 0, line = 0;
    *width = 0;
    for (size_t i = 0; i < p->count; i++) {
        const svg_box *box = &p->parts[i].box;
        bool apart = i <= p->memories; /* a row for each memory */
        if (i > 0 && (apart || x + box->width > row)) {
            y += line + GAP;
            x = 0;
            line = 0;
        }
        x += box->width;
        *width = x > *width ? x : *width;
        line = box->height > line ? box->height : line;
        x += GAP;
    }
    *height = y + line;
}

/* The best of as many rows as there may be: so many of the widest beside each other. */
static double
row_choose(const part *p)
{
    double widest = 0, best = 0, best_off = INFINITY;
    for (size_t i = 0; i < p->count; i++) {
        widest = p->parts[i].box.width > widest ? p->parts[i].box.width : widest;
    }
    for (size_t beside = 1; beside <= p->count - p->memories || beside == 1; beside++) {
        double row = (double)beside * (widest + GAP), width, height;
        rows_measure(p, row, &width, &height);
        double off = fabs(log((width + LINE) / (height + LINE) / PAGE));
        /* A last row that is not full is not as good. */
        size_t left = (p->count - p->memories) % beside;
        off += left ? RAGGED : 0;
        if (off < best_off) {
            best_off = off;
            best = row;
        }
    }
    return best;
}

/* Where what is in it begins, from its corner. */
static svg_point
inside(const part *p)
{
    bool frame = p->kind->shape == SHAPE_FRAME;
    return (svg_point){frame ? PADDING : 0, frame ? LINE + 2 : BAR + GAP};
}

/* Those that are alike are of one width, so that they stand in columns. */
static void
widths_even(part *p)
{
    for (size_t i = p->memories; i < p->count; i++) {
        part *one = &p->parts[i];
        for (size_t k = p->memories; k < p->count; k++) {
            const part *other = &p->parts[k];
            if (one->kind == other->kind && one->processors == other->processors &&
                one->box.width < other->box.width) {
                one->box.width = other->box.width;
            }
        }
    }
}

/* A cell is at least that wide. */
static void
measure(part *p, double cell)
{
    double width = 0, height = 0;
    double label = svg_text_width(p->label, &label_font) + 2 * PADDING;
    bool frame = p->kind->shape == SHAPE_FRAME;
    for (size_t i = 0; i < p->count; i++) {
        measure(&p->parts[i], cell);
    }
    widths_even(p);
    label = p->kind->shape == SHAPE_CELL && label < cell ? cell : label;
    if (p->count > 0) {
        p->row = row_choose(p);
        rows_measure(p, p->row, &width, &height);
    }
    width += frame ? 2 * PADDING : 0;
    p->box.width = width > label ? width : label;
    if (frame) {
        p->box.height = inside(p).y + height + PADDING;
    } else {
        double own = p->kind->shape == SHAPE_BAR ? BAR : CELL;
        p->box.height = p->count > 0 ? inside(p).y + height : own;
    }
}

/* Of all numbers of processors, so that all cells are alike. */
static double
widest_cell(const part *p)
{
    double widest =
        p->kind->shape == SHAPE_CELL ? svg_text_width(p->label, &label_font) + 2 * PADDING : 0;
    for (size_t i = 0; i < p->count; i++) {
        double inner = widest_cell(&p->parts[i]);
        widest = inner > widest ? inner : widest;
    }
    return widest;
}

/* ---- Where it is ----------------------------------------------------------------------------- */

/* A row's only one, and a memory, is as wide as what it is in. */
static bool
fills(const part *p, size_t i)
{
    return i < p->memories || (i == p->memories && p->count == p->memories + 1);
}

static void
place(part *p, double x, double y)
{
    svg_point in = inside(p);
    double across = p->box.width - 2 * in.x;
    double at = 0, down = 0, line = 0;
    p->box.x = x;
    p->box.y = y;
    for (size_t i = 0; i < p->count; i++) {
        svg_box *box = &p->parts[i].box;
        if (i > 0 && (i <= p->memories || at + box->width > p->row)) {
            down += line + GAP;
            at = 0;
            line = 0;
        }
        double width = box->width;
        box->width = fills(p, i) ? across : width;
        place(&p->parts[i], x + in.x + at, y + in.y + down);
        at += width + GAP;
        line = box->height > line ? box->height : line;
    }
}

/* ---- Drawing --------------------------------------------------------------------------------- */

static const svg_paint *
paint_of(const part *p)
{
    bool classed = p->kind->shape == SHAPE_CELL || strcmp(p->kind->name, "core") == 0;
    if (p->kind->shape == SHAPE_CELL && p->barred) {
        return &barred_paint;
    }
    return classed ? &class_paints[p->class % CLASS_PAINTS] : &p->kind->paint;
}

static void
cell_draw(svg *s, const part *p)
{
    svg_paint paint = *paint_of(p);
    const svg_box *box = &p->box;
    svg_point middle = {box->x + box->width / 2, box->y + BASELINE + 1};
    char tip[LABEL_BYTES + 64];
    (void)snprintf(tip, sizeof tip, "processor %s, core class %d%s", p->label, (int)p->class,
                   p->barred ? ", not for this process" : "");
    paint.stroke_width = 1.5;
    svg_group_begin(s, p->kind->name, tip);
    svg_rect(s, *box, &paint);
    svg_text(s, middle, p->barred ? &barred_font : &cell_font, "%s", p->label);
    svg_group_end(s);
}

static void
part_draw(svg *s, const part *p)
{
    if (p->kind->shape == SHAPE_CELL) {
        cell_draw(s, p);
        return;
    }
    svg_box box = p->box;
    box.height = p->kind->shape == SHAPE_BAR ? BAR : box.height;
    svg_group_begin(s, p->kind->name, NULL);
    svg_rect(s, box, paint_of(p));
    svg_text(s, (svg_point){box.x + PADDING, box.y + BASELINE}, &label_font, "%s", p->label);
    for (size_t i = 0; i < p->count; i++) {
        part_draw(s, &p->parts[i]);
    }
    svg_group_end(s);
}

/* ---- The legend ------------------------------------------------------------------------------ */

typedef struct legend {
    struct {
        svg_paint paint;
        char text[LABEL_BYTES];
    } rows[CLASS_PAINTS + 4];
    size_t count;
} legend;

static void
legend_add(legend *l, const svg_paint *paint, const char *text)
{
    if (l->count < sizeof l->rows / sizeof l->rows[0]) {
        l->rows[l->count].paint = *paint;
        (void)snprintf(l->rows[l->count].text, LABEL_BYTES, "%s", text);
        l->count++;
    }
}

/* "core class 1: 4 processors, big, capacity 1024, at most 3000 MHz" */
static void
class_add(legend *l, size_t which, const json_t *row, size_t classes)
{
    char text[LABEL_BYTES];
    const json_t *capacity = json_object_get(row, "capacity");
    const json_t *frequency = json_object_get(row, "frequency_max_mhz");
    const char *type = string_of(row, "core_type");
    char name[32] = "cores";
    if (classes > 1) {
        (void)snprintf(name, sizeof name, "core class %d", (int)which);
    }
    int length = snprintf(text, sizeof text, "%s: %s%s%.30s", name,
                          output_count_text((uint64_t)integer_of(row, "count"), "processors"),
                          *type ? ", " : "", type);
    if (json_is_integer(capacity)) {
        length += snprintf(text + length, sizeof text - (size_t)length,
                           ", capacity %" JSON_INTEGER_FORMAT, json_integer_value(capacity));
    }
    if (json_is_integer(frequency)) {
        (void)snprintf(text + length, sizeof text - (size_t)length,
                       ", at most %" JSON_INTEGER_FORMAT " MHz", json_integer_value(frequency));
    }
    legend_add(l, &class_paints[which % CLASS_PAINTS], text);
}

static bool
has_barred(const part *p)
{
    bool found = p->barred;
    for (size_t i = 0; i < p->count && !found; i++) {
        found = has_barred(&p->parts[i]);
    }
    return found;
}

static bool
has_kind(const part *p, const char *name)
{
    bool found = strcmp(p->kind->name, name) == 0;
    for (size_t i = 0; i < p->count && !found; i++) {
        found = has_kind(&p->parts[i], name);
    }
    return found;
}

static void
legend_make(legend *l, const json_t *domain, const part *machine)
{
    const json_t *classes = json_object_get(domain, "core_classes");
    size_t shown = json_array_size(classes);
    for (size_t i = 0; i < shown && i < CLASS_PAINTS; i++) {
        class_add(l, i, json_array_get(classes, i), shown);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].shape == SHAPE_BAR && has_kind(machine, kinds[i].name)) {
            bool cache = strcmp(kinds[i].name, "cache") == 0;
            legend_add(l, &kinds[i].paint,
                       cache ? "cache, for what is below it" : "memory, by its number");
        }
    }
    if (has_barred(machine)) {
        legend_add(l, &barred_paint, "processor that is not for this process");
    }
}

static double
legend_width(const legend *l)
{
    double width = 0;
    for (size_t i = 0; i < l->count; i++) {
        double text = svg_text_width(l->rows[i].text, &label_font);
        width = text > width ? text : width;
    }
    return width + BAR + GAP;
}

static void
legend_draw(svg *s, const legend *l, double y)
{
    svg_group_begin(s, "legend", NULL);
    for (size_t i = 0; i < l->count; i++, y += BAR) {
        svg_rect(s, (svg_box){MARGIN, y, LINE - 4, LINE - 4}, &l->rows[i].paint);
        svg_text(s, (svg_point){MARGIN + BAR + GAP, y + BASELINE - 3}, &label_font, "%s",
                 l->rows[i].text);
    }
    svg_group_end(s);
}

/* ---- The picture ----------------------------------------------------------------------------- */

typedef struct picture {
    part machine;
    legend legend;
    char title[2 * LABEL_BYTES];
    char below[2 * LABEL_BYTES];
} picture;

static void
titles_make(picture *p, const json_t *document)
{
    const json_t *machine = json_object_get(document, "machine");
    const char *model = string_of(machine, "model");
    (void)snprintf(p->title, sizeof p->title, "%s", *model ? model : "A machine");
    (void)snprintf(p->below, sizeof p->below, "%.160s, seen by medley %.40s",
                   string_of(machine, "source"), string_of(document, "version"));
    svg_text_cut(p->title, &title_font, TITLE_WIDTH);
    svg_text_cut(p->below, &label_font, TITLE_WIDTH);
}

/* The machine is one domain: what is known of that stands at its head. */
static void
head_make(part *machine, const json_t *domain)
{
    const char *isa = string_of(domain, "instruction_set");
    bool known = strcmp(isa, "unknown") != 0;
    (void)snprintf(machine->label, LABEL_BYTES, "domain %d: %.30s%s%s, %s, %s",
                   (int)integer_of(domain, "domain"), known ? isa : "", known ? ", " : "",
                   output_count_text((uint64_t)integer_of(domain, "processors"), "processors"),
                   output_count_text((uint64_t)integer_of(domain, "cores"), "cores"),
                   output_count_text((uint64_t)integer_of(domain, "packages"), "packages"));
}

static double
larger(double a, double b)
{
    return a > b ? a : b;
}

static bool
picture_write(FILE *file, void *context)
{
    picture *p = context;
    svg s;
    double top = MARGIN + LINE + LINE + GAP;
    double width = larger(p->machine.box.width, legend_width(&p->legend));
    width = larger(width, svg_text_width(p->title, &title_font));
    width = larger(width, svg_text_width(p->below, &label_font));
    double below = top + p->machine.box.height + 2 * GAP;
    svg_begin(&s, file, ceil(width + 2 * MARGIN),
              ceil(below + (double)p->legend.count * BAR + MARGIN), p->title);
    svg_text(&s, (svg_point){MARGIN, MARGIN + BASELINE}, &title_font, "%s", p->title);
    svg_text(&s, (svg_point){MARGIN, MARGIN + LINE + BASELINE}, &label_font, "%s", p->below);
    place(&p->machine, MARGIN, top);
    part_draw(&s, &p->machine);
    legend_draw(&s, &p->legend, below);
    return svg_end(&s);
}

bool
info_picture_write(const char *path, const json_t *document, const json_t *parts)
{
    const json_t *domain = json_array_get(json_object_get(document, "domains"), 0);
    picture p = {.legend = {.count = 0}};
    bool good = part_make(&p.machine, parts);
    if (good) {
        titles_make(&p, document);
        head_make(&p.machine, domain);
        measure(&p.machine, widest_cell(&p.machine));
        legend_make(&p.legend, domain, &p.machine);
        good = output_file_write(path, picture_write, &p);
    } else {
        errno = ENOMEM;
    }
    int error = errno;
    part_free(&p.machine);
    errno = error;
    return good;
}
