/* stages/metrics/series.c - a table of series, and how Prometheus reads them */
#include "stages/metrics/series.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/value.h"

enum { MOST_NAMES = 1 << 18, NAME_SIZE = 512 };

/* Upper bounds of histograms, in seconds: from what a queue should cost to what needs a look. */
static const char *const bounds[] = {"1",    "5",     "15",    "60",    "300",   "900",
                                     "3600", "14400", "43200", "86400", "259200"};

struct series_table {
    struct names *series;  /* struct series */
    struct names *metrics; /* size_t: how many series it has */
};

struct series_table *series_new(void)
{
    struct series_table *table = memory_allocate(sizeof(*table));
    table->series = names_new(MOST_NAMES, sizeof(struct series));
    table->metrics = names_new(MOST_NAMES, sizeof(size_t));
    return table;
}

void series_free(struct series_table *table)
{
    if (!table)
        return;
    names_free(table->series);
    names_free(table->metrics);
    free(table);
}

static struct text metric_of(struct text name)
{
    const char *brace = memchr(name.data, '{', name.length);
    return (struct text){name.data, brace ? (size_t)(brace - name.data) : name.length};
}

void series_add_named(struct series_table *table, struct text name, uint64_t count, double sum)
{
    struct series *series = names_find(table->series, name);
    if (!series && (series = names_add(table->series, name))) {
        struct text metric = metric_of(name);
        size_t *series_count = names_find(table->metrics, metric);
        if (!series_count)
            series_count = names_add(table->metrics, metric);
        if (series_count)
            ++*series_count;
    }
    if (series) {
        series->count += count;
        series->sum += sum;
    }
}

static struct text join(char name[static NAME_SIZE], const char *metric, const char *labels)
{
    int length = snprintf(name, NAME_SIZE, *labels ? "%s{%s}" : "%s", metric, labels);
    return (struct text){name, length < NAME_SIZE ? (size_t)length : NAME_SIZE - 1};
}

/* The same keys, each with the value `other`. */
static void make_other(const char *labels, char other[static NAME_SIZE])
{
    size_t length = 0;
    bool inside = false;
    for (const char *at = labels; *at && length + 8 < NAME_SIZE; at++) {
        if (inside && *at == '\\' && at[1]) {
            at++;
        } else if (*at == '"') {
            inside = !inside;
            length +=
                (size_t)snprintf(other + length, NAME_SIZE - length, inside ? "\"other" : "\"");
        } else if (!inside) {
            other[length++] = *at;
        }
    }
    other[length] = '\0';
}

/* The labels under which it is counted. */
static const char *bounded(const struct series_table *table, const char *metric, const char *labels,
                           char other[static NAME_SIZE])
{
    char name[NAME_SIZE];
    const size_t *count = names_find(table->metrics, text_of(metric));
    if (!count || *count < SERIES_MOST || names_find(table->series, join(name, metric, labels)))
        return labels;
    make_other(labels, other);
    return other;
}

void series_add(struct series_table *table, const char *metric, const char *labels, uint64_t count,
                double sum)
{
    char name[NAME_SIZE], other[NAME_SIZE];
    series_add_named(table, join(name, metric, bounded(table, metric, labels, other)), count, sum);
}

void series_gauge(struct series_table *table, const char *metric, const char *labels, double value)
{
    series_add(table, metric, labels, 1, value);
}

static struct text bucket_name(char name[static NAME_SIZE], const char *metric, struct text labels,
                               const char *bound)
{
    int length = snprintf(name, NAME_SIZE, "%s_bucket{%.*s%sle=\"%s\"}", metric, (int)labels.length,
                          labels.data, labels.length ? "," : "", bound);
    return (struct text){name, length < NAME_SIZE ? (size_t)length : NAME_SIZE - 1};
}

/* Each time is in the bucket of the least bound that it does not exceed, and in no other. */
void series_observe(struct series_table *table, const char *metric, const char *labels,
                    double seconds)
{
    char name[NAME_SIZE], other[NAME_SIZE];
    labels = bounded(table, metric, labels, other);
    series_add_named(table, join(name, metric, labels), 1, seconds);
    for (size_t i = 0; i < ARRAY_COUNT(bounds); i++)
        if (seconds <= atof(bounds[i])) {
            series_add_named(table, bucket_name(name, metric, text_of(labels), bounds[i]), 1,
                             seconds);
            return;
        }
}

const struct series *series_find(const struct series_table *table, const char *name)
{
    return names_find(table->series, text_of(name));
}

void series_each(const struct series_table *table, series_visit *visit, void *context)
{
    for (struct series *series = names_first(table->series); series; series = names_after(series))
        visit(context, names_text(series), series);
}

void series_remove(struct series_table *table, const char *metric)
{
    struct series *next;
    for (struct series *series = names_first(table->series); series; series = next) {
        next = names_after(series);
        if (text_is(metric_of(names_text(series)), metric))
            names_remove(table->series, series);
    }
    size_t *count = names_find(table->metrics, text_of(metric));
    if (count)
        names_remove(table->metrics, count);
}

/* ---- the text ---- */

static void print_line(struct buffer *out, const char *metric, const char *ending,
                       struct text labels, double value)
{
    char number[NUMBER_TEXT_SIZE];
    value_format_number(value, number);
    buffer_printf(out, labels.length ? "dlspool_%s%s{%.*s} %s\n" : "dlspool_%s%s%.*s %s\n", metric,
                  ending, (int)labels.length, labels.data, number);
}

static void print_buckets(struct buffer *out, const struct series_table *table, const char *metric,
                          struct text labels, const struct series *whole)
{
    char name[NAME_SIZE];
    uint64_t below = 0;
    for (size_t i = 0; i < ARRAY_COUNT(bounds); i++) {
        struct text bucket = bucket_name(name, metric, labels, bounds[i]);
        const struct series *series = names_find(table->series, bucket);
        below += series ? series->count : 0;
        buffer_printf(out, "dlspool_%.*s %" PRIu64 "\n", (int)bucket.length, bucket.data, below);
    }
    struct text bucket = bucket_name(name, metric, labels, "+Inf");
    buffer_printf(out, "dlspool_%.*s %" PRIu64 "\n", (int)bucket.length, bucket.data, whole->count);
}

static void print_series(struct buffer *out, const struct series_table *table,
                         const struct series_metric *metric, struct text name,
                         const struct series *series)
{
    size_t begin = strlen(metric->name) + 1;
    struct text labels = {"", 0};
    if (name.length > begin)
        labels = (struct text){name.data + begin, name.length - begin - 1};
    switch (metric->kind) {
    case SERIES_GAUGE:
        print_line(out, metric->name, "", labels, series->sum);
        return;
    case SERIES_COUNTER:
        print_line(out, metric->name, "", labels,
                   metric->sums ? series->sum : (double)series->count);
        return;
    case SERIES_HISTOGRAM:
        print_buckets(out, table, metric->name, labels, series);
        break;
    case SERIES_SUMMARY:
        break;
    }
    print_line(out, metric->name, "_sum", labels, series->sum);
    print_line(out, metric->name, "_count", labels, (double)series->count);
}

static void print_metric(struct buffer *out, const struct series_metric *metric,
                         const struct series_table *table, bool *begun)
{
    static const char *const types[] = {"gauge", "counter", "summary", "histogram"};
    if (!table || !names_find(table->metrics, text_of(metric->name)))
        return;
    if (!*begun)
        buffer_printf(out, "# HELP dlspool_%s %s\n# TYPE dlspool_%s %s\n", metric->name,
                      metric->help, metric->name, types[metric->kind]);
    *begun = true;
    for (struct series *series = names_first(table->series); series; series = names_after(series))
        if (text_is(metric_of(names_text(series)), metric->name))
            print_series(out, table, metric, names_text(series), series);
}

void series_print(struct buffer *out, const struct series_metric *metrics, size_t count,
                  const struct series_table *first, const struct series_table *second)
{
    for (size_t i = 0; i < count; i++) {
        bool begun = false;
        print_metric(out, &metrics[i], first, &begun);
        print_metric(out, &metrics[i], second, &begun);
    }
}
