/* tests/fuzz/runner.c - run a fuzz target over its corpus, as a plain test
 *
 * usage: <target> [FILE | DIRECTORY ...]
 *
 * Without files, those of tests/fuzz/corpus/<target> are run: each as it is, and 100 times (or FUZZ_MUTATIONS of
 * the environment) with a few random changes, which are the same every time.  The report is TAP.  A failure is a
 * crash, a CHECK() that is not true, a leak, anything printed, more than SECONDS or 1 GiB for one
 * input; the input is then kept as <program>.failed, to be run again by naming it.
 *
 * The target runs in a child process, which tells through shared memory what it is at.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

enum {
    LARGEST = 1 << 20, /* bytes of an input */
    SECONDS = 10,      /* for one input, under sanitizers and on a busy machine */
    MUTATIONS = 100,
    EXIT_PRINTED = 3
};

/* What the child is at. */
struct progress {
    size_t runs;
    size_t mutation; /* 0: the file as it is */
    char file[512];
    size_t length;
    uint8_t bytes[LARGEST];
};

struct files {
    char **paths;
    size_t count;
};

static struct progress *progress;

/* What the sanitizer counts as a failure too, as libFuzzer is told to. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "hard_rss_limit_mb=1024:max_allocation_size_mb=512";
}

/* ---- files ---- */

static void add_file(struct files *files, const char *path)
{
    files->paths = memory_resize(files->paths, (files->count + 1) * sizeof(char *));
    files->paths[files->count++] = memory_copy_string(path);
}

static void add_path(struct files *files, const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0)
        add_file(files, path);
    for (int i = 0; i < count; i++) {
        struct buffer name = {0};
        buffer_printf(&name, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            add_file(files, name.data);
        buffer_free(&name);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static void free_files(struct files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
}

/* The file's bytes; false when it cannot be read. */
static bool read_file(const char *path, struct buffer *bytes)
{
    enum { PIECE = 65536 };
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : 0;
    buffer_clear(bytes);
    while (file >= 0 && bytes->length <= LARGEST &&
           (length = read(file, buffer_reserve(bytes, PIECE), PIECE)) > 0)
        bytes->length += (size_t)length;
    if (file >= 0)
        close(file);
    return length == 0;
}

/* ---- mutations ---- */

static uint64_t random_state;

static size_t below(size_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return limit ? (size_t)(random_state >> 11) % limit : 0;
}

static void seed(const char *path, size_t mutation)
{
    random_state = 0x9e3779b97f4a7c15u + mutation;
    const char *name = strrchr(path, '/');
    for (name = name ? name : path; *name; name++)
        random_state = (random_state ^ (unsigned char)*name) * 0x100000001b3u;
    random_state += random_state == 0;
}

/* Put `count` bytes in place of `gone` bytes at `at`. */
static void replace(struct buffer *input, size_t at, size_t gone, const void *bytes, size_t count)
{
    struct buffer copy = {0};
    buffer_add(&copy, input->data, at);
    buffer_add(&copy, bytes, count);
    buffer_add(&copy, input->data + at + gone, input->length - at - gone);
    buffer_free(input);
    *input = copy;
}

static void mutate_once(struct buffer *input, const struct buffer *other)
{
    static const char *const words[] = {
        "0",          "-1",    "1e999",       "99999999999999999999",
        "2147483648", "null",  "~",           "true",
        "\"",         "'",     "{",           "}",
        "[",          "]",     ":",           ": ",
        "- ",         "\n",    "\t",          "\\",
        "${",         "$eval", "---",         "...",
        "#",          "&a",    "*a",          "!",
        "\r",         "|",     "\xff",        "\xc2\x9b",
        "\x1b",       "%",     "=",           ",",
        "<<",         "../",   "\xef\xbb\xbf"};
    const char *word = words[below(ARRAY_COUNT(words))];
    size_t at = below(input->length + 1), left = input->length - at;
    size_t span = 1 + below(left < 16 ? left : below(2) ? 16 : left);
    if (span > left)
        span = left;
    char byte = (char)below(256);
    switch (below(8)) {
    case 0:
        replace(input, at, span ? 1 : 0, &byte, 1);
        break;
    case 1:
        replace(input, at, 0, word, strlen(word));
        break;
    case 2:
        replace(input, at, span, "", 0);
        break;
    case 3:
        replace(input, at, left, "", 0);
        break;
    case 4: /* twice */
        if (span)
            replace(input, at, 0, input->data + at, span);
        break;
    case 5:
        replace(input, at, span, word, strlen(word));
        break;
    case 6: /* a bit */
        if (left)
            input->data[at] = (char)(input->data[at] ^ (1 << below(8)));
        break;
    default: /* the end of another file */
        if (other->length) {
            size_t from = below(other->length);
            replace(input, at, left, other->data + from, other->length - from);
        }
        break;
    }
}

/* ---- the child ---- */

static void run_input(const struct buffer *input)
{
    if (input->length > LARGEST)
        return;
    progress->length = input->length;
    memcpy(progress->bytes, input->length ? input->data : "", input->length);
    /* A copy that ends where the input does, so that reading past its end is seen. */
    uint8_t *bytes = memory_allocate(input->length);
    memcpy(bytes, progress->bytes, input->length);
    alarm(SECONDS);
    LLVMFuzzerTestOneInput(bytes, input->length);
    alarm(0);
    free(bytes);
    progress->runs++;
    struct stat status;
    if (fstat(STDERR_FILENO, &status) == 0 && status.st_size > 0)
        _exit(EXIT_PRINTED);
}

static void run_files(const struct files *files, size_t mutations)
{
    struct buffer content = {0}, other = {0}, input = {0};
    setvbuf(stdout, NULL, _IONBF, 0);
    for (size_t i = 0; i < files->count; i++) {
        snprintf(progress->file, sizeof(progress->file), "%s", files->paths[i]);
        CHECK(read_file(files->paths[i], &content));
        if (i == 0)
            buffer_add(&other, content.data, content.length);
        for (size_t m = 0; m <= mutations; m++) {
            progress->mutation = m;
            buffer_clear(&input);
            buffer_add(&input, content.data, content.length);
            seed(files->paths[i], m);
            for (size_t changes = m ? 1 + below(4) : 0; changes; changes--)
                mutate_once(&input, &other);
            run_input(&input);
        }
        buffer_clear(&other);
        buffer_add(&other, content.data, content.length);
    }
    progress->file[0] = '\0';
    buffer_free(&content);
    buffer_free(&other);
    buffer_free(&input);
}

/* ---- the parent ---- */

static void show_output(int output)
{
    char line[4096];
    FILE *stream = fdopen(output, "r");
    if (!stream)
        return;
    rewind(stream);
    while (fgets(line, sizeof(line), stream))
        printf("# %s%s", line, strchr(line, '\n') ? "" : "\n");
    fclose(stream);
}

static void keep_input(const char *program)
{
    struct buffer path = {0};
    buffer_printf(&path, "%s.failed", program);
    int file = open(path.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file >= 0 && write(file, progress->bytes, progress->length) == (ssize_t)progress->length)
        printf("# the input is kept as %s\n", path.data);
    if (file >= 0)
        close(file);
    buffer_free(&path);
}

static const char *failure(int status)
{
    static char words[64];
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        snprintf(words, sizeof(words), "took longer than %d s", SECONDS);
    else if (WIFSIGNALED(status))
        snprintf(words, sizeof(words), "was ended by signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) == EXIT_PRINTED)
        snprintf(words, sizeof(words), "printed something");
    else
        snprintf(words, sizeof(words), "ended with exit code %d", WEXITSTATUS(status));
    return words;
}

static int report(const char *program, const char *name, int status, size_t files, int output)
{
    printf("1..1\n");
    if (status == 0) {
        printf("ok 1 - %s: %zu files of the corpus, %zu runs\n", name, files, progress->runs);
        return 0;
    }
    printf("not ok 1 - %s: %s, change %zu: %s\n", name,
           progress->file[0] ? progress->file : "at the end", progress->mutation, failure(status));
    show_output(output);
    keep_input(program);
    return 1;
}

static int run(const char *program, const struct files *files, size_t mutations)
{
    const char *slash = strrchr(program, '/');
    int output = memfd_create("output", MFD_CLOEXEC), status;
    CHECK(output >= 0);
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(output, STDOUT_FILENO);
        dup2(output, STDERR_FILENO);
        run_files(files, mutations);
        exit(0); /* here leaks are found */
    }
    CHECK(waitpid(child, &status, 0) == child);
    return report(program, slash ? slash + 1 : program, status, files->count, output);
}

int main(int count, char **arguments)
{
    struct files files = {0};
    const char *fewer = getenv("FUZZ_MUTATIONS");
    size_t mutations = fewer ? strtoul(fewer, NULL, 10) : MUTATIONS;
    for (int i = 1; i < count; i++)
        add_path(&files, arguments[i]);
    if (files.count == 0) {
        struct buffer path = {0};
        const char *slash = strrchr(arguments[0], '/');
        buffer_printf(&path, "tests/fuzz/corpus/%s", slash ? slash + 1 : arguments[0]);
        add_path(&files, path.data);
        buffer_free(&path);
    }
    progress =
        mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(progress != MAP_FAILED);
    int result = run(arguments[0], &files, mutations);
    free_files(&files);
    return result;
}
