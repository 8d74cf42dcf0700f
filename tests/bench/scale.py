"""scale - does what a job costs grow with how many wait, or with how many are done?

Each row is of so many other jobs.  Those of `queued` lie in rendered/ when the daemon starts, and are submitted; beside
those of the others, which stay, FLOW jobs are renamed into incoming/ at once and go through all stages.
"""
import os
import time

from builds import LEAST_JOB, Spool, event_time, wait_for
import past
from table import Group
import waiting

COUNTS = (1000, 10000, 100000)
FLOW = 30000
CALM = 0.03         # seconds of the processor in CALM_FOR seconds of a daemon that has read what waits
CALM_FOR = 3        # it reads in passes, with a second or two between them
ALL = "all processes"


def used(spool):
    return sum(spool.processor_seconds().values())


def settle(spool):
    """Wait until the daemon has nothing to do; the largest memory on the way."""
    spool.start()
    most, before = 0, -1
    while (now := used(spool)) - before > CALM or now == 0:
        before = now
        for _ in range(4 * CALM_FOR):
            time.sleep(0.25)
            most = max(most, spool.memory())
    return most


def flow(spool, label):
    """So many jobs go through a daemon that runs: the rows of that."""
    begin = f"f{time.time_ns() % 10**9}x"
    for i in range(FLOW):
        with open(f"{spool.path}/incoming/.{begin}{i}.tmp", "w") as file:
            file.write(LEAST_JOB.replace("pattern", f"{begin}{i}"))
    os.sync()
    before, cost, most = spool.count("done"), used(spool), 0
    began = time.time()
    for i in range(FLOW):
        os.rename(f"{spool.path}/incoming/.{begin}{i}.tmp", f"{spool.path}/incoming/{begin}{i}.yaml")
    while spool.count("done") < before + FLOW:
        time.sleep(0.25)
        most = max(most, spool.memory())
    cost = used(spool) - cost
    ended = submission(spool, begin)[1]
    return {f"{label}: jobs/s": FLOW / (ended - began), f"{label}: {ALL}, us a job": cost / FLOW * 1e6,
            f"{label}: memory at most, MiB": most}


def submission(spool, begin):
    """Of the jobs with such names: when the first was about to be submitted, and when the last had been."""
    first, last = time.time(), 0
    for day in sorted(os.listdir(spool.path + "/done"))[-2:]:
        for job in os.scandir(f"{spool.path}/done/{day}"):
            if job.name.startswith(begin):
                with open(job.path + "/log") as file:
                    log = file.read()
                first, last = min(first, event_time(log, "intent")), max(last, event_time(log, "submitted"))
    return first, last


class Queued(Group):
    def turn(self, program):
        rows = {}
        for count in COUNTS:
            spool = Spool(program, self.parent)
            try:
                waiting.fill(spool, "paused", count)
                os.sync()
                rows.update(self.drain(spool, count))
            finally:
                spool.remove()
        return rows

    @staticmethod
    def drain(spool, count):
        most = 0
        spool.start()
        while spool.count("rendered"):
            time.sleep(0.25)
            most = max(most, spool.memory())
        wait_for(lambda: not spool.count("submitted"), 0.25)
        began, ended = submission(spool, "w")
        label = f"{count:,} queued"
        return {f"{label}: jobs/s": count / (ended - began), f"{label}: {ALL}, us a job": used(spool) / count * 1e6,
                f"{label}: memory at most, MiB": most}


class Beside(Group):
    """Jobs that flow beside others that stay."""
    kind = ""

    def __init__(self, parent, arguments):
        super().__init__(parent, arguments)
        self.spools = {}

    def turn(self, program):
        rows = {}
        for count in self.counts():
            label = f"beside {count:,} {self.kind}"
            if (program, count) not in self.spools:
                self.spools[program, count] = spool = Spool(program, self.parent)
                self.fill(spool, count)
                os.sync()
            spool = self.spools[program, count]
            most = settle(spool)
            rows.update(flow(spool, label))
            rows[f"{label}: memory at most, MiB"] = max(most, rows[f"{label}: memory at most, MiB"])
            spool.stop()
        return rows

    def counts(self):
        return COUNTS

    def fill(self, spool, count):
        waiting.fill(spool, self.kind, count)

    def end(self):
        for spool in self.spools.values():
            spool.remove()


class Parked(Beside):
    kind = "parked"


class Held(Beside):
    kind = "held"


class After(Beside):
    kind = "after"


class Done(Beside):
    kind = "done"

    def counts(self):
        return (1, self.arguments.past)

    def fill(self, spool, count):
        past.fill(spool, count)


SCALE = [Queued, Parked, Held, After, Done]
