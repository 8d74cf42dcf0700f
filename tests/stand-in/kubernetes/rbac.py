"""tests/stand-in/kubernetes/rbac.py - who asks, and whether they may

A user is found by their bearer token or client certificate (CN: name, O: groups), and may do what
their rules say; members of system:masters may do everything and are not throttled.  What each user
used of their rules is kept, so that a test can show that a Role is enough and no more.
"""
import json
import time

import little_yaml
from statuses import Refusal, forbidden

MASTERS = "system:masters"
ANONYMOUS = "system:anonymous"
# What every authenticated user may ask.
OPEN_PATHS = ("/version", "/api", "/apis", "/healthz", "/livez", "/readyz", "/openapi")


class User:
    def __init__(self, name, groups=(), rules=()):
        self.name, self.groups = name, list(groups)
        self.rules = list(rules)        # [{namespace (None: all), verbs, apiGroups, resources, names}]
        self.used = {}                  # (verb, group, resource) -> times
        self.refused = {}
        self._known = {}

    @property
    def master(self):
        return MASTERS in self.groups

    def grant(self, rules, namespace=None):
        for rule in rules:
            self.rules.append({"namespace": namespace, "verbs": set(rule.get("verbs") or ()),
                               "groups": set(rule.get("apiGroups") or ()),
                               "resources": set(rule.get("resources") or ()),
                               "names": set(rule.get("resourceNames") or ())})
        self._known = {}

    def revoke(self):
        self.rules, self._known = [], {}

    def may(self, verb, group, resource, space, name):
        if self.master:
            return True
        key = (verb, group, resource, space)
        if key not in self._known:
            self._known[key] = [rule["names"] for rule in self.rules
                                if (rule["namespace"] is None or rule["namespace"] == space)
                                and (verb in rule["verbs"] or "*" in rule["verbs"])
                                and (group in rule["groups"] or "*" in rule["groups"])
                                and (resource in rule["resources"] or "*" in rule["resources"])]
        return any(not names or name in names for names in self._known[key])


class Users:
    def __init__(self):
        self.by_name = {}
        self.tokens = {}                # token -> (user, when it expires or None)
        self.anonymous = User(ANONYMOUS, ["system:unauthenticated"])
        self.seen_tokens = {}           # token -> requests that came with it

    def add(self, name, groups=(), token=None, lifetime=None):
        user = self.by_name.setdefault(name, User(name, groups))
        user.groups = list(groups) or user.groups
        if token:
            self.tokens[token] = (user, time.time() + lifetime if lifetime else None)
        return user

    def authenticate(self, request):
        header = request.headers.get("authorization")
        if header is not None:
            scheme, _, token = header.partition(" ")
            user, until = self.tokens.get(token.strip(), (None, None))
            if scheme.lower() != "bearer" or user is None or until is not None \
                    and time.time() >= until:
                raise Refusal(401, "Unauthorized", "Unauthorized")
            return user
        certificate = request.connection.certificate
        if certificate:
            subject = {}
            for part in certificate.get("subject", ()):
                for key, value in part:
                    subject.setdefault(key, []).append(value)
            name = subject.get("commonName", [""])[0]
            return self.add(name, subject.get("organizationName", ()))
        return self.anonymous

    @staticmethod
    def authorize(user, verb, kind, subresource, space, name):
        resource = kind.plural + "/" + subresource if subresource else kind.plural
        key = "%s %s %s" % (verb, kind.group, resource)
        if user.may(verb, kind.group, resource, space, name):
            user.used[key] = user.used.get(key, 0) + 1
            return
        user.refused[key] = user.refused.get(key, 0) + 1
        where = 'in the namespace "%s"' % space if space else "at the cluster scope"
        raise forbidden(kind, name, 'User "%s" cannot %s resource "%s" in API group "%s" %s'
                        % (user.name, verb, resource, kind.group, where))

    @staticmethod
    def authorize_path(user, path):
        if user.master:
            return
        if user.name != ANONYMOUS and path.startswith(OPEN_PATHS) or \
                path in ("/version", "/healthz", "/livez", "/readyz"):
            return
        raise Refusal(403, "Forbidden", 'forbidden: User "%s" cannot get path "%s"'
                      % (user.name, path), {})


def read_roles(file_name):
    """The rules of every Role and ClusterRole in a file: [(kind, namespace or None, name, rules)].
    JSON, or the YAML that such files are written in; documents, or a List."""
    with open(file_name, encoding="utf-8") as file:
        text = file.read()
    documents = [json.loads(text)] if text.lstrip().startswith("{") else little_yaml.read(text)
    found = []
    for document in documents:
        for item in document.get("items", [document]) if document else ():
            if item.get("kind") in ("Role", "ClusterRole"):
                found.append((item["kind"], item["metadata"].get("namespace"),
                              item["metadata"]["name"], item.get("rules") or []))
    return found
