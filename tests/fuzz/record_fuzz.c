/* tests/fuzz/record_fuzz.c - spool/record.h: any bytes as job.yaml
 *
 * A record that is accepted is whole: what has to be there is, texts are texts; and written again
 * it reads back the same, so that a job can still be retried tomorrow.
 */
#include "spool/record.h"
#include "tests/fuzz/fuzz.h"

static void check_record(const struct job_record *record)
{
    CHECK(id_valid(record->id));
    const struct text texts[] = {
        record->name,    record->owner,         record->source,         record->request_file,
        record->library, record->version,       record->type,           record->executor,
        record->commit,  record->template_path, record->image,          record->manifest_sha256,
        record->dlspool, record->failure.class, record->failure.reason, record->failure.commit,
    };
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++)
        if (texts[i].data)
            check_text(texts[i]);
    const struct text terms[] = {record->deadline_mode, record->units_file,
                                 record->units_pattern, record->checkpoint_signal,
                                 record->gpu_type,      record->arguments_sha256};
    for (size_t i = 0; i < ARRAY_COUNT(terms); i++)
        if (terms[i].data)
            check_text(terms[i]);
    CHECK(record->weight >= 0 && record->units_total >= 0 && record->resizes >= 0);
    int64_t list[SIZES_MOST];
    size_t count = sizes_list(&record->sizes, list);
    CHECK((count > 0) == (record->sizes.kind != SIZE_FIXED));
    CHECK(count == 0 || (list[0] == record->sizes.least && list[count - 1] == record->sizes.most));
    CHECK(count == 0 || record->size == 0 ||
          (record->size >= record->sizes.least && record->size <= record->sizes.most));
    for (size_t i = 0; i < record->after_count; i++) {
        const struct awaited *awaited = &record->after[i];
        CHECK(awaited->condition.data && awaited->job.data);
        check_text(awaited->condition);
        check_text(awaited->job);
        CHECK(!awaited->id.length || id_valid(awaited->id));
    }
    CHECK(retry_when_name(record->failure.when)[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text source = fuzz_text(bytes, length);
    struct arena *arena = arena_new();
    struct error error = {""};
    struct job_record record;
    if (record_parse(arena, source, &record, &error)) {
        check_sentence(&error);
        arena_free(arena);
        return 0;
    }
    check_record(&record);
    struct buffer once = {0}, twice = {0};
    struct job_record again;
    CHECK(record_format(&record, &once, &error) == 0);
    CHECK(record_parse(arena, buffer_text(&once), &again, &error) == 0);
    CHECK(record_format(&again, &twice, &error) == 0);
    CHECK(text_equal(buffer_text(&once), buffer_text(&twice)));
    CHECK(text_equal(record.id, again.id) && record.uid == again.uid && record.gid == again.gid);
    CHECK(text_equal(record.name, again.name) && text_equal(record.image, again.image));
    CHECK(record.accepted == again.accepted && record.attempt == again.attempt);
    CHECK(record.memory == again.memory && record.backoff == again.backoff);
    CHECK(record.failed == again.failed && record.failure.when == again.failure.when);
    CHECK(record.failure.next == again.failure.next);
    CHECK(record.deadline == again.deadline && record.weight == again.weight);
    CHECK(record.size == again.size && record.sizes.step == again.sizes.step);
    CHECK(text_equal(record.units_pattern, again.units_pattern));
    CHECK(record.released == again.released && record.after_count == again.after_count);
    for (size_t i = 0; i < record.after_count; i++)
        CHECK(text_equal(record.after[i].id, again.after[i].id) &&
              text_equal(record.after[i].job, again.after[i].job));
    CHECK(record.failure.exit_code == again.failure.exit_code);
    buffer_free(&once);
    buffer_free(&twice);
    arena_free(arena);
    return 0;
}
