"""tests/stand-in/kubernetes/kinds.py - the table of what the server serves"""


class Kind:
    """One resource: where it is served, what its objects are called, what can be done to it."""

    def __init__(self, group, version, plural, kind, type_name=None, namespaced=True,
                 subresources=(), verbs=None, short=(), custom=False):
        self.group, self.version, self.plural, self.kind = group, version, plural, kind
        self.type_name = type_name or kind
        self.namespaced = namespaced
        self.subresources = subresources
        self.verbs = verbs or ("create", "delete", "deletecollection", "get", "list", "patch",
                               "update", "watch")
        self.short, self.custom = short, custom
        self.api_version = group + "/" + version if group else version
        self.qualified = plural + "." + group if group else plural
        self.singular = kind.lower()
        # Every stored object begins with these bytes; items of a typed list go without them.
        self.prefix = ('{"kind":"%s","apiVersion":"%s",' % (kind, self.api_version)).encode()

    def __repr__(self):
        return self.qualified


JOBS = Kind("batch", "v1", "jobs", "Job", subresources=("status",))
PODS = Kind("", "v1", "pods", "Pod", subresources=("log", "status", "eviction", "resize"),
            short=("po",))
SERVICES = Kind("", "v1", "services", "Service", subresources=("status",), short=("svc",))
SECRETS = Kind("", "v1", "secrets", "Secret")
CONFIG_MAPS = Kind("", "v1", "configmaps", "ConfigMap", short=("cm",))
EVENTS = Kind("", "v1", "events", "Event", short=("ev",))
QUOTAS = Kind("", "v1", "resourcequotas", "ResourceQuota", subresources=("status",),
              short=("quota",))
NODES = Kind("", "v1", "nodes", "Node", namespaced=False, subresources=("status",), short=("no",))
NAMESPACES = Kind("", "v1", "namespaces", "Namespace", namespaced=False,
                  subresources=("status",), short=("ns",),
                  verbs=("create", "delete", "get", "list", "patch", "update", "watch"))
POD_GROUPS = Kind("scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", "VolcanoPodGroup",
                  short=("pg",), custom=True)

ALL = [JOBS, PODS, SERVICES, SECRETS, CONFIG_MAPS, EVENTS, QUOTAS, NODES, NAMESPACES, POD_GROUPS]
BY_PATH = {(kind.group, kind.version, kind.plural): kind for kind in ALL}
BY_KIND = {(kind.api_version, kind.kind): kind for kind in ALL}
