/* commands/simulate.c - dlspool simulate TRACE: tries scheduling policies on a trace of jobs
 *
 * Uses the planner of the submit stage; the cluster is simulated, and no spool is touched.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/options.h"
#include "commands/print.h"
#include "simulation/engine.h"
#include "simulation/plot.h"
#include "simulation/replay.h"

enum { MOST_POLICIES = 16, MOST_SEEDS = 1000 };

struct request {
    struct simulation_options options;
    const char *trace, *profiles, *plot, *recording;
    const struct policy *policies[MOST_POLICIES];
    size_t policy_count;
    int first_seed, seeds;
    bool json;
};

/* Of one policy, over all seeds. */
struct outcome {
    const struct policy *policy;
    struct simulation_result mean;
    double least_dsr, most_dsr;
    struct simulation_samples samples; /* of the first seed */
};

/* ---- what is shown of a result ---- */

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

/* ---- reading the targets ---- */

static bool choose_policies(struct request *request, const char *names)
{
    struct text rest = text_of(names), name;
    while (text_next(&rest, ',', &name)) {
        const struct policy *found = policy_find(name);
        if (!found || request->policy_count == MOST_POLICIES) {
            struct error_quote_buffer buffer;
            complain("--policy: found \"%s\", expected some of fifo, backfill, sjf, edf, llf, "
                     "paper, elasticflow, ours, with commas between them",
                     error_quote(&buffer, name.data, name.length));
            return false;
        }
        request->policies[request->policy_count++] = found;
    }
    return true;
}

static bool choose_curves(struct request *request, const char *word)
{
    static const char *const words[] = {
        [CURVES_KNOWN] = "known", [CURVES_PRIOR] = "prior", [CURVES_LEARNED] = "learned"};
    for (int i = 0; i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            request->options.curves = (enum curve_knowledge)i;
            return true;
        }
    complain("--curves: found \"%s\", expected known, prior or learned", word);
    return false;
}

static bool in_range(const char *option, double number, double least, double most)
{
    if (number >= least && number <= most)
        return true;
    complain("--%s: found %g, expected a number from %g to %g", option, number, least, most);
    return false;
}

/* ---- running ---- */

/* Add the figures of one run to a sum over all seeds. */
static void add_result(struct simulation_result *sum, const struct simulation_result *result)
{
#define ADD(member) sum->member += result->member
    ADD(jobs);
    ADD(deadline_jobs);
    ADD(best_effort_jobs);
    ADD(feasible);
    ADD(met);
    ADD(unfinished);
    ADD(promised);
    ADD(broken);
    ADD(dsr);
    ADD(dsr_feasible);
    ADD(tardiness_mean);
    ADD(tardiness_p95);
    ADD(utilisation);
    ADD(effective);
    ADD(best_effort_mean);
    ADD(best_effort_p95);
    ADD(late_mean);
    ADD(late_p95);
    ADD(span);
    ADD(starts);
    ADD(resizes);
    ADD(preemptions);
    ADD(restart_seconds);
    ADD(decisions);
    ADD(decision_seconds);
#undef ADD
}

static void run_policy(const struct request *request, const struct trace *trace,
                       struct outcome *outcome)
{
    struct simulation_options options = request->options;
    outcome->least_dsr = 1;
    for (int i = 0; i < request->seeds; i++) {
        struct simulation_result result;
        options.seed = (uint64_t)(request->first_seed + i);
        engine_run(trace, &options, outcome->policy, &result,
                   i == 0 && request->plot ? &outcome->samples : NULL);
        add_result(&outcome->mean, &result);
        if (result.dsr < outcome->least_dsr)
            outcome->least_dsr = result.dsr;
        if (result.dsr > outcome->most_dsr)
            outcome->most_dsr = result.dsr;
    }
}

/* ---- telling ---- */

/* Print a row for each policy, of means over the seeds. */
static void print_table(const struct request *request, const struct outcome *outcomes)
{
    printf("%-12s", "policy");
    for (int k = 0; k < FIGURES; k++)
        if (figures[k].title)
            printf("  %*s", (int)strlen(figures[k].title) < 6 ? 6 : (int)strlen(figures[k].title),
                   figures[k].title);
    printf("%s\n", request->seeds > 1 ? "  DSR from .. to" : "");
    for (size_t i = 0; i < request->policy_count; i++) {
        printf("%-12s", outcomes[i].policy->name);
        for (int k = 0; k < FIGURES; k++) {
            char number[32];
            if (!figures[k].title)
                continue;
            double mean = figures[k].of(&outcomes[i].mean) / figures[k].unit;
            if (figures[k].of != per_decision)
                mean /= request->seeds;
                /* The formats are those of the table above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(number, sizeof(number), figures[k].format, mean);
#pragma GCC diagnostic pop
            printf("  %*s", (int)strlen(figures[k].title) < 6 ? 6 : (int)strlen(figures[k].title),
                   number);
        }
        if (request->seeds > 1)
            printf("  %.3f .. %.3f", outcomes[i].least_dsr, outcomes[i].most_dsr);
        printf("\n");
    }
}

/* Print the same figures as JSON, under their names. */
static int print_outcomes_json(const struct request *request, const struct outcome *outcomes)
{
    struct arena *arena = arena_new();
    struct buffer out = {0};
    struct error error;
    struct value *results = value_list(arena), *all = value_object(arena);
    for (size_t i = 0; i < request->policy_count; i++) {
        struct value *result = value_object(arena);
        value_put(arena, result, "policy", value_string(arena, outcomes[i].policy->name));
        for (int k = 0; k < FIGURES; k++) {
            double mean = figures[k].of(&outcomes[i].mean);
            if (figures[k].of != per_decision)
                mean /= request->seeds;
            value_put(arena, result, figures[k].name, value_number(arena, mean));
        }
        value_put(arena, result, "dsr_least", value_number(arena, outcomes[i].least_dsr));
        value_put(arena, result, "dsr_most", value_number(arena, outcomes[i].most_dsr));
        value_append(arena, results, result);
    }
    value_put(arena, all, "results", results);
    value_put(arena, all, "gpus", value_number(arena, request->options.gpus));
    value_put(arena, all, "seeds", value_number(arena, request->seeds));
    int written = json_write(&out, all, false, &error);
    if (written == 0)
        printf("%s\n", out.data);
    else
        complain("%s", error.text);
    buffer_free(&out);
    arena_free(arena);
    return written ? STATUS_FAILED : STATUS_DONE;
}

static int write_plot(const struct request *request, const struct outcome *outcomes)
{
    struct plot_series series[MOST_POLICIES];
    struct buffer picture = {0};
    struct error error = {0};
    char title[512];
    for (size_t i = 0; i < request->policy_count; i++)
        series[i] = (struct plot_series){outcomes[i].policy->name, &outcomes[i].samples};
    const char *slash = strrchr(request->trace, '/');
    snprintf(title, sizeof(title), "%.400s on %d GPUs", slash ? slash + 1 : request->trace,
             request->options.gpus);
    plot_draw(&picture, title, request->options.gpus, series, request->policy_count);
    int file = open(request->plot, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int result = file < 0 ? error_errno(&error, "%s could not be opened", request->plot)
                          : file_write_all(file, buffer_text(&picture), request->plot, &error);
    if (file >= 0 && close(file) && !result)
        result = error_errno(&error, "%s could not be written", request->plot);
    if (result)
        complain("%s", error.text);
    buffer_free(&picture);
    return result ? STATUS_FAILED : STATUS_DONE;
}

/* Run the trace under each policy and print what came of it.  Progress is shown on a terminal
 * only. */
static int simulate_all(const struct request *request)
{
    struct arena *arena = arena_new();
    struct trace trace;
    struct error error;
    struct outcome outcomes[MOST_POLICIES] = {0};
    int status = STATUS_FAILED;
    if (trace_read(arena, request->trace, request->profiles, &trace, &error)) {
        complain("%s", error.text);
    } else {
        for (size_t i = 0; i < request->policy_count; i++) {
            outcomes[i].policy = request->policies[i];
            if (isatty(STDERR_FILENO))
                fprintf(stderr, "\r\033[K%s ...", outcomes[i].policy->name);
            run_policy(request, &trace, &outcomes[i]);
        }
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\r\033[K");
        status = STATUS_DONE;
        if (request->json)
            status = print_outcomes_json(request, outcomes);
        else
            print_table(request, outcomes);
        if (request->plot && status == STATUS_DONE)
            status = write_plot(request, outcomes);
    }
    for (size_t i = 0; i < request->policy_count; i++)
        free(outcomes[i].samples.samples);
    arena_free(arena);
    return status;
}

/* ---- a recorded day ---- */

static struct value *pool_tree(struct arena *arena, const struct recorded_pool *pool)
{
    struct value *tree = value_object(arena);
    value_put(arena, tree, "pool", value_text(arena, pool->name));
    value_put(arena, tree, "capacity", value_number(arena, pool->capacity));
    value_put(arena, tree, "jobs", value_number(arena, (double)pool->jobs));
    value_put(arena, tree, "started", value_number(arena, (double)pool->started));
    value_put(arena, tree, "pairs", value_number(arena, (double)pool->pairs));
    value_put(arena, tree, "pairs_in_order", value_number(arena, (double)pool->in_order));
    value_put(arena, tree, "same_first_size", value_number(arena, (double)pool->same_size));
    return tree;
}

static int print_replay_json(struct arena *arena, const struct replay *replay)
{
    struct buffer out = {0};
    struct value *tree = value_object(arena), *different = value_list(arena);
    struct value *pools = value_list(arena);
    for (size_t i = 0; i < replay->different && i < REPLAY_MOST_DIFFERENCES; i++)
        value_append(arena, different, value_string(arena, replay->differences[i]));
    for (size_t i = 0; i < replay->pool_count; i++)
        value_append(arena, pools, pool_tree(arena, &replay->pools[i]));
    value_put(arena, tree, "plans", value_number(arena, (double)replay->plans));
    value_put(arena, tree, "decisions", value_number(arena, (double)replay->decisions));
    value_put(arena, tree, "different", value_number(arena, (double)replay->different));
    value_put(arena, tree, "differences", different);
    value_put(arena, tree, "simulated", pools);
    if (json_write(&out, tree, false, NULL) == 0)
        printf("%s\n", out.data);
    buffer_free(&out);
    return replay->different ? STATUS_FAILED : STATUS_DONE;
}

static int print_replay(const struct replay *replay)
{
    printf("%zu plans, %zu decisions: ", replay->plans, replay->decisions);
    if (replay->different)
        printf("%zu differ\n", replay->different);
    else
        printf("all the same\n");
    for (size_t i = 0; i < replay->different && i < REPLAY_MOST_DIFFERENCES; i++)
        printf("  %s\n", replay->differences[i]);
    for (size_t i = 0; i < replay->pool_count; i++) {
        const struct recorded_pool *pool = &replay->pools[i];
        printf("simulated as a trace, %.*s, capacity %d: ", (int)pool->name.length, pool->name.data,
               pool->capacity);
        if (pool->too_many)
            printf("too many jobs\n");
        else
            printf(
                "%zu of %zu jobs started; in the same order %zu of %zu pairs; at the same size %zu\n",
                pool->started, pool->jobs, pool->in_order, pool->pairs, pool->same_size);
    }
    return replay->different ? STATUS_FAILED : STATUS_DONE;
}

static int run_replay(const struct request *request)
{
    enum { MOST_BYTES = 256 << 20 };
    struct buffer recording = {0};
    struct error error;
    struct replay replay;
    int status = STATUS_FAILED;
    struct arena *arena = arena_new();
    int file = file_open_named(request->recording, &error);
    int result =
        file < 0 ? -1 : file_read_all(file, MOST_BYTES, &recording, request->recording, &error);
    if (file >= 0)
        close(file);
    if (!result && replay_run(arena, buffer_text(&recording), &replay, &error))
        result = error_prefix(&error, "%s", request->recording);
    if (result)
        complain("%s", error.text);
    else
        status = request->json ? print_replay_json(arena, &replay) : print_replay(&replay);
    buffer_free(&recording);
    arena_free(arena);
    return status;
}

int command_simulate(int argument_count, char **arguments)
{
    struct request request = {.options = {.tick = 60,
                                          .restart = 10,
                                          .guard = 60,
                                          .live = 120,
                                          .exponent = 0.5,
                                          .deadline_scale = 1,
                                          .reserve = 0.1},
                              .first_seed = 1,
                              .seeds = 1};
    struct simulation_options *options = &request.options;
    const char *names = "ours", *curves = "known";
    const struct option_spec specs[] = {
        {"profiles", 0, OPTION_TEXT, &request.profiles, "DIR",
         "rates of the trace's models, MODEL.csv"},
        {"gpus", 'g', OPTION_WHOLE, &options->gpus, "N", "GPUs of the cluster"},
        {"policy", 0, OPTION_TEXT, &names, "P[,P...]",
         "fifo, backfill, sjf, edf, llf, paper, elasticflow, ours"},
        {"tick", 0, OPTION_NUMBER, &options->tick, "SECONDS",
         "between decisions, unless a job comes (default: 60)"},
        {"restart", 0, OPTION_NUMBER, &options->restart, "SECONDS",
         "without progress at each change of size (10)"},
        {"guard", 0, OPTION_NUMBER, &options->guard, "SECONDS",
         "before its deadline that a job is to be done (60)"},
        {"error", 0, OPTION_NUMBER, &options->error, "SIGMA",
         "of the logarithm of predicted work (0)"},
        {"live", 0, OPTION_NUMBER, &options->live, "SECONDS",
         "of running that show how much work is left (120)"},
        {"curves", 0, OPTION_TEXT, &curves, "WORD",
         "what is known of speeds: known, prior, learned"},
        {"exponent", 0, OPTION_NUMBER, &options->exponent, "E",
         "of the prior: rate at k GPUs = k^E (0.5)"},
        {"best-effort", 0, OPTION_NUMBER, &options->best_effort, "SHARE",
         "of the jobs that have no deadline (0)"},
        {"firm", 0, OPTION_NUMBER, &options->firm, "SHARE",
         "of the jobs whose deadlines are firm (0)"},
        {"deadline-scale", 0, OPTION_NUMBER, &options->deadline_scale, "X",
         "deadlines are X times as far (1)"},
        {"reserve", 0, OPTION_NUMBER, &options->reserve, "SHARE",
         "of the GPUs lent to best effort first (0.1)"},
        {"seed", 0, OPTION_WHOLE, &request.first_seed, "N", "of the random numbers (1)"},
        {"seeds", 0, OPTION_WHOLE, &request.seeds, "COUNT",
         "runs, with seeds one after another; means are shown"},
        {"plot", 0, OPTION_TEXT, &request.plot, "FILE.svg", "draw the load and the misses"},
        {"replay", 0, OPTION_TEXT, &request.recording, "FILE",
         "decide again what planner.record wrote; no TRACE"},
        {"json", 'j', OPTION_FLAG, &request.json, NULL, "one object of JSON"},
        {"policy", 'p', OPTION_TEXT, &names, "P[,P...]", NULL},
        {0},
    };
    static const char details[] =
        "The trace is a CSV file with job_id, submission_time, num_iteration, model_name,\n"
        "deadline, batch_size and num_gpu; a profile has iterations per second for each\n"
        "global_batch_size (lines) and number of GPUs (columns).\n"
        "With --replay, what the planner of a spool decided is decided again; status 1 if it differs.\n";
    const struct verb_usage usage = {"simulate",
                                     "TRACE",
                                     0,
                                     1,
                                     "Runs policies over a trace of jobs, and says how many "
                                     "deadlines were met.",
                                     details,
                                     specs};
    int operands, status;
    if (!options_read(&usage, argument_count, arguments, &operands, &status))
        return status;
    if (request.recording && operands == 0)
        return run_replay(&request);
    if (request.recording || operands == 0) {
        complain(request.recording ? "--replay needs no TRACE: what was recorded is replayed"
                                   : "TRACE is missing: the file with the jobs of the past");
        return STATUS_USAGE;
    }
    request.trace = arguments[1];
    if (!request.profiles) {
        complain("--profiles is missing: the directory with the rates of the trace's models");
        return STATUS_USAGE;
    }
    if (!choose_policies(&request, names) || !choose_curves(&request, curves) ||
        !in_range("gpus", options->gpus, 1, 1 << 20) ||
        !in_range("tick", options->tick, 1, 86400) ||
        !in_range("restart", options->restart, 0, 1e6) ||
        !in_range("guard", options->guard, 0, 1e6) ||
        !in_range("deadline-scale", options->deadline_scale, 0, 1000) ||
        !in_range("best-effort", options->best_effort, 0, 1) ||
        !in_range("firm", options->firm, 0, 1) || !in_range("reserve", options->reserve, 0, 1) ||
        !in_range("error", options->error, 0, 3) ||
        !in_range("exponent", options->exponent, 0, 1) ||
        !in_range("seeds", request.seeds, 1, MOST_SEEDS))
        return STATUS_USAGE;
    return simulate_all(&request);
}
