/* web/list_memo.c - the lists of jobs that were made a moment ago, for who asks for the same again */
#include "web/list_memo.h"

#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/system.h"

/* The clock of a file system goes in steps of up to 10 ms: a second change within one does not show. */
static const int64_t step = 20;

struct made {
    struct list_mark mark;
    int64_t at;               /* of clock_elapsed(); 0: nothing */
    const char *content_type; /* lives as long as the process */
    struct buffer query, content, link;
};

/* The process answers one user. */
static struct made kept[LIST_MEMO_COUNT];
static size_t next;

static void read_mark(const struct spool *spool, struct list_mark *mark)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *mark = (struct list_mark){.settled = true};
    for (int i = 0; i < STATE_COUNT; i++) {
        struct stat status;
        if (sys.fstat(spool->states[i], &status)) {
            mark->settled = false;
            continue;
        }
        mark->inodes[i] = status.st_ino;
        mark->changed[i] = status.st_mtim;
        int64_t age = (now.tv_sec - status.st_mtim.tv_sec) * 1000 +
                      (now.tv_nsec - status.st_mtim.tv_nsec) / 1000000;
        if (age < step)
            mark->settled = false;
    }
}

static bool is_same(const struct list_mark *a, const struct list_mark *b)
{
    for (int i = 0; i < STATE_COUNT; i++)
        if (a->inodes[i] != b->inodes[i] || a->changed[i].tv_sec != b->changed[i].tv_sec ||
            a->changed[i].tv_nsec != b->changed[i].tv_nsec)
            return false;
    return true;
}

/* The query in one text, in which each part tells its length. */
static void write_query(const struct exchange *exchange, struct buffer *out)
{
    out->length = 0;
    for (size_t i = 0; i < exchange->query_count; i++) {
        const struct web_field *field = &exchange->query[i];
        buffer_printf(out, "%zu %zu ", field->name.length, field->value.length);
        buffer_add_text(out, field->name);
        buffer_add_text(out, field->value);
    }
}

bool list_memo_reply(struct exchange *exchange, struct list_mark *mark)
{
    struct buffer query = {0};
    bool found = false;
    read_mark(exchange->spool, mark);
    write_query(exchange, &query);
    for (size_t i = 0; i < LIST_MEMO_COUNT && !found; i++) {
        const struct made *made = &kept[i];
        if (!made->at || clock_elapsed() - made->at > LIST_MEMO_AGE ||
            !is_same(&made->mark, mark) ||
            !text_equal(buffer_text(&made->query), buffer_text(&query)))
            continue;
        found = true;
        struct text link = buffer_text(&made->link), content = buffer_text(&made->content);
        if (link.length)
            exchange_add_header(exchange, "Link",
                                arena_text(exchange->arena, link.data, link.length));
        exchange_reply_text(exchange, HTTP_OK, made->content_type,
                            arena_text(exchange->arena, content.data, content.length));
    }
    buffer_free(&query);
    return found;
}

void list_memo_keep(const struct exchange *exchange, const struct list_mark *mark)
{
    if (!mark->settled || exchange->status != HTTP_OK || exchange->content.length > LIST_MEMO_SIZE)
        return;
    struct made *made = &kept[next++ % LIST_MEMO_COUNT];
    made->mark = *mark;
    made->at = clock_elapsed();
    made->content_type = exchange->content_type;
    made->content.length = made->link.length = 0;
    write_query(exchange, &made->query);
    buffer_add_text(&made->content, exchange->content);
    for (size_t i = 0; i < exchange->reply_header_count; i++)
        if (strcmp(exchange->reply_headers[i].name.data, "Link") == 0)
            buffer_add_text(&made->link, exchange->reply_headers[i].value);
}

void list_memo_clear(void)
{
    for (size_t i = 0; i < LIST_MEMO_COUNT; i++) {
        buffer_free(&kept[i].query);
        buffer_free(&kept[i].content);
        buffer_free(&kept[i].link);
        kept[i] = (struct made){.at = 0};
    }
}
