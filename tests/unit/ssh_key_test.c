/* ssh_key_test.c - executors/ssh_key.c: keys that ssh-keygen reads, each a new one */
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executors/ssh_key.h"

static void write_file(const char *path, const char *content, mode_t mode)
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    assert_true(file >= 0);
    assert_int_equal(write(file, content, strlen(content)), (ssize_t)strlen(content));
    close(file);
}

/* What a program prints, at most 2047 bytes. */
static void output_of(const char *command, char buffer[static 2048])
{
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t length = fread(buffer, 1, 2047, pipe);
    buffer[length] = '\0';
    if (pclose(pipe) != 0)
        fail_msg("%s: %s", command, buffer);
}

static void ssh_keygen_reads_it(void **state)
{
    (void)state;
    if (system("command -v ssh-keygen >/dev/null") != 0)
        skip();
    char *directory = unit_directory();
    char path[4096], command[8192], printed[2048];
    struct error error;
    for (int i = 0; i < 20; i++) {
        struct ssh_key key;
        assert_int_equal(ssh_key_make(&key, &error), 0);
        snprintf(path, sizeof(path), "%s/id", directory);
        unlink(path);
        write_file(path, key.id, 0400);
        snprintf(command, sizeof(command), "ssh-keygen -y -P '' -f '%s' 2>&1", path);
        output_of(command, printed);
        assert_string_equal(printed, key.id_pub);
        /* It makes a signature that its public half accepts, so both halves belong together. */
        snprintf(command, sizeof(command),
                 "cd '%s' && cp id id.key && chmod 600 id.key && "
                 "{ printf 'job '; cat allowed; } >signers && rm -f text.sig && echo x >text && "
                 "ssh-keygen -q -Y sign -n test -f id.key text 2>&1 && "
                 "ssh-keygen -q -Y verify -n test -I job -f signers -s text.sig <text 2>&1",
                 directory);
        snprintf(path, sizeof(path), "%s/allowed", directory);
        write_file(path, key.id_pub, 0644);
        output_of(command, printed);
        ssh_key_wipe(&key);
    }
    unit_remove(directory);
}

static void each_is_new(void **state)
{
    (void)state;
    struct ssh_key one, other;
    struct error error;
    assert_int_equal(ssh_key_make(&one, &error), 0);
    assert_int_equal(ssh_key_make(&other, &error), 0);
    assert_string_not_equal(one.id, other.id);
    assert_string_not_equal(one.id_pub, other.id_pub);
}

static void files_say_the_same_key(void **state)
{
    (void)state;
    struct ssh_key key;
    struct error error;
    char host[2 * SSH_LINE_SIZE];
    assert_int_equal(ssh_key_make(&key, &error), 0);
    assert_string_equal(key.authorized_keys, key.id_pub);
    char *end = strrchr(key.id_pub, ' ');
    assert_non_null(end);
    assert_string_equal(end, " dlspool\n");
    *end = '\0';
    snprintf(host, sizeof(host), "* %s\n", key.id_pub);
    assert_string_equal(key.known_hosts, host);
}

static void wiped(void **state)
{
    (void)state;
    static const struct ssh_key nothing;
    struct ssh_key key;
    assert_int_equal(ssh_key_make(&key, NULL), 0);
    ssh_key_wipe(&key);
    assert_memory_equal(&key, &nothing, sizeof(key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ssh_keygen_reads_it),
        cmocka_unit_test(each_is_new),
        cmocka_unit_test(files_say_the_same_key),
        cmocka_unit_test(wiped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
