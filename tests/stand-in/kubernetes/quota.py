"""tests/stand-in/kubernetes/quota.py - ResourceQuotas

Usage is counted when it is asked for: of objects by the store's counters, of pods' resources from
the pods that have not ended.
"""
from kinds import BY_PATH, PODS, QUOTAS
from schema import quantity
from statuses import forbidden

CORE_COUNTS = {"pods": "pods", "services": "services", "secrets": "secrets",
               "configmaps": "configmaps", "resourcequotas": "resourcequotas"}
OVER = ("Succeeded", "Failed")
PLURALS = {(kind.plural + "." + kind.group if kind.group else kind.plural): kind
           for kind in BY_PATH.values()}


def format_quantity(name, value):
    """Memory in whole Mi or Ki if it is, cpu in m if it must be."""
    if name.endswith("memory"):
        for unit, size in (("Gi", 2 ** 30), ("Mi", 2 ** 20), ("Ki", 2 ** 10)):
            if value and value % size == 0:
                return "%d%s" % (value // size, unit)
    if value == int(value):
        return str(int(value))
    return "%dm" % round(value * 1000)


def pod_needs(spec, which="requests"):
    """What a pod's containers ask for together: {resource: number}."""
    total = {}
    for container in spec.get("containers") or ():
        for name, amount in ((container.get("resources") or {}).get(which) or {}).items():
            total[name] = total.get(name, 0) + quantity(amount)
    for container in spec.get("initContainers") or ():
        for name, amount in ((container.get("resources") or {}).get(which) or {}).items():
            total[name] = max(total.get(name, 0), quantity(amount))
    return total


def _charge(kind, item):
    """What one object costs: {name in a quota: number}."""
    cost = {"count/" + kind.qualified: 1}
    if not kind.group and kind.plural in CORE_COUNTS and kind is not PODS:
        cost[kind.plural] = 1
    if kind is PODS and (item.get("status") or {}).get("phase") not in OVER:
        cost["pods"] = 1
        for name, amount in pod_needs(item["spec"]).items():
            cost["requests." + name] = amount
            if name in ("cpu", "memory"):
                cost[name] = amount
        for name, amount in pod_needs(item["spec"], "limits").items():
            cost["limits." + name] = amount
    return cost


def _used(store, space, name):
    plural = name[6:] if name.startswith("count/") else CORE_COUNTS.get(name)
    if plural and name != "pods":
        kind = PLURALS.get(plural)
        return store.tables[kind].counts.get(space, 0) if kind else 0
    return sum(_charge(PODS, pod).get(name, 0) for pod in store.all(PODS, space))


def admit(cluster, kind, item):
    """Refuse what would exceed a quota of its namespace."""
    store, space = cluster.store, item["metadata"].get("namespace", "")
    if not store.tables[QUOTAS].counts.get(space):
        return
    cost = _charge(kind, item)
    for quota in sorted(store.all(QUOTAS, space), key=lambda one: one["metadata"]["name"]):
        hard = (quota.get("spec") or {}).get("hard") or {}
        missing = [name for name in sorted(hard) if kind is PODS and name not in cost
                   and name.startswith(("requests.", "limits.", "cpu", "memory"))
                   and "/" not in name]
        if missing:
            raise forbidden(kind, item["metadata"]["name"], "failed quota: %s: must specify %s"
                            % (quota["metadata"]["name"], ",".join(
                                "%s for: %s" % (name, item["spec"]["containers"][0]["name"])
                                for name in missing)))
        over = []
        for name in sorted(hard):
            if cost.get(name):
                used = _used(store, space, name)
                if used + cost[name] > quantity(hard[name]):
                    over.append((name, cost[name], used, hard[name]))
        if over:
            raise forbidden(
                kind, item["metadata"]["name"] or item["metadata"].get("generateName"),
                "exceeded quota: %s, requested: %s, used: %s, limited: %s" % (
                    quota["metadata"]["name"],
                    ",".join("%s=%s" % (one[0], format_quantity(one[0], one[1])) for one in over),
                    ",".join("%s=%s" % (one[0], format_quantity(one[0], one[2])) for one in over),
                    ",".join("%s=%s" % (one[0], one[3]) for one in over)))


def status(store, quota):
    hard = (quota.get("spec") or {}).get("hard") or {}
    space = quota["metadata"]["namespace"]
    return {"hard": hard, "used": {name: format_quantity(name, _used(store, space, name))
                                   for name in hard}}
