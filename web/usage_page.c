/* web/usage_page.c - the page of what was used, with a picture, and the same as CSV
 *
 * The sums are those of `dlspool report`.  Fields of the query: by, one of its words; since and until, times as of
 * --starttime; whose=all, of all users.
 */
#include "web/usage_page.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "client/job_filter.h"
#include "client/report.h"
#include "web/chart.h"
#include "web/html.h"

enum { MOST_BARS = 25, MOST_IDLE_DAYS = 1000 };
static const double hour = 3600000; /* milliseconds */

static const struct html_choice choices[REPORT_KINDS] = {
    {"utilization", "day"}, {"users", "user"}, {"groups", "group"},
    {"queues", "queue"},    {"sizes", "GPUs"}, {"deadlines", "user, with deadlines"},
};

static const char *const headings[REPORT_KINDS] = {"Day", "User", "Group", "Queue", "GPUs", "User"};

/* ---- sums ---- */

static int read_time(const struct exchange *exchange, const char *name, int64_t *time,
                     struct error *error)
{
    struct text word = exchange_query(exchange, name);
    if (!word.length)
        return 0;
    return job_filter_read_time(name, arena_text(exchange->arena, word.data, word.length).data,
                                time, error);
}

/* HTTP_OK, or another status and a sentence. */
static int read_report(const struct exchange *exchange, struct report *report, struct error *error)
{
    *report = (struct report){.filter.all = text_is(exchange_query(exchange, "whose"), "all")};
    struct text kind = exchange_query(exchange, "by");
    if (kind.length && report_read_kind(kind, &report->kind, error)) {
        error_prefix(error, "by");
        return HTTP_BAD_REQUEST;
    }
    if (usage_filter_prepare(&report->filter, exchange->spool, error))
        return HTTP_INTERNAL_ERROR;
    if (read_time(exchange, "since", &report->filter.from, error) ||
        read_time(exchange, "until", &report->filter.until, error))
        return HTTP_BAD_REQUEST;
    if (report_make(report, exchange->spool, error))
        return HTTP_INTERNAL_ERROR;
    return HTTP_OK;
}

/* ---- the page ---- */

static void add_filter(struct buffer *out, const struct exchange *exchange)
{
    static const struct html_choice whose[] = {{"", "mine"}, {"all", "everybody's"}};
    html_filter_begin(out, "/usage");
    html_filter_choice(out, exchange, "by", "By", choices, REPORT_KINDS);
    html_filter_choice(out, exchange, "whose", "Whose", whose, ARRAY_COUNT(whose));
    html_filter_text(out, exchange, "since", "Since (30d)");
    html_filter_text(out, exchange, "until", "Until (now)");
    html_filter_end(out);
}

/* Midnight of the day that a row is of; 0: it is of none. */
static int64_t day_of(const struct report_row *row)
{
    int64_t time;
    char midnight[CLOCK_TEXT_SIZE];
    snprintf(midnight, sizeof(midnight), "%.10sT00:00:00Z", names_text(row).data);
    return clock_parse(text_of(midnight), &time) ? 0 : time;
}

/* How many days there are after that row's, before the next one's, on which nothing was held. */
static size_t idle_days(const struct report *report, size_t i)
{
    if (report->kind != REPORT_UTILIZATION || i + 1 >= report->count)
        return 0;
    int64_t from = day_of(report->rows[i]), until = day_of(report->rows[i + 1]);
    int64_t days = from && until > from ? (until - from) / CLOCK_DAY - 1 : 0;
    return days < MOST_IDLE_DAYS ? (size_t)days : MOST_IDLE_DAYS;
}

/* A column or bar for each row, and one of nothing for each idle day between. */
static struct chart_bar *make_bars(struct arena *arena, const struct report *report, bool gpus,
                                   size_t *count)
{
    size_t most = 1;
    char date[CLOCK_TEXT_SIZE];
    *count = 0;
    for (size_t i = 0; i < report->count; i++)
        most += 1 + idle_days(report, i);
    struct chart_bar *bars = arena_allocate(arena, most * sizeof(*bars));
    for (size_t i = 0; i < report->count; i++) {
        const struct report_row *row = report->rows[i];
        size_t idle = idle_days(report, i);
        bars[(*count)++] =
            (struct chart_bar){names_text(row), (gpus ? row->gpu_held : row->cpu_held) / hour};
        for (size_t k = 1; k <= idle; k++)
            bars[(*count)++].label = text_of(
                arena_string(arena, clock_date(day_of(row) + (int64_t)k * CLOCK_DAY, date)));
    }
    return bars;
}

/* The hours of GPUs, or of CPUs where nobody had any. */
static void add_chart(struct exchange *exchange, struct buffer *out, const struct report *report)
{
    bool gpus = false, days = report->kind == REPORT_UTILIZATION;
    size_t count;
    for (size_t i = 0; i < report->count; i++)
        gpus = gpus || report->rows[i]->gpu_held > 0;
    const struct chart_bar *bars = make_bars(exchange->arena, report, gpus, &count);
    const char *unit = gpus ? "GPU-hours" : "CPU-hours";
    const char *title =
        arena_printf(exchange->arena, "%s by %s", unit, choices[report->kind].label).data;
    html_heading(out, title);
    if (days)
        chart_columns(out, title, unit, bars, count);
    else
        chart_bars(out, title, unit, bars, count < MOST_BARS ? count : MOST_BARS);
}

static void add_hours(struct buffer *out, const char *class, double time)
{
    char digits[32];
    snprintf(digits, sizeof(digits), "%.2f", time / hour);
    html_cell(out, class, text_of(digits));
}

static void add_row(struct buffer *out, enum report_kind kind, const struct report_row *row)
{
    double attempts = row->attempts ? (double)row->attempts : 1;
    buffer_add_string(out, "<tr>");
    html_cell_head(out, names_text(row));
    html_cell_number(out, "number", row->attempts);
    html_cell_number(out, "number optional", row->succeeded);
    add_hours(out, "number", row->gpu_held);
    add_hours(out, "number", row->cpu_held);
    add_hours(out, "number optional", row->cpu_used);
    add_hours(out, "number optional", row->waited / attempts);
    if (kind != REPORT_UTILIZATION) { /* a job is not of a day */
        html_cell_number(out, "number optional", row->met);
        html_cell_number(out, "number optional", row->missed);
    }
    buffer_add_string(out, "</tr>\n");
}

static void add_table(struct buffer *out, const struct report *report)
{
    const struct html_column columns[] = {{headings[report->kind], ""},
                                          {"Attempts", "number"},
                                          {"Succeeded", "number optional"},
                                          {"GPU-hours", "number"},
                                          {"CPU-hours", "number"},
                                          {"CPU used", "number optional"},
                                          {"Mean wait, hours", "number optional"},
                                          {"Deadlines met", "number optional"},
                                          {"Missed", "number optional"}};
    html_table_begin(out, "Sums", columns,
                     ARRAY_COUNT(columns) - (report->kind == REPORT_UTILIZATION ? 2 : 0));
    for (size_t i = 0; i < report->count; i++)
        add_row(out, report->kind, report->rows[i]);
    html_table_end(out);
}

static void show_usage(struct exchange *exchange)
{
    static const char *const kept[] = {"by", "whose", "since", "until"};
    struct buffer out = {0};
    struct report report;
    struct error error;
    int status = read_report(exchange, &report, &error);
    if (status != HTTP_OK) {
        report_free(&report);
        html_reply_sentence(exchange, status, error.text);
        return;
    }
    html_begin(&out, "Usage", "/usage");
    add_filter(&out, exchange);
    if (report.count) {
        add_chart(exchange, &out, &report);
        add_table(&out, &report);
        buffer_add_string(&out, "<p><a href=\"/usage.csv?");
        html_query(&out, exchange, kept, ARRAY_COUNT(kept));
        buffer_add_string(&out, "\">As CSV</a></p>\n");
    } else {
        html_say(&out, "note", TEXT("No attempt has ended in that time."));
    }
    html_reply(exchange, HTTP_OK, &out);
    report_free(&report);
}

/* ---- CSV ---- */

void usage_page_add_field(struct buffer *out, struct text field)
{
    bool formula = field.length && memchr("=+-@\t\r", field.data[0], 6);
    buffer_add_byte(out, '"');
    if (formula)
        buffer_add_byte(out, '\'');
    for (size_t i = 0; i < field.length; i++) {
        if (field.data[i] == '"')
            buffer_add_byte(out, '"');
        buffer_add_byte(out, field.data[i]);
    }
    buffer_add_byte(out, '"');
}

/* The same sums with one line for each row. */
static void show_csv(struct exchange *exchange)
{
    struct buffer out = {0};
    struct report report;
    struct error error;
    int status = read_report(exchange, &report, &error);
    if (status != HTTP_OK) {
        report_free(&report);
        html_reply_sentence(exchange, status, error.text);
        return;
    }
    buffer_add_string(&out, "of,attempts,succeeded,not_known,gpu_held_hours,cpu_held_hours,"
                            "cpu_used_hours,wait_hours,deadlines,met,missed\r\n");
    for (size_t i = 0; i < report.count; i++) {
        const struct report_row *row = report.rows[i];
        usage_page_add_field(&out, names_text(row));
        buffer_printf(&out, ",%lld,%lld,%lld,%.6f,%.6f,%.6f,%.6f,%lld,%lld,%lld\r\n",
                      (long long)row->attempts, (long long)row->succeeded, (long long)row->unknown,
                      row->gpu_held / hour, row->cpu_held / hour, row->cpu_used / hour,
                      row->waited / hour, (long long)row->jobs, (long long)row->met,
                      (long long)row->missed);
    }
    exchange_add_header(exchange, "Content-Disposition",
                        TEXT("attachment; filename=\"usage.csv\""));
    exchange_reply_text(exchange, HTTP_OK, "text/csv; charset=utf-8",
                        arena_take(exchange->arena, &out));
    report_free(&report);
}

const struct route usage_page_routes[] = {
    {"GET", "/usage", show_usage}, {"GET", "/usage.csv", show_csv}, {.pattern = NULL}};
