"""tests/stand-in/kubernetes/kubelet.py - where pods run, what they do there and how they end

What a pod does is its fate: the first that fits of

  the order `fate` (newest first), the annotation stand-in/fate of the pod, the variable
  STAND_IN_FATE of its first container (both JSON), and nothing: it prints a line and succeeds.

A fate's words (all optional):

  seconds=S           that it runs (-1: for ever); default the setting run_seconds
  exit_code=N         how it ends (0); message: its termination message
  output=TEXT         what it prints, at once; rate=BYTES: so many a second of it, again and again
  oom=true            137, OOMKilled
  start_error=TEXT    128, StartError: it never runs
  image_error=TEXT    ErrImagePull and ImagePullBackOff by turns, until another fate says otherwise
  unschedulable=TEXT  no node suits it, with the scheduler's sentence
  term=CODE           its exit code after SIGTERM (143); term_seconds=S: that it takes (0.02); more
                      than its grace: SIGKILL, 137; term_output=TEXT: what it prints then, last
  evict=TEXT          evicted by the kubelet when its time is over
  stuck=true          ContainerCreating for ever

The scheduler looks at requests of CPU, memory and all else that nodes have, selectors, taints and
`unschedulable`; messages are those of the real one.  ConfigMaps and Secrets that are missing keep a
pod waiting.  With the setting really_run, a pod without a fate is really run: see reality.py.  Not
there: affinity, probes, networks.
"""
import json
import re
import signal
import time
from collections import deque

import deletion
import quota
import reality
import resizing
from network import Network
from kinds import CONFIG_MAPS, NODES, PODS, SECRETS
from schema import quantity
from statuses import Refusal, bad_request
from store import ADDED, DELETED, timestamp, with_condition
from wire import Answer, encode_head

OVER = ("Succeeded", "Failed")
RETRY = 0.2                     # seconds between looks at what is missing
HISTORY_MAX = 200000


class Run:
    """A pod on its node: timers, output, and how far it is."""

    def __init__(self, key, uid):
        self.key, self.uid = key, uid
        self.fate = {}
        self.timers = []
        self.lines = []                 # (time, bytes)
        self.size = 0
        self.followers = set()
        self.started = self.ended = False
        self.node = None
        self.needs = {}
        self.resources = None           # what its containers have, by name, once they run
        self.dying = False
        self.restarts = 0
        self.record = None
        self.process = None             # when it is really run
        self.partial = b""              # of its output: a line that has not ended yet

    def stop(self):
        for timer in self.timers:
            timer.cancel()
        self.timers.clear()


class Kubelet:
    def __init__(self, cluster):
        self.cluster, self.store, self.loop = cluster, cluster.store, cluster.loop
        self.settings = cluster.settings
        self.runs = {}                  # pod's uid -> Run
        self.waiting = {}               # pod's key -> the last sentence of the scheduler
        self.todo = deque()
        self.timer = None
        self.used = {}                  # node -> {resource: amount}
        self.fates = []
        self.lost = set()               # nodes
        self.network = Network()
        self.resizing = resizing.Resizing(self)
        self.history = []               # every container that ever began
        self.store.tables[PODS].listeners.add(self._pod_changed)
        self.store.tables[NODES].listeners.add(lambda change: self.try_again())

    # ---- changes, and work put off ----

    def _pod_changed(self, change):
        pod = change.object
        key = (change.space, pod["metadata"]["name"])
        if change.type == ADDED:
            if self.settings["controllers"]:
                self._later(self.settings["schedule_delay"], self._begin, key)
        elif change.type == DELETED:
            self.waiting.pop(key, None)
            run = self.runs.pop(pod["metadata"]["uid"], None)
            if run:
                run.stop()
                self._end_output(run)
                self._free(run)
                if run.process:
                    run.process.clean()
        elif pod["metadata"].get("deletionTimestamp"):
            if not pod["spec"].get("nodeName") and pod["status"].get("phase") not in OVER:
                self.loop.call_later(self.settings["pod_gc"], self._collect, key)
            run = self.runs.get(pod["metadata"]["uid"])
            if run and not run.dying and not run.ended and run.node not in self.lost:
                run.dying = True
                self.loop.call_soon(self._terminate, run)
        elif pod["metadata"]["uid"] in self.runs:
            self.resizing.changed(self.runs[pod["metadata"]["uid"]], pod)

    def _collect(self, key):
        """Nobody runs a pod that was deleted before any node had it: the pod garbage collector of the
        controller manager fails it, and its Job counts it and lets it go."""
        pod = self.store.get(PODS, *key)
        if pod is None or pod["spec"].get("nodeName") or pod["status"].get("phase") in OVER \
                or not pod["metadata"].get("deletionTimestamp"):
            return
        pod = self._status(pod, phase="Failed")
        if pod is not None:
            deletion.delete(self.cluster, PODS, pod, deletion.Options("Background", 0))

    def _later(self, delay, what, *arguments):
        """One timer serves all that waits equally long."""
        self.todo.append((what, arguments))
        if self.timer is None:
            self.timer = self.loop.call_later(delay, self._work)

    def _work(self):
        self.timer = None
        until = time.monotonic() + 0.004
        while self.todo and time.monotonic() < until:
            what, arguments = self.todo.popleft()
            what(*arguments)
        if self.todo:
            self.timer = self.loop.call_later(0.004, self._work)

    def _after(self, run, seconds, what, *arguments):
        run.timers = [timer for timer in run.timers if not timer.cancelled()
                      and timer.when() > self.loop.time()]
        run.timers.append(self.loop.call_later(seconds, what, *arguments))

    def _pod(self, run):
        pod = self.store.get(PODS, *run.key)
        return pod if pod and pod["metadata"]["uid"] == run.uid else None

    def _tell(self, pod, type_name, reason, message, component="kubelet", key=None):
        self.cluster.tell(pod, PODS, type_name, reason, message, component, key)

    def _status(self, pod, **changes):
        status = dict(pod["status"])
        for name, value in changes.items():
            if value is None:
                status.pop(name, None)
            else:
                status[name] = value
        self.store.update(PODS, dict(pod, status=status))
        meta = pod["metadata"]
        return self.store.get(PODS, meta["namespace"], meta["name"])

    # ---- fates ----

    def add_fate(self, order):
        fate = {key: value for key, value in order.items() if key != "order"}
        fate["pattern"] = re.compile(fate.get("pattern", ""))
        fate.setdefault("count", 0)
        fate["left"] = fate["count"]
        self.fates.insert(0, fate)
        self.try_again()

    def _fate(self, pod):
        where = "%s/%s" % (pod["metadata"]["namespace"], pod["metadata"]["name"])
        for fate in self.fates:
            if fate["pattern"].search(where) and (not fate["count"] or fate["left"] > 0):
                fate["left"] -= 1
                return fate
        text = (pod["metadata"].get("annotations") or {}).get("stand-in/fate")
        for one in pod["spec"]["containers"][0].get("env") or () if not text else ():
            if one["name"] == "STAND_IN_FATE":
                text = one.get("value")
        return json.loads(text) if text else {}

    # ---- the scheduler ----

    def try_again(self):
        for key in list(self.waiting):
            self._later(self.settings["schedule_delay"], self._begin, key)

    def _begin(self, key):
        pod = self.store.get(PODS, *key)
        if pod is None or pod["spec"].get("nodeName") or pod["spec"].get("schedulingGates") or \
                pod["metadata"].get("deletionTimestamp") or pod["status"].get("phase") != "Pending":
            self.waiting.pop(key, None)
            return
        if pod["spec"]["schedulerName"] not in ("default-scheduler", "volcano"):
            return
        fate = self._fate(pod)
        needs = dict(quota.pod_needs(pod["spec"]), pods=1)
        node, words = self._choose(pod, needs)
        if fate.get("unschedulable"):
            node, words = None, fate["unschedulable"]
        if node is None:
            self._unschedulable(key, pod, words)
            return
        self.waiting.pop(key, None)
        run = self.runs[pod["metadata"]["uid"]] = Run(key, pod["metadata"]["uid"])
        run.fate, run.node, run.needs = fate, node, needs
        used = self.used.setdefault(node, {})
        for name, amount in needs.items():
            used[name] = used.get(name, 0) + amount
        conditions = with_condition(pod["status"].get("conditions"), "PodScheduled", "True")
        self.store.update(PODS, dict(pod, spec=dict(pod["spec"], nodeName=node),
                                     status=dict(pod["status"], conditions=conditions)))
        self._tell(pod, "Normal", "Scheduled", "Successfully assigned %s/%s to %s"
                   % (key[0], key[1], node), "default-scheduler")
        self._after(run, self.settings["start_delay"], self._create, run)

    def _unschedulable(self, key, pod, words):
        if self.waiting.get(key) == words:
            return
        self.waiting[key] = words
        pod = self._status(pod, conditions=with_condition(
            pod["status"].get("conditions"), "PodScheduled", "False", "Unschedulable", words))
        self._tell(pod, "Warning", "FailedScheduling", words, "default-scheduler",
                   key[1][:220] + ".failedscheduling")

    def _choose(self, pod, needs):
        """A node's name, or None and the sentence that says why none will do."""
        nodes = self.store.all(NODES)
        why = {}
        for node in sorted(nodes, key=lambda one: one["metadata"]["name"]):
            reasons = self._reasons(pod, node, needs)
            if not reasons:
                return node["metadata"]["name"], None
            for reason in reasons:
                why[reason] = why.get(reason, 0) + 1
        if not nodes:
            return None, "no nodes available to schedule pods"
        head = "0/%d nodes are available: " % len(nodes)
        text = ", ".join(sorted("%d %s" % (count, reason) for reason, count in why.items()))
        lacking = any(reason.startswith("Insufficient") or reason == "Too many pods"
                      for reason in why)
        tail = "%d %s" % (len(nodes), "No preemption victims found for incoming pod"
                          if lacking else "Preemption is not helpful for scheduling")
        return None, "%s%s. preemption: %s%s." % (head, text, head, tail)

    def _reasons(self, pod, node, needs):
        name, spec = node["metadata"]["name"], pod["spec"]
        if node["spec"].get("unschedulable"):
            return ["node(s) were unschedulable"]
        for taint in node["spec"].get("taints") or ():
            if taint["effect"] != "PreferNoSchedule" and not any(
                    _tolerates(one, taint) for one in spec.get("tolerations") or ()):
                return ["node(s) had untolerated taint {%s: %s}"
                        % (taint["key"], taint.get("value", ""))]
        labels = node["metadata"].get("labels") or {}
        if any(labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
            return ["node(s) didn't match Pod's node affinity/selector"]
        used, found = self.used.get(name, {}), []
        for resource, amount in needs.items():
            room = quantity(node["status"]["allocatable"].get(resource, 0))
            if amount and used.get(resource, 0) + amount > room:
                found.append("Too many pods" if resource == "pods" else "Insufficient " + resource)
        return found

    def _free(self, run):
        used = self.used.get(run.node, {})
        for name, amount in run.needs.items():
            used[name] = used.get(name, 0) - amount
        run.needs = {}
        if self.waiting:
            self.try_again()

    # ---- the kubelet ----

    def _statuses(self, pod, run, state, ready=False):
        """The status of every container: the first has that state, the others follow it."""
        found = []
        for container in pod["spec"]["containers"]:
            one = {"name": container["name"], "state": state, "lastState": {}, "ready": ready,
                   "restartCount": run.restarts, "image": container.get("image", ""),
                   "imageID": "", "started": "running" in state}
            if "running" in state and run.resources is not None:
                one["resources"] = run.resources.get(container["name"], {})
            if "running" in state or "terminated" in state:
                one["imageID"] = "docker.io/library/image@sha256:" + run.uid.replace("-", "") * 2
                one["containerID"] = "containerd://" + run.uid.replace("-", "") * 2
            found.append(one)
        return found

    def _ready_conditions(self, pod, ready, reason=""):
        conditions = pod["status"].get("conditions")
        value = "True" if ready else "False"
        message = "" if ready or reason == "PodCompleted" else \
            "containers with unready status: [%s]" % " ".join(
                one["name"] for one in pod["spec"]["containers"])
        conditions = with_condition(conditions, "PodReadyToStartContainers",
                                    "True" if ready else "False")
        conditions = with_condition(conditions, "Initialized", "True", "PodCompleted"
                                    if reason == "PodCompleted" else "")
        for name in ("Ready", "ContainersReady"):
            conditions = with_condition(conditions, name, value, reason, message)
        return conditions

    def _wait(self, run, pod, reason, message=""):
        """Pending, with every container waiting for that."""
        state = {"waiting": {"reason": reason}}
        if message:
            state["waiting"]["message"] = message
        statuses = self._statuses(pod, run, state)
        if pod["status"].get("containerStatuses") == statuses:
            return pod
        return self._status(pod, phase="Pending", hostIP="192.0.2.10",
                            startTime=pod["status"].get("startTime") or timestamp(),
                            containerStatuses=statuses, conditions=self._ready_conditions(
                                pod, False, "ContainersNotReady"))

    def _create(self, run):
        """Volumes, images; then the container runs."""
        pod = self._pod(run)
        if pod is None or run.dying or run.node in self.lost:
            return
        pod = self._wait(run, pod, "ContainerCreating")
        missing, config = self._missing(pod)
        if missing:
            if config:
                pod = self._wait(run, pod, "CreateContainerConfigError", missing)
                self._tell(pod, "Warning", "Failed", "Error: " + missing, "kubelet",
                           run.key[1][:220] + ".failed")
            else:
                self._tell(pod, "Warning", "FailedMount", missing, "kubelet",
                           run.key[1][:220] + ".failedmount")
            self._after(run, RETRY, self._create, run)
            return
        if run.fate.get("stuck"):
            return
        if run.fate.get("image_error"):
            self._pull_fails(run, True)
            return
        image = pod["spec"]["containers"][0].get("image", "")
        self._tell(pod, "Normal", "Pulled", 'Container image "%s" already present on machine and '
                   'can be accessed by the pod' % image)
        if run.fate.get("start_error"):
            self._tell(pod, "Warning", "Failed", "Error: " + run.fate["start_error"])
            self._finish(run, 128, "StartError", run.fate["start_error"])
            return
        self._start(run, pod)

    def _missing(self, pod):
        """(sentence, whether it is an environment's) of the first object that is not there."""
        space = pod["metadata"]["namespace"]
        for volume in pod["spec"].get("volumes") or ():
            sources = [volume] + [one for one in (volume.get("projected") or {}).get("sources")
                                  or ()]
            for source in sources:
                for which, kind, field in (("configMap", CONFIG_MAPS, "name"),
                                           ("secret", SECRETS, "secretName")):
                    wanted = source.get(which)
                    name = wanted and (wanted.get(field) or wanted.get("name"))
                    if name and not wanted.get("optional") and \
                            self.store.entry(kind, space, name) is None:
                        return 'MountVolume.SetUp failed for volume "%s" : %s "%s" not found' % (
                            volume["name"], which.lower(), name), False
        for container in pod["spec"]["containers"]:
            wanted = [one.get("valueFrom") or {} for one in container.get("env") or ()]
            wanted += container.get("envFrom") or []
            for source in wanted:
                for field, kind in (("configMapKeyRef", CONFIG_MAPS), ("secretKeyRef", SECRETS),
                                    ("configMapRef", CONFIG_MAPS), ("secretRef", SECRETS)):
                    one = source.get(field)
                    if not one or one.get("optional"):
                        continue
                    found = self.store.get(kind, space, one.get("name", ""))
                    if found is None:
                        return '%s "%s" not found' % (kind.singular, one.get("name")), True
                    if "key" in one and one["key"] not in (found.get("data") or {}):
                        return "couldn't find key %s in %s %s/%s" % (
                            one["key"], kind.kind, space, one["name"]), True
        return None, False

    def _pull_fails(self, run, first):
        pod = self._pod(run)
        if pod is None or run.dying or run.node in self.lost:
            return
        run.fate = self._fate(pod) if not first else run.fate
        if not run.fate.get("image_error"):
            self._create(run)
            return
        image = pod["spec"]["containers"][0].get("image", "")
        words = run.fate["image_error"]
        if words is True:
            words = ('failed to pull and unpack image "%s": failed to resolve reference "%s": '
                     'pull access denied, repository does not exist or may require authorization'
                     % (image, image))
        if first or run.restarts == 0 and "ErrImagePull" not in json.dumps(
                pod["status"].get("containerStatuses")):
            pod = self._wait(run, pod, "ErrImagePull", words)
            self._tell(pod, "Normal", "Pulling", 'Pulling image "%s"' % image, "kubelet",
                       run.key[1][:220] + ".pulling")
            self._tell(pod, "Warning", "Failed", 'Failed to pull image "%s": %s' % (image, words),
                       "kubelet", run.key[1][:220] + ".failed")
        else:
            pod = self._wait(run, pod, "ImagePullBackOff",
                             'Back-off pulling image "%s": ErrImagePull: %s' % (image, words))
            self._tell(pod, "Normal", "BackOff", 'Back-off pulling image "%s"' % image, "kubelet",
                       run.key[1][:220] + ".backoff")
        self._after(run, self.settings["pull_retry"], self._pull_fails, run, False)

    def _start(self, run, pod):
        fate = run.fate
        really = self.settings["really_run"] and not fate
        if really:
            try:
                run.process = reality.Process(self, run, pod, self.settings["really_run"])
            except (reality.Unready, OSError) as trouble:
                self._tell(pod, "Warning", "FailedMount", str(trouble), "kubelet",
                           run.key[1][:220] + ".failedmount")
                self._after(run, RETRY, self._create, run)
                return
        run.started = True
        if resizing.served(self.cluster.api.version):
            run.resources = {one["name"]: one.get("resources") or {}
                             for one in pod["spec"]["containers"]}
        now = time.time()
        meta = pod["metadata"]
        run.record = {"namespace": run.key[0], "name": run.key[1], "uid": run.uid, "time": now,
                      "node": run.node, "labels": meta.get("labels") or {},
                      "job": next((one["name"] for one in meta.get("ownerReferences") or ()
                                   if one["kind"] == "Job"), None),
                      "exit_code": None, "ended": None}
        if len(self.history) < HISTORY_MAX:
            self.history.append(run.record)
        if not really:
            self._print(run, fate.get("output", "%s says hello\n" % meta["name"]).encode())
        address = run.process.address if really else \
            "10.244.%d.%d" % (len(self.history) >> 8 & 255, len(self.history) & 255)
        pod = self._status(
            pod, phase="Running", podIP=address, podIPs=[{"ip": address}],
            containerStatuses=self._statuses(
                pod, run, {"running": {"startedAt": timestamp(now)}}, True),
            conditions=self._ready_conditions(pod, True))
        name = pod["spec"]["containers"][0]["name"]
        self._tell(pod, "Normal", "Created", "Container created: " + name)
        self._tell(pod, "Normal", "Started", "Container started")
        if fate.get("rate"):
            self._after(run, 0.05, self._print_more, run)
        seconds = fate.get("seconds", self.settings["run_seconds"])
        if seconds >= 0 and not really:
            self._after(run, seconds, self._run_out, run)
        deadline = pod["spec"].get("activeDeadlineSeconds")
        if deadline:
            self._after(run, deadline, self._past_deadline, run)

    def _run_out(self, run):
        fate = run.fate
        if fate.get("evict"):
            self._evict(run, fate["evict"])
        elif fate.get("oom"):
            self._finish(run, 137, "OOMKilled")
        else:
            self._finish(run, fate.get("exit_code", 0), None, fate.get("message", ""))

    def _past_deadline(self, run):
        if run.process:
            run.process.kill(signal.SIGKILL)
        self._finish(run, 137, None, "", reason="DeadlineExceeded",
                     words="Pod was active on the node longer than the specified deadline")

    def _finish(self, run, code, reason=None, message="", /, **pod_changes):
        """The container has ended, and with it the pod, unless it is to be started again."""
        pod = self._pod(run)
        if pod is None or run.ended or run.node in self.lost:
            return
        now = time.time()
        state = {"exitCode": code, "reason": reason or ("Completed" if not code else "Error"),
                 "finishedAt": timestamp(now)}
        if run.record:
            state["startedAt"] = timestamp(run.record["time"])
            run.record.update(exit_code=code, ended=now)
        else:
            state["startedAt"] = "1970-01-01T00:00:00Z"
        if message:
            state["message"] = message
        if code and pod["spec"]["restartPolicy"] == "OnFailure" and not run.dying \
                and not pod_changes:
            self._restart(run, pod, state)
            return
        run.ended = True
        run.stop()
        statuses = self._statuses(pod, run, {"terminated": state})
        conditions = self._ready_conditions(pod, False, "PodCompleted" if not code else "PodFailed")
        changes = {}
        if "reason" in pod_changes:
            changes.update(reason=pod_changes["reason"], message=pod_changes["words"])
        if "disruption" in pod_changes:
            conditions = with_condition(conditions, "DisruptionTarget", "True",
                                        pod_changes["disruption"], pod_changes["words"])
        pod = self._status(pod, phase="Failed" if code else "Succeeded", conditions=conditions,
                           containerStatuses=statuses, **changes)
        self._end_output(run)
        self._free(run)
        if pod and pod["metadata"].get("deletionTimestamp"):
            self._gone(run)

    def _restart(self, run, pod, state):
        run.restarts += 1
        statuses = self._statuses(pod, run, {"waiting": {
            "reason": "CrashLoopBackOff", "message": "back-off 10s restarting failed container=%s "
            "pod=%s" % (pod["spec"]["containers"][0]["name"], run.key[1])}})
        for one in statuses:
            one["lastState"] = {"terminated": state}
        self._status(pod, containerStatuses=statuses,
                     conditions=self._ready_conditions(pod, False, "ContainersNotReady"))
        self._tell(pod, "Warning", "BackOff", "Back-off restarting failed container", "kubelet",
                   run.key[1][:220] + ".backoff")
        run.timers.clear()
        self._after(run, RETRY, self._start_again, run)

    def _start_again(self, run):
        pod = self._pod(run)
        if pod is not None and not run.dying:
            run.fate = self._fate(pod)
            self._start(run, pod)

    # ---- the end of pods ----

    def _terminate(self, run):
        """SIGTERM; SIGKILL when the grace is over."""
        pod = self._pod(run)
        if pod is None or run.ended:
            return
        run.stop()
        grace = pod["metadata"].get("deletionGracePeriodSeconds", 0) * self.settings["grace_scale"]
        if not run.started:
            self._finish(run, 137, "ContainerStatusUnknown", "The container could not be located "
                         "when the pod was terminated")
            return
        self._tell(pod, "Normal", "Killing", "Stopping container "
                   + pod["spec"]["containers"][0]["name"])
        if run.process:
            run.process.kill(signal.SIGTERM)
            self._after(run, grace, run.process.kill, signal.SIGKILL, True)
            return
        seconds = run.fate.get("term_seconds", 0.02)
        code = run.fate.get("term", 143)
        self._after(run, min(seconds, grace), self._end_by_term, run,
                    code if seconds <= grace else 137)

    def _end_by_term(self, run, code):
        self._print(run, run.fate.get("term_output", "").encode())
        self._finish(run, code)

    def _gone(self, run):
        """A pod that was deleted and has ended leaves the API."""
        pod = self._pod(run)
        if pod is not None:
            deletion.delete(self.cluster, PODS, pod, deletion.Options("Background", 0))

    def _evict(self, run, words):
        if words is True:
            words = ("The node was low on resource: memory. Threshold quantity: 100Mi, available: "
                     "50Mi. Container main was using 900Mi, request is 0, has larger consumption "
                     "of memory. ")
        pod = self._pod(run)
        if pod is not None:
            self._tell(pod, "Warning", "Evicted", words)
        self._finish(run, 137, None, "", reason="Evicted", words=words,
                     disruption="TerminationByKubelet")

    def _disrupt(self, pod, reason, words):
        """Mark a pod that somebody else ends, and delete it."""
        pod = self._status(pod, conditions=with_condition(
            pod["status"].get("conditions"), "DisruptionTarget", "True", reason, words))
        if pod is not None:
            deletion.delete(self.cluster, PODS, pod, deletion.Options("Background"))

    def evict_by_api(self, pod):
        self._disrupt(pod, "EvictionByEvictionAPI", "Eviction API: evicting")

    def command(self, space, name, action, order):
        """An order for one pod, whose name may be the beginning of it."""
        found = [pod for pod in self.store.all(PODS, space)
                 if pod["metadata"]["name"].startswith(name)]
        if not found:
            raise ValueError("no such pod: %s/%s" % (space, name))
        for pod in found:
            run = self.runs.get(pod["metadata"]["uid"])
            if action == "preempt":
                self._disrupt(pod, "PreemptionByScheduler", "default-scheduler: preempting to "
                              "accommodate a higher priority pod")
            elif run is None:
                raise ValueError("%s is on no node" % pod["metadata"]["name"])
            elif action == "evict":
                self._evict(run, order.get("message", True))
            elif action == "finish":
                self._finish(run, order.get("exit_code", 0))
            elif action == "oom":
                self._finish(run, 137, "OOMKilled")
            elif action == "print":
                self._print(run, order["output"].encode())
            else:
                raise ValueError("no such action: %s" % action)

    def cordon_node(self, name, cordoned):
        """What kubectl cordon or uncordon sets, and the taint that the node lifecycle controller makes of it."""
        node = self.store.get(NODES, "", name)
        spec = {key: value for key, value in node["spec"].items() if key != "unschedulable"}
        taints = [one for one in spec.pop("taints", ())
                  if one["key"] != "node.kubernetes.io/unschedulable"]
        if cordoned:
            spec["unschedulable"] = True
            taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule",
                           "timeAdded": timestamp()})
        if taints:
            spec["taints"] = taints
        self.store.update(NODES, dict(node, spec=spec))

    def lose_node(self, name):
        """The node is not heard of any more; its pods are deleted, and stay until it is back."""
        self.lost.add(name)
        node = self.store.get(NODES, "", name)
        taints = [one for one in node["spec"].get("taints") or ()
                  if one["key"] != "node.kubernetes.io/unreachable"]
        taints += [{"key": "node.kubernetes.io/unreachable", "effect": effect,
                    "timeAdded": timestamp()} for effect in ("NoSchedule", "NoExecute")]
        conditions = node["status"]["conditions"]
        for kind in ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure"):
            conditions = with_condition(conditions, kind, "Unknown", "NodeStatusUnknown",
                                        "Kubelet stopped posting node status.")
        self.store.update(NODES, dict(node, spec=dict(node["spec"], taints=taints),
                                      status=dict(node["status"], conditions=conditions)))
        for pod in self.store.all(PODS):
            if pod["spec"].get("nodeName") == name and pod["status"].get("phase") not in OVER:
                self._status(pod, conditions=with_condition(pod["status"].get("conditions"),
                                                            "Ready", "False"))
        self.loop.call_later(self.settings["node_eviction"], self._evict_from, name)

    def _evict_from(self, name):
        for pod in self.store.all(PODS) if name in self.lost else ():
            if pod["spec"].get("nodeName") == name and pod["status"].get("phase") not in OVER \
                    and not pod["metadata"].get("deletionTimestamp"):
                self._tell(pod, "Normal", "TaintManagerEviction", "Marking for deletion Pod %s/%s"
                           % (pod["metadata"]["namespace"], pod["metadata"]["name"]),
                           "taint-eviction-controller")
                self._disrupt(pod, "DeletionByTaintManager",
                              "Taint manager: deleting due to NoExecute taint")

    def remove_node(self, name):
        """Its object is deleted: the pod garbage collector fails what was on it."""
        self.lost.add(name)
        node = self.store.get(NODES, "", name)
        if node is not None:
            self.store.remove(NODES, node)
        for pod in self.store.all(PODS):
            if pod["spec"].get("nodeName") != name:
                continue
            if pod["status"].get("phase") not in OVER:
                pod = self._status(pod, phase="Failed", conditions=with_condition(
                    pod["status"].get("conditions"), "DisruptionTarget", "True",
                    "DeletionByPodGC", "PodGC: node no longer exists"))
            run = self.runs.get(pod["metadata"]["uid"])
            if run:
                run.ended = True
                run.stop()
                self._free(run)
            deletion.delete(self.cluster, PODS, pod, deletion.Options("Background", 0))

    def back_node(self, name):
        """It is heard of again: it kills what was deleted meanwhile."""
        self.lost.discard(name)
        node = self.store.get(NODES, "", name)
        taints = [one for one in node["spec"].get("taints") or ()
                  if one["key"] != "node.kubernetes.io/unreachable"]
        conditions = with_condition(node["status"]["conditions"], "Ready", "True", "KubeletReady",
                                    "kubelet is posting ready status")
        spec = dict(node["spec"], taints=taints)
        if not taints:
            del spec["taints"]
        self.store.update(NODES, dict(node, spec=spec,
                                      status=dict(node["status"], conditions=conditions)))
        for run in list(self.runs.values()):
            pod = self._pod(run)
            if run.node == name and pod is not None and not run.ended:
                if pod["metadata"].get("deletionTimestamp"):
                    run.dying = True
                    self._terminate(run)
                elif run.started:
                    self._status(pod, conditions=self._ready_conditions(pod, True))
                    self._after(run, run.fate.get("seconds", 0), self._run_out, run)
                else:
                    self._after(run, 0.01, self._create, run)

    # ---- what is really run ----

    def process_ended(self, run, code, reason, trouble):
        if run.partial:
            self._print(run, run.partial)
            run.partial = b""
        self._finish(run, code, reason, trouble)

    def printed(self, run, data):
        """Output in pieces; whole lines of it go to the log."""
        whole, newline, rest = (run.partial + data).rpartition(b"\n")
        run.partial = rest
        if newline:
            self._print(run, whole + newline)

    def end(self):
        for run in self.runs.values():
            if run.process:
                run.process.clean()
        self.network.end()

    # ---- output ----

    def _print(self, run, data):
        room = self.settings["log_limit"] - run.size
        data = data[:max(room, 0)]
        if not data:
            return
        run.size += len(data)
        now = time.time()
        run.lines += [(now, line) for line in data.splitlines(True)]
        for follower in list(run.followers):
            follower(now, data)

    def _print_more(self, run):
        if run.ended:
            return
        text = run.fate.get("output", "a line of output\n").encode() or b"\n"
        wanted = max(int(run.fate["rate"] * 0.05), 1)
        self._print(run, (text * (wanted // len(text) + 1))[:max(wanted, len(text))])
        self._after(run, 0.05, self._print_more, run)

    def _end_output(self, run):
        for follower in list(run.followers):
            follower(None, None)

    def log(self, request, pod):
        """GET pods/log: an Answer, or None when it is followed."""
        name = pod["metadata"]["name"]
        names = [one["name"] for one in pod["spec"]["containers"]]
        container = request.option("container")
        if container and container not in names:
            raise bad_request("container %s is not valid for pod %s" % (container, name))
        if not container and len(names) > 1:
            raise bad_request("a container name must be specified for pod %s, choose one of: [%s]"
                              % (name, " ".join(names)))
        container = container or names[0]
        run = self.runs.get(pod["metadata"]["uid"])
        if request.option("previous") in ("true", "1") and (run is None or not run.restarts):
            raise bad_request("previous terminated container \"%s\" in pod \"%s\" not found"
                              % (container, name))
        if not pod["spec"].get("nodeName"):
            return Answer(200, b"", "text/plain")
        if run is not None and run.node in self.lost:
            raise Refusal(500, "InternalError", 'Get "https://192.0.2.10:10250/containerLogs/%s/%s/'
                          '%s": dial tcp 192.0.2.10:10250: connect: no route to host'
                          % (pod["metadata"]["namespace"], name, container))
        if run is None or not run.started:
            state = (pod["status"].get("containerStatuses") or [{}])[0].get("state") or {}
            reason = (state.get("waiting") or {}).get("reason", "ContainerCreating")
            raise bad_request("container \"%s\" in pod \"%s\" is waiting to start: %s"
                              % (container, name, "trying and failing to pull image"
                                 if reason in ("ErrImagePull", "ImagePullBackOff") else reason))
        data = self._chosen(request, run)
        if request.option("follow") not in ("true", "1") or run.ended:
            return Answer(200, data, "text/plain")
        self._follow(request, run, data)
        return None

    @staticmethod
    def _chosen(request, run):
        """The lines that the options ask for."""
        lines = run.lines
        since = request.option("sinceTime")
        if since:
            match = re.match(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$", since)
            if not match:
                raise bad_request('parsing time "%s" as "2006-01-02T15:04:05Z07:00": cannot parse'
                                  % since)
            from calendar import timegm
            first = timegm(time.strptime(match[1], "%Y-%m-%dT%H:%M:%S")) + float(match[2] or 0)
            lines = [one for one in lines if one[0] >= first]
        seconds = request.option("sinceSeconds")
        if seconds:
            first = time.time() - int(seconds)
            lines = [one for one in lines if one[0] >= first]
        if request.option("tailLines"):
            count = int(request.option("tailLines"))
            lines = lines[-count:] if count else []
        data = b"".join(_stamped(request, when, line) for when, line in lines)
        if request.option("limitBytes"):
            data = data[:int(request.option("limitBytes"))]
        return data

    def _follow(self, request, run, data):
        """As a kubelet answers: no head before the first byte."""
        connection, headed = request.connection, False

        def send(data):
            nonlocal headed
            if not headed:
                connection.write(encode_head(Answer(200, b"", "text/plain")))
            headed = True
            if data:
                connection.chunk(data)

        def tell(when, more):
            if more is None:
                run.followers.discard(tell)
                send(b"")
                connection.write(b"0\r\n\r\n")
                connection.done()
            else:
                send(b"".join(_stamped(request, when, line) for line in more.splitlines(True)))
        if data:
            send(data)
        run.followers.add(tell)
        connection.on_close = lambda: run.followers.discard(tell)


def _stamped(request, when, line):
    if request.option("timestamps") not in ("true", "1"):
        return line
    return b"%s.%09dZ %s" % (time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(when)).encode(),
                             int(when % 1 * 1e9), line)


def _tolerates(toleration, taint):
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("operator") == "Exists":
        return not toleration.get("key") or toleration["key"] == taint["key"]
    return toleration.get("key") == taint["key"] and \
        toleration.get("value", "") == taint.get("value", "")
