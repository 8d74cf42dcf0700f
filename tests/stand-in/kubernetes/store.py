"""tests/stand-in/kubernetes/store.py - objects, versions and what has happened

Objects are never changed in place: whoever changes one copies what is on the way to the change and
hands in the new whole.  Each write makes the object's bytes once; answers, lists and watches all
send those bytes.

One counter gives all versions, as etcd's revision does.  Of each kind the latest changes are kept,
bounded in number and in bytes; a watch from before them has expired.
"""
import time
import uuid
from collections import deque

from kinds import ALL
from selecting import fields_of
from statuses import encode

ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"
EMPTY = {}


def timestamp(when=None):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))


class Entry:
    """A live object: its tree, its bytes, and what selectors ask for."""
    __slots__ = ("object", "data", "labels", "fields")


class Change:
    __slots__ = ("version", "type", "data", "space", "labels", "fields", "old_labels", "old_fields",
                 "object")


class Table:
    """All objects of one kind, and their latest changes."""

    def __init__(self, kind, changes_max, bytes_max):
        self.kind = kind
        self.entries = {}               # (namespace, name) -> Entry
        self.changes = deque()
        self.bytes = 0
        self.changes_max, self.bytes_max = changes_max, bytes_max
        self.forgotten = 0              # the newest version that is no longer among `changes`
        self.listeners = set()          # callables that are given each Change
        self.counts = {}                # namespace -> live objects

    def remember(self, change):
        self.changes.append(change)
        self.bytes += len(change.data)
        while len(self.changes) > self.changes_max or self.bytes > self.bytes_max:
            old = self.changes.popleft()
            self.bytes -= len(old.data)
            self.forgotten = old.version

    def forget(self, version):
        """A compaction: all changes up to now are gone."""
        self.changes.clear()
        self.bytes, self.forgotten = 0, version


class Store:
    def __init__(self, changes_max=20000, bytes_max=48 * 1024 * 1024):
        self.version = 1000
        self.tables = {kind: Table(kind, changes_max, bytes_max) for kind in ALL}
        self.creations = []             # of every object that was ever made, see _record()
        self.live_most = {}             # plural -> the most that ever lived at a time
        self.writes = 0

    def get(self, kind, space, name):
        entry = self.tables[kind].entries.get((space, name))
        return entry.object if entry else None

    def entry(self, kind, space, name):
        return self.tables[kind].entries.get((space, name))

    def all(self, kind, space=None):
        return [entry.object for key, entry in list(self.tables[kind].entries.items())
                if space is None or key[0] == space]

    def new_uid(self):
        return str(uuid.uuid4())

    def create(self, kind, item):
        """Store a new object (whose name is free) and give it its version."""
        meta = item["metadata"]
        meta.setdefault("uid", None)
        if not meta["uid"]:
            meta["uid"] = self.new_uid()
        meta.setdefault("creationTimestamp", timestamp())
        key = (meta.get("namespace", ""), meta["name"])
        entry = Entry()
        self._write(kind, key, entry, item, ADDED)
        table = self.tables[kind]
        table.entries[key] = entry
        table.counts[key[0]] = table.counts.get(key[0], 0) + 1
        count = len(table.entries)
        if count > self.live_most.get(kind.plural, 0):
            self.live_most[kind.plural] = count
        return entry

    def update(self, kind, item):
        """Store a changed object; one that has been deleted and is no longer held goes."""
        meta = item["metadata"]
        key = (meta.get("namespace", ""), meta["name"])
        entry = self.tables[kind].entries.get(key)
        if entry is None or entry.object["metadata"]["uid"] != meta["uid"]:
            return None
        if meta.get("deletionTimestamp") and not meta.get("finalizers") \
                and not meta.get("deletionGracePeriodSeconds") and kind.kind != "Namespace":
            self.remove(kind, item)
            return None
        self._write(kind, key, entry, item, MODIFIED)
        return entry

    def remove(self, kind, item):
        meta = item["metadata"]
        key = (meta.get("namespace", ""), meta["name"])
        entry = self.tables[kind].entries.pop(key, None)
        if entry is not None:
            self.tables[kind].counts[key[0]] -= 1
            self._write(kind, key, entry, item, DELETED)
        return entry

    def save(self):
        """What is to outlive the process: objects, versions, what was ever made."""
        return {"version": self.version, "creations": self.creations, "most": self.live_most,
                "objects": {kind.qualified: [entry.object for entry in table.entries.values()]
                            for kind, table in self.tables.items()}}

    def load(self, state):
        """Objects keep their versions; the changes before now are forgotten, as watch caches do."""
        self.creations, self.live_most = state["creations"], state["most"]
        for kind, table in self.tables.items():
            for key in list(table.entries):
                self.remove(kind, table.entries[key].object)
            for item in state["objects"][kind.qualified]:
                self.version = int(item["metadata"]["resourceVersion"]) - 1
                self.create(kind, item)
        self.version = state["version"]
        for table in self.tables.values():
            table.forget(0)
            table.forgotten = self.version

    def _write(self, kind, key, entry, item, type_name):
        self.version += 1
        self.writes += 1
        meta = item["metadata"] = dict(item["metadata"])
        meta["resourceVersion"] = str(self.version)
        change = Change()
        change.version, change.type, change.space, change.object = \
            self.version, type_name, key[0], item
        change.old_labels = change.old_fields = None
        if type_name != ADDED:
            change.old_labels, change.old_fields = entry.labels, entry.fields
        rest = {name: value for name, value in item.items() if name not in ("kind", "apiVersion")}
        data = kind.prefix + encode(rest)[1:]
        entry.object, entry.data = item, data
        entry.labels, entry.fields = meta.get("labels") or EMPTY, fields_of(kind, item)
        change.data, change.labels, change.fields = data, entry.labels, entry.fields
        table = self.tables[kind]
        for listener in list(table.listeners):
            listener(change)
        change.object = None            # the bytes are enough from here on
        table.remember(change)


def with_metadata(item, **changes):
    """A copy with some fields of its metadata changed; None takes one away."""
    meta = dict(item["metadata"])
    for name, value in changes.items():
        if value is None:
            meta.pop(name, None)
        else:
            meta[name] = value
    return dict(item, metadata=meta)


def with_status(item, **changes):
    status = dict(item.get("status") or {})
    for name, value in changes.items():
        if value is None:
            status.pop(name, None)
        else:
            status[name] = value
    return dict(item, status=status)


def with_condition(conditions, type_name, status, reason="", message="", probe=False):
    """A list with that condition in it, its transition timed when its status is new."""
    now = timestamp()
    for old in conditions or ():
        if old["type"] == type_name and old["status"] == status and old.get("reason") == reason \
                and old.get("message") == message:
            return list(conditions)
    made = {"type": type_name, "status": status, "lastProbeTime": now if probe else None,
            "lastTransitionTime": now}
    if reason:
        made["reason"] = reason
    if message:
        made["message"] = message
    for old in conditions or ():
        if old["type"] == type_name and old["status"] == status:
            made["lastTransitionTime"] = old["lastTransitionTime"]
    return [old for old in conditions or () if old["type"] != type_name] + [made]


def condition_true(item, *types):
    return any(one["type"] in types and one["status"] == "True"
               for one in (item.get("status") or {}).get("conditions") or ())
