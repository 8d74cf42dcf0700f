/* commands/simulate.c - dlspool simulate TRACE: tries scheduling policies on a trace of jobs
 *
 * Uses the planner of the submit stage; the cluster is simulated, and no spool is touched.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "commands/commands.h"
#include "commands/complain.h"
#include "commands/options.h"
#include "commands/simulate_print.h"
#include "commands/simulate_replay.h"
#include "simulation/engine.h"
#include "simulation/plot.h"

enum { MOST_POLICIES = 16, MOST_SEEDS = 1000 };

struct request {
    struct simulation_options options;
    const char *trace, *profiles, *plot, *recording;
    const struct policy *policies[MOST_POLICIES];
    size_t policy_count;
    int first_seed, seeds;
    bool json;
};

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
        add_result(&outcome->sum, &result);
        if (result.dsr < outcome->least_dsr)
            outcome->least_dsr = result.dsr;
        if (result.dsr > outcome->most_dsr)
            outcome->most_dsr = result.dsr;
    }
}

/* ---- results ---- */

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
            status = simulate_print_json(outcomes, request->policy_count, request->seeds,
                                         request->options.gpus);
        else
            simulate_print_table(outcomes, request->policy_count, request->seeds);
        if (request->plot && status == STATUS_DONE)
            status = write_plot(request, outcomes);
    }
    for (size_t i = 0; i < request->policy_count; i++)
        free(outcomes[i].samples.samples);
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
        return simulate_replay(request.recording, request.json);
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
