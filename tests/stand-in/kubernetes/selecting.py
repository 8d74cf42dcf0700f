"""tests/stand-in/kubernetes/selecting.py - label selectors and field selectors

A selector becomes one function (labels, fields) -> bool.
"""
import re

from statuses import bad_request

_PART = re.compile(r"^\s*(?:(!)\s*([^\s!=,()]+)"
                   r"|([^\s!=,()]+)\s+(in|notin)\s*\(([^)]*)\)"
                   r"|([^\s!=,()<>]+)\s*(==|=|!=|>|<)\s*([^\s,()]*)"
                   r"|([^\s!=,()]+))\s*$")
_NAME = re.compile(r"^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$")


def _split(text):
    """At the commas that are not within brackets."""
    return re.split(r",(?![^(]*\))", text)


def _requirement(part):
    match = _PART.match(part)
    if not match:
        raise bad_request("unable to parse requirement: found '%s', expected: identifier" % part)
    absent, absent_key, set_key, operator, values, key, compare, value, present = match.groups()
    name = absent_key or set_key or key or present
    if not _NAME.match(name) or len(name.rpartition("/")[2]) > 63:
        raise bad_request("unable to parse requirement: <nil>: Invalid value: \"%s\": name part "
                          "must consist of alphanumeric characters, '-', '_' or '.'" % name)
    if absent:
        return lambda labels: absent_key not in labels
    if set_key:
        wanted = {one.strip() for one in values.split(",")}
        if operator == "in":
            return lambda labels: labels.get(set_key) in wanted
        return lambda labels: labels.get(set_key) not in wanted
    if key:
        if compare in ("=", "=="):
            return lambda labels: labels.get(key) == value
        if compare == "!=":
            return lambda labels: labels.get(key) != value
        raise bad_request("unable to parse requirement: > and < are not served here")
    return lambda labels: present in labels


def label_selector(text):
    """None when there is nothing to select by."""
    if not text:
        return None
    tests = [_requirement(part) for part in _split(text)]
    if len(tests) == 1:
        return tests[0]
    return lambda labels: all(test(labels) for test in tests)


def _event_fields(item):
    fields = {"involvedObject." + key: str((item.get("involvedObject") or {}).get(key) or "")
              for key in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion",
                          "fieldPath")}
    fields.update(reason=item.get("reason") or "", type=item.get("type") or "",
                  reportingComponent=item.get("reportingComponent") or "",
                  source=(item.get("source") or {}).get("component") or "")
    return fields


def _pod_fields(item):
    spec, status = item.get("spec") or {}, item.get("status") or {}
    return {"spec.nodeName": spec.get("nodeName") or "",
            "spec.restartPolicy": spec.get("restartPolicy") or "",
            "spec.schedulerName": spec.get("schedulerName") or "",
            "spec.serviceAccountName": spec.get("serviceAccountName") or "",
            "spec.hostNetwork": str(bool(spec.get("hostNetwork"))).lower(),
            "status.phase": status.get("phase") or "",
            "status.podIP": status.get("podIP") or "",
            "status.nominatedNodeName": ""}


FIELDS = {
    "Event": _event_fields,
    "Pod": _pod_fields,
    "Job": lambda item: {"status.successful": str((item.get("status") or {}).get("succeeded") or 0)},
    "Secret": lambda item: {"type": item.get("type") or ""},
    "Namespace": lambda item: {"status.phase": (item.get("status") or {}).get("phase") or ""},
    "Node": lambda item: {"spec.unschedulable":
                          str(bool((item.get("spec") or {}).get("unschedulable"))).lower()},
    "Service": lambda item: {"spec.clusterIP": (item.get("spec") or {}).get("clusterIP") or "",
                             "spec.type": (item.get("spec") or {}).get("type") or ""},
}


def fields_of(kind, item):
    fields = FIELDS[kind.kind](item) if kind.kind in FIELDS else {}
    fields["metadata.name"] = item["metadata"]["name"]
    fields["metadata.namespace"] = item["metadata"].get("namespace", "")
    return fields


def field_selector(kind, text):
    """Of the fields that this kind has an index of; any other is refused."""
    if not text:
        return None
    known = set(fields_of(kind, {"metadata": {"name": ""}}))
    if not kind.namespaced:
        known.discard("metadata.namespace")
    tests = []
    for part in text.split(","):
        match = re.match(r"^([^!=]+)(==|=|!=)(.*)$", part)
        if not match:
            raise bad_request("invalid selector: '%s'; can't understand '%s'" % (text, part))
        key, compare, value = match.groups()
        if key not in known:
            raise bad_request('Unable to find "%s" that match label selector "", field selector '
                              '"%s": field label not supported: %s'
                              % (kind.api_version + ", Resource=" + kind.plural, text, key))
        tests.append((key, value, compare == "!="))
    return lambda fields: all((fields[key] == value) != negate for key, value, negate in tests)
