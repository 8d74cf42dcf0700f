/* tests/unit/rerender_test.c - jobs of rendered/ get another size before they are submitted
 *
 * By a confined process, as in service; one of the job files ends it.
 */
#include "base/file.h"
#include "spool/file.h"
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <yaml.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/eventlog.h"
#include "stages/guard.h"
#include "stages/prepare/prepare.h"
#include "stages/prepare/rerender.h"
#include "stages/shared/control.h"
#include "tests/unit/scratch_repository.h"

#define SINGLE                                                                                     \
    "name: a\nlibrary: any\ntype: single\ntasks: {main: {cpus: 1}}\nsize: {min: 1, max: 4}\n"

/* AddressSanitizer needs more memory than a confined process may have. */
#ifdef __SANITIZE_ADDRESS__
static const bool confined = false;
#else
static const bool confined = true;
#endif

static char *path;
static struct stage stage;
static struct repository *repository;
static struct arena *arena;
static struct error error;

/* In place of libyaml's, which reads what is not of ASCII alone: reading this word ends the process. */
void yaml_parser_set_input_string(yaml_parser_t *parser, const unsigned char *input, size_t size)
{
    void (*real)(yaml_parser_t *, const unsigned char *, size_t);
    *(void **)&real = dlsym(RTLD_NEXT, "yaml_parser_set_input_string");
    if (stage.confined && memmem(input, size, "POISON", 6))
        _exit(3);
    real(parser, input, size);
}

static int set_up(void **state)
{
    (void)state;
    struct scratch scratch;
    char templates[4096];
    path = unit_directory();
    arena = arena_new();
    if (chmod(path, 0755) || spool_create(path, &error))
        return -1;
    scratch_open(&scratch);
    scratch_put(&scratch, "local/any/single.yaml",
                "{$if: 'job.roles[0].cpus > 3', then: {$eval: 'refuse(\"too many\")'}, "
                "else: {cpus: {$eval: 'job.roles[0].cpus'}, script: '${job.script}'}}\n");
    scratch_put(&scratch, "images.txt", "any * * * host\n");
    scratch_put(&scratch, "site.yaml", "images: {allow_user: false}\n");
    scratch_commit(&scratch);
    snprintf(templates, sizeof(templates), "%s/templates.git", path);
    if (rename(scratch.path, templates))
        return -1;
    scratch_close(&scratch);
    git_libgit2_init();
    int root = open(path, O_RDONLY | O_DIRECTORY);
    spool_file_create(root, "dlspool.yaml", TEXT("executor: local\n"), 0644, &error);
    close(root);
    if (stage_open(&stage, "submit", path, &error))
        return -1;
    repository = stage_repository(&stage, &error);
    return !repository || repository_refresh(repository, &error);
}

static int tear_down(void **state)
{
    (void)state;
    repository_close(repository);
    stage_close(&stage);
    arena_free(arena);
    unit_remove(path);
    return 0;
}

static int open_job(enum state in, const char *id)
{
    struct job_place place = {.state = in};
    snprintf(place.id, sizeof(place.id), "%s", id);
    return job_open(&stage.spool, &place);
}

/* As intake leaves it. */
static void put_job(const char *id, const char *request, const char *log)
{
    struct preparation preparation;
    char digest[SHA256_HEX_SIZE];
    sha256_hex(text_of(request), digest);
    struct job_record record = {.id = text_of(id),
                                .owner = TEXT("ann"),
                                .uid = 1000,
                                .gid = (gid_t)-1,
                                .accepted = clock_now(),
                                .source = TEXT("a.yaml"),
                                .request_file = TEXT("request.yaml"),
                                .request_sha256 = text_of(digest),
                                .executor = TEXT("local"),
                                .attempt = 1,
                                .failure.exit_code = -1};
    if (prepare_request(arena, text_of(request), "a.yaml", &record, &preparation) != PREPARED ||
        prepare_manifest(arena, repository, &record, &preparation) != PREPARED)
        fail_msg("%s", preparation.error.text);
    int job = job_create(&stage.spool, id, &error);
    assert_int_equal(record_create(job, &record, &error), 0);
    assert_int_equal(
        spool_file_create_private(job, "request.yaml", text_of(request), (gid_t)-1, &error), 0);
    assert_int_equal(spool_file_create_private(job, "manifest.yaml", preparation.rendered.manifest,
                                               (gid_t)-1, &error),
                     0);
    assert_int_equal(spool_file_create(job, "log", text_of(log), 0644, &error), 0);
    close(job);
    assert_int_equal(job_publish(&stage.spool, id, STATE_RENDERED, &error), 0);
}

#define ACCEPTED "2026-01-01T12:00:00.000Z accepted file=x\n"
#define RENDERED ACCEPTED "2026-01-01T12:00:00.000Z rendered commit=c\n"
#define INTENT "2026-01-01T12:00:01.000Z intent attempt=1\n"
#define FAILED "2026-01-01T12:00:02.000Z failed reason=NoRoom\n"
#define REQUEUED "2026-01-01T12:00:03.000Z requeued cause=room\n"

static struct buffer content(enum state in, const char *id, const char *name)
{
    struct buffer bytes = {0};
    int job = open_job(in, id);
    if (job < 0)
        fail_msg("%s is not in %s/", id, spool_state_name(in));
    assert_int_equal(file_read_at(job, name, 1 << 20, &bytes, &error), 0);
    close(job);
    return bytes;
}

static void has_size(const char *id, int64_t size)
{
    struct job_record record;
    char wanted[32];
    int job = open_job(STATE_RENDERED, id);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    close(job);
    assert_int_equal(record.size, size);
    assert_int_equal(record.cpus, size);
    struct buffer manifest = content(STATE_RENDERED, id, "manifest.yaml");
    snprintf(wanted, sizeof(wanted), "cpus: %d\n", (int)(size / 1000));
    if (!strstr(manifest.data, wanted))
        fail_msg("%s: %s", id, manifest.data);
    buffer_free(&manifest);
}

static struct rerender wanted(const char *id, int64_t size)
{
    struct rerender rerender = {.size = size};
    snprintf(rerender.id, sizeof(rerender.id), "%s", id);
    return rerender;
}

static int events(enum state in, const char *id, const char *name)
{
    struct buffer log = content(in, id, "log");
    struct text rest = buffer_text(&log);
    struct event event;
    int count = 0;
    while (eventlog_next(&rest, &event))
        count += text_is(event.name, name);
    buffer_free(&log);
    return count;
}

static void those_that_nobody_has_get_it(void **state)
{
    (void)state;
    put_job("plain-0000000000001", SINGLE "script: x\n", RENDERED);
    put_job("again-0000000000002", SINGLE "script: x\n", RENDERED INTENT FAILED REQUEUED);
    put_job("open-0000000000003", SINGLE "script: x\n", RENDERED INTENT);
    put_job("void-0000000000004", SINGLE "script: x\n", RENDERED INTENT FAILED);
    put_job("nolog-0000000000005", SINGLE "script: x\n", "");
    put_job("killed-0000000000006", SINGLE "script: x\n", RENDERED);
    put_job("same-0000000000007", SINGLE "script: x\n", RENDERED);
    int job = open_job(STATE_RENDERED, "killed-0000000000006");
    control_file_write(job, CONTROL_KILL, TEXT("ann"), 1000, clock_now(), &error);
    close(job);
    stage.confined = confined;
    struct rerender jobs[] = {
        wanted("plain-0000000000001", 2000), wanted("again-0000000000002", 2000),
        wanted("open-0000000000003", 2000),  wanted("void-0000000000004", 2000),
        wanted("nolog-0000000000005", 2000), wanted("killed-0000000000006", 2000),
        wanted("same-0000000000007", 0),     wanted("gone-0000000000008", 2000)};
    assert_int_equal(rerender_jobs(&stage, jobs, 8, &error), 0);
    for (size_t i = 0; i < 8; i++) {
        bool done = i < 2 || i == 6;
        if (jobs[i].done != done)
            fail_msg("%s was %sdone", jobs[i].id, done ? "not " : "");
        if (i < 7)
            has_size(jobs[i].id, i < 2 ? 2000 : 1000);
        if (i < 7 && events(STATE_RENDERED, jobs[i].id, "requeued") != done + (i == 1))
            fail_msg("%s has not the events that it should have", jobs[i].id);
    }
}

/* A crash came between its manifest and its record. */
static void what_does_not_fit_together_is_mended(void **state)
{
    (void)state;
    const char *ids[] = {"torn-0000000000001", "killed-0000000000002"};
    for (int i = 0; i < 2; i++) {
        put_job(ids[i], SINGLE "script: x\n", RENDERED);
        int job = open_job(STATE_RENDERED, ids[i]);
        assert_int_equal(
            spool_file_replace_private(job, "manifest.yaml", TEXT("cpus: 2\n"), (gid_t)-1, &error),
            0);
        if (i)
            control_file_write(job, CONTROL_KILL, TEXT("ann"), 1000, clock_now(), &error);
        close(job);
    }
    struct rerender torn[] = {wanted(ids[0], 0), wanted(ids[1], 0)};
    assert_int_equal(rerender_jobs(&stage, torn, 2, &error), 0);
    assert_true(torn[0].done);
    assert_false(torn[1].done);
    has_size(ids[0], 1000);
}

static void one_that_cannot_be_rendered_fails(void **state)
{
    (void)state;
    struct job_record record;
    put_job("big-0000000000001", SINGLE "script: x\n", RENDERED);
    put_job("good-0000000000002", SINGLE "script: x\n", RENDERED);
    stage.confined = confined;
    struct rerender jobs[] = {wanted("big-0000000000001", 4000),
                              wanted("good-0000000000002", 2000)};
    assert_int_equal(rerender_jobs(&stage, jobs, 2, &error), 0);
    assert_false(jobs[0].done);
    assert_true(jobs[1].done);
    int job = open_job(STATE_FAILED, "big-0000000000001");
    assert_true(job >= 0);
    assert_int_equal(record_read(job, arena, &record, &error), 0);
    close(job);
    assert_true(text_is(record.failure.reason, "NotAllowed"));
    assert_int_equal(record.size, 1000);
    assert_int_equal(record.attempt, 1);
}

static void one_that_ends_the_reader_is_set_aside(void **state)
{
    (void)state;
    if (!confined)
        skip();
    put_job("bad-0000000000001", SINGLE "script: POISON\n# \303\251\n", RENDERED);
    put_job("good-0000000000002", SINGLE "script: x\n", RENDERED);
    stage.confined = confined;
    for (int i = 1; i <= GUARD_MOST_TRIES; i++) {
        struct rerender jobs[] = {wanted("bad-0000000000001", 2000),
                                  wanted("good-0000000000002", 1000 * (i % 2 + 1))};
        assert_int_equal(rerender_jobs(&stage, jobs, 2, &error), 0);
        assert_false(jobs[0].done);
        assert_true(jobs[1].done);
        assert_int_equal(events(i < GUARD_MOST_TRIES ? STATE_RENDERED : STATE_FAILED,
                                "bad-0000000000001", "stopped"),
                         i);
    }
    struct buffer why = content(STATE_FAILED, "bad-0000000000001", "why");
    assert_non_null(strstr(why.data, "ended dlspool's submit 3 times"));
    buffer_free(&why);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(those_that_nobody_has_get_it),
        TEST(what_does_not_fit_together_is_mended),
        TEST(one_that_cannot_be_rendered_fails),
        TEST(one_that_ends_the_reader_is_set_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
