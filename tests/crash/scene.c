/* tests/crash/scene.c - what is dropped in a test, and what is to become of it */
#include "tests/crash/scene.h"

#include <errno.h>
#include <git2.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/job.h"
#include "stages/shared/resize.h"
#include "tests/crash/calls.h"
#include "tests/crash/tree.h"

static int64_t time_now;

/* Scenes */

static void add_after(struct scene *scene, enum kind kind, const char *after)
{
    static const char *const words[] = {"good",   "flaky",   "shaky",  "bad",    "long",    "after",
                                        "lost",   "grows",   "moves",  "yields", "wide",    "tight",
                                        "asks",   "denied",  "raised", "token",  "revoked", "again",
                                        "stands", "borrows", "owns"};
    bool sized = kind == KIND_GROWS || kind == KIND_MOVES || kind == KIND_WIDE;
    bool stops = kind == KIND_MOVES || kind == KIND_YIELDS || kind == KIND_BORROWS;
    struct dropped *dropped = &scene->dropped[scene->count++];
    dropped->kind = kind;
    snprintf(dropped->file, sizeof(dropped->file), "%s-%02d.yaml", words[kind], scene->count);
    snprintf(
        dropped->bytes, sizeof(dropped->bytes),
        "name: %s-%02d\nlibrary: %s\ntype: %s\nretries: %d\n%s%s%s%s%s%s%s%sscript: |\n  echo %d\n"
        "...\n",
        words[kind], scene->count, kind == KIND_RAISED ? "jax" : "any",
        kind == KIND_BAD ? "nonsense" : "single", kind == KIND_SHAKY, after ? "after: [" : "",
        after ? after : "", after ? "]\n" : "",
        sized ? "tasks: {main: {cpus: 1}}\nsize: {min: 1, max: 2}\n" : "",
        stops ? "checkpoint: {signal: USR1, grace: 1s}\n" : "",
        kind == KIND_BORROWS ? "queue: guests\ntasks: {main: {gpus: 2}}\n"
        : kind == KIND_OWNS  ? "queue: hosts\ntasks: {main: {gpus: 1}}\n"
                             : "",
        kind == KIND_FLAKY ? "notify: end\n" : "",
        kind == KIND_ASKS || kind == KIND_DENIED ? "privileged: rdma\n" : "", scene->count);
}

static void add(struct scene *scene, enum kind kind)
{
    add_after(scene, kind, NULL);
}

static const char token_line[] = "token: %s submit 2026-01-02T12:00:00.000Z\n";

const char *dropped_token(const struct dropped *dropped, char hash[static TOKEN_HASH_LENGTH + 1])
{
    memset(hash, dropped->kind == KIND_TOKEN ? 'a' : 'b', TOKEN_HASH_LENGTH);
    hash[TOKEN_HASH_LENGTH] = '\0';
    return hash;
}

static void add_token(struct scene *scene, enum kind kind)
{
    struct dropped *dropped = &scene->dropped[scene->count++];
    char hash[TOKEN_HASH_LENGTH + 1];
    dropped->kind = kind;
    snprintf(dropped->file, sizeof(dropped->file), "token-%02d.yaml", scene->count);
    snprintf(dropped->bytes, sizeof(dropped->bytes), token_line, dropped_token(dropped, hash));
}

/* The same job file twice, under one key of the same user. */
static void add_again(struct scene *scene)
{
    static const char hash[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    add(scene, KIND_AGAIN);
    scene->dropped[scene->count] = scene->dropped[scene->count - 1];
    scene->count++;
    for (int i = 1; i <= 2; i++)
        snprintf(scene->dropped[scene->count - i].file, sizeof(scene->dropped->file),
                 "%s-once-%s.yaml", i == 1 ? "again" : "first", hash);
}

static void fill_fifty(struct scene *scene)
{
    for (int i = 1; i <= 50; i++)
        add(scene, i == 10 || i == 40 ? KIND_FLAKY
                   : i == 15          ? KIND_SHAKY
                   : i % 20 == 0      ? KIND_BAD
                   : i == 30          ? KIND_LONG
                                      : KIND_GOOD);
}

const struct scene *scene_get(int which)
{
    static struct scene scenes[SCENE_COUNT] = {
        [SCENE_ONE] = {.title = "1 job"},
        [SCENE_ONE_FLAKY] = {.title = "1 job that fails once"},
        [SCENE_ONE_TIGHT] = {.title = "1 job that is declined once"},
        [SCENE_THREE] = {.title = "3 jobs, one fails once, one is refused"},
        [SCENE_THREE_KILLED] = {.title = "3 jobs, one is killed, one fails once"},
        [SCENE_AFTER] = {.title = "4 jobs, two wait for others, one of them in vain"},
        [SCENE_RESIZED] = {.title =
                               "3 jobs, two are resized, one of them by its checkpoint, one gives "
                               "way"},
        [SCENE_ONE_GROWN] = {.title = "1 job that is resized"},
        [SCENE_ONE_MOVED] = {.title = "1 job that is resized by its checkpoint"},
        [SCENE_ONE_WIDE] = {.title = "1 job that is resized before it starts"},
        [SCENE_ONE_APPROVED] = {.title = "1 job that is approved"},
        [SCENE_ONE_DENIED] = {.title = "1 job that is not approved"},
        [SCENE_ONE_RAISED] = {.title =
                                  "1 job that is put on top and gets another priority, of an owner "
                                  "who has a share"},
        [SCENE_TOKENS] = {.title = "2 access tokens, one of them is revoked"},
        [SCENE_AGAIN] = {.title = "1 job that is sent twice, under a key"},
        [SCENE_ONE_SUSPENDED] = {.title = "1 job that is held with its memory"},
        [SCENE_RECLAIMED] = {.title = "2 jobs, one is stopped as the other takes back a GPU"},
        [SCENE_BATCHES] = {.title = "3 jobs, each in a batch of its own", .one_by_one = true},
        [SCENE_FIFTY] = {.title = "50 jobs"},
    };
    struct scene *scene = &scenes[which];
    if (scene->count)
        return scene;
    switch (which) {
    case SCENE_ONE:
        add(scene, KIND_GOOD);
        break;
    case SCENE_ONE_FLAKY:
        add(scene, KIND_FLAKY);
        break;
    case SCENE_ONE_TIGHT:
        add(scene, KIND_TIGHT);
        break;
    case SCENE_THREE:
        add(scene, KIND_GOOD);
        add(scene, KIND_FLAKY);
        add(scene, KIND_BAD);
        break;
    case SCENE_THREE_KILLED:
        add(scene, KIND_GOOD);
        add(scene, KIND_LONG);
        add(scene, KIND_SHAKY);
        break;
    case SCENE_AFTER:
        add_after(scene, KIND_AFTER, "flaky-02, afternotok:long-03");
        add(scene, KIND_FLAKY);
        add(scene, KIND_LONG);
        add_after(scene, KIND_LOST, "long-03");
        break;
    case SCENE_RESIZED:
        add(scene, KIND_GROWS);
        add(scene, KIND_MOVES);
        add(scene, KIND_YIELDS);
        break;
    case SCENE_ONE_GROWN:
        add(scene, KIND_GROWS);
        break;
    case SCENE_ONE_MOVED:
        add(scene, KIND_MOVES);
        break;
    case SCENE_ONE_APPROVED:
        add(scene, KIND_ASKS);
        break;
    case SCENE_ONE_DENIED:
        add(scene, KIND_DENIED);
        break;
    case SCENE_ONE_RAISED:
        add(scene, KIND_RAISED);
        break;
    case SCENE_ONE_WIDE:
        add(scene, KIND_WIDE);
        break;
    case SCENE_ONE_SUSPENDED:
        add(scene, KIND_STANDS);
        break;
    case SCENE_RECLAIMED:
        add(scene, KIND_BORROWS);
        add_after(scene, KIND_OWNS, "after:borrows-01");
        break;
    case SCENE_BATCHES:
        add(scene, KIND_GOOD);
        add(scene, KIND_GOOD);
        add(scene, KIND_BAD);
        break;
    case SCENE_TOKENS:
        add_token(scene, KIND_TOKEN);
        add_token(scene, KIND_REVOKED);
        break;
    case SCENE_AGAIN:
        add_again(scene);
        break;
    default:
        fill_fifty(scene);
        break;
    }
    return scene;
}

/* Worlds */

static void put_blob(git_repository *git, git_index *index, const char *path, const char *content)
{
    git_index_entry entry = {.path = path, .mode = GIT_FILEMODE_BLOB};
    if (git_blob_create_from_buffer(&entry.id, git, content, strlen(content)) ||
        git_index_add(index, &entry))
        harness_failed("%s could not be put into templates.git", path);
}

void world_prepare(const char *top)
{
    char path[TREE_PATH_SIZE];
    git_repository *git = NULL;
    git_index *index = NULL;
    git_tree *tree = NULL;
    git_signature *who = NULL;
    git_oid tree_id, id;
    snprintf(path, sizeof(path), "%s/templates.git", top);
    git_libgit2_init();
    if (git_repository_init(&git, path, 1) || git_index_new(&index))
        harness_failed("%s could not be made", path);
    put_blob(git, index, "local/any/single.yaml",
             "job: ${job.id}\nname: ${job.name}\nscript: ${job.script}\nimage: ${image}\n"
             "cpus: {$eval: 'job.roles[0].cpus'}\n");
    put_blob(git, index, "local/jax/single.yaml",
             "job: ${job.id}\nscript: ${job.script}\nimage: ${image}\npriority: ${job.priority}\n");
    put_blob(git, index, "images.txt", "any * * * host\njax * * * host\n");
    put_blob(git, index, "site.yaml", "images: {allow_user: false}\n");
    put_blob(git, index, "retry.txt", "exit 193 transient \"again\"\n");
    if (git_index_write_tree_to(&tree_id, index, git) || git_tree_lookup(&tree, git, &tree_id) ||
        git_signature_new(&who, "tester", "tester@example.org", 0, 0) ||
        git_commit_create(&id, git, "HEAD", who, who, NULL, "test", tree, 0, NULL))
        harness_failed("the first commit could not be made");
    git_signature_free(who);
    git_tree_free(tree);
    git_index_free(index);
    git_repository_free(git);
    /* The library stays: starting it reads the system's certificates, which takes longer than all
     * the rest of a run, and children have it from here. */
}

static const char settings[] = "executor: local\n"
                               "retry_first: 1s\n"
                               "retry_longest: 2s\n"
                               "retry_interval: 1s\n"
                               "probe_interval: 1s\n"
                               "poll_interval: 500ms\n"
                               "scan_interval: 2s\n"
                               "kill_grace: 1s\n"
                               "free_percent: 0\n"
                               "limits:\n  rows: [{user: \"*\", running: 20, waiting: 100}%s]\n"
                               "notify: {command: [/nonexistent/sendmail]}\n";

/* ... of scenes in which somebody approves, or users share; those of the others stay as they are, since the points
 * that are tried depend on them. */
static const char approving[] = "approvers: [1]\n"
                                "privileges: {rdma: {capabilities: [IPC_LOCK]}}\n";
static const char sharing[] = "shares: {weights: [{user: \"*\", weight: 2}]}\n";

static const char lending[] = ", {queue: hosts, gpus: 1, lend_gpus: 1}, "
                              "{queue: guests, gpus: 1, borrow_gpus: 1}";
static const char suspending[] = "local: {suspend: true}\n";

static const char *more_settings(const struct scene *scene)
{
    enum kind kind = scene->dropped[0].kind;
    if (scene->one_by_one)
        return "batch: 1\n";
    return kind == KIND_ASKS || kind == KIND_DENIED ? approving
           : kind == KIND_RAISED                    ? sharing
           : kind == KIND_STANDS                    ? suspending
                                                    : "";
}

void world_name(struct world *world, const char *top, const char *name)
{
    snprintf(world->base, sizeof(world->base), "%s/%s", top, name);
    snprintf(world->spool, sizeof(world->spool), "%s/spool", world->base);
    snprintf(world->outside, sizeof(world->outside), "%s/outside", world->base);
}

void world_make(struct world *world, const char *top, const char *name, const struct scene *scene)
{
    static const struct {
        const char *name;
        mode_t mode;
    } parts[] = {{"incoming", 03777}, {"rendered", 0755}, {"submitted", 0755},
                 {"failed", 0755},    {"held", 0755},     {"done", 0755},
                 {".claims", 0700},   {".new", 0700},     {"messages", 0755}};
    char path[TREE_PATH_SIZE];
    world_name(world, top, name);
    tree_remove(world->base);
    tree_make(world->base, 0755);
    tree_make(world->outside, 0755);
    tree_make(world->spool, 0755);
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
        snprintf(path, sizeof(path), "%s/%s", world->spool, parts[i].name);
        tree_make(path, parts[i].mode);
    }
    snprintf(path, sizeof(path), "%s/tokens", world->spool);
    if (scene->dropped[0].kind == KIND_TOKEN)
        tree_make(path, 0755);
    snprintf(path, sizeof(path), "%s/keys", world->spool);
    if (scene->dropped[0].kind == KIND_AGAIN)
        tree_make(path, 0755);
    snprintf(path, sizeof(path), "%s/dlspool.yaml", world->spool);
    char all[sizeof(settings) + sizeof(approving) + sizeof(lending)];
    int length =
        snprintf(all, sizeof(all), settings, scene->dropped[0].kind == KIND_BORROWS ? lending : "");
    snprintf(all + length, sizeof(all) - (size_t)length, "%s", more_settings(scene));
    tree_write(path, text_of(all), 0644);
    snprintf(path, sizeof(path), "%s/templates.git", world->spool);
    /* Relative, as another worker may put this world down again. */
    if (symlink("../../templates.git", path))
        harness_failed("templates.git could not be put in place");
    for (int i = 0; i < scene->count; i++) {
        snprintf(path, sizeof(path), "%s/incoming/%s", world->spool, scene->dropped[i].file);
        tree_write(path, text_of(scene->dropped[i].bytes), 0644);
    }
}

uint64_t world_digest(const struct world *world)
{
    return tree_digest(world->outside, tree_digest(world->spool, 0));
}

/* How many of the user's control files whose names begin so were refused: another is dropped for each. */
static size_t count_refused(const struct world *world, const char *beginning)
{
    char path[TREE_PATH_SIZE];
    size_t count = 0;
    snprintf(path, sizeof(path), "%s/failed", world->spool);
    struct tree_names names = tree_list(path);
    for (size_t i = 0; i < names.count; i++)
        count += strncmp(names.names[i], beginning, strlen(beginning)) == 0;
    tree_list_free(&names);
    return count;
}

/* Drop a control file of that user, and then the note that it was dropped. */
static void drop_control(const struct world *world, uid_t owner, const char *file,
                         const char *bytes, const char *note, drop_observer *seen)
{
    char path[TREE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/incoming/%s", world->spool, file);
    tree_write(path, text_of(bytes), 0644);
    if (owner != geteuid() && chown(path, owner, owner))
        harness_failed("%s could not be given to another user", path);
    tree_write(note, text_of("so\n"), 0644);
    calls_changed();
    if (seen)
        seen(file, bytes);
}

/* Another user approves the jobs of held/ that ask for it, or refuses to.  Returns how many control files were
 * dropped. */
static int decide_waiting(const struct world *world, drop_observer *seen)
{
    enum { APPROVER = 1 };
    char path[TREE_PATH_SIZE], note[TREE_PATH_SIZE];
    int count = 0;
    snprintf(path, sizeof(path), "%s/held", world->spool);
    struct tree_names names = tree_list(path);
    for (size_t i = 0; i < names.count; i++) {
        bool denied = strncmp(names.names[i], "denied-", 7) == 0;
        if (!denied && strncmp(names.names[i], "asks-", 5) != 0)
            continue;
        snprintf(note, sizeof(note), "%s/decided-%s.note", world->outside, names.names[i]);
        if (access(note, F_OK) == 0)
            continue;
        char file[64], bytes[128];
        snprintf(file, sizeof(file), "%s-%zu.yaml", denied ? "refuse" : "approve", i);
        snprintf(bytes, sizeof(bytes),
                 denied ? "refuse: {job: %s, text: " DENIED_IN "}\n...\n" : "approve: %s\n...\n",
                 names.names[i]);
        drop_control(world, APPROVER, file, bytes, note, seen);
        count++;
    }
    tree_list_free(&names);
    return count;
}

/* Its owner revokes the token of tokens/ that is to be revoked; one note says that it may be gone from now on, the
 * other that it must be in the end.  Returns how many control files were dropped. */
static int revoke_token(const struct world *world, drop_observer *seen)
{
    static const struct dropped revoked = {.kind = KIND_REVOKED};
    char path[TREE_PATH_SIZE], note[TREE_PATH_SIZE], hash[TOKEN_HASH_LENGTH + 1], bytes[128];
    snprintf(path, sizeof(path), "%s/tokens/%s", world->spool, dropped_token(&revoked, hash));
    snprintf(note, sizeof(note), "%s/revoked.note", world->outside);
    if (access(path, F_OK) || access(note, F_OK) == 0)
        return 0;
    snprintf(bytes, sizeof(bytes), "revoke: %s\n...\n", hash);
    snprintf(path, sizeof(path), "%s/revoking.note", world->outside);
    tree_write(path, text_of("so\n"), 0644);
    drop_control(world, geteuid(), "revoke.yaml", bytes, note, seen);
    return 1;
}

/* Drop a control file, unless the note says that it was dropped.  Returns how many were. */
static int drop_once(const struct world *world, const char *note_name, const char *file,
                     const char *bytes, drop_observer *seen)
{
    char path[TREE_PATH_SIZE], note[TREE_PATH_SIZE];
    snprintf(note, sizeof(note), "%s/%s", world->outside, note_name);
    if (access(note, F_OK) == 0)
        return 0;
    snprintf(path, sizeof(path), "%s/incoming/%s", world->spool, file);
    tree_write(path, text_of(bytes), 0644);
    tree_write(note, text_of("so\n"), 0644);
    calls_changed();
    if (seen)
        seen(file, bytes);
    return 1;
}

/* A job of rendered/ that is to have another priority is put on top by its owner; when that can be seen, an
 * administrator asks for the priority.  Returns how many control files were dropped. */
static int raise_waiting(const struct world *world, drop_observer *seen)
{
    char path[TREE_PATH_SIZE], top[TREE_PATH_SIZE], bytes[128];
    int count = 0;
    snprintf(path, sizeof(path), "%s/rendered", world->spool);
    struct tree_names names = tree_list(path);
    for (size_t i = 0; i < names.count; i++) {
        if (strncmp(names.names[i], "raised-", 7) != 0)
            continue;
        snprintf(bytes, sizeof(bytes), "top: %s\n...\n", names.names[i]);
        int topped = drop_once(world, "topped.note", "top.yaml", bytes, seen);
        count += topped;
        snprintf(bytes, sizeof(bytes), "priority: {job: %s, value: %d}\n...\n", names.names[i],
                 RAISED_TO);
        snprintf(path, sizeof(path), "%s/rendered/%s/order", world->spool, names.names[i]);
        snprintf(top, sizeof(top), "%s/incoming/top.yaml", world->spool);
        if (!topped && access(path, F_OK) == 0 && access(top, F_OK))
            count += drop_once(world, "raised.note", "priority.yaml", bytes, seen);
    }
    tree_list_free(&names);
    return count;
}

/* Jobs of submitted/ that are to stand still are held with their memory, and released as soon as they stand still,
 * once more when the release was refused.  Returns how many control files were dropped. */
static int suspend_running(const struct world *world, drop_observer *seen)
{
    char path[TREE_PATH_SIZE], hold[TREE_PATH_SIZE], bytes[128], note[64];
    int count = 0;
    snprintf(note, sizeof(note), "released-%zu.note", count_refused(world, "release-"));
    snprintf(path, sizeof(path), "%s/submitted", world->spool);
    struct tree_names names = tree_list(path);
    for (size_t i = 0; i < names.count; i++) {
        if (strncmp(names.names[i], "stands-", 7) != 0)
            continue;
        snprintf(bytes, sizeof(bytes), "hold: {job: %s, keep_memory: true}\n...\n", names.names[i]);
        int held = drop_once(world, "held.note", "hold.yaml", bytes, seen);
        count += held;
        snprintf(bytes, sizeof(bytes), "release: %s\n...\n", names.names[i]);
        snprintf(path, sizeof(path), "%s/%s-a1.suspended", world->outside, names.names[i]);
        snprintf(hold, sizeof(hold), "%s/incoming/hold.yaml", world->spool);
        if (!held && access(path, F_OK) == 0 && access(hold, F_OK))
            count += drop_once(world, note, "release.yaml", bytes, seen);
    }
    tree_list_free(&names);
    return count;
}

/* The jobs of that directory whose names begin so are killed by their owner, once more when that was refused.  Returns
 * how many control files were dropped. */
static int kill_jobs(const struct world *world, const char *directory, const char *start,
                     drop_observer *seen)
{
    char path[TREE_PATH_SIZE], note[TREE_PATH_SIZE];
    int count = 0;
    size_t refused = count_refused(world, "kill-");
    snprintf(path, sizeof(path), "%s/%s", world->spool, directory);
    struct tree_names names = tree_list(path);
    for (size_t i = 0; i < names.count; i++) {
        if (strncmp(names.names[i], start, strlen(start)) != 0)
            continue;
        snprintf(note, sizeof(note), "%s/killed-%s-%zu.note", world->outside, names.names[i],
                 refused);
        if (access(note, F_OK) == 0)
            continue;
        char file[64], bytes[128];
        snprintf(file, sizeof(file), "kill-%zu-%zu.yaml", i, refused);
        snprintf(bytes, sizeof(bytes), "kill: %s\n...\n", names.names[i]);
        drop_control(world, geteuid(), file, bytes, note, seen);
        count++;
    }
    tree_list_free(&names);
    return count;
}

/* Is there a job in failed/ whose name begins so? */
static bool has_failed(const struct world *world, const char *start)
{
    char path[TREE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/failed", world->spool);
    struct tree_names names = tree_list(path);
    bool found = false;
    for (size_t i = 0; i < names.count; i++)
        found = found || strncmp(names.names[i], start, strlen(start)) == 0;
    tree_list_free(&names);
    return found;
}

/* Where the file of one was refused, there is nobody to whom the other gives its GPU, or nobody who gives it. */
static int kill_lonely(const struct world *world, drop_observer *seen)
{
    if (has_failed(world, "owns-"))
        return kill_jobs(world, "submitted", "borrows-", seen);
    return has_failed(world, "borrows-") ? kill_jobs(world, "held", "owns-", seen) : 0;
}

int world_user_acts(const struct world *world, drop_observer *seen)
{
    return decide_waiting(world, seen) + raise_waiting(world, seen) + revoke_token(world, seen) +
           suspend_running(world, seen) + kill_jobs(world, "submitted", "long-", seen) +
           kill_lonely(world, seen);
}

/* The request for a job of submitted/ that has had none.  1: there is one to be written yet; 0 when there
 * is not. */
static int plan_request(struct spool *spool, struct arena *arena, const char *id)
{
    struct job_place place = {.state = STATE_SUBMITTED};
    struct job_record record;
    struct error error;
    int result = 1;
    snprintf(place.id, sizeof(place.id), "%s", id);
    int job = job_open(spool, &place);
    if (job < 0)
        return 0;
    struct resize_request written, request = {.generation = 1,
                                              .from = 1000,
                                              .to = id[0] == 'y' ? 0 : 2000,
                                              .when = time_now,
                                              .reason = "the plan says so"};
    if (record_read(job, arena, &record, &error) == 0)
        result = record.resizes == 0 && resize_pending(job, &record, &written) == 0 &&
                 (resize_write(job, &record, &request, &error) || spool_sync(spool, &error));
    if (result)
        log_warn("%s: no request: %s", id, error.text);
    sys.close(job);
    return result;
}

int world_plan_requests(const struct world *world)
{
    struct spool spool;
    struct error error;
    char path[TREE_PATH_SIZE];
    int count = 0;
    snprintf(path, sizeof(path), "%s/submitted", world->spool);
    struct tree_names names = tree_list(path);
    bool any = false;
    for (size_t i = 0; i < names.count; i++)
        any = any || strchr("gmy", names.names[i][0]);
    if (any && spool_open(&spool, world->spool, &error)) {
        count = 1;
    } else if (any) {
        struct arena *arena = arena_new();
        for (size_t i = 0; i < names.count; i++)
            if (strncmp(names.names[i], "grows-", 6) == 0 ||
                strncmp(names.names[i], "moves-", 6) == 0 ||
                strncmp(names.names[i], "yields-", 7) == 0)
                count += plan_request(&spool, arena, names.names[i]);
        arena_free(arena);
        spool_close(&spool);
    }
    tree_list_free(&names);
    return count;
}

/* Time and chance */

static int64_t tell_time(void)
{
    return time_now;
}

static int chance;
static bool deaf;

void world_is_deaf(bool is)
{
    deaf = is;
}

void world_enter(int64_t start, int generation)
{
    time_now = start;
    chance = 0x35 + generation;
    clock_replace(tell_time, tell_time);
}

int64_t world_time(void)
{
    return time_now;
}

void world_wait_until(int64_t time)
{
    if (time > time_now)
        time_now = time;
}

/* In place of libc's: the tokens of ids come from here, and are to be the same in every run. */
ssize_t getrandom(void *bytes, size_t length, unsigned int flags)
{
    (void)flags;
    memset(bytes, chance, length);
    return (ssize_t)length;
}

/* In place of libc's: an inotify that never tells of anything, so that names are found by scanning,
 * in an order that is the same in every run.  (The kernel's own takes many milliseconds to end.) */
int inotify_init1(int flags)
{
    if (deaf) {
        errno = EMFILE;
        return -1;
    }
    return eventfd(0, flags & IN_CLOEXEC ? EFD_CLOEXEC | EFD_NONBLOCK : EFD_NONBLOCK);
}

int inotify_add_watch(int inotify, const char *path, uint32_t mask)
{
    (void)inotify;
    (void)path;
    (void)mask;
    return 1;
}
