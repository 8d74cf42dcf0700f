"""tests/stand-in/kubernetes/orders.py - misbehaviour, fates and questions, on order

An order is one JSON object with an `order`; the answer is one JSON object, {"ok": true, ...} or
{"ok": false, "error": "..."}.  They come one a line over the unix socket DIR/control, or as the body
of POST /_control with the bearer token in DIR/control-token.  (bash: `control DIR '{...}'`.)

  misbehave   method, path (a regular expression found in path?query), user: which requests (each
              optional); skip (0), every (1: of those that are left each so-manieth), count (1; 0:
              for ever); action, one of:
    cut_answer bytes=N     carried out, and cut off after N bytes of the answer
    cut_request            not carried out, and cut off
    hang seconds=S         nothing for S seconds (0: for ever), then carried out and answered
    late seconds=S         carried out at once, answered after S seconds
    status code=N [retry_after=S] [body] [content_type] [done=true]
                           answered so; 429, 500, 502, 503, 504 have their usual texts.  done: and
                           carried out all the same
    garbage                carried out, answered with what is no JSON
    content_type value=V   carried out, with another Content-Type
    twice                  carried out twice; the second answer is given
    answers_twice          carried out once, the answer sent twice on the wire
    foreign                first, somebody else's object takes the name
    slow seconds=S         carried out; each byte of the answer S apart
    chunks size=N          carried out; the answer in chunks of N bytes
    huge bytes=N           carried out; N blanks before the answer
    empty                  carried out, answered with 200 and nothing
  calm        no more misbehaviour, no throttling
  throttle    rate, burst: above that 429; rate 0: none
  watches     action: end (in order) | cut | expire (an ERROR event, then the end) | compact (what
              has been is forgotten, and all watches are cut: whoever resumes is told 410) |
              double_bookmarks | interval seconds=S (of bookmarks) | forget_lists (410 for continue);
              kind (plural): only those
  restart     down (3): connections refused for so many seconds, then all as it was
  reset_versions             as a cluster restored from an old backup: versions start again at 1
  set         name, value    a setting of cluster.py
  user        name, groups, rules, cluster_rules, namespace, token, lifetime: make or change one
  revoke      name           all the user's rights
  token       rotate: a new one is written to DIR/token and DIR/kubeconfig, the old one is refused
              (keep=true: is not); lifetime: seconds that the new one is good for
  certificate name, subject ("/O=group/CN=name"): makes DIR/name.crt and .key
  namespace   name, action: make | terminate (and stays so until set hold_namespaces false)
  node        name, action: add (capacity, labels, taints) | lose | back | remove | cordon |
              uncordon
  fate        what pods do: see kubelet.py.  pattern (a regular expression found in
              namespace/name), and any of exit_code, seconds, output, ...; count (0: for ever)
  no_fates    forget those
  pod         name, namespace, action: evict (by the kubelet, for memory) | preempt | finish
              (exit_code) | oom | lose
  priority    name: a PriorityClass that there is
  version     the members of /version to change
  dump        what: creations | pods | users | counts | most | watches | objects (kind), requests
  reset_counts
"""
import asyncio
import hmac
import json
import re
import secrets

import certificates
from api import Throttle, too_many_requests
from kinds import ALL, EVENTS, NAMESPACES, NODES
from statuses import Refusal, encode
from store import timestamp, with_metadata
from wire import Answer, encode_answer

TEXTS = {429: "Too many requests, please try again later.\n", 500: "Internal Server Error\n",
         502: "Bad Gateway\n", 503: "Service Unavailable\n", 504: "Gateway Timeout\n"}
PLURALS = {kind.plural: kind for kind in ALL}


class Misbehaviour:
    """One order; it looks at requests until it has been carried out often enough."""

    def __init__(self, order):
        self.order, self.action = order, order["action"]
        self.method, self.user = order.get("method"), order.get("user")
        self.path = re.compile(order.get("path", ""))
        self.skip, self.left = order.get("skip", 0), order.get("count", 1)
        self.every, self.passed = order.get("every", 1), 0
        self.forever = self.left == 0
        self.done = 0
        if not hasattr(Orders, "_act_" + self.action):
            raise ValueError("no such action: %s" % self.action)

    def fits(self, request, target):
        if self.method and self.method != request.method or not self.path.search(target):
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        self.passed += 1
        if self.passed % self.every:
            return False
        self.done += 1
        self.left -= 1
        return True


class Orders:
    NAMESPACES = NAMESPACES

    def __init__(self, stand_in):
        self.stand_in, self.cluster = stand_in, stand_in.cluster
        self.api, self.store, self.loop = self.cluster.api, self.cluster.store, stand_in.loop
        self.misbehaviours = []
        self.requests = 0
        self.control_token = None

    # ---- requests ----

    def handle(self, connection, request):
        if request.path == "/_control":
            self._controlled(connection, request)
            return
        self.requests += 1
        if self.misbehaviours:
            target = request.path
            if request.query:
                target += "?" + "&".join("%s=%s" % (name, value) for name, values
                                         in request.query.items() for value in values)
            for one in self.misbehaviours:
                if one.fits(request, target):
                    if one.left <= 0 and not one.forever:
                        self.misbehaviours.remove(one)
                    getattr(self, "_act_" + one.action)(connection, request, one.order)
                    return
        self._serve(connection, request)

    def _carry_out(self, request):
        """The answer, or None where it streams; a fault of the stand-in is a 500 that says so."""
        try:
            return self.api.respond(request)
        except Exception as error:      # so that a test sees it, and the server lives on
            import traceback
            traceback.print_exc()
            return Refusal(500, "InternalError", "the stand-in failed: %r" % error).answer()

    def _serve(self, connection, request):
        answer = self._carry_out(request)
        if answer is not None:
            connection.answer(answer, request.warnings, request.too_large or
                              request.headers.get("connection", "").lower() == "close")

    def _act_cut_answer(self, connection, request, order):
        answer = self._carry_out(request)
        if answer is not None:
            connection.closing = True
            connection.write(encode_answer(answer, request.warnings)[:order.get("bytes", 0)])
            connection.close()
            return
        self.loop.call_later(order.get("seconds", 0.05), connection.close)

    def _act_cut_request(self, connection, request, order):
        connection.close()

    def _act_hang(self, connection, request, order):
        if order.get("seconds"):
            self.loop.call_later(order["seconds"], lambda: connection.closed or
                                 self._serve(connection, request))

    def _act_late(self, connection, request, order):
        answer = self._carry_out(request)
        if answer is not None:
            self.loop.call_later(order.get("seconds", 1), connection.answer, answer,
                                 request.warnings)

    def _act_status(self, connection, request, order):
        if order.get("done"):
            self._carry_out(request)
        code = order.get("code", 503)
        if code == 429 and "body" not in order:
            connection.answer(too_many_requests(order.get("retry_after", 1)))
            return
        headers = [("Retry-After", str(order["retry_after"]))] if "retry_after" in order else []
        body = order.get("body", TEXTS.get(code, ""))
        if type(body) is dict:
            connection.answer(Answer(code, encode(body), headers=headers))
            return
        connection.answer(Answer(code, body.encode(), order.get(
            "content_type", "text/plain; charset=utf-8"), headers))

    def _act_garbage(self, connection, request, order):
        answer = self._carry_out(request)
        if answer is not None:
            answer.body = order.get("body", "{\"kind\":\"Job\",\x00 <html>").encode()
            connection.answer(answer)

    def _act_content_type(self, connection, request, order):
        answer = self._carry_out(request)
        if answer is not None:
            answer.content_type = order.get("value", "text/html")
            connection.answer(answer)

    def _act_twice(self, connection, request, order):
        self._carry_out(request)
        self._serve(connection, request)

    def _act_answers_twice(self, connection, request, order):
        answer = self._carry_out(request)
        if answer is not None:
            connection.write(encode_answer(answer) * 2)
            connection.done()

    def _act_foreign(self, connection, request, order):
        try:
            item = json.loads(request.body)
            parts = request.path.split("/")
            kind = PLURALS[parts[-1]]
            meta = {"name": item["metadata"]["name"], "namespace": parts[-2],
                    "labels": {"app": "somebody-elses"}}
            item["metadata"] = meta
            if kind.kind == "Job":
                item["spec"]["template"].pop("metadata", None)
            self.api.admit(kind, item, "somebody")
        except (ValueError, KeyError, IndexError, Refusal):
            pass
        self._serve(connection, request)

    def _act_slow(self, connection, request, order):
        answer = self._carry_out(request)
        if answer is not None:
            connection.slow = order.get("seconds", 0.01)
            connection.answer(answer, request.warnings)

    def _act_chunks(self, connection, request, order):
        answer = self._carry_out(request)
        if answer is not None:
            connection.write(encode_answer(answer, request.warnings, order.get("size", 7)))
            connection.done()

    def _act_huge(self, connection, request, order):
        answer = self._carry_out(request)
        if answer is not None:
            answer.body = b" " * order.get("bytes", 1 << 20) + answer.body
            connection.answer(answer)

    def _act_empty(self, connection, request, order):
        self._carry_out(request)
        connection.answer(Answer(200, b""))

    # ---- orders ----

    def _controlled(self, connection, request):
        if self.control_token is None:
            with open(self.stand_in.path("control-token"), encoding="utf-8") as file:
                self.control_token = file.read()
        given = request.headers.get("authorization", "")
        if request.method != "POST" or not hmac.compare_digest(
                given.encode(), ("Bearer " + self.control_token).encode()):
            connection.answer(Answer(401, b"{}"))
            return
        connection.answer(Answer(200, self.obey(request.body)))

    async def talk(self, reader, writer):
        """One connection of the control socket."""
        try:
            while True:
                line = await reader.readline()
                if not line:
                    break
                writer.write(self.obey(line) + b"\n")
                await writer.drain()
        except (ConnectionError, ValueError, asyncio.CancelledError):
            pass
        writer.close()

    def obey(self, text):
        try:
            order = json.loads(text)
            answer = getattr(self, "_order_" + order["order"])(order)
            return json.dumps(dict({"ok": True}, **(answer or {}))).encode()
        except Exception as error:
            return json.dumps({"ok": False, "error": "%s: %s" % (type(error).__name__, error)}
                              ).encode()

    def _order_misbehave(self, order):
        self.misbehaviours.append(Misbehaviour(order))

    def _order_calm(self, order):
        done = sum(one.done for one in self.misbehaviours)
        self.misbehaviours.clear()
        self.api.throttle = None
        self.api.watches.double_bookmarks = 0
        return {"done": done}

    def _order_throttle(self, order):
        rate = order.get("rate", 0)
        self.api.throttle = Throttle(rate, order.get("burst", max(rate, 1))) if rate else None

    def _order_watches(self, order):
        watches, action = self.api.watches, order["action"]
        kind = PLURALS[order["kind"]] if "kind" in order else None
        chosen = [one for one in list(watches.open) if kind in (None, one.kind)]
        if action == "compact":
            for each in [kind] if kind else ALL:
                self.store.version += 1
                self.store.tables[each].forget(self.store.version)
        if action == "double_bookmarks":
            watches.double_bookmarks = order.get("count", 1)
        elif action == "interval":
            watches.bookmark_interval = order["seconds"]
        elif action == "forget_lists":
            self.api.lists.snapshots.clear()
        elif action in ("cut", "compact"):
            for one in chosen:
                one.connection.close()
        elif action in ("end", "expire"):
            for one in chosen:
                getattr(one, action)()
        else:
            raise ValueError("no such action: %s" % action)
        return {"watches": len(chosen)}

    def _order_restart(self, order):
        server = self.stand_in.server
        self.loop.call_soon(server.stop_listening)
        self.loop.call_later(order.get("down", 3), server.listen)

    def _order_reset_versions(self, order):
        self.store.version = 0
        for table in self.store.tables.values():
            table.forget(0)
            for entry in list(table.entries.values()):
                self.store.update(table.kind, with_metadata(entry.object))
            table.forget(0)
        for connection in list(self.stand_in.server.connections):
            connection.close()

    def _order_set(self, order):
        self.set_one(order["name"], order["value"])

    def set_one(self, name, value):
        if name not in self.cluster.settings:
            raise ValueError("no such setting: %s" % name)
        self.cluster.settings[name] = value
        self.cluster.jobs.settings_changed()

    def _order_user(self, order):
        user = self.api.users.add(order["name"], order.get("groups", ["system:authenticated"]),
                                  order.get("token"), order.get("lifetime"))
        user.grant(order.get("rules", []), order.get("namespace", "dlspool"))
        user.grant(order.get("cluster_rules", []))

    def _order_revoke(self, order):
        self.api.users.by_name[order["name"]].revoke()

    def _order_token(self, order):
        users, stand_in = self.api.users, self.stand_in
        with open(stand_in.path("token"), encoding="utf-8") as file:
            old = file.read()
        user = users.tokens[old][0]
        if not order.get("keep"):
            del users.tokens[old]
        new = secrets.token_urlsafe(32)
        users.add(user.name, user.groups, new, order.get("lifetime"))
        stand_in.write("token", new)
        if order.get("rewrite", True):
            stand_in._write_kubeconfigs()

    def _order_certificate(self, order):
        certificates.make_certificate(self.stand_in.directory, order["name"], order["subject"])

    def _order_namespace(self, order):
        if order["action"] == "make":
            self.cluster.add_namespace(order["name"])
            return
        item = self.store.get(NAMESPACES, "", order["name"])
        self.cluster.settings["hold_namespaces"] = True
        self.store.update(NAMESPACES, dict(with_metadata(item, deletionTimestamp=timestamp()),
                                           status={"phase": "Terminating"}))
        if order.get("empty"):
            self.cluster.collector.empty_namespace(order["name"])

    def _order_node(self, order):
        name, action = order["name"], order["action"]
        if action == "add":
            self.cluster.add_node(name, order.get("capacity", {"cpu": "64", "memory": "256Gi"}),
                                  order.get("labels"), order.get("taints"))
        elif action in ("cordon", "uncordon"):
            self.cluster.kubelet.cordon_node(name, action == "cordon")
        elif action in ("lose", "back", "remove"):
            getattr(self.cluster.kubelet, action + "_node")(name)
        else:
            raise ValueError("no such action: %s" % action)
        self.cluster.kubelet.try_again()

    def _order_fate(self, order):
        self.cluster.kubelet.add_fate(order)

    def _order_no_fates(self, order):
        self.cluster.kubelet.fates.clear()

    def _order_pod(self, order):
        self.cluster.kubelet.command(order.get("namespace", "dlspool"), order["name"],
                                     order["action"], order)

    def _order_priority(self, order):
        self.api.priority_classes.add(order["name"])

    def _order_version(self, order):
        self.api.version.update(order["value"])

    def _order_dump(self, order):
        what = order["what"]
        if what == "creations":
            return {"creations": [
                dict(zip(("resource", "namespace", "name", "uid", "time", "user", "sha256"), one))
                for one in self.store.creations
                if order.get("kind") in (None, one[0])]}
        if what == "pods":
            return {"pods": self.cluster.kubelet.history}
        if what == "users":
            return {"users": {user.name: {"used": user.used, "refused": user.refused}
                              for user in self.api.users.by_name.values()}}
        if what == "counts":
            return {"counts": self.api.counts, "requests": self.requests,
                    "throttled": self.api.throttled, "writes": self.store.writes,
                    "controller": self.cluster.jobs.requests,
                    "accepted": self.stand_in.server.accepted,
                    "connections": len(self.stand_in.server.connections),
                    "connections_most": self.stand_in.server.most}
        if what == "most":
            return {"most": self.store.live_most}
        if what == "watches":
            return {"open": self.api.watches.counted(), "started": self.api.watches.started,
                    "sent": self.api.watches.sent}
        if what == "objects":
            return {"objects": self.store.all(PLURALS[order["kind"]], order.get("namespace"))}
        raise ValueError("no such thing to dump: %s" % what)

    def _order_reset_counts(self, order):
        self.api.counts.clear()
        self.requests = self.api.throttled = self.cluster.jobs.requests = 0
        self.store.live_most = {kind.plural: len(self.store.tables[kind].entries)
                                for kind in ALL if kind is not EVENTS}
        self.stand_in.server.accepted = 0
        self.stand_in.server.most = len(self.stand_in.server.connections)
        for user in self.api.users.by_name.values():
            user.used.clear()
            user.refused.clear()
