/* tests/unit/kubernetes_cache_test.c - what is made of Jobs, Pods and Events
 *
 * Objects are as a 1.36 control plane and a kubelet with containerd give them, without what is not
 * looked at.  ' stands for " in them.
 */
#include "base/clock.h"
#include "base/names.h"
#include "executors/kubernetes/cache.h"
#include "kubernetes_fake.h"

static struct kubernetes_cache *jobs;
static struct arena *arena;
static int64_t elapsed, today;

static int64_t get_elapsed(void)
{
    return elapsed;
}

static int64_t get_today(void)
{
    return today;
}

static int set_up(void **state)
{
    (void)state;
    jobs = kubernetes_cache_new();
    arena = arena_new();
    elapsed = 1000000;
    assert_int_equal(clock_parse(TEXT("2026-11-21T07:00:00Z"), &today), 0);
    clock_replace(get_today, get_elapsed);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kubernetes_cache_free(jobs);
    arena_free(arena);
    clock_replace(NULL, NULL);
    return 0;
}

/* ---- objects ---- */

static int version;

static struct value *make_job(const char *role, const char *spec, const char *status)
{
    return fake_json(
        arena,
        "{'metadata':{'name':'train-abc-a1-%s','uid':'job-%s','resourceVersion':'%d','labels':{"
        "'dlspool/job':'train-abc','dlspool/attempt':'1','dlspool/role':'%s'}%s},'spec':{"
        "'parallelism':1,'completions':1,'completionMode':'Indexed','backoffLimit':0%s%s},"
        "'status':{%s}}",
        role, role, ++version, role,
        strcmp(role, "worker") ? ",'ownerReferences':[{'kind':'Job','name':'train-abc-a1-worker',"
                                 "'uid':'job-worker'}]"
                               : "",
        spec[0] ? "," : "", spec, status);
}

static void take_job(const char *role, const char *spec, const char *status)
{
    kubernetes_cache_take(jobs, FOLLOW_JOBS, make_job(role, spec, status), false, false);
}

static struct value *make_pod(const char *role, int index, const char *more, const char *status)
{
    return fake_json(
        arena,
        "{'metadata':{'name':'train-abc-a1-%s-%d-%s','uid':'pod-%s-%d%s','resourceVersion':'%d',"
        "'creationTimestamp':'2026-11-21T06:3%d:00Z','labels':{'dlspool/job':'train-abc',"
        "'dlspool/attempt':'1','dlspool/role':'%s',"
        "'batch.kubernetes.io/job-completion-index':'%d'}%s},'status':{%s}}",
        role, index, strstr(more, "moment") ? "a7k2p" : "x7k2p", role, index,
        strstr(more, "second") || strstr(more, "moment") ? "-2" : "", ++version,
        strstr(more, "second") ? 5 : 0, role, index, more, status);
}

static void take_pod(const char *role, int index, const char *more, const char *status)
{
    kubernetes_cache_take(jobs, FOLLOW_PODS, make_pod(role, index, more, status), false, false);
}

static void take_event(const char *kind, const char *name, const char *uid, const char *reason,
                       const char *message)
{
    kubernetes_cache_take(jobs, FOLLOW_EVENTS,
                          fake_json(arena,
                                    "{'metadata':{'name':'e'},'involvedObject':{'kind':'%s',"
                                    "'name':'%s','uid':'%s'},'type':'Warning','reason':'%s',"
                                    "'message':'%s'}",
                                    kind, name, uid, reason, message),
                          false, false);
}

#define MAIN(state) "'containerStatuses':[{'name':'main','state':{" state "}}]"
#define ENDED(code, reason, second)                                                                \
    MAIN("'terminated':{'exitCode':" code ",'reason':'" reason "',"                                \
         "'startedAt':'2026-11-21T06:31:00Z','finishedAt':'2026-11-21T06:40:" second "Z'}")
#define ON_NODE(name) "},'spec':{'nodeName':'" name "'"
#define TRACKED ",'finalizers':['batch.kubernetes.io/job-tracking']"
#define RUNNING "'phase':'Running'," MAIN("'running':{'startedAt':'2026-11-21T06:31:00Z'}")
#define SUCCEEDED(second) "'phase':'Succeeded'," ENDED("0", "Completed", second)
#define FAILED(code, second) "'phase':'Failed'," ENDED(code, "Error", second)
#define CONDITION(type, reason, message)                                                           \
    "'conditions':[{'type':'" type "','status':'True','reason':'" reason "','message':'" message   \
    "','lastTransitionTime':'2026-11-21T06:41:00Z'}]"

static struct job_poll ask(void)
{
    struct job_poll poll = {.id = "train-abc", .attempt = 1};
    kubernetes_cache_poll(jobs, arena, &poll);
    return poll;
}

static void expect(enum job_phase phase, int exit_code, const char *reason, const char *detail)
{
    struct job_poll poll = ask();
    if (poll.phase != phase || strcmp(poll.reason, reason) != 0 || !strstr(poll.detail, detail))
        print_message("got phase %d, exit %d, %s: %s\n", (int)poll.phase, poll.exit_code,
                      poll.reason, poll.detail);
    assert_int_equal(poll.phase, phase);
    assert_int_equal(poll.exit_code, exit_code);
    assert_string_equal(poll.reason, reason);
    assert_non_null(strstr(poll.detail, detail));
}

static void expect_wait(const char *detail)
{
    struct job_poll poll = ask();
    assert_int_equal(poll.phase, PHASE_WAITING);
    assert_string_equal(poll.detail, detail);
}

/* ---- from the beginning to a good end ---- */

static void a_job_runs_and_succeeds(void **state)
{
    (void)state;
    struct job_poll poll = {.id = "train-abc", .attempt = 1};
    assert_int_equal(kubernetes_cache_poll(jobs, arena, &poll), KUBERNETES_NOT_KNOWN);
    take_job("worker", "", "");
    expect_wait("");
    take_pod("worker", 0, "", "'phase':'Pending'");
    expect_wait("");
    take_pod("worker", 0, "",
             "'phase':'Pending'," MAIN("'waiting':{'reason':'ContainerCreating'}"));
    expect_wait("");
    assert_true(ask().tasks[0].waits);
    take_pod("worker", 0, "", RUNNING);
    expect(PHASE_RUNNING, 0, "", "");
    poll = ask();
    assert_int_equal(poll.task_count, 1);
    assert_false(poll.tasks[0].waits);
    assert_false(poll.tasks[0].ended);
    assert_string_equal(poll.tasks[0].role, "worker");
    assert_true(poll.started > 0 && !poll.ended);
    take_job("worker", "",
             "'succeeded':1," CONDITION("SuccessCriteriaMet", "CompletionsReached", ""));
    elapsed += 61000;
    expect(PHASE_RUNNING, 0, "", ""); /* the pod has still to end, and the Job waits for it */
    take_pod("worker", 0, "", SUCCEEDED("00"));
    expect(PHASE_SUCCEEDED, 0, "", "");
    poll = ask();
    assert_true(poll.tasks[0].ended && poll.ended > poll.started);
    take_job("worker", "", "'succeeded':1," CONDITION("Complete", "CompletionsReached", ""));
    expect(PHASE_SUCCEEDED, 0, "", "");
}

static void a_complete_job_without_pods_has_succeeded(void **state)
{
    (void)state;
    take_job("worker", "", "'succeeded':1," CONDITION("Complete", "CompletionsReached", ""));
    struct job_poll poll = {.id = "train-abc", .attempt = 1};
    /* ... but they may just not have come yet: the server is asked, once. */
    assert_int_equal(kubernetes_cache_poll(jobs, arena, &poll), KUBERNETES_DOUBTFUL);
    kubernetes_cache_confirm(jobs, "train-abc", 1);
    assert_int_equal(kubernetes_cache_poll(jobs, arena, &poll), KUBERNETES_KNOWN);
    expect(PHASE_SUCCEEDED, 0, "", "");
}

/* ---- how pods fail ---- */

static void failures_are_told_apart(void **state)
{
    static const struct {
        const char *more, *status;
        int exit_code;
        const char *reason, *detail;
    } table[] = {
        {"", FAILED("42", "00"), 42, "Exited", "task worker-0 ended with exit code 42"},
        {"", FAILED("139", "00"), 139, "Exited", "was ended by signal 11 (SIGSEGV)"},
        {"", FAILED("193", "00"), 193, "Exited", "ended with exit code 193"},
        {"", "'phase':'Failed'," ENDED("137", "OOMKilled", "00"), 137, "OOMKilled", "memory"},
        {"", "'phase':'Failed'," ENDED("1", "OOMKilled", "00"), 1, "OOMKilled", "memory"},
        {"", FAILED("137", "00"), 137, "Exited", "signal 9 (SIGKILL)"},
        {"",
         "'phase':'Failed'," MAIN(
             "'terminated':{'exitCode':128,'reason':'StartError','message':'failed to create "
             "containerd task: exec: nope: executable file not found in $PATH: unknown',"
             "'startedAt':'1970-01-01T00:00:00Z','finishedAt':'2026-11-21T06:40:00Z'}"),
         128, "StartError", "executable file not found in $PATH"},
        {"",
         "'phase':'Failed','reason':'Evicted','message':'The node was low on resource: "
         "ephemeral-storage. Threshold quantity: 1, available: 0. '",
         255, "Evicted", "was evicted: The node was low on resource"},
        {"",
         "'phase':'Failed','reason':'Evicted','message':'Pod ephemeral local storage usage exceeds "
         "the total limit of containers 1Gi. '," ENDED("137", "Error", "00"),
         137, "StorageFull", "stored more than its limit: Pod ephemeral local storage"},
        {"",
         "'phase':'Failed','reason':'Evicted','message':'Usage of EmptyDir volume shm exceeds the "
         "limit 64Mi. '",
         255, "StorageFull", "EmptyDir volume shm"},
        {TRACKED ",'deletionTimestamp':'2026-11-21T06:40:00Z'",
         FAILED("143", "00") "," CONDITION("DisruptionTarget", "PreemptionByScheduler",
                                           "default-scheduler: preempting to accommodate a higher "
                                           "priority pod"),
         143, "Preempted", "preempted by the scheduler"},
        {"",
         "'phase':'Failed'," CONDITION("DisruptionTarget", "DeletionByPodGC",
                                       "PodGC: node no "
                                       "longer exists"),
         255, "NodeLost", "node no longer exists"},
        {"",
         "'phase':'Failed'," ENDED("143", "Error", "00") "," CONDITION(
             "DisruptionTarget", "DeletionByTaintManager",
             "Taint manager: deleting due to NoExecute taint"),
         143, "NodeLost", "NoExecute taint"},
        {"",
         "'phase':'Failed'," ENDED("143", "Error", "00") "," CONDITION(
             "DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting"),
         143, "Evicted", "Eviction API"},
        {"",
         "'phase':'Failed','reason':'Terminated','message':'Pod was terminated in response to "
         "imminent node shutdown.'",
         255, "NodeLost", "node shutdown"},
        {"", "'phase':'Failed'," ENDED("137", "ContainerStatusUnknown", "00"), 137, "NodeLost",
         "lost"},
        {"",
         "'phase':'Failed','reason':'DeadlineExceeded','message':'Pod was active on the node "
         "longer "
         "than the specified deadline'",
         255, "TimeLimit", "longer than"},
        {"",
         "'phase':'Failed','reason':'OutOfcpu','message':'Pod was rejected: Node didnt have enough "
         "resource: cpu'",
         255, "NodeRefused", "OutOfcpu"},
        {"", "'phase':'Failed','reason':'OutOfrdma/hca','message':'Node didnt have enough'", 255,
         "NodeRefused", "(OutOfrdma/hca)"},
        {"",
         "'phase':'Failed','initContainerStatuses':[{'name':'wait','state':{'terminated':{"
         "'exitCode':3,'reason':'Error'}}}]," MAIN("'waiting':{'reason':'PodInitializing'}"),
         3, "Exited", "its init container wait ended with exit code 3"},
        {"", "'phase':'Failed'", 255, "Failed", "does not say how"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(table); i++) {
        tear_down(state);
        set_up(state);
        take_job("worker", "", "");
        take_pod("worker", 0, "", RUNNING);
        take_pod("worker", 0, table[i].more, table[i].status);
        expect(PHASE_FAILED, table[i].exit_code, table[i].reason, table[i].detail);
        /* The Job's own conditions change nothing about it. */
        take_job("worker", "",
                 CONDITION("FailureTarget", "BackoffLimitExceeded", "Job has reached"));
        expect(PHASE_FAILED, table[i].exit_code, table[i].reason, table[i].detail);
        take_job("worker", "", CONDITION("Failed", "BackoffLimitExceeded", "Job has reached"));
        expect(PHASE_FAILED, table[i].exit_code, table[i].reason, table[i].detail);
    }
}

static void a_deadline_is_a_time_limit(void **state)
{
    (void)state;
    take_job("worker", "", "");
    take_pod("worker", 0, "", RUNNING);
    take_job("worker", "",
             CONDITION("FailureTarget", "DeadlineExceeded",
                       "Job was active longer than specified "
                       "deadline"));
    expect(PHASE_RUNNING, 0, "", ""); /* the pod is still being ended */
    take_pod("worker", 0, ",'deletionTimestamp':'2026-11-21T06:42:00Z'", FAILED("143", "10"));
    expect(PHASE_FAILED, 143, "TimeLimit", "time limit");
    take_job("worker", "",
             CONDITION("Failed", "DeadlineExceeded",
                       "Job was active longer than specified "
                       "deadline"));
    kubernetes_cache_take(jobs, FOLLOW_PODS, make_pod("worker", 0, "", ""), true, false);
    expect(PHASE_FAILED, 255, "TimeLimit", "longer than specified");
}

static void a_lost_node_is_waited_for_a_while(void **state)
{
    (void)state;
    take_job("worker", "", "");
    /* By our own clock: the server's may be another's. */
    take_pod("worker", 0,
             ",'deletionTimestamp':'2025-01-01T00:00:00Z','deletionGracePeriodSeconds':30",
             RUNNING "," CONDITION("DisruptionTarget", "DeletionByTaintManager", "Taint manager"));
    expect(PHASE_RUNNING, 0, "", "");
    elapsed += 89000;
    expect(PHASE_RUNNING, 0, "", "");
    elapsed += 2000;
    expect(PHASE_FAILED, 255, "NodeLost", "its node does not answer");
}

/* Its patience does not begin anew with each process: by what the job's log says, not by the server's clock. */
static void a_lost_node_was_waited_for_before(void **state)
{
    (void)state;
    static const char *const names[] = {"train-abc-a1-worker-0-other",
                                        "train-abc-a1-worker-0-x7k2p"};
    for (size_t i = 0; i < 2; i++) {
        struct names *since = names_new(2, sizeof(int64_t));
        struct job_poll poll = {.id = "train-abc", .attempt = 1, .unreachable = since};
        int64_t *time = names_add(since, text_of(names[i]));
        *time = clock_now() - 89000;
        take_job("worker", "", "");
        take_pod("worker", 0,
                 ",'deletionTimestamp':'2025-01-01T00:00:00Z','deletionGracePeriodSeconds':30",
                 RUNNING "," CONDITION("DisruptionTarget", "DeletionByTaintManager", "taint"));
        kubernetes_cache_poll(jobs, arena, &poll);
        assert_int_equal(poll.phase, PHASE_RUNNING);
        assert_string_equal(poll.tasks[0].unreachable, names[1]);
        *time = clock_now() - 91000;
        kubernetes_cache_poll(jobs, arena, &poll);
        assert_int_equal(poll.phase, i ? PHASE_FAILED : PHASE_RUNNING);
        assert_string_equal(poll.reason, i ? "NodeLost" : "");
        names_free(since);
    }
}

static void remove_pod(const char *role, int index)
{
    kubernetes_cache_take(jobs, FOLLOW_PODS, make_pod(role, index, "", ""), true, false);
}

/* kubectl drain: the pod ends, its Job counts it, and it is gone before anybody asks. */
static void a_pod_that_is_gone_is_remembered(void **state)
{
    size_t count;
    for (int by_list = 0; by_list < 2; by_list++) {
        tear_down(state);
        set_up(state);
        take_job("worker", "", "");
        take_pod("worker", 0, TRACKED, RUNNING);
        take_pod("worker", 0, TRACKED ",'deletionTimestamp':'2026-11-21T06:40:00Z'",
                 FAILED("143", "05") "," CONDITION("DisruptionTarget", "EvictionByEvictionAPI",
                                                   "Eviction API: evicting"));
        if (by_list) {
            kubernetes_cache_list_begin(jobs, FOLLOW_PODS);
            kubernetes_cache_list_end(jobs, FOLLOW_PODS);
        } else {
            remove_pod("worker", 0);
        }
        take_job("worker", "",
                 "'failed':1," CONDITION("Failed", "BackoffLimitExceeded", "Job has reached"));
        expect(PHASE_FAILED, 143, "Evicted", "Eviction API");
        struct job_poll poll = {.id = "train-abc", .attempt = 1};
        assert_int_equal(kubernetes_cache_poll(jobs, arena, &poll), KUBERNETES_KNOWN);
        kubernetes_cache_pods(jobs, arena, "train-abc", 1, &count);
        assert_int_equal(count, 0);
        kubernetes_cache_take(jobs, FOLLOW_JOBS, make_job("worker", "", ""), true, false);
        assert_int_equal(kubernetes_cache_count(jobs), 0);
    }
}

/* The first one fails; the controller tells the other to go, which ends within the same second. */
static void those_that_had_to_go_were_not_first(void **state)
{
    (void)state;
    static const char two[] = "{'metadata':{'name':'train-abc-a1','uid':'job-worker','labels':{"
                              "'dlspool/job':'train-abc','dlspool/attempt':'1','dlspool/role':"
                              "'worker'}},'spec':{'completions':2},'status':{%s}}";
    kubernetes_cache_take(jobs, FOLLOW_JOBS, fake_json(arena, two, ""), false, false);
    take_pod("worker", 0, TRACKED ",'deletionTimestamp':'2026-11-21T06:40:30Z'",
             FAILED("143", "04"));
    take_pod("worker", 1, TRACKED, FAILED("7", "05"));
    const char *failed = CONDITION("FailureTarget", "BackoffLimitExceeded", "Job has reached");
    kubernetes_cache_take(jobs, FOLLOW_JOBS, fake_json(arena, two, failed), false, false);
    expect(PHASE_FAILED, 7, "Exited", "task worker-1 ended with exit code 7");
}

static void a_replaced_pod_does_not_count(void **state)
{
    static const char policy[] =
        "'podFailurePolicy':{'rules':[{'action':'Ignore','onPodConditions':[{"
        "'type':'DisruptionTarget','status':'True'}]}]}";
    static const char lost[] =
        "'phase':'Failed'," CONDITION("DisruptionTarget", "DeletionByPodGC", "PodGC");
    (void)state;
    take_job("worker", policy, "");
    take_pod("worker", 0, "", lost);
    assert_int_equal(ask().phase, PHASE_WAITING); /* for the Job's next pod */
    take_pod("worker", 0, ",'annotations':{'x':'second'}", RUNNING);
    expect(PHASE_RUNNING, 0, "", "");
    size_t count;
    const struct cached_pod **pods = kubernetes_cache_pods(jobs, arena, "train-abc", 1, &count);
    assert_int_equal(count, 2);
    assert_true(pods[0]->uid != pods[1]->uid);
}

/* ---- several roles ---- */

static const char rule[] = "'dlspool/complete':'{\\'worker\\':{\\'failed\\':1,\\'succeeded\\':2}}'";

static void take_worker_job(const char *annotations, const char *more, const char *status)
{
    kubernetes_cache_take(
        jobs, FOLLOW_JOBS,
        fake_json(arena,
                  "{'metadata':{'name':'train-abc-a1-worker','uid':'job-worker','resourceVersion':"
                  "'%d','labels':{'dlspool/job':'train-abc','dlspool/attempt':'1','dlspool/role':"
                  "'worker'%s},'annotations':{%s}},'spec':{'completions':2%s},'status':{%s}}",
                  ++version, strstr(more, "suspend") ? ",'kueue.x-k8s.io/queue-name':'team'" : "",
                  annotations, more, status),
        false, false);
}

static void the_rule_decides_when_it_is_first_met(void **state)
{
    (void)state;
    take_worker_job(rule, "", "");
    take_job("ps", "", "");
    take_pod("ps", 0, "", RUNNING);
    take_pod("worker", 0, "", SUCCEEDED("10"));
    take_pod("worker", 1, "", RUNNING);
    expect(PHASE_RUNNING, 0, "", "");
    take_pod("worker", 1, "", SUCCEEDED("20"));
    expect(PHASE_SUCCEEDED, 0, "", "");
    /* The parameter server is stopped after that, which is no failure; nor is it after a restart.
     */
    take_pod("ps", 0, "", FAILED("143", "30"));
    expect(PHASE_SUCCEEDED, 0, "", "");
    take_pod("ps", 0, "", FAILED("1", "15")); /* but this would have been one */
    expect(PHASE_FAILED, 1, "Exited", "task ps-0");
}

static void tasks_of_a_sweep_are_judged_each_by_itself(void **state)
{
    (void)state;
    static const char each[] = "'dlspool/complete':'{\\'worker\\':{\\'each\\':true}}'";
    static const char more[] = ",'parallelism':1,'backoffLimitPerIndex':0";
    /* A quota refused a pod once; what may be at once is there now. */
    take_event("Job", "train-abc-a1-worker", "job-worker", "FailedCreate", "exceeded quota");
    take_worker_job(each, more, "");
    take_pod("worker", 0, "", "'phase':'Pending'");
    expect_wait("");
    take_pod("worker", 0, ON_NODE("n1"), FAILED("3", "10"));
    take_worker_job(each, more, "'failed':1,'failedIndexes':'0'");
    expect(PHASE_RUNNING, 0, "", "");
    take_pod("worker", 1, "", RUNNING);
    expect(PHASE_RUNNING, 0, "", "");
    take_pod("worker", 1, ON_NODE("n2"), FAILED("4", "05"));
    /* The first by index, not by time, whether the Job has noticed or not. */
    expect(PHASE_FAILED, 3, "Exited", "task worker-0");
    take_worker_job(each, more,
                    "'failed':2,'failedIndexes':'0,1'," CONDITION("Failed", "FailedIndexes",
                                                                  "Job has failed indexes"));
    expect(PHASE_FAILED, 3, "Exited", "task worker-0");
    struct job_poll poll = ask();
    assert_int_equal(poll.task_count, 2);
    assert_true(poll.tasks[0].ended && poll.tasks[1].ended);
    assert_int_equal(poll.tasks[1].exit_code, 4);
    assert_int_equal(poll.nodes, 2);
    assert_int_equal(poll.task_time, (9 * 60 + 10 + 9 * 60 + 5) * 1000);
}

static void a_failed_index_without_a_pod_has_ended(void **state)
{
    (void)state;
    take_worker_job("'dlspool/complete':'{\\'worker\\':{\\'each\\':true}}'",
                    ",'parallelism':1,'backoffLimitPerIndex':0",
                    "'failed':1,'failedIndexes':'0','succeeded':1,'completedIndexes':'1'");
    struct job_poll poll = ask();
    assert_true(poll.tasks[0].ended && poll.tasks[1].ended);
    assert_int_equal(poll.tasks[0].exit_code, 255);
    assert_int_equal(poll.tasks[1].exit_code, 0);
}

#define AGAIN "'dlspool/complete':'{\\'worker\\':{\\'failed\\':2,\\'again\\':3}}'"
#define TRIES ",'backoffLimitPerIndex':3,'template':{'spec':{'activeDeadlineSeconds':1800}}"
#define SECOND ",'second':''"
#define SAME_MOMENT ",'moment':''" /* made in the same second, with a name before the other's */
#define LATER(state) "'phase':'Running'," MAIN("'running':{'startedAt':'2026-11-21T06:" state "Z'}")

static void expect_lost(int exit_code)
{
    struct job_poll poll = ask();
    assert_int_equal(poll.phase, PHASE_RUNNING);
    assert_false(poll.tasks[0].ended);
    assert_int_equal(poll.tasks[1].ended, exit_code != 0);
    assert_int_equal(poll.tasks[1].exit_code, exit_code);
}

/* The Job makes another pod in place of one that an elastic job has lost. */
static void what_is_lost_is_lost_until_it_runs_again(void **state)
{
    (void)state;
    today -= 900000; /* 06:45 */
    take_worker_job(AGAIN, TRIES, "");
    take_pod("worker", 0, "", RUNNING);
    take_pod("worker", 1, "", RUNNING);
    expect_lost(0);
    take_pod("worker", 1, TRACKED, FAILED("137", "10"));
    expect_lost(137); /* it rests */
    take_pod("worker", 1, SECOND, "'phase':'Pending'");
    expect_lost(137); /* there may be no room for it */
    take_pod("worker", 1, SECOND, LATER("42:00"));
    expect_lost(0);
    /* When that fails, too, it is lost again; and for good when it has been tried often enough. */
    take_pod("worker", 1, SECOND, FAILED("3", "20"));
    expect_lost(3);
    take_worker_job(AGAIN, TRIES, "'failed':4,'failedIndexes':'1'");
    expect_lost(3);
}

static void one_made_in_the_same_second_takes_the_place(void **state)
{
    (void)state;
    today -= 900000;
    take_worker_job(AGAIN, TRIES, "");
    take_pod("worker", 0, "", RUNNING);
    take_pod("worker", 1, "", FAILED("137", "10"));
    expect_lost(137);
    take_pod("worker", 1, SAME_MOMENT, RUNNING);
    expect_lost(0);
}

/* Of too few the job fails, although its Job would try them again. */
static void it_fails_when_too_few_are_left(void **state)
{
    (void)state;
    today -= 900000;
    take_worker_job(AGAIN, TRIES, "");
    take_pod("worker", 0, "", RUNNING);
    take_pod("worker", 1, TRACKED, FAILED("137", "10"));
    take_pod("worker", 1, SECOND, "'phase':'Pending'");
    take_pod("worker", 0, TRACKED, FAILED("1", "30"));
    expect(PHASE_FAILED, 1, "Exited", "task worker-0 ended with exit code 1");
}

/* With nobody left to work with, what rests is not waited for. */
static void it_is_done_when_the_others_are(void **state)
{
    (void)state;
    today -= 900000;
    take_worker_job(AGAIN, TRIES, "");
    take_pod("worker", 0, "", RUNNING);
    take_pod("worker", 1, TRACKED, FAILED("137", "10"));
    expect_lost(137);
    take_pod("worker", 0, TRACKED, SUCCEEDED("15"));
    expect(PHASE_SUCCEEDED, 0, "", "");
}

/* The pod in place of another has a whole time limit of its own, and the job has not. */
static void the_time_limit_is_counted_from_the_first_start(void **state)
{
    (void)state;
    take_worker_job(AGAIN, TRIES, ""); /* 06:31 and 1,800 s are 07:01 */
    take_pod("worker", 0, "", RUNNING);
    take_pod("worker", 1, TRACKED, FAILED("137", "10"));
    take_pod("worker", 1, SECOND, LATER("58:00"));
    take_pod("worker", 0, "", FAILED("137", "50"));
    today += 55000;
    expect(PHASE_RUNNING, 0, "", "");
    today += 15000;
    expect(PHASE_FAILED, 255, "TimeLimit", "the job ran for longer than its time limit");
    /* Where nothing is tried again each pod's own limit is enough. */
    take_worker_job("'dlspool/complete':'{\\'worker\\':{\\'failed\\':2}}'", TRIES, "");
    expect(PHASE_RUNNING, 0, "", "");
}

static const char *owner_name(void)
{
    const struct cached_job *owner = kubernetes_cache_owner(jobs, "train-abc", 1);
    return owner ? owner->name : "";
}

/* What the others are deleted with, where that is all there is to do. */
static void the_owner_is_told_where_it_is_certain(void **state)
{
    (void)state;
    assert_string_equal(owner_name(), "");
    take_job("ps", "", "");
    assert_string_equal(owner_name(), "");
    take_worker_job(rule, "", "");
    assert_string_equal(owner_name(), "train-abc-a1-worker");
    assert_string_equal(kubernetes_cache_owner(jobs, "train-abc", 1)->uid_text, "job-worker");
    take_worker_job("'dlspool/debug':'300'", "", "");
    assert_string_equal(owner_name(), "");
    take_worker_job(rule, ",'ttlSecondsAfterFinished':300", "");
    assert_string_equal(owner_name(), "");
    take_worker_job(rule, "", "");
    assert_string_equal(owner_name(), "train-abc-a1-worker");
    kubernetes_cache_take(jobs, FOLLOW_JOBS, make_job("ps", "", ""), true, false);
    assert_string_equal(owner_name(), "");
}

static void a_failure_is_that_of_the_first(void **state)
{
    (void)state;
    take_worker_job(rule, "", "");
    take_job("ps", "", "");
    take_pod("worker", 1, "", FAILED("7", "10"));
    take_pod("worker", 0, "", RUNNING);
    expect(PHASE_FAILED, 7, "Exited", "task worker-1 ended with exit code 7");
    assert_false(ask().tasks[1].ended);
    /* Track tells the others to end. */
    static const char cancelled[] = "'dlspool/cancelled':'now',"
                                    "'dlspool/complete':'{\\'worker\\':{\\'failed\\':1}}'";
    take_worker_job(cancelled, "", "");
    take_pod("worker", 0, ",'deletionTimestamp':'2026-11-21T06:40:00Z'", FAILED("143", "05"));
    expect(PHASE_FAILED, 7, "Exited", "task worker-1");
    assert_string_equal(ask().tasks[1].reason, "Killed");
}

static void a_cancelled_job_has_failed_once_it_is_still(void **state)
{
    (void)state;
    take_worker_job("'dlspool/cancelled':'now'", "", "");
    take_pod("worker", 0, "", RUNNING);
    assert_int_equal(ask().phase, PHASE_FAILED); /* one of two never ran */
    struct job_poll poll = {.id = "train-abc", .attempt = 1};
    assert_int_equal(kubernetes_cache_poll(jobs, arena, &poll), KUBERNETES_KNOWN);
    assert_false(ask().tasks[0].ended); /* and the other is yet to end */
    kubernetes_cache_take(jobs, FOLLOW_PODS, make_pod("worker", 0, "", ""), true, false);
    expect(PHASE_FAILED, 143, "Killed", "was stopped because the job was cancelled");
    assert_true(ask().tasks[0].ended && ask().tasks[1].ended);
}

/* ---- why it waits ---- */

#define UNSCHEDULABLE(message)                                                                     \
    "'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False',"                     \
    "'reason':'Unschedulable','message':'" message "'}]"

static void it_says_why_it_waits_and_once(void **state)
{
    static const char said[] =
        "Unschedulable: 0/3 nodes are available: 1 Insufficient cpu, 2 node(s) "
        "had untolerated taint {x: y}. preemption: 0/3 nodes are available: 3 "
        "No preemption victims found for incoming pod.";
    (void)state;
    take_job("worker", "", "");
    take_pod("worker", 0, "",
             UNSCHEDULABLE("0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated "
                           "taint {x: y}. preemption: 0/3 nodes are available: 3 No preemption "
                           "victims found for incoming pod."));
    expect_wait(said);
    take_pod("worker", 0, "",
             UNSCHEDULABLE("0/4 nodes are available: 2 node(s) had untolerated taint {x: y}, 2 "
                           "Insufficient cpu. preemption: 0/4 nodes are available: 2 Preemption is "
                           "not helpful for scheduling."));
    expect_wait(said);
    take_pod("worker", 0, "",
             UNSCHEDULABLE("0/4 nodes are available: 4 Insufficient nvidia.com/gpu."));
    expect_wait("Unschedulable: 0/4 nodes are available: 4 Insufficient nvidia.com/gpu.");
    take_pod("worker", 0, "",
             "'phase':'Pending'," MAIN("'waiting':{'reason':'ContainerCreating'}"));
    expect_wait("");
    take_event("Pod", "train-abc-a1-worker-0-x7k2p", "pod-worker-0", "FailedMount",
               "MountVolume.SetUp failed for volume data : secret k not found");
    struct job_poll poll = ask();
    assert_non_null(strstr(poll.detail, "FailedMount: MountVolume.SetUp failed"));
    take_pod("worker", 0, "",
             "'phase':'Pending'," MAIN("'waiting':{'reason':'CreateContainerConfigError','message':"
                                       "'secret not found'}"));
    expect_wait("CreateContainerConfigError: secret not found");
    take_pod("worker", 0, "", RUNNING);
    expect(PHASE_RUNNING, 0, "", "");
}

#define IMAGE(reason, message)                                                                     \
    "'phase':'Pending'," MAIN("'waiting':{'reason':'" reason "','message':'" message "'}")

static void an_image_is_waited_for_and_then_not(void **state)
{
    static const char said[] =
        "ErrImagePull: failed to pull and unpack image docker.io/nope:1: dial "
        "tcp 10.0.0.1:443: i/o timeout";
    (void)state;
    take_job("worker", "", "");
    for (int i = 0; i < 3; i++) {
        take_pod("worker", 0, "",
                 IMAGE("ErrImagePull", "failed to pull and unpack image docker.io/nope:1: dial tcp "
                                       "10.0.0.1:443: i/o timeout"));
        expect_wait(said);
        take_pod("worker", 0, "", IMAGE("ImagePullBackOff", "Back-off pulling image nope:1"));
        expect_wait(said);
        take_pod("worker", 0, "",
                 IMAGE("ImagePullBackOff", "Back-off pulling image nope:1: ErrImagePull: failed to "
                                           "pull and unpack image docker.io/nope:1: dial tcp "
                                           "10.0.0.1:443: i/o timeout"));
        expect_wait(said);
        elapsed += 150000;
    }
    elapsed += 200000;
    expect(PHASE_FAILED, 255, "ImagePull", "i/o timeout");
    assert_true(ask().tasks[0].ended);
    /* The reason outlives the pod. */
    take_worker_job("'dlspool/cancelled':'now'", "", "");
    kubernetes_cache_take(jobs, FOLLOW_PODS, make_pod("worker", 0, "", ""), true, false);
    expect(PHASE_FAILED, 255, "ImagePull", "i/o timeout");
}

/* Its patience does not begin anew with each process. */
static void an_image_was_waited_for_before(void **state)
{
    (void)state;
    struct job_poll poll = {.id = "train-abc", .attempt = 1};
    take_job("worker", "", "");
    take_pod("worker", 0, "", IMAGE("ErrImagePull", "dial tcp 10.0.0.1:443: i/o timeout"));
    poll.waited_for = "Unschedulable: 0/2 nodes are available"; /* something else */
    poll.waited_since = clock_now() - 3600000;
    kubernetes_cache_poll(jobs, arena, &poll);
    assert_int_equal(poll.phase, PHASE_WAITING);
    poll.waited_for = "ErrImagePull: dial tcp 10.0.0.1:443: i/o timeout";
    poll.waited_since = clock_now() - 500000;
    kubernetes_cache_poll(jobs, arena, &poll);
    assert_int_equal(poll.phase, PHASE_WAITING);
    poll.waited_since = clock_now() - 601000;
    kubernetes_cache_poll(jobs, arena, &poll);
    assert_int_equal(poll.phase, PHASE_FAILED);
    assert_string_equal(poll.reason, "ImagePull");
}

static void an_image_that_is_not_there_is_given_up_sooner(void **state)
{
    (void)state;
    take_job("worker", "", "");
    take_pod("worker", 0, "", IMAGE("ErrImagePull", "docker.io/library/nope:1: not found"));
    assert_int_equal(ask().phase, PHASE_WAITING);
    elapsed += 61000;
    expect(PHASE_FAILED, 255, "ImageMissing", "nope:1: not found");
}

static void refused_pods_are_told(void **state)
{
    (void)state;
    /* The Event comes first, and again with another pod's name and other numbers. */
    take_event("Job", "train-abc-a1-worker", "job-worker", "FailedCreate",
               "Error creating: pods \\\"train-abc-a1-worker-0-k8d2x\\\" is forbidden: exceeded "
               "quota: q, requested: pods=1, used: pods=5, limited: pods=5");
    take_job("worker", "", "");
    struct job_poll poll = ask();
    char said[512];
    assert_non_null(strstr(poll.detail, "FailedCreate: Error creating: pods"));
    assert_non_null(strstr(poll.detail, "exceeded quota: q"));
    memcpy(said, poll.detail, sizeof(said));
    take_event("Job", "train-abc-a1-worker", "job-worker", "FailedCreate",
               "Error creating: pods \\\"train-abc-a1-worker-0-zz\\\" is forbidden: exceeded "
               "quota: q, requested: pods=1, used: pods=6, limited: pods=6");
    expect_wait(said);
    take_event("Job", "train-abc-a1-worker", "job-worker", "FailedCreate",
               "Error creating: pods \\\"train-abc-a1-worker-0-9xyzz\\\" is forbidden: no "
               "PriorityClass with name gold was found");
    assert_non_null(strstr(ask().detail, "no PriorityClass with name gold was found"));
    take_pod("worker", 0, "", "'phase':'Pending'");
    expect_wait("");
}

static void kueue_is_told(void **state)
{
    (void)state;
    take_worker_job("", ",'suspend':true", "");
    expect_wait("suspended by Kueue, in the queue team");
    take_event(
        "Workload", "job-train-abc-a1-worker-1a2b3", "w", "Pending",
        "couldnt assign flavors to pod set main: insufficient unused quota for cpu in flavor "
        "default, 2 more needed");
    struct job_poll poll = ask();
    assert_string_equal(poll.detail,
                        "suspended by Kueue, in the queue team: couldnt assign flavors "
                        "to pod set main: insufficient unused quota for cpu in flavor "
                        "default, 2 more needed");
    elapsed += 1000;
    take_job("worker", "'suspend':true", "");
    take_job("worker", "'suspend':false", "");
    assert_string_equal(ask().detail, "");
    take_job("worker", "'suspend':true", "");
    elapsed += 4000; /* as long as it may take until all objects of a job are there */
    assert_string_equal(ask().detail, "");
    elapsed += 1001;
    assert_non_null(strstr(ask().detail, "the Job is suspended"));
}

/* Kueue takes a running job's place away: its pods end, and it waits again. */
static void a_suspended_job_has_not_failed(void **state)
{
    (void)state;
    take_worker_job("", "", "");
    take_pod("worker", 0, "", RUNNING);
    take_worker_job("", ",'suspend':true", "");
    take_pod("worker", 0, ",'deletionTimestamp':'2026-11-21T06:40:00Z'", FAILED("143", "05"));
    assert_int_not_equal(ask().phase, PHASE_FAILED);
    remove_pod("worker", 0);
    assert_int_equal(ask().phase, PHASE_WAITING);
    /* It gets a place again before the old pod is gone. */
    take_pod("worker", 0, ",'deletionTimestamp':'2026-11-21T06:40:00Z'", FAILED("143", "05"));
    take_worker_job("", "", "");
    assert_int_not_equal(ask().phase, PHASE_FAILED);
    remove_pod("worker", 0);
    assert_int_equal(ask().phase, PHASE_WAITING);
}

/* ---- lists, order, and what is gone ---- */

static void late_and_double_news_are_harmless(void **state)
{
    (void)state;
    struct value *old = make_pod("worker", 0, "", RUNNING);
    take_job("worker", "", "");
    take_pod("worker", 0, "", SUCCEEDED("00"));
    kubernetes_cache_take(jobs, FOLLOW_PODS, old, false, false);
    expect(PHASE_SUCCEEDED, 0, "", "");
    kubernetes_cache_take(jobs, FOLLOW_PODS, old, false, true); /* a list is the truth */
    expect(PHASE_RUNNING, 0, "", "");
}

static void a_list_replaces_what_there_was(void **state)
{
    (void)state;
    take_job("worker", "", "");
    take_job("ps", "", "");
    take_pod("worker", 0, "", RUNNING);
    kubernetes_cache_list_begin(jobs, FOLLOW_PODS);
    kubernetes_cache_list_end(jobs, FOLLOW_PODS);
    assert_int_equal(ask().phase, PHASE_WAITING);
    kubernetes_cache_list_begin(jobs, FOLLOW_JOBS);
    kubernetes_cache_list_begin(jobs, FOLLOW_JOBS); /* begun again, after a 410 */
    kubernetes_cache_take(jobs, FOLLOW_JOBS, make_job("worker", "", ""), false, true);
    kubernetes_cache_list_end(jobs, FOLLOW_JOBS);
    expect(PHASE_FAILED, 255, "Vanished", "task ps-0 is gone: its Job was deleted");
    kubernetes_cache_list_begin(jobs, FOLLOW_JOBS);
    kubernetes_cache_list_end(jobs, FOLLOW_JOBS);
    assert_false(kubernetes_cache_has(jobs, "train-abc", 1));
    assert_int_equal(kubernetes_cache_count(jobs), 0);
}

static void deletion_takes_the_job(void **state)
{
    (void)state;
    struct value *job = make_job("worker", "", "");
    kubernetes_cache_take(jobs, FOLLOW_JOBS, job, false, false);
    kubernetes_cache_take(jobs, FOLLOW_JOBS, job, true, false);
    struct job_poll poll = {.id = "train-abc", .attempt = 1};
    assert_int_equal(kubernetes_cache_poll(jobs, arena, &poll), KUBERNETES_NOT_KNOWN);
}

static void ten_thousand_pods_take_little(void **state)
{
    (void)state;
    struct arena *scratch = arena_new();
    for (int i = 0; i < 10000; i++) {
        kubernetes_cache_take(
            jobs, FOLLOW_PODS,
            fake_json(scratch,
                      "{'metadata':{'name':'job-%05d-a1-worker-0-abcde','uid':'uid-%d','labels':{"
                      "'dlspool/job':'job-%05d','dlspool/attempt':'1','dlspool/role':'worker'}},"
                      "'status':{'phase':'Running'}}",
                      i, i, i),
            false, false);
        arena_reset(scratch);
    }
    arena_free(scratch);
    assert_int_equal(kubernetes_cache_count(jobs), 10000);
    assert_true(sizeof(struct cached_pod) + sizeof(struct cached_token) < 512);
}

#define SUM "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define IN_IMAGE(id)                                                                               \
    "'phase':'Running','containerStatuses':[{'name':'main','imageID':'" id                         \
    "','state':{'running':{'startedAt':'2026-11-21T06:31:00Z'}}}]"

static void the_image_that_runs_is_told_by_its_digest(void **state)
{
    static const char *const same[] = {
        IN_IMAGE("docker.io/library/python@sha256:" SUM), IN_IMAGE("sha256:" SUM),
        IN_IMAGE("docker-pullable://python@sha256:" SUM), IN_IMAGE("docker://sha256:" SUM)};
    (void)state;
    take_job("worker", "", "");
    take_pod("worker", 0, "", IN_IMAGE(""));
    assert_string_equal(ask().tasks[0].image, "");
    take_pod("worker", 0, "", IN_IMAGE("python@sha256:12"));
    assert_string_equal(ask().tasks[0].image, "");
    for (size_t i = 0; i < ARRAY_COUNT(same); i++) {
        take_pod("worker", 0, "", IN_IMAGE("python:3.12"));
        take_pod("worker", 0, "", same[i]);
        assert_string_equal(ask().tasks[0].image, "sha256:" SUM);
    }
    /* One that waits for its image has not run in it. */
    take_pod("worker", 0, ",'second':''",
             "'phase':'Pending','containerStatuses':[{'name':'main','imageID':'sha256:" SUM
             "','state':{'waiting':{'reason':'ContainerCreating'}}}]");
    assert_string_equal(ask().tasks[0].image, "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_job_runs_and_succeeds),
        TEST(the_image_that_runs_is_told_by_its_digest),
        TEST(a_complete_job_without_pods_has_succeeded),
        TEST(failures_are_told_apart),
        TEST(a_deadline_is_a_time_limit),
        TEST(a_lost_node_is_waited_for_a_while),
        TEST(a_lost_node_was_waited_for_before),
        TEST(a_pod_that_is_gone_is_remembered),
        TEST(those_that_had_to_go_were_not_first),
        TEST(a_replaced_pod_does_not_count),
        TEST(the_rule_decides_when_it_is_first_met),
        TEST(tasks_of_a_sweep_are_judged_each_by_itself),
        TEST(what_is_lost_is_lost_until_it_runs_again),
        TEST(one_made_in_the_same_second_takes_the_place),
        TEST(it_fails_when_too_few_are_left),
        TEST(it_is_done_when_the_others_are),
        TEST(the_time_limit_is_counted_from_the_first_start),
        TEST(the_owner_is_told_where_it_is_certain),
        TEST(a_failed_index_without_a_pod_has_ended),
        TEST(a_failure_is_that_of_the_first),
        TEST(a_cancelled_job_has_failed_once_it_is_still),
        TEST(it_says_why_it_waits_and_once),
        TEST(an_image_is_waited_for_and_then_not),
        TEST(an_image_was_waited_for_before),
        TEST(an_image_that_is_not_there_is_given_up_sooner),
        TEST(refused_pods_are_told),
        TEST(kueue_is_told),
        TEST(a_suspended_job_has_not_failed),
        TEST(late_and_double_news_are_harmless),
        TEST(a_list_replaces_what_there_was),
        TEST(deletion_takes_the_job),
        TEST(ten_thousand_pods_take_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
