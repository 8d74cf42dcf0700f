/* web/chart.c - pictures of numbers, as SVG within a page */
#include "web/chart.h"

#include "base/clock.h"
#include "web/html.h"

/* Sizes are those of the picture's own units; a page scales it. */
enum {
    WIDTH = 720,
    LETTER = 7, /* about as wide as one */
    ROW = 22,
    COLUMNS_HEIGHT = 160,
    LABELS = 200, /* the width of labels at the left */
    AXIS = 48,
    FOOT = 24,
    WIDEST = 60, /* a column */
    MOST_LETTERS = 28
};

static void begin(struct buffer *out, const char *title, int height)
{
    buffer_add_string(out,
                      "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"Picture: ");
    html_string(out, title);
    buffer_add_string(out, "\"><svg role=\"img\" viewBox=\"0 0 ");
    buffer_printf(out, "%d %d\" width=\"%d\" height=\"%d\" aria-label=\"", WIDTH, height, WIDTH,
                  height);
    html_string(out, title);
    buffer_add_string(out, "\">\n");
}

static void end(struct buffer *out)
{
    buffer_add_string(out, "</svg></div>\n");
}

static void add_text(struct buffer *out, double x, double y, const char *attributes,
                     struct text text)
{
    bool is_cut = text.length > MOST_LETTERS;
    buffer_printf(out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y, attributes);
    html_text(out, (struct text){text.data, is_cut ? MOST_LETTERS - 1 : text.length});
    buffer_add_string(out, is_cut ? "&hellip;</text>\n" : "</text>\n");
}

/* A number, with as many digits behind the point as half of `top`, which is 1, 2 or 5 and noughts, needs. */
static void add_number(struct buffer *out, double x, double y, const char *attributes,
                       double number, double top, const char *unit)
{
    struct buffer words = {0};
    int digits = number > 0 && number < 10 ? 1 : 0;
    for (double least = 0.99; digits && digits < 5 && top < least; least /= 10)
        digits++;
    buffer_printf(&words, "%.*f%s%s", digits, number, *unit ? " " : "", unit);
    add_text(out, x, y, attributes, buffer_text(&words));
    buffer_free(&words);
}

static void add_line(struct buffer *out, double x1, double y1, double x2, double y2,
                     const char *class)
{
    buffer_printf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                  class, x1, y1, x2, y2);
}

static void add_box(struct buffer *out, double x, double y, double width, double height,
                    const char *class, const char *words)
{
    buffer_printf(
        out,
        "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\">"
        "<title>",
        class, x, y, width > 1 ? width : 1, height);
    html_string(out, words);
    buffer_add_string(out, "</title></rect>\n");
}

/* 1, 2 or 5 and noughts, and at least that. */
static double round_up(double most)
{
    double step = 1e-3;
    for (;; step *= 10)
        for (int i = 0; i < 3; i++) {
            static const double factors[] = {1, 2, 5};
            if (step * factors[i] >= most || step >= 1e18)
                return step * factors[i];
        }
}

static double highest(const struct chart_bar *bars, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = bars[i].value > most ? bars[i].value : most;
    return most;
}

/* The numbers at the left: nothing, half of `top` and `top`, with a line each. */
static void add_scale(struct buffer *out, double bottom, double top)
{
    for (int i = 0; i <= 2; i++) {
        double y = bottom - COLUMNS_HEIGHT * i / 2.0;
        add_line(out, AXIS, y, WIDTH, y, "line");
        add_number(out, AXIS - 6, y + 4, " class=\"faint\" text-anchor=\"end\"", top * i / 2, top,
                   "");
    }
}

static void describe(const struct chart_bar *bar, const char *unit, struct buffer *words)
{
    buffer_clear(words);
    buffer_add_text(words, bar->label);
    buffer_printf(words, ": %.2f %s", bar->value, unit);
}

void chart_columns(struct buffer *out, const char *title, const char *unit,
                   const struct chart_bar *bars, size_t count)
{
    double top = round_up(highest(bars, count)),
           step = (double)(WIDTH - AXIS) / (double)(count ? count : 1);
    double bottom = COLUMNS_HEIGHT + 12, space = 0, width;
    step = step < WIDEST ? step : WIDEST;
    width = step * 0.8;
    struct buffer words = {0};
    begin(out, title, COLUMNS_HEIGHT + 12 + FOOT);
    add_scale(out, bottom, top);
    for (size_t i = 0; i < count; i++) {
        double x = AXIS + step * (double)i, height = COLUMNS_HEIGHT * bars[i].value / top;
        describe(&bars[i], unit, &words);
        add_box(out, x + step * 0.1, bottom - height, width, height, "bar", words.data);
        if (x < space)
            continue;
        add_text(out, x, bottom + 16, " class=\"faint\"", bars[i].label);
        space = x + LETTER * (double)bars[i].label.length + 12;
        if (space > WIDTH)
            break;
    }
    end(out);
    buffer_free(&words);
}

void chart_bars(struct buffer *out, const char *title, const char *unit,
                const struct chart_bar *bars, size_t count)
{
    double top = round_up(highest(bars, count)), room = WIDTH - LABELS - 90;
    struct buffer words = {0};
    begin(out, title, ROW * (int)count + 4);
    for (size_t i = 0; i < count; i++) {
        double y = ROW * (double)i + 2, width = room * bars[i].value / top;
        add_text(out, LABELS - 8, y + 14, " text-anchor=\"end\"", bars[i].label);
        describe(&bars[i], unit, &words);
        add_box(out, LABELS, y + 2, width, ROW - 6, "bar", words.data);
        add_number(out, LABELS + width + 6, y + 14, " class=\"faint\"", bars[i].value, top, unit);
    }
    end(out);
    buffer_free(&words);
}

/* ---- times ---- */

static double place_in(double left, int64_t time, int64_t from, int64_t until)
{
    double part = (double)(time - from) / (double)(until - from);
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return left + part * (WIDTH - left - 4);
}

static double place_of(int64_t time, int64_t from, int64_t until)
{
    return place_in(LABELS, time, from, until);
}

/* Lines at some times, down to `bottom`, and the times below it. */
static void add_times(struct buffer *out, double left, double bottom, int64_t from, int64_t until)
{
    enum { TICKS = 4 };
    char time[CLOCK_TEXT_SIZE];
    for (int i = 0; i <= TICKS; i++) {
        int64_t at = from + (until - from) * i / TICKS;
        double x = place_in(left, at, from, until);
        add_line(out, x, 0, x, bottom, "line");
        clock_local(at, time);
        add_text(out, x, bottom + 16,
                 i == TICKS ? " class=\"faint\" text-anchor=\"end\""
                 : i        ? " class=\"faint\" text-anchor=\"middle\""
                            : " class=\"faint\"",
                 (struct text){time + 5, 11}); /* 11-26 03:04 */
    }
}

static int64_t latest(const struct chart_span *spans, size_t count, int64_t from)
{
    int64_t most = from + 60000;
    for (size_t i = 0; i < count; i++) {
        most = spans[i].until > most ? spans[i].until : most;
        most = spans[i].late > most ? spans[i].late : most;
        most = spans[i].mark > most ? spans[i].mark : most;
    }
    return most;
}

static void add_span(struct buffer *out, const struct chart_span *span, double y, int64_t from,
                     int64_t until)
{
    double start = place_of(span->from, from, until), end_at = place_of(span->until, from, until);
    add_text(out, LABELS - 8, y + 14, " text-anchor=\"end\"", span->label);
    if (span->until > span->from) {
        if (span->late > span->until)
            add_box(out, end_at, y + 8, place_of(span->late, from, until) - end_at, 4, "second",
                    "may take as long");
        add_box(out, start, y + 3, end_at - start, ROW - 8, "bar", "until it is likely to end");
    }
    if (span->mark)
        add_line(out, place_of(span->mark, from, until), y, place_of(span->mark, from, until),
                 y + ROW - 2, "mark");
}

void chart_spans(struct buffer *out, const char *title, int64_t from,
                 const struct chart_span *spans, size_t count)
{
    int64_t until = latest(spans, count, from);
    begin(out, title, ROW * (int)count + 4 + FOOT);
    add_times(out, LABELS, ROW * (double)count + 4, from, until);
    for (size_t i = 0; i < count; i++)
        add_span(out, &spans[i], ROW * (double)i + 2, from, until);
    end(out);
}

void chart_steps(struct buffer *out, const char *title, const struct chart_step *steps,
                 size_t count, int64_t until, double whole)
{
    double bottom = COLUMNS_HEIGHT + 12, most = whole > 0 ? whole : 0;
    for (size_t i = 0; i < count; i++)
        most = steps[i].first + steps[i].second > most ? steps[i].first + steps[i].second : most;
    double top = round_up(most);
    begin(out, title, COLUMNS_HEIGHT + 12 + FOOT);
    add_scale(out, bottom, top);
    add_times(out, AXIS, bottom, steps[0].from, until);
    for (size_t i = 0; i < count; i++) {
        double x = place_in(AXIS, steps[i].from, steps[0].from, until);
        double width =
            place_in(AXIS, i + 1 < count ? steps[i + 1].from : until, steps[0].from, until) - x;
        double first = COLUMNS_HEIGHT * steps[i].first / top;
        double second = COLUMNS_HEIGHT * steps[i].second / top;
        if (first > 0)
            add_box(out, x, bottom - first, width, first, "bar", "jobs with a deadline");
        if (second > 0)
            add_box(out, x, bottom - first - second, width, second, "second", "other jobs");
    }
    if (whole > 0)
        add_line(out, AXIS, bottom - COLUMNS_HEIGHT * whole / top, WIDTH,
                 bottom - COLUMNS_HEIGHT * whole / top, "mark");
    end(out);
}
