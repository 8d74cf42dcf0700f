"""tests/stand-in/kubernetes/api.py - from a request to its answer

Authentication, throttling, authorisation, then the verb.  A create goes through the server's steps
in the server's order: decoding (400), the namespace (404, 403), validation (422), quota (403), the
name (409); with dryRun everything but the last step's effect.
"""
import hashlib
import json
import random
import time

import defaults
import deletion
import patching
import quota
import resizing
import statuses
import validation
from kinds import (ALL, BY_KIND, BY_PATH, EVENTS, JOBS, NAMESPACES, PODS, POD_GROUPS, QUOTAS,
                   SECRETS, SERVICES)
from rbac import Users
from schema import path_of, read_json
from statuses import Refusal, bad_request, encode, invalid, refuse_invalid, unsupported
from store import timestamp, with_metadata
from watching import Lists, Watches
from wire import Answer

VERSION = {"major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36",
           "minCompatibilityMajor": "1", "minCompatibilityMinor": "35", "gitVersion": "v1.36.3",
           "gitCommit": "2f1ea6e1e4c7f6d0b5a3c8e9d7b6a5f4e3d2c1b0", "gitTreeState": "clean",
           "buildDate": "2026-08-12T10:21:33Z", "goVersion": "go1.26.1", "compiler": "gc",
           "platform": "linux/amd64"}
PATCHES = {"application/merge-patch+json": patching.merge,
           "application/strategic-merge-patch+json": patching.strategic,
           "application/json-patch+json": patching.json_patch}
ETCD_MAX = 1536 * 1024          # bytes of one object
GENERATED = "bcdfghjklmnpqrstvwxz2456789"
UNKNOWN_MEDIA = ("the body of the request was in an unknown format - accepted media types "
                 "include: %s")
BODIES = "application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor"
OWN_METADATA = ("creationTimestamp", "uid", "selfLink", "deletionTimestamp",
                "deletionGracePeriodSeconds", "generation", "managedFields", "resourceVersion")


def random_suffix(length=5):
    return "".join(random.choice(GENERATED) for _ in range(length))


class Throttle:
    """So many requests a second, as a bucket that fills up."""

    def __init__(self, rate, burst):
        self.rate, self.burst = rate, burst
        self.tokens, self.last = float(burst), time.monotonic()

    def allows(self):
        now = time.monotonic()
        self.tokens = min(self.burst, self.tokens + (now - self.last) * self.rate)
        self.last = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


class Api:
    def __init__(self, cluster, schema):
        self.cluster, self.store, self.schema = cluster, cluster.store, schema
        self.users = Users()
        self.lists = Lists(self.store)
        self.watches = Watches(self.store, cluster.loop)
        self.throttle = None
        self.counts = {}                # "POST jobs" -> requests
        self.throttled = 0
        self.addresses = 0
        self.priority_classes = {"system-node-critical", "system-cluster-critical"}
        self.version = dict(VERSION)

    # ---- one request ----

    def respond(self, request):
        """An Answer, or None where the answer is a stream that has begun."""
        try:
            return self._respond(request)
        except Refusal as refusal:
            return refusal.answer()

    def _respond(self, request):
        user = request.user = self.users.authenticate(request)
        if self.throttle and not user.master and not self.throttle.allows():
            self.throttled += 1
            return too_many_requests()
        parts = request.path.split("/")
        if parts[1] == "api" and len(parts) > 3 and parts[3]:
            group, version, rest = "", parts[2], parts[3:]
        elif parts[1] == "apis" and len(parts) > 4 and parts[4]:
            group, version, rest = parts[2], parts[3], parts[4:]
        else:
            return self._other_path(request)
        if rest[-1] == "":
            rest.pop()
        if group == "authorization.k8s.io":
            return self._access_review(request, rest)
        space = ""
        if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in NAMESPACES.subresources:
            space, rest = rest[1], rest[2:]
        kind = BY_PATH.get((group, version, rest[0]))
        if kind is None or kind is POD_GROUPS and not self.cluster.settings["volcano"]:
            raise statuses.no_such_path()
        name = rest[1] if len(rest) > 1 else ""
        subresource = rest[2] if len(rest) > 2 else ""
        if subresource == "resize" and not resizing.served(self.version):
            raise statuses.no_such_path()
        if len(rest) > 3 or subresource and subresource not in kind.subresources or \
                space and not kind.namespaced:
            raise statuses.no_such_path()
        return self._resource(request, kind, space, name, subresource)

    def _resource(self, request, kind, space, name, subresource):
        method = request.method
        watching = method == "GET" and request.option("watch") in ("true", "1")
        if name:
            verb = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete",
                    "POST": "create"}.get(method)
        else:
            verb = {"GET": "watch" if watching else "list", "POST": "create",
                    "DELETE": "deletecollection", "PUT": "update",
                    "PATCH": "patch"}.get(method)
        wanted = method if verb is None else verb
        # A request for one namespace is judged as one in it, so that its own Role may allow it.
        within = name if kind is NAMESPACES and name else space
        Users.authorize(request.user, wanted.lower(), kind, subresource, within, name)
        key = "%s %s" % (verb, kind.plural + ("/" + subresource if subresource else ""))
        self.counts[key] = self.counts.get(key, 0) + 1
        if verb is None or verb not in kind.verbs and not subresource or \
                name and method == "POST" and subresource != "eviction" or \
                not name and method in ("PUT", "PATCH") or \
                not space and kind.namespaced and (name or verb in ("create", "deletecollection")):
            raise statuses.not_allowed()
        accept = request.headers.get("accept", "*/*")
        if "*/*" not in accept and "application/" not in accept and subresource != "log":
            raise Refusal(406, "NotAcceptable", "only the following media types are accepted: "
                          + BODIES)
        if request.too_large:
            raise Refusal(413, "RequestEntityTooLarge",
                          "Request entity too large: limit is 3145728")
        if subresource == "log":
            return self.cluster.kubelet.log(request, self._found(PODS, space, name))
        if subresource == "eviction":
            return self._evict(request, space, name)
        if verb == "get":
            return self._get(kind, space, name)
        if verb == "list":
            return self.lists.list(kind, space, request)
        if verb == "watch":
            return self.watches.start(kind, space, request)
        if verb == "create":
            return self._create(request, kind, space)
        if verb == "delete":
            return self._delete(request, kind, space, name)
        if verb == "deletecollection":
            return self._delete_collection(request, kind, space)
        return self._change(request, kind, space, name, subresource)

    def _found(self, kind, space, name):
        item = self.store.get(kind, space, name)
        if item is None:
            raise statuses.not_found(kind, name)
        return item

    def _get(self, kind, space, name):
        if kind is QUOTAS:
            item = self._found(kind, space, name)
            return Answer(200, encode(dict(item, status=quota.status(self.store, item))) + b"\n")
        entry = self.store.entry(kind, space, name)
        if entry is None:
            raise statuses.not_found(kind, name)
        return Answer(200, entry.data + b"\n")

    # ---- bodies ----

    def _decode(self, request, kind):
        """The tree of a body of that kind, checked; unknown fields are refused, told or dropped."""
        media = request.headers.get("content-type", "application/json").split(";")[0].strip()
        if media != "application/json":
            raise Refusal(415, "UnsupportedMediaType", UNKNOWN_MEDIA % BODIES)
        value, twice = read_json(request.body)
        if type(value) is not dict:
            raise bad_request("couldn't get version/kind; json parse error: json: cannot unmarshal "
                              "%s into Go value of type struct" % type(value).__name__)
        self._check_kind(kind, value)
        return self._check_fields(request, kind, value, twice)

    @staticmethod
    def _check_kind(kind, value):
        given = (value.get("apiVersion"), value.get("kind"))
        if given == (kind.api_version, kind.kind):
            return
        if not given[1]:
            raise bad_request("Object 'Kind' is missing in '%s'" % json.dumps(value)[:200])
        if not given[0]:
            raise bad_request("Object 'apiVersion' is missing in '%s'" % json.dumps(value)[:200])
        if given in BY_KIND:
            raise bad_request("the API version in the data (%s) does not match the expected API "
                              "version (%s)" % (given[0], kind.api_version)
                              if given[0] != kind.api_version else
                              "the object provided is unrecognized (must be of type %s): couldn't "
                              "get version/kind; %s is not %s" % (kind.kind, given[1], kind.kind))
        raise bad_request("%s in version \"%s\" cannot be handled as a %s: no kind \"%s\" is "
                          "registered for version \"%s\" in scheme \"pkg/api/legacyscheme/scheme.go\""
                          % (given[1], kind.version, kind.kind, given[1], given[0]))

    def _check_fields(self, request, kind, value, twice=()):
        mode = request.option("fieldValidation", "Warn") or "Warn"
        if mode not in ("Strict", "Warn", "Ignore"):
            options = type("Options", (), {"group": "meta.k8s.io", "kind": "CreateOptions"})
            raise refuse_invalid(options, "", [unsupported("fieldValidation", mode,
                                                           ("Ignore", "Strict", "Warn"))])
        doubled = ['duplicate field "%s"' % path_of(value, where, key) for where, key in twice]
        notes = self.schema.check(kind.type_name, kind, value)
        told = ['unknown field "%s"' % path for path in notes.unknown] + doubled
        if told and mode == "Strict":
            raise bad_request("%s in version \"%s\" cannot be handled as a %s: strict decoding "
                              "error: %s" % (kind.kind, kind.version, kind.kind, ", ".join(told)))
        if mode == "Warn":
            request.warnings += told
        if notes.problems:
            raise refuse_invalid(kind, (value.get("metadata") or {}).get("name", ""),
                                 notes.problems)
        return value

    @staticmethod
    def _dry_run(request):
        values = request.query.get("dryRun")
        if not values:
            return False
        if [one for one in values if one != "All"]:
            name = {"POST": "CreateOptions", "PATCH": "PatchOptions", "PUT": "UpdateOptions"}.get(
                request.method, "DeleteOptions")
            options = type("Options", (), {"group": "meta.k8s.io", "kind": name})
            raise refuse_invalid(options, "", [unsupported("dryRun", values, ("All",))])
        return True

    # ---- create ----

    def _create(self, request, kind, space):
        dry = self._dry_run(request)
        item = self._decode(request, kind)
        meta = item.setdefault("metadata", {})
        if kind.namespaced:
            if meta.get("namespace", space) != space:
                raise bad_request("the namespace of the provided object does not match the "
                                  "namespace sent on the request")
            meta["namespace"] = space
        entry = self.admit(kind, item, request.user.name, request.body, dry)
        return Answer(201, entry + b"\n" if dry else entry.data + b"\n")

    def admit(self, kind, item, user, body=b"", dry=False):
        """All steps between a decoded body and the store."""
        meta = item["metadata"]
        if meta.get("resourceVersion"):
            raise Refusal(500, "", "resourceVersion should not be set on objects to be created")
        for name in OWN_METADATA:
            meta.pop(name, None)
        space = meta.get("namespace", "")
        if kind.namespaced:
            self._namespace_open(kind, space, meta)
        if not meta.get("name"):
            if not meta.get("generateName"):
                raise refuse_invalid(kind, "", [statuses.required(
                    "metadata.name", "name or generateName is required")])
            meta["name"] = meta["generateName"][:58] + random_suffix()
        meta["uid"] = self.store.new_uid()
        meta["creationTimestamp"] = timestamp()
        item = self._complete(kind, item)
        problems = validation.check_new(kind, item)
        if problems:
            raise refuse_invalid(kind, meta["name"], problems)
        if kind is PODS:
            self._pod_admission(item)
        quota.admit(self.cluster, kind, item)
        if self.store.entry(kind, space, meta["name"]) is not None:
            raise statuses.already_exists(kind, meta["name"])
        if len(body) > ETCD_MAX:
            raise self._too_big(kind, item)
        if dry:
            return kind.prefix + encode({key: value for key, value in item.items()
                                         if key not in ("kind", "apiVersion")})[1:]
        entry = self.store.create(kind, item)
        self.store.creations.append((kind.plural, space, meta["name"], meta["uid"], time.time(),
                                     user, hashlib.sha256(body).hexdigest() if body else ""))
        return entry

    def _too_big(self, kind, item):
        """The server tries again with a new uid, and then finds the first one in the labels."""
        if kind is not JOBS:
            return Refusal(413, "RequestEntityTooLarge", "etcdserver: request is too large")
        labels = item["spec"]["template"]["metadata"]["labels"]
        uid = self.store.new_uid()
        return refuse_invalid(kind, item["metadata"]["name"], [
            invalid("spec.template.metadata.labels[%s]" % key, labels, "must be '%s'" % uid)
            for key in ("batch.kubernetes.io/controller-uid", "controller-uid")])

    def _namespace_open(self, kind, space, meta):
        found = self.store.get(NAMESPACES, "", space)
        if found is None:
            raise statuses.not_found(NAMESPACES, space)
        if found["status"].get("phase") == "Terminating":
            raise statuses.forbidden(
                kind, meta.get("name"), "unable to create new content in namespace %s because it "
                "is being terminated" % space,
                [{"reason": "NamespaceTerminating",
                  "message": "namespace %s is being terminated" % space,
                  "field": "metadata.namespace"}])

    def _complete(self, kind, item):
        """Defaults, and what the server sets whatever the body says."""
        meta = item["metadata"]
        if kind is JOBS:
            defaults.job(item)
            defaults.job_identity(item)
            meta["generation"] = 1
            item["status"] = {}
        elif kind is PODS:
            defaults.pod_spec(item["spec"])
            meta["generation"] = 1
            item["status"] = {"phase": "Pending", "qosClass": _quality(item["spec"])}
        elif kind is SERVICES:
            defaults.service(item)
            if item["spec"].get("clusterIP") != "None":
                self.addresses += 1
            defaults.service_address(item, self.addresses)
        elif kind is SECRETS:
            _fold_strings(item)
        elif kind is EVENTS:
            defaults.event(item)
        elif kind is NAMESPACES:
            item["spec"], item["status"] = {"finalizers": ["kubernetes"]}, {"phase": "Active"}
            meta.setdefault("labels", {})["kubernetes.io/metadata.name"] = meta["name"]
        elif kind is POD_GROUPS:
            meta["generation"] = 1
        first = {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": meta}
        first.update(item)
        return first

    def _pod_admission(self, item):
        spec = item["spec"]
        name = spec.get("priorityClassName")
        if name and name not in self.priority_classes:
            raise statuses.forbidden(PODS, item["metadata"].get("name"),
                                     "no PriorityClass with name %s was found" % name)
        spec.setdefault("priority", 0)
        spec.setdefault("preemptionPolicy", "PreemptLowerPriority")
        spec.setdefault("enableServiceLinks", True)
        account = spec.setdefault("serviceAccountName", "default")
        spec.setdefault("serviceAccount", account)
        if account not in self.cluster.settings["service_accounts"]:
            space = item["metadata"]["namespace"]
            raise statuses.forbidden(
                PODS, item["metadata"].get("name"), 'error looking up service account %s/%s: '
                'serviceaccount "%s" not found' % (space, account, account))
        tolerations = spec.setdefault("tolerations", [])
        for key in ("not-ready", "unreachable"):
            key = "node.kubernetes.io/" + key
            if not any(one.get("key") == key for one in tolerations):
                tolerations.append({"key": key, "operator": "Exists", "effect": "NoExecute",
                                    "tolerationSeconds": 300})

    # ---- change ----

    def _change(self, request, kind, space, name, subresource):
        dry = self._dry_run(request)
        if request.method == "PATCH":
            old = self._found(kind, space, name)
            new = self._patched(request, kind, old)
        else:
            new = self._decode(request, kind)
            meta = new.setdefault("metadata", {})
            if meta.get("name", name) != name:
                raise bad_request("the name of the object (%s) does not match the name on the URL "
                                  "(%s)" % (meta["name"], name))
            meta["name"] = name
            if kind.namespaced:
                if meta.get("namespace", space) != space:
                    raise bad_request("the namespace of the provided object does not match the "
                                      "namespace sent on the request")
                meta["namespace"] = space
            old = self._found(kind, space, name)
            for key in ("uid", "creationTimestamp", "generation", "deletionTimestamp",
                        "deletionGracePeriodSeconds"):
                if key in old["metadata"]:
                    meta.setdefault(key, old["metadata"][key])
            if meta["uid"] != old["metadata"]["uid"]:
                raise statuses.conflict(kind, name, "Precondition failed: UID in precondition: %s, "
                                        "UID in object meta: %s"
                                        % (meta["uid"], old["metadata"]["uid"]))
        version = new["metadata"].get("resourceVersion")
        if version and version != old["metadata"]["resourceVersion"]:
            raise statuses.conflict(kind, name, "the object has been modified; please apply your "
                                    "changes to the latest version and try again")
        return Answer(200, self.replace(kind, old, new, subresource, dry) + b"\n")

    def replace(self, kind, old, new, subresource="", dry=False):
        """All steps between a changed object and the store; the bytes of the outcome."""
        meta = new["metadata"] = dict(new["metadata"])
        name, space = old["metadata"]["name"], old["metadata"].get("namespace", "")
        meta["resourceVersion"] = old["metadata"]["resourceVersion"]
        for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "generation"):
            meta.pop(key, None)
            if key in old["metadata"]:
                meta[key] = old["metadata"][key]
        if subresource == "status":
            new = dict(old, status=new.get("status", {}))
        else:
            if "status" in old or kind not in (POD_GROUPS,):
                new.pop("status", None)
                if "status" in old:
                    new["status"] = old["status"]
            new = self._refill(kind, old, new)
            if subresource == "resize":
                problems = resizing.check(old, new, _quality) or \
                    validation.check_resized(kind, new)
            else:
                problems = validation.check_change(kind, old, new)
            if problems:
                raise refuse_invalid(kind, name, problems)
            if "generation" in meta and old.get("spec") != new.get("spec"):
                new["metadata"]["generation"] += 1
        if new == old:
            return self.store.entry(kind, space, name).data
        if dry:
            return encode(new)
        entry = self.store.update(kind, new)
        return entry.data if entry else encode(new)

    def _refill(self, kind, old, new):
        if kind is JOBS:
            new.setdefault("spec", {}).setdefault("template", {}).setdefault("spec", {})
            labels = old["metadata"].get("labels")
            defaults.job(new)
            defaults.job_identity(new)
            if not labels and "labels" in new["metadata"] and \
                    new["metadata"]["labels"] == new["spec"]["template"]["metadata"].get("labels"):
                del new["metadata"]["labels"]
        elif kind is PODS:
            defaults.pod_spec(new["spec"])
        elif kind is SECRETS:
            _fold_strings(new)
        elif kind is SERVICES:
            new["spec"].setdefault("clusterIP", old["spec"].get("clusterIP"))
            defaults.service(new)
            defaults.service_address(new, 0)
        return new

    def _patched(self, request, kind, old):
        media = request.headers.get("content-type", "").split(";")[0].strip()
        apply = PATCHES.get(media)
        if apply is None or kind.custom and media.startswith("application/strategic"):
            raise Refusal(415, "UnsupportedMediaType", UNKNOWN_MEDIA % ", ".join(
                ("application/json-patch+json", "application/merge-patch+json",
                 "application/apply-patch+yaml")))
        patch, twice = read_json(request.body)
        wanted = list if media == "application/json-patch+json" else dict
        if type(patch) is not wanted:
            raise bad_request("json: cannot unmarshal %s into Go value of type %s"
                              % ("array" if wanted is dict else "object",
                                 "map[string]interface {}" if wanted is dict
                                 else "jsonpatch.Patch"))
        new = json.loads(json.dumps(apply(old, patch)))
        if new.get("kind") != kind.kind or new.get("apiVersion") != kind.api_version:
            raise bad_request("the object provided is unrecognized (must be of type %s)" % kind.kind)
        return self._check_fields(request, kind, new, twice)

    # ---- delete ----

    def _delete_options(self, request, kind):
        body = None
        if request.body:
            media = request.headers.get("content-type", "application/json").split(";")[0]
            if media != "application/json":
                raise Refusal(415, "UnsupportedMediaType", UNKNOWN_MEDIA % BODIES)
            body, _ = read_json(request.body)
            options = type("Options", (), {"kind": "DeleteOptions", "version": "v1", "group": ""})
            notes = self.schema.check("DeleteOptions", options, body)
            if notes.unknown:
                raise bad_request("strict decoding error: unknown field \"%s\"" % notes.unknown[0])
            if body.get("kind", "DeleteOptions") != "DeleteOptions":
                raise bad_request("decoded object cannot be converted to DeleteOptions")
        return deletion.options_of(kind, request, body)

    def _delete(self, request, kind, space, name):
        options = self._delete_options(request, kind)
        item = self._found(kind, space, name)
        if kind is JOBS and not options.policy:
            request.warnings.append(deletion.ORPHAN_WARNING)
        marked = deletion.delete(self.cluster, kind, item, options)
        if marked is not None:
            return Answer(200, encode(marked) + b"\n")
        if kind is PODS:
            return Answer(200, encode(with_metadata(item, deletionGracePeriodSeconds=0)) + b"\n")
        return Answer(200, encode(statuses.success(kind, name, item["metadata"]["uid"])) + b"\n")

    def _delete_collection(self, request, kind, space):
        options = self._delete_options(request, kind)
        found = json.loads(self.lists.list(kind, space, request).body)
        if kind is JOBS and not options.policy:
            request.warnings.append(deletion.ORPHAN_WARNING)
        for one in found["items"]:
            item = self.store.get(kind, space, one["metadata"]["name"])
            if item is not None:
                deletion.delete(self.cluster, kind, item, options)
        return Answer(200, encode(found) + b"\n")

    def _evict(self, request, space, name):
        item = self._found(PODS, space, name)
        self.cluster.kubelet.evict_by_api(item)
        return Answer(201, encode({"kind": "Status", "apiVersion": "v1", "metadata": {},
                                   "status": "Success", "code": 201}) + b"\n")

    # ---- what is no resource ----

    def _access_review(self, request, rest):
        if request.method != "POST" or rest != ["selfsubjectaccessreviews"]:
            raise statuses.no_such_path()
        body, _ = read_json(request.body)
        asked = (body.get("spec") or {}).get("resourceAttributes") or {}
        resource = asked.get("resource", "") + ("/" + asked["subresource"]
                                                if asked.get("subresource") else "")
        allowed = request.user.may(asked.get("verb", ""), asked.get("group", ""), resource,
                                   asked.get("namespace", ""), asked.get("name", ""))
        status = {"allowed": allowed}
        if not allowed:
            status["reason"] = ""
        return Answer(201, encode({"kind": "SelfSubjectAccessReview", "apiVersion":
                                   "authorization.k8s.io/v1",
                                   "metadata": {},
                                   "spec": body.get("spec"), "status": status}) + b"\n")

    def _other_path(self, request):
        path = request.path.rstrip("/") or "/"
        Users.authorize_path(request.user, path)
        if path in ("/healthz", "/livez", "/readyz"):
            return Answer(200, b"ok", "text/plain; charset=utf-8")
        if path == "/version":
            return Answer(200, json.dumps(self.version, indent=2).encode())
        if request.method != "GET":
            raise statuses.not_allowed()
        found = self._discovery(path)
        if found is None:
            if path.startswith(("/api/", "/apis/")):
                raise statuses.no_such_path()
            return Answer(404, b"404 page not found\n", "text/plain; charset=utf-8")
        return Answer(200, encode(found) + b"\n")

    def _discovery(self, path):
        groups = sorted({(kind.group, kind.version) for kind in ALL if kind.group
                         and (kind is not POD_GROUPS or self.cluster.settings["volcano"])})
        if path == "/api":
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [
                {"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}]}
        one = {group: {"name": group, "versions": [{"groupVersion": group + "/" + version,
                                                    "version": version}],
                       "preferredVersion": {"groupVersion": group + "/" + version,
                                            "version": version}} for group, version in groups}
        if path == "/apis":
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": list(one.values())}
        parts = path.split("/")
        if len(parts) == 3 and parts[1] == "apis" and parts[2] in one:
            return dict({"kind": "APIGroup", "apiVersion": "v1"}, **one[parts[2]])
        api_version = "/".join(parts[2:]) if parts[1] == "apis" else parts[-1]
        kinds = [kind for kind in ALL if kind.api_version == api_version
                 and (kind is not POD_GROUPS or self.cluster.settings["volcano"])]
        if not kinds or parts[1] == "apis" and len(parts) != 4 or \
                parts[1] == "api" and len(parts) != 3:
            return None
        resources = []
        for kind in kinds:
            resources.append({"name": kind.plural, "singularName": kind.singular,
                              "namespaced": kind.namespaced, "kind": kind.kind,
                              "verbs": list(kind.verbs)})
            if kind.short:
                resources[-1]["shortNames"] = list(kind.short)
            for sub in kind.subresources:
                if sub == "resize" and not resizing.served(self.version):
                    continue
                resources.append({"name": kind.plural + "/" + sub, "singularName": "",
                                  "namespaced": kind.namespaced, "kind": kind.kind,
                                  "verbs": ["get"] if sub == "log" else
                                  ["create"] if sub == "eviction" else ["get", "patch", "update"]})
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": api_version,
                "resources": resources}


def too_many_requests(seconds=1):
    return Answer(429, b"Too many requests, please try again later.\n",
                  "text/plain; charset=utf-8",
                  [("Retry-After", str(seconds)), ("X-Content-Type-Options", "nosniff")])


def _fold_strings(item):
    """A Secret's stringData goes into data, and is never told again."""
    import base64
    item.setdefault("type", "Opaque")
    for key, value in (item.pop("stringData", None) or {}).items():
        item.setdefault("data", {})[key] = base64.b64encode(value.encode()).decode()


def _quality(spec):
    requests, limits = quota.pod_needs(spec), quota.pod_needs(spec, "limits")
    wanted = ("cpu", "memory")
    if not any(one.get(name) for one in (requests, limits) for name in wanted):
        return "BestEffort"
    whole = all((each.get("resources") or {}).get("limits", {}).get(name) is not None
                and (each["resources"].get("requests") or {}).get(name) ==
                each["resources"]["limits"][name] for each in spec["containers"] for name in wanted)
    return "Guaranteed" if whole else "Burstable"
