/* which job is meant by a word: ids, beginnings, names; whose; what can be done to them */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "spool/meant.h"

enum { ANN = 1001, BOB = 1002 };

static char *path;
static struct spool spool;
static struct error error;
static struct meant meant;

static int set_up(void **state)
{
    (void)state;
    path = unit_directory();
    return spool_create(path, &error) || spool_open(&spool, path, &error) ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    spool_close(&spool);
    unit_remove(path);
    return 0;
}

static void put(enum state state, const char *id, const char *name, uid_t uid)
{
    const struct job_record record = {.id = text_of(id),
                                      .name = text_of(name),
                                      .uid = uid,
                                      .owner = TEXT("somebody"),
                                      .library = TEXT("any"),
                                      .source = TEXT("a.yaml"),
                                      .type = TEXT("single"),
                                      .executor = TEXT("null"),
                                      .attempt = 1};
    int job = job_create(&spool, id, &error);
    assert_true(job >= 0);
    assert_int_equal(record_create(job, &record, &error), 0);
    close(job);
    assert_int_equal(job_publish(&spool, id, state, &error), 0);
}

static bool is_submitted(void *context, const struct job_place *place,
                         const struct job_record *record)
{
    (void)context;
    (void)record;
    return place->state == STATE_SUBMITTED;
}

/* What a word means to somebody who looks, and to somebody who does something: the id, or the
 * sentence. */
static const char *seen(const char *word, uid_t asker)
{
    const struct meaning meaning = {.spool = &spool, .word = text_of(word), .asker = asker};
    return meant_job(&meaning, &meant, &error) ? error.text : meant.places[0].id;
}

static const char *done_to(const char *word, uid_t asker)
{
    static char found[sizeof(error.text)];
    struct name_index *index = name_index_new(&spool);
    struct meaning meaning = {.spool = &spool,
                              .word = text_of(word),
                              .asker = asker,
                              .applies = is_submitted,
                              .index = index};
    snprintf(found, sizeof(found), "%s",
             meant_job(&meaning, &meant, &error) ? error.text : meant.places[0].id);
    name_index_free(index);
    /* An index of the directories says what they say. */
    meaning.index = NULL;
    assert_string_equal(meant_job(&meaning, &meant, &error) ? error.text : meant.places[0].id,
                        found);
    return found;
}

static void a_whole_id_means_that_job(void **state)
{
    (void)state;
    put(STATE_FAILED, "digits-1m7y5dm13etb1", "digits", ANN);
    assert_string_equal(seen("digits-1m7y5dm13etb1", BOB), "digits-1m7y5dm13etb1");
    assert_string_equal(done_to("digits-1m7y5dm13etb1", BOB), "digits-1m7y5dm13etb1");
    assert_non_null(strstr(seen("digits-1m7y5dm13etb2", BOB), "there is no job \"digits-"));
    assert_non_null(strstr(seen("../digits", BOB), "there is no job"));
    assert_non_null(strstr(seen("", BOB), "is not the id or the name"));
}

static void a_beginning_that_cuts_the_name_is_only_to_look(void **state)
{
    (void)state;
    put(STATE_SUBMITTED, "digits-1m7y5dm13etb1", "digits", ANN);
    assert_string_equal(seen("dig", ANN), "digits-1m7y5dm13etb1");
    assert_non_null(strstr(done_to("dig", ANN), "there is no job \"dig\""));
    assert_non_null(strstr(done_to("digits-", ANN), "there is no job \"digits-\""));
    assert_string_equal(done_to("digits-1m7", ANN), "digits-1m7y5dm13etb1");
    put(STATE_SUBMITTED, "digits-1m7y5dm13etb2", "digits", ANN);
    assert_non_null(strstr(done_to("digits-1m7", ANN), "2 jobs have an id that starts with"));
    assert_int_equal(meant.count, 2);
    assert_string_equal(meant.places[0].id, "digits-1m7y5dm13etb2");
}

/* A name that is cut to fit into an id is the whole name there. */
static void the_beginning_of_an_id_with_a_long_name(void **state)
{
    (void)state;
    put(STATE_SUBMITTED, "abcdefghijklmnopqrstuvwx-1m7y5dm13etb1", "abcdefghijklmnopqrstuvwxyz",
        ANN);
    assert_string_equal(done_to("abcdefghijklmnopqrstuvwx-1m7", ANN),
                        "abcdefghijklmnopqrstuvwx-1m7y5dm13etb1");
    assert_string_equal(done_to("abcdefghijklmnopqrstuvwxyz", ANN),
                        "abcdefghijklmnopqrstuvwx-1m7y5dm13etb1");
    assert_non_null(strstr(done_to("abcdefghijklmnopqrstuvwxyy", ANN), "there is no job"));
}

static void a_name_means_ones_own(void **state)
{
    (void)state;
    put(STATE_SUBMITTED, "digits-1m7y5dm13etb1", "digits", ANN);
    put(STATE_SUBMITTED, "digits-1m7y5dm13etb2", "digits", BOB);
    put(STATE_FAILED, "digits-1m7y5dm13etb3", "digits", ANN);
    assert_string_equal(seen("digits", ANN), "digits-1m7y5dm13etb3");
    assert_string_equal(seen("digits", BOB), "digits-1m7y5dm13etb2");
    /* Of two of one's own, the only one to which it can be done. */
    assert_string_equal(done_to("digits", ANN), "digits-1m7y5dm13etb1");
    put(STATE_SUBMITTED, "digits-1m7y5dm13etb4", "digits", ANN);
    assert_non_null(strstr(done_to("digits", ANN), "2 jobs have the name \"digits\"; say which"));
    assert_int_equal(meant.total, 2);
    /* Somebody who has none means whose there is. */
    assert_non_null(strstr(done_to("digits", 1003), "3 jobs have the name"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_whole_id_means_that_job, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_beginning_that_cuts_the_name_is_only_to_look, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_beginning_of_an_id_with_a_long_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_name_means_ones_own, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
