/* stages/shared/approval_words.c - what `why` says of a job that waits for an approval */
#include "stages/shared/approval_words.h"

#include "spool/wants.h"

enum { MOST_NAMED = 8 }; /* approvers in a sentence */

/* "more than 8 GPUs for each user (limits.rows of dlspool.yaml, line 12, ...)"; without the line where the row is
 * gone. */
static void add_row(const struct settings *settings, struct text entry, struct buffer *out)
{
    struct arena *arena = arena_new();
    char which[LIMIT_ROW_TEXT_SIZE];
    const struct limit_row *row = NULL;
    for (size_t i = 0; i < settings->limits.row_count && !row; i++)
        if (text_equal(wants_of_row(arena, &settings->limits.rows[i]), entry))
            row = &settings->limits.rows[i];
    wants_describe(entry, out);
    if (row)
        buffer_printf(out, " (%s)", limit_row_describe(row, which));
    arena_free(arena);
}

/* One thing that is wanted: "privilege rdma (capability IPC_LOCK)". */
static void add_want(const struct settings *settings, struct text entry, struct buffer *out)
{
    const struct text head = TEXT(WANTS_PRIVILEGE);
    if (text_starts(entry, WANTS_LIMIT)) {
        add_row(settings, entry, out);
        return;
    }
    buffer_add_text(out, entry);
    if (!text_starts(entry, WANTS_PRIVILEGE))
        return;
    struct text name = {entry.data + head.length, entry.length - head.length};
    const struct privilege *privilege = privilege_find(&settings->privileges, name);
    if (!privilege)
        return;
    buffer_add_string(out, " (");
    privilege_describe(&privilege->grant, out);
    buffer_add_byte(out, ')');
}

/* Those who may decide: "ann, ben or cleo".  How many there are. */
static size_t add_approvers(const struct settings *settings, const struct job_record *record,
                            struct buffer *out)
{
    const struct approvers *approvers = &settings->approvers;
    size_t count = 0, told = 0;
    for (size_t i = 0; i < approvers->count; i++)
        count += approvers->users[i].uid != record->uid;
    for (size_t i = 0; i < approvers->count && told < MOST_NAMED; i++) {
        if (approvers->users[i].uid == record->uid)
            continue;
        buffer_printf(out, "%s%s",
                      told == 0                                     ? ""
                      : told + 1 == count || told + 1 == MOST_NAMED ? " or "
                                                                    : ", ",
                      approvers->users[i].name.data);
        told++;
    }
    return count;
}

void approval_words_make(const struct settings *settings, const struct job_record *record,
                         enum approval_answer answer, const struct error *reason,
                         struct approval_words *words)
{
    struct text rest = record->wants, entry;
    struct buffer who = {0};
    const char *id = record->id.data;
    bool limited = false;
    *words = (struct approval_words){.sentence = {0}};
    if (answer != APPROVAL_MISSING && answer != APPROVAL_VOID && answer != APPROVAL_UNKNOWN)
        return;
    buffer_add_string(&words->sentence, "Waiting for approval: ");
    for (const char *comma = ""; wants_next(&rest, &entry); comma = "; ") {
        buffer_add_string(&words->sentence, comma);
        add_want(settings, entry, &words->sentence);
        limited = limited || text_starts(entry, WANTS_LIMIT);
    }
    buffer_add_byte(&words->sentence, '.');
    if (answer == APPROVAL_VOID)
        buffer_printf(&words->detail, "An approval does not count: %s.\n", reason->text);
    else if (limited)
        buffer_add_string(
            &words->detail,
            "A limit counts all jobs under it that run and wait, not this one alone.\n");
    if (add_approvers(settings, record, &who))
        buffer_printf(&words->next,
                      "it goes on when %s approves it: dlspool approve %s, and fails when it is "
                      "refused: dlspool refuse %s --reason WORDS",
                      who.data, id, id);
    else
        buffer_printf(&words->next,
                      "it waits until an administrator names somebody but its owner under "
                      "approvers of dlspool.yaml, who approves it: dlspool approve %s",
                      id);
    buffer_free(&who);
}

void approval_words_free(struct approval_words *words)
{
    buffer_free(&words->sentence);
    buffer_free(&words->detail);
    buffer_free(&words->next);
}
