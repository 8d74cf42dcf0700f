/* commands/columns.c - tables of jobs */
#include "commands/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "commands/complain.h"
#include "commands/options.h"

enum { MOST_COLUMNS = 24, KEPT_ROWS = 200, LEAST_REASON = 20 };

/* The input of a cell. */
struct cell_source {
    const struct job_view *view;
    const struct outlook *outlook;
};
typedef void write_cell(const struct cell_source *source, struct buffer *out);

const char *columns_span_format(int64_t milliseconds, char buffer[static SPAN_TEXT_SIZE])
{
    int64_t seconds = milliseconds / 1000, minutes = seconds / 60, hours = minutes / 60;
    int64_t days = hours / 24;
    if (days)
        snprintf(buffer, SPAN_TEXT_SIZE, "%" PRId64 "-%02d:%02d:%02d", days, (int)(hours % 24),
                 (int)(minutes % 60), (int)(seconds % 60));
    else if (hours)
        snprintf(buffer, SPAN_TEXT_SIZE, "%d:%02d:%02d", (int)hours, (int)(minutes % 60),
                 (int)(seconds % 60));
    else
        snprintf(buffer, SPAN_TEXT_SIZE, "%d:%02d", (int)minutes, (int)(seconds % 60));
    return buffer;
}

int columns_terminal_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    if (!isatty(STDOUT_FILENO))
        return 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    int width = columns ? atoi(columns) : 0;
    return width > 0 ? width : 80;
}

/* ---- cells ---- */

static void put_time(struct buffer *out, int64_t time)
{
    char buffer[CLOCK_TEXT_SIZE];
    if (time)
        buffer_add_string(out, clock_local(time, buffer));
}

static void cell_id(const struct cell_source *source, struct buffer *out)
{
    buffer_add_string(out, source->view->place.id);
    if (source->view->element.length)
        buffer_printf(out, "/%.*s", (int)source->view->element.length, source->view->element.data);
}

static void cell_name(const struct cell_source *source, struct buffer *out)
{
    buffer_add_text(out, source->view->record.name);
}

static void cell_state(const struct cell_source *source, struct buffer *out)
{
    buffer_add_string(out, job_state_name(source->view->situation.state));
}

static void cell_directory(const struct cell_source *source, struct buffer *out)
{
    char place[PLACE_TEXT_SIZE];
    buffer_add_string(out, job_place_text(&source->view->place, place));
}

static void cell_user(const struct cell_source *source, struct buffer *out)
{
    buffer_add_text(out, source->view->record.owner);
}

static void cell_library(const struct cell_source *source, struct buffer *out)
{
    buffer_add_text(out, source->view->record.library);
}

static void cell_type(const struct cell_source *source, struct buffer *out)
{
    buffer_add_text(out, source->view->record.type);
}

static void cell_age(const struct cell_source *source, struct buffer *out)
{
    char buffer[SPAN_TEXT_SIZE];
    int64_t age = clock_now() - id_time(text_of(source->view->place.id));
    buffer_add_string(out, columns_span_format(age > 0 ? age : 0, buffer));
}

static void cell_submitted(const struct cell_source *source, struct buffer *out)
{
    put_time(out, id_time(text_of(source->view->place.id)));
}

static void cell_started(const struct cell_source *source, struct buffer *out)
{
    put_time(out, source->view->situation.started);
}

static void cell_ended(const struct cell_source *source, struct buffer *out)
{
    put_time(out, source->view->situation.ended);
}

static void cell_elapsed(const struct cell_source *source, struct buffer *out)
{
    char buffer[SPAN_TEXT_SIZE];
    int64_t elapsed = view_elapsed(source->view);
    if (elapsed >= 0)
        buffer_add_string(out, columns_span_format(elapsed, buffer));
}

static void cell_queue(const struct cell_source *source, struct buffer *out)
{
    buffer_add_text(out, source->view->record.queue);
}

static void cell_cpus(const struct cell_source *source, struct buffer *out)
{
    char buffer[QUANTITY_TEXT_SIZE];
    if (source->view->record.cpus)
        buffer_add_string(out, quantity_format_cpus(source->view->record.cpus, buffer));
}

static void cell_gpus(const struct cell_source *source, struct buffer *out)
{
    if (source->view->record.gpus)
        buffer_printf(out, "%d", source->view->record.gpus);
}

static void cell_memory(const struct cell_source *source, struct buffer *out)
{
    char buffer[QUANTITY_TEXT_SIZE];
    if (source->view->record.memory)
        buffer_add_string(out, quantity_format_bytes(source->view->record.memory, buffer));
}

static void cell_priority(const struct cell_source *source, struct buffer *out)
{
    if (source->view->record.priority_class.length)
        buffer_add_text(out, source->view->record.priority_class);
    else if (source->view->record.priority)
        buffer_printf(out, "%d", source->view->record.priority);
}

static void cell_node(const struct cell_source *source, struct buffer *out)
{
    buffer_add_string(out, source->view->situation.node);
}

/* The job's name at the scheduler, and its state there, in the scheduler's word. */
static void cell_scheduler(const struct cell_source *source, struct buffer *out)
{
    const struct tasks_file *tasks = &source->view->tasks;
    buffer_add_string(out, tasks->scheduler_id);
    if (tasks->scheduler_state[0])
        buffer_printf(out, "%s%s", out->length ? " " : "", tasks->scheduler_state);
}

static void cell_tasks(const struct cell_source *source, struct buffer *out)
{
    view_print_tasks(source->view, out);
}

static void cell_exit(const struct cell_source *source, struct buffer *out)
{
    int code = view_exit_code(source->view);
    if (code >= 0)
        buffer_printf(out, "%d", code);
}

static void cell_deadline(const struct cell_source *source, struct buffer *out)
{
    char buffer[OUTLOOK_TEXT_SIZE];
    if (outlook_is_there(source->outlook))
        buffer_add_string(out, outlook_text(source->outlook, buffer));
}

/* The reason, after the deadline status if there is one and it is known. */
static void cell_reason(const struct cell_source *source, struct buffer *out)
{
    struct text sentence = view_sentence(source->view);
    if (source->outlook->deadline_status && source->view->place.state != STATE_DONE) {
        cell_deadline(source, out);
        buffer_add_string(out, sentence.length ? "; " : "");
    }
    buffer_add_text(out, sentence);
}

/* Columns with the highest `rank` are left out first when the terminal is narrow; those of rank
 * 0 stay. */
static const struct column {
    const char *word, *heading;
    write_cell *write;
    int rank;
    bool right, usual;
} known[] = {
    {"id", "ID", cell_id, 0, false, true},
    {"name", "NAME", cell_name, 0, false, false},
    {"state", "STATE", cell_state, 0, false, true},
    {"user", "USER", cell_user, 3, false, true},
    {"elapsed", "ELAPSED", cell_elapsed, 0, true, true},
    {"queue", "QUEUE", cell_queue, 5, false, true},
    {"cpus", "CPUS", cell_cpus, 1, true, true},
    {"gpus", "GPUS", cell_gpus, 0, true, true},
    {"node", "NODE", cell_node, 4, false, true},
    {"tasks", "TASKS", cell_tasks, 2, false, true},
    {"scheduler", "SCHEDULER", cell_scheduler, 6, false, true},
    {"reason", "REASON", cell_reason, 0, false, true},
    {"age", "AGE", cell_age, 0, true, false},
    {"submitted", "SUBMITTED", cell_submitted, 0, false, false},
    {"started", "STARTED", cell_started, 0, false, false},
    {"ended", "ENDED", cell_ended, 0, false, false},
    {"memory", "MEMORY", cell_memory, 0, true, false},
    {"priority", "PRIORITY", cell_priority, 0, true, false},
    {"exit", "EXIT", cell_exit, 0, true, false},
    {"deadline", "DEADLINE", cell_deadline, 0, false, false},
    {"library", "LIBRARY", cell_library, 0, false, false},
    {"type", "TYPE", cell_type, 0, false, false},
    {"directory", "DIRECTORY", cell_directory, 0, false, false},
};
enum { KNOWN = ARRAY_COUNT(known) };

/* ---- the table ---- */

struct columns {
    const struct column *items[MOST_COLUMNS];
    size_t width[MOST_COLUMNS];
    bool filled[MOST_COLUMNS]; /* a row has a value there */
    bool hidden[MOST_COLUMNS];
    int count;
    bool chosen; /* by the caller's words: nothing is left out */
    bool laid_out;
    int terminal; /* its width in characters; 0: none */
    char *(*rows)[MOST_COLUMNS];
    size_t row_count;
};

static bool take_word(struct columns *columns, struct text word)
{
    const char *words[KNOWN + 1] = {NULL};
    for (int i = 0; i < KNOWN; i++) {
        words[i] = known[i].word;
        if (text_is(word, words[i]) && columns->count < MOST_COLUMNS) {
            columns->items[columns->count++] = &known[i];
            return true;
        }
    }
    struct error_quote_buffer buffer;
    struct buffer all = {0};
    struct nearest_hint hint;
    for (int i = 0; i < KNOWN; i++)
        buffer_printf(&all, "%s%s", i ? ", " : "", words[i]);
    complain("--format: found \"%s\", expected columns such as id,state,reason, of: %s%s",
             error_quote(&buffer, word.data, word.length), all.data,
             nearest_hint(&hint, word, words));
    buffer_free(&all);
    return false;
}

struct columns *columns_new(const char *words, int width)
{
    struct columns *columns = memory_allocate(sizeof(*columns));
    columns->terminal = width;
    columns->chosen = words != NULL;
    columns->rows = memory_allocate(KEPT_ROWS * sizeof(*columns->rows));
    for (int i = 0; i < KNOWN && !words; i++)
        if (known[i].usual)
            columns->items[columns->count++] = &known[i];
    struct text rest = text_of(words), word;
    while (words && rest.data && text_next(&rest, ',', &word))
        if (!take_word(columns, text_trim(word))) {
            columns_free(columns);
            return NULL;
        }
    return columns;
}

void columns_free(struct columns *columns)
{
    for (size_t i = 0; i < columns->row_count; i++)
        for (int j = 0; j < columns->count; j++)
            free(columns->rows[i][j]);
    free(columns->rows);
    free(columns);
}

/* The width of the text, counting one column for each character. */
static size_t count_characters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static void print_padded(const char *cell, size_t width, bool right)
{
    size_t length = count_characters(cell);
    int gap = length < width ? (int)(width - length) : 0;
    printf("%*s%s%*s", right ? gap : 0, "", cell, right ? 0 : gap, "");
}

/* Print the cell in at most `most` characters; a cut one ends with an ellipsis. */
static void print_cut(const char *cell, size_t most)
{
    if (count_characters(cell) <= most) {
        fputs(cell, stdout);
        return;
    }
    size_t count = 0;
    const char *at = cell;
    while (*at && count + 1 < most) {
        at++;
        while (((unsigned char)*at & 0xc0) == 0x80)
            at++;
        count++;
    }
    printf("%.*s…", (int)(at - cell), cell);
}

static void print_row(const struct columns *columns, char *const *cells)
{
    size_t used = 0;
    int last = columns->count - 1;
    while (last > 0 && columns->hidden[last])
        last--;
    for (int i = 0; i <= last; i++) {
        if (columns->hidden[i])
            continue;
        const char *cell = *cells[i] || (i == last && columns->terminal) ? cells[i] : "-";
        if (i < last) {
            print_padded(cell, columns->width[i], columns->items[i]->right);
            fputs("  ", stdout);
            used += columns->width[i] + 2;
        } else if (columns->terminal && (size_t)columns->terminal > used) {
            print_cut(cell, (size_t)columns->terminal - used);
        } else {
            fputs(cell, stdout);
        }
    }
    putchar('\n');
}

static size_t wanted_width(const struct columns *columns)
{
    size_t sum = 0;
    for (int i = 0; i < columns->count; i++)
        if (!columns->hidden[i])
            sum += i + 1 < columns->count             ? columns->width[i] + 2
                   : columns->width[i] < LEAST_REASON ? columns->width[i]
                                                      : LEAST_REASON;
    return sum;
}

static void hide_columns(struct columns *columns)
{
    for (int i = 0; i < columns->count; i++)
        columns->hidden[i] = !columns->filled[i];
    while (wanted_width(columns) > (size_t)columns->terminal) {
        int least = -1;
        for (int i = 0; i < columns->count; i++)
            if (!columns->hidden[i] && columns->items[i]->rank &&
                (least < 0 || columns->items[i]->rank > columns->items[least]->rank))
                least = i;
        if (least < 0)
            return;
        columns->hidden[least] = true;
    }
}

static void lay_out(struct columns *columns)
{
    char *headings[MOST_COLUMNS];
    columns->laid_out = true;
    for (int i = 0; i < columns->count; i++) {
        size_t heading = columns->terminal ? count_characters(columns->items[i]->heading) : 1;
        headings[i] = (char *)(uintptr_t)columns->items[i]->heading;
        if (columns->width[i] < heading)
            columns->width[i] = heading;
    }
    if (columns->terminal && !columns->chosen)
        hide_columns(columns);
    if (columns->terminal)
        print_row(columns, headings);
}

void columns_flush(struct columns *columns)
{
    if (!columns->laid_out && columns->row_count)
        lay_out(columns);
    for (size_t i = 0; i < columns->row_count; i++) {
        print_row(columns, columns->rows[i]);
        for (int j = 0; j < columns->count; j++)
            free(columns->rows[i][j]);
    }
    columns->row_count = 0;
}

void columns_add(struct columns *columns, const struct job_view *view,
                 const struct outlook *outlook)
{
    const struct cell_source source = {view, outlook};
    char **row = columns->rows[columns->row_count++];
    for (int i = 0; i < columns->count; i++) {
        struct buffer cell = {0};
        columns->items[i]->write(&source, &cell);
        row[i] = memory_copy_string(cell.data ? cell.data : "");
        size_t length = count_characters(row[i]);
        if (!columns->laid_out && length > columns->width[i])
            columns->width[i] = length;
        columns->filled[i] = columns->filled[i] || length;
        buffer_free(&cell);
    }
    if (columns->laid_out || columns->row_count == KEPT_ROWS)
        columns_flush(columns);
}
