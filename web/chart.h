/* web/chart.h - pictures of numbers, as SVG within a page
 *
 * Colours are those of the page (web/style.css), so they follow its scheme.  What a picture shows stands in a table
 * beside it, too; for who does not see it there is the title.
 */
#ifndef WEB_CHART_H
#define WEB_CHART_H

#include <stdint.h>

#include "base/text.h"

struct chart_bar {
    struct text label;
    double value;
};

/* Columns side by side, such as days; labels stand below as far as there is room. */
void chart_columns(struct buffer *out, const char *title, const char *unit,
                   const struct chart_bar *bars, size_t count);
/* Bars one below the other, such as users. */
void chart_bars(struct buffer *out, const char *title, const char *unit,
                const struct chart_bar *bars, size_t count);

/* A span of time for each row, and a mark in it; times of day, 0: none. */
struct chart_span {
    struct text label;
    int64_t from, until, late, mark; /* `late`: it may take until then */
};
/* From `from`, with times below. */
void chart_spans(struct buffer *out, const char *title, int64_t from,
                 const struct chart_span *spans, size_t count);

/* Two amounts, one on the other, which change at times. */
struct chart_step {
    int64_t from;
    double first, second;
};
/* At least one step; a line marks `whole`, unless it is 0 or less. */
void chart_steps(struct buffer *out, const char *title, const struct chart_step *steps,
                 size_t count, int64_t until, double whole);

#endif
