#!/usr/bin/python3
"""tests/t/600-kubernetes-stand-in.t - the stand-in for a Kubernetes API server answers as one does

Each case of what a 1.36.3 server was seen to answer, and what the rest of the tests rely on: what is
refused, how Jobs, pods and nodes end, what watches say, and each way to misbehave.
"""
import base64
import calendar
import copy
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(TOP, "tests", "stand-in", "kubernetes")
sys.path.insert(0, HERE)

JOBS = "/apis/batch/v1/namespaces/dlspool/jobs"
CORE = "/api/v1/namespaces/dlspool/"
tests = failures = 0


def ok(good, what, *details):
    global tests, failures
    tests += 1
    failures += not good
    print("%sok %d - %s" % ("" if good else "not ", tests, what))
    for line in details if not good else ():
        print("#   " + str(line)[:2000].replace("\n", "\n#   "))
    sys.stdout.flush()


def same(got, wanted, what):
    ok(got == wanted, what, "got:    %r" % (got,), "wanted: %r" % (wanted,))


def wait(condition, seconds=5):
    """Until it is true; what it says last."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    return condition()


class Answer:
    def __init__(self, response, body):
        self.status, self.headers, self.body = response.status, response.headers, body
        self.type = response.headers.get("Content-Type")

    @property
    def json(self):
        return json.loads(self.body)

    def __str__(self):
        return "%d %s" % (self.status, self.body.decode(errors="replace")[:1500])


class Client:
    """As the ordinary user of a stand-in's directory, or as its administrator."""

    def __init__(self, directory, admin=False):
        self.directory = directory
        self.context = ssl.create_default_context(cafile=os.path.join(directory, "ca.crt"))
        self.token = None
        if admin:
            self.context.load_cert_chain(os.path.join(directory, "admin.crt"),
                                         os.path.join(directory, "admin.key"))
        else:
            self.read_token()
        self.connection = None

    def read_token(self):
        with open(os.path.join(self.directory, "token"), encoding="utf-8") as file:
            self.token = file.read()

    def open(self):
        with open(os.path.join(self.directory, "port"), encoding="utf-8") as file:
            return http.client.HTTPSConnection("127.0.0.1", int(file.read()),
                                               context=self.context, timeout=10)

    def send(self, connection, method, path, body, headers):
        fields = {"Accept": "application/json"}
        if self.token:
            fields["Authorization"] = "Bearer " + self.token
        if body is not None:
            fields["Content-Type"] = "application/json"
            if type(body) is not bytes:
                body = json.dumps(body).encode()
        fields.update(headers or {})
        connection.request(method, path, body, {name: value for name, value in fields.items()
                                                if value is not None})
        return connection.getresponse()

    def __call__(self, method, path, body=None, headers=None):
        if self.connection is None:
            self.connection = self.open()
        try:
            response = self.send(self.connection, method, path, body, headers)
            answer = Answer(response, response.read())
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self.connection = None
            raise
        if response.headers.get("Connection") == "close":
            self.connection = None
        return answer

    def watch(self, path, seconds=1, until=None):
        """The events of a watch until it ends or `until` says it is enough."""
        connection = self.open()
        connection.timeout = seconds + 5
        response = self.send(connection, "GET", path + "&watch=true&timeoutSeconds=%d" % seconds,
                             None, None)
        events, rest = [], b""
        try:
            while not (until and events and until(events)):
                data = response.read1(65536)    # which tells a broken end from a good one
                if not data:
                    break
                *lines, rest = (rest + data).split(b"\n")
                events += [json.loads(line) for line in lines]
        except (OSError, http.client.HTTPException):
            events.append({"type": "BROKEN"})
        connection.close()
        return response.status, events


class StandIn:
    def __init__(self, directory, *arguments):
        self.directory, self.arguments = directory, arguments
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen([os.path.join(HERE, "server"), "--directory",
                                         self.directory, *self.arguments])
        if not wait(lambda: os.path.exists(os.path.join(self.directory, "ready"))
                    or self.process.poll() is not None, 60) or self.process.poll() is not None:
            print("not ok 1 - the stand-in starts\n1..1")
            sys.exit(1)

    def order(self, what, /, **words):
        here = os.getcwd()
        os.chdir(self.directory)
        with socket.socket(socket.AF_UNIX) as control:
            control.connect("control")
            os.chdir(here)
            control.sendall(json.dumps(dict(words, order=what)).encode() + b"\n")
            answer = json.loads(control.makefile().readline())
        if not answer["ok"]:
            raise RuntimeError(answer["error"])
        return answer

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(10)


def job(name, **spec):
    return {"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "labels": {"dlspool/spool": "s"}},
            "spec": dict({"backoffLimit": 0, "template": {"spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "main", "image": "busybox:1", "command": ["true"]}]}}},
                **spec)}


def indexed(name, count=1, **spec):
    return job(name, completionMode="Indexed", completions=count, parallelism=count,
               podReplacementPolicy="Failed", **spec)


def changed(base, path, value):
    """A copy with one field set, or with a value of None taken away."""
    made = copy.deepcopy(base)
    target = made
    for step in path[:-1]:
        target = target.setdefault(step, {}) if type(target) is dict else target[step]
    if value is None:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    return made


def refused(answer, code, reason, words, what):
    """A Status of that code and reason, whose message holds those words."""
    try:
        status = answer.json
    except ValueError:
        status = {}
    ok(answer.status == code and status.get("kind") == "Status" and status.get("code") == code
       and status.get("status") == "Failure" and status.get("reason", "") == reason
       and words in status.get("message", "") and answer.type == "application/json", what, answer)


def conditions(item):
    return [one["type"] for one in item.get("status", {}).get("conditions", ())
            if one["status"] == "True"]


# ---- what the table says ----

def test_creation(call):
    answer = call("POST", JOBS, job("one"))
    made = answer.json
    ok(answer.status == 201 and made["kind"] == "Job", "create: 201", answer)
    spec, template = made["spec"], made["spec"]["template"]
    same([spec.get(name) for name in ("parallelism", "completions", "suspend", "completionMode",
                                      "podReplacementPolicy", "backoffLimit")],
         [1, 1, False, "NonIndexed", "TerminatingOrFailed", 0], "create: a Job's defaults")
    same(spec["selector"]["matchLabels"],
         {"batch.kubernetes.io/controller-uid": made["metadata"]["uid"]}, "create: the selector")
    same(template["metadata"]["labels"]["batch.kubernetes.io/job-name"], "one",
         "create: the pods' labels")
    same([template["spec"].get(name) for name in ("dnsPolicy", "terminationGracePeriodSeconds",
                                                  "schedulerName", "securityContext")],
         ["ClusterFirst", 30, "default-scheduler", {}], "create: a pod's defaults")
    same(template["spec"]["containers"][0]["imagePullPolicy"], "IfNotPresent",
         "create: a container's defaults")
    ok(answer.headers["Transfer-Encoding"] == "chunked" or len(answer.body) <= 2048,
       "create: an answer of more than 2048 bytes is chunked")

    answer = call("POST", JOBS + "?dryRun=All", job("dry"))
    ok(answer.status == 201 and answer.json["metadata"]["uid"], "dryRun=All: 201", answer)
    same(call("GET", JOBS + "/dry").status, 404, "dryRun=All: nothing is stored")
    refused(call("POST", JOBS + "?dryRun=All", job("dry", parallelism=-1)), 422, "Invalid",
            "spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
            "dryRun=All: an invalid object is refused")
    refused(call("POST", JOBS + "?dryRun=Yes", job("dry")), 422, "Invalid",
            'Unsupported value: ["Yes"]: supported values: "All"', "dryRun=Yes: 422")

    wrong = changed(job("wrong"), ("spec", "paralelism"), 2)
    refused(call("POST", JOBS + "?fieldValidation=Strict", wrong), 400, "BadRequest",
            'strict decoding error: unknown field "spec.paralelism"', "Strict: unknown field")
    deep = changed(job("wrong"), ("spec", "template", "spec", "containers", 0, "imagee"), "x")
    refused(call("POST", JOBS + "?fieldValidation=Strict", deep), 400, "BadRequest",
            'unknown field "spec.template.spec.containers[0].imagee"', "Strict: with its path")
    twice = json.dumps(job("wrong"))[:-1] + ', "kind": "Job"}'
    refused(call("POST", JOBS + "?fieldValidation=Strict", twice.encode()), 400, "BadRequest",
            'duplicate field "kind"', "Strict: duplicate key")
    answer = call("POST", JOBS, wrong)
    ok(answer.status == 201 and "paralelism" not in answer.json["spec"],
       "default mode: an unknown field is dropped", answer)
    same(answer.headers["Warning"], '299 - "unknown field \\"spec.paralelism\\""',
         "default mode: and warned of")
    answer = call("POST", JOBS + "?fieldValidation=Ignore", changed(wrong, ("metadata", "name"),
                                                                    "ignored"))
    same((answer.status, answer.headers["Warning"]), (201, None), "Ignore: no word")

    answer = call("POST", JOBS, job("one"))
    refused(answer, 409, "AlreadyExists", 'jobs.batch "one" already exists', "name exists")
    same(answer.json["details"], {"name": "one", "group": "batch", "kind": "jobs"},
         "name exists: details")
    answer = call("POST", JOBS, changed(job("x", ), ("metadata", "name"), None))
    refused(answer, 422, "Invalid", "name or generateName is required", "no name")
    answer = call("POST", JOBS, changed(changed(job("x"), ("metadata", "name"), None),
                                        ("metadata", "generateName"), "made-"))
    ok(answer.status == 201 and len(answer.json["metadata"]["name"]) == 10, "generateName", answer)


def test_refusals(call, admin, stand_in):
    always = changed(job("x"), ("spec", "template", "spec", "restartPolicy"), "Always")
    answer = call("POST", JOBS, always)
    refused(answer, 422, "Invalid", 'Job.batch "x" is invalid: spec.template.spec.restartPolicy: '
            'Required value: valid values: "OnFailure", "Never"', "restartPolicy Always")
    same(answer.json["details"]["causes"],
         [{"reason": "FieldValueRequired", "field": "spec.template.spec.restartPolicy",
           "message": 'Required value: valid values: "OnFailure", "Never"'}],
         "restartPolicy Always: causes")
    refused(call("POST", JOBS, job("n" * 64)), 422, "Invalid", "must be no more than 63 bytes",
            "name of 64")
    same(call("POST", JOBS, job("n" * 63)).status, 201, "name of 63")
    refused(call("POST", JOBS, indexed("n" * 62)), 422, "Invalid", "invalid DNS label",
            "an Indexed Job's pods have names too")
    for path, value, words, what in CASES:
        refused(call("POST", JOBS, changed(indexed("x"), path, value)), 422, "Invalid", words, what)
    for path, value, words, what in WRONG_TYPES:
        refused(call("POST", JOBS, changed(job("x"), path, value)), 400, "BadRequest", words, what)
    refused(call("POST", JOBS, b'{"kind": "Job",'), 400, "BadRequest", "json parse error",
            "malformed JSON")
    refused(call("POST", JOBS, changed(job("x"), ("kind",), "Jobb")), 400, "BadRequest",
            'no kind "Jobb" is registered', "wrong kind")
    refused(call("POST", CORE + "pods", job("x")), 400, "BadRequest", "does not match",
            "another kind")
    refused(call("POST", JOBS, changed(job("x"), ("metadata", "namespace"), "other")), 400,
            "BadRequest", "the namespace of the provided object does not match the namespace sent "
            "on the request", "namespace mismatch")
    refused(admin("POST", JOBS.replace("dlspool", "nowhere"), job("x")), 404, "NotFound",
            'namespaces "nowhere" not found', "namespace missing")
    stand_in.order("namespace", name="ending", action="make")
    stand_in.order("namespace", name="ending", action="terminate")
    answer = admin("POST", JOBS.replace("dlspool", "ending"), job("x"))
    refused(answer, 403, "Forbidden", "because it is being terminated", "namespace terminating")
    same(answer.json["details"]["causes"][0]["reason"], "NamespaceTerminating",
         "namespace terminating: cause")
    refused(call("POST", JOBS, job("x"), {"Content-Type": "text/plain"}), 415,
            "UnsupportedMediaType", "accepted media types include: application/json", "media type")
    refused(call("POST", JOBS, b" " * (3 * 1024 * 1024 + 1)), 413, "RequestEntityTooLarge",
            "limit is 3145728", "body over 3 MiB")
    refused(call("PUT", JOBS, job("x")), 405, "MethodNotAllowed", "does not allow this method",
            "PUT on a collection")
    big = changed(job("big"), ("spec", "template", "spec", "containers", 0, "args"),
                  ["x" * 1600000])
    refused(call("POST", JOBS, big), 422, "Invalid", "labels[batch.kubernetes.io/controller-uid]",
            "a Job too big for etcd: a misleading word about labels")
    refused(call("GET", JOBS + "/none"), 404, "NotFound", 'jobs.batch "none" not found',
            "no such object")
    same(call("GET", "/apis/batch/v1/namespaces/dlspool/cronjobs").status, 404, "no such resource")
    same(call("GET", "/nothing").status, 403, "a path that is nobody's business")
    same(admin("GET", "/nothing").status, 404, "no such path")


MAIN = ("spec", "template", "spec", "containers", 0)
POD = ("spec", "template", "spec")
CASES = [
    (("spec", "completions"), None, "spec.completions: Required value", "Indexed: no completions"),
    (("spec", "activeDeadlineSeconds"), -1, "greater than or equal to 0", "deadline below 0"),
    (("spec", "completionMode"), "Sometimes", "Unsupported value", "completionMode"),
    (MAIN + ("image",), None, "containers[0].image: Required value", "no image"),
    (MAIN + ("name",), "Main", "lowercase RFC 1123 label", "container's name"),
    (MAIN + ("env",), [{"name": "A=B"}], "environment variable name", "variable's name"),
    (MAIN + ("ports",), [{"containerPort": 70000}], "between 1 and 65535", "port range"),
    (MAIN + ("volumeMounts",), [{"name": "no", "mountPath": "/a"}], 'Not found: "no"',
     "mount without a volume"),
    (MAIN + ("resources",), {"limits": {"cpu": "1"}, "requests": {"cpu": "2"}},
     "must be less than or equal to cpu limit of 1", "requests over limits"),
    (MAIN + ("resources",), {"limits": {"gpus": "1"}}, "standard resource", "unknown resource"),
    (MAIN + ("resources",), {"requests": {"nvidia.com/gpu": "1"}}, "Limit must be set",
     "a GPU without limit"),
    (MAIN + ("securityContext",), {"privileged": True, "allowPrivilegeEscalation": False},
     "cannot set `allowPrivilegeEscalation`", "privileged without escalation"),
    (MAIN + ("imagePullPolicy",), "Perhaps", "Unsupported value", "imagePullPolicy"),
    (POD + ("containers",), [{"name": "a", "image": "b"}] * 2, 'Duplicate value: "a"',
     "two containers of a name"),
    (POD + ("volumes",), [{"name": "v", "emptyDir": {}}] * 2, 'Duplicate value: "v"',
     "two volumes of a name"),
    (POD + ("volumes",), [{"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}}],
     "may not specify more than 1 volume type", "two sources of a volume"),
    (POD + ("volumes",), [{"name": "v", "downwardAPI": {"items": [{"path": "a"}]}}],
     "one of fieldRef and resourceFieldRef is required", "a file about the pod with nothing in it"),
    (POD + ("volumes",), [{"name": "v", "downwardAPI": {"items": [
        {"path": "a", "fieldRef": {"fieldPath": "status.podIP"}}]}}],
     'Unsupported value: "status.podIP"', "a file with what only variables may have"),
    (POD + ("tolerations",), [{"value": "x"}], "operator must be Exists", "toleration without key"),
    (POD + ("securityContext",), {"runAsUser": -1}, "between 0 and 2147483647", "runAsUser below 0"),
    (POD + ("nodeSelector",), {"a b": "c"}, "name part must consist", "selector's key"),
    (("metadata", "labels"), {"a": "x" * 64}, "must be no more than 63 bytes", "label's length"),
    (("metadata", "labels"), {"a": "-"}, "a valid label must be", "label's letters"),
    (("metadata", "annotations"), {"a": "x" * 263000}, "may not be more than 262144 bytes",
     "annotations' length"),
    (("metadata", "name"), "Upper", "RFC 1123", "name's letters"),
    (("metadata", "ownerReferences"), [{"apiVersion": "v1", "kind": "Job", "name": "a", "uid": ""}],
     "must not be empty", "owner without uid"),
    (("spec", "podFailurePolicy"), {"rules": [{"action": "FailJob", "onExitCodes": {
        "operator": "In", "values": [0]}}]}, "must not be 0 for the In operator",
     "failure policy's codes"),
]
WRONG_TYPES = [
    (("spec", "parallelism"), "2", "json: cannot unmarshal string into Go struct field "
     "JobSpec.spec.parallelism of type int32", "a number in quotes"),
    (("spec", "parallelism"), 2.5, "cannot unmarshal number", "half a pod"),
    (("spec", "parallelism"), 1 << 31, "of type int32", "a number too large"),
    (("spec", "suspend"), "true", "of type bool", "a word for a boolean"),
    (("spec", "template", "spec", "containers"), {}, "cannot unmarshal object",
     "a map for a list"),
    (("metadata", "labels"), {"a": 1}, "of type string", "a number for a label"),
    (MAIN + ("env",), [{"name": "A", "value": 1}], "of type string", "a number for a variable"),
    (MAIN + ("resources",), {"limits": {"cpu": "lots"}},
     "quantities must match the regular expression", "no quantity"),
]


def test_users(call, admin, stand_in):
    admin_space = "/apis/batch/v1/namespaces/default/jobs"
    answer = call("POST", admin_space, job("x"))
    refused(answer, 403, "Forbidden", 'jobs.batch is forbidden: User "dlspool" cannot create '
            'resource "jobs" in API group "batch" in the namespace "default"', "RBAC denied")
    refused(call("GET", admin_space + "/x"), 403, "Forbidden",
            'jobs.batch "x" is forbidden: User "dlspool" cannot get resource', "RBAC: with a name")
    refused(call("GET", "/api/v1/secrets"), 403, "Forbidden", "at the cluster scope",
            "RBAC: all namespaces")
    refused(call("GET", JOBS, None, {"Authorization": None}), 403, "Forbidden",
            'User "system:anonymous" cannot list', "anonymous")
    refused(call("GET", JOBS, None, {"Authorization": "Bearer wrong"}), 401, "Unauthorized",
            "Unauthorized", "bad token")
    same(admin("GET", admin_space).status, 200, "a client certificate of system:masters")
    stand_in.order("token", lifetime=None)
    refused(call("GET", JOBS), 401, "Unauthorized", "Unauthorized", "a token that was replaced")
    call.read_token()
    same(call("GET", JOBS).status, 200, "the new token")
    stand_in.order("user", name="short", token="short-lived", lifetime=0.05,
                   rules=[{"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list"]}])
    time.sleep(0.06)
    same(call("GET", JOBS, None, {"Authorization": "Bearer short-lived"}).status, 401,
         "a token that has expired")
    stand_in.order("user", name="short", token="good")
    good = {"Authorization": "Bearer good"}
    same((call("GET", JOBS, None, good).status, call("GET", JOBS + "/one", None, good).status),
         (200, 403), "a user's rules")
    used = stand_in.order("dump", what="users")["users"]["short"]
    same((used["used"], used["refused"]), ({"list batch jobs": 1}, {"get batch jobs": 1}),
         "what was used of them is kept")
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {
        "resourceAttributes": {"namespace": "dlspool", "verb": "create", "group": "batch",
                               "resource": "jobs"}}}
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    same([call("POST", path, review, headers).json["status"]["allowed"]
          for headers in (None, good)], [True, False], "selfsubjectaccessreviews")
    stand_in.order("certificate", name="short", subject="/O=some/CN=short")
    other = Client(stand_in.directory)
    other.token = None
    other.context.load_cert_chain(os.path.join(stand_in.directory, "short.crt"),
                                  os.path.join(stand_in.directory, "short.key"))
    same((other("GET", JOBS).status, other("GET", JOBS + "/one").status), (200, 403),
         "a user by a client certificate")
    stand_in.order("throttle", rate=1, burst=1)
    answers = [call("GET", JOBS + "/one") for _ in range(2)]
    answer = answers[1]
    same((answer.status, answer.type, answer.body, answer.headers["Retry-After"]),
         (429, "text/plain; charset=utf-8", b"Too many requests, please try again later.\n", "1"),
         "throttled")
    same(admin("GET", JOBS + "/one").status, 200, "system:masters is never throttled")
    stand_in.order("calm")


def test_roles():
    import rbac
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("# a comment\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n"
                   "metadata:\n  name: a\n  namespace: here   # why\nrules:\n"
                   "- apiGroups: [\"batch\"]\n  resources: [\"jobs\",\n    jobs/status]\n"
                   "  verbs: [get, list]\n- apiGroups:\n  - ''\n  resources:\n    - pods\n"
                   "  verbs: ['*']\n---\nkind: ServiceAccount\nmetadata: {name: b}\n")
        file.flush()
        found = rbac.read_roles(file.name)
    same(found, [("Role", "here", "a", [
        {"apiGroups": ["batch"], "resources": ["jobs", "jobs/status"], "verbs": ["get", "list"]},
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["*"]}])], "Role files are read")


def test_quota(call, admin, stand_in):
    stand_in.order("namespace", name="small", action="make")
    jobs = JOBS.replace("dlspool", "small")
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
             "spec": {"hard": {"count/jobs.batch": "1", "pods": "0"}}}
    same(admin("POST", "/api/v1/namespaces/small/resourcequotas", quota).status, 201, "a quota")
    answer = admin("POST", jobs, job("first"))
    same(answer.status, 201, "pod quota: the Job is accepted all the same")
    refused(admin("POST", jobs, job("second")), 403, "Forbidden",
            'jobs.batch "second" is forbidden: exceeded quota: q, requested: count/jobs.batch=1, '
            'used: count/jobs.batch=1, limited: count/jobs.batch=1', "object quota")
    refused(admin("POST", jobs, job("first")), 403, "Forbidden", "exceeded quota",
            "quota is asked before the name")
    path = "/api/v1/namespaces/small/events?fieldSelector=involvedObject.name=first"

    def failed():
        return [one["message"] for one in admin("GET", path).json["items"]
                if one["reason"] == "FailedCreate"]
    found = wait(failed)
    ok(found and found[0].startswith('Error creating: pods "first-') and found[0].endswith(
        " is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"),
       "pod quota: only a FailedCreate Event tells", found)
    same(admin("GET", "/api/v1/namespaces/small/resourcequotas/q").json["status"]["used"],
         {"count/jobs.batch": "1", "pods": "0"}, "a quota's status")
    wanting = changed(job("wanting"), POD + ("priorityClassName",), "urgent")
    same(call("POST", JOBS, wanting).status, 201, "a missing PriorityClass: 201")
    path = CORE + "events?fieldSelector=involvedObject.name=wanting"
    found = wait(lambda: [one["message"] for one in call("GET", path).json["items"]])
    ok("no PriorityClass with name urgent was found" in str(found),
       "a missing PriorityClass: an Event", found)
    stand_in.order("priority", name="urgent")
    ok(wait(lambda: "Complete" in conditions(call("GET", JOBS + "/wanting").json)),
       "a PriorityClass that came later")


def test_deletion(call, stand_in):
    stand_in.order("fate", pattern="/keep", seconds=-1)
    call("POST", JOBS, indexed("keep"))
    ok(wait(lambda: pods(call, "keep", "Running")), "a pod runs")
    item = call("GET", JOBS + "/keep").json
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background",
               "preconditions": {"uid": "another"}}
    answer = call("DELETE", JOBS + "/keep", options)
    refused(answer, 409, "Conflict", "UID in precondition: another, UID in object meta: "
            + item["metadata"]["uid"], "delete with another UID")
    answer = call("DELETE", JOBS + "/keep")
    ok(answer.status == 200 and answer.headers["Warning"] == '299 - "child pods are preserved by '
       'default when jobs are deleted; set propagationPolicy=Background to remove them or set '
       'propagationPolicy=Orphan to suppress this warning"', "delete without propagationPolicy",
       answer, answer.headers)
    ok(wait(lambda: call("GET", JOBS + "/keep").status == 404), "the Job goes")
    found = wait(lambda: [one for one in pods(call, "keep", "Running")
                          if not one["metadata"].get("ownerReferences")])
    ok(found, "its pod is an orphan and runs on")
    name = found[0]["metadata"]["name"]
    answer = call("DELETE", CORE + "pods/" + name)
    ok(answer.json["metadata"].get("deletionTimestamp") and
       answer.json["metadata"]["deletionGracePeriodSeconds"] == 30, "a pod is deleted with grace",
       answer)
    ok(wait(lambda: call("GET", CORE + "pods/" + name).status == 404), "and then it goes")

    call("POST", JOBS, indexed("keep"))
    owner = call("GET", JOBS + "/keep").json["metadata"]
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {
        "name": "keep", "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job",
                                             "name": "keep", "uid": owner["uid"]}]},
        "spec": {"clusterIP": "None", "selector": {"a": "b"}, "publishNotReadyAddresses": True}}
    same(call("POST", CORE + "services", service).status, 201, "a headless Service")
    wait(lambda: pods(call, "keep", "Running"))
    answer = call("DELETE", JOBS + "/keep?propagationPolicy=Background")
    same((answer.json["status"], answer.json["details"]),
         ("Success", {"name": "keep", "group": "batch", "kind": "jobs", "uid": owner["uid"]}),
         "delete, Background: a Status")
    ok(wait(lambda: call("GET", CORE + "services/keep").status == 404), "dependents go")
    ok(wait(lambda: not pods(call, "keep")), "pods go")
    service["metadata"]["name"] = "late"
    call("POST", CORE + "services", service)
    ok(wait(lambda: call("GET", CORE + "services/late").status == 404),
       "a dependent that comes after its owner's end goes too")
    call("POST", JOBS, indexed("keep"))
    wait(lambda: pods(call, "keep", "Running"))
    answer = call("DELETE", JOBS + "/keep", {"propagationPolicy": "Foreground"})
    ok("foregroundDeletion" in answer.json["metadata"]["finalizers"], "delete, Foreground: it waits",
       answer)
    ok(wait(lambda: call("GET", JOBS + "/keep").status == 404) and not pods(call, "keep"),
       "for its pods")
    refused(call("DELETE", JOBS + "/one", {"propagationPolicy": "Sometimes"}), 422, "Invalid",
            "propagationPolicy", "delete, another policy")
    same(call("DELETE", CORE + "pods?labelSelector=job-name%3Dnone").json["kind"], "PodList",
         "deletecollection")


def pods(call, name, phase=None):
    found = call("GET", CORE + "pods?labelSelector=job-name%%3D%s" % name).json["items"]
    return [one for one in found if phase in (None, one["status"]["phase"])]


def test_changes(call):
    call("POST", JOBS, indexed("changing", suspend=True))
    wait(lambda: "Suspended" in conditions(call("GET", JOBS + "/changing").json))
    merge = {"Content-Type": "application/merge-patch+json"}
    answer = call("PATCH", JOBS + "/changing", {"spec": {"template": {"spec": {
        "containers": [{"name": "main", "image": "other"}]}}}}, merge)
    refused(answer, 422, "Invalid", "spec.template: Invalid value", "pod template changed")
    ok("field is immutable" in answer.json["message"], "pod template changed: immutable")
    answer = call("PATCH", JOBS + "/changing", {"metadata": {"annotations": {"a": "b"}}}, merge)
    same((answer.status, answer.json["metadata"]["annotations"], answer.json["metadata"]
          ["generation"]), (200, {"a": "b"}, 1), "an annotation is set")
    before = call("GET", JOBS + "/changing").json["metadata"]["resourceVersion"]
    answer = call("PATCH", JOBS + "/changing", {"metadata": {"annotations": {"a": "b"}}}, merge)
    same(answer.json["metadata"]["resourceVersion"], before, "a change that is none has no version")
    refused(call("PATCH", JOBS + "/changing", {"metadata": {"resourceVersion": "1"}}, merge), 409,
            "Conflict", "the object has been modified", "a patch of an old version")
    refused(call("PATCH", JOBS + "/changing", {"metadata": {"uid": "x"}}, merge), 422, "Invalid",
            "field is immutable", "a patch of another uid")
    refused(call("PATCH", JOBS + "/changing", {"a": 1}, {"Content-Type": "application/json"}), 415,
            "UnsupportedMediaType", "accepted media types", "a patch that is none")
    answer = call("PATCH", JOBS + "/changing", [
        {"op": "test", "path": "/spec/suspend", "value": True},
        {"op": "replace", "path": "/spec/suspend", "value": False}],
        {"Content-Type": "application/json-patch+json"})
    same((answer.status, answer.json["spec"]["suspend"], answer.json["metadata"]["generation"]),
         (200, False, 2), "released by a JSON patch")
    ok(wait(lambda: "Complete" in conditions(call("GET", JOBS + "/changing").json)),
       "and it runs to its end")
    item = call("GET", JOBS + "/changing").json
    item["metadata"]["labels"]["more"] = "x"
    same(call("PUT", JOBS + "/changing", item).status, 200, "PUT")
    refused(call("PUT", JOBS + "/changing", item), 409, "Conflict", "has been modified", "PUT again")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"},
              "stringData": {"a": "b"}}
    answer = call("POST", CORE + "secrets", secret)
    same((answer.json["data"], answer.json["type"], "stringData" in answer.json),
         ({"a": base64.b64encode(b"b").decode()}, "Opaque", False), "a Secret's stringData")
    answer = call("PATCH", CORE + "configmaps/none", {"data": {}}, merge)
    refused(answer, 404, "NotFound", 'configmaps "none" not found', "patch of what is not there")


def test_lists(call, stand_in):
    for at in range(5):
        call("POST", CORE + "configmaps", {
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "c%d" % at, "labels": {"n": str(at)}}})
    first = call("GET", CORE + "configmaps?limit=2").json
    same((first["kind"], [one["metadata"]["name"] for one in first["items"]],
          first["metadata"]["remainingItemCount"]), ("ConfigMapList", ["c0", "c1"], 3), "a page")
    ok("kind" not in first["items"][0], "a list's items say no kind")
    call("DELETE", CORE + "configmaps/c4")
    rest = call("GET", CORE + "configmaps?limit=9&continue="
                + first["metadata"]["continue"]).json
    same(([one["metadata"]["name"] for one in rest["items"]], "continue" in rest["metadata"],
          rest["metadata"]["resourceVersion"]),
         (["c2", "c3", "c4"], False, first["metadata"]["resourceVersion"]),
         "the pages are of one moment")
    chosen = call("GET", CORE + "configmaps?limit=1&labelSelector=n%20in%20(1,2)").json
    ok(len(chosen["items"]) == 1 and "continue" in chosen["metadata"]
       and "remainingItemCount" not in chosen["metadata"], "no remainingItemCount with a selector")
    same([one["metadata"]["name"] for one in
          call("GET", CORE + "configmaps?fieldSelector=metadata.name%3Dc3").json["items"]], ["c3"],
         "fieldSelector")
    same(len(call("GET", CORE + "configmaps?limit=1&resourceVersion=0").json["items"]), 4,
         "resourceVersion=0 does not page")
    refused(call("GET", CORE + "configmaps?fieldSelector=data.a%3Db"), 400, "BadRequest",
            "field label not supported", "a field that is no index")
    first = call("GET", CORE + "configmaps?limit=2").json
    stand_in.order("watches", action="forget_lists")
    answer = call("GET", CORE + "configmaps?continue=" + first["metadata"]["continue"])
    refused(answer, 410, "Expired", "too old to display a consistent list", "an old continue")
    refused(call("GET", CORE + "configmaps?resourceVersion=99999999"), 504, "Timeout",
            "Too large resource version", "a list of the future")


def test_watches(call, stand_in):
    version = call("GET", CORE + "configmaps").json["metadata"]["resourceVersion"]
    merge = {"Content-Type": "application/merge-patch+json"}
    call("PATCH", CORE + "configmaps/c0", {"metadata": {"labels": {"n": "9"}}}, merge)
    call("DELETE", CORE + "configmaps/c1")
    path = CORE + "configmaps?resourceVersion=" + version
    status, events = call.watch(path, 5, lambda events: len(events) == 2)
    same((status, [(one["type"], one["object"]["metadata"]["name"]) for one in events]),
         (200, [("MODIFIED", "c0"), ("DELETED", "c1")]), "a watch from a version")
    ok(events[0]["object"]["kind"] == "ConfigMap", "its objects say their kind")
    status, events = call.watch(path + "&labelSelector=n%3D0", 5, lambda events: len(events) == 1)
    same([(one["type"], one["object"]["metadata"]["name"]) for one in events],
         [("DELETED", "c0")], "what no longer fits the selector is DELETED")
    status, events = call.watch(CORE + "configmaps?labelSelector=n%3D9", 5,
                                lambda events: len(events) == 1)
    same([one["type"] for one in events], ["ADDED"], "a watch from no version: what is there first")
    began = time.monotonic()
    status, events = call.watch(CORE + "configmaps?resourceVersion=99999999", 1)
    ok(status == 200 and not events and 0.5 < time.monotonic() - began < 3,
       "a watch from a future version is empty until its timeout", status, events)
    status, events = call.watch(path + "&allowWatchBookmarks=true", 1)
    same(events[-1]["type"], "BOOKMARK", "a watch that ends says how far it was")
    ok(set(events[-1]["object"]) == {"kind", "apiVersion", "metadata"}, "in an empty object",
       events[-1])
    stand_in.order("watches", action="compact", kind="configmaps")
    status, events = call.watch(path, 5)
    same((status, events[0]["type"], events[0]["object"]["kind"], events[0]["object"]["code"],
          events[0]["object"]["reason"]), (200, "ERROR", "Status", 410, "Expired"),
         "a watch from an expired version: 200, and 410 in an event")
    ok("too old resource version" in events[0]["object"]["message"] and len(events) == 1,
       "and its end", events)
    for action, wanted in (("end", []), ("expire", ["ERROR"]), ("cut", ["BROKEN"])):
        process = os.fork()
        if process == 0:
            wait(lambda: stand_in.order("dump", what="watches")["open"].get("secrets"))
            stand_in.order("watches", action=action)
            os._exit(0)
        version = call("GET", CORE + "secrets").json["metadata"]["resourceVersion"]
        status, events = call.watch(CORE + "secrets?resourceVersion=" + version, 5)
        os.waitpid(process, 0)
        same([one["type"] for one in events], wanted, "watches: %s" % action)


# ---- Jobs and what becomes of them ----

def outcome(call, body, seconds=8):
    """(last conditions, Job, pods) once it has ended."""
    name = body["metadata"]["name"]
    answer = call("POST", JOBS, body)
    if answer.status != 201:
        return [str(answer)], {}, []
    wait(lambda: set(conditions(call("GET", JOBS + "/" + name).json)) & {"Complete", "Failed"},
         seconds)
    item = call("GET", JOBS + "/" + name).json
    return conditions(item), item, pods(call, name)


def with_fate(body, **fate):
    return changed(body, ("spec", "template", "metadata", "annotations"),
                   {"stand-in/fate": json.dumps(fate)})


def test_jobs(call, stand_in):
    version = call("GET", JOBS).json["metadata"]["resourceVersion"]
    told, item, made = outcome(call, indexed("good", 2))
    same(told, ["SuccessCriteriaMet", "Complete"], "a Job succeeds")
    same((item["status"]["succeeded"], item["status"]["completedIndexes"],
          "completionTime" in item["status"]), (2, "0,1", True), "its status")
    _, events = call.watch(JOBS + "?fieldSelector=metadata.name%%3Dgood&resourceVersion=%s"
                           % version, 5, lambda events: "Complete" in conditions(
                               events[-1]["object"]))
    same([conditions(one["object"]) for one in events][-2:],
         [["SuccessCriteriaMet"], ["SuccessCriteriaMet", "Complete"]],
         "SuccessCriteriaMet comes in an event of its own before Complete")
    pod = made[0]
    ok(pod["metadata"]["name"].startswith("good-0-") and len(pod["metadata"]["name"]) == 12
       and pod["spec"]["hostname"] == "good-0"
       and pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] == "0",
       "an Indexed Job's pods", pod)
    same(pod["status"]["containerStatuses"][0]["state"]["terminated"]["reason"], "Completed",
         "how the container ended")
    ok("finalizers" not in pod["metadata"], "a pod that was counted has no finalizer")

    told, item, made = outcome(call, with_fate(indexed("bad"), exit_code=42))
    cause = item["status"]["conditions"][-1]
    same((told, cause["reason"], cause["message"]),
         (["FailureTarget", "Failed"], "BackoffLimitExceeded",
          "Job has reached the specified backoff limit"), "a Job fails")
    ended = made[0]["status"]["containerStatuses"][0]["state"]["terminated"]
    same((made[0]["status"]["phase"], ended["exitCode"], ended["reason"]), ("Failed", 42, "Error"),
         "exit 42")
    told, item, made = outcome(call, with_fate(changed(indexed("again"), ("spec", "backoffLimit"),
                                                       2), exit_code=1))
    same(len(made), 3, "a Job with backoffLimit 2 tries three times")
    told, _, made = outcome(call, with_fate(indexed("memory"), oom=True))
    ended = made[0]["status"]["containerStatuses"][0]["state"]["terminated"]
    same((ended["exitCode"], ended["reason"]), (137, "OOMKilled"), "out of memory")
    told, _, made = outcome(call, with_fate(indexed("start"), start_error="exec: \"x\": not found"))
    ended = made[0]["status"]["containerStatuses"][0]["state"]["terminated"]
    same((ended["exitCode"], ended["reason"]), (128, "StartError"), "StartError")
    told, item, _ = outcome(call, with_fate(indexed("slow", activeDeadlineSeconds=1), seconds=-1))
    same((told, item["status"]["conditions"][-1]["reason"]),
         (["FailureTarget", "Failed"], "DeadlineExceeded"), "deadline exceeded")
    told, item, made = outcome(call, with_fate(indexed("evicted"), seconds=0, evict=True))
    same((made[0]["status"]["reason"], [one["reason"] for one in made[0]["status"]["conditions"]
                                        if one["type"] == "DisruptionTarget"]),
         ("Evicted", ["TerminationByKubelet"]), "eviction")
    policy = {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [3]}}]}
    told, item, _ = outcome(call, with_fate(indexed("policy", podFailurePolicy=policy,
                                                    backoffLimit=6), exit_code=3))
    same(item["status"]["conditions"][-1]["reason"], "PodFailurePolicy", "a pod failure policy")
    stand_in.order("fate", pattern="/perindex-1-", exit_code=1)
    told, item, _ = outcome(call, changed(indexed("perindex", 3, backoffLimitPerIndex=0),
                                          ("spec", "backoffLimit"), None))
    same((told, item["status"].get("failedIndexes"), item["status"]["completedIndexes"],
          item["status"]["conditions"][-1]["reason"]),
         (["FailureTarget", "Failed"], "1", "0,2", "FailedIndexes"), "a limit per index")
    test_indexes_that_are_tried_again(call, stand_in)
    call("POST", JOBS, indexed("gone", ttlSecondsAfterFinished=0))
    ok(wait(lambda: call("GET", JOBS + "/gone").status == 404), "a Job's time to live")
    told, item, made = outcome(call, job("plain", completions=3, parallelism=2))
    same((told[-1], item["status"]["succeeded"], len(made)), ("Complete", 3, 3), "not Indexed")


def test_indexes_that_are_tried_again(call, stand_in):
    """A failed pod keeps its finalizer, and counts for nothing, until its index has another one."""
    count = "batch.kubernetes.io/job-index-failure-count"

    def of_index(index):
        return sorted((one for one in pods(call, "retried") if one["spec"]["hostname"] ==
                       "retried-%d" % index),
                      key=lambda one: one["metadata"]["annotations"][count])
    stand_in.order("set", name="job_backoff", value=2)
    stand_in.order("fate", pattern="/retried-1-", exit_code=1)
    stand_in.order("fate", pattern="/retried-[02]-", seconds=-1)
    call("POST", JOBS, changed(indexed("retried", 3, backoffLimitPerIndex=1, maxFailedIndexes=1),
                               ("spec", "backoffLimit"), None))
    wait(lambda: of_index(1) and of_index(1)[0]["status"].get("phase") == "Failed")
    ended = finish_time(of_index(1)[0])
    status = wait(lambda: call("GET", JOBS + "/retried").json["status"])
    same((len(of_index(1)), "failed" in status, status.get("failedIndexes"),
          of_index(1)[0]["metadata"].get("finalizers")),
         (1, False, "", ["batch.kubernetes.io/job-tracking"]), "a failed index rests, uncounted")
    wait(lambda: len(of_index(1)) == 2)
    ok(1.9 < time.time() - ended, "for as long as it should", time.time() - ended)
    same([one["metadata"]["annotations"][count] for one in of_index(1)], ["0", "1"],
         "the next pod knows of the failure")
    wait(lambda: call("GET", JOBS + "/retried").json["status"].get("failed") == 2)
    status = call("GET", JOBS + "/retried").json["status"]
    same((status["failed"], status["failedIndexes"], status["active"], len(of_index(1))),
         (2, "1", 2, 2), "and its failure is the last one, which ends nothing else")
    ok(not any("finalizers" in one["metadata"] for one in of_index(1)), "both were counted")
    stand_in.order("set", name="job_backoff", value=0.1)
    call("DELETE", JOBS + "/retried?propagationPolicy=Background")


def finish_time(pod):
    ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"]
    return calendar.timegm(time.strptime(ended, "%Y-%m-%dT%H:%M:%SZ"))


def test_waiting(call, stand_in):
    many = changed(indexed("many"), MAIN + ("resources",), {"limits": {"cpu": "1000"}})
    call("POST", JOBS, many)
    found = wait(lambda: [one for pod in pods(call, "many")
                          for one in pod["status"].get("conditions", ())
                          if one["type"] == "PodScheduled"])
    same((found[0]["reason"], found[0]["message"]), (
        "Unschedulable", "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are "
        "available: 2 No preemption victims found for incoming pod."), "Unschedulable")
    call("POST", JOBS, with_fate(indexed("pull"), image_error="no such image"))

    def state():
        found = pods(call, "pull")
        return found and (found[0]["status"].get("containerStatuses") or [{}])[0].get(
            "state", {}).get("waiting", {}).get("reason")
    same(wait(lambda: state() if state() == "ErrImagePull" else None), "ErrImagePull",
         "ErrImagePull")
    same(wait(lambda: state() if state() == "ImagePullBackOff" else None), "ImagePullBackOff",
         "ImagePullBackOff")
    mounted = changed(indexed("mounts"), POD + ("volumes",),
                      [{"name": "v", "configMap": {"name": "later"}}])
    call("POST", JOBS, mounted)
    path = CORE + "events?fieldSelector=reason%3DFailedMount"
    ok(wait(lambda: call("GET", path).json["items"]), "FailedMount while a ConfigMap is missing")
    call("POST", CORE + "configmaps", {"apiVersion": "v1", "kind": "ConfigMap",
                                       "metadata": {"name": "later"}})
    ok(wait(lambda: "Complete" in conditions(call("GET", JOBS + "/mounts").json)),
       "and it goes on when it is there")
    call("POST", JOBS, indexed("held", suspend=True))
    found = wait(lambda: conditions(call("GET", JOBS + "/held").json))
    same((found, pods(call, "held")), (["Suspended"], []), "a suspended Job has no pods")


def test_logs(call, stand_in):
    told, _, made = outcome(call, with_fate(indexed("talk"), output="first\nsecond\n"))
    path = CORE + "pods/%s/log" % made[0]["metadata"]["name"]
    answer = call("GET", path)
    same((answer.status, answer.type, answer.body), (200, "text/plain", b"first\nsecond\n"), "a log")
    same(call("GET", path + "?tailLines=1").body, b"second\n", "tailLines")
    same(call("GET", path + "?limitBytes=3").body, b"fir", "limitBytes")
    stamped = call("GET", path + "?timestamps=true").body.split(b"\n")[1]
    ok(stamped.endswith(b"Z second") and len(stamped) == 37, "timestamps", stamped)
    since = stamped.split()[0].decode()
    same(call("GET", path + "?sinceTime=" + since).status, 200, "sinceTime")
    refused(call("GET", path + "?container=other"), 400, "BadRequest", "is not valid for pod",
            "another container")
    call("POST", JOBS, with_fate(indexed("quiet"), stuck=True))
    wait(lambda: [1 for one in pods(call, "quiet") if one["status"].get("containerStatuses")])
    refused(call("GET", CORE + "pods/%s/log" % pods(call, "quiet")[0]["metadata"]["name"]), 400,
            "BadRequest", "is waiting to start: ContainerCreating", "a log that is not there yet")
    call("POST", JOBS, with_fate(indexed("long"), output="line\n", rate=100, seconds=0.4))
    found = wait(lambda: pods(call, "long", "Running"))
    answer = call("GET", CORE + "pods/%s/log?follow=true" % found[0]["metadata"]["name"])
    ok(answer.body.count(b"line\n") > 3, "a log that is followed", answer)


def test_ends(call, stand_in):
    stand_in.order("no_fates")
    call("POST", JOBS, with_fate(indexed("shrink", 2), seconds=-1))
    wait(lambda: len(pods(call, "shrink", "Running")) == 2)
    call("PATCH", JOBS + "/shrink", {"spec": {"parallelism": 0}},
         {"Content-Type": "application/merge-patch+json"})
    ok(wait(lambda: not pods(call, "shrink")), "parallelism 0 ends the pods")
    same(conditions(call("GET", JOBS + "/shrink").json), [], "and the Job neither fails nor ends")
    call("POST", JOBS, changed(indexed("nowhere"), POD + ("nodeSelector",), {"no": "such-node"}))
    found = wait(lambda: pods(call, "nowhere"))
    call("DELETE", CORE + "pods/" + found[0]["metadata"]["name"])
    ok(wait(lambda: "Failed" in conditions(call("GET", JOBS + "/nowhere").json)),
       "a pod that is deleted before it has a node is failed by the garbage collector")
    stand_in.order("node", name="node-3", action="add", capacity={"cpu": "2", "special": "1"})
    lost = changed(with_fate(indexed("lost"), seconds=-1), POD + ("nodeSelector",),
                   {"kubernetes.io/hostname": "node-3"})
    call("POST", JOBS, lost)
    wait(lambda: pods(call, "lost", "Running"))
    stand_in.order("set", name="node_eviction", value=0.05)
    stand_in.order("node", name="node-3", action="lose")
    found = wait(lambda: [pod for pod in pods(call, "lost")
                          if pod["metadata"].get("deletionTimestamp")])
    ok(found and found[0]["status"]["phase"] == "Running" and "DisruptionTarget" in
       conditions(found[0]), "a lost node's pod is deleted, and stays", found)
    same([one["reason"] for one in found[0]["status"]["conditions"]
          if one["type"] == "DisruptionTarget"], ["DeletionByTaintManager"], "its reason")
    ready = [one for one in call("GET", "/api/v1/nodes/node-3").json["status"]["conditions"]
             if one["type"] == "Ready"]
    same(ready[0]["status"], "Unknown", "the node's condition")
    stand_in.order("node", name="node-3", action="remove")
    ok(wait(lambda: "Failed" in conditions(call("GET", JOBS + "/lost").json)),
       "the Job fails once its pod is really gone")
    runs = stand_in.order("dump", what="pods")["pods"]
    same(len([one for one in runs if one["job"] == "lost"]), 1, "every pod that ran is known")
    made = stand_in.order("dump", what="creations", kind="jobs")["creations"]
    ok(len({one["uid"] for one in made}) == len(made) > 20, "every creation is known")


def test_misbehaviour(call, stand_in):
    def failing(method, path, body=None):
        try:
            return call(method, path, body)
        except (OSError, http.client.HTTPException) as error:
            return type(error).__name__
    stand_in.order("misbehave", action="cut_answer", method="POST", path="/jobs", bytes=0)
    ok(type(failing("POST", JOBS, job("cut"))) is str, "cut_answer: no answer")
    same(call("GET", JOBS + "/cut").status, 200, "cut_answer: carried out")
    stand_in.order("misbehave", action="cut_request", method="POST")
    ok(type(failing("POST", JOBS, job("cut2"))) is str, "cut_request: no answer")
    same(call("GET", JOBS + "/cut2").status, 404, "cut_request: not carried out")
    for code in (429, 500, 502, 503):
        stand_in.order("misbehave", action="status", code=code, retry_after=2)
        answer = call("GET", JOBS + "/cut")
        same((answer.status, answer.type, answer.headers["Retry-After"]),
             (code, "text/plain; charset=utf-8", "2"), "status: %d" % code)
    stand_in.order("misbehave", action="garbage")
    try:
        good = call("GET", JOBS + "/cut").json
    except ValueError:
        good = None
    same(good, None, "garbage")
    stand_in.order("misbehave", action="content_type", value="text/html")
    same(call("GET", JOBS + "/cut").type, "text/html", "content_type")
    stand_in.order("misbehave", action="twice", method="POST")
    same(call("POST", JOBS, job("twice")).status, 409, "twice")
    stand_in.order("misbehave", action="foreign", method="POST")
    same(call("POST", JOBS, job("taken")).status, 409, "foreign: the name is taken")
    same(call("GET", JOBS + "/taken").json["metadata"]["labels"]["app"], "somebody-elses",
         "foreign: by somebody else")
    for action, words in (("slow", {"seconds": 0.0001}), ("chunks", {"size": 100}),
                          ("late", {"seconds": 0.05}), ("hang", {"seconds": 0.05})):
        stand_in.order("misbehave", action=action, **words)
        same(call("GET", JOBS + "/cut").json["metadata"]["name"], "cut", action)
    stand_in.order("misbehave", action="status", code=503, count=2, skip=1)
    same([call("GET", JOBS + "/cut").status for _ in range(4)], [200, 503, 503, 200],
         "skip and count")
    stand_in.order("misbehave", action="status", code=503, count=0, path="/pods")
    same([call("GET", path).status for path in (JOBS, CORE + "pods", CORE + "pods")],
         [200, 503, 503], "for ever, where the path fits")
    same(stand_in.order("calm")["done"], 2, "calm")
    with open(os.path.join(stand_in.directory, "control-token"), encoding="utf-8") as file:
        token = {"Authorization": "Bearer " + file.read()}
    same((call("POST", "/_control", {"order": "calm"}, token).json["ok"],
          call("POST", "/_control", {"order": "calm"}).status), (True, 401), "/_control")


# Listens, calls the other pod until it answers, and waits to be called by it.
PEERS = """
import os, socket, time
index = int(os.environ["JOB_COMPLETION_INDEX"])
here = socket.create_server(("", 22222 + index))
while True:
    try:
        socket.create_connection(("peers-%d.peers" % (1 - index), 22222 + 1 - index))
        break
    except OSError:
        time.sleep(0.02)
print(os.environ["HOSTNAME"], "hears", here.accept()[1][0])
"""


def test_reality(call, stand_in):
    """Commands that are really run, where this machine lets us."""
    global tests
    if os.geteuid() or subprocess.run(["unshare", "--mount", "sh", "-c", "d=$(mktemp -d) && mount -t "
                                       "tmpfs none $d && mkdir $d/u $d/w $d/m && mount -t overlay "
                                       "overlay -o lowerdir=/,upperdir=$d/u,workdir=$d/w $d/m; "
                                       "r=$?; umount -l $d; rmdir $d; exit $r"],
                                      capture_output=True).returncode:
        tests += 1
        print("ok %d - commands are really run # SKIP not root, or no overlay" % tests)
        return
    stand_in.order("set", name="really_run", value=stand_in.directory)
    call("POST", CORE + "configmaps", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {
        "name": "real"}, "data": {"x": "from the map\n"}})
    body = changed(indexed("real"), MAIN + ("command",), [
        "sh", "-c", "id -u; id -g; id -G; echo '$(BOTH)' $$JOB_COMPLETION_INDEX; cat /conf/x; pwd; "
        "touch /etc/no-such-file 2>/dev/null || echo no; exit 5"])
    body = changed(body, MAIN + ("env",), [{"name": "A", "value": "a"},
                                           {"name": "BOTH", "value": "$(A)b$(C)"}])
    body = changed(body, MAIN + ("workingDir",), "/scratch")
    body = changed(body, MAIN + ("volumeMounts",), [{"name": "s", "mountPath": "/scratch"},
                                                    {"name": "c", "mountPath": "/conf"}])
    body = changed(body, POD + ("volumes",), [{"name": "s", "emptyDir": {}},
                                              {"name": "c", "configMap": {"name": "real"}}])
    body = changed(body, POD + ("securityContext",), {"runAsUser": 1234, "runAsGroup": 1235,
                                                      "fsGroup": 77})
    told, item, made = outcome(call, body)
    log = call("GET", CORE + "pods/%s/log" % made[-1]["metadata"]["name"]).body.decode()
    same(log.split("\n"), ["1234", "1235", "1235 77", "ab$(C) 0", "from the map", "/scratch", "no",
                           ""], "a command is really run")
    same([one["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"]
          for one in made], [5], "and its exit code is its own")
    told, _, made = outcome(call, changed(indexed("unreal"), MAIN + ("command",), ["/no/such"]))
    ended = made[0]["status"]["containerStatuses"][0]["state"]["terminated"]
    same((ended["exitCode"], ended["reason"]), (128, "StartError"), "a command that is not there")
    body = changed(indexed("peers", 2), MAIN + ("command",), ["python3", "-c", PEERS])
    told, _, made = outcome(call, changed(body, POD + ("subdomain",), "peers"))
    log = call("GET", CORE + "pods/%s/log" % made[-1]["metadata"]["name"]).body.decode()
    ok(told[-1:] == ["Complete"] and log.startswith("peers-1 hears "), "pods reach each other by name",
       told, log)
    body = changed(indexed("trap"), MAIN + ("command",), [
        "sh", "-c", "trap 'echo ending; exit 3' TERM; echo ready; while :; do sleep 0.05; done"])
    call("POST", JOBS, body)
    found = wait(lambda: pods(call, "trap", "Running"))
    path = CORE + "pods/" + found[0]["metadata"]["name"]
    wait(lambda: b"ready" in call("GET", path + "/log").body)
    version = call("GET", path).json["metadata"]["resourceVersion"]
    call("PATCH", JOBS + "/trap", {"spec": {"parallelism": 0}},
         {"Content-Type": "application/merge-patch+json"})
    _, events = call.watch(CORE + "pods?labelSelector=job-name%%3Dtrap&resourceVersion=%s"
                           % version, 5, lambda events: events[-1]["type"] == "DELETED")
    same((events[-1]["object"]["status"]["phase"], events[-1]["object"]["status"]
          ["containerStatuses"][0]["state"]["terminated"]["exitCode"]), ("Failed", 3),
         "SIGTERM is heard")
    stand_in.order("set", name="really_run", value="")


def test_restart(call, stand_in):
    stand_in.order("set", name="controllers", value=False)
    version = call("GET", JOBS).json["metadata"]["resourceVersion"]
    call("POST", JOBS, job("before"))
    stand_in.order("restart", down=0.3)
    time.sleep(0.1)
    try:
        refused_it = call.open().connect() is not None
    except OSError:
        refused_it = True
    ok(refused_it, "restart: connections are refused")
    call.connection = None

    def back():
        try:
            return call("GET", JOBS + "/before").status == 200
        except (OSError, http.client.HTTPException):
            return False
    ok(wait(back), "restart: and served again, with all objects")
    _, events = call.watch(JOBS + "?resourceVersion=" + version, 5, lambda events: events)
    same(events[0]["object"]["metadata"]["name"], "before", "restart: a watch resumes")
    uid = call("GET", JOBS + "/before").json["metadata"]["uid"]
    same(stand_in.stop(), 0, "SIGTERM ends it")
    stand_in.start()
    call.connection = None
    same(call("GET", JOBS + "/before").json["metadata"]["uid"], uid, "a new process has all objects")
    made = stand_in.order("dump", what="creations", kind="jobs")["creations"]
    ok(uid in [one["uid"] for one in made], "and knows what was created")
    stand_in.order("reset_versions")
    call.connection = None
    ok(int(call("GET", JOBS).json["metadata"]["resourceVersion"]) < int(version),
       "versions are reset")


def test_discovery(call):
    same(call("GET", "/version").json["gitVersion"], "v1.36.3", "/version")
    same(call("GET", "/api").json["versions"], ["v1"], "/api")
    ok("batch" in [one["name"] for one in call("GET", "/apis").json["groups"]], "/apis")
    ok("jobs/status" in [one["name"] for one in call("GET", "/apis/batch/v1").json["resources"]],
       "/apis/batch/v1")
    same(call("GET", "/readyz").body, b"ok", "/readyz")
    same(call("GET", "/api/v1/namespaces/dlspool").json["status"]["phase"], "Active", "a namespace")
    same([one["metadata"]["name"] for one in call("GET", "/api/v1/nodes").json["items"]],
         ["node-1", "node-2"], "nodes")
    group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup",
             "metadata": {"name": "g"}, "spec": {"minMember": 2}}
    path = "/apis/scheduling.volcano.sh/v1beta1/namespaces/dlspool/podgroups"
    same(call("POST", path, group).status, 201, "a PodGroup")
    same(call("GET", path).json["items"][0]["kind"], "PodGroup",
         "items of a custom resource's list say their kind")


def test_schema():
    """Every field of the published description, where there is one to compare with."""
    shared = os.environ.get("DLSPOOL_SHARED", os.path.join(TOP, "..", "shared"))
    file_name = os.path.join(shared, "data", "kubernetes", "objects-1.36.json")
    global tests
    if not os.path.exists(file_name):
        tests += 1
        print("ok %d - the table of fields # SKIP no objects-1.36.json to compare with" % tests)
        return
    from schema import Schema
    table = Schema(os.path.join(TOP, "executors", "kubernetes", "schema.txt")).types
    with open(file_name, encoding="utf-8") as file:
        definitions = json.load(file)["definitions"]
    wrong, compared = [], 0
    for name, definition in definitions.items():
        short = name.rpartition(".")[2]
        if short not in table or "properties" not in definition:
            continue
        compared += 1
        fields = definition["properties"]
        for field in set(fields) ^ set(table[short]):
            wrong.append("%s.%s" % (short, field))
        for field in set(fields) & set(table[short]):
            kind, needed = table[short][field]
            if not fits(kind, fields[field]) or needed != (field in definition.get("required", ())):
                wrong.append("%s.%s: %s is not %s" % (short, field, kind, fields[field]))
    ok(compared > 150 and not wrong, "the table of fields is that of 1.36", compared, *wrong)


def fits(kind, field):
    """Is the table's word for a type what the description says?"""
    reference = field.get("$ref", "").rpartition(".")[2]
    if reference:
        return {"quantity": "Quantity", "intorstring": "IntOrString"}.get(kind, kind) == reference \
            or kind == "time" and reference in ("Time", "MicroTime") \
            or kind == "any" and reference in ("FieldsV1", "RawExtension")
    if field["type"] == "array":
        return kind[0] == "[" and fits(kind[1:-1], field["items"])
    if field["type"] == "object":
        return kind[0] == "{" and fits(kind[1:-1], field["additionalProperties"]) or kind == "any"
    if "enum" in field:                 # too long a list of words may be left to the server
        return kind == "string" or sorted(word.strip('"') for word in kind.split("|")) == sorted(field["enum"])
    if field["type"] == "integer":
        return kind == ("integer32" if field.get("format") == "int32" else "integer")
    return kind == {"byte": "base64"}.get(field.get("format"), field["type"])


def main():
    directory = tempfile.mkdtemp(prefix="dlspool-test.")
    stand_in = None
    try:
        stand_in = StandIn(os.path.join(directory, "kubernetes"), "--set", "pull_retry=0.1")
        call, admin = Client(stand_in.directory), Client(stand_in.directory, True)
        test_schema()
        test_discovery(call)
        test_creation(call)
        test_refusals(call, admin, stand_in)
        test_roles()
        test_users(call, admin, stand_in)
        test_quota(call, admin, stand_in)
        test_changes(call)
        test_deletion(call, stand_in)
        test_lists(call, stand_in)
        test_watches(call, stand_in)
        test_jobs(call, stand_in)
        test_waiting(call, stand_in)
        test_logs(call, stand_in)
        test_ends(call, stand_in)
        test_misbehaviour(call, stand_in)
        test_reality(call, stand_in)
        test_restart(call, stand_in)
    finally:
        if stand_in and stand_in.process.poll() is None:
            stand_in.stop()
        shutil.rmtree(directory, ignore_errors=True)
    print("1..%d" % tests)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
