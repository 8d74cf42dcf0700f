"""tests/stand-in/kubernetes/defaults.py - what the server fills in

As pkg/apis/core/v1/defaults.go and pkg/apis/batch/v1/defaults.go do.  Works on the tree of a body,
which belongs to nobody else yet.
"""


def _probe(probe):
    probe.setdefault("timeoutSeconds", 1)
    probe.setdefault("periodSeconds", 10)
    probe.setdefault("successThreshold", 1)
    probe.setdefault("failureThreshold", 3)
    if "httpGet" in probe:
        probe["httpGet"].setdefault("path", "/")
        probe["httpGet"].setdefault("scheme", "HTTP")


def _container(container):
    image = container.get("image") or ""
    if "imagePullPolicy" not in container:
        tag = image.rpartition("/")[2]
        latest = "@" not in image and (":" not in tag or tag.endswith(":latest"))
        container["imagePullPolicy"] = "Always" if latest else "IfNotPresent"
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    resources = container.setdefault("resources", {})
    if resources.get("limits"):
        requests = resources.setdefault("requests", {})
        for name, amount in resources["limits"].items():
            requests.setdefault(name, amount)
    for port in container.get("ports") or ():
        port.setdefault("protocol", "TCP")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if name in container:
            _probe(container[name])
    for variable in container.get("env") or ():
        if variable.get("value") == "":
            del variable["value"]
        reference = (variable.get("valueFrom") or {}).get("fieldRef")
        if reference:
            reference.setdefault("apiVersion", "v1")
    for mount in container.get("volumeMounts") or ():
        if mount.get("readOnly") is False:
            del mount["readOnly"]


def _volume(volume):
    if len(volume) == 1:
        volume["emptyDir"] = {}
    for name in ("configMap", "secret", "downwardAPI", "projected"):
        if name in volume:
            volume[name].setdefault("defaultMode", 420)
    if "hostPath" in volume:
        volume["hostPath"].setdefault("type", "")
    for item in (volume.get("downwardAPI") or {}).get("items") or ():
        if "fieldRef" in item:
            item["fieldRef"].setdefault("apiVersion", "v1")


def pod_spec(spec):
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("securityContext", {})
    spec.setdefault("schedulerName", "default-scheduler")
    if spec.get("serviceAccountName"):
        spec.setdefault("serviceAccount", spec["serviceAccountName"])
    for name in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(name) is False:
            del spec[name]
    for name in ("containers", "initContainers"):
        for container in spec.get(name) or ():
            _container(container)
            if spec.get("hostNetwork"):
                for port in container.get("ports") or ():
                    port.setdefault("hostPort", port["containerPort"])
    for volume in spec.get("volumes") or ():
        _volume(volume)


def job(item):
    spec = item["spec"]
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = spec["parallelism"] = 1
    spec.setdefault("parallelism", 1)
    if "backoffLimit" not in spec:
        spec["backoffLimit"] = 2147483647 if "backoffLimitPerIndex" in spec else 6
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        pass                            # refused by the validation
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    if "podReplacementPolicy" not in spec:
        spec["podReplacementPolicy"] = "Failed" if "podFailurePolicy" in spec \
            else "TerminatingOrFailed"
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            pattern.setdefault("status", "True")
    template = spec["template"]
    template.setdefault("metadata", {})
    template["metadata"].pop("creationTimestamp", None)
    pod_spec(template.setdefault("spec", {}))
    labels = item["metadata"].get("labels")
    if not labels and template["metadata"].get("labels"):
        item["metadata"]["labels"] = dict(template["metadata"]["labels"])


def job_identity(item):
    """The selector, and the labels that tie pods to the Job."""
    spec, meta = item["spec"], item["metadata"]
    if spec.get("manualSelector"):
        return
    labels = spec["template"]["metadata"].setdefault("labels", {})
    for name, value in (("controller-uid", meta["uid"]), ("job-name", meta["name"])):
        labels.setdefault(name, value)
        labels.setdefault("batch.kubernetes.io/" + name, value)
    if "selector" not in spec:
        spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": meta["uid"]}}


def service(item):
    spec = item.setdefault("spec", {})
    spec.setdefault("type", "ClusterIP")
    spec.setdefault("sessionAffinity", "None")
    if spec["type"] == "ExternalName":
        return
    spec.setdefault("internalTrafficPolicy", "Cluster")
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")
    for port in spec.get("ports") or ():
        port.setdefault("protocol", "TCP")
        port.setdefault("targetPort", port["port"])
    item["status"] = {"loadBalancer": {}}


def service_address(item, number):
    """A cluster address of one's own, or None for a headless service."""
    spec = item["spec"]
    if spec["type"] != "ExternalName":
        spec.setdefault("clusterIP", "10.96.%d.%d" % (number >> 8 & 255, number & 255))
        spec["clusterIPs"] = [spec["clusterIP"]]


def event(item):
    item.setdefault("eventTime", None)
    item.setdefault("reportingComponent", "")
    item.setdefault("reportingInstance", "")
    item.setdefault("source", {})
    for name in ("firstTimestamp", "lastTimestamp"):
        item.setdefault(name, None)
