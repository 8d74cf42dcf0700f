"""tests/stand-in/kubernetes/patching.py - merge, strategic-merge and JSON patches

RFC 7386, RFC 6902, and of the strategic merge what matters: lists of things with a name are merged
by that name, `$patch: delete` and `$patch: replace` are obeyed.  Nothing is changed in place.
"""
import copy

from statuses import Refusal, bad_request

# What a list's items are told apart by; a list that is not here is replaced.
MERGE_KEYS = {"containers": "name", "initContainers": "name", "env": "name", "volumes": "name",
              "volumeMounts": "mountPath", "imagePullSecrets": "name", "conditions": "type",
              "ownerReferences": "uid", "hostAliases": "ip", "addresses": "type",
              "ports": "containerPort"}
MERGE_SETS = {"finalizers"}


def merge(old, patch):
    if type(patch) is not dict:
        return patch
    new = dict(old) if type(old) is dict else {}
    for key, value in patch.items():
        if value is None:
            new.pop(key, None)
        else:
            new[key] = merge(new.get(key), value)
    return new


def strategic(old, patch, key=None):
    if type(patch) is list:
        return _strategic_list(old, patch, key)
    if type(patch) is not dict:
        return patch
    if patch.get("$patch") == "replace":
        return {name: value for name, value in patch.items() if name != "$patch"}
    new = dict(old) if type(old) is dict else {}
    for name, value in patch.items():
        if value is None:
            new.pop(name, None)
        elif name.startswith("$"):
            continue
        else:
            new[name] = strategic(new.get(name), value, name)
    return new


def _strategic_list(old, patch, key):
    old = old if type(old) is list else []
    if key in MERGE_SETS:
        return old + [one for one in patch if one not in old]
    name = MERGE_KEYS.get(key)
    if name == "containerPort" and any("containerPort" not in one for one in patch):
        name = "port"
    if not name or any(one == {"$patch": "replace"} for one in patch):
        return [one for one in patch if one != {"$patch": "replace"}]
    new = list(old)
    for one in patch:
        if name not in one:
            raise bad_request("map: %s does not contain declared merge key: %s" % (one, name))
        at = next((at for at, each in enumerate(new) if each.get(name) == one[name]), None)
        if one.get("$patch") == "delete":
            if at is not None:
                del new[at]
        elif at is None:
            new.append(strategic({}, one))
        else:
            new[at] = strategic(new[at], one)
    return new


def _steps(path):
    if path and not path.startswith("/"):
        raise bad_request("invalid JSON patch path %r" % path)
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def _missing(operation):
    return Refusal(422, "Invalid", "the server rejected our request due to an error in our request",
                   {"causes": [{"message": "%s operation does not apply: doc is missing path: \"%s\": "
                                "missing value" % (operation["op"], operation["path"])}]})


def json_patch(old, operations):
    if type(operations) is not list:
        raise bad_request("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
    new = copy.deepcopy(old)
    for operation in operations:
        try:
            new = _apply(new, operation)
        except (KeyError, IndexError, ValueError, TypeError):
            raise _missing(dict({"op": "?", "path": "?"}, **operation)) from None
    return new


def _apply(root, operation):
    kind, steps = operation["op"], _steps(operation["path"])
    if kind in ("move", "copy"):
        source = _steps(operation["from"])
        value = copy.deepcopy(_find(root, source))
        if kind == "move":
            _remove(root, source)
        _add(root, steps, value)
    elif kind == "test":
        if _find(root, steps) != operation.get("value"):
            raise KeyError("test")
    elif kind == "remove":
        _remove(root, steps)
    elif kind == "add":
        _add(root, steps, operation["value"])
    elif kind == "replace":
        _find(root, steps)
        _remove(root, steps)
        _add(root, steps, operation["value"])
    else:
        raise KeyError(kind)
    return root


def _find(value, steps):
    for step in steps:
        value = value[int(step)] if type(value) is list else value[step]
    return value


def _add(root, steps, value):
    parent, last = _find(root, steps[:-1]), steps[-1]
    if type(parent) is list:
        parent.insert(len(parent) if last == "-" else int(last), value)
    else:
        parent[last] = value


def _remove(root, steps):
    parent, last = _find(root, steps[:-1]), steps[-1]
    del parent[int(last) if type(parent) is list else last]
