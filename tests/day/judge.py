"""judge.py - whether what dlspool says of the day is what the executor, the mailbox and the workload say"""
import collections
import glob
import json
import os
import re

import records
import rush
import witness
import workload

SLACK = 25      # milliseconds of a task: the kernel tells when one has started in hundredths of a second


def judge_places(day):
    """Is each job where it belongs, once?"""
    seen, wrong = collections.defaultdict(list), []
    for name, state, _ in records.jobs(day.site.spool):
        seen[name[:-14]].append(state)
    for job in day.jobs:
        if seen[job.name] != [job.what.state]:
            wrong.append(f"{job.name} is in {seen[job.name]}")
    others = seen.keys() - day.by_name.keys() - set(day.strangers) - day.rushed.keys()
    wrong += [f"{name} is nobody's" for name in sorted(others)]
    wrong += [f"{name}: a stranger's request is in {seen[name]}" for name in day.strangers if seen[name] != ["failed"]]
    return wrong


def judge_runs(day, attempts):
    """Did each run as often as it was to, and no task twice?"""
    wrong, runs = [], collections.Counter()
    for (identity, _), attempt in attempts.items():
        if identity[:-14] in day.rushed:
            continue
        job = day.by_name[identity[:-14]]
        runs[job.name] += 1
        tasks = 4 if job.kind == "array" else 1
        if attempt.starts > tasks or attempt.user != job.user:
            wrong.append(f"{identity}: {attempt.starts} starts, as {attempt.user}")
    for job in day.jobs:
        stopped = job.kind == "borrows"     # for others, perhaps
        if runs[job.name] != job.what.attempts and not (stopped and runs[job.name] > job.what.attempts):
            wrong.append(f"{job.name} ran {runs[job.name]} times, not {job.what.attempts}")
    return wrong


def is_unknown(account):
    """Of an array that ended while nobody looked it is not known how many tasks ran at a time, and it says so."""
    return account["type"] == "array" and "cpu_held_ms" not in account


def judge_account(key, account, attempt):
    """Is the line of an attempt what the executor counted?"""
    if not attempt:
        return account.get("started") and f"{key}: it never started: {account}"
    unknown = is_unknown(account)
    found = {"user": account["user"], "started": records.milliseconds(account["started"]),
             "ended": records.milliseconds(account["ended"]),
             "cpu": attempt.cpu_ms if unknown else int(account["cpu_held_ms"]),
             "gpu": attempt.gpu_ms if unknown else int(account["gpu_held_ms"])}
    wanted = {"user": attempt.user, "started": attempt.started, "ended": attempt.ended, "cpu": attempt.cpu_ms,
              "gpu": attempt.gpu_ms}
    wrong = {name: (found[name], wanted[name]) for name in found
             if found[name] != wanted[name] and
             (name == "user" or abs(found[name] - wanted[name]) > SLACK * attempt.starts)}
    return wrong and f"{key}: found and wanted: {wrong}"


def judge_accounts(day, attempts):
    accounts = records.accounts(day.site.spool)
    wrong = [f"{key} has no line" for key in attempts.keys() - accounts.keys()]
    wrong += filter(None, (judge_account(key, account, attempts.get(key)) for key, account in accounts.items()))
    unknown = [key for key, account in accounts.items() if is_unknown(account)]
    if len(unknown) > len(day.killer.moments):
        wrong.append(f"of {len(unknown)} arrays it is not known what they held: {unknown[:3]}")
    return wrong


def expected_mails(job):
    """The events of which its owner must be told, each with how often; and those of which they may be."""
    must = collections.Counter()
    must["begin"] = job.what.attempts
    if job.kind == "bad":
        return must, set()      # nobody knows what it asks for
    must["end" if job.what.state == "done" else "fail"] = 1
    if job.kind in ("flaky", "fails"):
        must["requeue"] = 1
    if job.kind in ("waits", "saves"):
        must["held"] = 1
    if job.kind in ("granted", "denied"):
        must["approval"] = 1
    wants = {"all": must.keys() | {"held", "time_limit_90"}, "begin, end": {"begin", "end"},
             "fail": {"fail"}}[job.events]
    if job.events == "begin, end" and must.pop("fail", 0):
        must["end"] = 1         # who asks for ends is told of a failure as of one
    return collections.Counter({event: count for event, count in must.items() if event in wants and count}), wants


def judge_mails(day, mails):
    """Is each owner told of each event, once, or again after a kill?"""
    wrong, told, first = [], collections.defaultdict(collections.Counter), {}
    kills = [moment for moment, whom in day.killer.moments if whom in ("notify", "supervisor", "all")]
    twice = 0
    for mail in mails:
        if mail.id in first:
            twice += 1
            if not any(first[mail.id] - 1 <= kill <= mail.at for kill in kills):
                wrong.append(f"{mail.id} came twice, and nothing was killed between")
        else:
            told[mail.job[:-14]][mail.event] += 1
        first[mail.id] = mail.at
    for job in day.jobs:
        if not job.events:
            continue
        must, may = expected_mails(job)
        if not must <= told[job.name] or told[job.name].keys() - may:
            wrong.append(f"{job.name} wants {job.events}: {dict(told[job.name])}, not {dict(must)}")
    wrong += [f"{name} asked for no mail" for name in told if name not in day.by_name or not day.by_name[name].events]
    return wrong, twice


def make_old(spool):
    """As if all had ended in another year."""
    old = spool + "/done/2020-02-03"
    os.mkdir(old)
    for path in glob.glob(spool + "/done/2[0-9]*/*-?????????????"):
        os.rename(path, f"{old}/{os.path.basename(path)}")
    for path in glob.glob(spool + "/failed/*/job.yaml"):
        with open(path) as file:
            text = re.sub(r"^sum: .*\n", "", file.read(), flags=re.M)
        with open(path, "w") as file:
            file.write(re.sub(r"^  failed: .*", '  failed: "2020-02-03T10:00:00.000Z"', text, flags=re.M))


def prune(day):
    """All that has ended goes to archives.  What is not found there any more."""
    site, wrong = day.site, []
    identities = {os.path.basename(path): state for _, state, path in records.jobs(site.spool)}
    make_old(site.spool)
    site.change({"done": "90d", "failed": "30d"})
    said = site.dlspool("prune")
    if said.returncode:
        return [f"prune: {said.stderr}"]
    left = [name for name, _, _ in records.jobs(site.spool)]
    listed = {job["id"]: job for job in json.loads(site.dlspool("list", "--archived", "--all", "--json").stdout)}
    wrong += [f"{name} is still there" for name in left]
    wrong += [f"{name} is not listed" for name in identities.keys() - listed.keys()]
    wrong += [f"{name} is archived as {listed[name]['state']}" for name, state in identities.items()
              if name in listed and listed[name]["state"] != state]
    for name in day.chance.sample(sorted(identities), 12):
        shown = site.dlspool("show", "--json", name)
        if shown.returncode or not json.loads(shown.stdout)["archived"]:
            wrong.append(f"show {name}: {shown.stdout}{shown.stderr}")
        job = day.by_name.get(name[:-14])
        if job and job.kind == "gpu" and f"started {name}-a1-main-0" not in site.dlspool("logs", name).stdout:
            wrong.append(f"logs {name} has not what it printed")
    return wrong


def complaints(site):
    return [f"{what}: {said}" for what in ("complaints", "states") if (said := site.ask(what)) != "none"]


def judge(day, status):
    site = day.site
    watching, attempts = witness.watch(site.account, site.rows(), workload.CAPACITY,
                                       {kind: set(devices) for kind, devices in workload.GPUS.items()})
    mails = records.mails(site.mail)
    mail_wrong, twice = judge_mails(day, mails)
    reached = {number for (number, _), most in watching.most.items() if most >= 75}
    slack = [] if len(reached) > len(site.rows()) // 2 else [f"only the rows {reached} were reached"]
    shares = rush.judge(site, day.rushed) if day.rushed else None
    tests = [
        (judge_places(day), f"each of {len(day.jobs)} jobs is where it belongs, once, whatever strangers asked"),
        (judge_runs(day, attempts), f"each ran as often as it was to: {len(attempts)} attempts"),
        (watching.wrong, f"no limit was exceeded at any of {watching.moments} moments"),
        (slack, f"{len(reached)} of {len(site.rows())} limits were reached"),
        (judge_accounts(day, attempts), "the accounts are what the executor counted"),
        (mail_wrong, f"of each event its owner was told: {len(mails)} mails, {twice} of them again after a kill"),
        *([(shares[0], f"who has jobs that wait has a share as their weight says: {shares[1]}")] if shares else []),
        ([f"run ended with status {status}"] if status else [], "the daemon ends well"),
        (complaints(site), "the executor was asked what it understands, and told to forget all"),
        (prune(day), "what has ended is pruned, and still found"),
    ]
    return tests
