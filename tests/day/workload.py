"""workload.py - a day of mixed jobs: who drops what, what they do about it later, and what must become of it

generate() makes the same day of the same seed.  What a job does at the executor is in its environment
(tests/stand-in/podman --obey), so what must become of it is known before.
"""
import collections
import random

# Of Debian; the last three share their primary group, nogroup.
USERS = ("daemon", "bin", "games", "man", "lp", "mail", "news", "nobody", "sync", "_apt")
GPUS = {"A100": [f"a{i}" for i in range(12)], "V100": [f"v{i}" for i in range(4)]}
CAPACITY = {"cpus": 40.0, "memory": 64 << 30}
MEMORY = 256 << 20      # of a task
# `limits.rows` of the site.  The witness holds the executor to them by itself.
ROWS = [
    {"user": "*", "running": 8, "gpus": 6},
    {"user": "daemon", "cpus": 3},
    {"user": "bin", "memory": MEMORY * 3},
    {"user": "games", "gpus": 2},
    {"group": "nogroup", "running": 9, "gpus": 7},
    {"group": "*", "gpus": 2, "gpu_type": "V100"},
    {"queue": "short", "running": 2},
    {"queue": "large", "memory": 40 << 30, "over": "refuse"},
]

# `codes` as the attempts end; `attempts` that there must be; `acts`: what is dropped once the job is seen at a place.
# `setting`: only where dlspool.yaml has that.
Kind = collections.namedtuple("Kind", "weight state attempts seconds codes setting", defaults=(None, "0", None))
KINDS = {
    "cpu": Kind(24, "done", 1, (0.1, 0.6)),
    "gpu": Kind(28, "done", 1, (0.2, 0.8)),
    "typed": Kind(8, "done", 1, (0.2, 0.6)),
    "short": Kind(6, "done", 1, (0.1, 0.3)),
    "array": Kind(5, "done", 1, (0.1, 0.3)),
    "after": Kind(4, "done", 1, (0.1, 0.3)),
    "due": Kind(3, "done", 1, (0.1, 0.4)),
    "flaky": Kind(6, "done", 2, (0.1, 0.3), "193,0"),
    "fails": Kind(4, "failed", 2, (0.1, 0.3), "3"),
    "over": Kind(2, "failed", 1),               # its time_limit
    "waits": Kind(3, "done", 1, (0.1, 0.3)),    # is held from the beginning, and released
    "saves": Kind(3, "done", 2),                # is held while it runs, and released
    "killed": Kind(3, "failed", 1),             # while it runs
    "bad": Kind(3, "failed", 0),
    "greedy": Kind(1, "failed", 0),             # asks for more than a row with over: refuse
    # By `privileges` of the site, of which one is given by approval: taken, and refused by the approver.
    "granted": Kind(3, "done", 1, (0.1, 0.3), setting="privileges"),
    "denied": Kind(2, "failed", 0, setting="privileges"),
    # Queues that share GPUs: one lends much of its own, the other borrows it, and is stopped when it is wanted back.
    "lends": Kind(6, "done", 1, (0.2, 0.5), setting="lend_gpus"),
    "borrows": Kind(4, "done", 1, (1.0, 2.0), setting="lend_gpus"),
}
APPROVERS = ("man", "lp")
PRIVILEGES = {"lock": {"capabilities": ["IPC_LOCK"]}}
LENDER, BORROWER = ({"queue": "lender", "gpus": 4, "lend_gpus": 4, "gpu_type": "A100"},
                    {"queue": "borrower", "gpus": 2, "borrow_gpus": 4, "gpu_type": "A100"})
EVENTS = ("all", "begin, end", "fail")


class Job:
    """One that somebody drops."""

    def __init__(self, number, kind, user, chance):
        self.kind, self.user, self.name = kind, user, f"{kind}{number:05}"
        self.what = KINDS[kind]
        self.events = chance.choice(EVENTS) if chance.random() < 0.5 and kind != "borrows" else None
        self.by_submit = chance.random() < 0.05 and kind != "bad"   # that it would refuse at once
        self.acts = []          # (where it is seen, what is asked for)
        self.lines = [f"name: {self.name}", f"library: {'any' if kind != 'bad' else 'none'}",
                      f"type: {'array' if kind == 'array' else 'single'}", 'script: "#!/bin/sh"']
        self.asks = {"cpus": chance.choice((0.5, 1, 2)), "gpus": 0}
        self.memory, self.gpu_type, self.queue = MEMORY, "", ""
        self.environment = {"STAND_IN_CODES": self.what.codes}
        if self.what.seconds:
            self.environment["STAND_IN_SECONDS"] = f"{chance.uniform(*self.what.seconds):.3f}"

    def add(self, *lines):
        self.lines += lines

    def text(self):
        lines = [line for line in self.lines if not (self.kind == "bad" and line.startswith("library"))]
        if self.kind == "bad":
            lines.append("libary: any")
        if self.events:
            lines.append(f"notify: [{self.events}]")
        if self.gpu_type:
            lines.append(f"gpu_type: {self.gpu_type}")
        if self.queue:
            lines.append(f"queue: {self.queue}")
        self.environment["STAND_IN_QUEUE"] = self.queue
        lines.append("env: {" + ", ".join(f'{key}: "{value}"' for key, value in self.environment.items()) + "}")
        asks = ", ".join(f"{key}: {value}" for key, value in self.asks.items() if value)
        lines.append(f"tasks: {{main: {{{asks}, memory: {self.memory >> 20}Mi}}}}")
        return "\n".join(lines) + "\n"


def dress(job, chance, earlier):
    """What a kind has beside the rest."""
    kind = job.kind
    if kind in ("gpu", "typed", "saves"):
        job.asks["gpus"] = chance.choice((1, 1, 2, 2, 4) if kind == "gpu" else (1, 2))
        job.asks["cpus"] = 1
        job.gpu_type = "A100"   # a row for a type counts jobs that ask for it
    if job.user == "games":
        job.asks["gpus"] = min(job.asks["gpus"], 2)
    if kind == "typed":
        job.gpu_type = "V100"
    elif kind == "short":
        job.queue = "short"
    elif kind == "array":
        job.add("array: 0-3")
        job.asks["cpus"] = 0.5
    elif kind == "after" and earlier:
        job.add(f"after: [{chance.choice(earlier).name}]")
    elif kind == "due":
        job.add("deadline: +6h")
    elif kind == "fails":
        job.add("retries: 1")
    elif kind == "over":
        job.add("time_limit: 1s")
    elif kind == "waits":
        job.add("hold: true")
        job.acts = [("held", "release")]
    elif kind == "saves":
        job.add("checkpoint: {signal: USR1, grace: 10s}")
        job.environment["STAND_IN_SAVES"] = "0.2"
        job.acts = [("running", "hold"), ("held", "release")]
    elif kind == "killed":
        job.acts = [("running", "kill")]
    elif kind in ("granted", "denied"):
        job.add("privileged: lock")
        job.acts = [("held", "approve" if kind == "granted" else "refuse")]
    elif kind in ("lends", "borrows"):
        job.queue, job.gpu_type = ("lender" if kind == "lends" else "borrower"), "A100"
        job.asks["gpus"], job.asks["cpus"] = chance.choice((1, 2)), 0.5
        if kind == "borrows":
            job.add("checkpoint: {signal: USR1, grace: 10s}")
            job.environment["STAND_IN_SAVES"] = "0.3"
    elif kind == "greedy":
        job.queue, job.memory = "large", 48 << 30


def generate(seed, count, knows):
    """The jobs of a day, in the order in which they come; `knows` tells which settings there are."""
    chance = random.Random(seed)
    names = [name for name, kind in KINDS.items() if not kind.setting or knows(kind.setting)]
    # Each kind comes as often as its weight says, also in a short day.
    total = sum(KINDS[name].weight for name in names)
    bag = [name for name in names for _ in range(max(1, round(count * KINDS[name].weight / total)))]
    chance.shuffle(bag)
    jobs, plain = [], collections.defaultdict(list)
    for number, kind in enumerate(bag):
        user = chance.choice(USERS)
        job = Job(number, kind, user, chance)
        dress(job, chance, plain[user])
        if kind == "cpu":
            plain[user].append(job)
        jobs.append(job)
    return jobs
