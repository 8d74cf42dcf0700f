/* request_dialects_test.c - which dialect is recognised, batch scripts, JSON, and control files */
#include "request/control.h"
#include "tests/unit/unit_arena.h"

#include "request/dialects/dialects.h"

static struct description *read_as(const char *source, const char *name)
{
    return dialects_read(arena, text_of(source), name, &error);
}

static struct description *good(const char *source, const char *name)
{
    struct description *job = read_as(source, name);
    if (!job)
        fail_msg("%s\n   was refused: %s", source, error.text);
    return job;
}

static void bad(const char *source, const char *name, const char *sentence)
{
    if (read_as(source, name))
        fail_msg("%s\n   was accepted, expected %s", source, sentence);
    if (strcmp(error.text, sentence) != 0)
        fail_msg("%s\n   gave     %s\n   expected %s", source, error.text, sentence);
}

#define FIELDS "name=a\n#DL library=any\n#DL type=single\n"

static void a_script_is_read(void **state)
{
    (void)state;
    static const char script[] = "#!/bin/bash\n"
                                 "# what it is for\n"
                                 "#DL name=night-run\n"
                                 "#DL library = pytorch\n"
                                 "\n"
                                 "  #DL version=1.10\n"
                                 "#DL\ttype='distributed'   # why\n"
                                 "#DLX no directive\n"
                                 "# DL no directive either\n"
                                 "#DL args=[--epochs, 3, \"a b\"]\n"
                                 "#DL tasks.worker.count=2\n"
                                 "#DL tasks.worker.memory=2Gi\n"
                                 "#DL tasks.chief={cpus: 500m, env: {ROLE: chief}}\n"
                                 "#DL env.EPOCHS=3\n"
                                 "#DL env.GREETING=gr\xc3\xbc\xc3\x9f dich\n"
                                 "#DL output=/srv/out\n"
                                 "#DL version=\n"
                                 "echo $EPOCHS\n"
                                 "#DL queue=ignored\n";
    /* `version=` is given twice; without that line all is well. */
    bad(script, "x.sh", "x.sh:17:5: version: given twice; it was first given in line 6");
    char *once = memory_copy_string(script);
    memcpy(strstr(once, "#DL version=\n"), "# nothing at", 12);
    struct description *job = good(once, "x.sh");
    assert_true(text_is(job->name, "night-run"));
    assert_true(text_is(job->library, "pytorch"));
    assert_true(text_is(job->version, "1.10"));
    assert_true(text_is(job->type, "distributed"));
    assert_int_equal(job->args_count, 3);
    assert_true(text_is(job->args[1], "3"));
    assert_true(text_is(job->args[2], "a b"));
    assert_int_equal(job->tasks_count, 2);
    assert_true(text_is(job->tasks[0].role, "worker"));
    assert_int_equal(job->tasks[0].count, 2);
    assert_int_equal(job->tasks[0].memory, INT64_C(2) << 30);
    assert_int_equal(job->tasks[1].cpus, 500);
    assert_true(text_is(job->tasks[1].environment.variables[0].value, "chief"));
    assert_int_equal(job->environment.count, 2);
    assert_true(text_is(job->environment.variables[0].value, "3"));
    assert_true(text_is(job->environment.variables[1].value, "gr\xc3\xbc\xc3\x9f dich"));
    assert_true(text_is(job->script, once));
    free(once);
}

static void scripts_are_told_by_their_first_bytes(void **state)
{
    (void)state;
    good("#!/bin/sh\n#DL " FIELDS "true", "x.yaml");
    struct description *job = good("\xef\xbb\xbf#!/bin/sh\n#DL " FIELDS "true\n", "x");
    assert_true(text_starts(job->script, "#!/bin/sh\n"));
    job = good("#!/bin/sh\r\n#DL name=a\r\n#DL library=any\r\n#DL type=single\r\ntrue\r\n", "x.sh");
    assert_true(
        text_is(job->script, "#!/bin/sh\n#DL name=a\n#DL library=any\n#DL type=single\ntrue\n"));
    /* Mixed line ends are the program's own business. */
    job = good("#!/bin/sh\n#DL name=a\r\n#DL library=any\n#DL type=single\nprintf 'a\r\n'\n", "x");
    assert_non_null(strstr(job->script.data, "a\r\n'"));
}

static void mistakes_in_scripts_have_their_place(void **state)
{
    (void)state;
#define BODY "true\n"
    static const struct {
        const char *line, *sentence; /* line 5 of a script */
    } cases[] = {
        {"#DL libary=x", "s.sh:5:5: libary: unknown field; did you mean library?"},
        {"#DL retries=lots", "s.sh:5:13: retries: found \"lots\", expected a whole number from 0 "
                             "to 100"},
        {"#DL   retries   =   101", "s.sh:5:21: retries: found 101, expected a whole number from 0 "
                                    "to 100"},
        {"#DL retries", "s.sh:5:5: found \"retries\", expected field=value, such as "
                        "library=pytorch or tasks.main.gpus=1"},
        {"#DL env.TOKEN hunter2",
         "s.sh:5:5: found \"env.TOKEN ...\", expected field=value, such as "
         "library=pytorch or tasks.main.gpus=1"},
        {"#DL env.TOKEN: hunter2",
         "s.sh:5:5: found \"env.TOKEN ...\", expected field=value, such as "
         "library=pytorch or tasks.main.gpus=1"},
        {"#DL env.MY TOKEN=hunter2",
         "s.sh:5:5: found \"env.MY ...\", expected field=value, such as "
         "library=pytorch or tasks.main.gpus=1"},
        {"#DL", "s.sh:5:4: found \"\", expected field=value, such as library=pytorch or "
                "tasks.main.gpus=1"},
        {"#DL =x", "s.sh:5:5: found \"=...\", expected field=value, such as library=pytorch or "
                   "tasks.main.gpus=1"},
        {"#DL a..b=x",
         "s.sh:5:5: found \"a..b=...\", expected field=value, such as library=pytorch "
         "or tasks.main.gpus=1"},
        {"#DL .a=x", "s.sh:5:5: found \".a=...\", expected field=value, such as library=pytorch or "
                     "tasks.main.gpus=1"},
        {"#DL --mem=2G", "s.sh:5:5: --mem: unknown field; did you mean tasks.main.memory?"},
        {"#DL a.b.c.d.e.f.g.h.i=1", "s.sh:5:5: found \"a.b.c.d.e.f.g.h.i=...\", expected "
                                    "field=value, such as library=pytorch or tasks.main.gpus=1"},
        {"#DL name=b", "s.sh:5:5: name: given twice; it was first given in line 2"},
        {"#DL name.x=b", "s.sh:5:5: name.x: given twice; it was first given in line 2"},
        {"#DL script=b", "s.sh:5:5: script: the file itself is the script; leave the field out"},
        {"#DL program=/p", "s.sh:1:1: script: found beside program, expected only one of them"},
        {"#DL tasks.W.count=1", "s.sh:5:11: tasks.W: found the role \"W\", expected a name of at "
                                "most 15 small letters, digits and inner hyphens"},
        {"#DL tasks.w.memory=lots", "s.sh:5:20: tasks.w.memory: found \"lots\", expected a size "
                                    "such as 512Mi or 16Gi"},
        {"#DL args=[a", "s.sh:5:10: not well-formed YAML: the [ that begins here is not closed: "
                        "did not find expected ',' or ']'"},
        {"# DL retries=1", "s.sh:5:1: found a comment that seems to be a field; write #DL, in "
                           "capitals and without a blank after the #"},
        {"#DL args=[a, &b c]", "s.sh:5:14: anchors (&name) are not accepted; write the value out"},
        {"#DL env.A=a: b", "s.sh:5:11: expected a value on one line: a word, a number, [a, list], "
                           "{a: map}, or text in \"quotes\""},
        {"#DL args=- a", "s.sh:5:10: expected a value on one line: a word, a number, [a, list], "
                         "{a: map}, or text in \"quotes\""},
        {"#DL env.\xc3\xa9=1",
         "s.sh:5:5: found \"env.\xc3\xa9=...\", expected field=value, such as "
         "library=pytorch or tasks.main.gpus=1"},
        {"#DL env={\xc3\xa9: 1}",
         "s.sh:5:10: env.\xc3\xa9: found the name \"\xc3\xa9\", expected at "
         "most 255 letters, digits and _, the first of them no digit"},
        {"#DL queue=X",
         "s.sh:5:11: queue: found \"X\", expected 1 to 63 small letters, digits and inner hyphens"},
    };
    char source[512];
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        snprintf(source, sizeof(source), "#!/bin/sh\n#DL " FIELDS "%s\n" BODY, cases[i].line);
        bad(source, "s.sh", cases[i].sentence);
    }
    bad("#!/bin/sh\n#DL " FIELDS "# end\n\n", "s.sh",
        "s.sh:1:1: found nothing but comments, expected a program after them");
    bad("#!/bin/sh\n\xc3\xa9\xff\n", "s.sh",
        "s.sh:2:2: found bytes that are not UTF-8, expected UTF-8 text");
    static const char nul[] = "#!/bin/sh\n#DL name=\0\n";
    assert_null(dialects_read(arena, (struct text){nul, sizeof(nul) - 1}, "s.sh", &error));
    assert_string_equal(error.text, "s.sh:2:10: found a NUL byte, expected UTF-8 text");
}

static void json_has_the_same_fields(void **state)
{
    (void)state;
    static const char source[] = "{\"name\": \"a\", \"library\": \"any\", \"type\": \"roles\",\n"
                                 " \"version\": 1.10, \"script\": \"#!/bin/sh\\r\\ntrue\\r\\n\",\n"
                                 " \"tasks\": {\"w\": {\"count\": 2.0, \"cpus\": 0.1,\n"
                                 "  \"memory\": 1073741824, \"env\": {\"X\": 1E2}}}}";
    static const char *const names[] = {"a.json", "a", "a.txt", "a.yaml", NULL};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        struct description *job = good(source, names[i]);
        assert_true(text_is(job->version, "1.10"));
        assert_true(text_is(job->script, "#!/bin/sh\ntrue\n"));
        assert_int_equal(job->tasks[0].count, 2);
        assert_int_equal(job->tasks[0].cpus, 100);
        assert_true(text_is(job->tasks[0].environment.variables[0].value, "1E2"));
    }
    good("\xef\xbb\xbf{\"name\": \"a\", \"library\": \"any\", \"type\": \"single\", \"script\": "
         "\"x\"}",
         "a.json");
    bad("{\"name\": \"a\",\n \"librari\": \"any\"}", "a.json",
        "a.json:2:2: librari: unknown field; did you mean library?\n"
        "a.json:1:1: nothing says what runs; expected script, or program and entry, or a command "
        "for every task role");
    bad("name: a\n", "a.json",
        "a.json:1:1: found text that does not begin with {, expected "
        "JSON, as the file's name ends in .json; call it .yaml if it is YAML");
}

static void other_encodings_are_named(void **state)
{
    (void)state;
    static const char little[] = "\xff\xfen\0a\0m\0e\0";
    assert_null(dialects_read(arena, (struct text){little, sizeof(little) - 1}, "a.yaml", &error));
    assert_string_equal(error.text, "a.yaml: found UTF-16, expected text in UTF-8; save it so, or "
                                    "convert it: iconv -f UTF-16 -t UTF-8");
    bad("name: caf\xe9\n", "a.yaml",
        "a.yaml:1:10: found bytes that are not UTF-8, expected UTF-8 text");
    good("\xef\xbb\xbfname: a\r\nlibrary: any\r\ntype: single\r\nscript: |\r\n  a\r\n  b\r\n",
         "a.yaml");
}

/* Each complains of its own fields. */
static void dialects_of_others_are_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *source, *name, *words;
    } cases[] = {
        {"{\"jobName\": \"a\", \"taskRoles\": []}", "a.json", "image: missing"},
        {"{\"taskRoles\": []}", "a.json", "jobName: missing"},
        {"jobName: a\nimage: b\n", "a.yaml", "taskRoles: missing"},
        {"protocolVersion: 2\nname: a\ntype: job\n", "a.yaml", "taskRoles"},
        {"jobName: a\ncmd: python x.py\njobtrainingtype: RegularJb\n", "a.yaml", "jobtrainingtype"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        assert_null(dialects_read(arena, text_of(cases[i].source), cases[i].name, &error));
        if (!strstr(error.text, cases[i].words))
            fail_msg("%s\n   gave %s\n   without %s", cases[i].source, error.text, cases[i].words);
    }
}

static void control_files_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *source, *name;
        enum control_verb verb;
        const char *id, *tasks;
    } cases[] = {
        {"kill: a-b-1", "x", CONTROL_KILL, "a-b-1", ""},
        {"kill: a-b-1/3\n", "x", CONTROL_KILL, "a-b-1", "3"},
        {"retry: a-b-1/0-5,9\n", "x", CONTROL_RETRY, "a-b-1", "0-5,9"},
        {"kill: a-b-1[0-5,9]\n", "x", CONTROL_KILL, "a-b-1", "0-5,9"},
        {"{\"kill\": \"abc/7\"}", "x.json", CONTROL_KILL, "abc", "7"},
        {"retry: abc\n", "x.yaml", CONTROL_RETRY, "abc", ""},
        {"hold: abc\n", "x.yaml", CONTROL_HOLD, "abc", ""},
        {"hold: {job: abc, keep_memory: true}\n", "x.yaml", CONTROL_SUSPEND, "abc", ""},
        {"hold: {keep_memory: false, job: abc/3}\n", "x.yaml", CONTROL_HOLD, "abc", "3"},
        {"{\"hold\": {\"job\": \"abc\"}}", "x.json", CONTROL_HOLD, "abc", ""},
        {"release: abc\n", "x.yaml", CONTROL_RELEASE, "abc", ""},
        {"# please\n---\nkill: 'abc'\n...\n", "x.yml", CONTROL_KILL, "abc", ""},
        {"kill: 12345\n", "x", CONTROL_KILL, "12345", ""},
        {"{\"kill\": \"abc\"}", "x.json", CONTROL_KILL, "abc", ""},
        {"{\"retry\": \"abc\"}", "x", CONTROL_RETRY, "abc", ""},
        {"\xef\xbb\xbfkill: abc\r\n", "x", CONTROL_KILL, "abc", ""},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct control control;
        if (request_control_read(arena, text_of(cases[i].source), cases[i].name, &control, &error))
            fail_msg("%s: %s", cases[i].source, error.text);
        assert_int_equal(control.verb, cases[i].verb);
        assert_true(text_is(control.id, cases[i].id));
        assert_true(text_is(control.tasks, cases[i].tasks));
    }
}

static void decisions_are_read(void **state)
{
    (void)state;
    static const char digest[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    static const struct {
        const char *source;
        enum control_verb verb;
        const char *manifest, *words;
    } cases[] = {
        {"approve: abc\n", CONTROL_APPROVE, "", ""},
        {"approve: {job: abc}\n", CONTROL_APPROVE, "", ""},
        {"approve: {job: abc, manifest: "
         "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef}\n",
         CONTROL_APPROVE, digest, ""},
        {"{\"refuse\": {\"job\": \"abc\", \"text\": \"a \\\"b\\\"\"}}", CONTROL_REFUSE, "",
         "a \"b\""},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct control control;
        if (request_control_read(arena, text_of(cases[i].source), "x", &control, &error))
            fail_msg("%s: %s", cases[i].source, error.text);
        assert_int_equal(control.verb, cases[i].verb);
        assert_true(text_is(control.id, "abc"));
        assert_true(text_is(control.manifest, cases[i].manifest));
        assert_true(text_is(control.words, cases[i].words));
    }
}

static void control_files_gone_wrong_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *source, *sentence;
    } cases[] = {
        {"kill:\n",
         "c:1:6: kill: found nothing, expected a job's id: 3 to 63 small letters, digits "
         "and hyphens"},
        {"kill: ab\n", "c:1:7: kill: found \"ab\", expected a job's id: 3 to 63 small letters, "
                       "digits and hyphens"},
        {"kill: -ab\n", "c:1:7: kill: found \"-ab\", expected a job's id: 3 to 63 small letters, "
                        "digits and hyphens"},
        {"kill: ../../etc\n",
         "c:1:7: kill: found \"../../etc\", expected a job's id: 3 to 63 small "
         "letters, digits and hyphens"},
        {"kill: abc/\n",
         "c:1:7: kill: found \"abc/\", expected a job's id, a slash, and indexes of its "
         "tasks such as 0-5,9"},
        {"kill: Abc\n", "c:1:7: kill: found \"Abc\", expected a job's id: 3 to 63 small letters, "
                        "digits and hyphens"},
        {"kill: \"abc\\0\"\n",
         "c:1:7: kill: found \"abc\\x00\", expected a job's id: 3 to 63 small "
         "letters, digits and hyphens"},
        {"kill: [abc]\n", "c:1:7: kill: found a list, expected a job's id: 3 to 63 small letters, "
                          "digits and hyphens"},
        {"kill: abc\nretry: abc\n", "c:1:1: kill: found beside other fields, expected it alone: a "
                                    "control file asks for one thing"},
        {"kill: abc\nwhy: too slow\n", "c:1:1: kill: found beside other fields, expected it alone: "
                                       "a control file asks for one thing"},
        {"hold: true\n",
         "c:1:7: hold: found true, expected a job's id: 3 to 63 small letters, digits "
         "and hyphens"},
        {"hold: {job: abc, keep: true}\n",
         "c:1:7: hold: found a map, expected a job's id: 3 to 63 small letters, digits and "
         "hyphens, or for hold {job: ID, keep_memory: true}"},
        {"hold: {job: abc/3, keep_memory: true}\n",
         "c:1:1: hold: found single tasks beside keep_memory, expected a job"},
        {"approve: true\n", "c:1:10: approve: found true, expected a job's id, or {job: ID, "
                            "manifest: SHA-256 of its manifest}"},
        {"approve: {job: abc, manifest: x}\n",
         "c:1:10: approve: found a map, expected a job's id, or {job: ID, manifest: SHA-256 of its "
         "manifest}"},
        {"approve: {job: abc, text: x}\n",
         "c:1:10: approve: found a map, expected a job's id, or {job: ID, manifest: SHA-256 of its "
         "manifest}"},
        {"refuse: abc\n", "c:1:9: refuse: found \"abc\", expected {job: ID, text: WHY}, with one "
                          "line of at most 200 bytes"},
        {"refuse: {job: abc}\n", "c:1:9: refuse: found a map, expected {job: ID, text: WHY}, with "
                                 "one line of at most 200 bytes"},
        {"refuse: {job: abc, text: \"a\\nb\"}\n",
         "c:1:9: refuse: found a map, expected {job: ID, text: WHY}, with one line of at most 200 "
         "bytes"},
        {"refuse: {job: abc, text: x, more: y}\n",
         "c:1:9: refuse: found a map, expected {job: ID, text: WHY}, with one line of at most 200 "
         "bytes"},
        {"kill: [abc\n", "c:1:7: not well-formed YAML: the [ that begins here is not closed: did "
                         "not find expected ',' or ']'"},
        {"kill: &a abc\n", "c:1:7: anchors (&name) are not accepted; write the value out"},
        {"{\"kill\": *abc}", "c:1:10: aliases (*name) are not accepted; write the value out"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct control control;
        int result = request_control_read(arena, text_of(cases[i].source), "c", &control, &error);
        if (result == 0)
            fail_msg("%s was taken for %d", cases[i].source, (int)control.verb);
        assert_int_equal(control.verb, CONTROL_NONE);
        assert_string_equal(error.text, cases[i].sentence);
    }
    char source[80] = "kill: ";
    struct control control;
    memset(source + 6, 'a', 63);
    assert_int_equal(request_control_read(arena, text_of(source), "c", &control, &error), 0);
    assert_int_equal(control.id.length, 63);
    source[69] = 'a';
    assert_int_equal(request_control_read(arena, text_of(source), "c", &control, &error), -1);
}

static void job_files_are_no_control_files(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "",
        "name: kill\nlibrary: any\n",
        "name: a\nkill: abc\n",
        "hold: true\nname: a\nlibrary: any\ntype: single\n",
        "retries: 3\n",
        "- kill\n",
        "kill\n",
        "#!/bin/sh\n#DL name=a\nkill 5\n",
        "broken: [kill",
        "script: |\n  kill: abc\n",
    };
    for (size_t i = 0; i < ARRAY_COUNT(sources); i++) {
        struct control control;
        if (request_control_read(arena, text_of(sources[i]), "x", &control, &error))
            fail_msg("%s: %s", sources[i], error.text);
        assert_int_equal(control.verb, CONTROL_NONE);
    }
    struct buffer large = {0};
    while (large.length < 2000)
        buffer_add_string(&large, "# kill: abc\n");
    buffer_add_string(&large, "kill: abc\n");
    struct control control;
    assert_int_equal(request_control_read(arena, buffer_text(&large), "x", &control, &error), 0);
    assert_int_equal(control.verb, CONTROL_NONE);
    buffer_free(&large);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_script_is_read),
        TEST(scripts_are_told_by_their_first_bytes),
        TEST(mistakes_in_scripts_have_their_place),
        TEST(json_has_the_same_fields),
        TEST(other_encodings_are_named),
        TEST(dialects_of_others_are_recognised),
        TEST(control_files_are_read),
        TEST(decisions_are_read),
        TEST(control_files_gone_wrong_are_refused),
        TEST(job_files_are_no_control_files),
    };
    return cmocka_run_group_tests_name("request dialects", tests, NULL, NULL);
}
