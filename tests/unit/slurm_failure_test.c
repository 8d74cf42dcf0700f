/* tests/unit/slurm_failure_test.c - what Slurm refuses, tokens that are not good, and hostile
 * answers and files
 */
#include "tests/unit/never_started.h"
#include "tests/unit/slurm_fake.h"

static void refusals_are_sorted_by_their_numbers(void **state)
{
    static const struct {
        int code;
        enum submit_outcome outcome;
        const char *says;
    } cases[] = {
        {2000, SUBMIT_REFUSED, "partition: name one"},
        {2014, SUBMIT_NEVER_FITS, "gpus_per_task"},
        {2016, SUBMIT_NO_ROOM, "Requested nodes are busy (2016)"},
        {2045, SUBMIT_REFUSED, "account"},
        {2051, SUBMIT_NEVER_FITS, "deadline"},
        {2066, SUBMIT_REFUSED, "qos"},
        {2070, SUBMIT_NO_ROOM, "takes no jobs now"},
        {11, SUBMIT_NO_ROOM, "MaxJobCount"},
        {1800, SUBMIT_UNAVAILABLE, "connect failure"},
        {2131, SUBMIT_UNAVAILABLE, "2131"},
        {7777, SUBMIT_REFUSED, "7777"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct submission submission = fake_submission("j-1", fake_manifest);
        fake_order("{\"refuse\": %d}", cases[i].code);
        if (fake_submit_it(&submission) != cases[i].outcome)
            fail_msg("%d: %d, %s", cases[i].code, submission.outcome, submission.error.text);
        assert_says(submission.error.text, cases[i].says);
        assert_int_equal(submission.mender == MENDER_SITE,
                         cases[i].code == 2045 || cases[i].code == 2066);
        assert_int_equal(fake_job_count(), 0);
    }
}

static void a_refused_job_with_a_number_is_cleaned_up(void **state)
{
    struct submission submission = fake_submission("j-1", fake_manifest);
    (void)state;
    fake_order("{\"refuse\": 2015, \"with_id\": true}");
    assert_int_equal(fake_submit_it(&submission), SUBMIT_NEVER_FITS);
    assert_string_equal(value_get_text(fake_job(0), "job_state").data, "CANCELLED");
    fake_order("{\"refuse\": 2015, \"with_id\": true}");
    fake_order("{\"answer\": {\"status\": 500, \"body\": \"\"}, \"match\": \"DELETE\"}");
    submission = fake_submission("j-2", fake_manifest);
    assert_int_equal(fake_submit_it(&submission), SUBMIT_UNKNOWN);
    assert_says(submission.error.text, "Slurm has it nevertheless as job 2");
}

static void write_token(const char *name, const char *payload, mode_t mode)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    char token[512] = "eyJhbGciOiJIUzI1NiJ9.";
    size_t used = strlen(token);
    unsigned int bits = 0, count = 0;
    for (; *payload; payload++)
        for (bits = bits << 8 | (unsigned char)*payload, count += 8; count >= 6; count -= 6)
            token[used++] = letters[bits >> (count - 6) & 63];
    if (count)
        token[used++] = letters[bits << (6 - count) & 63];
    snprintf(token + used, sizeof(token) - used, ".c2lnbmF0dXJl\n");
    unlink(fake_path(name));
    int file = open(fake_path(name), O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_int_equal(write(file, token, strlen(token)), strlen(token));
    fchmod(file, mode);
    close(file);
}

static void a_token_says_when_it_ends(void **state)
{
    char settings[600], payload[200];
    struct error error;
    (void)state;
    snprintf(settings, sizeof(settings), "  token_file: %s\n", fake_path("token"));
    fake_open(settings);
    struct submission submission = fake_submission("j-1", fake_manifest);
    assert_int_equal(fake_submit_it(&submission), SUBMIT_UNAVAILABLE);
    assert_says(submission.error.text, "could not be opened");
    write_token("token", "{\"sun\":\"slurm\",\"exp\":1000000000}", 0600);
    assert_int_equal(fake_submit_it(&submission), SUBMIT_UNAVAILABLE);
    assert_says(submission.error.text, "expired at 2001-09-09T01:46:40.000Z");
    assert_says(submission.error.text, "scontrol token username=slurm");
    assert_int_equal(fake.executor->operations->ready(fake.executor, &error), -1);
    assert_says(error.text, "expired at");
    snprintf(payload, sizeof(payload), "{\"sun\":\"slurm\",\"exp\":%lld}",
             (long long)(clock_now() / 1000 + 1000));
    write_token("token", payload, 0644);
    assert_int_equal(fake_submit_it(&submission), SUBMIT_UNAVAILABLE);
    assert_says(submission.error.text, "everybody may read");
    /* One that was renewed is read again, and is sent with the name of the job's owner. */
    write_token("token", payload, 0600);
    assert_int_equal(fake_submit_it(&submission), SUBMIT_ACCEPTED);
    assert_string_equal(value_get_text(fake_job(0), "user_name").data, fake_self());
    /* One that slurmctld does not take is no outage without a hint. */
    fake_order("{\"token\": \"another\"}");
    submission = fake_submission("j-2", fake_manifest);
    assert_int_equal(fake_submit_it(&submission), SUBMIT_UNKNOWN);
    assert_says(submission.error.text, "does not take the token");
    assert_null(strstr(submission.error.text, "c2lnbmF0dXJl"));
}

static void each_user_may_have_a_token_of_his_own(void **state)
{
    char settings[600], payload[200], name[300];
    (void)state;
    assert_int_equal(mkdir(fake_path("tokens"), 0700), 0);
    snprintf(settings, sizeof(settings), "  token_directory: %s\n", fake_path("tokens"));
    snprintf(payload, sizeof(payload), "{\"sun\":\"%s\",\"exp\":%lld}", fake_self(),
             (long long)(clock_now() / 1000 + 1000));
    snprintf(name, sizeof(name), "tokens/%s", fake_self());
    write_token(name, payload, 0600);
    fake_open(settings);
    fake_submit("j-1", fake_manifest);
    const struct value *requests = value_get(fake_order("{}"), "requests");
    assert_true(requests->list.count > 2);
    for (size_t i = 0; i < requests->list.count; i++)
        assert_string_equal(value_get_text(requests->list.items[i], "user").data, fake_self());
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
}

static void jobs_of_others_need_a_token(void **state)
{
    char settings[100];
    (void)state;
    struct submission submission = fake_submission("j-1", fake_manifest);
    submission.uid = geteuid() + 1;
    assert_int_equal(fake_submit_it(&submission), SUBMIT_REFUSED);
    assert_says(submission.error.text, "slurm.token_file");
    snprintf(settings, sizeof(settings), "  user: %s\n", fake_self());
    fake_open(settings);
    assert_int_equal(fake_submit_it(&submission), SUBMIT_ACCEPTED);
    fake_open("  user: somebody-else\n");
    assert_int_equal(fake_submit_it(&submission), SUBMIT_REFUSED);
    assert_says(submission.error.text, "slurm.user is \"somebody-else\"");
}

/* A list that is not whole says nothing of jobs that are not on it. */
static void no_answer_makes_a_job_look_forgotten(void **state)
{
    static const struct {
        int status;
        const char *body;
    } answers[] = {
        {200, "{\\\"meta\\\": {}, \\\"errors\\\": [], \\\"jobs\\\": [{\\\"job_id\\\": 1"},
        {200, "{\\\"meta\\\": {}, \\\"errors\\\": [], \\\"jobs\\\": [{\\\"job_id\\\": 1}]"},
        {200, "{\\\"errors\\\": [{\\\"error\\\": \\\"no\\\", \\\"error_number\\\": 5}], "
              "\\\"jobs\\\": []}"},
        {200, "{\\\"errors\\\": []}"},
        {200, "{\\\"jobs\\\": {}}"},
        {200, "{\\\"jobs\\\": [5]}"},
        {200, "[]"},
        {200, ""},
        {200, "{\\\"jobs\\\": [\\\"dlspool:test:j-1\\\"]}"},
        {200, "<html>a proxy's page</html>"},
        {500, "{\\\"errors\\\": [{\\\"error_number\\\": -1}], \\\"jobs\\\": []}"},
        {401, "Authentication failure"},
        {404, "Unable find requested URL"},
        {302, ""},
    };
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_submit("j-2", fake_manifest);
    assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    for (size_t i = 0; i < ARRAY_COUNT(answers); i++) {
        struct error error = {""};
        struct job_poll poll = {.id = "j-1", .attempt = 1}, *batch[] = {&poll};
        fake_ahead += 10000;
        fake_open("");
        fake_order("{\"answer\": {\"status\": %d, \"body\": \"%s\"}, \"match\": \"GET .*/jobs\"}",
                   answers[i].status, answers[i].body);
        if (fake.executor->operations->poll(fake.executor, fake.arena, batch, 1, &error) != -1)
            fail_msg("%s: phase %d", answers[i].body, poll.phase);
        assert_true(error.text[0] != '\0');
        assert_int_equal(fake_job_count(), 2);
        assert_int_equal(fake_poll("j-1").phase, PHASE_WAITING);
    }
}

static void no_answer_to_a_submission_does_harm(void **state)
{
    static const struct {
        int status;
        const char *body;
        enum submit_outcome outcome;
    } answers[] = {
        {200, "{}", SUBMIT_UNKNOWN},
        {200, "{\\\"job_id\\\": -5}", SUBMIT_UNKNOWN},
        {200, "{\\\"job_id\\\": \\\"many\\\"}", SUBMIT_UNKNOWN},
        {200, "nonsense", SUBMIT_UNKNOWN},
        {500, "nonsense", SUBMIT_UNKNOWN},
        {500, "{\\\"errors\\\": [{\\\"error_code\\\": 5005, \\\"error\\\": \\\"Zero Bytes\\\"}]}",
         SUBMIT_UNKNOWN},
        {500, "{\\\"errors\\\": {\\\"error_code\\\": 5}}", SUBMIT_UNKNOWN},
        {500,
         "{\\\"errors\\\": [{\\\"error_code\\\": 104, \\\"error\\\": \\\"Connection reset by "
         "peer\\\"}]}",
         SUBMIT_UNKNOWN},
        {500, "{\\\"errors\\\": [{\\\"error_code\\\": 111}]}", SUBMIT_UNAVAILABLE},
        {400, "Unable to parse query.", SUBMIT_REFUSED},
        {500, "{\\\"errors\\\": [{\\\"error_code\\\": 1e300}, 5, null]}", SUBMIT_REFUSED},
        {429, "slow down", SUBMIT_UNAVAILABLE},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(answers); i++) {
        struct submission submission = fake_submission("j-1", fake_manifest);
        fake_order("{\"answer\": {\"status\": %d, \"body\": \"%s\"}, \"match\": \"submit\"}",
                   answers[i].status, answers[i].body);
        if (fake_submit_it(&submission) != answers[i].outcome)
            fail_msg("%s: %d %s", answers[i].body, submission.outcome, submission.error.text);
        assert_true(submission.error.text[0] != '\0');
        assert_int_equal(fake_job_count(), 0);
    }
}

static int output_directory(void)
{
    mkdir(fake_path("out"), 0700);
    return open(fake_path("out"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void assert_file(const char *name, const char *content)
{
    char path[100], buffer[1000] = "";
    snprintf(path, sizeof(path), "out/%.80s", name);
    int file = open(fake_path(path), O_RDONLY);
    if (file >= 0) {
        assert_true(read(file, buffer, sizeof(buffer) - 1) >= 0);
        close(file);
    }
    assert_string_equal(buffer, content);
}

/* What the job's directory holds is its user's doing: links to other people's files, pipes, and
 * more. */
static void files_of_a_job_are_not_trusted(void **state)
{
    struct error error;
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_order(
        "{\"set\": {\"job_id\": 1, \"job_state\": \"RUNNING\", \"start_time\": 1795000000}}");
    int directory = output_directory();
    fake_write("j-1", "worker-0.log", "first\n");
    assert_int_equal(symlink("/etc/passwd", fake_path("jobs/j-1-a1/job/worker-1.log")), 0);
    assert_int_equal(mkfifo(fake_path("jobs/j-1-a1/job/worker-2.log"), 0600), 0);
    assert_int_equal(mkdir(fake_path("jobs/j-1-a1/job/worker-3.log"), 0700), 0);
    assert_int_equal(
        link(fake_path("jobs/j-1-a1/submission"), fake_path("jobs/j-1-a1/job/worker-4.log")), 0);
    char zero[600];
    snprintf(zero, sizeof(zero), "printf '0\\n' >%s", fake_path("zero"));
    assert_int_equal(system(zero), 0);
    assert_int_equal(symlink(fake_path("zero"), fake_path("jobs/j-1-a1/job/worker-0.ended")), 0);
    assert_int_equal(mkfifo(fake_path("jobs/j-1-a1/job/worker-1.ended"), 0600), 0);
    assert_int_equal(mkfifo(fake_path("jobs/j-1-a1/job/alive"), 0600), 0);
    fake_write("j-1", "worker-99999999999999.ended", "0\n");
    fake_write("j-1", "worker-5.ended", "0\n");
    fake_write("j-1", "ps-0.ended", "0\n");
    struct job_poll poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_RUNNING);
    assert_false(poll.tasks[0].ended || poll.tasks[1].ended);
    assert_int_equal(executor_output(fake.executor, "j-1", 1, directory, false, &error), 0);
    assert_file("worker-0.log", "first\n");
    assert_file("worker-1.log", "");
    assert_file("worker-4.log", "");
    unlink(fake_path("jobs/j-1-a1/job/worker-0.ended"));
    fake_write("j-1", "worker-0.ended", "rm -rf /");
    assert_false(fake_poll("j-1").tasks[0].ended);
    fake_write("j-1", "worker-0.log", "first\nsecond\n");
    assert_int_equal(executor_output(fake.executor, "j-1", 1, directory, true, &error), 0);
    assert_file("worker-0.log", "first\nsecond\n");
    fake_write("j-1", "worker-0.log", "x"); /* shorter: nothing is said twice */
    assert_int_equal(executor_output(fake.executor, "j-1", 1, directory, true, &error), 0);
    assert_file("worker-0.log", "first\nsecond\n");
    close(directory);
    /* A tree that is deeper than anybody can walk goes too. */
    char command[1200];
    snprintf(command, sizeof(command),
             "cd %s && for i in $(seq 400); do mkdir d && cd d || exit 1; touch f; done",
             fake_path("jobs/j-1-a1/job"));
    assert_int_equal(system(command), 0);
    assert_int_equal(executor_remove(fake.executor, "j-1", 1, &error), 0);
    assert_int_not_equal(access(fake_path("jobs/j-1-a1"), F_OK), 0);
    assert_int_not_equal(access(fake_path("jobs/.gone-j-1-a1"), F_OK), 0);
}

/* A signal is a file in the user's own directory, where they may have put anything under its name. */
static void a_signal_is_a_file_of_ours(void **state)
{
    (void)state;
    struct job_call call = {.id = "j-1", .attempt = 1, .signal = SIGUSR1}, *batch[] = {&call};
    const struct executor_operations *operations = fake.executor->operations;
    operations->signal(fake.executor, batch, 1);
    assert_int_equal(call.result, 0); /* nobody knows the job */
    fake_submit("j-1", fake_manifest);
    char *target = strdup(fake_path("somebody's"));
    char *name = strdup(fake_path("jobs/j-1-a1/job/signal"));
    for (int i = 0; i < 4; i++) {
        struct stat status;
        unlink(name);
        unlink(target);
        assert_int_equal(i == 1 ? symlink(target, name) : 0, 0);
        assert_int_equal(i == 2 ? mkfifo(name, 0666) : 0, 0);
        if (i == 3) {
            assert_int_equal(mknod(target, S_IFREG | 0600, 0), 0);
            assert_int_equal(link(target, name), 0);
        }
        operations->signal(fake.executor, batch, 1);
        if (call.result)
            fail_msg("%s", call.error.text);
        assert_int_equal(lstat(name, &status), 0);
        assert_true(S_ISREG(status.st_mode) && status.st_nlink == 1 && status.st_size == 5);
        if (stat(target, &status) == 0)
            assert_int_equal(status.st_size, 0);
    }
    unlink(name);
    assert_int_equal(mkdir(name, 0700), 0);
    operations->signal(fake.executor, batch, 1);
    assert_int_equal(call.result, -1);
    assert_non_null(strstr(call.error.text, "j-1-a1"));
    rmdir(name);
    free(target);
    free(name);
}

static void output_is_cut_at_its_limit(void **state)
{
    struct error error;
    (void)state;
    fake_open("  log_limit: 10\n");
    fake_submit("j-1", fake_manifest);
    int directory = output_directory();
    fake_write("j-1", "worker-0.log", "0123456789abcdef");
    for (int i = 0; i < 2; i++)
        assert_int_equal(executor_output(fake.executor, "j-1", 1, directory, true, &error), 0);
    assert_file(
        "worker-0.log",
        "0123456789\n[dlspool: the output is longer than 10 bytes, and the rest of it was cut]\n");
    close(directory);
}

static void ends_have_reasons(void **state)
{
    static const struct {
        const char *state;
        int exit_code;
        const char *reason;
        int code;
    } cases[] = {
        {"TIMEOUT", 0, "TimeLimit", 255},       {"DEADLINE", 0, "DeadlinePassed", 255},
        {"NODE_FAIL", 0, "NodeLost", 255},      {"BOOT_FAIL", 0, "NodeLost", 255},
        {"OUT_OF_MEMORY", 0, "OOMKilled", 137}, {"PREEMPTED", 0, "Preempted", 255},
        {"CANCELLED", 15, "Cancelled", 255},    {"REVOKED", 0, "Cancelled", 255},
        {"FAILED", 4 << 8, "Exited", 4},        {"FAILED", 9, "Exited", 137},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        char id[32];
        snprintf(id, sizeof(id), "j-%zu", i);
        fake_submit(id, fake_manifest);
        fake_write(id, "started", "1 n1\n");
        fake_order("{\"set\": {\"job_id\": %zu, \"job_state\": \"%s\", \"exit_code\": %d, "
                   "\"nodes\": \"n1\"}}",
                   i + 1, cases[i].state, cases[i].exit_code);
        struct job_poll poll = fake_poll(id);
        assert_int_equal(poll.phase, PHASE_FAILED);
        assert_string_equal(poll.reason, cases[i].reason);
        assert_int_equal(poll.exit_code, cases[i].code);
        assert_true(poll.detail[0] && poll.tasks[0].ended && poll.tasks[1].ended);
    }
}

static void waiting_has_reasons(void **state)
{
    (void)state;
    fake_submit("j-1", fake_manifest);
    fake_order("{\"set\": {\"job_id\": 1, \"state_reason\": \"Resources\"}}");
    struct job_poll poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_WAITING);
    assert_string_equal(poll.detail,
                        "Slurm's job 1 waits for resources to become free (Resources)");
    fake_order("{\"set\": {\"job_id\": 1, \"state_reason\": \"AssocGrpGRES\", "
               "\"state_description\": \"\\u001b[31m\"}}");
    assert_string_equal(
        fake_poll("j-1").detail,
        "Slurm's job 1 waits for a limit of its account or user (AssocGrpGRES: \\x1b[31m)");
    fake_order("{\"set\": {\"job_id\": 1, \"state_reason\": \"BadConstraints\", \"priority\": 0}}");
    poll = fake_poll("j-1");
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_string_equal(poll.reason, "NeverFits");
    /* It is told to end, and that is how it ended. */
    fake_set_state(1, "CANCELLED");
    poll = fake_poll("j-1");
    assert_string_equal(poll.reason, "NeverFits");
    assert_true(poll.tasks[0].ended);
}

/* Through the track stage, with units that are counted: Slurm's node did not start it. */
static void one_that_never_ran_fails(void **state)
{
    (void)state;
    fake_submit(NEVER_STARTED, fake_manifest);
    fake_set_state(1, "BOOT_FAIL");
    never_started_fails(fake.executor, "NodeLost");
}

/* 22.05 says "Unspecified error" of it, and libcurl "port 80". */
static void what_is_down_is_named(void **state)
{
    struct error error;
    (void)state;
    assert_int_equal(fake.executor->operations->ready(fake.executor, &error), 0);
    fake_order("{\"match\": \"GET .*diag\", \"answer\": {\"status\": 500, \"body\": "
               "\"{\\\"errors\\\": [{\\\"error_number\\\": -1, \\\"error\\\": \\\"Unspecified "
               "error\\\"}]}\"}}");
    assert_int_equal(fake.executor->operations->ready(fake.executor, &error), -1);
    assert_says(error.text, "slurmctld does not answer slurmrestd at unix:");
    assert_says(error.text, ": it is down, or just starting (scontrol ping tells): Slurm says: ");
    assert_int_equal(unlink(fake_path("rest.sock")), 0);
    fake_open("");
    assert_int_equal(fake.executor->operations->ready(fake.executor, &error), -1);
    assert_says(error.text, "slurmrestd (slurm.address) cannot be asked: /");
    assert_says(error.text, "there is no such socket");
}

/* What slurmrestd cannot read never came to slurmctld, though it has the number of a silent slurmctld as well. */
static void what_cannot_be_parsed_is_refused(void **state)
{
    (void)state;
    fake_order(
        "{\"match\": \"POST .*submit\", \"answer\": {\"status\": 400, \"body\": \"{\\\"errors\\\": ["
        "{\\\"error\\\": \\\"Invalid exclusive specification\\\", \\\"error_code\\\": -1},"
        "{\\\"error_code\\\": 9001, \\\"error\\\": \\\"Failure during parsing\\\"}]}\"}}");
    struct submission submission = fake_submission("j-1", fake_manifest);
    assert_int_equal(fake_submit_it(&submission), SUBMIT_REFUSED);
    assert_says(submission.error.text,
                "Slurm says: Invalid exclusive specification (9001); slurmrestd does not");
}

static void no_version_is_no_guess(void **state)
{
    struct error error;
    (void)state;
    fake_open("  api: v0.0.39\n");
    assert_int_equal(fake.executor->operations->ready(fake.executor, &error), -1);
    assert_says(error.text, "does not serve v0.0.39");
    fake_stop();
    fake_start("35", "");
    assert_int_equal(fake.executor->operations->ready(fake.executor, &error), -1);
    assert_says(error.text, "no version of its interface from v0.0.36 on");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAKE_TEST(refusals_are_sorted_by_their_numbers),
        FAKE_TEST(a_refused_job_with_a_number_is_cleaned_up),
        FAKE_TEST(a_token_says_when_it_ends),
        FAKE_TEST(each_user_may_have_a_token_of_his_own),
        FAKE_TEST(jobs_of_others_need_a_token),
        FAKE_TEST(no_answer_makes_a_job_look_forgotten),
        FAKE_TEST(no_answer_to_a_submission_does_harm),
        FAKE_TEST(files_of_a_job_are_not_trusted),
        FAKE_TEST(a_signal_is_a_file_of_ours),
        FAKE_TEST(output_is_cut_at_its_limit),
        FAKE_TEST(ends_have_reasons),
        FAKE_TEST(waiting_has_reasons),
        FAKE_TEST(one_that_never_ran_fails),
        FAKE_TEST(what_is_down_is_named),
        FAKE_TEST(what_cannot_be_parsed_is_refused),
        FAKE_TEST(no_version_is_no_guess),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
