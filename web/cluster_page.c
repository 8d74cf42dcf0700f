/* web/cluster_page.c - the page of what there is, and who has it: capacity, nodes, queues, users */
#include "web/cluster_page.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/quantity.h"
#include "spool/pause.h"
#include "stages/lease.h"
#include "stages/shared/capacity_file.h"
#include "stages/shared/use.h"
#include "web/html.h"
#include "web/limits_table.h"
#include "web/nodes_table.h"

/* ---- the daemon ---- */

static void add_daemon(struct exchange *exchange, struct buffer *out,
                       const struct settings *settings)
{
    char who[LEASE_TEXT_SIZE] = "";
    struct pause pause;
    struct error words;
    int serving = lease_present(exchange->spool, who);
    if (pause_read(exchange->spool, &pause)) {
        pause_describe(&pause, clock_local, &words);
        html_say(out, "alert",
                 arena_printf(exchange->arena,
                              "Paused %s. Nothing is started until an administrator "
                              "says dlspool resume.",
                              words.text));
    }
    if (!serving)
        html_say(out, "alert", TEXT("No daemon serves the spool: what is submitted waits."));
    buffer_add_string(out, "<dl>\n");
    html_fact(out, "Spool", text_of(exchange->spool->path));
    html_fact(out, "Daemon",
              serving > 0    ? text_of(who)
              : serving == 0 ? TEXT("not running")
                             : TEXT("it is unknown whether one is running"));
    html_fact(out, "Executor", settings->executor);
    buffer_add_string(out, "</dl>\n");
}

/* ---- capacity ---- */

struct amount {
    const char *name;
    int64_t total, free;
    const char *(*format)(int64_t value, char buffer[static QUANTITY_TEXT_SIZE]);
};

static const char *format_count(int64_t value, char buffer[static QUANTITY_TEXT_SIZE])
{
    snprintf(buffer, QUANTITY_TEXT_SIZE, "%lld", (long long)value);
    return buffer;
}

static void add_amount(struct buffer *out, const struct amount *amount)
{
    char text[QUANTITY_TEXT_SIZE];
    int64_t used = amount->total - amount->free;
    buffer_add_string(out, "<tr>");
    html_cell_head(out, text_of(amount->name));
    html_cell(out, "number", text_of(amount->format(used, text)));
    html_cell(out, "number", text_of(amount->format(amount->free, text)));
    html_cell(out, "number", text_of(amount->format(amount->total, text)));
    buffer_printf(
        out,
        "<td><meter min=\"0\" max=\"%.0f\" value=\"%.0f\" aria-label=\"Part of %s that is "
        "used\"></meter></td></tr>\n",
        amount->total > 0 ? (double)amount->total : 1, (double)used,
        amount->format == format_count ? "them" : "it");
}

static void add_amounts(struct buffer *out, const struct capacity *capacity)
{
    static const struct html_column columns[] = {{"Of", ""},
                                                 {"Used", "number"},
                                                 {"Free", "number"},
                                                 {"In all", "number"},
                                                 {"Part used", ""}};
    const struct amount amounts[] = {
        {"CPUs", capacity->cpus, capacity->cpus_free, quantity_format_cpus},
        {"Memory", capacity->memory, capacity->memory_free, quantity_format_bytes},
        {"GPUs", capacity->gpus, capacity->gpus_free, format_count}};
    html_table_begin(out, "Capacity", columns, ARRAY_COUNT(columns));
    for (size_t i = 0; i < ARRAY_COUNT(amounts); i++)
        add_amount(out, &amounts[i]);
    for (size_t i = 0; i < capacity->gpu_type_count; i++) {
        const struct gpu_capacity *gpus = &capacity->gpu_types[i];
        struct amount amount = {gpus->type, gpus->count, gpus->free, format_count};
        add_amount(out, &amount);
    }
    html_table_end(out);
}

/* What the executor has, and where, as the daemon last found it. */
static void add_capacity(struct exchange *exchange, struct buffer *out)
{
    struct capacity capacity;
    struct nodes *nodes = nodes_new();
    int64_t time;
    char when[CLOCK_TEXT_SIZE];
    html_heading(out, "Capacity");
    if (capacity_file_read(exchange->spool, &capacity, nodes, &time)) {
        html_say(out, "note",
                 TEXT("It is not known: the daemon asks the executor while there are jobs."));
    } else {
        add_amounts(out, &capacity);
        if (capacity.nodes)
            buffer_printf(out, "<p>%d of %d nodes take jobs.</p>\n", capacity.nodes_ready,
                          capacity.nodes);
        if (capacity.note[0])
            html_say(out, "note", text_of(capacity.note));
        buffer_printf(out, "<p class=\"muted\">As the daemon found it %s.</p>\n",
                      clock_local(time, when));
        nodes_table_add(exchange, out, nodes);
    }
    nodes_free(nodes);
}

/* ---- who has it ---- */

struct holders {
    struct buffer *out;
    const struct limit_row *row;
    size_t count;
};

static void add_holder(void *context, const struct use_view *view)
{
    struct holders *holders = context;
    struct buffer *out = holders->out;
    const struct use_amounts *runs = &view->amounts[USE_RUNNING],
                             *waits = &view->amounts[USE_WAITING];
    char text[QUANTITY_TEXT_SIZE];
    if (view->row != holders->row || (!runs->jobs && !waits->jobs))
        return;
    holders->count++;
    buffer_add_string(out, "<tr>");
    html_cell_head(out, view->subject.length ? view->subject : TEXT("(none)"));
    html_cell_number(out, "number", runs->jobs);
    html_cell_number(out, "number", runs->gpus);
    html_cell(out, "number", text_of(quantity_format_cpus(runs->cpus, text)));
    html_cell(out, "number optional", text_of(quantity_format_bytes(runs->memory, text)));
    html_cell_number(out, "number", waits->jobs);
    html_cell_number(out, "number optional", waits->gpus);
    buffer_add_string(out, "</tr>\n");
}

static void add_holders(struct buffer *out, struct use *use, const struct limit_row *row,
                        const char *heading, const char *who)
{
    const struct html_column columns[] = {{who, ""},
                                          {"Running", "number"},
                                          {"GPUs", "number"},
                                          {"CPUs", "number"},
                                          {"Memory", "number optional"},
                                          {"Waiting", "number"},
                                          {"for GPUs", "number optional"}};
    struct holders holders = {.out = out, .row = row};
    html_heading(out, heading);
    html_table_begin(out, heading, columns, ARRAY_COUNT(columns));
    use_walk(use, add_holder, &holders);
    html_table_end(out);
    if (!holders.count)
        html_say(out, "note", TEXT("No job runs or waits there."));
}

/* What runs and waits, by queue and by user, counted as limits are. */
static void add_use(struct exchange *exchange, struct buffer *out)
{
    struct limit_row rows[] = {{.subject = LIMIT_QUEUE, .name = TEXT("*")},
                               {.subject = LIMIT_USER, .name = TEXT("*")}};
    struct error error;
    struct use *use = use_new(exchange->spool, rows, ARRAY_COUNT(rows),
                              1u << STATE_RENDERED | 1u << STATE_HELD | 1u << STATE_SUBMITTED);
    if (use_look(use, &error)) {
        html_say(out, "alert", text_of(error.text));
    } else {
        add_holders(out, use, &rows[0], "Queues", "Queue");
        add_holders(out, use, &rows[1], "Users", "User");
    }
    use_free(use);
}

static void show_cluster(struct exchange *exchange)
{
    struct buffer out = {0};
    struct settings settings;
    struct error error;
    if (settings_read(&settings, exchange->spool, &error)) {
        html_reply_sentence(exchange, HTTP_INTERNAL_ERROR, error.text);
        return;
    }
    html_begin(&out, "Cluster", "/cluster");
    add_daemon(exchange, &out, &settings);
    add_capacity(exchange, &out);
    add_use(exchange, &out);
    if (settings.limits.row_count) {
        html_heading(&out, "Limits");
        if (!limits_table_add(exchange, &out, &settings, true, &error))
            html_say(&out, "alert", text_of(error.text));
    }
    settings_free(&settings);
    html_reply(exchange, HTTP_OK, &out);
}

const struct route cluster_page_routes[] = {{"GET", "/cluster", show_cluster}, {.pattern = NULL}};
