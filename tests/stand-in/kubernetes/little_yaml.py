"""tests/stand-in/kubernetes/little_yaml.py - the YAML that Role files are written in

Block mappings and lists, lists and mappings in brackets on one or several lines, plain and quoted
scalars, comments, several documents.  No anchors, no tags, no text blocks: a file that has them
fails loudly.
"""
import re


class Trouble(ValueError):
    pass


def read(text):
    documents = []
    for part in re.split(r"(?m)^---(?:\s.*)?$", text):
        lines = _lines(part)
        if lines:
            value, rest = _block(lines, 0, lines[0][0])
            if rest != len(lines):
                raise Trouble("line %r is out of place" % (lines[rest][1],))
            documents.append(value)
    return documents


def _lines(text):
    """[(indent, text)], without comments, with bracketed values on one line."""
    found, depth = [], 0
    for line in text.split("\n"):
        bare = re.sub(r"(?:^|(?<=\s))#.*$", "", line).rstrip()
        if not bare.strip():
            continue
        if depth:
            found[-1] = (found[-1][0], found[-1][1] + " " + bare.strip())
        else:
            found.append((len(bare) - len(bare.lstrip()), bare.strip()))
        plain = re.sub(r"'[^']*'|\"[^\"]*\"", "", bare)
        depth += plain.count("[") + plain.count("{") - plain.count("]") - plain.count("}")
    return found


def _block(lines, at, indent):
    if lines[at][1].startswith("- ") or lines[at][1] == "-":
        return _list(lines, at, indent)
    if re.match(r"""^("[^"]*"|'[^']*'|[^\s"'\[{][^:]*):(\s|$)""", lines[at][1]):
        return _mapping(lines, at, indent)
    return _flow(lines[at][1]), at + 1


def _list(lines, at, indent):
    found = []
    while at < len(lines) and lines[at][0] == indent and \
            (lines[at][1].startswith("- ") or lines[at][1] == "-"):
        text = lines[at][1][1:].lstrip()
        if not text:
            value, at = _block(lines, at + 1, lines[at + 1][0])
        else:
            inner = indent + len(lines[at][1]) - len(text)
            lines[at] = (inner, text)
            value, at = _block(lines, at, inner)
        found.append(value)
    return found, at


def _mapping(lines, at, indent):
    found = {}
    while at < len(lines) and lines[at][0] == indent:
        match = re.match(r"""^("[^"]*"|'[^']*'|[^\s"'\[{][^:]*):(?:\s+(.*))?$""", lines[at][1])
        if not match:
            raise Trouble("expected a key: %r" % (lines[at][1],))
        key, text = match.group(1).strip("'\""), match.group(2)
        if key in found:
            raise Trouble("duplicate key %r" % key)
        if text:
            if text[0] in "|>&*!":
                raise Trouble("too much YAML: %r" % (lines[at][1],))
            found[key], at = _flow(text), at + 1
        elif at + 1 < len(lines) and (lines[at + 1][0] > indent or lines[at + 1][0] == indent
                                      and lines[at + 1][1].startswith("-")):
            found[key], at = _block(lines, at + 1, lines[at + 1][0])
        else:
            found[key], at = None, at + 1
    return found, at


_TOKEN = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[\[\]{},]|:(?=\s|$)|[^\[\]{},:\s](?:[^\[\]{},:]|:(?!\s|$))*)""")


def _flow(text):
    if text[0] not in "[{":
        return _scalar(text)
    tokens = _TOKEN.findall(text)
    value, at = _flow_value(tokens, 0)
    if at != len(tokens):
        raise Trouble("trailing text in %r" % text)
    return value


def _flow_value(tokens, at):
    if tokens[at] == "[":
        found, at = [], at + 1
        while tokens[at] != "]":
            value, at = _flow_value(tokens, at)
            found.append(value)
            at += tokens[at] == ","
        return found, at + 1
    if tokens[at] == "{":
        found, at = {}, at + 1
        while tokens[at] != "}":
            key = _scalar(tokens[at])
            found[key], at = _flow_value(tokens, at + 2)
            at += tokens[at] == ","
        return found, at + 1
    return _scalar(tokens[at]), at + 1


def _scalar(text):
    text = text.strip()
    if text[:1] == '"':
        return text[1:-1].encode().decode("unicode_escape")
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    if text in ("", "~", "null"):
        return None
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.match(r"^-?\d+$", text) else text
