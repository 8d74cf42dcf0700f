/* tests/fuzz/scalar_fuzz.c - base/: any bytes as a time, a duration, a quantity, a number, a quote,
 * a job's name, an id
 *
 * What is read is in range and, written, reads back the same; what is quoted is fit for a terminal.
 */
#include "base/clock.h"
#include "base/duration.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "base/utf8.h"
#include "spool/id.h"
#include "tests/fuzz/fuzz.h"

static void read_times(struct text text)
{
    int64_t time, again;
    char buffer[CLOCK_TEXT_SIZE], date[CLOCK_TEXT_SIZE];
    if (clock_parse(text, &time) == 0) {
        clock_format(time, buffer);
        CHECK(strlen(buffer) == 24 && clock_parse(text_of(buffer), &again) == 0 && again == time);
        CHECK(strncmp(buffer, clock_date(time, date), 10) == 0);
    }
    if (duration_parse(text, &time) == 0) {
        CHECK(time >= 0 && time <= 3653 * 86400000LL);
        CHECK(duration_format(time, buffer)[0]);
    }
}

static void read_quantities(struct text text)
{
    int64_t amount, again;
    char buffer[QUANTITY_TEXT_SIZE];
    if (quantity_parse_bytes(text, &amount) == 0) {
        CHECK(amount >= 0);
        CHECK(quantity_format_bytes(amount, buffer)[0]);
    }
    if (quantity_parse_cpus(text, &amount) == 0) {
        CHECK(amount >= 0);
        quantity_format_cpus(amount, buffer);
        CHECK(quantity_parse_cpus(text_of(buffer), &again) == 0 && again == amount);
    }
}

/* The first eight bytes as a double. */
static void write_number(struct text text)
{
    double number;
    char buffer[NUMBER_TEXT_SIZE];
    if (text.length < sizeof(number))
        return;
    memcpy(&number, text.data, sizeof(number));
    size_t length = value_format_number(number, buffer);
    CHECK(length > 0 && length == strlen(buffer) && length < NUMBER_TEXT_SIZE);
    if (isfinite(number))
        CHECK(strtod(buffer, NULL) == number);
}

static void quote(struct text text)
{
    struct error_quote_buffer buffer;
    struct error error = {""};
    struct buffer copy = {0};
    error_set(&error, "\"%s\"", error_quote(&buffer, text.data, text.length));
    check_sentence(&error);
    CHECK(!strchr(error.text, '\n') && strlen(buffer.text) < sizeof(buffer.text));
    /* What needs no quoting is left alone. */
    buffer_add(&copy, error.text + 1, strlen(error.text) - 2);
    CHECK(text_equal(text, buffer_text(&copy)) || text.length > 80 || strchr(buffer.text, '\\'));
    buffer_free(&copy);
}

/* A sentence that is too long is cut between characters; one more and one less byte before. */
static void cut(struct text text)
{
    enum { PIECE = 300 };
    struct error error = {""};
    if (!utf8_valid(text) || text.length == 0 || text.length > PIECE)
        return;
    error_set(&error, "%*s", ERROR_TEXT_SIZE - 1 - (int)text.length / 2, "");
    error_prefix(&error, "%.*s", (int)text.length, text.data);
    CHECK(utf8_valid(text_of(error.text)));
    error_set(&error, "%*s%.*s", ERROR_TEXT_SIZE - 1 - (int)text.length / 2, "", (int)text.length,
              text.data);
    CHECK(utf8_valid(text_of(error.text)));
    CHECK(strlen(error.text) + 4 >= ERROR_TEXT_SIZE - text.length / 2 - 1);
}

static void name_job(struct text text)
{
    char id[ID_SIZE];
    id_make(text, "0123456789abc", id);
    CHECK(id_valid(text_of(id)) && text_is(id_token(text_of(id)), "0123456789abc"));
    if (!id_valid(text))
        return;
    CHECK(text.length < ID_SIZE && id_token_valid(id_token(text)) && id_time(text) >= 0);
    for (size_t i = 0; i < text.length; i++)
        CHECK(strchr("abcdefghijklmnopqrstuvwxyz0123456789-", text.data[i]) && text.data[i]);
}

static void find_nearest(struct text text)
{
    static const char *const words[] = {"library", "name", "tasks", "type", "version", "", NULL};
    const char *nearest = nearest_word(text, words);
    CHECK(!nearest || strlen(nearest) <= 7);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct text text = fuzz_text(bytes, length);
    read_times(text);
    read_quantities(text);
    write_number(text);
    quote(text);
    cut(text);
    name_job(text);
    find_nearest(text);
    struct text trimmed = text_trim(text);
    CHECK(text_equal(text_trim(trimmed), trimmed) && text_contains(text, trimmed));
    return 0;
}
