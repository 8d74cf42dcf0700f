/* tests/unit/watcher_names_test.c - the bounded table of names */
#include "base/names.h"
#include "tests/unit/watcher_support.h"

static void names_keep_their_order_and_payload(void **state)
{
    (void)state;
    struct names *names = names_new(10, sizeof(int));
    int *b = names_add(names, TEXT("b"));
    int *a = names_add(names, TEXT("a"));
    int *odd = names_add(names, ((struct text){"\xff\n\x01", 3}));
    assert_int_equal(*a, 0);
    *a = 7;
    assert_ptr_equal(names_find(names, TEXT("a")), a);
    assert_null(names_find(names, TEXT("ab")));
    assert_ptr_equal(names_find(names, ((struct text){"\xff\n\x01", 3})), odd);
    assert_ptr_equal(names_first(names), b);
    assert_ptr_equal(names_after(b), a);
    assert_ptr_equal(names_after(odd), NULL);
    names_remove(names, a);
    assert_null(names_find(names, TEXT("a")));
    assert_ptr_equal(names_after(b), odd);
    a = names_add(names, TEXT("a"));
    assert_int_equal(*a, 0);
    assert_ptr_equal(names_after(odd), a);
    assert_true(text_is(names_text(a), "a"));
    assert_int_equal(names_text(a).data[1], '\0');
    names_free(names);
}

static void a_full_table_takes_no_more(void **state)
{
    (void)state;
    struct names *names = names_new(2, 0);
    void *x = names_add(names, TEXT("x"));
    assert_false(names_full(names));
    assert_non_null(names_add(names, TEXT("y")));
    assert_true(names_full(names));
    assert_null(names_add(names, TEXT("z")));
    names_remove(names, x);
    assert_non_null(names_add(names, TEXT("z")));
    assert_int_equal(names_count(names), 2);
    names_free(names);
}

static void many_names_come_and_go(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    struct names *names = names_new(MANY, sizeof(size_t));
    char buffer[300];
    for (size_t i = 0; i < MANY; i++) {
        memset(buffer, 'n', 255);
        snprintf(buffer + i % 240, 16, "%zu", i);
        struct text name = text_of(buffer);
        assert_null(names_find(names, name));
        size_t *payload = names_add(names, name);
        *payload = i;
    }
    size_t expected = 0;
    for (size_t *at = names_first(names); at; expected++) {
        size_t *next = names_after(at);
        assert_int_equal(*at, expected);
        if (expected % 3)
            names_remove(names, at);
        at = next;
    }
    assert_int_equal(expected, MANY);
    assert_int_equal(names_count(names), (MANY + 2) / 3);
    names_free(names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_keep_their_order_and_payload),
        cmocka_unit_test(a_full_table_takes_no_more),
        cmocka_unit_test(many_names_come_and_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
