# SPDX-License-Identifier: MIT
"""One life of a lab as its user sees it: status, streams, names, sysctls, signals, and nothing left behind."""
import os
import pty
import random
import signal
import time

import pytest

from lab_util import NEEDS, WEIR, Marked, alone, lab, shell_lab, traces

pytestmark = NEEDS


@pytest.mark.parametrize("script,status", [("true", 0), ("exit 7", 7), ("exit 2", 2), ("kill -TERM $$", 143)])
def test_the_status_is_the_commands(script, status):
    assert alone("--", "sh", "-c", script).returncode == status


def test_the_streams_are_the_commands():
    done = lab("--far-cmd", "echo far speaks", "--stats", "--", "sh", "-c", "cat; echo err >&2", input="hello\n")
    assert done.stdout == "hello\n"
    assert "err" in done.stderr and "far speaks" in done.stderr


def test_names_resolve_ipv4_first():
    out = shell_lab("getent ahosts far | awk '{print $1}' | uniq; getent ahosts near | awk '{print $1}' | uniq")
    assert out.split() == ["198.18.0.2", "2001:2::2", "198.18.0.1", "2001:2::1"]


def test_stock_limits_hold_at_both_ends(tmp_path):
    keys = "net.ipv4.tcp_rmem net.ipv4.tcp_wmem net.ipv4.tcp_no_metrics_save"
    file = tmp_path / "far"
    done = lab("--far-cmd", f"sysctl {keys} >{file}", "--", "sh", "-c", f"sysctl {keys}")
    stock = ["net.ipv4.tcp_rmem = 4096\t131072\t6291456", "net.ipv4.tcp_wmem = 4096\t16384\t4194304",
             "net.ipv4.tcp_no_metrics_save = 1"]
    assert done.stdout.splitlines() == stock
    assert file.read_text().splitlines() == stock


def test_sysctls_of_one_end(tmp_path):
    file = tmp_path / "far"
    done = lab("--sysctl", "near:net.ipv4.tcp_wmem=4096 16384 33554432", "--sysctl", "far:net.ipv4.tcp_rmem=4096 131072 524288",
               "--sysctl", "near:net.ipv4.conf.near.rp_filter=2", "--far-cmd", f"cat /proc/sys/net/ipv4/tcp_[rw]mem >{file}",
               "--", "sh", "-c", "cat /proc/sys/net/ipv4/tcp_[rw]mem /proc/sys/net/ipv4/conf/near/rp_filter")
    assert [line.split()[-1] for line in done.stdout.splitlines()] == ["6291456", "33554432", "2"]
    assert [line.split()[-1] for line in file.read_text().splitlines()] == ["524288", "4194304"]


@pytest.mark.parametrize("setting,status,words", [
    ("near:net.ipv4.tcp_rmem=many", 2, ["net.ipv4.tcp_rmem", "many", "Invalid argument"]),
    ("near:net.ipv4.no_such_key=1", 2, ["no_such_key", "No such file"]),
    ("far:net.core.rmem_max=1", 3, ["net.core.rmem_max", "network namespace"]),
    ("near:kernel.hostname=x", 2, ["kernel.hostname", "net."]),
    ("near:net/../kernel/hostname=x", 2, ["malformed"]),
])
def test_a_sysctl_that_can_not_be_set(setting, status, words):
    done = alone("--sysctl", setting, "--", "true")
    assert done.returncode == status
    assert all(word in done.stderr for word in words), done.stderr


@pytest.mark.parametrize("arguments,word", [
    (["--rtt", "5parsecs", "--", "true"], "parsecs"),
    (["--rate", "-1", "--", "true"], "negative"),
    (["--queue", "64K", "--", "true"], "--rate"),
    (["--rtt", "1ms", "--near-delay", "1ms", "--", "true"], "contradict"),
    (["--loss", "101%", "--", "true"], "--loss"),
    (["--mtu", "1000", "--", "true"], "1280"),
    (["--mtu", "70000", "--", "true"], "65535"),
    (["--offload", "maybe", "--", "true"], "--offload"),
    (["--congestion", "no-such", "--", "true"], "no-such"),
    (["--near-rat", "1", "--", "true"], "near-rate"),
    (["--sysctl", "mid:net.x=1", "--", "true"], "mid:"),
    (["--", "no-such-program"], "no-such-program"),
    (["--"], "command"),
    ([], "command"),
])
def test_bad_usage_is_one_line_and_a_hint(arguments, word):
    done = lab(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert word in done.stderr
    assert done.stderr.startswith("weir lab: ") and len(done.stderr.splitlines()) <= 2


def test_the_environment_names_lab_and_congestion(tmp_path):
    file = tmp_path / "far"
    script = "echo $WEIR_CONGESTION net:[$WEIR_LAB]; readlink /proc/self/ns/net"
    done = lab("-C", "reno", "--far-cmd", f"({script}) >{file}", "--", "sh", "-c", f"{script}")
    for text in (done.stdout, file.read_text()):
        lines = text.split()
        assert lines[0] == "reno"
        assert lines[1] == lines[2]
    assert done.stdout != file.read_text()


def test_weir_itself_is_found_first():
    done = alone("--", "weir", "--version")
    assert done.returncode == 0 and done.stdout.startswith("weir ")
    assert shell_lab("command -v weir").strip() == WEIR


def test_a_far_command_that_fails():
    done = lab("--far-cmd", "echo no luck; exit 9", "--", "true")
    assert done.returncode == 3
    assert "no luck" in done.stderr and "status 9" in done.stderr and done.stdout == ""


def test_the_command_waits_until_far_listens():
    listen = "sleep 0.3; exec /usr/bin/python3 -c 'import socket,time; s=socket.create_server((\"\",5999)); time.sleep(60)'"
    script = "import socket; socket.create_connection(('far', 5999)); print('connected')"
    done = lab("--far-cmd", listen, "--", "/usr/bin/python3", "-c", script)
    assert done.stdout == "connected\n", done.stderr


def ready(lab_):
    """Wait for the line that the command prints when it has set its traps."""
    assert lab_.process.stdout.readline() == "ready\n"


COUNTER = """
import signal, time
seen = []
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda n, frame: seen.append(n))
print("ready", flush=True)
until = time.monotonic() + 20
while not seen and time.monotonic() < until:
    time.sleep(0.01)
time.sleep(0.3)
print(len(seen), seen[0] if seen else 0, flush=True)
raise SystemExit(33)
"""


@pytest.mark.parametrize("number,group", [(signal.SIGTERM, False), (signal.SIGINT, False), (signal.SIGINT, True)])
def test_a_signal_reaches_the_command_once(number, group):
    running = Marked("--far-cmd", "", "--", "/usr/bin/python3", "-c", COUNTER, start_new_session=True)
    ready(running)
    (os.killpg if group else os.kill)(running.process.pid, number)
    out, _ = running.process.communicate(timeout=10)
    assert out.split() == ["1", str(int(number))]
    assert running.process.returncode == 33
    running.assert_gone()


def test_ctrl_c_on_a_terminal_reaches_the_command_once():
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(WEIR, [WEIR, "lab", "--far-cmd", "", "--", "/usr/bin/python3", "-c", COUNTER])
    text = b""
    while b"ready" not in text:
        text += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    _, status = os.waitpid(pid, 0)
    text = os.read(terminal, 1000)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 33
    assert b"1 2" in text


STUBBORN = "trap '' INT TERM; echo ready; while :; do sleep 0.05; done"


def test_a_second_interrupt_ends_a_stubborn_command():
    running = Marked("--far-cmd", "", "--", "sh", "-c", STUBBORN, start_new_session=True)
    ready(running)
    os.killpg(running.process.pid, signal.SIGINT)
    time.sleep(0.2)  # two interrupts within a tenth of a second may be the same one
    os.killpg(running.process.pid, signal.SIGINT)
    running.process.communicate(timeout=3)
    assert running.process.returncode == 137
    running.assert_gone()


def test_five_seconds_after_sigterm_a_stubborn_command_is_killed():
    running = Marked("--far-cmd", "", "--", "sh", "-c", STUBBORN)
    ready(running)
    started = time.monotonic()
    running.process.terminate()
    running.process.communicate(timeout=10)
    assert running.process.returncode == 137
    assert 4.5 < time.monotonic() - started < 7
    running.assert_gone()


def test_what_the_command_leaves_running_dies_with_it():
    running = Marked("--", "sh", "-c", "setsid sleep 300 & nohup sleep 300 >/dev/null & echo ready")
    running.process.communicate(timeout=10)
    assert running.process.returncode == 0
    running.assert_gone()


def test_a_kill_at_any_moment_leaves_nothing():
    before = traces()
    chance = random.Random(4711)
    for _ in range(25):
        running = Marked("--rate", "100mbit", "--rtt", "20ms", "--", "sh", "-c", "sleep 300 & sleep 300",
                         start_new_session=True)
        time.sleep(chance.uniform(0, 0.12))
        running.process.kill()
        running.process.communicate(timeout=5)
        running.assert_gone()
    after = traces()
    for kind in ("mounts", "hosts", "devices"):
        assert after[kind] == before[kind]


def test_the_hosts_own_files_are_untouched():
    with open("/etc/hosts", encoding="utf-8") as hosts:
        before = hosts.read()
    out = shell_lab("grep -c far /etc/hosts; cat /etc/hosts")
    assert out.startswith("2\n") and before.strip() in out
    with open("/etc/hosts", encoding="utf-8") as hosts:
        assert hosts.read() == before
