/* labels_test.c - base/labels.c: a value ends where it should, whatever is in it */
#include "tests/unit/unit.h"

#include "base/labels.h"

static void is_label(struct text value, const char *wanted)
{
    struct buffer labels = {0};
    labels_add(&labels, "k", value);
    assert_string_equal(labels.data, wanted);
    buffer_free(&labels);
}

static void a_value_cannot_end_its_label(void **state)
{
    (void)state;
    struct buffer labels = {0};
    is_label(TEXT("gpu"), "k=\"gpu\"");
    is_label(TEXT(""), "k=\"\"");
    is_label(TEXT("a\"} 1\nb\\"), "k=\"a\\\"} 1?b\\\\\"");
    is_label(TEXT("caf\xc3\xa9"), "k=\"caf\xc3\xa9\"");
    is_label(TEXT("\xff\x80 x"), "k=\"?? x\"");
    char wide[LABEL_LONGEST + 2];
    memset(wide, 'x', sizeof(wide));
    memcpy(wide + LABEL_LONGEST - 1, "\xc3\xa9", 2); /* the character is cut off as a whole */
    labels_add(&labels, "k", (struct text){wide, sizeof(wide)});
    labels_add(&labels, "l", TEXT("2"));
    assert_int_equal(labels.length, 4 + LABEL_LONGEST - 1 + 6);
    assert_string_equal(labels.data + labels.length - 9, "xx\",l=\"2\"");
    buffer_free(&labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_cannot_end_its_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
