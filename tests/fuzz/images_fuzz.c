/* tests/fuzz/images_fuzz.c - renderer/images.h: any bytes as images.txt
 *
 * What is accepted are rows of words; each row is found by what stands in it, or an earlier one is.
 * The report finds a fault exactly when reading does.
 */
#include "base/utf8.h"
#include "renderer/images.h"
#include "tests/fuzz/fuzz.h"

static void check_word(struct text word)
{
    CHECK(word.length > 0 && utf8_valid(word));
    for (size_t i = 0; i < word.length; i++)
        CHECK((unsigned char)word.data[i] > ' ' && word.data[i] != 0x7f);
}

static struct text asked(struct text word)
{
    return text_is(word, "*") ? TEXT("anything") : word;
}

/* What the row has; a version of * fits jobs that name none. */
static struct image_query query_for(const struct image_row *row, bool version)
{
    return (struct image_query){
        .library = asked(row->library),
        .version = version && !text_is(row->version, "*") ? row->version : TEXT(""),
        .type = asked(row->type),
        .accelerator = asked(row->accelerator),
        .host = true,
    };
}

static void check_row(const struct images *images, const struct image_row *row)
{
    const struct text words[] = {row->library, row->version, row->type, row->accelerator,
                                 row->image};
    for (size_t i = 0; i < ARRAY_COUNT(words); i++)
        check_word(words[i]);
    CHECK(images_name_valid(row->image) && !strchr("-:@+#", row->image.data[0]));
    struct image_query query = query_for(row, true), any_version = query_for(row, false);
    const struct image_row *found = images_find(images, &query);
    CHECK(found && found <= row && found->line <= row->line);
    CHECK(images_serve(images, asked(row->library), asked(row->type), true));
    /* A version that was not asked for fits as well. */
    const struct image_row *any = images_find(images, &any_version);
    CHECK(any && any <= found);
    /* No row gives another version than the one that was named. */
    struct text version = images_version(found, &query);
    CHECK(!query.version.length || host_version_begins(version, query.version));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    enum { ROWS = 300 }; /* looked up: each look-up walks the table */
    struct text source = fuzz_text(bytes, length);
    struct arena *arena = arena_new();
    struct error error = {""};
    struct buffer report = {0};
    size_t warnings = 0;
    size_t faults = images_report(source, "images.txt", &report, &warnings);
    const struct images *images = images_parse(arena, source, "images.txt", &error);
    CHECK((faults == 0) == (images != NULL));
    CHECK(utf8_valid(buffer_text(&report)));
    if (!images)
        check_sentence(&error);
    for (size_t i = 0; images && i < images->count && i < ROWS; i++)
        check_row(images, &images->rows[i]);
    buffer_free(&report);
    arena_free(arena);
    return 0;
}
