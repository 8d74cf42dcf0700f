"""tests/stand-in/kubernetes/schema.py - bodies against the table of all fields

The table is executors/kubernetes/schema.txt, whose head explains its notation.  Each type becomes
one closure when it is first needed; a body is walked once.  Found are, in the server's words:

  unknown fields        all, with their paths; what becomes of them is the caller's business
  wrong types           the first ends it: 400, as when Go cannot unmarshal
  missing fields, words that are none of the allowed ones      causes of a 422

Null fields, empty lists and empty maps are taken out, as they do not survive Go's omitempty, and so
are unknown fields.

Duplicate keys are found while the JSON is read.  Stricter than the server: any field that the table
calls required is required here, also where the server would fill it in or look away.
"""
import binascii
import base64
import json
import re

from statuses import bad_request, required, unsupported

QUANTITY = re.compile(r"^([+-]?(?:\d+\.?\d*|\.\d+))(|[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)$")
QUANTITY_WORDS = ("quantities must match the regular expression "
                  "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$")
GO_NAMES = {"string": "string", "boolean": "bool", "integer": "int64", "integer32": "int32"}
JSON_NAMES = {str: "string", bool: "bool", int: "number", float: "number", list: "array",
              dict: "object", type(None): "null"}


class Notes:
    """What a walk found."""
    __slots__ = ("unknown", "problems", "drops", "kind")

    def __init__(self, kind):
        self.kind = kind
        self.unknown, self.problems, self.drops = [], [], []


class WrongType(Exception):
    pass


class Duplicates:
    """The hook for json.loads that sees keys twice."""

    def __init__(self):
        self.found = []

    def make(self, pairs):
        value = dict(pairs)
        if len(value) != len(pairs):
            seen = set()
            for key, _ in pairs:
                if key in seen:
                    self.found.append((value, key))
                seen.add(key)
        return value


def read_json(body):
    """The value, and [(object, key)] of the keys that came twice."""
    duplicates = Duplicates()
    try:
        value = json.loads(body, object_pairs_hook=duplicates.make, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise bad_request("couldn't get version/kind; json parse error: %s" % error) from None
    return value, duplicates.found


def _no_constant(word):
    raise ValueError("invalid character '%s' looking for beginning of value" % word[0])


def path_of(root, wanted, key):
    """Where in the tree `wanted` lies, for the few cases that need it."""
    stack = [(root, "")]
    while stack:
        value, path = stack.pop()
        if value is wanted:
            return path + key
        if type(value) is dict:
            stack += [(item, "%s%s." % (path, name)) for name, item in value.items()]
        elif type(value) is list:
            stack += [(item, "%s[%d]." % (path.rstrip("."), at)) for at, item in enumerate(value)]
    return key


class Schema:
    def __init__(self, file_name):
        self.types = {}
        self._checks = {}
        with open(file_name, encoding="utf-8") as file:
            self._read(file)

    def _read(self, file):
        fields = None
        for line in file:
            if line.startswith("#") or not line.strip():
                continue
            if not line[0].isspace():
                name, _, line = line.partition(":")
                fields = self.types.setdefault(name.strip(), {})
            for word in line.split():
                field, _, kind = word.partition("=")
                fields[field] = (kind.rstrip("!"), kind.endswith("!"))

    # ---- what a body goes through ----

    def check(self, type_name, kind, value):
        """Walk a body.  Notes; a wrong type raises a Refusal."""
        notes = Notes(kind)
        try:
            self.object_check(type_name)(value, "", notes)
        except WrongType as wrong:
            raise bad_request("%s in version \"%s\" cannot be handled as a %s: %s"
                              % (kind.kind, kind.version, kind.kind, wrong)) from None
        for container, key in notes.drops:
            container.pop(key, None)
        return notes

    def object_check(self, name):
        if name not in self._checks:
            self._checks[name] = self._compile_object(name)
        return self._checks[name]

    def _compile_object(self, name):
        fields = {}
        must = [field for field, (_, needed) in self.types[name].items() if needed]
        table = self.types[name]
        compile_field = self._compile_field
        drops_when_empty = {field for field, (kind, _) in table.items() if kind[0] in "[{"}

        def check(value, path, notes):
            if type(value) is not dict:
                raise _wrong(value, name, path, "v1." + name)
            prefix = path + "." if path else ""
            for key, item in value.items():
                row = fields.get(key)
                if row is None:
                    if key not in table:
                        notes.unknown.append(prefix + key)
                        notes.drops.append((value, key))
                        continue
                    row = fields[key] = compile_field(name, key, table[key][0])
                if item is None:
                    notes.drops.append((value, key))
                elif row[1] is not None:
                    row[1](item, prefix + key, notes)
                    if not item and key in drops_when_empty:
                        notes.drops.append((value, key))
                elif type(item) is not row[0]:
                    raise _wrong(item, name, prefix + key, row[2])
            for key in must:
                if value.get(key) is None:
                    notes.problems.append(required(prefix + key))
        return check

    def _compile_field(self, owner, field, kind):
        """(type, None, Go's name) where the type is all, or (None, check, Go's name)."""
        if kind == "string":
            return str, None, "string"
        if kind == "boolean":
            return bool, None, "bool"
        return None, self._compile(owner, kind), self._go_name(kind)

    def _go_name(self, kind):
        if kind[0] == "[":
            return "[]" + self._go_name(kind[1:-1])
        if kind[0] == "{":
            return "map[string]" + self._go_name(kind[1:-1])
        return GO_NAMES.get(kind) or ("v1." + kind if kind in self.types else "string")

    def _compile(self, owner, kind):
        if kind[0] == "[":
            return self._compile_list(owner, kind)
        if kind[0] == "{":
            return self._compile_map(owner, kind)
        if kind in self.types:
            return lambda value, path, notes: self.object_check(kind)(value, path, notes)
        if "|" in kind:
            return self._compile_words(owner, kind)
        return _compile_plain(owner, kind)

    def _compile_list(self, owner, kind):
        go_name = self._go_name(kind)
        inner = self._compile(owner, kind[1:-1])

        def check(value, path, notes):
            if type(value) is not list:
                raise _wrong(value, owner, path, go_name)
            for at, item in enumerate(value):
                inner(item, "%s[%d]" % (path, at), notes)
        return check

    def _compile_map(self, owner, kind):
        go_name = self._go_name(kind)
        inner = self._compile(owner, kind[1:-1])
        strings = kind == "{string}"

        def check(value, path, notes):
            if type(value) is not dict:
                raise _wrong(value, owner, path, go_name)
            for key, item in value.items():
                if not strings or type(item) is not str:
                    inner(item, "%s.%s" % (path, key), notes)
        return check

    def _compile_words(self, owner, kind):
        words = [word.strip('"') for word in kind.split("|")]
        known = set(words)

        def check(value, path, notes):
            if type(value) is not str:
                raise _wrong(value, owner, path, "string")
            if value not in known and value:
                notes.problems.append(unsupported(path, value, words))
        return check


def _wrong(value, owner, path, go_name):
    return WrongType("json: cannot unmarshal %s into Go struct field %s.%s of type %s"
                     % (JSON_NAMES[type(value)], owner, re.sub(r"\[\d+\]", "", path), go_name))


def _compile_plain(owner, kind):
    if kind == "any":
        return lambda value, path, notes: None
    return {"string": _check_string, "boolean": _check_boolean, "integer": _check_integer(63),
            "integer32": _check_integer(31), "quantity": _check_quantity, "time": _check_time,
            "intorstring": _check_either, "base64": _check_base64}[kind](owner)


def _check_string(owner):
    def check(value, path, notes):
        if type(value) is not str:
            raise _wrong(value, owner, path, "string")
    return check


def _check_boolean(owner):
    def check(value, path, notes):
        if type(value) is not bool:
            raise _wrong(value, owner, path, "bool")
    return check


def _check_integer(bits):
    limit = 1 << bits
    name = "int%d" % (bits + 1)

    def make(owner):
        def check(value, path, notes):
            if type(value) is not int:
                raise _wrong(value, owner, path, name)
            if not -limit <= value < limit:
                raise WrongType("json: cannot unmarshal number %d into Go struct field %s.%s "
                                "of type %s" % (value, owner, path, name))
        return check
    return make


def _check_quantity(owner):
    def check(value, path, notes):
        if type(value) in (int, float):
            return
        if type(value) is not str or not QUANTITY.match(value):
            raise WrongType(QUANTITY_WORDS)
    return check


def _check_time(owner):
    def check(value, path, notes):
        if type(value) is not str:
            raise _wrong(value, owner, path, "v1.Time")
        if not TIME.match(value):
            raise WrongType('parsing time "%s" as "2006-01-02T15:04:05Z07:00": cannot parse "%s" '
                            'as "2006"' % (value, value))
    return check


def _check_either(owner):
    def check(value, path, notes):
        if type(value) is not str and type(value) is not int:
            raise _wrong(value, owner, path, "intstr.IntOrString")
    return check


def _check_base64(owner):
    def check(value, path, notes):
        if type(value) is not str:
            raise _wrong(value, owner, path, "[]uint8")
        try:
            base64.b64decode(value, validate=True)
        except binascii.Error:
            raise WrongType("illegal base64 data at input byte 0") from None
    return check


UNITS = {"": 1, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
         "P": 1e15, "E": 1e18, "Ki": 2 ** 10, "Mi": 2 ** 20, "Gi": 2 ** 30, "Ti": 2 ** 40,
         "Pi": 2 ** 50, "Ei": 2 ** 60}


def quantity(value):
    """The number that a quantity means."""
    if type(value) is not str:
        return value
    match = QUANTITY.match(value)
    if not match:
        raise ValueError(value)
    number, unit = match.groups()
    scale = UNITS[unit] if unit in UNITS else float("1" + unit)
    return float(number) * scale if "." in number or scale < 1 else int(number) * scale
