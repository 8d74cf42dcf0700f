"""witness.py - what the executor saw: were limits kept at every moment, and what did each attempt have?

Reads what tests/stand-in/podman --obey writes: each start and each end of a container in the order in which they
happened.
Between two of them nothing changes, so every moment of the day is looked at.  It counts by itself from what containers
were given, and believes nothing that dlspool says of users, sizes or limits.
"""
import collections
import grp
import json
import pwd


class Container:
    """What one was given."""

    def __init__(self, line):
        body, labels = line["body"], line["labels"]
        self.job, self.attempt = labels["dlspool.job"], int(labels["dlspool.attempt"])
        uid, gid = map(int, body["user"].split(":"))
        self.user, self.group = pwd.getpwuid(uid).pw_name, grp.getgrgid(gid).gr_name
        limits = body["resource_limits"]
        self.devices = [device["path"] for device in body.get("devices", [])]
        self.has = {"cpus": limits["cpu"]["quota"] / limits["cpu"]["period"], "memory": limits["memory"]["limit"],
                    "gpus": len(self.devices)}
        self.privileges = body.get("cap_add", [])
        self.queue = body.get("env", {}).get("STAND_IN_QUEUE", "")


def read(path):
    """(moment, what, Container, code) in order."""
    with open(path) as file:
        for text in file:
            line = json.loads(text)
            yield line["at"], line["what"], line["name"], Container(line), line["code"]


def is_counted(row, container, types):
    """The row's bucket that the container counts in, or None."""
    kind = next(key for key in ("user", "group", "queue") if key in row)
    mine = getattr(container, kind)
    if (kind == "queue" and not mine) or row[kind] not in ("*", mine):
        return None
    if "gpu_type" in row and not any(device in types[row["gpu_type"]] for device in container.devices):
        return None
    return mine


def use_of(containers, row, types):
    """What these containers have together of what the row limits."""
    use = {key: sum(container.has[key] for container in containers) for key in ("cpus", "memory")}
    counted = types[row["gpu_type"]] if "gpu_type" in row else None
    use["gpus"] = sum(counted is None or device in counted for container in containers for device in container.devices)
    use["running"] = len({container.job for container in containers})
    return use


class Watch:
    """The containers that run, and what was wrong at a moment."""

    def __init__(self, rows, capacity, types):
        self.rows, self.capacity, self.types = rows, capacity, types
        self.running, self.wrong, self.moments = {}, [], 0
        self.most = collections.Counter()       # of each row, in percent

    def complain(self, words):
        if len(self.wrong) < 20:
            self.wrong.append(words)

    def look(self, moment, new):
        """Something was started: is all still within the limits?"""
        self.moments += 1
        running = list(self.running.values())
        for key, limit in self.capacity.items():
            if sum(container.has[key] for container in running) > limit * 1.0001:
                self.complain(f"{moment}: more {key} than there are")
        held = collections.Counter(device for container in running for device in container.devices)
        if any(count > 1 for count in held.values()):
            self.complain(f"{moment}: a GPU has two containers: {held}")
        if new.privileges and not new.job.startswith("granted"):
            self.complain(f"{moment}: {new.job} has {new.privileges}, which nobody approved")
        self.look_at_shared(moment, running)
        for number, row in enumerate(self.rows):
            bucket = is_counted(row, new, self.types)
            if bucket is None:
                continue
            use = use_of([container for container in running if is_counted(row, container, self.types) == bucket], row,
                         self.types)
            for key in use.keys() & row.keys():
                limit = row[key] + row.get("borrow_gpus", 0) if key == "gpus" else row[key]
                self.most[number, key] = max(self.most[number, key], round(100 * use[key] / limit))
                if use[key] > limit * 1.0001:
                    self.complain(f"{moment}: {bucket} has {use[key]} of {key} where {row} holds, with {new.job}")


    def look_at_shared(self, moment, running):
        """Queues that share have together no more than is theirs."""
        shared = {row["queue"]: row for row in self.rows if "lend_gpus" in row or "borrow_gpus" in row}
        use = sum(container.has["gpus"] for container in running if container.queue in shared)
        if use > sum(row["gpus"] for row in shared.values()):
            self.complain(f"{moment}: {use} GPUs in {', '.join(shared)}")


class Attempt:
    """What an attempt came to."""

    def __init__(self, container):
        self.user, self.started, self.ended = container.user, None, None
        self.cpu_ms = self.gpu_ms = self.starts = 0


def watch(path, rows, capacity, types):
    """Go through the day.  Returns a Watch, and {(job, attempt): Attempt}."""
    watching = Watch(rows, capacity, types)
    attempts, began = {}, {}
    for moment, what, name, container, _ in read(path):
        attempt = attempts.setdefault((container.job, container.attempt), Attempt(container))
        if what == "start":
            began[name] = moment
            watching.running[name] = container
            attempt.starts += 1
            attempt.started = min(moment, attempt.started or moment)
            watching.look(moment, container)
        elif watching.running.pop(name, None):
            attempt.ended = max(moment, attempt.ended or moment)
            attempt.cpu_ms += (moment - began[name]) * container.has["cpus"]
            attempt.gpu_ms += (moment - began[name]) * container.has["gpus"]
    return watching, attempts
