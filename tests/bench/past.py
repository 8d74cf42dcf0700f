"""past - fills done/ with jobs as one that this build has run, quickly

Each has a directory, a record of its own with the right sum, and links to the files of the pattern.  They ended in
the last hundred days, as many on each; h0 is the oldest.
"""
import hashlib
import os
import re
import time
from datetime import datetime, timezone

from builds import LEAST_JOB, wait_for

DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"     # of tokens (spool/id.c)
DAYS, DAY = 100, 24 * 3600 * 1000
NAMES_REST = 40                                 # seconds without a new file of names, until all are there
MOST_LINKS = 30000                              # to one file


def token(milliseconds, number):
    value, text = milliseconds << 20 | number % (1 << 20), ""
    for _ in range(13):
        value, text = value >> 5, DIGITS[value & 31] + text
    return text


def one_job(spool):
    """The directory of a job that has just been done."""
    spool.start()
    spool.drop("pattern", LEAST_JOB)
    wait_for(lambda: spool.count("done") == 1)
    spool.stop()
    day = os.path.join(spool.path, "done", os.listdir(spool.path + "/done")[0])
    return os.path.join(day, os.listdir(day)[0])


class Pattern:
    """The files of a job, to be linked, but for those that each is to have for itself."""

    def __init__(self, directory, aside, own=()):
        files = {name: open(f"{directory}/{name}", "rb").read() for name in os.listdir(directory)
                 if name != "job.yaml" and os.path.isfile(f"{directory}/{name}")}
        self.own = {name: content for name, content in files.items() if name in own}
        self.files = {name: content for name, content in files.items() if name not in own}
        self.others = [name for name in os.listdir(directory) if os.path.isdir(f"{directory}/{name}")]
        record = open(directory + "/job.yaml").read()
        self.summed = record.startswith("sum:")
        rest = record[record.index("\n") + 1:] if self.summed else record
        rest = re.sub(r'(?m)^accepted:.*$', 'accepted: "\x01"', rest, count=1)
        rest = re.sub(r'(?m)^name:.*$', 'name: "\x02"', rest, count=1)
        self.record = rest.replace(os.path.basename(directory), "\x03")
        self.aside, self.links = aside, 0

    def put(self, directory, name, identity, accepted):
        copy = f"{self.aside}/{self.links // MOST_LINKS}"
        if self.links % MOST_LINKS == 0:
            os.makedirs(copy)
            for file, content in self.files.items():
                with open(f"{copy}/{file}", "wb") as written:
                    written.write(content)
        self.links += 1
        os.mkdir(directory)
        for file in self.files:
            os.link(f"{copy}/{file}", f"{directory}/{file}")
        for file, content in self.own.items():
            with open(f"{directory}/{file}", "wb") as written:
                written.write(content)
        for other in self.others:
            os.mkdir(f"{directory}/{other}")
        rest = self.record.replace("\x01", accepted).replace("\x02", name).replace("\x03", identity)
        digest = hashlib.sha256(rest.encode()).hexdigest()[:16]
        with open(directory + "/job.yaml", "w") as record:
            record.write(f'sum: "{digest}"\n{rest}' if self.summed else rest)


def fill(spool, count):
    """Put so many jobs into done/; the ids of the oldest and the newest."""
    pattern = Pattern(one_job(spool), spool.parent + "/pattern")
    began = int(time.time() * 1000) - DAYS * DAY
    ids = []
    for i in range(count):
        ended = began + i * DAYS * DAY // count
        when = datetime.fromtimestamp(ended / 1000, timezone.utc)
        day = f"{spool.path}/done/{when:%Y-%m-%d}"
        identity = f"h{i}-{token(ended, i)}"
        if i == 0 or i * DAYS // count != (i - 1) * DAYS // count or not os.path.isdir(day):
            os.makedirs(day, exist_ok=True)
        pattern.put(f"{day}/{identity}", f"h{i}", identity, f"{when:%Y-%m-%dT%H:%M:%S}.{ended % 1000:03}Z")
        if i in (0, count - 1):
            ids.append(identity)
    return ids[0], ids[-1]


def have_names(spool):
    """Let the daemon write its files of names of past days, if the build has them: it begins after half a minute."""
    directory, found, since = spool.path + "/history/names", -1, time.monotonic()
    spool.start()
    while time.monotonic() - since < NAMES_REST:
        time.sleep(0.5)
        now = len(os.listdir(directory)) if os.path.isdir(directory) else 0
        found, since = (now, time.monotonic()) if now != found else (found, since)
    spool.stop()
