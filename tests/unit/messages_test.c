/* tests/unit/messages_test.c - whether and how owners are told: the settings, where to, and the files of messages/ */
#include "base/file.h"
#include "spool/settings.h"
#include "stages/intake/subscribe.h"
#include "tests/unit/unit_arena.h"

#include <fcntl.h>
#include <unistd.h>

static void settings_say_how(void **state)
{
    static const struct {
        const char *yaml, *sentence;
    } bad[] = {
        {"notify: {command: sendmail}",
         "dlspool.yaml:1:19: notify.command: found \"sendmail\", expected a program by its absolute"},
        {"notify: {command: [sendmail, -t]}",
         "notify.command: found \"sendmail\", expected a program"},
        {"notify: {command: [/bin/x, \"a\\nb\"]}", "notify.command: found"},
        {"notify: {webhook: \"ftp://secret\"}",
         "dlspool.yaml:1: notify.webhook: found something else, expected a URL"},
        {"notify: {command: [/x], webhook: \"http://secret\"}",
         "dlspool.yaml:1: notify.webhook: found beside notify.command, expected one of them"},
        {"notify: {domain: \"a b\"}", "notify.domain: found \"a b\", expected a domain such as"},
        {"notify: {domain: \"a\\nb\"}", "notify.domain: found"},
        {"notify: {from: \"a@b, c@d\"}", "notify.from: found \"a@b, c@d\", expected an address"},
        {"notify: {addresses: all}", "notify.addresses: found \"all\", expected own or any"},
        {"notify: {domein: x}", "unknown setting; did you mean domain?"},
    };
    struct settings settings;
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
        assert_int_equal(settings_parse(&settings, text_of(bad[i].yaml), &error), -1);
        if (!strstr(error.text, bad[i].sentence) || strstr(error.text, "secret"))
            fail_msg("%s:\n%s", bad[i].yaml, error.text);
    }
    assert_int_equal(settings_parse(&settings, TEXT("executor: local\n"), &error), 0);
    assert_false(settings_has_messages(&settings));
    assert_int_equal(settings.messages.timeout, 60000);
    settings_free(&settings);
    assert_int_equal(settings_parse(&settings,
                                    TEXT("notify:\n  command: []\n  webhook: \"\"\n  domain: \"\"\n"
                                         "  from: \"\"\n  addresses: own\n"),
                                    &error),
                     0);
    assert_false(settings_has_messages(&settings));
    settings_free(&settings);
    assert_int_equal(settings_parse(&settings,
                                    TEXT("notify:\n  command: [/usr/sbin/sendmail, -t, -i]\n"
                                         "  domain: example.org\n  addresses: any\n"),
                                    &error),
                     0);
    assert_true(settings_has_messages(&settings));
    assert_string_equal(settings.messages.command[2], "-i");
    assert_null(settings.messages.command[3]);
    assert_true(settings.messages.any_address);
    settings_free(&settings);
}

static void addresses_are_settled(void **state)
{
    static const char *const command[] = {"/usr/sbin/sendmail", NULL};
    static const struct {
        const char *owner, *wanted, *domain;
        bool any;
        const char *mail, *note; /* "": nothing */
    } cases[] = {
        {"ann", "", "example.org", false, "ann@example.org", ""},
        {"ann", "", "", false, "ann", ""},
        {"ann", "ann", "example.org", false, "ann@example.org", ""},
        {"ann", "ann@example.org", "example.org", false, "ann@example.org", ""},
        {"ann", "bob@example.org", "example.org", false, "ann@example.org",
         "no effect: messages go to ann@example.org"},
        {"ann", "ann, bob", "example.org", false, "ann@example.org", "no effect: messages go to"},
        {"ann", "", "example.org", true, "ann@example.org", ""},
        {"ann", "bob, c@other.org", "example.org", true, "bob@example.org, c@other.org", ""},
        {"a b", "", "example.org", false, "", "no effect: your user name makes no address"},
        {"a b", "c@other.org", "example.org", true, "c@other.org", ""},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct message_settings settings = {.command = (const char **)(uintptr_t)command,
                                            .any_address = cases[i].any};
        settings.domain = text_of(cases[i].domain);
        const struct wanted_messages wanted = {1u << MESSAGE_END, text_of(cases[i].wanted)};
        const struct job_record record = {.owner = text_of(cases[i].owner)};
        struct notes notes = {.count = 0};
        struct subscription subscription =
            subscribe_settle(arena, &settings, &wanted, &record, &notes);
        if (!text_is(subscription.mail, cases[i].mail))
            fail_msg("case %zu: found %.*s", i, (int)subscription.mail.length,
                     subscription.mail.data);
        assert_int_equal(subscription.events, cases[i].mail[0] ? 1u << MESSAGE_END : 0);
        assert_int_equal(notes.count, cases[i].note[0] != '\0');
        if (notes.count)
            assert_true(text_starts(notes.items[0].sentence, cases[i].note));
    }
    /* Of a site that sends none. */
    const struct message_settings none = {.command = NULL};
    const struct wanted_messages wanted = {1u << MESSAGE_END, TEXT("")};
    const struct job_record record = {.owner = TEXT("ann")};
    struct notes notes = {.count = 0};
    assert_int_equal(subscribe_settle(arena, &none, &wanted, &record, &notes).events, 0);
    assert_true(text_starts(notes.items[0].sentence, "no effect: this site sends no messages"));
}

static void a_file_says_what_was_told(void **state)
{
    static const char id[] = "train-1m7y5dm13etbd";
    const struct message_key begin = {MESSAGE_BEGIN, 1, 0}, again = {MESSAGE_BEGIN, 2, 1};
    struct spool spool;
    struct stat status;
    struct subscription found;
    char *path = unit_directory();
    (void)state;
    assert_int_equal(spool_create(path, &error), 0);
    assert_int_equal(spool_open(&spool, path, &error), 0);
    assert_int_equal(subscription_make_directory(&spool, (uid_t)-1, (gid_t)-1, &error), 0);
    assert_int_equal(subscription_make_directory(&spool, (uid_t)-1, (gid_t)-1, &error), 0);
    const struct subscription wants = {.events = 1u << MESSAGE_BEGIN | 1u << MESSAGE_END,
                                       .mail = TEXT("ann@example.org, bob")};
    assert_int_equal(subscription_begin(&spool, id, &wants, getgid(), &error), 0);
    int directory = subscription_open_directory(&spool);
    assert_true(directory >= 0);
    assert_int_equal(fstatat(directory, id, &status, 0), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    assert_int_equal(subscription_read(directory, id, arena, &found, &error), 0);
    assert_int_equal(found.events, wants.events);
    assert_true(text_equal(found.mail, wants.mail));
    assert_false(subscription_was_told(&found, &begin));
    assert_int_equal(subscription_note(directory, id, &begin, NULL, 0, &error), 0);
    /* A crash cuts the next line. */
    int file = openat(directory, id, O_WRONLY | O_APPEND);
    assert_int_equal(write(file, "1970-01-01T00:00:00.000Z told event=be", 38), 38);
    close(file);
    assert_int_equal(subscription_note(directory, id, &again, "not in time", 0, &error), 0);
    assert_int_equal(subscription_read(directory, id, arena, &found, &error), 0);
    assert_int_equal(found.told_count, 2);
    assert_true(subscription_was_told(&found, &begin) && subscription_was_told(&found, &again));
    /* Begun again after a crash. */
    assert_int_equal(subscription_begin(&spool, id, &wants, getgid(), &error), 0);
    assert_int_equal(subscription_read(directory, id, arena, &found, &error), 0);
    assert_int_equal(found.told_count, 0);
    /* Nothing is sent to what is no address, nor by an empty file. */
    file = openat(directory, "x", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(subscription_read(directory, "x", arena, &found, &error), 1);
    dprintf(file, "1970-01-01T00:00:00.000Z wants events=end mail=\"a@b\\nBcc: c@d\"\n");
    close(file);
    assert_int_equal(subscription_read(directory, "x", arena, &found, &error), 1);
    assert_int_equal(subscription_end(directory, id, &error), 0);
    assert_int_equal(subscription_end(directory, id, &error), 0);
    assert_int_equal(subscription_read(directory, id, arena, &found, &error), 1);
    close(directory);
    spool_close(&spool);
    unit_remove(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(settings_say_how),
        TEST(addresses_are_settled),
        TEST(a_file_says_what_was_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
