"""tests/stand-in/kubernetes/cluster.py - the parts of a cluster, put together

Settings are what an order `set` changes.
"""
import collector
import job_controller
import kubelet
from api import Api, random_suffix
from kinds import EVENTS, NAMESPACES, NODES
from store import Store, timestamp

SETTINGS = {
    "controllers": True,            # Jobs become pods, pods run
    "pods_per_second": 200.0,       # that the Job controller makes
    "controller_requests": 0.0,     # a second, of all kinds, that the Job controller sends; 0: no
                                    # limit.  A kube-controller-manager's --kube-api-qps is 20
    "controller_burst": 30.0,       # --kube-api-burst: so many at once after a pause
    "sync_delay": 0.005,            # between a change and the controller's look at it
    "gc_delay": 0.02,
    "job_backoff": 0.1,             # seconds before the first retry, doubled with each
    "schedule_delay": 0.005,
    "start_delay": 0.01,            # of a container, once its pod is scheduled
    "run_seconds": 0.05,            # of a pod without a fate
    "node_eviction": 0.5,           # seconds after a node is lost until its pods are deleted
    "really_run": "",               # the directory for what is really run; "": nothing is
    "pod_gc": 0.5,                  # until a pod is failed that was deleted before it had a node
    "pull_retry": 1.0,              # between ErrImagePull and ImagePullBackOff, and back
    "events": True,                 # controllers tell what they do
    "event_seconds": 3600.0,        # that an event lives
    "events_max": 20000,
    "volcano": True,                # scheduling.volcano.sh is installed
    "hold_namespaces": False,       # terminating ones stay so
    "service_accounts": ["default"],
    "grace_scale": 1.0,             # seconds of grace last so many real ones
    "resize_delay": 0.05,           # of a pod, until its node looks at it; see resizing.py
    "resize_node": "yes",
    "log_limit": 64 * 1024 * 1024,
}


class Cluster:
    def __init__(self, loop, schema, watch_changes=20000):
        self.loop = loop
        self.settings = dict(SETTINGS)
        self.store = Store(watch_changes)
        self.api = Api(self, schema)
        self.collector = collector.Collector(self)
        self.kubelet = kubelet.Kubelet(self)
        self.jobs = job_controller.JobController(self)

    def add_namespace(self, name):
        self.store.create(NAMESPACES, {
            "kind": "Namespace", "apiVersion": "v1",
            "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
            "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}})

    def add_node(self, name, capacity, labels=None, taints=None):
        amounts = dict({"pods": "110", "ephemeral-storage": "100Gi"}, **capacity)
        now = timestamp()
        conditions = [{"type": kind, "status": status, "reason": reason, "message": message,
                       "lastHeartbeatTime": now, "lastTransitionTime": now}
                      for kind, status, reason, message in (
                          ("MemoryPressure", "False", "KubeletHasSufficientMemory",
                           "kubelet has sufficient memory available"),
                          ("DiskPressure", "False", "KubeletHasNoDiskPressure",
                           "kubelet has no disk pressure"),
                          ("PIDPressure", "False", "KubeletHasSufficientPID",
                           "kubelet has sufficient PID available"),
                          ("Ready", "True", "KubeletReady", "kubelet is posting ready status"))]
        spec = {"podCIDR": "10.244.0.0/24"}
        if taints:
            spec["taints"] = taints
        self.store.create(NODES, {
            "kind": "Node", "apiVersion": "v1",
            "metadata": {"name": name, "labels": dict(
                {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
                 "kubernetes.io/arch": "amd64"}, **(labels or {}))},
            "spec": spec,
            "status": {"capacity": amounts, "allocatable": amounts, "conditions": conditions,
                       "addresses": [{"type": "InternalIP", "address": "192.0.2.10"},
                                     {"type": "Hostname", "address": name}],
                       "nodeInfo": {"kubeletVersion": "v1.36.3", "architecture": "amd64",
                                    "operatingSystem": "linux"}}})

    def tell(self, about, kind, type_name, reason, message, component, count_key=None):
        """An Event.  With a count_key, the same again counts up the first one."""
        if not self.settings["events"]:
            return
        meta = about["metadata"]
        now = timestamp()
        space = meta.get("namespace", "default")
        if count_key is not None:
            known = self.store.get(EVENTS, space, count_key)
            if known is not None:
                self.store.update(EVENTS, dict(known, count=known["count"] + 1, message=message,
                                               lastTimestamp=now))
                return
        name = count_key or "%s.%s" % (meta["name"], "18" + random_suffix(14))
        self.store.create(EVENTS, {
            "kind": "Event", "apiVersion": "v1",
            "metadata": {"name": name, "namespace": space},
            "involvedObject": {"kind": kind.kind, "namespace": space, "name": meta["name"],
                               "uid": meta["uid"], "apiVersion": kind.api_version,
                               "resourceVersion": meta["resourceVersion"]},
            "reason": reason, "message": message, "source": {"component": component},
            "firstTimestamp": now, "lastTimestamp": now, "count": 1, "type": type_name,
            "eventTime": None, "reportingComponent": component, "reportingInstance": ""})
