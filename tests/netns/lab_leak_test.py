# SPDX-License-Identifier: MIT
"""What labs leave behind: nothing, after many in a row and after a SIGKILL of any of their processes in a transfer."""
import os
import random
import signal
import time

import pytest

from lab_util import NEEDS, WEIR, Marked, traces
from weirtest import LIMIT_S, call, marked_processes, until

pytestmark = NEEDS

N_LABS = 200
# A lab that leaked a descriptor or namespace would leave 200 of it; other programs come and go by far fewer.
NOISE = N_LABS // 4
# A leaked network namespace holds some 300 KB; two hundred labs have four hundred of them.
NOISE_BYTES = 48 << 20


def slab_objects(name):
    """Objects in use of one of the kernel's caches."""
    with open("/proc/slabinfo", encoding="ascii") as source:
        for line in source:
            if line.startswith(name + " "):
                return int(line.split()[1])
    return 0


def kernel_bytes():
    """Memory that the kernel keeps for itself and can't give back at will."""
    with open("/proc/meminfo", encoding="ascii") as source:
        fields = dict(line.split(":") for line in source)
    return 1024 * sum(int(fields[name].split()[0]) for name in ("SUnreclaim", "KernelStack", "Percpu"))


def open_files():
    with open("/proc/sys/fs/file-nr", encoding="ascii") as source:
        return int(source.read().split()[0])


COUNTS = {"open files": open_files, "network namespaces": lambda: slab_objects("net_namespace"),
          "PID namespaces": lambda: slab_objects("pid_namespace"), "mounts": lambda: slab_objects("mnt_cache")}


# Where programs leave files: empty folders of the test's own. The tool may lie below one of them, so it is copied before.
PLACES = "/tmp /var/tmp /dev/shm /run"
LABS = f"""
mount -t tmpfs tmpfs /mnt && cp {WEIR} /mnt/weir || exit 1
for place in {PLACES}; do mount -t tmpfs tmpfs $place || exit 1; done
cd /tmp
for i in $(seq {N_LABS}); do HOME=/tmp /mnt/weir lab --rtt 1ms --rate 1gbit -- true || exit 1; done
find {PLACES} -mindepth 1
"""


# A sanitizer's report goes to stderr, as the folder for it can't be reached from there.
SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "", "TSAN_OPTIONS": ""}


def test_two_hundred_labs_leave_nothing():
    before = traces()
    counts = {name: count() for name, count in COUNTS.items()}
    used = kernel_bytes()
    done = call("unshare", "-m", "sh", "-c", LABS, env=SANITIZERS, timeout=3 * LIMIT_S)
    assert done.code == 0, done.err
    assert done.out == ""
    until(lambda: not marked_processes(), "the end of every process")
    after = traces()
    for kind in ("mounts", "hosts", "devices"):
        assert after[kind] == before[kind]
    # The kernel takes namespaces apart behind a lab's back, several at once.
    for name, count in COUNTS.items():
        # A lab has a score of mounts, and the kernel counts those that it keeps ready as used.
        noise = 5 * N_LABS if name == "mounts" else NOISE
        until(lambda: count() < counts[name] + noise, f"the end of {N_LABS} labs' {name}", 30)
    until(lambda: kernel_bytes() < used + NOISE_BYTES, f"less than {NOISE_BYTES} more bytes of kernel memory", 30)


def child_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as source:
        return int(source.read().split()[0])


@pytest.mark.parametrize("victim", ["caller", "init"])
def test_a_kill_in_a_transfer_leaves_nothing(victim, tmp_path):
    """Both directions full, counters and packets being written, and processes of their own session at both ends."""
    before = traces()
    chance = random.Random(4711)
    script = "echo ready; setsid sleep 300 & weir run far -P 2 -t 60 >/dev/null & weir run far -R -t 60 >/dev/null"
    for _ in range(5):
        running = Marked("--rate", "200mbit", "--rtt", "10ms", "--pcap", str(tmp_path / "pcap"), "--stats-json",
                         str(tmp_path / "stats"), "--far-cmd", "setsid sleep 300 & exec weir serve --quiet", "--", "sh", "-c", script,
                         start_new_session=True, cwd=tmp_path)
        assert running.process.stdout.readline() == "ready\n"
        until(lambda: os.path.getsize(tmp_path / "pcap") > 1 << 20, "a megabyte of packets")
        time.sleep(chance.uniform(0, 0.05))  # any moment will do
        os.kill(running.process.pid if victim == "caller" else child_of(running.process.pid), signal.SIGKILL)
        _, words = running.process.communicate(timeout=5)
        running.assert_gone()
        if victim == "init":
            assert running.process.returncode == 3 and "killed by signal 9" in words
    after = traces()
    for kind in ("mounts", "hosts", "devices"):
        assert after[kind] == before[kind]
    assert set(os.listdir(tmp_path)) <= {"pcap", "stats", "stats.new"}
