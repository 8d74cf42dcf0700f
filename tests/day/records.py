"""records.py - what dlspool wrote down of the day: accounts, logs, and the mails that came"""
import collections
import datetime
import glob
import os
import re
import shlex

Mail = collections.namedtuple("Mail", "job event id at")


def milliseconds(written):
    moment = datetime.datetime.strptime(written, "%Y-%m-%dT%H:%M:%S.%fZ")
    return round(moment.replace(tzinfo=datetime.timezone.utc).timestamp() * 1000)


def pairs_of(line):
    """KEY=VALUE of a line as in a job's log."""
    return dict(word.split("=", 1) for word in shlex.split(line) if "=" in word)


def accounts(spool):
    """{(job, attempt): pairs} of history/usage, each counted once, and lines that were cut short not at all."""
    found = {}
    for path in sorted(glob.glob(spool + "/history/usage/*")):
        with open(path) as file:
            for line in file:
                if line.endswith(" whole=1\n"):
                    pairs = pairs_of(line)
                    found.setdefault((pairs["id"], int(pairs["attempt"])), pairs)
    return found


def jobs(spool):
    """(id, state, directory) of all in the spool."""
    for state in ("rendered", "submitted", "failed", "held", "done/*"):
        for path in glob.glob(f"{spool}/{state}/*-?????????????"):
            yield os.path.basename(path), state.partition("/")[0], path


def mails(directory):
    """Those that were kept, the oldest first."""
    found = []
    for path in glob.glob(directory + "/mails/*"):
        with open(path, errors="replace") as file:
            head = re.sub(r"\r?\n[ \t]+", " ", file.read().replace("\r\n", "\n").partition("\n\n")[0])
        fields = {key.lower(): value.strip() for key, _, value in (line.partition(":") for line in head.split("\n"))}
        found.append(Mail(fields["x-dlspool-job"], fields["x-dlspool-event"], fields["message-id"],
                          os.path.getmtime(path)))
    return sorted(found, key=lambda mail: mail.at)
