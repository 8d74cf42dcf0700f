"""tests/stand-in/kubernetes/collector.py - the garbage collector, and the end of namespaces

Dependents whose owners are all gone are deleted in the background; a Foreground deletion waits for
those that block it; Orphan takes their owner references away.  A dependent that is made after its
owner has gone is deleted too.  Events are dropped when they are old.
"""
from collections import deque

import deletion
from kinds import ALL, EVENTS, JOBS, NAMESPACES, PODS
from store import ADDED, DELETED, with_metadata

SLICE = 50                      # objects in one go, so that requests are not kept waiting


class Collector:
    def __init__(self, cluster):
        self.cluster, self.store = cluster, cluster.store
        self.uids = set()               # of all live objects
        self.dependents = {}            # owner's uid -> {(kind, namespace, name)}
        self.todo = deque()
        self.timer = None
        self.events = deque()           # (when to drop, namespace, name)
        for kind in ALL:
            if kind is not EVENTS:
                self.store.tables[kind].listeners.add(
                    lambda change, kind=kind: self._changed(kind, change))
        self.store.tables[EVENTS].listeners.add(self._event)

    def _event(self, change):
        if change.type == ADDED:
            self.events.append((self.cluster.loop.time() + self.cluster.settings["event_seconds"],
                                change.space, change.object["metadata"]["name"]))
            if len(self.events) > self.cluster.settings["events_max"] or \
                    self.events[0][0] < self.cluster.loop.time():
                self.cluster.loop.call_soon(self._drop_events)

    def _drop_events(self):
        """Later, since a listener makes no changes."""
        while len(self.events) > self.cluster.settings["events_max"] or \
                self.events and self.events[0][0] < self.cluster.loop.time():
            _, space, name = self.events.popleft()
            item = self.store.get(EVENTS, space, name)
            if item is not None:
                self.store.remove(EVENTS, item)

    def _changed(self, kind, change):
        meta = change.object["metadata"]
        key = (kind, change.space, meta["name"])
        if change.type == ADDED:
            self.uids.add(meta["uid"])
        for owner in meta.get("ownerReferences") or ():
            if change.type == DELETED:
                self.dependents.get(owner["uid"], set()).discard(key)
                self._soon(("owner", owner["uid"]))
            else:
                self.dependents.setdefault(owner["uid"], set()).add(key)
                if owner["uid"] not in self.uids:
                    self._soon(("dependent", key))
        if change.type == DELETED:
            self.uids.discard(meta["uid"])
            for dependent in self.dependents.pop(meta["uid"], ()):
                self._soon(("dependent", dependent))
        elif meta.get("deletionTimestamp") and meta.get("finalizers"):
            self._soon(("finalize", key))

    def _soon(self, what):
        self.todo.append(what)
        if self.timer is None:
            self.timer = self.cluster.loop.call_later(self.cluster.settings["gc_delay"], self._run)

    def _run(self):
        self.timer = None
        for _ in range(min(SLICE, len(self.todo))):
            what, key = self.todo.popleft()
            getattr(self, "_do_" + what)(key)
        if self.todo and self.timer is None:
            self.timer = self.cluster.loop.call_later(0.001, self._run)

    def _do_dependent(self, key):
        """Delete it when none of its owners lives; forget the dead ones otherwise."""
        kind, space, name = key
        item = self.store.get(kind, space, name)
        if item is None:
            return
        owners = item["metadata"].get("ownerReferences") or ()
        living = [owner for owner in owners if owner["uid"] in self.uids]
        if not owners or len(living) == len(owners):
            return
        if living:
            self.store.update(kind, with_metadata(item, ownerReferences=living))
        elif not item["metadata"].get("deletionTimestamp"):
            deletion.delete(self.cluster, kind, item, deletion.Options("Background"))

    def _do_finalize(self, key):
        kind, space, name = key
        item = self.store.get(kind, space, name)
        if item is None:
            return
        finalizers = item["metadata"].get("finalizers") or []
        uid = item["metadata"]["uid"]
        if "orphan" in finalizers:
            for dependent in list(self.dependents.get(uid, ())):
                other = self.store.get(*dependent)
                if other is not None:
                    left = [one for one in other["metadata"].get("ownerReferences") or ()
                            if one["uid"] != uid]
                    self.store.update(dependent[0],
                                      with_metadata(other, ownerReferences=left or None))
                    self.dependents[uid].discard(dependent)
        elif "foregroundDeletion" in finalizers:
            blocking = False
            for dependent in list(self.dependents.get(uid, ())):
                other = self.store.get(*dependent)
                if other is None:
                    continue
                blocking |= any(one["uid"] == uid and one.get("blockOwnerDeletion")
                                for one in other["metadata"].get("ownerReferences") or ())
                if not other["metadata"].get("deletionTimestamp"):
                    deletion.delete(self.cluster, dependent[0], other,
                                    deletion.Options("Foreground"))
            if blocking:
                return
        else:
            return
        item = self.store.get(kind, space, name)
        left = [one for one in item["metadata"].get("finalizers") or ()
                if one not in ("orphan", "foregroundDeletion")]
        self.store.update(kind, with_metadata(item, finalizers=left or None,
                                              deletionGracePeriodSeconds=None))

    def _do_owner(self, uid):
        """A dependent has gone: perhaps its owner waited for that."""
        for kind in (JOBS, PODS):
            for item in self.store.all(kind) if uid in self.uids else ():
                if item["metadata"]["uid"] == uid and item["metadata"].get("deletionTimestamp"):
                    self._do_finalize((kind, item["metadata"].get("namespace", ""),
                                       item["metadata"]["name"]))
                    return

    def empty_namespace(self, name):
        """Delete all that is in it, and it when that is gone."""
        left = 0
        for kind in ALL:
            if not kind.namespaced:
                continue
            for item in self.store.all(kind, name):
                left += 1
                if not item["metadata"].get("deletionTimestamp"):
                    deletion.delete(self.cluster, kind, item, deletion.Options("Background", 0))
        if left or self.cluster.settings["hold_namespaces"]:
            self.cluster.loop.call_later(0.1, self.empty_namespace, name)
            return
        item = self.store.get(NAMESPACES, "", name)
        if item is not None:
            self.store.remove(NAMESPACES, item)
