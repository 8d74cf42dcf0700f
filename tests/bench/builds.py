"""builds - what the benchmarks of this directory do with one build of dlspool: spools, daemons, counting

A build may be an old one, which lacks a verb or a setting: Lacking says what of it cannot be measured.
"""
import os
import re
import shutil
import subprocess
import tempfile
import time
from datetime import datetime, timezone

STAGES = ("intake", "submit", "track", "resubmit")
LONGEST = 600                   # seconds that are waited for anything
LEAST_JOB = 'name: pattern\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\n...\n'


class Lacking(Exception):
    """The build cannot do what was to be measured."""


def wait_for(condition, pause=0.02, longest=LONGEST):
    end = time.monotonic() + longest
    while not condition():
        if time.monotonic() > end:
            raise Lacking(f"waited for {longest} s in vain")
        time.sleep(pause)


def children(pid):
    """The process and all that come from it."""
    found = [pid]
    for one in found:
        try:
            found += map(int, open(f"/proc/{one}/task/{one}/children").read().split())
        except OSError:
            pass
    return found


def process_name(pid):
    try:
        return open(f"/proc/{pid}/comm").read().strip()
    except OSError:
        return ""


def count_directories(path):
    """By the number of links, which is 1 where there are more than the file system counts."""
    links = os.stat(path).st_nlink
    return links - 2 if links > 1 else sum(entry.is_dir() for entry in os.scandir(path))


class Spool:
    """A spool of the null executor, and its daemon."""

    def __init__(self, program, parent, **settings):
        self.program = program
        self.parent = tempfile.mkdtemp(prefix="bench.", dir=parent)
        self.path = self.parent + "/spool"
        self.process = None
        subprocess.run([program, "init", "--executor", "null", self.path], check=True, stdout=subprocess.DEVNULL)
        text = open(self.path + "/dlspool.yaml").read()
        for name, value in dict({"free_percent": 0}, **settings).items():
            text = re.sub(rf"(?m)^( *)(# ?)?{name}:.*$", rf"\g<1>{name}: {value}", text, count=1)
        open(self.path + "/dlspool.yaml", "w").write(text)

    def remove(self):
        self.stop()
        shutil.rmtree(self.parent)

    def start(self):
        self.process = subprocess.Popen([self.program, "-s", self.path, "run"], stderr=subprocess.DEVNULL)

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def drop(self, name, text):
        """Rename a file into incoming/: when that was begun."""
        hidden = f"{self.path}/incoming/.{name}.tmp"
        with open(hidden, "w") as file:
            file.write(text)
        began = time.time()
        os.rename(hidden, f"{self.path}/incoming/{name}.yaml")
        return began

    def count(self, state):
        """The jobs of a directory."""
        if state != "done":
            return count_directories(f"{self.path}/{state}")
        return sum(count_directories(day.path) for day in os.scandir(self.path + "/done"))

    def logs(self):
        for day in os.scandir(self.path + "/done"):
            for job in os.scandir(day.path):
                with open(job.path + "/log") as file:
                    yield file.read()

    def memory(self):
        """MiB of all processes now: proportional sets, in which a shared page counts once in all."""
        total = 0
        for pid in children(self.process.pid):
            try:
                text = open(f"/proc/{pid}/smaps_rollup").read()
            except OSError:
                continue
            total += sum(map(int, re.findall(r"(?m)^Pss: +(\d+)", text)))
        return total / 1024

    def processor_seconds(self):
        """Of each process by name; of those that have ended as that of their parent."""
        times = {}
        for pid in children(self.process.pid):
            try:
                fields = open(f"/proc/{pid}/stat").read()
            except OSError:
                continue
            numbers = list(map(int, fields[fields.rindex(")") + 2:].split()[11:15]))
            name = process_name(pid) if pid != self.process.pid else "supervisor"
            times[name] = times.get(name, 0) + sum(numbers) / os.sysconf("SC_CLK_TCK")
        return times

    def stages(self):
        """The process of each stage, by name."""
        return {process_name(pid): pid for pid in children(self.process.pid)[1:] if process_name(pid) in STAGES}


def event_time(log, event):
    match = re.search(rf"(?m)^(\S+) {event} ", log)
    when = datetime.strptime(match.group(1), "%Y-%m-%dT%H:%M:%S.%fZ")
    return when.replace(tzinfo=timezone.utc).timestamp()


def command(arguments, output=subprocess.DEVNULL):
    """Run it: seconds, processor seconds, MiB at most, exit status, and what it said on standard error."""
    with tempfile.TemporaryFile() as said:
        began = time.monotonic()
        process = subprocess.Popen(arguments, stdout=output, stderr=said, stdin=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        took = time.monotonic() - began
        said.seek(0)
        return took, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, process.returncode, said.read().decode()


def command_calls(arguments):
    """How many system calls it makes."""
    with tempfile.NamedTemporaryFile("r") as counts:
        subprocess.run(["strace", "-f", "-qq", "-c", "-U", "name,calls", "-o", counts.name] + arguments,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return int(re.search(r"(?m)^total +(\d+)", counts.read()).group(1))
