"""waiting - fills rendered/ or held/ with jobs as one that this build has brought there, quickly

Each has a directory, a record and a log of its own; the other files are links to those of the pattern.
"""
import os
import re
import shutil
import subprocess
import time
from datetime import datetime, timezone

from builds import LEAST_JOB, wait_for
from past import Pattern, token

# What the job file of each kind has more, and where such a job waits.
KINDS = {"paused": ("", "rendered"), "parked": ("queue: full\n", "rendered"),
         "held": ("hold: true\n", "held"), "after": ("after: [never]\n", "held")}
NEVER = "  rows: [{queue: full, running: 0}]"


def command(spool, verb):
    subprocess.run([spool.program, "-s", spool.path, verb], check=True, stdout=subprocess.DEVNULL)


def allow_none(spool):
    """Of the queue `full`."""
    path = spool.path + "/dlspool.yaml"
    text = re.sub(r"(?m)^  rows: \[\]$", NEVER, open(path).read(), count=1)
    with open(path, "w") as file:
        file.write(text)


def one_job(spool, kind):
    """The directory of a job that waits, and has been looked at by all stages, and has left the spool since."""
    more, state = KINDS[kind]
    if kind == "parked":
        allow_none(spool)
    if kind == "paused":
        command(spool, "pause")
    spool.start()
    if kind == "after":
        spool.drop("never", LEAST_JOB.replace("pattern", "never").replace("library:", "hold: true\nlibrary:"))
        wait_for(lambda: spool.count("held") == 1)
    spool.drop("pattern", LEAST_JOB.replace("library:", more + "library:"))
    wait_for(lambda: any(name.startswith("pattern-") for name in os.listdir(f"{spool.path}/{state}")))
    time.sleep(0.5)
    spool.stop()
    if kind == "paused":
        command(spool, "resume")
    name = next(name for name in os.listdir(f"{spool.path}/{state}") if name.startswith("pattern-"))
    return shutil.move(f"{spool.path}/{state}/{name}", f"{spool.parent}/{name}")


def fill(spool, kind, count):
    """Let so many jobs of that kind wait in a spool that is not served."""
    pattern = Pattern(one_job(spool, kind), spool.parent + "/waiting", own=("log", "why"))
    began = int(time.time() * 1000) - count
    for i in range(count):
        accepted = datetime.fromtimestamp((began + i) / 1000, timezone.utc)
        identity = f"w{i}-{token(began + i, i)}"
        pattern.put(f"{spool.path}/{KINDS[kind][1]}/{identity}", f"w{i}", identity,
                    f"{accepted:%Y-%m-%dT%H:%M:%S}.{(began + i) % 1000:03}Z")
