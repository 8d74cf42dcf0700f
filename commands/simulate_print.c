/* commands/simulate_print.c - the results of simulations as a table or as JSON */
#include "commands/simulate_print.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "commands/complain.h"
#include "commands/options.h"

static double as_number(size_t number)
{
    return (double)number;
}

#define FIGURE(name, member, convert)                                                              \
    static double name(const struct simulation_result *r)                                          \
    {                                                                                              \
        return convert(r->member);                                                                 \
    }
FIGURE(jobs, jobs, as_number)
FIGURE(deadline_jobs, deadline_jobs, as_number)
FIGURE(best_effort_jobs, best_effort_jobs, as_number)
FIGURE(feasible, feasible, as_number)
FIGURE(met, met, as_number)
FIGURE(unfinished, unfinished, as_number)
FIGURE(promised, promised, as_number)
FIGURE(broken, broken, as_number)
FIGURE(dsr, dsr, )
FIGURE(dsr_feasible, dsr_feasible, )
FIGURE(tardiness_mean, tardiness_mean, )
FIGURE(tardiness_p95, tardiness_p95, )
FIGURE(utilisation, utilisation, )
FIGURE(effective, effective, )
FIGURE(best_effort_mean, best_effort_mean, )
FIGURE(best_effort_p95, best_effort_p95, )
FIGURE(late_mean, late_mean, )
FIGURE(late_p95, late_p95, )
FIGURE(span, span, )
FIGURE(starts, starts, as_number)
FIGURE(resizes, resizes, as_number)
FIGURE(preemptions, preemptions, as_number)
FIGURE(restart_seconds, restart_seconds, )
FIGURE(decisions, decisions, as_number)
#undef FIGURE

static double per_decision(const struct simulation_result *r)
{
    return r->decisions ? r->decision_seconds * 1e6 / (double)r->decisions : 0;
}

static const struct figure {
    const char *name; /* in JSON */
    double (*of)(const struct simulation_result *result);
    const char *title; /* in the table; NULL: not in it */
    const char *format;
    double unit; /* the table's figure is divided by it */
} figures[] = {
    {"jobs", jobs, NULL, NULL, 1},
    {"deadline_jobs", deadline_jobs, "jobs", "%.0f", 1},
    {"best_effort_jobs", best_effort_jobs, NULL, NULL, 1},
    {"feasible", feasible, "feasible", "%.0f", 1},
    {"met", met, "met", "%.0f", 1},
    {"dsr", dsr, "DSR", "%.3f", 1},
    {"dsr_feasible", dsr_feasible, "of feasible", "%.3f", 1},
    {"unfinished", unfinished, "unfinished", "%.0f", 1},
    {"promised", promised, NULL, NULL, 1},
    {"broken", broken, NULL, NULL, 1},
    {"tardiness_mean_seconds", tardiness_mean, "late by, h", "%.1f", 3600},
    {"tardiness_p95_seconds", tardiness_p95, NULL, NULL, 1},
    {"utilisation_allocated", utilisation, "used", "%.3f", 1},
    {"utilisation_effective", effective, "effective", "%.3f", 1},
    {"best_effort_seconds_mean", best_effort_mean, "best effort, h", "%.1f", 3600},
    {"best_effort_seconds_p95", best_effort_p95, NULL, NULL, 1},
    {"late_seconds_mean", late_mean, "late jobs, h", "%.1f", 3600},
    {"late_seconds_p95", late_p95, NULL, NULL, 1},
    {"span_seconds", span, NULL, NULL, 1},
    {"starts", starts, NULL, NULL, 1},
    {"resizes", resizes, "resizes", "%.0f", 1},
    {"preemptions", preemptions, "stops", "%.0f", 1},
    {"restart_gpu_seconds", restart_seconds, NULL, NULL, 1},
    {"decisions", decisions, NULL, NULL, 1},
    {"decision_microseconds", per_decision, "us each", "%.1f", 1},
};

enum { FIGURES = ARRAY_COUNT(figures) };

void simulate_print_table(const struct outcome *outcomes, size_t count, int seeds)
{
    printf("%-12s", "policy");
    for (int k = 0; k < FIGURES; k++)
        if (figures[k].title)
            printf("  %*s", (int)strlen(figures[k].title) < 6 ? 6 : (int)strlen(figures[k].title),
                   figures[k].title);
    printf("%s\n", seeds > 1 ? "  DSR from .. to" : "");
    for (size_t i = 0; i < count; i++) {
        printf("%-12s", outcomes[i].policy->name);
        for (int k = 0; k < FIGURES; k++) {
            char number[32];
            if (!figures[k].title)
                continue;
            double mean = figures[k].of(&outcomes[i].sum) / figures[k].unit;
            if (figures[k].of != per_decision)
                mean /= seeds;
                /* The formats are those of the table above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(number, sizeof(number), figures[k].format, mean);
#pragma GCC diagnostic pop
            printf("  %*s", (int)strlen(figures[k].title) < 6 ? 6 : (int)strlen(figures[k].title),
                   number);
        }
        if (seeds > 1)
            printf("  %.3f .. %.3f", outcomes[i].least_dsr, outcomes[i].most_dsr);
        printf("\n");
    }
}

int simulate_print_json(const struct outcome *outcomes, size_t count, int seeds, int gpus)
{
    struct arena *arena = arena_new();
    struct buffer out = {0};
    struct error error;
    struct value *results = value_list(arena), *all = value_object(arena);
    for (size_t i = 0; i < count; i++) {
        struct value *result = value_object(arena);
        value_put(arena, result, "policy", value_string(arena, outcomes[i].policy->name));
        for (int k = 0; k < FIGURES; k++) {
            double mean = figures[k].of(&outcomes[i].sum);
            if (figures[k].of != per_decision)
                mean /= seeds;
            value_put(arena, result, figures[k].name, value_number(arena, mean));
        }
        value_put(arena, result, "dsr_least", value_number(arena, outcomes[i].least_dsr));
        value_put(arena, result, "dsr_most", value_number(arena, outcomes[i].most_dsr));
        value_append(arena, results, result);
    }
    value_put(arena, all, "results", results);
    value_put(arena, all, "gpus", value_number(arena, gpus));
    value_put(arena, all, "seeds", value_number(arena, seeds));
    int written = json_write(&out, all, false, &error);
    if (written == 0)
        printf("%s\n", out.data);
    else
        complain("%s", error.text);
    buffer_free(&out);
    arena_free(arena);
    return written ? STATUS_FAILED : STATUS_DONE;
}
