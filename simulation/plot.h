/* simulation/plot.h - draws simulations: GPUs requested and held, and missed deadlines */
#ifndef SIMULATION_PLOT_H
#define SIMULATION_PLOT_H

#include "simulation/engine.h"

struct plot_series {
    const char *policy;
    const struct simulation_samples *samples;
};

/* Append an SVG picture: at the top, for each policy, the GPUs held over time below those
 * requested; at the bottom, the missed deadlines of all policies.  `title` is text, not markup. */
void plot_draw(struct buffer *picture, const char *title, int gpus,
               const struct plot_series *series, size_t count);

#endif
