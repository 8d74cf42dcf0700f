"""tests/stand-in/kubernetes/job_controller.py - Jobs become pods, and pods' ends become conditions

As pkg/controller/job does: counting by finalizers (a pod is kept until it has been counted), Indexed
and other Jobs, back-off limits, failure and success policies, deadlines, suspension, time to live.
With backoffLimitPerIndex each index rests for itself after a failure, and its last failed pod is neither
counted nor let go before the next one is there, which takes the number of failures from it.
FailureTarget or SuccessCriteriaMet is written first, in an event of its own; Failed or Complete only
when no pod of the Job is left running.
"""
import json
import time
from calendar import timegm
from collections import OrderedDict

import deletion
from kinds import JOBS, PODS
from statuses import Refusal
from store import ADDED, DELETED, condition_true, timestamp, with_condition, with_metadata

FINALIZER = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"
IGNORED = "batch.kubernetes.io/job-index-ignored-failure-count"
USER = "system:serviceaccount:kube-system:job-controller"
SLICE_SECONDS = 0.004           # that the controller takes before requests get their turn
RETRY_CREATION = 0.5            # seconds after a refused pod
LONGEST_BACKOFF = 60            # times the first: ten minutes, and ten seconds
REASONS = {
    "BackoffLimitExceeded": "Job has reached the specified backoff limit",
    "DeadlineExceeded": "Job was active longer than specified deadline",
    "FailedIndexes": "Job has failed indexes",
    "MaxFailedIndexesExceeded": "Job has exceeded the specified maximal number of failed indexes",
    "CompletionsReached": "Reached expected number of succeeded pods"}


def parse_time(text):
    return timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def parse_indexes(text):
    """`0,2-4` -> {0, 2, 3, 4}"""
    found = set()
    for part in text.split(",") if text else ():
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def format_indexes(indexes):
    runs = []
    for index in sorted(indexes):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(str(first) if first == last else
                    "%d%s%d" % (first, "," if last == first + 1 else "-", last)
                    for first, last in runs)


def pod_index(pod):
    return int((pod["metadata"].get("annotations") or {}).get(INDEX, -1))


def failures_before(pod, *kinds):
    """Of its index, as the pod was told when it was made."""
    return sum(int((pod["metadata"].get("annotations") or {}).get(kind, 0))
               for kind in kinds or (FAILURES, IGNORED))


def finished_time(pod):
    """As getFinishedTime: of its containers, or when it was no longer ready, or deleted, or made."""
    meta, status = pod["metadata"], pod["status"]
    ends = [((one.get("state") or {}).get("terminated") or {}).get("finishedAt")
            for one in status.get("containerStatuses") or ()]
    if ends and all(ends):
        return max(map(parse_time, ends))
    for one in status.get("conditions") or ():
        if one["type"] == "Ready" and one["status"] == "False" and one.get("lastTransitionTime"):
            return parse_time(one["lastTransitionTime"])
    if meta.get("deletionTimestamp"):
        return parse_time(meta["deletionTimestamp"]) - meta.get("deletionGracePeriodSeconds", 0)
    return parse_time(meta["creationTimestamp"])


class JobController:
    def __init__(self, cluster):
        self.cluster, self.store, self.loop = cluster, cluster.store, cluster.loop
        self.queue = OrderedDict()      # (namespace, name) of Jobs to look at
        self.timer = None
        self.pods = {}                  # Job's uid -> {(namespace, name)} of its pods
        self.allowed, self.refilled = 0.0, time.monotonic()
        self.budget, self.budgeted = 1.0, time.monotonic()     # of requests; below 0: in debt
        self.requests = 0               # that were sent in all
        self.not_before = {}            # Job's uid -> when it may make pods again
        self.store.tables[JOBS].listeners.add(self._job_changed)
        self.store.tables[PODS].listeners.add(self._pod_changed)

    def settings_changed(self):
        for job in self.store.all(JOBS):
            self._soon((job["metadata"]["namespace"], job["metadata"]["name"]))

    def _job_changed(self, change):
        name = change.object["metadata"]["name"]
        if change.type == DELETED:
            uid = change.object["metadata"]["uid"]
            self.not_before.pop(uid, None)
            for key in list(self.pods.get(uid, ())):
                self.loop.call_soon(self._release_named, key)
        else:
            self._soon((change.space, name))

    def _pod_changed(self, change):
        meta = change.object["metadata"]
        for owner in meta.get("ownerReferences") or ():
            if owner.get("controller") and owner["kind"] == "Job":
                uid = owner["uid"]
                if change.type == DELETED:
                    self.pods.get(uid, set()).discard((change.space, meta["name"]))
                elif change.type == ADDED:
                    self.pods.setdefault(uid, set()).add((change.space, meta["name"]))
                if self.store.get(JOBS, change.space, owner["name"]) is None:
                    if change.type != DELETED and FINALIZER in (meta.get("finalizers") or ()):
                        self.loop.call_soon(self._release_named, (change.space, meta["name"]))
                    if not self.pods.get(uid):
                        self.pods.pop(uid, None)
                else:
                    self._soon((change.space, owner["name"]))

    def _soon(self, key, delay=None):
        if delay is not None:
            self.loop.call_later(delay, self._soon, key)
            return
        self.queue[key] = True
        if self.timer is None:
            self.timer = self.loop.call_later(self.cluster.settings["sync_delay"], self._run)

    def _run(self):
        self.timer = None
        if not self.cluster.settings["controllers"]:
            self.queue.clear()
            return
        left = self._debt()
        if left > 0:
            self.timer = self.loop.call_later(left, self._run)
            return
        until = time.monotonic() + SLICE_SECONDS
        rounds = len(self.queue)
        while self.queue and rounds and time.monotonic() < until and self._debt() <= 0:
            rounds -= 1
            (space, name), _ = self.queue.popitem(last=False)
            job = self.store.get(JOBS, space, name)
            if job is not None:
                self._sync(job)
        if self.queue and self.timer is None:
            self.timer = self.loop.call_later(0.005 if rounds else
                                              self.cluster.settings["sync_delay"], self._run)

    def _debt(self):
        """Seconds until it may send another request."""
        rate, now = self.cluster.settings["controller_requests"], time.monotonic()
        if not rate:
            self.budget, self.budgeted = 1.0, now
            return 0
        self.budget = min(self.cluster.settings["controller_burst"],
                          self.budget + (now - self.budgeted) * rate)
        self.budgeted = now
        return max(0, (1 - self.budget) / rate)

    def _send(self):
        """A request of the controller's own: one look at a Job may run into debt, as its requests wait then."""
        self.requests += 1
        self.budget -= 1

    def _may_create(self):
        now, rate = time.monotonic(), self.cluster.settings["pods_per_second"]
        self.allowed = min(max(rate / 10, 1), self.allowed + (now - self.refilled) * rate)
        self.refilled = now
        if self.allowed < 1:
            return False
        self.allowed -= 1
        return True

    # ---- one Job ----

    def _release(self, pod):
        """Its end has been counted, or never will be: it may go."""
        if pod is not None and FINALIZER in (pod["metadata"].get("finalizers") or ()):
            left = [one for one in pod["metadata"]["finalizers"] if one != FINALIZER]
            self._send()
            self.store.update(PODS, with_metadata(pod, finalizers=left or None))

    def _release_named(self, key):
        self._release(self.store.get(PODS, *key))

    def _write(self, job, status):
        """The Job with a new status, if it is one."""
        if status != job.get("status"):
            self._send()
            self.store.update(JOBS, dict(job, status=status))
        meta = job["metadata"]
        return self.store.get(JOBS, meta["namespace"], meta["name"])

    def _tell(self, job, type_name, reason, message, key=None):
        self.cluster.tell(job, JOBS, type_name, reason, message, "job-controller", key)

    def _sync(self, job):
        meta, spec = job["metadata"], job["spec"]
        if spec.get("managedBy", "kubernetes.io/job-controller") != "kubernetes.io/job-controller":
            return
        pods = [pod for pod in (self.store.get(PODS, *key)
                                for key in list(self.pods.get(meta["uid"], ()))) if pod]
        if condition_true(job, "Complete", "Failed"):
            for pod in pods:
                self._release(pod)
            self._expire(job)
            return
        job = self._suspension(job)
        status = dict(job.get("status") or {})
        if not status.get("startTime") and not spec.get("suspend"):
            status["startTime"] = timestamp()
        target = self._target(job)
        reason = message = None
        if target is None:
            reason, message = self._deadline(job, status)
        counted, verdict = self._count(job, status, pods)
        if verdict and target is None and reason is None:
            reason, message = verdict
        if target is None and reason is None:
            reason, message = self._judge(job, status)
        if target is not None or reason is not None:
            self._count_delayed(job, status, counted)
        if target is None and reason is not None:
            success = reason in ("CompletionsReached", "SuccessPolicy")
            target = "SuccessCriteriaMet" if success else "FailureTarget"
            status["conditions"] = with_condition(status.get("conditions"), target, "True",
                                                  reason, message, True)
        active = [pod for pod in pods if self._active(pod)]
        if target is not None:
            for pod in active:
                self._delete_pod(job, pod, False)
            active = []
        elif not meta.get("deletionTimestamp"):
            active = self._manage(job, status, pods, active, counted["delayed"])
        self._finish_sync(job, status, active, counted, target)

    def _finish_sync(self, job, status, active, counted, target):
        meta = job["metadata"]
        pods = [pod for pod in (self.store.get(PODS, *key)
                                for key in list(self.pods.get(meta["uid"], ()))) if pod]
        terminating = [pod for pod in pods if pod["metadata"].get("deletionTimestamp")
                       and pod["status"].get("phase") not in ("Succeeded", "Failed")]
        status["ready"] = sum(1 for pod in active if condition_true(pod, "Ready"))
        status["terminating"] = len(terminating)
        status["uncountedTerminatedPods"] = {}
        if active:
            status["active"] = len(active)
        else:
            status.pop("active", None)
        if counted["failed"] or counted["plain"]:
            # Whose end is about to be counted stands there until the finalizer is gone.
            uncounted = {name: uids for name, uids in (
                ("succeeded", [pod["metadata"]["uid"] for pod in counted["plain"]]),
                ("failed", [pod["metadata"]["uid"] for pod in counted["failed"]])) if uids}
            before = dict(status, uncountedTerminatedPods=uncounted)
            for name, count in (("succeeded", len(counted["plain"])),
                                ("failed", len(counted["failed"]))):
                if count and before.get(name):
                    before[name] -= count
                    if not before[name]:
                        del before[name]
            job = self._write(job, before) or job
        for pod in counted["failed"] + counted["plain"] + counted["others"]:
            self._release(self.store.get(PODS, meta["namespace"], pod["metadata"]["name"]))
        job = self._write(job, status)
        if job is not None and target is not None and not active and not terminating \
                and not [pod for pod in pods if self._active(pod)]:
            self._finish(job, target)

    @staticmethod
    def _active(pod):
        return pod["status"].get("phase") not in ("Succeeded", "Failed") and \
            not pod["metadata"].get("deletionTimestamp")

    @staticmethod
    def _target(job):
        for one in (job.get("status") or {}).get("conditions") or ():
            if one["type"] in ("FailureTarget", "SuccessCriteriaMet") and one["status"] == "True":
                return one["type"]
        return None

    def _finish(self, job, target):
        """The last condition, with the reason of the one before it."""
        status = dict(job["status"])
        cause = next(one for one in status["conditions"] if one["type"] == target)
        last = "Complete" if target == "SuccessCriteriaMet" else "Failed"
        status["conditions"] = with_condition(status["conditions"], last, "True",
                                              cause.get("reason"), cause.get("message"), True)
        if last == "Complete":
            status["completionTime"] = timestamp()
            self._tell(job, "Normal", "Completed", "Job completed")
        else:
            self._tell(job, "Warning", cause.get("reason"), cause.get("message"))
        self._write(job, status)

    def _suspension(self, job):
        spec, status = job["spec"], dict(job.get("status") or {})
        suspended = condition_true(job, "Suspended")
        if spec.get("suspend") and not suspended:
            status["conditions"] = with_condition(status.get("conditions"), "Suspended", "True",
                                                  "JobSuspended", "Job suspended", True)
            status.pop("startTime", None)
            job = self._write(job, status)
            self._tell(job, "Normal", "Suspended", "Job suspended")
        elif suspended and not spec.get("suspend"):
            status["conditions"] = with_condition(status.get("conditions"), "Suspended", "False",
                                                  "JobResumed", "Job resumed", True)
            status["startTime"] = timestamp()
            job = self._write(job, status)
            self._tell(job, "Normal", "Resumed", "Job resumed")
        return job

    def _deadline(self, job, status):
        limit = job["spec"].get("activeDeadlineSeconds")
        if limit is None or not status.get("startTime") or job["spec"].get("suspend"):
            return None, None
        left = parse_time(status["startTime"]) + limit - time.time()
        if left <= 0:
            return "DeadlineExceeded", REASONS["DeadlineExceeded"]
        meta = job["metadata"]
        self._soon((meta["namespace"], meta["name"]), left + 0.01)
        return None, None

    def _expire(self, job):
        ttl = job["spec"].get("ttlSecondsAfterFinished")
        if ttl is None or job["metadata"].get("deletionTimestamp"):
            return
        ended = max(parse_time(one["lastTransitionTime"]) for one in job["status"]["conditions"]
                    if one["type"] in ("Complete", "Failed"))
        left = ended + ttl - time.time()
        meta = job["metadata"]
        if left > 0:
            self._soon((meta["namespace"], meta["name"]), left + 0.01)
        else:
            deletion.delete(self.cluster, JOBS, job, deletion.Options("Foreground"))

    # ---- counting ----

    def _failed_indexes(self, spec, status, pods):
        """Those that may not be tried again, with what has failed since the last look."""
        lost = parse_indexes(status.get("failedIndexes", ""))
        for pod in pods if "backoffLimitPerIndex" in spec else ():
            if self._counts_as_failed(spec, pod) and pod_index(pod) in range(spec["completions"]):
                action, _ = self._by_policy(spec, pod)
                failures = failures_before(pod, FAILURES) + (action != "Ignore")
                if action == "FailIndex" or failures > spec["backoffLimitPerIndex"]:
                    lost.add(pod_index(pod))
        return lost

    def _delayed(self, spec, pods, over):
        """The last failed pod of each index that is to have another one."""
        found = {}
        if "backoffLimitPerIndex" not in spec:
            return found
        over = over | {pod_index(pod) for pod in pods if self._active(pod)}
        for pod in pods:
            index = pod_index(pod)
            if not self._counts_as_failed(spec, pod) or index in over or \
                    index not in range(spec["completions"]):
                continue
            last = found.get(index)
            if last is None or (failures_before(last) <= failures_before(pod) and
                                finished_time(last) <= finished_time(pod)):
                found[index] = pod
        return found

    @staticmethod
    def _counts_as_failed(spec, pod):
        """Has it failed, and is yet to be counted?"""
        phase = pod["status"].get("phase")
        return FINALIZER in (pod["metadata"].get("finalizers") or ()) and (
            phase == "Failed" or phase != "Succeeded" and
            pod["metadata"].get("deletionTimestamp") and
            spec["podReplacementPolicy"] == "TerminatingOrFailed")

    def _count(self, job, status, pods):
        """Take pods that have ended into the status.  Whom it took, and what follows from it."""
        spec = job["spec"]
        indexed = spec["completionMode"] == "Indexed"
        counted = {"plain": [], "failed": [], "others": [], "delayed": {}}
        done = parse_indexes(status.get("completedIndexes", ""))
        verdict = None
        for pod in sorted(pods, key=lambda one: one["metadata"]["name"]):
            if FINALIZER not in (pod["metadata"].get("finalizers") or ()) or \
                    pod["status"].get("phase") != "Succeeded":
                continue
            if not indexed:
                counted["plain"].append(pod)
                status["succeeded"] = status.get("succeeded", 0) + 1
            else:
                counted["others"].append(pod)
                if pod_index(pod) not in done and 0 <= pod_index(pod) < spec["completions"]:
                    done.add(pod_index(pod))
        lost = self._failed_indexes(spec, status, pods)
        counted["delayed"] = self._delayed(spec, pods, done | lost)
        for pod in sorted(pods, key=lambda one: one["metadata"]["name"]):
            if not self._counts_as_failed(spec, pod):
                continue
            action, words = self._by_policy(spec, pod)
            if action == "FailJob":
                verdict = verdict or ("PodFailurePolicy", words)
            if counted["delayed"].get(pod_index(pod)) is not pod:
                self._count_failed(spec, status, counted, pod)
        if indexed:
            if done:
                status["completedIndexes"], status["succeeded"] = format_indexes(done), len(done)
            if lost or "backoffLimitPerIndex" in spec:
                status["failedIndexes"] = format_indexes(lost)
        # Indexes that fail for themselves hold up nobody else.
        if counted["failed"] and "backoffLimitPerIndex" not in spec:
            limit = self.cluster.settings["job_backoff"]
            self.not_before[job["metadata"]["uid"]] = time.monotonic() + limit * \
                2 ** min(status.get("failed", 1) - 1, 6)
        return counted, verdict

    def _count_failed(self, spec, status, counted, pod):
        if self._by_policy(spec, pod)[0] == "Ignore":
            counted["others"].append(pod)
        else:
            counted["failed"].append(pod)
            status["failed"] = status.get("failed", 0) + 1

    def _count_delayed(self, job, status, counted):
        """There will be no other pod of its index, as the Job has ended."""
        for pod in counted["delayed"].values():
            self._count_failed(job["spec"], status, counted, pod)
        counted["delayed"] = {}

    def _rest(self, pod):
        """For how many seconds its index is to have no other pod yet."""
        first = self.cluster.settings["job_backoff"]
        rest = min(first * 2 ** min(failures_before(pod), 30), first * LONGEST_BACKOFF)
        return max(rest - (time.time() - finished_time(pod)), 0)

    @staticmethod
    def _by_policy(spec, pod):
        """The action of the first rule that fits, and the sentence for FailJob."""
        meta = pod["metadata"]
        where = "%s/%s" % (meta["namespace"], meta["name"])
        for at, rule in enumerate((spec.get("podFailurePolicy") or {}).get("rules") or ()):
            codes = rule.get("onExitCodes")
            for one in pod["status"].get("containerStatuses") or () if codes else ():
                ended = (one.get("state") or {}).get("terminated")
                if not ended or not ended["exitCode"] or \
                        codes.get("containerName") not in (None, one["name"]):
                    continue
                if (ended["exitCode"] in codes["values"]) == (codes["operator"] == "In"):
                    return rule["action"], ("Container %s for pod %s failed with exit code %d "
                                            "matching %s rule at index %d"
                                            % (one["name"], where, ended["exitCode"],
                                               rule["action"], at))
            for pattern in rule.get("onPodConditions") or ():
                if any(one["type"] == pattern["type"] and one["status"] == pattern["status"]
                       for one in pod["status"].get("conditions") or ()):
                    return rule["action"], ("Pod %s has condition %s matching %s rule at index %d"
                                            % (where, pattern["type"], rule["action"], at))
        return "Count", None

    def _judge(self, job, status):
        """Has it succeeded, or failed?"""
        spec = job["spec"]
        completions, succeeded = spec.get("completions"), status.get("succeeded", 0)
        lost = parse_indexes(status.get("failedIndexes", ""))
        if "maxFailedIndexes" in spec and len(lost) > spec["maxFailedIndexes"]:
            return "MaxFailedIndexesExceeded", REASONS["MaxFailedIndexesExceeded"]
        if status.get("failed", 0) > spec["backoffLimit"]:
            return "BackoffLimitExceeded", REASONS["BackoffLimitExceeded"]
        done = parse_indexes(status.get("completedIndexes", ""))
        for at, rule in enumerate((spec.get("successPolicy") or {}).get("rules") or ()):
            wanted = parse_indexes(rule["succeededIndexes"]) if rule.get("succeededIndexes") \
                else None
            fitting = done if wanted is None else done & wanted
            needed = rule.get("succeededCount", len(wanted) if wanted else None)
            if needed is not None and len(fitting) >= needed and fitting:
                return "SuccessPolicy", "Matched rules at index %d" % at
        if completions is None:
            active = [key for key in self.pods.get(job["metadata"]["uid"], ())
                      if (self.store.get(PODS, *key) or {"status": {}})["status"].get("phase")
                      not in ("Succeeded", "Failed")]
            if succeeded and not active:
                return "CompletionsReached", REASONS["CompletionsReached"]
        elif succeeded >= completions and not spec.get("suspend"):
            return "CompletionsReached", REASONS["CompletionsReached"]
        elif lost and len(done | lost) >= completions:
            return "FailedIndexes", REASONS["FailedIndexes"]
        return None, None

    # ---- making and deleting pods ----

    def _delete_pod(self, job, pod, uncounted):
        """`uncounted`: this end is our own wish, and counts as no failure."""
        if uncounted:
            self._release(pod)
            pod = self.store.get(PODS, pod["metadata"]["namespace"], pod["metadata"]["name"])
        if pod is not None:
            self._send()
            deletion.delete(self.cluster, PODS, pod, deletion.Options("Background"))
            self._tell(job, "Normal", "SuccessfulDelete",
                       "Deleted pod: " + pod["metadata"]["name"])

    def _manage(self, job, status, pods, active, delayed):
        """As many pods as there should be; those that are active afterwards."""
        spec, meta = job["spec"], job["metadata"]
        wanted = 0 if spec.get("suspend") else spec["parallelism"]
        indexed = spec["completionMode"] == "Indexed"
        if spec.get("completions") is not None:
            over = status.get("succeeded", 0) + len(parse_indexes(status.get("failedIndexes", "")))
            wanted = min(wanted, max(spec["completions"] - over, 0))
        elif status.get("succeeded"):
            wanted = min(wanted, len(active))
        for pod in sorted(active, key=lambda one: -pod_index(one))[:max(len(active) - wanted, 0)]:
            self._delete_pod(job, pod, True)
            active = [one for one in active if one is not pod]
        waiting = [pod for pod in pods if pod["metadata"].get("deletionTimestamp")
                   and pod["status"].get("phase") not in ("Succeeded", "Failed")] \
            if spec["podReplacementPolicy"] == "Failed" else []
        missing = wanted - len(active) - len(waiting)
        if missing <= 0:
            return active
        left = self.not_before.get(meta["uid"], 0) - time.monotonic()
        if left > 0:
            self._soon((meta["namespace"], meta["name"]), left + 0.01)
            return active
        indexes = [-1] * missing
        if indexed:
            taken = {pod_index(pod) for pod in active + waiting}
            taken |= parse_indexes(status.get("completedIndexes", ""))
            taken |= parse_indexes(status.get("failedIndexes", ""))
            indexes = [at for at in range(spec["completions"]) if at not in taken][:missing]
            rests = {at: self._rest(delayed[at]) for at in indexes if at in delayed}
            indexes = [at for at in indexes if not rests.get(at)]
            if rests and not indexes:   # (and now and then, as the setting may be changed meanwhile)
                self._soon((meta["namespace"], meta["name"]), min(1, *rests.values()) + 0.01)
        for index in indexes:
            if not self._may_create():
                self._soon((meta["namespace"], meta["name"]),
                           1 / max(self.cluster.settings["pods_per_second"], 0.1))
                break
            pod = self._make_pod(job, index, delayed.get(index))
            if pod is None:
                self._soon((meta["namespace"], meta["name"]), RETRY_CREATION)
                break
            active = active + [pod]
        return active

    def _make_pod(self, job, index, before):
        """`before`: the failed one in whose place it is; or None."""
        meta, template = job["metadata"], json.loads(json.dumps(job["spec"]["template"]))
        pod_meta, spec = template.get("metadata") or {}, template["spec"]
        middle = "-" if index < 0 else "-%d-" % index
        pod_meta["generateName"] = (meta["name"] + middle if len(meta["name"] + middle) <= 58
                                    else meta["name"][:58 - len(middle)] + middle)
        pod_meta.update(namespace=meta["namespace"], finalizers=[FINALIZER], ownerReferences=[
            {"apiVersion": "batch/v1", "kind": "Job", "name": meta["name"], "uid": meta["uid"],
             "controller": True, "blockOwnerDeletion": True}])
        if index >= 0:
            pod_meta.setdefault("labels", {})[INDEX] = str(index)
            pod_meta.setdefault("annotations", {})[INDEX] = str(index)
            if "backoffLimitPerIndex" in job["spec"]:
                ignored = before and self._by_policy(job["spec"], before)[0] == "Ignore"
                for kind, one_more in ((FAILURES, before and not ignored), (IGNORED, ignored)):
                    number = (failures_before(before, kind) if before else 0) + bool(one_more)
                    if number or kind == FAILURES:
                        pod_meta["annotations"][kind] = str(number)
            spec.setdefault("hostname", "%s-%d" % (meta["name"], index))
            for container in spec["containers"] + (spec.get("initContainers") or []):
                env = container.setdefault("env", [])
                if not any(one["name"] == "JOB_COMPLETION_INDEX" for one in env):
                    env.append({"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {
                        "apiVersion": "v1", "fieldPath": "metadata.labels['%s']" % INDEX}}})
        item = {"metadata": pod_meta, "spec": spec}
        self._send()
        try:
            entry = self.cluster.api.admit(PODS, item, USER)
        except Refusal as refusal:
            self._tell(job, "Warning", "FailedCreate", "Error creating: " + refusal.message.replace(
                pod_meta.get("name", ""), pod_meta["generateName"], 1)
                if pod_meta.get("name") else "Error creating: " + refusal.message,
                meta["name"][:200] + ".failedcreate")
            return None
        self._tell(job, "Normal", "SuccessfulCreate",
                   "Created pod: " + entry.object["metadata"]["name"])
        return entry.object
