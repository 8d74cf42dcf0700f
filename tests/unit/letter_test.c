/* tests/unit/letter_test.c - mails about jobs: headers that stay headers, whatever users wrote, and what they tell */
#include "stages/notify/letter.h"
#include "base/clock.h"
#include "base/json.h"
#include "stages/notify/mime.h"
#include "tests/unit/unit_arena.h"

static struct text header(const char *bytes, size_t length)
{
    struct buffer out = {0};
    mime_add_header(&out, "Subject", (struct text){bytes, length});
    return arena_take(arena, &out);
}

static void a_header_is_one_header(void **state)
{
    static const struct {
        const char *text, *written;
    } cases[] = {
        {"[dlspool] train ended", "Subject: [dlspool] train ended\n"},
        {"a\r\nBcc: x@y\n\nbody", "Subject: a  Bcc: x@y  body\n"},
        {"=?UTF-8?B?eA==?=", "Subject: =?UTF-8?B?PT9VVEYtOD9CP2VBPT0/PQ==?=\n"},
        {"gr\xc3\xbc\xc3\x9f", "Subject: =?UTF-8?B?Z3LDvMOf?=\n"},
        {"\xff", "Subject: ?\n"},
        {"\x1b[31m\x7f", "Subject:  [31m \n"},
        /* Words end between characters. */
        {"\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
         "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
         "ab\xe2\x82\xac",
         "Subject: =?UTF-8?B?4oKs4oKs4oKs4oKs4oKs4oKs4oKs4oKs4oKs4oKs4oKs4oKs4oKs4oKsYWI=?=\n"
         " =?UTF-8?B?4oKs?=\n"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        assert_string_equal(header(cases[i].text, strlen(cases[i].text)).data, cases[i].written);
    /* However long: lines of at most 998 bytes. */
    char *bytes = arena_allocate(arena, 5000);
    memset(bytes, 'x', 5000);
    struct text rest = header(bytes, 5000), line;
    while (text_next(&rest, '\n', &line))
        assert_true(line.length < 100);
}

static void a_body_is_ascii(void **state)
{
    static const struct {
        const char *text, *written;
    } cases[] = {
        {"plain\ntext\n", "7bit\n\nplain\ntext\n"},
        {"gr\xc3\xbc\xc3\x9f 1=1 \n", "quoted-printable\n\ngr=C3=BC=C3=9F 1=3D1=20\n"},
        {".\nFrom me\n", "quoted-printable\n\n=2E\n=46rom me\n"},
        {"a\rb\n", "quoted-printable\n\na=0Db\n"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct buffer out = {0};
        mime_add_body(&out, text_of(cases[i].text));
        assert_non_null(strstr(out.data, "Content-Type: text/plain; charset=utf-8\n"));
        const char *encoding = strstr(out.data, "Encoding: ");
        assert_string_equal(encoding + strlen("Encoding: "), cases[i].written);
        buffer_free(&out);
    }
    char *bytes = arena_allocate(arena, 1000);
    memset(bytes, '.', 1000);
    struct buffer out = {0};
    mime_add_body(&out, (struct text){bytes, 1000});
    struct text rest = buffer_text(&out), line;
    while (text_next(&rest, '\n', &line))
        assert_true(line.length <= 76 && !text_starts(line, "."));
    buffer_free(&out);
}

static struct job_record record;
static struct job_situation situation;
static struct job_place place;
static struct occasion occasion;
static struct letter_facts facts;
static struct letter letter;

static void write_letter(void)
{
    facts = (struct letter_facts){.spool = "/srv/spool",
                                  .domain = TEXT("example.org"),
                                  .from = TEXT("dlspool@example.org"),
                                  .to = TEXT("ann@example.org"),
                                  .place = &place,
                                  .record = &record,
                                  .situation = &situation,
                                  .occasion = &occasion,
                                  .why = facts.why};
    letter_write(arena, &facts, &letter);
}

static int set_up_letter(void **state)
{
    record = (struct job_record){.id = TEXT("train-1m7y5dm13etbd"),
                                 .name = TEXT("train"),
                                 .owner = TEXT("ann"),
                                 .cpus = 4000,
                                 .memory = (int64_t)16 << 30,
                                 .gpus = 1};
    situation = (struct job_situation){.state = JOB_FAILED, .started = 1000, .ended = 61000};
    place = (struct job_place){.state = STATE_FAILED, .id = "train-1m7y5dm13etbd"};
    occasion = (struct occasion){.key = {MESSAGE_FAIL, 1, 0},
                                 .time = INT64_C(1795230562123),
                                 .reason = TEXT("Exited"),
                                 .why = TEXT("task main-0 ended with exit code 1"),
                                 .exit_code = 1};
    facts.why =
        TEXT("task main-0 ended with exit code 1\n\n    ValueError: x\n\nNext: not retried.\n");
    return set_up(state);
}

static void has(struct text text, const char *part)
{
    if (!text_contains(text, text_of(part)))
        fail_msg("\"%s\" is not in:\n%s", part, text.data);
}

static void a_failure_is_told(void **state)
{
    (void)state;
    write_letter();
    assert_string_equal(letter.subject.data, "[dlspool] train (train-1m7y5dm13etbd) failed: task "
                                             "main-0 ended with exit code 1");
    has(letter.mail, "To: ann@example.org\nSubject: [dlspool] train");
    has(letter.mail, "\nMessage-ID: <train-1m7y5dm13etbd.fail.1.0@example.org>\n");
    has(letter.mail, "\nAuto-Submitted: auto-generated\n");
    has(letter.mail, "\nDate: Sat, 21 Nov 2026 03:09:22 +0000\n");
    has(letter.text, "\nWhere:      /srv/spool/failed/train-1m7y5dm13etbd\n");
    has(letter.text, "\nRan for:    1 min\n");
    has(letter.text, "\nResources:  4 CPUs, 16.0 GiB, 1 GPU\n");
    has(letter.text, "\n        ValueError: x\n");
    has(letter.text, "\n    dlspool -s /srv/spool retry train-1m7y5dm13etbd\n");
    struct text same = letter.mail;
    write_letter();
    assert_true(text_equal(same, letter.mail));
}

static void programs_are_told_the_same(void **state)
{
    (void)state;
    write_letter();
    const struct value *json = json_read(arena, letter.json, "x", &yaml_trusted_limits, &error);
    assert_non_null(json);
    assert_true(text_is(value_get_text(json, "event"), "fail"));
    assert_true(text_is(value_get_text(json, "exit_code"), "1"));
    assert_true(text_is(value_get_text(json, "to"), "ann@example.org"));
    assert_true(text_starts(value_get_text(json, "text"), "[dlspool] train (train-"));
    assert_int_equal(letter.environment.data[letter.environment.length - 1], '\0');
    has(letter.environment, "DLSPOOL_EVENT=fail");
    has(letter.environment, "DLSPOOL_REASON=Exited");
}

/* The name of a dropped file, and what a job printed, can be anything. */
static void nothing_gets_out_of_its_place(void **state)
{
    (void)state;
    record.name = TEXT("");
    record.source = TEXT("x\nBcc: mallory@example.org\n\n.\x1b[2J");
    occasion.why = TEXT("a\r\nTo: x");
    facts.why = TEXT("one\n.\nFrom x\n\x1b[2Jtwo\n");
    write_letter();
    assert_false(text_contains(letter.mail, TEXT("\nBcc")));
    assert_false(text_contains(letter.mail, TEXT("\nTo: x")));
    assert_false(text_contains(letter.mail, TEXT("\x1b")));
    assert_false(text_contains(letter.mail, TEXT("\r")));
    assert_false(text_contains(letter.environment, TEXT("\n")));
    has(letter.text, "^[[2Jtwo");
}

static void an_array_has_one_message(void **state)
{
    (void)state;
    record.array = TEXT("3,7-9");
    occasion.ended = TEXT("attempt=1 outcome=failed main-0=0 main-1=137 main-2=0 main-3=1");
    write_letter();
    has(letter.text, "\nOf 4 tasks of this attempt 2 succeeded and 2 failed:\n"
                     "    main-1 (index 7): exit code 137\n"
                     "    main-3 (index 9): exit code 1\n");
    struct buffer many = {0};
    for (int i = 0; i < 1000; i++)
        buffer_printf(&many, "%smain-%d=1", i ? " " : "", i);
    record.array = TEXT("0-999");
    occasion.ended = arena_take(arena, &many);
    write_letter();
    has(letter.text, "\nOf 1000 tasks of this attempt 0 succeeded and 1000 failed:\n");
    has(letter.text, "    main-19 (index 19): exit code 1\n    and 980 more\n");
}

static void each_event_has_its_words(void **state)
{
    static const char *const words[MESSAGE_EVENTS] = {
        "has started",
        "ended: failed: task",
        "failed: task",
        "is tried again: task",
        "is held: Waiting for: other",
        "waits for approval: Waiting for: other",
        "has run for 90 % of its time limit",
        "may not be done by its deadline",
        "was not done by its deadline",
    };
    (void)state;
    for (int event = 0; event < MESSAGE_EVENTS; event++) {
        occasion.key.event = (enum message_event)event;
        facts.why = TEXT("Waiting for: other\n\nNext: x\n");
        write_letter();
        has(letter.subject, words[event]);
    }
    occasion.key.event = MESSAGE_APPROVAL;
    facts.why = TEXT("Waiting for approval: privilege rdma.\n\nNext: x\n");
    write_letter();
    has(letter.subject, " waits for approval: privilege rdma.");
    occasion.key.event = MESSAGE_END;
    occasion.succeeded = true;
    write_letter();
    has(letter.subject, "ended: succeeded");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define LETTER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_letter, tear_down)

int main(void)
{
    setenv("TZ", "UTC", 1);
    const struct CMUnitTest tests[] = {
        TEST(a_header_is_one_header),
        TEST(a_body_is_ascii),
        LETTER_TEST(a_failure_is_told),
        LETTER_TEST(programs_are_told_the_same),
        LETTER_TEST(nothing_gets_out_of_its_place),
        LETTER_TEST(an_array_has_one_message),
        LETTER_TEST(each_event_has_its_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
