/* tests/unit/held_rest_test.c - jobs of held/ that rest are woken by all that changes what they wait for
 *
 * No insurance is due meanwhile.  The time of a directory is a digest of what is in it, as two changes of a real one
 * may have the same.
 *
 * Seen to fail with: tests/mutants/rest-*.patch.
 */
#include "tests/unit/stage_fixture.h"

#include <stdlib.h>

#include "base/directory.h"
#include "base/hash.h"
#include "base/sha256.h"
#include "stages/resubmit/inside.h"
#include "stages/shared/control.h"

enum { JOBS_MOST = 48 };

static const int64_t spring = 1806408000000; /* 2027-03-30 */
static struct system_calls real;
static struct scratch templates;
static char ids[JOBS_MOST][ID_SIZE];
static size_t jobs_made;

/* ---- the times of directories ---- */

static int add_name(void *context, const char *name, unsigned char type)
{
    (void)type;
    *(uint64_t *)context += hash_text(HASH_START, text_of(name));
    return 0;
}

static int stat_by_digest(int directory, const char *name, struct stat *status, int flags)
{
    int result = real.fstatat(directory, name, status, flags);
    if (result || !S_ISDIR(status->st_mode))
        return result;
    uint64_t digest = HASH_START;
    struct buffer record = {0};
    int job = openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (job < 0)
        return -1;
    directory_walk(job, add_name, &digest);
    if (!file_read_at(job, "job.yaml", 1 << 16, &record, NULL))
        digest = hash_text(digest, buffer_text(&record));
    buffer_free(&record);
    close(job);
    status->st_mtim = (struct timespec){.tv_sec = 1, .tv_nsec = (long)(digest % 1000000000)};
    return 0;
}

/* ---- the executor ---- */

static int be_ready(struct executor *executor, struct error *problem)
{
    (void)executor;
    (void)problem;
    return 0;
}

static void close_nothing(struct executor *executor)
{
    (void)executor;
}

static const struct executor_operations operations = {
    .name = "null", .ready = be_ready, .close = close_nothing};

/* ---- what happens ---- */

/* A new job, which waits for its time and for others.  Its id. */
static const char *make(const char *name, enum state state, int64_t begin, struct awaited *after,
                        size_t count)
{
    char token[TOKEN_LENGTH + 1], request[128], digest[SHA256_HEX_SIZE], empty[SHA256_HEX_SIZE];
    char *id = ids[jobs_made++];
    snprintf(request, sizeof(request), "name: %s\nlibrary: any\ntype: single\nscript: 'true'\n",
             name);
    sha256_hex(text_of(request), digest);
    sha256_hex(TEXT(""), empty);
    id_token_make(now, token);
    id_make(text_of(name), token, id);
    struct job_record record = {.id = text_of(id),
                                .name = text_of(name),
                                .owner = TEXT("ann"),
                                .uid = 1000,
                                .gid = (gid_t)-1,
                                .accepted = now,
                                .source = TEXT("a.yaml"),
                                .request_file = TEXT("request.yaml"),
                                .request_sha256 = text_of(digest),
                                .manifest_sha256 = text_of(empty),
                                .type = TEXT("single"),
                                .executor = TEXT("null"),
                                .held = state == STATE_HELD ? now : 0,
                                .begin = begin,
                                .attempt = 1,
                                .after = after,
                                .after_count = count,
                                .failure.exit_code = -1};
    put_job(state, &record, "2027-03-30T00:00:00.000Z accepted file=a\n", NULL);
    int job = open_job(id, state);
    assert_int_equal(
        spool_file_create_private(job, "request.yaml", text_of(request), (gid_t)-1, &error), 0);
    close(job);
    return id;
}

static void set_up_templates(void)
{
    char name[PATH_MAX];
    scratch_open(&templates);
    scratch_put(&templates, "local/any/single.yaml", "{script: '${job.script}'}\n");
    scratch_put(&templates, "images.txt", "any * * * host\n");
    scratch_put(&templates, "site.yaml", "{}\n");
    scratch_commit(&templates);
    snprintf(name, sizeof(name), "%s/templates.git", path);
    assert_int_equal(symlink(templates.path, name), 0);
}

static void open_all(void)
{
    open_spool(&resubmit_stage, &operations, spring);
    set_up_templates();
    write_settings("executor: \"null\"\nsync: none\nretry_interval: 1s\nscan_interval: 10m\n");
    real = sys;
    sys.fstatat = stat_by_digest;
    jobs_made = 0;
    open_stage();
}

static void close_all(void)
{
    sys = real;
    scratch_close(&templates);
    close_spool(NULL);
}

/* One that rests stands between the two of which there is news. */
static void a_cycle_is_found_through_one_that_rests(void **state)
{
    struct awaited after = {.condition = TEXT("afterok"), .job = TEXT("late")};
    (void)state;
    open_all();
    after.job = text_of(make("early", STATE_HELD, 0, &after, 1));
    after.job = text_of(make("between", STATE_HELD, 0, &after, 1));
    for (int i = 0; i < 4; i++)
        run_round_after(60);
    const char *late = make("late", STATE_HELD, 0, &after, 1);
    run_round_after(60);
    assert_true(in_state(late, STATE_FAILED));
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cycle_is_found_through_one_that_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
