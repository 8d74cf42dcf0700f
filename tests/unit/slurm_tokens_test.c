/* tests/unit/slurm_tokens_test.c - one user's token, one path and one clock that are not good, and
 * what goes on for all that
 */
#include "tests/unit/slurm_fake.h"

#include "executors/slurm/version.h"

/* Two accounts of Debian, the first of which comes first by its name as well. */
static const char first[] = "games", second[] = "news";

/* A token of its user's, which ends in so many seconds; its text. */
static const char *write_token(const char *user, int seconds)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char payload[200], name[100], token[512] = "eyJhbGciOiJIUzI1NiJ9.";
    size_t used = strlen(token);
    unsigned int bits = 0, count = 0;
    snprintf(payload, sizeof(payload), "{\"sun\":\"%s\",\"exp\":%lld}", user,
             (long long)(clock_now() / 1000 + seconds));
    for (const char *at = payload; *at; at++)
        for (bits = bits << 8 | (unsigned char)*at, count += 8; count >= 6; count -= 6)
            token[used++] = letters[bits >> (count - 6) & 63];
    if (count)
        token[used++] = letters[bits << (6 - count) & 63];
    snprintf(token + used, sizeof(token) - used, ".c2lnbmF0dXJl");
    mkdir(fake_path("tokens"), 0700);
    snprintf(name, sizeof(name), "tokens/%s", user);
    unlink(fake_path(name));
    int file = open(fake_path(name), O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(file, token, strlen(token)), strlen(token));
    close(file);
    return arena_string(fake.arena, token);
}

static void open_with_tokens(void)
{
    char settings[600];
    snprintf(settings, sizeof(settings), "  token_directory: %s\n", fake_path("tokens"));
    fake_open(settings);
}

static void submit_as(const char *id, const char *user)
{
    struct submission submission = fake_submission(id, fake_manifest);
    const struct passwd *entry = getpwnam(user);
    submission.uid = entry->pw_uid;
    submission.gid = entry->pw_gid;
    submission.owner = text_of(arena_string(fake.arena, user));
    if (fake_submit_it(&submission) != SUBMIT_ACCEPTED)
        fail_msg("%d: %s", submission.outcome, submission.error.text);
}

static void a_token_that_ended_hides_no_other_users_jobs(void **state)
{
    struct error error;
    struct job_poll theirs = {.id = "j-1", .attempt = 1}, ours = {.id = "j-2", .attempt = 1};
    struct job_poll *both[] = {&theirs, &ours};
    (void)state;
    if (geteuid() != 0)
        skip(); /* jobs of others have directories of theirs */
    write_token(first, 1000);
    write_token(second, 1000);
    open_with_tokens();
    submit_as("j-1", first);
    submit_as("j-2", second);
    write_token(first, -1000);
    fake_set_state(2, "CANCELLED");
    fake_ahead += 10000;
    assert_int_equal(fake.executor->operations->poll(fake.executor, fake.arena, both, 2, &error),
                     0);
    assert_int_equal(theirs.phase, PHASE_UNKNOWN);
    assert_int_equal(ours.phase, PHASE_FAILED);
    /* When nobody's list can be had, nothing is known. */
    write_token(second, -1000);
    assert_int_equal(fake.executor->operations->poll(fake.executor, fake.arena, both, 2, &error),
                     -1);
    assert_non_null(strstr(error.text, "expired at"));
    /* It is renewed, and the user's job is where it was. */
    write_token(first, 1000);
    assert_int_equal(fake.executor->operations->poll(fake.executor, fake.arena, both, 2, &error),
                     0);
    assert_int_equal(theirs.phase, PHASE_WAITING);
    assert_int_equal(ours.phase, PHASE_UNKNOWN);
}

/* Who asked last; requests are forgotten. */
static const char *last_asker(void)
{
    const struct value *requests = value_get(fake_order("{}"), "requests");
    assert_true(requests->list.count > 0);
    return value_get_text(requests->list.items[requests->list.count - 1], "user").data;
}

static int ask_whether_ready(struct error *error)
{
    return fake.executor->operations->ready(fake.executor, error);
}

static void whoever_has_a_good_token_asks(void **state)
{
    struct error error = {""};
    (void)state;
    write_token(first, -1000);
    const char *token = write_token(second, 1000);
    open_with_tokens();
    if (ask_whether_ready(&error))
        fail_msg("%s", error.text);
    assert_string_equal(last_asker(), second);
    /* What cannot be read at all is passed over as well. */
    char name[100];
    snprintf(name, sizeof(name), "tokens/%s", first);
    unlink(fake_path(name));
    assert_int_equal(mkdir(fake_path(name), 0700), 0);
    open_with_tokens();
    assert_int_equal(ask_whether_ready(&error), 0);
    assert_string_equal(last_asker(), second);
    rmdir(fake_path(name));
    /* One that slurmctld does not take is not asked with again while there are others. */
    const char *other = write_token(first, 1000);
    fake_order("{\"token\": \"%s\"}", token);
    open_with_tokens();
    assert_int_equal(ask_whether_ready(&error), -1);
    assert_int_equal(ask_whether_ready(&error), 0);
    assert_int_equal(ask_whether_ready(&error), 0);
    assert_string_equal(last_asker(), second);
    /* When none is taken, each is tried, over and over. */
    for (int round = 0; round < 2; round++) {
        fake_order("{\"token\": \"another\"}");
        for (int i = 0; i < 5; i++) {
            error.text[0] = '\0';
            assert_int_equal(ask_whether_ready(&error), -1);
            assert_non_null(strstr(error.text, "does not take the token"));
        }
        fake_order("{\"token\": \"%s\"}", round ? other : token);
        assert_true(ask_whether_ready(&error) == 0 || ask_whether_ready(&error) == 0);
    }
    /* One that was renewed is not held to have been refused. */
    open_with_tokens();
    fake_order("{\"token\": \"another\"}");
    assert_int_equal(ask_whether_ready(&error), -1);
    assert_int_equal(ask_whether_ready(&error), -1);
    fake_order("{\"token\": \"%s\"}", write_token(first, 2000));
    assert_int_equal(ask_whether_ready(&error), 0);
    assert_string_equal(last_asker(), first);
    /* Without any that is good, a sentence says so. */
    write_token(first, -1000);
    write_token(second, -1000);
    assert_int_equal(ask_whether_ready(&error), -1);
    assert_non_null(strstr(error.text, "expired at"));
}

/* slurmrestd was replaced by one without that version: only it is at fault, and not the job. */
static void a_path_that_is_gone_refuses_no_job(void **state)
{
    struct submission submission = fake_submission("j-1", fake_manifest);
    struct error error;
    (void)state;
    assert_int_equal(ask_whether_ready(&error), 0);
    fake_order("{\"answer\": {\"status\": 404, \"body\": \"Unable find requested URL\"}, "
               "\"match\": \"submit\"}");
    assert_int_equal(fake_submit_it(&submission), SUBMIT_UNAVAILABLE);
    assert_non_null(strstr(submission.error.text, "404"));
    fake_order("{}");
    assert_int_equal(fake_submit_it(&submission), SUBMIT_ACCEPTED);
    /* Which versions there are was asked again. */
    const struct value *requests = value_get(fake_order("{}"), "requests");
    assert_string_equal(value_get_text(requests->list.items[0], "what").data, "GET /openapi/v3");
}

static void a_clock_that_goes_back_hides_no_change(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    fake_order("{\"clock\": -1000}");
    fake_order(
        "{\"set\": {\"job_id\": 1, \"job_state\": \"RUNNING\", \"start_time\": 1795000000}}");
    assert_int_equal(fake_poll("j-1").phase, PHASE_RUNNING);
}

static void a_release_may_be_anything(void **state)
{
    static const struct {
        const char *info;
        int release;
    } cases[] = {
        {"{\"x-slurm\": {\"release\": 5}}", 0},
        {"{\"x-slurm\": {\"release\": null}, \"version\": []}", 0},
        {"{\"x-slurm\": {\"release\": \"\"}}", 0},
        {"{\"x-slurm\": [], \"version\": \"Slurm-24.05.1\"}", 2405},
        {"5", 0},
    };
    (void)state;
    struct arena *arena = arena_new();
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct slurm_version version;
        struct error error;
        struct text text = arena_printf(
            arena, "{\"info\": %s, \"paths\": {\"/slurm/v0.0.38/job/submit\": {}}}", cases[i].info);
        const struct value *document =
            json_read(arena, text, "the document", &yaml_trusted_limits, &error);
        assert_non_null(document);
        assert_int_equal(slurm_version_choose(document, 0, &version, &error), 0);
        assert_int_equal(version.api, 38);
        assert_int_equal(version.release, cases[i].release);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_TEST(a_token_that_ended_hides_no_other_users_jobs),
        FAKE_TEST(whoever_has_a_good_token_asks),
        FAKE_TEST(a_path_that_is_gone_refuses_no_job),
        FAKE_TEST(a_clock_that_goes_back_hides_no_change),
        cmocka_unit_test(a_release_may_be_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
