"""tests/stand-in/kubernetes/reality.py - pods whose commands are really run (--really-run)

As root, on this machine, whose own files are the image of every container (see pod_process).  There
are: init containers and the first container; the user and groups of the securityContext; variables
with $(VAR), fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef and envFrom; volumes emptyDir,
hostPath, configMap, secret, downwardAPI and projected, with subPath; names of other pods of the same
subdomain, and a network of their own (see network.py) unless hostNetwork; SIGTERM, grace and
SIGKILL.  There are not: images, ways out of that network, limits, probes, other containers.
"""
import asyncio
import base64
import json
import os
import re
import shutil
import signal

from kinds import CONFIG_MAPS, JOBS, SECRETS
from schema import quantity

HERE = os.path.dirname(os.path.abspath(__file__))
REFERENCE = re.compile(r"\$(\$|\(([^)]*)\))")
NUMBERS = {"limits.cpu": ("limits", "cpu"), "limits.memory": ("limits", "memory"),
           "requests.cpu": ("requests", "cpu"), "requests.memory": ("requests", "memory")}


class Unready(Exception):
    """A volume cannot be made: the pod waits."""


def expand(text, environment):
    """$(NAME) of what is known; $$ is $; what is not known stays."""
    def put(match):
        if match[1] == "$":
            return "$"
        return environment.get(match[2], match[0])
    return REFERENCE.sub(put, text)


def field(pod, path):
    match = re.match(r"^metadata\.(labels|annotations)\['([^']+)'\]$", path)
    if match:
        return (pod["metadata"].get(match[1]) or {}).get(match[2], "")
    if path in ("metadata.labels", "metadata.annotations"):
        values = pod["metadata"].get(path[9:]) or {}
        return "".join("%s=%s\n" % (key, json.dumps(values[key])) for key in sorted(values))
    if path in ("status.podIP", "status.hostIP", "status.podIPs", "status.hostIPs"):
        return "127.0.0.1"
    value = pod
    for step in path.split("."):
        value = value.get(step, {})
    return value if type(value) is str else ""


def resource(container, reference):
    which, name = NUMBERS.get(reference["resource"]) or reference["resource"].split(".", 1)
    amount = ((container.get("resources") or {}).get(which) or {}).get(name)
    if amount is None:
        return str(os.cpu_count() if name == "cpu" else os.sysconf("SC_PAGE_SIZE")
                   * os.sysconf("SC_PHYS_PAGES"))
    value = quantity(amount) / quantity(reference.get("divisor") or 1)
    return str(int(-(-value // 1)))


class Process:
    """One pod's containers, one after another."""

    def __init__(self, kubelet, run, pod, directory):
        self.kubelet, self.run, self.pod = kubelet, run, pod
        self.store = kubelet.store
        self.directory = os.path.join(directory, "pods", run.uid)
        self.process = None
        self.terminated = False
        os.makedirs(self.directory, exist_ok=True)
        os.chmod(self.directory, 0o711)
        os.chmod(os.path.dirname(self.directory), 0o711)
        self.volumes = {one["name"]: self._volume(one)
                        for one in pod["spec"].get("volumes") or ()}
        self.network = kubelet.network
        self.shared = bool(pod["spec"].get("hostNetwork"))
        self.address = "127.0.0.1" if self.shared else self.network.address(self._hostname())
        self.space = "" if self.shared else self.network.join(self._hostname())
        self.task = kubelet.loop.create_task(self._live())

    # ---- volumes ----

    def _volume(self, volume):
        """The directory (or file) that is to be mounted."""
        path = os.path.join(self.directory, "volume-" + volume["name"])
        if "hostPath" in volume:
            return self._host_path(volume)
        os.makedirs(path, exist_ok=True)
        if "emptyDir" in volume:
            group = (self.pod["spec"].get("securityContext") or {}).get("fsGroup")
            os.chown(path, -1, group if group is not None else -1)
            os.chmod(path, 0o2777 if group is not None else 0o777)
            return path
        sources = (volume.get("projected") or {}).get("sources") or [volume]
        known = False
        for source in sources:
            for which in ("configMap", "secret", "downwardAPI"):
                if which in source:
                    known = True
                    self._fill(path, which, source[which],
                               source[which].get("defaultMode", 0o644))
        if not known:
            raise Unready('MountVolume.SetUp failed for volume "%s" : this kind of volume cannot '
                          'be had here' % volume["name"])
        os.chmod(path, 0o755)
        return path

    @staticmethod
    def _host_path(volume):
        path, kind = volume["hostPath"]["path"], volume["hostPath"].get("type", "")
        if kind == "DirectoryOrCreate":
            os.makedirs(path, exist_ok=True)
        good = {"Directory": os.path.isdir, "File": os.path.isfile}.get(kind, os.path.exists)
        if not good(path):
            raise Unready('MountVolume.SetUp failed for volume "%s" : hostPath type check failed: '
                          '%s is not a %s' % (volume["name"], path, kind.lower() or "path"))
        return path

    def _fill(self, path, which, source, mode):
        if which == "downwardAPI":
            files = {one["path"]: (field(self.pod, one["fieldRef"]["fieldPath"]).encode(),
                                   one.get("mode", mode)) for one in source.get("items") or ()
                     if "fieldRef" in one}
        else:
            data = self._data(CONFIG_MAPS if which == "configMap" else SECRETS,
                              source.get("secretName") or source.get("name"))
            items = source.get("items") or [{"key": key, "path": key} for key in data]
            files = {one["path"]: (data[one["key"]], one.get("mode", mode)) for one in items
                     if one["key"] in data}
        group = (self.pod["spec"].get("securityContext") or {}).get("fsGroup")
        for name, (content, bits) in files.items():
            target = os.path.join(path, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(content)
            if group is not None:
                os.chown(target, 0, group)
                bits |= (bits & 0o400) >> 3
            os.chmod(target, bits)

    def _data(self, kind, name):
        """{key: bytes} of a ConfigMap or Secret; none when it is not there."""
        item = self.store.get(kind, self.run.key[0], name) or {}
        if kind is SECRETS:
            return {key: base64.b64decode(value) for key, value in
                    (item.get("data") or {}).items()}
        found = {key: value.encode() for key, value in (item.get("data") or {}).items()}
        found.update({key: base64.b64decode(value) for key, value in
                      (item.get("binaryData") or {}).items()})
        return found

    # ---- the plan of one container ----

    def _environment(self, container):
        found = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                 "HOSTNAME": self._hostname(), "HOME": "/",
                 "KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}
        for source in container.get("envFrom") or ():
            for which, kind in (("configMapRef", CONFIG_MAPS), ("secretRef", SECRETS)):
                if which in source:
                    for key, value in self._data(kind, source[which]["name"]).items():
                        found[source.get("prefix", "") + key] = value.decode()
        for one in container.get("env") or ():
            source = one.get("valueFrom") or {}
            value = expand(one.get("value", ""), found)
            if "fieldRef" in source:
                path = source["fieldRef"]["fieldPath"]
                value = self.address if path.startswith("status.podIP") else field(self.pod, path)
            elif "resourceFieldRef" in source:
                value = resource(container, source["resourceFieldRef"])
            for which, kind in (("configMapKeyRef", CONFIG_MAPS), ("secretKeyRef", SECRETS)):
                if which in source:
                    data = self._data(kind, source[which]["name"])
                    if source[which]["key"] not in data:
                        value = None
                    else:
                        value = data[source[which]["key"]].decode()
            if value is not None:
                found[one["name"]] = value
        return found

    def _hostname(self):
        return self.pod["spec"].get("hostname") or self.pod["metadata"]["name"]

    def _hosts(self):
        """The pod itself, by its whole name first, as the kubelet has it; and in place of a name server, all pods
        of all Jobs that have a subdomain."""
        space, whole = self.run.key[0], ""
        if self.pod["spec"].get("subdomain"):
            whole = "%s.%s.%s.svc.cluster.local " % (self._hostname(),
                                                     self.pod["spec"]["subdomain"], space)
        lines = ["127.0.0.1 localhost", "%s %s%s" % (self.address, whole, self._hostname())]
        for job in self.store.all(JOBS, space):
            spec = job["spec"]["template"]["spec"]
            for index in range(job["spec"].get("completions") or 0) if spec.get("subdomain") else ():
                host = "%s-%d" % (job["metadata"]["name"], index)
                name = "%s.%s" % (host, spec["subdomain"])
                lines.append("%s %s.%s.svc.cluster.local %s.%s.svc %s.%s %s"
                             % ("127.0.0.1" if self.shared else self.network.address(host),
                                name, space, name, space, name, space, name))
        return "\n".join(lines) + "\n"

    def _plan(self, container, name):
        environment = self._environment(container)
        mounts = []
        for one in container.get("volumeMounts") or ():
            source = self.volumes[one["name"]]
            sub = one.get("subPath") or expand(one.get("subPathExpr", ""), environment)
            if sub:
                source = os.path.join(source, sub)
                if not os.path.exists(source):
                    os.makedirs(source)
                    os.chmod(source, 0o777)
            mounts.append({"source": source, "target": one["mountPath"],
                           "read_only": bool(one.get("readOnly"))})
        own, shared = container.get("securityContext") or {}, \
            self.pod["spec"].get("securityContext") or {}
        groups = list(shared.get("supplementalGroups") or ())
        if shared.get("fsGroup") is not None:
            groups.append(shared["fsGroup"])
        command = [expand(word, environment) for word in
                   (container.get("command") or []) + (container.get("args") or [])]
        root = os.path.join(self.directory, "root-" + name)
        os.makedirs(root, exist_ok=True)
        return {"root": root, "host": self._hostname(), "mounts": mounts, "hosts": self._hosts(), "command": command or ["true"],
                "environment": environment, "directory": container.get("workingDir") or "/",
                "user": own.get("runAsUser", shared.get("runAsUser", 0)),
                "group": own.get("runAsGroup", shared.get("runAsGroup", 0)), "groups": groups,
                "no_capabilities": "ALL" in ((own.get("capabilities") or {}).get("drop") or ())}

    # ---- its life ----

    async def _live(self):
        """Run the init containers, then the first container; tell the kubelet how it ended."""
        spec = self.pod["spec"]
        code, trouble = 0, ""
        try:
            for container in (spec.get("initContainers") or []) + spec["containers"][:1]:
                code, trouble = await self._run(container)
                if code:
                    break
        except asyncio.CancelledError:
            raise
        except Exception as error:          # the test is to see it
            code, trouble = 128, repr(error)
        if trouble:
            self.kubelet.process_ended(self.run, 128, "StartError", trouble)
        else:
            self.kubelet.process_ended(self.run, code, None, "")

    async def _run(self, container):
        name = container["name"]
        file_name = os.path.join(self.directory, name + ".json")
        with open(file_name, "w", encoding="utf-8") as file:
            json.dump(self._plan(container, name), file)
        trouble_read, trouble_write = os.pipe()
        inside = ["nsenter", "--net=/run/netns/" + self.space] if self.space else []
        self.process = await asyncio.create_subprocess_exec(
            *inside, "unshare", "--mount", "--uts", "--propagation", "private", os.path.join(HERE, "pod_process"),
            file_name, str(trouble_write), stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            start_new_session=True, pass_fds=[trouble_write])
        os.close(trouble_write)
        if self.terminated:
            self.kill(signal.SIGTERM)
        while True:
            data = await self.process.stdout.read(65536)
            if not data:
                break
            self.kubelet.printed(self.run, data)
        code = await self.process.wait()
        self.kill(signal.SIGKILL, True)
        os.set_blocking(trouble_read, False)
        try:
            trouble = os.read(trouble_read, 4096).decode(errors="replace")
        except BlockingIOError:
            trouble = ""
        os.close(trouble_read)
        return 128 - code if code < 0 else code, trouble

    def kill(self, number, group=False):
        if number == signal.SIGTERM:
            self.terminated = True
        if self.process is not None:
            try:
                if group:
                    os.killpg(self.process.pid, number)
                else:
                    self.process.send_signal(number)
            except (ProcessLookupError, PermissionError):
                pass

    def clean(self):
        """The pod is gone: nothing of it stays."""
        self.kill(signal.SIGKILL, True)
        self.network.leave(self.space)
        self.space = ""
        shutil.rmtree(self.directory, ignore_errors=True)


