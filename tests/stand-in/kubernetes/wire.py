"""tests/stand-in/kubernetes/wire.py - HTTP/1.1 over TLS, quickly

A connection is a non-blocking TLS socket that the event loop watches; a request is handled the
moment its last byte is here, in one call, without a task of its own.  That, and a parser that looks
only at what it needs, makes some thousands of requests a second possible.

As Go's server does it: an answer longer than 2048 bytes is chunked, a shorter one has its length; a
request may be chunked, may ask for `100-continue`, and several may come at once.  What is not HTTP
is answered with 400 and the end of the connection.
"""
import socket
import ssl
import time
from email.utils import formatdate
from urllib.parse import unquote

CHUNKED_FROM = 2048             # bytes: what Go's server sends without knowing the length
BODY_MAX = 3 * 1024 * 1024      # what the API server reads of a request
HEAD_MAX = 1024 * 1024
READ_SIZE = 256 * 1024
BACKLOG_MAX = 64 * 1024 * 1024  # a client that reads no more is dropped

REASONS = {100: "Continue", 200: "OK", 201: "Created", 202: "Accepted", 400: "Bad Request",
           401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
           406: "Not Acceptable", 409: "Conflict", 410: "Gone", 413: "Request Entity Too Large",
           415: "Unsupported Media Type", 422: "Unprocessable Entity", 429: "Too Many Requests",
           500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
           504: "Gateway Timeout"}


class Request:
    __slots__ = ("method", "path", "query", "headers", "body", "connection", "too_large", "user",
                 "warnings", "arrived")

    def option(self, name, default=""):
        values = self.query.get(name)
        return values[0] if values else default


class Answer:
    """What goes back: status, body and headers beside the usual ones."""
    __slots__ = ("status", "body", "content_type", "headers")

    def __init__(self, status, body, content_type="application/json", headers=()):
        self.status, self.body, self.content_type = status, body, content_type
        self.headers = headers


def parse_query(text):
    query = {}
    if text:
        for part in text.split("&"):
            name, _, value = part.partition("=")
            if name:
                query.setdefault(unquote(name.replace("+", " ")), []).append(
                    unquote(value.replace("+", " ")) if "%" in value or "+" in value else value)
    return query


class _Clock:
    """The Date header, made once a second."""
    second, text = 0, b""

    def date(self):
        now = int(time.time())
        if now != self.second:
            self.second, self.text = now, formatdate(now, usegmt=True).encode()
        return self.text


_clock = _Clock()
_audit = [0]


def encode_head(answer, warnings=(), length=None):
    """The head of an answer; length None: chunked."""
    _audit[0] += 1
    head = [b"HTTP/1.1 %d %s\r\nAudit-Id: 7d3c0f7e-54a5-4d5c-9a39-%012x\r\n"
            b"Cache-Control: no-cache, private\r\nContent-Type: %s\r\n"
            % (answer.status, REASONS.get(answer.status, "Status").encode(), _audit[0],
               answer.content_type.encode())]
    for text in warnings:
        head.append(b"Warning: 299 - \"%s\"\r\n"
                    % text.replace("\\", "\\\\").replace('"', '\\"').encode())
    for name, value in answer.headers:
        head.append(b"%s: %s\r\n" % (name.encode(), value.encode()))
    head.append(b"X-Kubernetes-Pf-Flowschema-Uid: 0ae4bc2f-5c84-4b8f-a44b-b3a7ed0a3b9a\r\n"
                b"X-Kubernetes-Pf-Prioritylevel-Uid: b8cf3b2a-0c5d-4ae7-9ee2-3b4f1b0be4f1\r\n"
                b"Date: %s\r\n" % _clock.date())
    head.append(b"Transfer-Encoding: chunked\r\n\r\n" if length is None
                else b"Content-Length: %d\r\n\r\n" % length)
    return b"".join(head)


def encode_answer(answer, warnings=(), chunk=0):
    """All bytes of an answer; chunk: the size of its chunks, 0: one, as Go's server does."""
    body = answer.body
    if len(body) <= CHUNKED_FROM and not chunk:
        return encode_head(answer, warnings, len(body)) + body
    parts = [encode_head(answer, warnings)]
    step = chunk or len(body)
    for start in range(0, len(body), step):
        piece = body[start:start + step]
        parts += [b"%x\r\n" % len(piece), piece, b"\r\n"]
    parts.append(b"0\r\n\r\n")
    return b"".join(parts)


class Connection:
    """One client's.  The server gives it requests' handler; streams write chunks to it."""
    __slots__ = ("server", "loop", "sock", "fd", "taken", "out", "writing", "shaken", "closed",
                 "busy", "closing", "on_close", "certificate", "slow", "peer", "_continued")

    def __init__(self, server, sock):
        self.server, self.loop, self.sock = server, server.loop, sock
        self.fd = sock.fileno()
        self.taken, self.out = bytearray(), bytearray()
        self.writing = self.shaken = self.closed = self.busy = self.closing = False
        self._continued = False
        self.on_close = None
        self.certificate = None
        self.slow = 0
        self.loop.add_reader(self.fd, self._shake)
        self._shake()

    def _shake(self):
        try:
            self.sock.do_handshake()
        except ssl.SSLWantReadError:
            return
        except ssl.SSLWantWriteError:
            self.loop.add_writer(self.fd, self._shake)
            return
        except (OSError, ValueError):
            self.close()
            return
        self.loop.remove_writer(self.fd)
        self.shaken = True
        self.certificate = self.sock.getpeercert()
        self.loop.add_reader(self.fd, self._readable)
        self._readable()

    def _readable(self):
        try:
            while True:
                data = self.sock.recv(READ_SIZE)
                if not data:
                    self.close()
                    return
                self.taken += data
                if not self.sock.pending():
                    break
        except ssl.SSLWantReadError:
            pass
        except (OSError, ValueError):
            self.close()
            return
        if not self.busy:
            self._requests()

    def _requests(self):
        """Handle all requests that are here whole, one after another."""
        while not self.busy and not self.closed and not self.closing:
            request = self._parse()
            if request is None:
                return
            self.busy = True
            self.server.handle(self, request)

    def _parse(self):
        taken = self.taken
        end = taken.find(b"\r\n\r\n")
        if end < 0:
            if len(taken) > HEAD_MAX:
                self._refuse()
            return None
        try:
            lines = taken[:end].decode("latin-1").split("\r\n")
            method, target, version = lines[0].split(" ")
            headers = {}
            for line in lines[1:]:
                name, colon, value = line.partition(":")
                if not colon or name != name.strip():
                    raise ValueError("header")
                headers[name.lower()] = value.strip()
            if version != "HTTP/1.1" or not target.startswith("/") or "host" not in headers:
                raise ValueError("request line")
            start = end + 4
            too_large = False
            if "transfer-encoding" in headers:
                body, start, too_large = self._chunks(start)
                if body is None:
                    self._continue(headers)
                    return None
            else:
                length = int(headers.get("content-length", "0"))
                if length < 0:
                    raise ValueError("length")
                too_large = length > BODY_MAX
                if len(taken) - start < length:
                    self._continue(headers)
                    return None
                body = bytes(taken[start:start + length])
                start += length
        except ValueError:
            self._refuse()
            return None
        del taken[:start]
        self._continued = False
        request = Request()
        request.method, request.headers, request.body = method, headers, body
        path, _, query = target.partition("?")
        request.path = unquote(path) if "%" in path else path
        request.query = parse_query(query)
        request.connection, request.too_large = self, too_large
        request.user, request.warnings = None, []
        request.arrived = time.monotonic()
        return request

    def _chunks(self, position):
        body, taken = bytearray(), self.taken
        while True:
            end = taken.find(b"\r\n", position)
            if end < 0:
                return None, 0, False
            size = int(bytes(taken[position:end]).split(b";")[0], 16)
            if len(taken) < end + 2 + size + 2:
                return None, 0, False
            body += taken[end + 2:end + 2 + size]
            position = end + 2 + size + 2
            if size == 0:
                return bytes(body), position, len(body) > BODY_MAX

    def _continue(self, headers):
        if headers.get("expect", "").lower() == "100-continue" and not self._continued:
            self._continued = True
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _refuse(self):
        self.closing = True
        self.write(b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
                   b"Connection: close\r\n\r\n400 Bad Request")

    # ---- answering ----

    def answer(self, answer, warnings=(), close=False):
        """The whole answer to the request in hand."""
        if close:
            answer.headers = list(answer.headers) + [("Connection", "close")]
        self.write(encode_answer(answer, warnings))
        self.done(close)

    def done(self, close=False):
        """The request in hand is answered; the next one may come."""
        self.busy = False
        self.on_close = None
        if close:
            self.closing = True
            if not self.out:
                self.close()
        elif self.taken and not self.closed:
            self.loop.call_soon(self._requests)

    def chunk(self, data):
        self.write(b"%x\r\n%s\r\n" % (len(data), data))

    def write(self, data):
        if self.closed:
            return
        if self.out or self.slow:
            self.out += data
            if len(self.out) > BACKLOG_MAX:
                self.close()
            elif self.slow and not self.writing:
                self.writing = True
                self.loop.call_soon(self._trickle)
            return
        # A write that would block is tried again with the same bytes or more of them (TLS wants
        # that), so each try is of one slice, which never shrinks.
        try:
            sent = self.sock.send(data[:READ_SIZE])
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
            sent = 0
        except (OSError, ValueError):
            self.close()
            return
        if sent < len(data):
            self.out += data[sent:]
            self._await_writable()
        elif self.closing:
            self.close()

    def _await_writable(self):
        if not self.writing:
            self.writing = True
            self.loop.add_writer(self.fd, self._writable)

    def _writable(self):
        try:
            while self.out:
                sent = self.sock.send(bytes(self.out[:READ_SIZE]))
                del self.out[:sent]
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
            return
        except (OSError, ValueError):
            self.close()
            return
        self.writing = False
        self.loop.remove_writer(self.fd)
        if self.closing:
            self.close()

    def _trickle(self):
        """One byte at a time, `slow` seconds apart."""
        if self.closed:
            return
        if not self.out:
            self.writing, self.slow = False, 0
            if self.closing:
                self.close()
            return
        try:
            self.sock.send(self.out[:1])
            del self.out[:1]
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
            pass
        except (OSError, ValueError):
            self.close()
            return
        self.loop.call_later(self.slow, self._trickle)

    def close(self):
        """At once, whatever is still to be sent."""
        if self.closed:
            return
        self.closed = True
        self.loop.remove_reader(self.fd)
        self.loop.remove_writer(self.fd)
        self.server.connections.discard(self)
        if self.on_close:
            self.on_close()
        try:
            self.sock.close()
        except OSError:
            pass


class Server:
    """Listens, and gives each request to handler(connection, request)."""

    def __init__(self, loop, context, host, port, handler):
        self.loop, self.context, self.handle = loop, context, handler
        self.host, self.port = host, port
        self.connections = set()
        self.listener = None
        self.accepted = 0
        self.most = 0
        self.listen()

    def listen(self):
        self.listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((self.host, self.port))
        self.listener.listen(512)
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.loop.add_reader(self.listener.fileno(), self._accept)

    def _accept(self):
        for _ in range(64):
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                secure = self.context.wrap_socket(sock, server_side=True,
                                                  do_handshake_on_connect=False)
            except OSError:
                sock.close()
                continue
            self.accepted += 1
            connection = Connection(self, secure)
            if not connection.closed:
                self.connections.add(connection)
                self.most = max(self.most, len(self.connections))

    def stop_listening(self):
        """Refuse connections from now on, and drop those there are."""
        self.loop.remove_reader(self.listener.fileno())
        self.listener.close()
        for connection in list(self.connections):
            connection.close()
