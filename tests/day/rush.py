"""rush.py - three users who always have jobs that wait, and what each gets: as much as their weights say?

Only where dlspool.yaml has `shares`.  All jobs are alike and as many run at a time as the weights are together, so
that what each has can come to them exactly.  The three have used nothing before, or they would get it back now.
Each drops as many jobs as the others, so jobs that are chosen at random, in turns or by age do not give what the
weights say.  It is over when one of them has none left that waits; what the others have left is killed.
"""
import collections
import time

import workload
import witness

WEIGHTS = {"backup": 1, "list": 2, "www-data": 4}
MOST_AWAY = 0.05        # of what is to be theirs
JOB = ('name: {name}\nlibrary: any\ntype: single\nscript: "#!/bin/sh"\nenv: {{STAND_IN_SECONDS: "3"}}\n'
       "tasks: {{main: {{cpus: {cpus:.2f}, memory: 64Mi}}}}\n")


def rows():
    return [{"user": user, "weight": weight} for user, weight in WEIGHTS.items()]


def is_wanted(site):
    return site.knows("shares")


def play(day, each):
    """Have them drop `each` jobs for each unit of weight while nothing is started, and then let all go."""
    slots, names = sum(WEIGHTS.values()), {}
    day.site.dlspool("pause", "--reason", "a rush")
    for user in WEIGHTS:
        for number in range(each * max(WEIGHTS.values())):
            name = f"rush-{user}-{number:04}"
            names[name] = user
            cpus = int(100 * workload.CAPACITY["cpus"] / slots) / 100
            day.people[user].drop(f"{name}.yaml", JOB.format(name=name, cpus=cpus))
    day.wait(lambda places: all(places.get(name, ("",))[0] == "rendered" for name in names))
    day.site.dlspool("resume")
    day.wait(lambda places: not all(waiting(places, names, user) for user in WEIGHTS))
    day.site.dlspool("pause", "--reason", "the rush is over")
    for user in WEIGHTS:
        for name in waiting(day.where(), names, user):
            day.people[user].drop(f"kill-{name}.yaml", f"kill: {name}\n")
    day.wait(lambda places: all(places.get(name, ("",))[0] in ("done", "failed") for name in names))
    day.site.dlspool("resume")
    return names


def waiting(places, names, user):
    return [name for name, owner in names.items() if owner == user and places.get(name, ("",))[0] == "rendered"]


def judge(site, names):
    """Whose share is away from their weight, while all had jobs that waited."""
    last, spans, began = {}, [], {}
    for moment, what, name, container, _ in witness.read(site.account):
        if container.job[:-14] not in names:
            continue
        if what == "start":
            began[name] = last[container.user] = moment
        else:
            spans.append((began.pop(name), moment, container.user))
    until, since = min(last.values()), min(start for start, _, _ in spans)
    held = collections.Counter()
    for start, end, user in spans:
        held[user] += max(0, min(end, until) - start)
    total, weights = sum(held.values()), sum(WEIGHTS.values())
    found = {user: held[user] / total / (weight / weights) for user, weight in WEIGHTS.items()}
    return [f"{user} had {ratio:.3f} of what was to be theirs" for user, ratio in found.items()
            if abs(ratio - 1) > MOST_AWAY], {**found, "places filled": total / (until - since) / weights}
