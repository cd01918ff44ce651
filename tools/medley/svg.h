/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes pictures as SVG 1.1: rectangles, lines, polygons and texts, in the order in which they lie
 * on each other, straight into a stream. Lengths are in pixels from the upper left corner.
 *
 * Names that others gave may stand in texts as they are: what XML does not allow becomes '?', the
 * rest is escaped. Nothing is looked up elsewhere: no stylesheet, no font but the viewer's own.
 */
#ifndef MEDLEY_TOOLS_SVG_H
#define MEDLEY_TOOLS_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Its fields are svg.c's. */
typedef struct svg {
    FILE *file;
    unsigned depth; /* of open groups */
} svg;

typedef struct svg_point {
    double x;
    double y;
} svg_point;

typedef struct svg_box {
    double x;
    double y;
    double width;
    double height;
} svg_box;

/* Colours as SVG has them: "#1f77b4", "white"; NULL: none. */
typedef struct svg_paint {
    const char *fill;
    const char *stroke;
    double stroke_width; /* 0: 1 */
    const char *dashes;  /* "4 2"; NULL: a whole line */
    double round;        /* the radius of a rectangle's corners */
} svg_paint;

typedef enum svg_anchor {
    SVG_START, /* the text begins at its point */
    SVG_MIDDLE,
    SVG_END,
} svg_anchor;

typedef struct svg_font {
    double size; /* from one line to the next it takes about 1.2 of it */
    svg_anchor anchor;
    bool bold;
    const char *colour; /* NULL: black */
} svg_font;

/* A picture of that size, white, with a title that viewers show. The stream stays the caller's. */
void svg_begin(svg *s, FILE *file, double width, double height, const char *title);
/* Ends the picture; every group has ended. False: it could not be written, errno says why. */
bool svg_end(svg *s);

/* What is drawn between these belongs together; `kind` is its class, by which programs find it;
 * `tip` (NULL: none) is what a viewer shows where the pointer rests on it. */
void svg_group_begin(svg *s, const char *kind, const char *tip);
void svg_group_end(svg *s);

void svg_rect(svg *s, svg_box box, const svg_paint *paint);
void svg_line(svg *s, svg_point from, svg_point to, const svg_paint *paint);
void svg_polygon(svg *s, const svg_point *points, size_t count, const svg_paint *paint);
/* The point is on the line on which the letters stand. */
void svg_text(svg *s, svg_point at, const svg_font *font, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* How wide a text gets, at most, in a usual font without serifs. */
double svg_text_width(const char *text, const svg_font *font);
/* Cuts the text, and puts ".." at its end, until it is at most that wide; "" when not even that
 * fits. */
void svg_text_cut(char *text, const svg_font *font, double width);

#endif
