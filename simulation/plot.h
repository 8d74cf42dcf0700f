/* simulation/plot.h - a drawing of simulations: what was wanted and held, and the deadlines missed */
#ifndef SIMULATION_PLOT_H
#define SIMULATION_PLOT_H

#include "simulation/engine.h"

struct plot_series {
    const char *policy;
    const struct simulation_samples *samples;
};

/* Append an SVG picture: above, for each policy, the GPUs held over time under what was asked for;
 * below, the missed deadlines of all.  `title` is text, not markup. */
void plot_draw(struct buffer *picture, const char *title, int gpus,
               const struct plot_series *series, size_t count);

#endif
