/* tests/fuzz/openpai_fuzz.c - a job file of OpenPAI's version 1, and what a site makes of it
 *
 * What is accepted keeps what request/description.h promises, is resolved at a site that maps much,
 * and gives a context in which no two chosen ports of a job are the same.
 */
#include "base/utf8.h"
#include "base/yaml.h"
#include "request/dialects/dialects.h"
#include "stages/prepare/platform.h"
#include "tests/fuzz/fuzz.h"

enum { TASKS_LOOKED_AT = 200, PORTS = 65536 };

static const char site_text[] =
    "ports: {first: 15000, last: 31999}\n"
    "queues: [day]\n"
    "openpai:\n"
    "  default_fs: hdfs://h:9000\n"
    "  paths: [{prefix: $PAI_DEFAULT_FS_URI, path: /srv}, {prefix: /mnt, path: /}]\n"
    "  virtual_clusters: {a: day, b: null}\n"
    "  gpu_types: {K80: k80}\n"
    "  auth_files: {x: secret}\n";

static void check_data(struct text text)
{
    CHECK(text.length == 0 || (utf8_valid(text) && !memchr(text.data, '\0', text.length)));
}

static void check_role(const struct description *job, size_t number)
{
    const struct task_role *role = &job->tasks[number];
    CHECK(role->role.length >= 1 && role->role.length <= 15);
    CHECK(role->role.data[0] >= 'a' && role->role.data[0] <= 'z');
    CHECK(role->role.data[role->role.length - 1] != '-');
    CHECK(role->name.length > 0 && role->count >= 1 && role->cpus >= 1000);
    CHECK(role->memory >= (int64_t)100 << 20 && role->shm > 0 && role->shm <= role->memory);
    CHECK(role->command_count == 3);
    check_data(role->command[2]);
    for (size_t i = 0; i < role->ports_count; i++) {
        const struct port_request *port = &role->ports[i];
        CHECK(port->label.length > 0 && port->count >= 1);
        CHECK(port->first >= 0 && port->first + port->count - 1 <= PORTS);
        for (size_t j = 0; j < i; j++)
            CHECK(!text_equal(port->label, role->ports[j].label));
    }
    for (size_t i = 0; i < number && number < TASKS_LOOKED_AT; i++)
        CHECK(!text_equal(role->role, job->tasks[i].role) &&
              !text_equal(role->name, job->tasks[i].name));
    CHECK(job->complete[number].failed <= role->count &&
          job->complete[number].succeeded <= role->count);
}

static void check_path(struct text path)
{
    check_data(path);
    CHECK(path.length == 0 || path.data[0] == '/');
    CHECK(!text_contains(path, TEXT("/../")) && !text_ends(path, "/.."));
}

static void check_ports(struct arena *arena, const struct description *job,
                        struct context_job *context)
{
    static bool taken[PORTS];
    memset(taken, 0, sizeof(taken));
    struct context_role *roles = arena_allocate(arena, job->tasks_count * sizeof(*roles));
    int tasks = 0;
    for (size_t i = 0; i < job->tasks_count; i++) {
        struct port_request *ports =
            arena_allocate(arena, (job->tasks[i].ports_count + 1) * sizeof(*ports));
        for (size_t j = 0; j < job->tasks[i].ports_count; j++)
            ports[j] = (struct port_request){job->tasks[i].ports[j].label,
                                             job->tasks[i].ports[j].count, 0};
        roles[i] = (struct context_role){.role = job->tasks[i].role,
                                         .count = job->tasks[i].count,
                                         .ports = ports,
                                         .ports_count = job->tasks[i].ports_count};
        tasks += job->tasks[i].count;
    }
    if (tasks > TASKS_LOOKED_AT)
        return;
    context->id = TEXT("a-0123456789abc");
    context->roles = roles;
    context->roles_count = job->tasks_count;
    const struct value *list = value_get(context_job(arena, context), "tasks");
    for (size_t i = 0; i < list->list.count; i++) {
        const struct value *ports = value_get(list->list.items[i], "ports");
        for (size_t j = 0; j < ports->object.count; j++)
            for (size_t k = 0; k < ports->object.members[j].value->list.count; k++) {
                double port = ports->object.members[j].value->list.items[k]->number;
                CHECK(port >= 15000 && port <= 31999 && !taken[(int)port]);
                taken[(int)port] = true;
            }
    }
}

static void check_job(struct arena *arena, const struct description *job)
{
    struct error error = {""};
    struct notes notes = job->notes;
    struct context_job context = {.gpu_type = job->gpu_type};
    struct job_record record = {.owner = TEXT("ann"), .executor = TEXT("kubernetes")};
    struct value *site =
        yaml_read(arena, text_of(site_text), "site.yaml", &yaml_request_limits, &error);
    CHECK(job->tasks_count >= 1 && job->complete_count == job->tasks_count);
    for (size_t i = 0; i < job->tasks_count; i++)
        check_role(job, i);
    CHECK(job->retries >= RETRIES_ALWAYS);
    if (platform_resolve(arena, site, job, &record, &context, &notes, &error)) {
        check_sentence(&error);
        return;
    }
    check_path(context.dataset);
    check_path(context.output);
    check_path(context.program);
    check_data(context.platform.data);
    check_ports(arena, job, &context);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena *arena = arena_new();
    struct error error = {""};
    struct text source = fuzz_text(bytes, length);
    const struct description *job = dialects_read(arena, source, "job.json", &error);
    if (!job)
        check_sentence(&error);
    else if (text_is(job->platform.name, "openpai") &&
             !text_contains(source, TEXT("protocolVersion")))
        check_job(arena, job);
    arena_free(arena);
    return 0;
}
