"""tests/stand-in/kubernetes/validation.py - what makes an object invalid (422)

As pkg/apis/core/validation and pkg/apis/batch/validation do, for what dlspool's objects may hold.
Each function gives a list of Invalid causes with the path of the field.  Objects have passed the
schema and have their defaults.
"""
import re

from schema import quantity
from statuses import (duplicate, forbidden_field, invalid, not_found_field, required, too_long,
                      unsupported)

LABEL = re.compile(r"^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$")
LABEL_1035 = re.compile(r"^[a-z](?:[-a-z0-9]*[a-z0-9])?$")
SUBDOMAIN = re.compile(r"^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$")
QUALIFIED = re.compile(r"^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$")
KEY = re.compile(r"^[-._a-zA-Z0-9]+$")
PORT_NAME = re.compile(r"^[a-z0-9](?:-?[a-z0-9])*$")

SAY_LABEL = ("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "
             "'-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
             "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')")
SAY_1035 = ("a DNS-1035 label must consist of lower case alphanumeric characters or '-', start "
            "with an alphabetic character, and end with an alphanumeric character (e.g. "
            "'my-name',  or 'abc-123', regex used for validation is "
            "'[a-z]([-a-z0-9]*[a-z0-9])?')")
SAY_SUBDOMAIN = ("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                 "characters, '-' or '.', and must start and end with an alphanumeric character "
                 "(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?"
                 "(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')")
SAY_QUALIFIED = ("name part must consist of alphanumeric characters, '-', '_' or '.', and must "
                 "start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
                 "'123-abc', regex used for validation is "
                 "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')")
SAY_VALUE = ("a valid label must be an empty string or consist of alphanumeric characters, '-', "
             "'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  "
             "or 'my_value',  or '12345', regex used for validation is "
             "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')")
SAY_KEY = ("a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
           "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
           "'[-._a-zA-Z0-9]+')")
SAY_NOT_NEGATIVE = "must be greater than or equal to 0"

ANNOTATIONS_MAX = 256 * 1024
DATA_MAX = 1024 * 1024
ID_MAX = (1 << 31) - 1
COMPLETIONS_MAX = 100000                # of an Indexed Job with a high parallelism


def _bytes(limit):
    return "must be no more than %d bytes" % limit


def name_problem(text, pattern=SUBDOMAIN, limit=253, say=SAY_SUBDOMAIN):
    """What is wrong with a name, or None."""
    if len(text.encode()) > limit:
        return _bytes(limit)
    if not pattern.match(text):
        return say
    return None


def label_name_problem(text):
    return name_problem(text, LABEL, 63, SAY_LABEL)


def _qualified(name, path):
    prefix, slash, part = name.rpartition("/")
    if slash and (not prefix or len(prefix) > 253 or not SUBDOMAIN.match(prefix)):
        return [invalid(path, name, "prefix part " + SAY_SUBDOMAIN)]
    if not part:
        return [invalid(path, name, "name part must be non-empty"),
                invalid(path, name, SAY_QUALIFIED)]
    if len(part) > 63:
        return [invalid(path, name, "name part " + _bytes(63))]
    return [] if QUALIFIED.match(part) else [invalid(path, name, SAY_QUALIFIED)]


def labels(values, path):
    found = []
    for name, value in (values or {}).items():
        found += _qualified(name, path)
        if len(value.encode()) > 63:
            found.append(invalid(path, value, _bytes(63)))
        elif value and not QUALIFIED.match(value):
            found.append(invalid(path, value, SAY_VALUE))
    return found


def annotations(values, path):
    found, size = [], 0
    for name, value in (values or {}).items():
        found += _qualified(name.lower(), path)
        size += len(name.encode()) + len(value.encode())
    if size > ANNOTATIONS_MAX:
        found.append(too_long(path, ANNOTATIONS_MAX))
    return found


NAME_RULES = {"Service": (LABEL_1035, 63, SAY_1035), "Namespace": (LABEL, 63, SAY_LABEL)}


def metadata(kind, meta):
    found = []
    problem = name_problem(meta["name"], *NAME_RULES.get(kind.kind, ()))
    if problem:
        found.append(invalid("metadata.name", meta["name"], problem))
    found += labels(meta.get("labels"), "metadata.labels")
    found += annotations(meta.get("annotations"), "metadata.annotations")
    controllers = 0
    for at, owner in enumerate(meta.get("ownerReferences") or ()):
        path = "metadata.ownerReferences[%d]" % at
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                found.append(invalid("%s.%s" % (path, name), owner.get(name) or "",
                                     "must not be empty"))
        controllers += bool(owner.get("controller"))
    if controllers > 1:
        found.append(invalid("metadata.ownerReferences", meta["ownerReferences"],
                             "Only one reference can have Controller set to true"))
    for name in meta.get("finalizers") or ():
        found += _qualified(name, "metadata.finalizers")
    return found


# ---- pods ----

def _env(variables, path, volumes):
    found = []
    for at, one in enumerate(variables or ()):
        where = "%s[%d]" % (path, at)
        name = one.get("name", "")
        if not name:
            found.append(required(where + ".name"))
        elif not all(" " <= letter <= "~" and letter != "=" for letter in name):
            found.append(invalid(where + ".name", name,
                                 "a valid environment variable name must consist only of "
                                 "printable ASCII characters other than '='"))
        source = one.get("valueFrom")
        if source is None:
            continue
        where += ".valueFrom"
        if one.get("value"):
            found.append(invalid(where, "", "may not be specified when `value` is not empty"))
        if len(source) != 1:
            found.append(invalid(where, "", "must specify one of: `fieldRef`, `resourceFieldRef`, "
                                 "`configMapKeyRef` or `secretKeyRef`" if not source else
                                 "may not have more than one field specified at a time"))
        if "fieldRef" in source:
            found += _field_path(source["fieldRef"]["fieldPath"], where + ".fieldRef.fieldPath")
        for which in ("configMapKeyRef", "secretKeyRef"):
            if which in source and not source[which].get("name"):
                found.append(required("%s.%s.name" % (where, which)))
    return found


ENV_FIELDS = ["metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
              "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP",
              "status.podIPs"]


def _field_path(path, where):
    if path in ENV_FIELDS or re.match(r"^metadata\.(labels|annotations)\['[^']+'\]$", path):
        return []
    return [unsupported(where, path, ENV_FIELDS)]


def _resources(resources, path):
    found = []
    for which in ("limits", "requests"):
        for name, amount in (resources.get(which) or {}).items():
            where = "%s.%s[%s]" % (path, which, name)
            if quantity(amount) < 0:
                found.append(invalid(where, str(amount), SAY_NOT_NEGATIVE))
            if "/" not in name:
                if name not in ("cpu", "memory", "ephemeral-storage") \
                        and not name.startswith("hugepages-"):
                    found.append(invalid(where, name, "must be a standard resource for containers"))
            else:
                found += _qualified(name, where)
                if quantity(amount) % 1:
                    found.append(invalid(where, str(amount), "must be an integer"))
    limits = resources.get("limits") or {}
    for name, amount in (resources.get("requests") or {}).items():
        where = path + ".requests"
        if name in limits and quantity(amount) > quantity(limits[name]):
            found.append(invalid(where, str(amount),
                                 "must be less than or equal to %s limit of %s"
                                 % (name, limits[name])))
        elif "/" in name:
            if name not in limits:
                found.append(required(path + ".limits",
                                      "Limit must be set for non overcommitable resources"))
            elif quantity(amount) != quantity(limits[name]):
                found.append(invalid(where, str(amount), "must be equal to %s limit of %s"
                                     % (name, limits[name])))
    return found


def _ports(ports, path):
    found, names = [], set()
    for at, port in enumerate(ports or ()):
        where = "%s[%d]" % (path, at)
        name = port.get("name")
        if name:
            if len(name) > 15:
                found.append(invalid(where + ".name", name, "must be no more than 15 characters"))
            elif not PORT_NAME.match(name) or not re.search("[a-z]", name):
                found.append(invalid(where + ".name", name, "must contain only alpha-numeric "
                                     "characters (a-z, 0-9), and hyphens (-)"))
            elif name in names:
                found.append(duplicate(where + ".name", name))
            names.add(name)
        for field in ("containerPort", "hostPort"):
            number = port.get(field)
            if number is not None and not 0 < number < 65536:
                found.append(invalid("%s.%s" % (where, field), number,
                                     "must be between 1 and 65535, inclusive"))
    return found


def _mounts(mounts, path, volumes):
    found, paths = [], set()
    for at, mount in enumerate(mounts or ()):
        where = "%s[%d]" % (path, at)
        if mount["name"] not in volumes:
            found.append(not_found_field(where + ".name", mount["name"]))
        target = mount.get("mountPath")
        if not target:
            found.append(required(where + ".mountPath"))
        elif target in paths:
            found.append(invalid(where + ".mountPath", target, "must be unique"))
        paths.add(target)
        sub = mount.get("subPath") or ""
        if sub.startswith("/"):
            found.append(invalid(where + ".subPath", sub, "must be a relative path"))
        if ".." in sub.split("/"):
            found.append(invalid(where + ".subPath", sub, "must not contain '..'"))
    return found


def _container(container, path, volumes):
    found = []
    name = container.get("name", "")
    problem = label_name_problem(name) if name else None
    if not name:
        found.append(required(path + ".name"))
    elif problem:
        found.append(invalid(path + ".name", name, problem))
    image = container.get("image")
    if not image:
        found.append(required(path + ".image"))
    elif image != image.strip():
        found.append(invalid(path + ".image", image, "must not have leading or trailing whitespace"))
    found += _ports(container.get("ports"), path + ".ports")
    found += _env(container.get("env"), path + ".env", volumes)
    found += _resources(container.get("resources") or {}, path + ".resources")
    found += _mounts(container.get("volumeMounts"), path + ".volumeMounts", volumes)
    security = container.get("securityContext") or {}
    where = path + ".securityContext"
    found += _ids(security, where)
    if security.get("privileged") and security.get("allowPrivilegeEscalation") is False:
        found.append(invalid(where, security, "cannot set `allowPrivilegeEscalation` to false and "
                             "`privileged` to true"))
    if security.get("allowPrivilegeEscalation") is False and \
            "CAP_SYS_ADMIN" in ((security.get("capabilities") or {}).get("add") or ()):
        found.append(invalid(where, security, "cannot set `allowPrivilegeEscalation` to false and "
                             "`capabilities.Add` CAP_SYS_ADMIN"))
    return found


def _ids(security, path):
    found = []
    for name in ("runAsUser", "runAsGroup", "fsGroup"):
        number = security.get(name)
        if number is not None and not 0 <= number <= ID_MAX:
            found.append(invalid("%s.%s" % (path, name), number,
                                 "must be between 0 and 2147483647, inclusive"))
    for at, number in enumerate(security.get("supplementalGroups") or ()):
        if not 0 <= number <= ID_MAX:
            found.append(invalid("%s.supplementalGroups[%d]" % (path, at), number,
                                 "must be between 0 and 2147483647, inclusive"))
    profile = security.get("seccompProfile")
    if profile and (profile.get("type") == "Localhost") != bool(profile.get("localhostProfile")):
        found.append(required(path + ".seccompProfile.localhostProfile",
                              "must be set when seccomp type is Localhost")
                     if profile.get("type") == "Localhost" else
                     invalid(path + ".seccompProfile.localhostProfile",
                             profile["localhostProfile"],
                             "can only be set when seccomp type is Localhost"))
    return found


def _volumes(volumes, path):
    found, names = [], set()
    for at, volume in enumerate(volumes or ()):
        where = "%s[%d]" % (path, at)
        name = volume.get("name", "")
        problem = label_name_problem(name) if name else None
        if not name:
            found.append(required(where + ".name"))
        elif problem:
            found.append(invalid(where + ".name", name, problem))
        elif name in names:
            found.append(duplicate(where + ".name", name))
        names.add(name)
        sources = [key for key in volume if key != "name"]
        if not sources:
            found.append(required(where, "must specify a volume type"))
        for extra in sources[1:]:
            found.append(forbidden_field("%s.%s" % (where, extra),
                                         "may not specify more than 1 volume type"))
        found += _volume_source(volume, where)
    return found, names


def _volume_source(volume, where):
    found = []
    host = volume.get("hostPath")
    if host is not None:
        if not host.get("path"):
            found.append(required(where + ".hostPath.path"))
        elif ".." in host["path"].split("/"):
            found.append(invalid(where + ".hostPath.path", host["path"], "must not contain '..'"))
    if "configMap" in volume and not volume["configMap"].get("name"):
        found.append(required(where + ".configMap.name"))
    if "secret" in volume and not volume["secret"].get("secretName"):
        found.append(required(where + ".secret.secretName"))
    nfs = volume.get("nfs")
    if nfs is not None and not nfs.get("path", "").startswith("/"):
        found.append(invalid(where + ".nfs.path", nfs.get("path", ""), "must be an absolute path"))
    for which in ("configMap", "secret", "downwardAPI", "projected"):
        mode = (volume.get(which) or {}).get("defaultMode")
        if mode is not None and not 0 <= mode <= 0o777:
            found.append(invalid("%s.%s.defaultMode" % (where, which), mode,
                                 "must be a number between 0 and 0777 (octal), both inclusive"))
        for at, item in enumerate((volume.get(which) or {}).get("items") or ()):
            target = item.get("path", "")
            if target.startswith("/") or ".." in target.split("/") or not target:
                found.append(invalid("%s.%s.items[%d].path" % (where, which, at), target,
                                     "must be a relative path"))
    for at, item in enumerate((volume.get("downwardAPI") or {}).get("items") or ()):
        found += _downward_file(item, "%s.downwardAPI.items[%d]" % (where, at))
    if "emptyDir" in volume and quantity(volume["emptyDir"].get("sizeLimit", 0)) < 0:
        found.append(forbidden_field(where + ".emptyDir.sizeLimit", "SizeLimit field must be a "
                                     "valid resource quantity"))
    return found


FILE_FIELDS = ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"]


def _downward_file(item, where):
    """A file of what a pod is told about itself: other fields than variables may have."""
    if "fieldRef" not in item:
        return [] if "resourceFieldRef" in item else \
            [required(where, "one of fieldRef and resourceFieldRef is required")]
    if "resourceFieldRef" in item:
        return [invalid(where, "resource",
                        "fieldRef and resourceFieldRef can not be specified simultaneously")]
    path = item["fieldRef"].get("fieldPath", "")
    match = re.match(r"^metadata\.(labels|annotations)\['(.*)'\]$", path)
    if match:
        return _qualified(match[2].lower(), where + ".fieldRef")
    return [] if path in FILE_FIELDS else \
        [unsupported(where + ".fieldRef.fieldPath", path, FILE_FIELDS)]


def _tolerations(items, path):
    found = []
    for at, one in enumerate(items or ()):
        where = "%s[%d]" % (path, at)
        operator = one.get("operator") or "Equal"
        if one.get("key"):
            found += _qualified(one["key"], where + ".key")
        elif operator != "Exists":
            found.append(invalid(where + ".operator", operator, "operator must be Exists when "
                                 "`key` is empty, which means \"match all values and all keys\""))
        if operator == "Exists" and one.get("value"):
            found.append(invalid(where + ".operator", one, "value must be empty when `operator` "
                                 "is 'Exists'"))
        if one.get("tolerationSeconds") is not None and one.get("effect") != "NoExecute":
            found.append(invalid(where + ".effect", one.get("effect", ""), "effect must be "
                                 "'NoExecute' when `tolerationSeconds` is set"))
    return found


def pod_spec(spec, path):
    found, volumes = _volumes(spec.get("volumes"), path + ".volumes")
    if not spec.get("containers"):
        found.append(required(path + ".containers"))
    names = set()
    for which in ("containers", "initContainers"):
        for at, container in enumerate(spec.get(which) or ()):
            where = "%s.%s[%d]" % (path, which, at)
            found += _container(container, where, volumes)
            if container.get("name") in names:
                found.append(duplicate(where + ".name", container["name"]))
            names.add(container.get("name"))
    if spec["restartPolicy"] not in ("Always", "OnFailure", "Never"):
        found.append(unsupported(path + ".restartPolicy", spec["restartPolicy"],
                                 ("Always", "OnFailure", "Never")))
    if spec["dnsPolicy"] not in ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"):
        found.append(unsupported(path + ".dnsPolicy", spec["dnsPolicy"], (
            "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")))
    if spec["terminationGracePeriodSeconds"] < 0:
        found.append(invalid(path + ".terminationGracePeriodSeconds",
                             spec["terminationGracePeriodSeconds"], SAY_NOT_NEGATIVE))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= ID_MAX:
        found.append(invalid(path + ".activeDeadlineSeconds", deadline,
                             "must be between 1 and 2147483647, inclusive"))
    for field in ("hostname", "subdomain"):
        if spec.get(field) and label_name_problem(spec[field]):
            found.append(invalid("%s.%s" % (path, field), spec[field],
                                 label_name_problem(spec[field])))
    for field in ("serviceAccountName", "priorityClassName", "schedulerName"):
        if spec.get(field) and name_problem(spec[field]):
            found.append(invalid("%s.%s" % (path, field), spec[field], name_problem(spec[field])))
    found += labels(spec.get("nodeSelector"), path + ".nodeSelector")
    found += _tolerations(spec.get("tolerations"), path + ".tolerations")
    found += _ids(spec.get("securityContext") or {}, path + ".securityContext")
    if spec.get("hostNetwork"):
        for at, container in enumerate(spec.get("containers") or ()):
            for which, port in enumerate(container.get("ports") or ()):
                if port.get("hostPort") != port.get("containerPort"):
                    found.append(invalid("%s.containers[%d].ports[%d].hostPort" % (path, at, which),
                                         port.get("hostPort"), "must match `containerPort` when "
                                         "`hostNetwork` is true"))
    return found


def pod(item):
    return pod_spec(item["spec"], "spec")


# ---- Jobs ----

def _not_negative(spec, names):
    return [invalid("spec." + name, spec[name], SAY_NOT_NEGATIVE) for name in names
            if spec.get(name) is not None and spec[name] < 0]


def job(item):
    spec, meta = item["spec"], item["metadata"]
    template = spec["template"]
    found = _not_negative(spec, ("parallelism", "completions", "activeDeadlineSeconds",
                                 "backoffLimit", "ttlSecondsAfterFinished", "maxFailedIndexes",
                                 "backoffLimitPerIndex"))
    wanted = template["metadata"].get("labels") or {}
    if not spec.get("manualSelector"):
        for name, value in (("controller-uid", meta["uid"]), ("job-name", meta["name"])):
            for key in ("batch.kubernetes.io/" + name, name):
                if wanted.get(key) != value:
                    found.append(invalid("spec.template.metadata.labels[%s]" % key, wanted,
                                         "must be '%s'" % value))
        if spec.get("selector") != {"matchLabels": {
                "batch.kubernetes.io/controller-uid": meta["uid"]}}:
            found.append(invalid("spec.selector", spec.get("selector"),
                                 "`selector` not auto-generated"))
    elif not spec.get("selector"):
        found.append(required("spec.selector"))
    found += labels(wanted, "spec.template.labels")
    found += annotations(template["metadata"].get("annotations"), "spec.template.annotations")
    found += pod_spec(template["spec"], "spec.template.spec")
    policy = template["spec"]["restartPolicy"]
    if policy == "Always":
        found.append(required("spec.template.spec.restartPolicy",
                              'valid values: "OnFailure", "Never"'))
    found += _job_indexes(spec, meta, policy)
    return found


def _job_indexes(spec, meta, policy):
    found = []
    if spec["completionMode"] == "Indexed":
        if spec.get("completions") is None:
            found.append(required("spec.completions", "when completion mode is Indexed"))
        else:
            last = "%s-%d" % (meta["name"], max(spec["completions"] - 1, 0))
            if spec["completions"] and label_name_problem(last):
                found.append(invalid("metadata.name", last, "will not able to create pod with "
                                     "invalid DNS label: %s" % last))
        if spec.get("maxFailedIndexes", 0) > (spec.get("completions") or 0):
            found.append(invalid("spec.maxFailedIndexes", spec["maxFailedIndexes"],
                                 "must be less than or equal to completions"))
        if spec["parallelism"] > COMPLETIONS_MAX:
            found.append(invalid("spec.parallelism", spec["parallelism"],
                                 "must be less than or equal to %d when completion mode is Indexed"
                                 % COMPLETIONS_MAX))
    else:
        if "backoffLimitPerIndex" in spec:
            found.append(invalid("spec.backoffLimitPerIndex", spec["backoffLimitPerIndex"],
                                 "requires indexed completion mode"))
        if "successPolicy" in spec:
            found.append(invalid("spec.successPolicy", spec["successPolicy"],
                                 "requires indexed completion mode"))
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        found.append(required("spec.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    if "backoffLimitPerIndex" in spec and policy != "Never":
        found.append(invalid("spec.template.spec.restartPolicy", policy,
                             "only \"Never\" is supported when `backoffLimitPerIndex` is "
                             "specified"))
    if "podFailurePolicy" in spec:
        found += _failure_policy(spec, policy)
    if spec.get("successPolicy") is not None and not spec["successPolicy"].get("rules"):
        found.append(required("spec.successPolicy.rules",
                              "at least one rules must be specified when the successPolicy is "
                              "specified"))
    return found


def _failure_policy(spec, policy):
    found = []
    path = "spec.podFailurePolicy.rules"
    if policy != "Never":
        found.append(invalid("spec.template.spec.restartPolicy", policy,
                             'only "Never" is supported when podFailurePolicy is specified'))
    if spec["podReplacementPolicy"] != "Failed":
        found.append(unsupported("spec.podReplacementPolicy", spec["podReplacementPolicy"],
                                 ("Failed",)))
    names = {one.get("name") for which in ("containers", "initContainers")
             for one in spec["template"]["spec"].get(which) or ()}
    for at, rule in enumerate(spec["podFailurePolicy"].get("rules") or ()):
        where = "%s[%d]" % (path, at)
        codes = rule.get("onExitCodes")
        if (codes is None) == (not rule.get("onPodConditions")):
            found.append(invalid(where, rule, "specifying one of OnExitCodes and OnPodConditions "
                                 "is required"))
        if rule.get("action") == "FailIndex" and "backoffLimitPerIndex" not in spec:
            found.append(invalid(where + ".action", "FailIndex",
                                 "requires the backoffLimitPerIndex to be set"))
        if codes is not None:
            values = codes.get("values") or []
            if not values:
                found.append(invalid(where + ".onExitCodes.values", values,
                                     "at least one value is required"))
            if codes.get("operator") == "In" and 0 in values:
                found.append(invalid(where + ".onExitCodes.values[%d]" % values.index(0), 0,
                                     "must not be 0 for the In operator"))
            if values != sorted(values):
                found.append(invalid(where + ".onExitCodes.values", values, "must be ordered"))
            if codes.get("containerName") and codes["containerName"] not in names:
                found.append(invalid(where + ".onExitCodes.containerName", codes["containerName"],
                                     "must be one of the container or initContainer names in the "
                                     "pod template"))
    return found


FIXED = ("completionMode", "selector", "podFailurePolicy", "backoffLimitPerIndex", "managedBy",
         "successPolicy", "manualSelector")
SUSPENDED_MAY_CHANGE = ("nodeSelector", "tolerations", "affinity", "schedulingGates",
                        "resources")


def job_update(old, new):
    """What may not change of a Job."""
    found = []
    before, after = old["spec"], new["spec"]
    for name in FIXED:
        if before.get(name) != after.get(name):
            found.append(invalid("spec." + name, after.get(name), "field is immutable"))
    if before.get("completions") != after.get("completions"):
        if not (after["completionMode"] == "Indexed" and
                after.get("completions") == after.get("parallelism")):
            found.append(invalid("spec.completions", after.get("completions"),
                                 "field is immutable" if after["completionMode"] != "Indexed" else
                                 "can only be modified in tandem with spec.parallelism"))
    one, two = before["template"], after["template"]
    if one != two:
        if before.get("suspend") and not (old.get("status") or {}).get("startTime"):
            one, two = _without_placing(one), _without_placing(two)
        if one != two:
            found.append(invalid("spec.template", after["template"], "field is immutable"))
    return found


def _without_placing(template):
    spec = {key: value for key, value in template["spec"].items()
            if key not in SUSPENDED_MAY_CHANGE}
    spec["containers"] = [{key: value for key, value in one.items() if key != "resources"}
                          for one in spec["containers"]]
    meta = {key: value for key, value in template["metadata"].items()
            if key not in ("labels", "annotations")}
    return {"spec": spec, "metadata": meta}


def pod_update(old, new):
    one, two = dict(old["spec"]), dict(new["spec"])
    for spec in (one, two):
        for name in ("activeDeadlineSeconds", "tolerations"):
            spec.pop(name, None)
        spec["containers"] = [dict(each, image="") for each in spec["containers"]]
    if one != two:
        return [forbidden_field("spec", "pod updates may not change fields other than "
                                "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                                "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions "
                                "to existing tolerations),`spec.terminationGracePeriodSeconds` "
                                "(allow it to be set to 1 if it was previously negative)")]
    return []


# ---- the others ----

def service(item):
    spec, found, names = item["spec"], [], set()
    ports = spec.get("ports") or ()
    headless = spec.get("clusterIP") == "None"
    if not ports and not headless and spec["type"] != "ExternalName":
        found.append(required("spec.ports"))
    if headless and spec["type"] not in ("ClusterIP",):
        found.append(invalid("spec.clusterIPs[0]", "None",
                             "may not be set to 'None' for %s services" % spec["type"]))
    for at, port in enumerate(ports):
        path = "spec.ports[%d]" % at
        name = port.get("name")
        if not name and len(ports) > 1:
            found.append(required(path + ".name"))
        elif name:
            if label_name_problem(name):
                found.append(invalid(path + ".name", name, label_name_problem(name)))
            elif name in names:
                found.append(duplicate(path + ".name", name))
            names.add(name)
        if not 0 < port["port"] < 65536:
            found.append(invalid(path + ".port", port["port"],
                                 "must be between 1 and 65535, inclusive"))
        target = port.get("targetPort")
        if type(target) is int and not 0 < target < 65536:
            found.append(invalid(path + ".targetPort", target,
                                 "must be between 1 and 65535, inclusive"))
    found += labels(spec.get("selector"), "spec.selector")
    return found


def _data(item, fields):
    found, size = [], 0
    for field in fields:
        for key, value in (item.get(field) or {}).items():
            size += len(value)
            if len(key) > 253 or not KEY.match(key) or key in (".", ".."):
                found.append(invalid("%s[%s]" % (field, key), key, SAY_KEY))
    if size > DATA_MAX:
        found.append(too_long("" if fields[0] == "data" and len(fields) == 2 else "data", DATA_MAX))
    return found


def config_map(item):
    both = set(item.get("data") or ()) & set(item.get("binaryData") or ())
    return _data(item, ("data", "binaryData")) + \
        [invalid("data[%s]" % key, key, "duplicate of key present in binaryData") for key in both]


SECRET_NEEDS = {"kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
                "kubernetes.io/ssh-auth": ("ssh-privatekey",),
                "kubernetes.io/tls": ("tls.crt", "tls.key")}


def secret(item):
    found = _data(item, ("data",))
    for key in SECRET_NEEDS.get(item.get("type"), ()):
        if key not in (item.get("data") or {}):
            found.append(required("data[%s]" % key))
    return found


def immutable_update(old, new):
    """Of a ConfigMap or Secret that says `immutable`; a Secret's type never changes."""
    if new["kind"] == "Secret" and old.get("type") != new.get("type"):
        return [invalid("type", new.get("type"), "field is immutable")]
    if old.get("immutable"):
        for field in ("immutable", "data", "binaryData"):
            if old.get(field) != new.get(field):
                return [forbidden_field(field, "field is immutable when `immutable` is set")]
    return []


def event(item):
    about = item.get("involvedObject") or {}
    if about.get("namespace", "") != item["metadata"].get("namespace", "") and \
            (about.get("namespace") or item["metadata"].get("namespace") != "default"):
        return [invalid("involvedObject.namespace", about.get("namespace", ""),
                        "does not match event.namespace")]
    return []


def pod_group(item):
    return []


CREATE = {"Job": job, "Pod": pod, "Service": service, "ConfigMap": config_map, "Secret": secret,
          "Event": event}
UPDATE = {"Job": job_update, "Pod": pod_update, "ConfigMap": immutable_update,
          "Secret": immutable_update}


def check_new(kind, item):
    found = metadata(kind, item["metadata"])
    if kind.kind in CREATE:
        found += CREATE[kind.kind](item)
    return found


def check_resized(kind, item):
    """Of a pod with other resources: what is wrong with it as it is now."""
    return metadata(kind, item["metadata"]) + CREATE[kind.kind](item)


def check_change(kind, old, new):
    found = []
    for field in ("name", "namespace", "uid", "creationTimestamp"):
        if old["metadata"].get(field) != new["metadata"].get(field):
            found.append(invalid("metadata." + field, new["metadata"].get(field),
                                 "field is immutable"))
    found += metadata(kind, new["metadata"])
    if kind.kind in UPDATE:
        found += UPDATE[kind.kind](old, new)
    if kind.kind in CREATE and not found:
        found += CREATE[kind.kind](new)
    return found
