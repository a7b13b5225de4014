# SPDX-License-Identifier: MIT
"""A lab of an ordinary user: the same link, nothing left, and where a system forbids it the switch that does.

Everything happens in a mount namespace of the test's own, in which /dev/net is a tmpfs: with a TUN node of the mode that a
case asks for, and with weir, since a build folder may be root's alone.
"""
import json
import os
import shutil
import subprocess
import time

import pytest

from lab_util import NEEDS, WEIR, Marked, traces

pytestmark = [NEEDS, pytest.mark.skipif(not shutil.which("setpriv"), reason="setpriv is not installed (util-linux)")]

NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all"
# Root of a user namespace that may do nothing: the limits that it has set there hold for it as for an ordinary user.
POWERLESS = "setpriv --inh-caps=-all --bounding-set=-all"
STAGE = f"mount -t tmpfs tmpfs /dev/net && cp {WEIR} /dev/net/weir && cd /"
OPEN = "mknod /dev/net/tun c 10 200 && chmod 666 /dev/net/tun"
CLOSED = "mknod /dev/net/tun c 10 200 && chmod 600 /dev/net/tun"


def stage(script, user=NOBODY, before="exec", namespaces="-m"):
    """The start of a command line that runs weir as an ordinary user; the lab's own words follow."""
    return ["unshare", namespaces, "sh", "-c", f'{STAGE} && {script} && {before} {user} /dev/net/weir "$@"', "weir"]


def rootless(*arguments, script=OPEN, env=None, **keywords):
    return subprocess.run([*stage(script, **keywords), "lab", *arguments], capture_output=True, text=True, check=False,
                          timeout=60, env={**os.environ, **(env or {})})


def test_the_link_is_the_same():
    before = traces()
    done = rootless("--rtt", "20ms", "--rate", "10mbit", "--", "weir", "run", "far", "-t", "2", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert 20e3 <= result["path"]["rtt_min_us"] < 30e3
    assert 8e6 < result["throughput_bps"] < 9.6e6
    assert result["verdict"]["causes"][0]["cause"] in ("path-limited", "bufferbloat")
    after = traces()
    for kind in ("mounts", "hosts", "devices"):
        assert after[kind] == before[kind]


def test_names_sysctls_and_congestion_control_are_the_labs():
    script = "getent hosts near far | wc -l; cat /proc/sys/net/ipv4/tcp_wmem; echo $WEIR_CONGESTION; id -u; head -c 8 $WEIR_LAB_LATENESS"
    done = rootless("-C", "reno", "--sysctl", "near:net.ipv4.tcp_wmem=4096 16384 33554432", "--", "sh", "-c", script)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert [lines[0], lines[1].split()[2], *lines[2:]] == ["2", "33554432", "reno", "0", "weirlate"], done.stdout


def test_files_are_the_users():
    done = rootless("--stats=/dev/net/out/stats", "--pcap", "/dev/net/out/pcap", "--rtt", "1ms", "--", "sh", "-c",
                    "weir run far -t 0.2 >/dev/net/out/run",
                    script=f"{OPEN} && mkdir -m 777 /dev/net/out", before="",
                    user=f"{NOBODY} sh -c '\"$@\"; stat -c \"%n %u %s\" /dev/net/out/*' x")
    owners = {name.split("/")[-1]: (int(owner), int(size)) for name, owner, size in map(str.split, done.stdout.splitlines())}
    assert {name: owner for name, (owner, _) in owners.items()} == {"pcap": 65534, "run": 65534, "stats": 65534}, done.stderr
    assert all(size > 0 for _, size in owners.values())


def test_a_kill_in_a_transfer_leaves_nothing():
    before = traces()
    running = Marked("--rtt", "10ms", "--rate", "50mbit", "--", "sh", "-c", "echo ready; weir run far -t 60 >/dev/null",
                     command=stage(OPEN))
    assert running.process.stdout.readline() == "ready\n"
    time.sleep(0.3)  # in the middle of it; nothing is waited for
    running.process.kill()
    running.process.communicate(timeout=5)
    running.assert_gone()
    after = traces()
    for kind in ("mounts", "hosts", "devices"):
        assert after[kind] == before[kind]


def in_user_namespace(setting):
    """A limit is set in a user namespace that the test makes; the host's own stays."""
    return {"script": f"{OPEN} && exec unshare -Ur sh -c 'echo {setting[1]} >/proc/sys/user/{setting[0]} && exec {POWERLESS} "
                      "/dev/net/weir \"$@\"' weir \"$@\"", "before": "false", "user": ""}


CHROOT = {"script": f"{OPEN} && mkdir /dev/net/root && mount --rbind / /dev/net/root",
          "user": "chroot --userspec=65534:65534 /dev/net/root"}


@pytest.mark.parametrize("how,words,hint", [
    ({"script": CLOSED}, ["/dev/net/tun", "0600"], "chmod 666"),
    ({"script": "true"}, ["/dev/net/tun", "No such file"], "modprobe tun"),
    (in_user_namespace(("max_user_namespaces", 0)), ["user.max_user_namespaces is 0"], "sysctl -w user.max_user_namespaces="),
    (in_user_namespace(("max_net_namespaces", 1)), ["user.max_net_namespaces is 1"], "sysctl -w user.max_net_namespaces="),
    (in_user_namespace(("max_pid_namespaces", 0)), ["user.max_pid_namespaces is 0"], "sysctl -w user.max_pid_namespaces="),
    (CHROOT, ["chroot", "user namespaces"], "as root"),
], ids=["mode", "missing", "user", "net", "pid", "chroot"])
def test_what_forbids_it_is_named(how, words, hint):
    done = rootless("--", "true", **how)
    assert done.returncode == 3
    assert done.stdout == ""
    first, second = done.stderr.splitlines()
    assert first.startswith("weir lab: ") and all(word in first for word in words), first
    assert second.startswith("hint: ") and hint in second, second


SHIM = r"""
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/tcp.h>

int setsockopt(int fd, int level, int name, const void *value, socklen_t n)
{
	int (*real)(int, int, int, const void *, socklen_t) = dlsym(RTLD_NEXT, "setsockopt");

	if (level == IPPROTO_TCP && name == TCP_CONGESTION && n == 5 && memcmp(value, "cubic", 5) == 0) {
		errno = ENOENT;
		return -1;
	}
	return real(fd, level, name, value, n);
}
"""


@pytest.mark.skipif(bool(os.environ.get("WEIR_REPORTS")), reason="a sanitizer's runtime must come before a preloaded library")
def test_without_cubic_the_hosts_default_is_used_and_said(tmp_path):
    """Loading the module takes root; the library stands in for a kernel that has not got it loaded."""
    shim = tmp_path / "shim.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", shim, "-x", "c", "-"], input=SHIM, text=True, check=True)
    with open("/proc/sys/net/ipv4/tcp_congestion_control", encoding="ascii") as source:
        default = source.read().strip()
    script = f"{OPEN} && cp {shim} /dev/net/shim.so"
    preload = f"env LD_PRELOAD=/dev/net/shim.so {NOBODY}"
    done = rootless("--", "sh", "-c", "echo $WEIR_CONGESTION", script=script, user=preload)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{default}\n"
    assert len(done.stderr.splitlines()) == 1 and "cubic can't be had" in done.stderr and default in done.stderr
    done = rootless("-C", "cubic", "--", "true", script=script, user=preload)
    assert done.returncode == 2 and "'cubic'" in done.stderr
