# SPDX-License-Identifier: MIT
"""What the lab's tests share: the tool under test, labs started and ended, traces that a lab may not leave."""
import glob
import os
import subprocess
import time
import uuid

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
WEIR = os.path.abspath(os.environ.get("WEIR", os.path.join(HERE, "..", "..", "build", "weir")))
PYTHON = "/usr/bin/python3"
NEEDS = pytest.mark.skipif(
    os.geteuid() != 0 or not os.path.exists("/dev/net/tun"),
    reason="a lab needs root and /dev/net/tun here")


def lab(*arguments, **keywords):
    """Run a lab to its end; returns the finished process with stdout and stderr as text."""
    keywords.setdefault("timeout", 60)
    return subprocess.run([WEIR, "lab", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, **keywords)


def alone(*arguments, **keywords):
    """A lab without anything on far."""
    return lab("--far-cmd", "", *arguments, **keywords)


def python_far(script, *words):
    """The --far-cmd that runs one of these tests' scripts."""
    return f"exec {PYTHON} {os.path.join(HERE, script)} {' '.join(words)}"


def shell_lab(script, *options, **keywords):
    """A lab without far that runs a shell script on near; returns its stdout."""
    done = alone(*options, "--", "sh", "-c", script, **keywords)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Marked:
    """A lab in the background whose processes can be found by a word in their environment."""

    def __init__(self, *arguments, command=(WEIR,), **keywords):
        self.mark = f"LAB_MARK={uuid.uuid4()}"
        name, _, value = self.mark.partition("=")
        self.process = subprocess.Popen([*command, "lab", *arguments], env={**os.environ, name: value}, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **keywords)

    def pids(self):
        found = []
        for path in glob.glob("/proc/[0-9]*/environ"):
            try:
                with open(path, "rb") as environ:
                    if self.mark.encode() in environ.read():
                        found.append(int(path.split("/")[2]))
            except OSError:
                pass
        return found

    def assert_gone(self, within_s=5):
        until = time.monotonic() + within_s
        while self.pids():
            assert time.monotonic() < until, f"still there: {self.pids()}"
            time.sleep(0.01)


def traces():
    """What a lab could leave on the host: mounts, devices, namespaces with a process, named namespaces."""
    namespaces = set()
    for path in glob.glob("/proc/[0-9]*/ns/*"):
        try:
            namespaces.add(os.readlink(path))
        except OSError:
            pass
    with open("/proc/self/mountinfo", encoding="ascii") as mounts, open("/etc/hosts", encoding="utf-8") as hosts:
        return {"mounts": mounts.read(), "hosts": hosts.read(), "devices": sorted(os.listdir("/sys/class/net")),
                "namespaces": namespaces}
