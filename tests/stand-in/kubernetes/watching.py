"""tests/stand-in/kubernetes/watching.py - lists in pages, and watches

A list with a limit keeps a snapshot for the pages that follow, so that they are consistent; the
oldest snapshots expire.  A watch gets each change as it is made, in the bytes that the store made
of it; when selectors stop or start to fit, the change is told as DELETED or ADDED.
"""
import json
import random
from base64 import urlsafe_b64decode, urlsafe_b64encode

from selecting import field_selector, label_selector
from statuses import Refusal, bad_request, encode, expired
from wire import Answer, encode_head

SNAPSHOTS_MAX = 64
BOOKMARK_INTERVAL = 10.0        # seconds; the real server's is a minute
BACKLOG_MAX = 16 * 1024 * 1024  # bytes that a watcher may be behind before it is dropped
CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the first "
    "chunk was returned and now may show up in the list.")


def parse_version(request):
    text = request.option("resourceVersion")
    if text and not text.isdigit():
        raise bad_request("resourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing "
                          "\"%s\": invalid syntax" % (text, text))
    return text


def too_new(wanted, current):
    return Refusal(504, "Timeout", "Too large resource version: %s, current: %d"
                   % (wanted, current),
                   {"causes": [{"reason": "ResourceVersionTooLarge",
                                "message": "Too large resource version"}],
                    "retryAfterSeconds": 1}, retry_after=1)


class Lists:
    def __init__(self, store):
        self.store = store
        self.snapshots = {}             # number -> (version, entries' bytes from here on)
        self.number = 0

    def list(self, kind, space, request):
        limit = int(request.option("limit", "0") or 0)
        token = request.option("continue")
        version = parse_version(request)
        labels = label_selector(request.option("labelSelector"))
        fields = field_selector(kind, request.option("fieldSelector"))
        if token:
            if version and version != "0":
                raise bad_request("specifying resource version is not allowed when using continue")
            version, items = self._continued(token)
        else:
            match = request.option("resourceVersionMatch")
            if match and not version:
                raise bad_request("resourceVersionMatch is forbidden unless resourceVersion is "
                                  "provided")
            if version and int(version) > self.store.version:
                raise too_new(version, self.store.version)
            if match == "Exact" and int(version) != self.store.version:
                raise expired("The resourceVersion for the provided list is too old.")
            if version == "0" and match != "Exact":
                limit = 0               # from the watch cache, which does not page
            version, items = self.store.version, self._select(kind, space, labels, fields)
        rest = items[limit:] if limit else []
        if limit:
            items = items[:limit]
        meta = {"resourceVersion": str(version)}
        if rest:
            meta["continue"] = self._keep(version, rest)
            if not labels and not fields:
                meta["remainingItemCount"] = len(rest)
        # Items of a typed list go without kind and apiVersion; a custom resource's keep them.
        cut = 0 if kind.custom else len(kind.prefix)
        body = b'{"kind":"%sList","apiVersion":"%s","metadata":%s,"items":[%s]}\n' % (
            kind.kind.encode(), kind.api_version.encode(), encode(meta),
            b",".join(b"{" + data[cut:] if cut else data for data in items))
        return Answer(200, body)

    def _select(self, kind, space, labels, fields):
        entries = self.store.tables[kind].entries
        return [entries[key].data for key in sorted(entries)
                if (not space or key[0] == space)
                and (labels is None or labels(entries[key].labels))
                and (fields is None or fields(entries[key].fields))]

    def _keep(self, version, rest):
        self.number += 1
        self.snapshots[self.number] = (version, rest)
        while len(self.snapshots) > SNAPSHOTS_MAX:
            del self.snapshots[min(self.snapshots)]
        return urlsafe_b64encode(json.dumps({"v": "meta.k8s.io/v1", "rv": version,
                                             "start": self.number}).encode()).decode().rstrip("=")

    def _continued(self, token):
        try:
            number = json.loads(urlsafe_b64decode(token + "=" * (-len(token) % 4)))["start"]
        except (ValueError, KeyError, TypeError):
            raise bad_request("continue key is not valid: illegal base64 data") from None
        if number not in self.snapshots:
            raise expired(CONTINUE_EXPIRED, token)
        return self.snapshots[number]


class Watch:
    """One open watch; it lives as long as its connection, its timeout or the server's mood."""

    def __init__(self, watches, kind, space, request):
        self.watches, self.kind, self.space = watches, kind, space
        self.connection = request.connection
        self.user = request.user
        self.labels = label_selector(request.option("labelSelector"))
        self.fields = field_selector(kind, request.option("fieldSelector"))
        self.bookmarks = request.option("allowWatchBookmarks") in ("true", "1")
        self.table = watches.store.tables[kind]
        self.version = watches.store.version
        self.ended = False
        self.timers = []

    def start(self, request):
        version = parse_version(request)
        initial = request.option("sendInitialEvents") in ("true", "1")
        if initial and request.option("resourceVersionMatch") != "NotOlderThan":
            raise Refusal(422, "Invalid", 'ListOptions.meta.k8s.io "" is invalid: '
                          'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden '
                          'unless sendInitialEvents is provided')
        timeout = request.option("timeoutSeconds")
        if timeout and not timeout.isdigit():
            raise bad_request("timeoutSeconds: strconv.ParseInt: parsing \"%s\": invalid syntax"
                              % timeout)
        seconds = int(timeout or 0) or random.randint(1800, 3600)
        self.connection.write(encode_head(Answer(200, b"")))
        self.connection.on_close = self.stop
        loop = self.watches.loop
        self.watches.open.add(self)
        if version in ("", "0") or initial:
            entries = self.table.entries
            for key in sorted(entries):
                if self._fits(key[0], entries[key].labels, entries[key].fields):
                    self._send("ADDED", entries[key].data)
            if initial and self.bookmarks:
                self._bookmark({"k8s.io/initial-events-end": "true"})
        elif int(version) < self.table.forgotten:
            self.expire(int(version))
            return
        else:
            self.version = int(version)
            for change in list(self.table.changes):
                if change.version > self.version:
                    self.tell(change)
            self.version = max(self.version, self.watches.store.version) \
                if self.version <= self.watches.store.version else self.version
        if self.ended:
            return
        self.table.listeners.add(self.tell)
        self.timers.append(loop.call_later(seconds, self.end))
        if self.bookmarks:
            self.timers.append(loop.call_later(self.watches.bookmark_interval, self._mark))

    def _fits(self, space, labels, fields):
        return (not self.space or space == self.space) \
            and (self.labels is None or self.labels(labels)) \
            and (self.fields is None or self.fields(fields))

    def tell(self, change):
        if self.space and change.space != self.space or change.version <= self.version:
            return
        now = self._fits(change.space, change.labels, change.fields)
        if self.labels is None and self.fields is None or change.type == "ADDED":
            if now:
                self._send(change.type, change.data)
            return
        before = self._fits(change.space, change.old_labels, change.old_fields)
        if change.type == "DELETED":
            if before:
                self._send("DELETED", change.data)
        elif now:
            self._send("MODIFIED" if before else "ADDED", change.data)
        elif before:
            self._send("DELETED", change.data)

    def _send(self, type_name, data):
        if self.ended:
            return
        self.watches.sent += 1
        line = b'{"type":"%s","object":%s}\n' % (type_name.encode(), data)
        self.connection.chunk(line)
        if len(self.connection.out) > BACKLOG_MAX:      # a client that does not read is dropped
            self.stop()
            self.connection.close()

    def _bookmark(self, annotations=None):
        meta = {"resourceVersion": str(max(self.version, self.watches.store.version))}
        if annotations:
            meta["annotations"] = annotations
        item = {"metadata": meta}
        if self.kind.kind in ("Job", "Pod"):
            item["spec"] = {"template": {"metadata": {}, "spec": {"containers": None}}} if self.kind.kind == "Job" else \
                {"containers": None}
            item["status"] = {}
        data = self.kind.prefix + encode(item)[1:]
        for _ in range(1 + self.watches.double_bookmarks):
            self._send("BOOKMARK", data)

    def _mark(self):
        if not self.ended:
            self._bookmark()
            self.timers.append(self.watches.loop.call_later(self.watches.bookmark_interval,
                                                            self._mark))

    def expire(self, version=None):
        """410 in an event of its own, in an answer that said 200."""
        refusal = expired("too old resource version: %d (%d)"
                          % (self.version if version is None else version,
                             max(self.table.forgotten, 1)))
        self._send("ERROR", encode(refusal.status()))
        self.end()

    def end(self):
        """In order, as when its time is over."""
        if not self.ended:
            if self.bookmarks and self.timers and not self.connection.closed:
                self._bookmark()
            self.stop()
            self.connection.write(b"0\r\n\r\n")
            self.connection.done()

    def stop(self):
        self.ended = True
        self.table.listeners.discard(self.tell)
        self.watches.open.discard(self)
        for timer in self.timers:
            timer.cancel()


class Watches:
    def __init__(self, store, loop):
        self.store, self.loop = store, loop
        self.open = set()
        self.sent = 0
        self.started = 0
        self.double_bookmarks = 0
        self.bookmark_interval = BOOKMARK_INTERVAL

    def start(self, kind, space, request):
        watch = Watch(self, kind, space, request)
        self.started += 1
        watch.start(request)

    def counted(self):
        counts = {}
        for watch in self.open:
            counts[watch.kind.plural] = counts.get(watch.kind.plural, 0) + 1
        return counts
