"""tests/stand-in/kubernetes/network.py - a network for pods that are really run

Each pod gets a network namespace with an address of its own, and all hang on one bridge in another
namespace, so that every pod may listen on the same port and nothing of this machine's network is
changed.  Addresses go by names (<job>-<index>), so that a peer's is known before it runs.  Where
that cannot be done (no ip program, no permission) pods share this machine's network and are all
127.0.0.1.
"""
import os
import subprocess

BRIDGE = "bridge"


def _ip(*words):
    return subprocess.run(("ip",) + words, capture_output=True, check=False).returncode == 0


class Network:
    def __init__(self):
        self.hub = "stand-in-%d" % os.getpid()
        self.number = 0
        self.addresses = {}             # name -> its number
        self.good = None                # not yet tried

    @staticmethod
    def _sweep():
        """Take away what a stand-in left that was killed."""
        for name in os.listdir("/run/netns") if os.path.isdir("/run/netns") else ():
            part = name.split("-")
            if part[:2] == ["stand", "in"] and not os.path.exists("/proc/" + part[2]):
                _ip("netns", "delete", name)

    def _begin(self):
        try:
            self._sweep()
            self.good = _ip("netns", "add", self.hub) and \
                _ip("-n", self.hub, "link", "add", BRIDGE, "type", "bridge") and \
                _ip("-n", self.hub, "link", "set", BRIDGE, "up")
        except OSError:
            self.good = False

    def address(self, name):
        if self.good is None:
            self._begin()
        if not self.good:
            return "127.0.0.1"
        number = self.addresses.setdefault(name, len(self.addresses) + 2)
        return "10.244.%d.%d" % (number >> 8 & 255, number & 255)

    def join(self, name):
        """A namespace for the pod of that name; "" where there is none to be had."""
        address = self.address(name)
        if not self.good:
            return ""
        self.number += 1
        space, cable = "%s-%d" % (self.hub, self.number), "pod%d" % self.number
        done = _ip("netns", "add", space) and \
            _ip("link", "add", cable, "netns", self.hub, "type", "veth", "peer", "name", "eth0",
                "netns", space) and \
            _ip("-n", self.hub, "link", "set", cable, "master", BRIDGE, "up") and \
            _ip("-n", space, "address", "add", address + "/16", "dev", "eth0") and \
            _ip("-n", space, "link", "set", "eth0", "up") and \
            _ip("-n", space, "link", "set", "lo", "up")
        if not done:
            self.leave(space)
            raise OSError("the network of %s cannot be made" % name)
        return space

    @staticmethod
    def leave(space):
        if space:
            _ip("netns", "delete", space)

    def end(self):
        if self.good:
            self.leave(self.hub)
