/* stages/prepare/wanted.c - which parts of a job its site gives only by approval */
#include "stages/prepare/wanted.h"

#include "spool/wants.h"
#include "stages/prepare/limits.h"

static void add_rows(struct arena *arena, const struct settings *settings,
                     const struct job_record *record, struct text *wants)
{
    const struct job_limits *limits = &settings->limits;
    struct error over;
    for (size_t i = 0; i < limits->row_count; i++) {
        const struct limit_row *row = &limits->rows[i];
        if (row->over == LIMIT_APPROVE &&
            limit_row_holds_for(row, record->uid, record->gid, record->queue, record->gpu_type) &&
            (wants_have_row(record->wants, row) || limits_check_row(row, record, &over)))
            *wants = wants_add(arena, *wants, wants_of_row(arena, row));
    }
}

void wanted_settle(struct arena *arena, const struct settings *settings, struct job_record *record)
{
    struct text wants = TEXT(""), rest = record->privileges, name;
    while (rest.length && text_next(&rest, ' ', &name)) {
        const struct privilege *privilege = privilege_find(&settings->privileges, name);
        if (!privilege || privilege->approve)
            wants =
                wants_add(arena, wants,
                          arena_printf(arena, WANTS_PRIVILEGE "%.*s", (int)name.length, name.data));
    }
    rest = record->unlisted;
    while (rest.length && text_next(&rest, ' ', &name))
        wants = wants_add(arena, wants,
                          arena_printf(arena, WANTS_IMAGE "%.*s", (int)name.length, name.data));
    add_rows(arena, settings, record, &wants);
    record->wants = wants;
}

int wanted_bind(struct arena *arena, struct repository *repository, struct text request,
                struct job_record *record, struct error *error)
{
    struct job_record first = *record, kept = *record;
    struct preparation preparation;
    record->first_manifest_sha256 = TEXT("");
    if (!record->wants.length)
        return 0;
    first.attempt = 1;
    first.array = first.array_left = first.array_killed = TEXT("");
    first.array_aside = first.array_held = TEXT("");
    first.size = first.size_now = first.size_next = 0;
    int unprepared =
        prepare_request(arena, request, record->source.data, &first, &preparation) != PREPARED;
    if (!unprepared) {
        kept.array_at_once = 0; /* it follows from how many tasks are left */
        limits_keep(&kept, &first, preparation.description);
        unprepared = prepare_manifest(arena, repository, &first, &preparation) != PREPARED;
    }
    if (unprepared)
        return error_set(error, "%s", preparation.error.text);
    record->first_manifest_sha256 = first.manifest_sha256;
    return 0;
}
