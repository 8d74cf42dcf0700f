/* commands/simulate_print.h - the results of simulations as a table or as JSON */
#ifndef COMMANDS_SIMULATE_PRINT_H
#define COMMANDS_SIMULATE_PRINT_H

#include <stddef.h>

#include "planner/policy.h"
#include "simulation/engine.h"

/* The results of one policy over all seeds. */
struct outcome {
    const struct policy *policy;
    struct simulation_result sum; /* of all seeds */
    double least_dsr, most_dsr;
    struct simulation_samples samples; /* of the first seed */
};

/* Print a row for each policy, with means over the seeds. */
void simulate_print_table(const struct outcome *outcomes, size_t count, int seeds);

/* Print the same figures as JSON, under their names.  The status, after a complaint on failure. */
int simulate_print_json(const struct outcome *outcomes, size_t count, int seeds, int gpus);

#endif
