"""tests/stand-in/kubernetes/deletion.py - what DELETE does to an object

Preconditions, grace, finalizers and what becomes of dependents, as registry/generic/registry/store.go
does; the rest is the collector's.  Returns the object when it is only marked, None when it is gone.
"""
import time

from kinds import JOBS, NAMESPACES, PODS
from statuses import bad_request, conflict, invalid, refuse_invalid, unsupported
from store import timestamp, with_metadata

ORPHAN_WARNING = ("child pods are preserved by default when jobs are deleted; set "
                  "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to "
                  "suppress this warning")
POLICIES = ("Background", "Foreground", "Orphan")
FINALIZERS = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}


class Options:
    def __init__(self, policy=None, grace=None, uid=None, version=None, dry=False):
        self.policy, self.grace, self.uid, self.version, self.dry = policy, grace, uid, version, dry


def options_of(kind, request, body):
    """From the body if there is one, else from the query, never from both."""
    if body is None:
        grace = request.option("gracePeriodSeconds")
        if grace and not grace.lstrip("-").isdigit():
            raise bad_request("strconv.ParseInt: parsing \"%s\": invalid syntax" % grace)
        body = {"propagationPolicy": request.option("propagationPolicy") or None,
                "gracePeriodSeconds": int(grace) if grace else None,
                "dryRun": request.query.get("dryRun")}
        if request.option("orphanDependents"):
            body["orphanDependents"] = request.option("orphanDependents") == "true"
    policy, orphan = body.get("propagationPolicy"), body.get("orphanDependents")
    problems = []
    if policy is not None and policy not in POLICIES:
        problems.append(invalid("propagationPolicy", policy, "must be one of \"Foreground\","
                                "\"Background\",\"Orphan\" or nil"))
    if policy is not None and orphan is not None:
        problems.append(invalid("propagationPolicy", policy, "orphanDependents and "
                                "deletionPropagation cannot be both set"))
    dry = body.get("dryRun") or []
    if [one for one in dry if one != "All"]:
        problems.append(unsupported("dryRun", dry, ("All",)))
    if problems:
        problem_kind = type("DeleteOptions", (), {"group": "meta.k8s.io", "kind": "DeleteOptions"})
        raise refuse_invalid(problem_kind, "", problems)
    if orphan is not None:
        policy = "Orphan" if orphan else "Background"
    conditions = body.get("preconditions") or {}
    grace = body.get("gracePeriodSeconds")
    return Options(policy, max(grace, 1) if grace is not None and grace < 0 else grace,
                   conditions.get("uid"), conditions.get("resourceVersion"), bool(dry))


def check_preconditions(kind, item, options):
    meta = item["metadata"]
    for what, wanted, found in (("UID", options.uid, meta["uid"]),
                                ("ResourceVersion", options.version, meta["resourceVersion"])):
        if wanted is not None and wanted != found:
            raise conflict(kind, meta["name"], "StorageError: invalid object, Code: 4, Key: "
                           "/registry/%s/%s/%s, ResourceVersion: 0, AdditionalErrorMsg: "
                           "Precondition failed: %s in precondition: %s, %s in object meta: %s"
                           % (kind.plural, meta.get("namespace", ""), meta["name"], what, wanted,
                              what, found))


def delete(cluster, kind, item, options):
    store = cluster.store
    check_preconditions(kind, item, options)
    if options.dry:
        return None
    if kind is NAMESPACES:
        return _namespace(cluster, item)
    meta = item["metadata"]
    policy = options.policy or ("Orphan" if kind is JOBS else "Background")
    finalizers = [one for one in meta.get("finalizers") or ()
                  if one not in FINALIZERS.values()]
    if policy in FINALIZERS:
        finalizers.append(FINALIZERS[policy])
    grace = 0
    if kind is PODS:
        grace = _pod_grace(item, options)
        if meta.get("deletionTimestamp"):
            grace = min(grace, meta.get("deletionGracePeriodSeconds", 0))
    if not grace and not finalizers:
        store.remove(kind, with_metadata(item, finalizers=None,
                                         **({"deletionGracePeriodSeconds": 0,
                                             "deletionTimestamp": meta.get("deletionTimestamp")
                                             or timestamp()} if kind is PODS else {})))
        return None
    changes = {"finalizers": finalizers or None,
               "deletionTimestamp": meta.get("deletionTimestamp") or timestamp(time.time() + grace),
               "deletionGracePeriodSeconds": grace}
    if "generation" in meta and not meta.get("deletionTimestamp"):
        changes["generation"] = meta["generation"] + 1
    marked = with_metadata(item, **changes)
    if marked["metadata"] == meta:
        return item
    store.update(kind, marked)
    return store.get(kind, meta.get("namespace", ""), meta["name"]) or marked


def _pod_grace(item, options):
    """A pod that nobody runs, or that has ended, needs none."""
    if not item["spec"].get("nodeName") or \
            (item.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    if options.grace is not None:
        return options.grace
    return item["spec"].get("terminationGracePeriodSeconds", 30)


def _namespace(cluster, item):
    changed = dict(with_metadata(item, deletionTimestamp=timestamp()),
                   status={"phase": "Terminating"})
    cluster.store.update(NAMESPACES, changed)
    cluster.collector.empty_namespace(item["metadata"]["name"])
    return cluster.store.get(NAMESPACES, "", item["metadata"]["name"]) or changed
