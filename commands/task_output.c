/* commands/task_output.c - prints the output of a job's tasks */
#include "commands/task_output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/directory.h"
#include "base/file.h"
#include "base/system.h"
#include "base/utf8.h"
#include "commands/print.h"
#include "executors/output_file.h"

enum { MOST_TASKS = 20000, BLOCK = 65536, LINE_LIMIT = 1 << 20, TIMES_LIMIT = 64 << 20 };

static int task_length(const char *name)
{
    return (int)strlen(name) - 4; /* without ".log" */
}

/* ---- finding the files ---- */

static bool has_number(const char *name, const char *number)
{
    struct text task = {name, (size_t)task_length(name)};
    size_t length = strlen(number);
    return text_ends(task, number) && task.length > length &&
           task.data[task.length - length - 1] == '-';
}

static int add_file(void *context, const char *name, unsigned char type)
{
    struct task_output *tasks = context;
    (void)type;
    if (!text_ends(text_of(name), ".log") || tasks->count == MOST_TASKS)
        return 0;
    if (tasks->task && ((int)strlen(tasks->task) != task_length(name) ||
                        strncmp(name, tasks->task, strlen(tasks->task)) != 0))
        return 0;
    if (tasks->number[0] && !has_number(name, tasks->number))
        return 0;
    for (size_t i = 0; i < tasks->count; i++)
        if (strcmp(tasks->files[i].name, name) == 0)
            return 0;
    tasks->files = memory_resize(tasks->files, (tasks->count + 1) * sizeof(*tasks->files));
    tasks->files[tasks->count++] = (struct output_file){.name = memory_copy_string(name)};
    return 0;
}

static int compare_files(const void *a, const void *b)
{
    const struct output_file *first = a, *second = b;
    return strverscmp(first->name, second->name);
}

static void find_files(struct task_output *tasks, int output)
{
    directory_walk(output, add_file, tasks);
    if (tasks->count)
        qsort(tasks->files, tasks->count, sizeof(*tasks->files), compare_files);
}

void task_output_names(int output, struct buffer *out)
{
    struct task_output tasks = {.tail = -1};
    find_files(&tasks, output);
    for (size_t i = 0; i < tasks.count; i++)
        buffer_printf(out, "%s%.*s", i ? ", " : "", task_length(tasks.files[i].name),
                      tasks.files[i].name);
    task_output_end(&tasks);
}

/* ---- printing ---- */

static void print_object(const struct output_file *file)
{
    struct arena *arena = arena_new();
    struct value *tree = value_object(arena);
    struct buffer line = {0};
    struct text rest = buffer_text(&file->line);
    /* JSON allows UTF-8 only. */
    while (rest.length) {
        size_t length = utf8_sequence(rest.data, rest.length);
        if (length)
            buffer_add(&line, rest.data, length);
        else
            buffer_add_string(&line, "\xef\xbf\xbd");
        rest.data += length ? length : 1;
        rest.length -= length ? length : 1;
    }
    value_put(arena, tree, "task",
              value_text(arena, (struct text){file->name, (size_t)task_length(file->name)}));
    value_put(arena, tree, "line", value_text(arena, buffer_text(&line)));
    print_json(tree);
    buffer_free(&line);
    arena_free(arena);
}

static void print_line(const struct task_output *tasks, struct output_file *file)
{
    if (tasks->style == OUTPUT_OBJECTS) {
        print_object(file);
    } else {
        printf("%.*s| ", task_length(file->name), file->name);
        if (tasks->raw)
            fwrite(file->line.data, 1, file->line.length, stdout);
        else
            print_text(buffer_text(&file->line));
        putchar('\n');
    }
    buffer_clear(&file->line);
}

static void print_lines(const struct task_output *tasks, struct output_file *file,
                        const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n' || file->line.length == LINE_LIMIT)
            print_line(tasks, file);
        if (bytes[i] != '\n')
            buffer_add_byte(&file->line, bytes[i]);
    }
}

/* Print the next bytes of a file; they may end within a character. */
static void print_part(const struct task_output *tasks, struct output_file *file, struct text bytes)
{
    struct buffer out = {0};
    if (!tasks->raw && print_to_terminal()) {
        visible_add(&file->visible, &out, bytes);
        bytes = buffer_text(&out);
    }
    if (bytes.length)
        fwrite(bytes.data, 1, bytes.length, stdout);
    buffer_free(&out);
}

/* Print the bytes of an incomplete character at the end of a file. */
static void print_rest(struct output_file *file)
{
    struct buffer out = {0};
    visible_end(&file->visible, &out);
    if (out.length)
        fwrite(out.data, 1, out.length, stdout);
    buffer_free(&out);
}

static void print_bytes(struct task_output *tasks, struct output_file *file, const char *bytes,
                        size_t count)
{
    tasks->any = true;
    if (tasks->style != OUTPUT_FILES) {
        print_lines(tasks, file, bytes, count);
        return;
    }
    if (tasks->count > 1 && tasks->last != file->name)
        printf("%s==> %.*s <==\n", tasks->last ? "\n" : "", task_length(file->name), file->name);
    tasks->last = file->name;
    print_part(tasks, file, (struct text){bytes, count});
}

/* The offset of the last `lines` lines of a file. */
static off_t find_tail(int file, int lines)
{
    char bytes[BLOCK];
    struct stat status;
    if (sys.fstat(file, &status) || lines == 0)
        return lines ? 0 : status.st_size;
    off_t end = status.st_size;
    int found = 0;
    for (off_t at = end; at > 0;) {
        off_t from = at > BLOCK ? at - BLOCK : 0;
        ssize_t count = sys.pread(file, bytes, (size_t)(at - from), from);
        for (ssize_t i = count - 1; i >= 0; i--)
            if (bytes[i] == '\n' && from + i + 1 < end && ++found >= lines)
                return from + i + 1;
        if (count <= 0)
            break;
        at = from;
    }
    return 0;
}

/* The start of the line that contains `offset`. */
static off_t line_at(int file, off_t offset)
{
    char bytes[BLOCK];
    while (offset > 0) {
        off_t from = offset > BLOCK ? offset - BLOCK : 0;
        ssize_t count = sys.pread(file, bytes, (size_t)(offset - from), from);
        for (ssize_t i = count - 1; i >= 0; i--)
            if (bytes[i] == '\n')
                return from + i + 1;
        if (count <= 0)
            break;
        offset = from;
    }
    return offset;
}

/* The offset of the output copied since then, by the file of times: bytes after an entry were
 * copied at most OUTPUT_TIMES_APART after it.  A log without that file was copied at once. */
static off_t find_since(int output, int file, const char *name, int64_t since)
{
    char buffer[OUTPUT_TIMES_NAME_SIZE];
    struct buffer times = {0};
    struct stat status;
    int64_t offset, time;
    if (sys.fstat(file, &status) || status.st_size == 0)
        return 0;
    if (file_read_at(output, output_file_times_name(name, buffer), TIMES_LIMIT, &times, NULL)) {
        buffer_clear(&times);
        buffer_printf(&times, "0 %" PRId64 "\n", (int64_t)status.st_mtim.tv_sec * 1000);
    }
    off_t found = status.st_size;
    struct text rest = buffer_text(&times), line;
    while (rest.length && text_next(&rest, '\n', &line)) {
        char entry[64];
        snprintf(entry, sizeof(entry), "%.*s", (int)line.length, line.data);
        if (sscanf(entry, "%" SCNd64 " %" SCNd64, &offset, &time) != 2 ||
            time <= since - OUTPUT_TIMES_APART)
            continue;
        found = offset < status.st_size ? line_at(file, (off_t)offset) : status.st_size;
        break;
    }
    buffer_free(&times);
    return found;
}

/* The offset at which printing a file starts. */
static off_t find_begin(struct task_output *tasks, int output, int file, const char *name, int tail)
{
    off_t since = tasks->since ? find_since(output, file, name, tasks->since) : 0;
    off_t last = tail >= 0 ? find_tail(file, tail) : 0;
    return since > last ? since : last;
}

/* Print a file of a task from an offset on, or its last lines.  Returns the new offset; -1
 * without the file. */
static off_t print_from(struct task_output *tasks, struct output_file *log, int output,
                        const char *name, off_t offset, int tail)
{
    bool first = !log->begun;
    char bytes[BLOCK];
    ssize_t count;
    int file = sys.openat(output, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (file < 0) {
        tasks->denied = tasks->denied || errno == EACCES;
        return -1;
    }
    if (first && (tail >= 0 || tasks->since))
        offset = find_begin(tasks, output, file, name, tail);
    while (offset >= 0 && (count = sys.pread(file, bytes, sizeof(bytes), offset)) > 0) {
        print_bytes(tasks, log, bytes, (size_t)count);
        offset += count;
    }
    sys.close(file);
    return offset;
}

/* Print the new output of one task.  A log that grew too long was renamed to <name>.1, and a new
 * one begun: the rest of the old one is printed first. */
static void print_file(struct task_output *tasks, struct output_file *log, int output)
{
    char older[NAME_MAX + 8];
    struct stat status;
    bool shorter = !sys.fstatat(output, log->name, &status, AT_SYMLINK_NOFOLLOW) &&
                   status.st_size < log->printed;
    int tail = log->begun ? -1 : tasks->tail;
    if (tail < 0 && (!log->begun || shorter)) {
        snprintf(older, sizeof(older), "%s.1", log->name);
        print_from(tasks, log, output, older, log->printed, -1);
        log->printed = 0;
    }
    off_t end = print_from(tasks, log, output, log->name, log->printed, tail);
    log->begun = true;
    if (end >= 0)
        log->printed = end;
    if (!tasks->interleave)
        print_rest(log);
}

void task_output_print(struct task_output *tasks, int output)
{
    find_files(tasks, output);
    if (tasks->interleave && tasks->count > 1 && tasks->style == OUTPUT_FILES)
        tasks->style = OUTPUT_LINES;
    for (size_t i = 0; i < tasks->count; i++)
        print_file(tasks, &tasks->files[i], output);
    fflush(stdout);
}

void task_output_end(struct task_output *tasks)
{
    for (size_t i = 0; i < tasks->count; i++) {
        struct output_file *file = &tasks->files[i];
        if (file->line.length)
            print_line(tasks, file);
        print_rest(file);
        buffer_free(&file->line);
        free(file->name);
    }
    free(tasks->files);
    tasks->files = NULL;
    tasks->count = 0;
}
