"""tests/stand-in/kubernetes/resizing.py - another amount of processors for a pod that runs

KEP-1287, as servers and kubelets of 1.33 and later do it: the subresource `resize` changes what the
pod asks for, and its node says some time later in the pod's status what it has done about it.

Settings of the cluster (order `set`): resize_delay, seconds until the node looks; resize_node, what it
does: "yes" (if there is room), "never" (Infeasible), "old" (a kubelet that knows nothing of it).
"""
import json

import quota
from kinds import NODES, PODS
from schema import quantity
from statuses import forbidden_field, invalid
from store import with_condition

FIRST_MINOR = 33
MUTABLE = ("cpu", "memory")


def served(version):
    """Does a server of that version have it without ado?"""
    digits = "".join(one for one in str(version.get("minor", "")) if one.isdigit())
    return int(digits or 0) >= FIRST_MINOR


def _stripped(pod):
    """All that may not change."""
    spec = json.loads(json.dumps(pod["spec"]))
    for container in spec["containers"]:
        for amounts in (container.get("resources") or {}).values():
            for name in MUTABLE if type(amounts) is dict else ():
                amounts.pop(name, None)
    return spec


def check(old, new, quality):
    """What is wrong with the change, as the server's validation says it."""
    before, after = old["spec"]["containers"], new["spec"]["containers"]
    if [one["name"] for one in before] != [one["name"] for one in after]:
        return [forbidden_field("spec.containers",
                                "containers may not be renamed or reordered on resize")]
    found = []
    for at, (one, two) in enumerate(zip(before, after)):
        for which in ("requests", "limits"):
            had = (one.get("resources") or {}).get(which) or {}
            has = (two.get("resources") or {}).get(which) or {}
            if any(name in had and name not in has for name in MUTABLE):
                found.append(forbidden_field("spec.containers[%d].resources.%s" % (at, which),
                                             "resource %s cannot be removed" % which))
    if not found and _stripped(old) != _stripped(new):
        found.append(forbidden_field("spec", "only cpu and memory resources are mutable"))
    if not found and quality(old["spec"]) != quality(new["spec"]):
        found.append(invalid("spec", quality(new["spec"]),
                             "Pod QOS Class may not change as a result of resizing"))
    return found


def _resources(pod):
    return {one["name"]: one.get("resources") or {} for one in pod["spec"]["containers"]}


class Resizing:
    """The node's part; `kubelet` is whose pods they are."""

    def __init__(self, kubelet):
        self.kubelet, self.settings = kubelet, kubelet.settings

    def changed(self, run, pod):
        """The pod of a run has changed: does it ask for something else than it has?"""
        if run.resources is None or run.ended or run.dying or \
                run.resources == _resources(pod) and not self._pending(pod):
            return
        if self.settings["resize_node"] != "old":
            self.kubelet._after(run, self.settings["resize_delay"], self._look, run)

    @staticmethod
    def _pending(pod):
        return any(one["type"] == "PodResizePending" and one["status"] == "True"
                   for one in pod["status"].get("conditions") or ())

    def _look(self, run):
        pod = self.kubelet._pod(run)
        if pod is None or run.ended or run.dying:
            return
        wanted, words = _resources(pod), None
        needs = dict(quota.pod_needs(pod["spec"]), pods=1)
        if wanted != run.resources:
            words = self._refusal(run, needs)
        if words is None:
            self._count(run, needs)
            run.resources = wanted
        self._tell(run, pod, words)

    def _refusal(self, run, needs):
        node = self.kubelet.store.get(NODES, "", run.node)
        used = self.kubelet.used.get(run.node, {})
        for name in MUTABLE:
            has = run.needs.get(name, 0)
            whole = quantity(node["status"]["allocatable"].get(name, 0)) if node else 0
            if self.settings["resize_node"] == "never" or needs.get(name, 0) > whole:
                return "Infeasible", "Node didn't have enough capacity: %s" % name
            if needs.get(name, 0) - has > whole - used.get(name, 0):
                return "Deferred", "Node didn't have enough resource: %s" % name
        return None

    def _count(self, run, needs):
        used = self.kubelet.used.setdefault(run.node, {})
        for name, amount in needs.items():
            used[name] = used.get(name, 0) + amount - run.needs.get(name, 0)
        run.needs = needs

    def _tell(self, run, pod, words):
        conditions = [one for one in pod["status"].get("conditions") or ()
                      if one["type"] != "PodResizePending"]
        if words:
            conditions = with_condition(conditions, "PodResizePending", "True", *words)
        statuses = [dict(one, resources=run.resources.get(one["name"], {}))
                    for one in pod["status"].get("containerStatuses") or ()]
        if conditions != pod["status"].get("conditions") or \
                statuses != pod["status"].get("containerStatuses"):
            self.kubelet._status(pod, conditions=conditions, containerStatuses=statuses)
