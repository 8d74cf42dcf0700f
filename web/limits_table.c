/* web/limits_table.c - a table of what rows of limits.rows limit, and how much of it is used */
#include "web/limits_table.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "client/limit_amounts.h"
#include "web/html.h"

struct table {
    struct exchange *exchange;
    struct buffer *out;
    const struct limit_row *row; /* whose views are shown now */
    bool all, shown;             /* of this row something was */
};

static const struct html_column columns[] = {
    {"Whose", ""},       {"Limit of", ""},  {"GPU type", "optional"}, {"Used", "number"},
    {"Limit", "number"}, {"Part used", ""}, {"Waiting", "number"},    {"Over it", "optional"}};

/* Is that view of a row this user's, or of a queue? */
static bool is_mine(const struct use_view *view)
{
    const struct limit_row *row = view->row;
    const struct passwd *user = getpwuid(getuid());
    if (row->subject == LIMIT_QUEUE)
        return true;
    if (row->subject == LIMIT_GROUP)
        return strtoul(view->subject.data, NULL, 10) == (unsigned long)getgid();
    return (user && text_is(view->subject, user->pw_name)) ||
           (row->id == getuid() && !limit_row_is_for_each(row));
}

/* A row that nobody uses anything of. */
static bool is_for_me(const struct limit_row *row)
{
    return row->subject == LIMIT_QUEUE || limit_row_is_for_each(row) ||
           row->id == (row->subject == LIMIT_GROUP ? getgid() : getuid());
}

/* A row for one thing that a row of limits.rows limits. */
static void add_amount(struct table *table, const struct limit_amount *amount, const char *name)
{
    static const char *const overs[] = {[LIMIT_WAIT] = "jobs wait",
                                        [LIMIT_REFUSE] = "jobs are refused",
                                        [LIMIT_APPROVE] = "an approver decides"};
    const struct limit_row *row = table->row;
    struct buffer *out = table->out;
    char text[QUANTITY_TEXT_SIZE];
    buffer_add_string(out, "<tr>");
    html_cell_head(out, arena_printf(table->exchange->arena, "%s %s",
                                     limit_row_subject_name(row->subject), name));
    html_cell(out, "", text_of(amount->name));
    html_cell(out, "optional", row->gpu_type.length ? row->gpu_type : TEXT("any"));
    html_cell(out, "number", text_of(amount->is_counted ? amount->format(amount->used, text) : ""));
    html_cell(out, "number", text_of(amount->format(amount->limit, text)));
    buffer_add_string(out, "<td>");
    if (amount->is_counted && amount->limit > 0)
        buffer_printf(
            out,
            "<meter min=\"0\" max=\"%.0f\" value=\"%.0f\" aria-label=\"Part that is used\">"
            "</meter>",
            (double)amount->limit, (double)amount->used);
    buffer_add_string(out, "</td>");
    html_cell(out, "number",
              text_of(amount->is_counted ? amount->format(amount->waiting, text) : ""));
    html_cell(out, "optional", text_of(overs[row->over]));
    buffer_add_string(out, "</tr>\n");
}

static void add_view(struct table *table, const struct use_view *view, const char *name)
{
    struct limit_amount list[LIMIT_AMOUNTS];
    limit_amounts_list(view, list);
    for (size_t i = 0; i < LIMIT_AMOUNTS; i++)
        if (list[i].limit >= 0)
            add_amount(table, &list[i], name);
    table->shown = true;
}

static void see_view(void *context, const struct use_view *view)
{
    struct table *table = context;
    char name[LIMIT_AMOUNTS_NAME_SIZE];
    if (view->row != table->row || (!table->all && !is_mine(view)))
        return;
    limit_amounts_name(view->row, view->subject, name);
    add_view(table, view, name);
}

static void add_row(struct table *table, struct use *use, const struct limit_row *row)
{
    const struct use_view none = {.row = row};
    table->row = row;
    table->shown = false;
    use_walk(use, see_view, table);
    if (!table->shown && (table->all || is_for_me(row)))
        add_view(table, &none, limit_row_is_for_each(row) ? "each" : row->name.data);
}

bool limits_table_add(struct exchange *exchange, struct buffer *out,
                      const struct settings *settings, bool all, struct error *error)
{
    const struct job_limits *limits = &settings->limits;
    struct table table = {.exchange = exchange, .out = out, .all = all};
    struct use *use = use_new(exchange->spool, limits->rows, limits->row_count,
                              1u << STATE_RENDERED | 1u << STATE_HELD | 1u << STATE_SUBMITTED);
    use_count_gpu_time(use);
    bool looked = use_look(use, error) == 0;
    if (looked) {
        html_table_begin(out, "Limits", columns, ARRAY_COUNT(columns));
        for (size_t i = 0; i < limits->row_count; i++)
            add_row(&table, use, &limits->rows[i]);
        html_table_end(out);
    }
    use_free(use);
    return looked;
}
