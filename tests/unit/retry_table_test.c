/* tests/unit/retry_table_test.c - retry.txt: what is accepted, what is refused, which row decides
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "job/retry_table.h"

static const char table_source[] =
    "# what a failure means\n"
    "exit 193 transient \"asked for another try\"\n"
    "reason OOMKilled permanent \"raise `memory`\"\n"
    "log \"CUDA out of (memory|\\\"mem\\\")\" permanent \"smaller batches\" # a comment\n"
    "log ^ImportError:\\.x permanent\n"
    "exit 1-9 unknown\n"
    "signal KILL transient killed from outside # by whom?\n"
    "signal 11 permanent\n";

static struct retry_table *parse(const char *source)
{
    struct error error = {""};
    struct retry_table *table = retry_table_parse(text_of(source), "retry.txt", &error);
    if (!table)
        print_message("%s\n", error.text);
    assert_non_null(table);
    return table;
}

static void decides(const struct retry_table *table, int exit_code, const char *reason,
                    const char *log, enum retry_class class, int line)
{
    struct retry_decision decision =
        retry_table_decide(table, exit_code, text_of(reason), text_of(log));
    assert_int_equal(decision.line, line);
    assert_int_equal(decision.class, class);
}

static void rows_are_asked_in_order(void **state)
{
    (void)state;
    struct retry_table *table = parse(table_source);
    decides(table, 193, "", "", RETRY_TRANSIENT, 2);
    decides(table, 9, "Exited", "all well", RETRY_UNKNOWN, 6);
    decides(table, 10, "", "", RETRY_UNKNOWN, 0);
    decides(table, 137, "", "", RETRY_TRANSIENT, 7);
    decides(table, 139, "", "", RETRY_PERMANENT, 8);
    decides(table, 193, "OOMKilled", "cuda out of memory", RETRY_TRANSIENT, 2);
    decides(table, 137, "OOMKilled", "cuda out of memory", RETRY_PERMANENT, 3);
    decides(table, 137, "oomkilled", "", RETRY_PERMANENT, 3);
    decides(table, 1, "", "first\nRuntimeError: cuda OUT of memory. Tried", RETRY_PERMANENT, 4);
    decides(table, 1, "", "CUDA out of \"mem\"", RETRY_PERMANENT, 4);
    decides(table, 1, "", "line\nImportError:.x", RETRY_PERMANENT, 5);
    decides(table, 1, "", "line ImportError:.x", RETRY_UNKNOWN, 6);
    decides(table, 1, "", "ImportError:yx", RETRY_UNKNOWN, 6);
    struct retry_decision decision = retry_table_decide(table, 137, TEXT(""), TEXT(""));
    assert_true(text_is(decision.hint, "killed from outside # by whom?"));
    decision = retry_table_decide(table, 1, TEXT("OOMKilled"), TEXT(""));
    assert_true(text_is(decision.hint, "raise `memory`"));
    assert_int_equal(retry_table_decide(NULL, 1, TEXT("x"), TEXT("y")).class, RETRY_UNKNOWN);
    retry_table_free(table);
}

static void a_row_says_how_often(void **state)
{
    (void)state;
    struct retry_table *table =
        parse("exit 1 transient:3\nexit 2 transient:10000 \"on\"\nexit 3 transient\n");
    static const int most[] = {0, 3, RETRY_MOST, 0};
    for (int code = 1; code <= 3; code++) {
        struct retry_decision decision = retry_table_decide(table, code, TEXT(""), TEXT(""));
        assert_int_equal(decision.class, RETRY_TRANSIENT);
        assert_int_equal(decision.most, most[code]);
    }
    retry_table_free(table);
}

/* A NUL byte in a log must not hide what follows, nor must a long log cost without bound. */
static void only_the_end_of_a_log_is_searched(void **state)
{
    (void)state;
    struct retry_table *table = parse("log needle transient\n");
    size_t length = RETRY_LOG_LIMIT + 100;
    struct buffer log = {0};
    buffer_add_string(&log, "needle");
    while (log.length < length)
        buffer_add_byte(&log, '\0');
    assert_int_equal(retry_table_decide(table, 1, TEXT(""), buffer_text(&log)).line, 0);
    buffer_add_string(&log, "needle");
    assert_int_equal(retry_table_decide(table, 1, TEXT(""), buffer_text(&log)).line, 1);
    buffer_free(&log);
    retry_table_free(table);
}

/* Where lines never end, the search must neither miss nor take long: without pieces this takes
 * most of a minute. */
static void long_lines_are_searched_in_pieces(void **state)
{
    (void)state;
    struct retry_table *table = parse("log ^needle transient\nlog needle$ unknown\n"
                                      "log needle permanent\nlog a.*b.*a.*b.*c unknown\n");
    for (size_t at = 1; at < 3000; at += 7) {
        struct buffer log = {0};
        buffer_add_string(&log, "short\n");
        for (size_t i = 0; i < at; i++)
            buffer_add_byte(&log, 'x');
        buffer_add_string(&log, "needle");
        for (size_t i = 0; i < 1100; i++)
            buffer_add_byte(&log, 'y');
        decides(table, 1, "", log.data, RETRY_PERMANENT, 3);
        log.data[log.length - 1100] = '\n';
        decides(table, 1, "", log.data, RETRY_UNKNOWN, 2);
        log.data[6 + at - 1] = '\n';
        decides(table, 1, "", log.data, RETRY_TRANSIENT, 1);
        buffer_free(&log);
    }
    struct buffer log = {0};
    while (log.length < RETRY_LOG_LIMIT)
        buffer_add_string(&log, "ab");
    int64_t start = clock_elapsed();
    decides(table, 1, "", log.data, RETRY_UNKNOWN, 0);
    assert_true(clock_elapsed() - start < 5000);
    buffer_free(&log);
    retry_table_free(table);
}

static void refuses(const char *source, const char *sentence)
{
    struct error error = {""};
    assert_null(retry_table_parse(text_of(source), "retry.txt", &error));
    if (!strstr(error.text, sentence))
        print_message("got: %s\nwanted: %s\n", error.text, sentence);
    assert_non_null(strstr(error.text, sentence));
}

static void faults_are_refused_with_line(void **state)
{
    (void)state;
    refuses("\nexit 1\n", "retry.txt:2: too few columns");
    refuses("exti 1 transient\n", "retry.txt:1: the first column is \"exti\"");
    refuses("exti 1 transient\n", "did you mean exit?");
    refuses("exit 1 transiant\n", "the class is \"transiant\"");
    refuses("exit 256 transient\n", "expected a code from 0 to 255");
    refuses("exit 9-1 transient\n", "expected a code from 0 to 255");
    refuses("exit -1 transient\n", "expected a code from 0 to 255");
    refuses("exit x transient\n", "expected a code from 0 to 255");
    refuses("signal 0 transient\n", "expected a number from 1");
    refuses("signal KILLED transient\n", "expected a number from 1");
    refuses("log \"a(b\" transient\n", "is not a regular expression");
    refuses("log \"\" transient\n", "is not a regular expression");
    refuses("log \"(a*)\\1\" transient\n", "back references");
    refuses("log a{1,5000} transient\n", "is too large");
    refuses("log ((a{20}){10}){10} transient\n", "is too large");
    refuses("log a{40}{40} transient\n", "is too large");
    refuses("log ((((((((((a+)+)+)+)+)+)+)+)+)+)+ transient\n", "is too large");
    refuses("log ((((((((((((((((((((((((((((((((a)))))))))))))))))))))))))))))))) transient\n",
            "is too large");
    refuses("log \"open transient\n", "quotes do not close");
    refuses("exit 1 transient \"open\n", "the hint's quotes do not close");
    refuses("exit 1 transient \"a\" b\n", "text follows");
    refuses("exit 1 transient \xff\n", "the hint is not UTF-8");
    refuses("exit 1 transient:0\n", "expected transient:N, 1 to 10000 retries");
    refuses("exit 1 transient:10001\n", "the class is \"transient:10001\"");
    refuses("exit 1 transient:x\n", "the class is \"transient:x\"");
    refuses("exit 1 transient:\n", "the class is \"transient:\"");
    refuses("exit 1 unknown:3\n", "expected unknown: only transient can have a bound");
    refuses("exit 1 transiant:3\n", "the class is \"transiant\"");
}

static void ordinary_expressions_are_accepted(void **state)
{
    (void)state;
    struct retry_table *table = parse("log [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12} transient\n"
                                      "log ([0-9]{1,3}\\.){3}[0-9]{1,3} transient\n"
                                      "log \"[]{(]{3}a\\{b [[:digit:]]+ (x|y+)* z{,2}\" unknown\n");
    decides(table, 1, "", "at 123e4567-e89b-12d3-a456-426614174000", RETRY_TRANSIENT, 1);
    decides(table, 1, "", "to 192.168.0.1:80", RETRY_TRANSIENT, 2);
    decides(table, 1, "", "](]a{b 12 xyyx zz", RETRY_UNKNOWN, 3);
    retry_table_free(table);
}

static void report_lists_every_fault(void **state)
{
    (void)state;
    struct buffer report = {0};
    assert_int_equal(
        retry_table_report(TEXT("exit\nexit 1 unknown\nlog ( transient\n"), "retry.txt", &report),
        2);
    assert_non_null(strstr(report.data, "retry.txt:1: "));
    assert_non_null(strstr(report.data, "retry.txt:3: "));
    buffer_free(&report);
}

static void shipped_table_decides(void **state)
{
    (void)state;
    static char bytes[64 * 1024];
    struct error error = {""};
    FILE *stream = fopen("templates/retry.txt", "r");
    assert_non_null(stream);
    size_t length = fread(bytes, 1, sizeof(bytes), stream);
    fclose(stream);
    struct retry_table *table =
        retry_table_parse((struct text){bytes, length}, "retry.txt", &error);
    assert_non_null(table);
    const struct {
        int exit_code;
        const char *reason, *log;
        enum retry_class class;
    } cases[] = {
        {193, "Exited", "", RETRY_TRANSIENT},
        {194, "Exited", "", RETRY_PERMANENT},
        {137, "Exited", "", RETRY_TRANSIENT},
        {143, "", "", RETRY_TRANSIENT},
        {130, "", "", RETRY_TRANSIENT},
        {132, "", "", RETRY_PERMANENT},
        {139, "", "", RETRY_UNKNOWN},
        {134, "", "", RETRY_UNKNOWN},
        {141, "", "", RETRY_PERMANENT},
        {3, "Exited", "", RETRY_UNKNOWN},
        {1, "Exited", "", RETRY_UNKNOWN},
        {137, "OOMKilled", "", RETRY_PERMANENT},
        {137, "TimeLimit", "", RETRY_PERMANENT},
        {127, "StartError", "", RETRY_PERMANENT},
        {255, "NodeLost", "", RETRY_TRANSIENT},
        {143, "Preempted", "", RETRY_TRANSIENT},
        {255, "Evicted", "", RETRY_TRANSIENT},
        {255, "NodeRefused", "", RETRY_TRANSIENT},
        {143, "Killed", "", RETRY_TRANSIENT},
        {255, "ImageMissing", "", RETRY_PERMANENT},
        {255, "ImagePull", "", RETRY_UNKNOWN},
        {255, "Failed", "", RETRY_UNKNOWN},
        {1, "Exited", "Traceback\nModuleNotFoundError: No module named 'x'\n", RETRY_PERMANENT},
        {1, "Exited", "torch.cuda.OutOfMemoryError: CUDA out of memory.", RETRY_PERMANENT},
        {1, "Exited", "CUDA_ERROR_ECC_UNCORRECTABLE", RETRY_TRANSIENT},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct retry_decision decision = retry_table_decide(
            table, cases[i].exit_code, text_of(cases[i].reason), text_of(cases[i].log));
        if (decision.class != cases[i].class)
            print_message("exit %d reason %s: line %d\n", cases[i].exit_code, cases[i].reason,
                          decision.line);
        assert_int_equal(decision.class, cases[i].class);
    }
    retry_table_free(table);
}

static struct retry_table *shipped_table(void)
{
    static char bytes[64 * 1024];
    struct error error = {""};
    FILE *stream = fopen("templates/retry.txt", "r");
    assert_non_null(stream);
    size_t length = fread(bytes, 1, sizeof(bytes), stream);
    fclose(stream);
    struct retry_table *table =
        retry_table_parse((struct text){bytes, length}, "retry.txt", &error);
    assert_non_null(table);
    return table;
}

/* What OpenPAI's runtime exits with, and what it looks for in logs. */
static void classes_of_openpai(void **state)
{
    (void)state;
    struct retry_table *table = shipped_table();
    const struct {
        int exit_code;
        const char *log;
        enum retry_class class;
    } cases[] = {
        {131, "", RETRY_TRANSIENT},
        {135, "", RETRY_PERMANENT},
        {136, "", RETRY_PERMANENT},
        {154, "", RETRY_TRANSIENT},
        {196, "", RETRY_PERMANENT},
        {198, "", RETRY_PERMANENT},
        {128, "", RETRY_UNKNOWN},
        {249, "", RETRY_PERMANENT},
        {250, "", RETRY_TRANSIENT},
        {251, "", RETRY_TRANSIENT},
        {252, "", RETRY_PERMANENT},
        {253, "", RETRY_TRANSIENT},
        {254, "", RETRY_PERMANENT},
        {255, "", RETRY_UNKNOWN},
        {127, "bash: foo: command not found", RETRY_PERMANENT},
        {1, "tensorflow.python.ResourceExhaustedError: OOM when allocating", RETRY_PERMANENT},
        {1, "Allocator ran out of memory trying to allocate 2GiB", RETRY_PERMANENT},
        {1, "Signal code: Address not mapped (1)", RETRY_PERMANENT},
        {1, "CUDA driver version is insufficient for CUDA runtime version", RETRY_PERMANENT},
        {1, "Dropout supported only in cuDNN v5", RETRY_PERMANENT},
        {1, "cuda runtime error (2) : out of memory at x.cu", RETRY_PERMANENT},
        {1, "x: unknown option -- y", RETRY_PERMANENT},
        {1, "FileNotFoundError: [Errno 2] No such file or directory: 'x'", RETRY_PERMANENT},
        {1, "UnicodeDecodeError: 'utf-8' codec", RETRY_PERMANENT},
        {1, "EOFError: Ran out of input", RETRY_PERMANENT},
        {1, "ValueError: Restore called with invalid save path", RETRY_PERMANENT},
        {1, "AttributeError: module has no attribute 'x'", RETRY_PERMANENT},
        {1, "NameError: name 'x' is not defined", RETRY_PERMANENT},
        {1, "IndexError: list index out of range", RETRY_PERMANENT},
        {1, "Segmentation fault", RETRY_PERMANENT},
        {139, "Segmentation fault (core dumped)", RETRY_UNKNOWN},
        {1, "OSError: [Errno 98] Address already in use", RETRY_TRANSIENT},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct retry_decision decision =
            retry_table_decide(table, cases[i].exit_code, TEXT("Exited"), text_of(cases[i].log));
        if (decision.class != cases[i].class)
            fail_msg("exit %d, %s: line %d says %s", cases[i].exit_code, cases[i].log,
                     decision.line, retry_table_class_name(decision.class));
    }
    retry_table_free(table);
}

/* One line of OpenPAI's own table: a code, six more columns or three, and a behaviour. */
static size_t check_line(const struct retry_table *table, char *line, int behaviour_column)
{
    const char *columns[10] = {NULL}, *behaviour;
    int count = 0;
    for (char *word = strtok(line, "\t\n"); word && count < 10; word = strtok(NULL, "\t\n"))
        columns[count++] = word;
    int code = count > behaviour_column ? atoi(columns[0]) : 0;
    /* 220 to 235 are what its runtime finds in logs; 139 it counted as permanent once. */
    if (code <= 0 || code > 255 || (code >= 220 && code <= 235) || code == 139)
        return 0;
    behaviour = columns[behaviour_column];
    enum retry_class class = strncmp(behaviour, "TRANSIENT", 9) == 0 ? RETRY_TRANSIENT
                             : strstr(behaviour, "TRANSIENT") || strcmp(behaviour, "PERMANENT") == 0
                                 ? RETRY_PERMANENT
                                 : RETRY_UNKNOWN;
    struct retry_decision decision = retry_table_decide(table, code, TEXT("Exited"), TEXT(""));
    if (decision.class != class)
        fail_msg("exit %d is %s for OpenPAI, and line %d says %s", code, behaviour, decision.line,
                 retry_table_class_name(decision.class));
    return 1;
}

static void tables_of_openpai(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int behaviour_column;
    } files[] = {{"pai-exit-codes-v0.14.0.tsv", 6}, {"pai-exit-codes-k8s-HEAD.tsv", 3}};
    const char *shared = getenv("DLSPOOL_SHARED");
    struct retry_table *table = shipped_table();
    size_t checked = 0;
    for (size_t i = 0; i < 2; i++) {
        char path[4096], line[8192];
        snprintf(path, sizeof(path), "%s/data/openpai/%s", shared ? shared : "../shared",
                 files[i].file);
        FILE *stream = fopen(path, "r");
        while (stream && fgets(line, sizeof(line), stream))
            checked += check_line(table, line, files[i].behaviour_column);
        if (stream)
            fclose(stream);
    }
    retry_table_free(table);
    if (checked == 0) {
        print_message("skipped: OpenPAI's tables are not here\n");
        skip();
    }
    assert_true(checked > 20);
}

/* What a program said last is quoted, and made visible. */
static void hints_quote_what_was_found(void **state)
{
    (void)state;
    struct retry_table *table = shipped_table();
    static const struct {
        const char *log, *words;
        enum retry_class class;
    } cases[] = {
        {"Traceback (most recent call last):\nModuleNotFoundError: No module named 'foo'\n",
         "(No module named 'foo'): choose", RETRY_PERMANENT},
        {"ImportError: x\nModuleNotFoundError: No module named 'bar'", "(No module named 'bar')",
         RETRY_PERMANENT},
        {"ImportError: \033[31mred\r\n", "(\\x1b[31mred\\x0d)", RETRY_PERMANENT},
        {"python3: can't open file '/job/program/trian.py': [Errno 2] No such file or directory\n",
         "The entry point /job/program/trian.py does not exist", RETRY_PERMANENT},
        {"socket.gaierror: [Errno -3] Temporary failure in name resolution\n",
         "(Temporary failure in name resolution)", RETRY_UNKNOWN},
        {"curl: (6) Could not resolve host: example.org\n", "(Could not resolve host: example.org)",
         RETRY_UNKNOWN},
        {"OSError: [Errno 30] Read-only file system: 'model.pt'\n", "(model.pt)", RETRY_PERMANENT},
        {"mkdir: cannot create directory 'runs': Read-only file system\n", "may not",
         RETRY_PERMANENT},
        {"FileNotFoundError: [Errno 2] No such file or directory: '/data/x.csv'\n",
         "The file /data/x.csv is missing", RETRY_PERMANENT},
        {"PermissionError: [Errno 13] Permission denied: '/data'\n", "may not use /data",
         RETRY_PERMANENT},
        {"ValueError: first\nValueError: too many values to unpack (expected 2)\n",
         "error, ValueError: too many values to unpack (expected 2)", RETRY_PERMANENT},
        {"AssertionError\n", "error, AssertionError", RETRY_PERMANENT},
        {"KeyError: 'lr'\n", "error, KeyError: 'lr'", RETRY_PERMANENT},
        {"torch.nn.TypeError: x\n", "error, TypeError: x", RETRY_PERMANENT},
        {"RuntimeError: shapes do not fit\n", "error, RuntimeError: shapes do not fit",
         RETRY_UNKNOWN},
        {"/job/script: line 2: /home/ann/venv/bin/activate: No such file or directory\n",
         "The shell did not find /home/ann/venv/bin/activate", RETRY_PERMANENT},
        {"/job/script: 2: .: cannot open /home/ann/venv/bin/activate: No such file\n",
         "The shell did not find /home/ann/venv/bin/activate", RETRY_PERMANENT},
        {"/job/script: 3: pyhton3: not found\n", "the command pyhton3 in the image",
         RETRY_PERMANENT},
        {"/job/script: line 3: pyhton3: command not found\n", "the command pyhton3 in",
         RETRY_PERMANENT},
        {"/bin/sh: 0: cannot open /job/program/x.sh: No such file\n",
         "The shell did not find /job/program/x.sh", RETRY_PERMANENT},
        {"dlspool: entry: /home/ann/p/x.py: No such file or directory (checked on n1 as user ann)\n",
         "Nothing was started: correct `entry` in the job file, or put there what it names.",
         RETRY_PERMANENT},
        {"/bin/sh: 0: cannot open echo one: No such file\n", "`script: |` keeps lines",
         RETRY_PERMANENT},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct buffer hint = {0};
        struct retry_decision decision =
            retry_table_decide(table, 1, TEXT("Exited"), text_of(cases[i].log));
        retry_table_hint(&decision, &hint);
        if (decision.class != cases[i].class ||
            !strstr(hint.length ? hint.data : "", cases[i].words))
            fail_msg("%s: line %d: %s", cases[i].log, decision.line, hint.length ? hint.data : "");
        buffer_free(&hint);
    }
    retry_table_free(table);
}

static void a_hint_quotes_only_what_there_is(void **state)
{
    (void)state;
    static const struct {
        const char *row, *words;
    } cases[] = {
        {"log \"a(b)\" permanent \"$2\"\n",
         "retry.txt:1: the hint quotes $2, and log \"a(b)\" has 1 groups"},
        {"exit 3 permanent \"it cost $0\"\n",
         "retry.txt:1: the hint quotes $0, which only that of a log row"},
    };
    for (size_t i = 0; i < 2; i++) {
        struct error error;
        assert_null(retry_table_parse(text_of(cases[i].row), "retry.txt", &error));
        assert_non_null(strstr(error.text, cases[i].words));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_asked_in_order),
        cmocka_unit_test(a_row_says_how_often),
        cmocka_unit_test(only_the_end_of_a_log_is_searched),
        cmocka_unit_test(long_lines_are_searched_in_pieces),
        cmocka_unit_test(faults_are_refused_with_line),
        cmocka_unit_test(ordinary_expressions_are_accepted),
        cmocka_unit_test(report_lists_every_fault),
        cmocka_unit_test(shipped_table_decides),
        cmocka_unit_test(classes_of_openpai),
        cmocka_unit_test(tables_of_openpai),
        cmocka_unit_test(hints_quote_what_was_found),
        cmocka_unit_test(a_hint_quotes_only_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
