#!/usr/bin/env python3
"""Logistic regression on scikit-learn's digits with parameter servers.

Every server holds some of the weights' columns; every worker fetches all of them, computes a gradient
on its share of the data, and sends each server its part.  Servers serve until they are told to end:
the job has ended when its workers have.  Who is where stands in DLSPOOL_PEERS, servers first."""

import os
import pickle
import socket
import socketserver
import struct
import time

import numpy
from sklearn.datasets import load_digits

CLASSES = 10
FEATURES = 64
EPOCHS = 30
RATE = 0.5


def columns(server, servers):
    """The columns of the weights that this server holds."""
    return numpy.array_split(numpy.arange(CLASSES), servers)[server]


def send(stream, message):
    data = pickle.dumps(message)
    stream.sendall(struct.pack("!I", len(data)) + data)


def receive(stream):
    def exactly(count):
        data = b""
        while len(data) < count:
            part = stream.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    return pickle.loads(exactly(struct.unpack("!I", exactly(4))[0]))


def serve(address, index, servers):
    weights = numpy.zeros((FEATURES, len(columns(index, servers))))

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            try:
                while True:
                    gradient = receive(self.request)
                    if gradient is not None:
                        weights[:] -= RATE * gradient
                    send(self.request, weights)
            except EOFError:
                pass

    socketserver.ThreadingTCPServer.allow_reuse_address = True
    with socketserver.ThreadingTCPServer(address, Handler) as server:
        print(f"server {index} of {servers} serves columns {list(columns(index, servers))}", flush=True)
        server.serve_forever()


def connect(address, patience=60):
    for attempt in range(patience * 10):
        try:
            return socket.create_connection(address, timeout=60)
        except OSError:
            if attempt == patience * 10 - 1:
                raise
            time.sleep(0.1)


def work(servers, index, workers):
    x, y = load_digits(return_X_y=True)
    x = x[index::workers] / 16
    wanted = numpy.eye(CLASSES)[y[index::workers]]
    streams = [connect(address) for address in servers]
    gradient = None
    for epoch in range(EPOCHS + 1):
        parts = []
        for number, stream in enumerate(streams):
            send(stream, None if gradient is None else gradient[:, columns(number, len(streams))])
            parts.append(receive(stream))
        scores = x @ numpy.hstack(parts)
        scores = numpy.exp(scores - scores.max(axis=1, keepdims=True))
        likely = scores / scores.sum(axis=1, keepdims=True)
        gradient = x.T @ (likely - wanted) / len(x)
        if epoch % 10 == 0:
            accuracy = (likely.argmax(axis=1) == wanted.argmax(axis=1)).mean()
            print(f"worker {index} epoch {epoch} accuracy {accuracy:.3f}", flush=True)
    print(f"worker {index} of {workers} done", flush=True)


def main():
    peers = [peer.rsplit(":", 1) for peer in os.environ["DLSPOOL_PEERS"].split(",")]
    peers = [(host, int(port)) for host, port in peers]
    servers = int(os.environ["SERVERS"])
    index = int(os.environ["DLSPOOL_INDEX"])
    if os.environ["DLSPOOL_ROLE"] == "server":
        serve(("", peers[index][1]), index, servers)
    else:
        work(peers[:servers], index, len(peers) - servers)


if __name__ == "__main__":
    main()
