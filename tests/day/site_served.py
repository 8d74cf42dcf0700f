"""site_served.py - a spool that is served, its executor and its mail; and what kills the processes that serve it"""
import collections
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import rush
import workload

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
SETTINGS = {"retry_interval": "300ms", "retry_first": "200ms", "retry_longest": "1s", "scan_interval": "500ms",
            "poll_interval": "100ms", "probe_interval": "500ms", "takeover_time": "10s", "kill_grace": "500ms",
            "domain": "example.org", "retry": "100ms"}


class Site:
    """A spool that is served, its executor and its mail."""

    def __init__(self, program, place):
        self.program, self.place, self.spool = program, place, place + "/spool"
        self.mail, self.account = place + "/mail", place + "/executor"
        self.log = open(place + "/daemon.log", "ab")
        self.daemon = self.executor = self.server = None

    def dlspool(self, *arguments):
        return subprocess.run([self.program, "-s", self.spool, *arguments], capture_output=True, text=True, check=False)

    def knows(self, setting):
        """Has dlspool.yaml such a setting, also in a comment?"""
        with open(self.spool + "/dlspool.yaml") as file:
            return re.search(rf"\b{setting}\b", file.read()) is not None

    def rows(self):
        return workload.ROWS + ([workload.LENDER, workload.BORROWER] if self.knows("lend_gpus") else [])

    def change(self, changes):
        """Set settings by name, or PART.NAME where another part has the same."""
        path = self.spool + "/dlspool.yaml"
        with open(path) as file:
            settings = file.read()
        for name, value in changes.items():
            part, _, key = name.rpartition(".")
            before, begin, rest = settings.partition(f"\n{part}:\n") if part else ("", "", settings)
            rest, found = re.subn(rf"^( *){key}: .*", rf"\g<1>{key}: {value}", rest, count=1, flags=re.M)
            settings = before + begin + rest
            if found != 1:
                sys.exit(f"replay: no setting {name}")
        with open(path + ".new", "w") as file:
            file.write(settings)
        os.rename(path + ".new", path)

    def set_up(self):
        os.makedirs(self.mail + "/mails")
        os.mkdir(self.place + "/people", 0o755)
        self.executor = subprocess.Popen(
            ["/usr/bin/python3", "-B", TOP + "/tests/stand-in/podman", "--socket", self.place + "/podman.sock",
             "--control", self.place + "/podman.control", "--obey", self.account])
        subprocess.run([self.program, "init", "--executor", "local", self.spool], check=True, stdout=subprocess.DEVNULL)
        os.chmod(self.spool + "/incoming", 0o1777)
        gpus = [f"{{device: {device}, type: {kind}}}" for kind, devices in workload.GPUS.items() for device in devices]
        self.change({**SETTINGS, "local.socket": self.place + "/podman.sock", "cpus": workload.CAPACITY["cpus"],
                     "memory": f"{workload.CAPACITY['memory'] >> 30}Gi", "gpus": "[" + ", ".join(gpus) + "]",
                     "rows": json.dumps(self.rows()), "command": f"[{TOP}/tests/day/keep-mail, {self.mail}]"})
        if rush.is_wanted(self):
            self.change({"weights": json.dumps(rush.rows())})
        if self.knows("privileges"):
            self.change({"approvers": json.dumps(workload.APPROVERS), "privileges": json.dumps(workload.PRIVILEGES)})
        while not os.path.exists(self.place + "/podman.control"):
            time.sleep(0.01)

    def mail_by_smtp(self):
        """From now on mail goes through a real client to a server; if they are there."""
        if not shutil.which("msmtp") or subprocess.run(["/usr/bin/python3", "-c", "import aiosmtpd"], check=False,
                                                       stderr=subprocess.DEVNULL).returncode:
            return False
        self.server = subprocess.Popen(["/usr/bin/python3", TOP + "/tests/mail/server", self.mail],
                                       stderr=subprocess.DEVNULL)
        while not os.path.exists(self.mail + "/port"):
            time.sleep(0.01)
        with open(self.mail + "/port") as file:
            port = file.read().strip()
        with open(self.place + "/msmtprc", "w") as file:
            file.write(f"defaults\nauth off\ntls off\naccount default\nhost 127.0.0.1\nport {port}\n"
                       "from dlspool@example.org\n")
        os.chmod(self.place + "/msmtprc", 0o600)
        self.change({"command": f"[{shutil.which('msmtp')}, -C, {self.place}/msmtprc, -t]"})
        return True

    def start(self):
        self.daemon = subprocess.Popen([self.program, "-s", self.spool, "run"], stderr=self.log)

    def ask(self, command):
        """Of the executor's stand-in."""
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(self.place + "/podman.control")
            control.sendall(command.encode() + b"\n")
            return control.makefile().readline().strip()

    def stages(self):
        """Process ids of the stages by name."""
        found = {}
        try:
            with open(f"/proc/{self.daemon.pid}/task/{self.daemon.pid}/children") as file:
                for process in file.read().split():
                    with open(f"/proc/{process}/comm") as name:
                        found[name.read().strip()] = int(process)
        except OSError:
            pass
        return found

    def stop(self):
        self.daemon.terminate()
        return self.daemon.wait()

    def end(self):
        for process in (self.daemon, self.executor, self.server):
            if process and process.poll() is None:
                process.terminate()
                process.wait()


class Killer:
    """kill -9 of one stage, of the supervisor, or of all of them, in turns."""

    def __init__(self, site, seed, every, most):
        self.site, self.every, self.most, self.chance = site, every, most, random.Random(seed)
        self.bag, self.kills, self.moments = [], collections.Counter(), []
        self.next = time.monotonic() + every

    def strike(self):
        if not self.bag:
            self.bag = ["intake", "submit", "track", "resubmit", "notify", "notify", "supervisor", "all"]
            self.chance.shuffle(self.bag)
        whom, stages = self.bag.pop(), self.site.stages()
        if whom in ("supervisor", "all"):
            targets = [self.site.daemon.pid, *(stages.values() if whom == "all" else [])]
        else:
            targets = list(stages.values())[:1] if whom not in stages else [stages[whom]]
        for process in targets:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if targets:
            self.moments.append((time.time(), whom if whom in stages else "all"))
            self.kills[whom] += 1
        if whom in ("supervisor", "all"):
            self.site.daemon.wait()
            self.site.start()

    def turn(self):
        if len(self.moments) < self.most and time.monotonic() >= self.next:
            self.strike()
            self.next = time.monotonic() + self.every * self.chance.uniform(0.5, 1.5)
