"""people.py - the users of the day: a process for each, under their own uid, that drops files into incoming/"""
import json
import os
import pwd
import subprocess
import sys


def drop(incoming, name, text):
    path = f"{incoming}/.{name}"
    with open(path, "w") as file:
        file.write(text)
    os.rename(path, f"{incoming}/{name}")


def submit(program, spool, directory, name, text):
    path = f"{directory}/{name}"
    with open(path, "w") as file:
        file.write(text)
    subprocess.run([program, "-s", spool, "submit", path], check=False, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


def live(orders, program, spool, directory):
    """Carry out one order after another, {name, text, submit}, until null comes."""
    for line in orders:
        order = json.loads(line)
        if not order:
            return
        if order.get("submit"):
            submit(program, spool, directory, order["name"], order["text"])
        else:
            drop(spool + "/incoming", order["name"], order["text"])


class Person:
    def __init__(self, user, program, spool, place):
        entry = pwd.getpwnam(user)
        directory = f"{place}/{user}"
        os.mkdir(directory)
        os.chown(directory, entry.pw_uid, entry.pw_gid)
        reading, writing = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.close(writing)
            os.setgroups([])
            os.setgid(entry.pw_gid)
            os.setuid(entry.pw_uid)
            try:
                with os.fdopen(reading) as orders:
                    live(orders, program, spool, directory)
            finally:
                sys.stderr.flush()
                os._exit(0)
        os.close(reading)
        self.orders = os.fdopen(writing, "w", buffering=1)

    def drop(self, name, text, by_submit=False):
        self.orders.write(json.dumps({"name": name, "text": text, "submit": by_submit}) + "\n")

    def leave(self):
        self.orders.write("null\n")     # others have the pipe open, too
        self.orders.close()
        os.waitpid(self.process, 0)
