"""open_pages - many open pages that follow the output of jobs, and what they cost dlspool web

Each page follows a job of its own on a connection of its own: Pages by server-sent events (GET /dlspool/v1/jobs/ID/events),
as programs do, AskingPages as web/page.js does, which asks every two seconds.  Users are numbers from FIRST_USER on, which this machine knows for the time being: the caller
has a mount namespace of its own.
"""
import glob
import json
import os
import re
import select
import shutil
import socket
import subprocess
import threading
import time

from builds import children

FIRST_USER = 20000
INTERVAL = 2                    # seconds between two looks of web/page.js


def make_users(directory, count):
    """This machine knows so many users more, in this mount namespace."""
    names = directory + "/passwd"
    with open(names, "w") as file:
        file.write(open("/etc/passwd").read())
        for user in range(FIRST_USER, FIRST_USER + count):
            file.write(f"load{user}:x:{user}:{user}::/:/bin/sh\n")
    subprocess.run(["mount", "--bind", names, "/etc/passwd"], check=True)


def start_jobs(spool, count):
    """Have so many jobs of done/ run; their ids, and what they print to."""
    ids, outputs = [], []
    for directory in sorted(glob.glob(spool.path + "/done/*/*"))[:count]:
        name = os.path.basename(directory)
        running = f"{spool.path}/submitted/{name}"
        shutil.copytree(directory, running)
        shutil.rmtree(directory)
        log = open(running + "/log").readlines()
        open(running + "/log", "w").writelines(line for line in log if " ended " not in line and " done" not in line)
        os.makedirs(running + "/output", exist_ok=True)
        os.chmod(running + "/output", 0o755)
        outputs.append(open(running + "/output/main-0.log", "a", buffering=1))
        os.chmod(running + "/output/main-0.log", 0o644)
        ids.append(name)
    return ids, outputs


def connect(path, user):
    """A connection of the user."""
    connection = socket.socket(socket.AF_UNIX)
    os.seteuid(FIRST_USER + user)
    try:
        connection.connect(path)
    finally:
        os.seteuid(0)
    return connection


def ask(connection, path):
    connection.sendall(f"GET /dlspool/v1/jobs/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())


class Pages:
    """So many pages, of so many users, which read what comes."""

    def __init__(self, path, ids, users):
        self.connections = {}
        for i, name in enumerate(ids):
            connection = connect(path, i % users)
            ask(connection, name + "/events")
            self.connections[connection.fileno()] = connection
        self.events = 0
        self.done = threading.Event()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        poll = select.poll()
        for file in self.connections:
            poll.register(file, select.POLLIN)
        while not self.done.is_set():
            for file, _ in poll.poll(100):
                self.events += self.connections[file].recv(1 << 16).count(b"event: output")

    def close(self):
        self.done.set()
        self.reader.join()
        for connection in self.connections.values():
            connection.close()


def read_reply(connection):
    """The body of a reply that says its length."""
    reply = b""
    while b"\r\n\r\n" not in reply:
        got = connection.recv(1 << 16)
        if not got:
            raise EOFError("the connection was closed")
        reply += got
    head, body = reply.split(b"\r\n\r\n", 1)
    if b" 200 " not in head.split(b"\r\n")[0]:
        raise ValueError(head)
    length = int(re.search(rb"(?i)content-length: *(\d+)", head).group(1))
    while len(body) < length:
        body += connection.recv(1 << 16)
    return body


class AskingPages:
    """So many pages, each of which asks for the job, the names of its output, and what it has not got of that."""

    def __init__(self, path, ids, users):
        self.pages = [[connect(path, i % users), name, 0] for i, name in enumerate(ids)]
        self.events = 0
        self.done = threading.Event()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        due = time.monotonic()
        while not self.done.is_set():
            for page in self.pages:
                self.look(page)
            due += INTERVAL
            self.done.wait(max(0, due - time.monotonic()))

    def look(self, page):
        connection, name, has = page
        ask(connection, name)
        read_reply(connection)
        ask(connection, name + "/output")
        if json.loads(read_reply(connection))[0]["size"] > has:
            ask(connection, f"{name}/output/main-0.log?from={has}")
            new = read_reply(connection)
            page[2] += len(new)
            self.events += new.count(b"\n")

    def close(self):
        self.done.set()
        self.reader.join()
        for connection, _, _ in self.pages:
            connection.close()


def print_lines(outputs, done):
    """Each job prints a line a second."""
    number, due = 0, time.monotonic()
    while not done.is_set():
        number += 1
        for output in outputs:
            output.write(f"step {number} loss 0.{number:06} throughput 1234.5 samples/s\n")
        due += 1
        done.wait(max(0, due - time.monotonic()))


def processor_time(processes):
    return sum(int(open(f"/proc/{one}/schedstat").read().split()[0]) for one in processes) / 1e9


def own_memory(process):
    text = open(f"/proc/{process}/smaps_rollup").read()
    return int(re.search(r"(?m)^Private_Dirty: +(\d+)", text).group(1)) / 1024


def measure(web, path, jobs, users, seconds, printing, kind=Pages):
    """A line about it.  `web` is the porter's process id, `jobs` what start_jobs() returned."""
    ids, outputs = jobs
    pages, done = kind(path, ids, users), threading.Event()
    printer = threading.Thread(target=print_lines, args=(outputs if printing else [], done))
    printer.start()
    time.sleep(3)
    processes = children(web)
    before, events, began = processor_time(processes), pages.events, time.monotonic()
    time.sleep(seconds)
    took, passed = processor_time(processes) - before, time.monotonic() - began
    count = pages.events - events
    largest = max(own_memory(one) for one in processes if one != web)
    done.set()
    printer.join()
    pages.close()
    return (f"{len(ids)} pages of {users} users, {count / passed:.0f} lines/s: "
            f"{100 * took / passed * 100 / len(ids):.2f} % of a core each hundred, "
            f"the largest of {len(processes) - 1} processes {largest:.1f} MiB private")
