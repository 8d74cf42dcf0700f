/* simulation/plot.c - draws simulations: GPUs wanted and used, and missed deadlines */
#include "simulation/plot.h"

#include <stdio.h>

enum { WIDTH = 900, LEFT = 70, RIGHT = 150, BAND = 110, GAP = 34, TOP = 44, MISSES = 220 };

/* Colours for colour-blind readers, too (Okabe and Ito), and a ninth. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
                                      "#56b4e9", "#8a7a00", "#000000", "#777777"};
enum { COLOURS = ARRAY_COUNT(colours) };

struct frame {          /* the position and scale of a diagram */
    double top, height; /* points */
    double most;        /* value at the top */
    double span;        /* seconds at the right */
};

static double x_of_time(const struct frame *frame, double time)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (frame->span > 0 ? time / frame->span : 0);
}

static double y_of_value(const struct frame *frame, double value)
{
    double share = frame->most > 0 ? value / frame->most : 0;
    return frame->top + frame->height * (1 - (share < 1 ? share : 1));
}

static void add_escaped(struct buffer *picture, const char *words)
{
    for (; *words; words++) {
        if (*words == '&')
            buffer_add_string(picture, "&amp;");
        else if (*words == '<')
            buffer_add_string(picture, "&lt;");
        else if ((unsigned char)*words >= ' ')
            buffer_add_byte(picture, *words);
    }
}

static void add_label(struct buffer *picture, double x, double y, const char *anchor,
                      const char *words)
{
    buffer_printf(picture, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    add_escaped(picture, words);
    buffer_add_string(picture, "</text>\n");
}

static void add_axes(struct buffer *picture, const struct frame *frame, const char *name)
{
    char words[64];
    double bottom = frame->top + frame->height;
    buffer_printf(picture, "<path d=\"M%d %.1fV%.1fH%d\" fill=\"none\" stroke=\"#999\"/>\n", LEFT,
                  frame->top, bottom, WIDTH - RIGHT);
    snprintf(words, sizeof(words), "%g", frame->most);
    add_label(picture, LEFT - 6, frame->top + 10, "end", words);
    add_label(picture, LEFT - 6, bottom, "end", "0");
    add_label(picture, LEFT, frame->top - 6, "start", name);
    snprintf(words, sizeof(words), "%.0f h", frame->span / 3600);
    add_label(picture, WIDTH - RIGHT, bottom + 14, "end", words);
}

/* A step line; a filled one is closed down to the axis. */
static void add_steps(struct buffer *picture, const struct frame *frame,
                      const struct simulation_samples *samples,
                      double (*value)(const struct simulation_sample *sample), const char *style,
                      bool filled)
{
    double bottom = frame->top + frame->height, before = -1;
    buffer_printf(picture, "<path d=\"M%.1f %.1f", x_of_time(frame, 0), bottom);
    for (size_t i = 0; i < samples->count; i++) {
        double now = value(&samples->samples[i]);
        if (now == before)
            continue;
        buffer_printf(picture, "H%.1fV%.1f", x_of_time(frame, samples->samples[i].time),
                      y_of_value(frame, now));
        before = now;
    }
    buffer_printf(picture, "H%.1f", x_of_time(frame, frame->span));
    if (filled)
        buffer_printf(picture, "V%.1fZ", bottom);
    buffer_printf(picture, "\" %s/>\n", style);
}

static double used_of(const struct simulation_sample *sample)
{
    return sample->used;
}
static double wanted_of(const struct simulation_sample *sample)
{
    return sample->wanted;
}
static double missed_of(const struct simulation_sample *sample)
{
    return (double)sample->missed;
}

static double longest_span(const struct plot_series *series, size_t count)
{
    double span = 0;
    for (size_t i = 0; i < count; i++) {
        const struct simulation_samples *samples = series[i].samples;
        double end = samples->count ? samples->samples[samples->count - 1].time : 0;
        span = end > span ? end : span;
    }
    return span;
}

void plot_draw(struct buffer *picture, const char *title, int gpus,
               const struct plot_series *series, size_t count)
{
    char style[96];
    struct frame frame = {
        .top = TOP, .height = BAND, .most = gpus, .span = longest_span(series, count)};
    int height = (int)count * (BAND + GAP) + MISSES + TOP + GAP;
    buffer_printf(picture,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "font-family=\"sans-serif\" font-size=\"11\">\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                  WIDTH, height);
    add_label(picture, LEFT, 18, "start", title);
    for (size_t i = 0; i < count; i++) {
        add_axes(picture, &frame, series[i].policy);
        add_steps(picture, &frame, series[i].samples, wanted_of, "fill=\"#e8e8e8\" stroke=\"none\"",
                  true);
        snprintf(style, sizeof(style), "fill=\"%s\" fill-opacity=\"0.7\" stroke=\"none\"",
                 colours[i % COLOURS]);
        add_steps(picture, &frame, series[i].samples, used_of, style, true);
        if (i == 0) {
            add_label(picture, WIDTH - RIGHT + 8, frame.top + 12, "start", "GPUs held (coloured)");
            add_label(picture, WIDTH - RIGHT + 8, frame.top + 28, "start", "and asked for (grey)");
        }
        frame.top += BAND + GAP;
    }
    frame.height = MISSES - GAP;
    frame.most = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < series[i].samples->count; k++)
            if (missed_of(&series[i].samples->samples[k]) > frame.most)
                frame.most = missed_of(&series[i].samples->samples[k]);
    add_axes(picture, &frame, "deadlines missed so far");
    for (size_t i = 0; i < count; i++) {
        double y = frame.top + 12 + 15 * (double)i;
        snprintf(style, sizeof(style), "fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"",
                 colours[i % COLOURS]);
        add_steps(picture, &frame, series[i].samples, missed_of, style, false);
        buffer_printf(picture, "<path d=\"M%d %.1fh14\" %s/>\n", WIDTH - RIGHT + 8, y - 4, style);
        add_label(picture, WIDTH - RIGHT + 28, y, "start", series[i].policy);
    }
    buffer_add_string(picture, "</svg>\n");
}
