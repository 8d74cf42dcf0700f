"""tests/stand-in/kubernetes/statuses.py - refusals, in the API server's words

A Refusal is raised anywhere below a request and becomes a Status body.  The reasons, codes and
sentences are those of k8s.io/apimachinery/pkg/api/errors and .../util/validation/field.
"""
import json

from wire import Answer


class Refusal(Exception):
    def __init__(self, code, reason, message, details=None, content_type=None, retry_after=None):
        super().__init__(message)
        self.code, self.reason, self.message, self.details = code, reason, message, details
        self.retry_after = retry_after

    def status(self):
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                  "message": self.message}
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        status["code"] = self.code
        return status

    def answer(self):
        headers = [("Retry-After", str(self.retry_after))] if self.retry_after else []
        return Answer(self.code, encode(self.status()) + b"\n", headers=headers)


def encode(value):
    """JSON as Go writes it: < > and & are escaped, since HTML might be near."""
    data = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    return data.replace(b"&", b"\\u0026").replace(b"<", b"\\u003c").replace(b">", b"\\u003e")


class Invalid:
    """What is wrong with one field: a cause of a 422."""
    __slots__ = ("reason", "field", "message")

    def __init__(self, reason, field, message):
        self.reason, self.field, self.message = reason, field, message


def required(field, detail=""):
    return Invalid("FieldValueRequired", field, "Required value" + (": " + detail if detail else ""))


def invalid(field, value, detail):
    return Invalid("FieldValueInvalid", field, "Invalid value: %s: %s" % (_quote(value), detail))


def unsupported(field, value, supported):
    return Invalid("FieldValueNotSupported", field, "Unsupported value: %s: supported values: %s"
                   % (_quote(value), ", ".join('"%s"' % one for one in supported)))


def duplicate(field, value):
    return Invalid("FieldValueDuplicate", field, "Duplicate value: %s" % _quote(value))


def not_found_field(field, value):
    return Invalid("FieldValueNotFound", field, "Not found: %s" % _quote(value))


def forbidden_field(field, detail):
    return Invalid("FieldValueForbidden", field, "Forbidden: %s" % detail)


def too_long(field, limit):
    return Invalid("FieldValueTooLong", field, "Too long: may not be more than %d bytes" % limit)


def _quote(value):
    return json.dumps(value, ensure_ascii=False)


def refuse_invalid(resource, name, problems):
    """422 with all problems."""
    texts = ["%s: %s" % (one.field, one.message) for one in problems]
    text = texts[0] if len(texts) == 1 else "[%s]" % ", ".join(texts)
    details = {"name": name, "group": resource.group, "kind": resource.kind,
               "causes": [{"reason": one.reason, "message": one.message, "field": one.field}
                          for one in problems]}
    _tidy(details)
    kind = resource.kind + ("." + resource.group if resource.group else "")
    return Refusal(422, "Invalid", '%s "%s" is invalid: %s' % (kind, name, text), details)


def _tidy(details):
    for key in [key for key, value in details.items() if value in ("", None)]:
        del details[key]


def _named(resource, name):
    details = {"name": name, "group": resource.group, "kind": resource.plural}
    _tidy(details)
    return details


def not_found(resource, name):
    return Refusal(404, "NotFound", '%s "%s" not found' % (resource.qualified, name),
                   _named(resource, name))


def already_exists(resource, name):
    return Refusal(409, "AlreadyExists", '%s "%s" already exists' % (resource.qualified, name),
                   _named(resource, name))


def conflict(resource, name, why):
    return Refusal(409, "Conflict", 'Operation cannot be fulfilled on %s "%s": %s'
                   % (resource.qualified, name, why), _named(resource, name))


def forbidden(resource, name, why, causes=None):
    text = '%s "%s" is forbidden: %s' % (resource.qualified, name, why) if name else \
        "%s is forbidden: %s" % (resource.qualified, why)
    details = _named(resource, name)
    if causes:
        details["causes"] = causes
    return Refusal(403, "Forbidden", text, details)


def bad_request(message):
    return Refusal(400, "BadRequest", message)


def no_such_path():
    return Refusal(404, "NotFound", "the server could not find the requested resource", {})


def not_allowed():
    return Refusal(405, "MethodNotAllowed",
                   "the server does not allow this method on the requested resource", {})


def expired(message, token=None):
    refusal = Refusal(410, "Expired", message)
    if token:
        status = refusal.status
        refusal.status = lambda: dict(status(), metadata={"continue": token})
    return refusal


def success(resource, name, uid):
    details = _named(resource, name)
    details["uid"] = uid
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
            "details": details}
