/* stages/metrics/series.h - a table of series, and how Prometheus reads them
 *
 * A series is a metric with its labels, `attempts_total{outcome="failed"}`, and has a count and a sum.  Which of them
 * is its value, its metric's row in a table of descriptions says.  Of one metric there are at most SERIES_MOST
 * series: what is beyond is counted under labels whose values are all `other`.
 */
#ifndef STAGES_METRICS_SERIES_H
#define STAGES_METRICS_SERIES_H

#include "base/text.h"

enum { SERIES_MOST = 1000 };

struct series {
    uint64_t count;
    double sum;
};

enum series_kind {
    SERIES_GAUGE,   /* the sum is its value */
    SERIES_COUNTER, /* the count is; of a name that does not count things, the sum */
    SERIES_SUMMARY, /* both are, as NAME_count and NAME_sum */
    SERIES_HISTOGRAM,
};

struct series_metric {
    const char *name; /* without dlspool_ */
    enum series_kind kind;
    bool sums; /* of a counter: its value is the sum */
    const char *help;
};

struct series_table;

struct series_table *series_new(void);
void series_free(struct series_table *table); /* NULL is fine */

/* `labels`: what labels_add() wrote, or "". */
void series_add(struct series_table *table, const char *metric, const char *labels, uint64_t count,
                double sum);
void series_gauge(struct series_table *table, const char *metric, const char *labels, double value);
/* Add a time to a histogram. */
void series_observe(struct series_table *table, const char *metric, const char *labels,
                    double seconds);
/* Add to a series by its whole name, as series_each() tells it. */
void series_add_named(struct series_table *table, struct text name, uint64_t count, double sum);

/* NULL when it is not there. */
const struct series *series_find(const struct series_table *table, const char *name);

typedef void series_visit(void *context, struct text name, const struct series *series);
void series_each(const struct series_table *table, series_visit *visit, void *context);

/* Remove all series of a metric. */
void series_remove(struct series_table *table, const char *metric);

/* Append the metrics that have series in one of two tables, in the text format of Prometheus. */
void series_print(struct buffer *out, const struct series_metric *metrics, size_t count,
                  const struct series_table *first, const struct series_table *second);

#endif
