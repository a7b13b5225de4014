# SPDX-License-Identifier: MIT
"""What fails around a run: a server that dies, goes silent or stops; a full disk; missing privilege; signals."""
import json
import os
import random
import shutil
import signal
import stat
import time

import pytest

from weirtest import (LAB_ENVIRONMENT, PATIENCE, WEIR, Server, call, error_of, finish, lab_command, needs_lab,
                      needs_root, start, until, weir)

HOST, PEER = 3, 4
DIRECTIONS = [[], ["-R"], ["-P", "3"], ["-R", "-P", "3"]]
IDS = ["forward", "reverse", "3 streams", "3 streams reverse"]


def running(server, *args):
    """A run that has shown that bytes move."""
    process = start(WEIR, "run", server.target, "-t", "60", "-b", "50mbit", "-i", "0.1", "--json-stream", *args)
    for _ in range(50):
        if json.loads(process.stdout.readline())["throughput_bps"] > 0:
            break
    return process


def last_object(text):
    """The last of a stream of objects, one a line."""
    return [json.loads(line) for line in text.splitlines()][-1]


def words_of_peer_failure(outcome):
    lines = outcome.err_lines
    assert outcome.code == PEER and lines and lines[0].startswith("weir run: ") and len(lines) <= 2, outcome
    last = last_object(outcome.out)
    assert last and last["error"]["code"] == PEER, outcome.out
    return lines[0]


# -- the server --

@pytest.mark.parametrize("args", DIRECTIONS, ids=IDS)
def test_server_dies(args):
    with Server() as server:
        process = running(server, *args)
        server.process.kill()
        outcome = finish(process)
        assert outcome.seconds < 5 * PATIENCE
        words_of_peer_failure(outcome)


@pytest.mark.parametrize("number,status", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_server_is_told_to_stop(number, status):
    with Server() as server:
        processes = [running(server), running(server, "-R")]
        assert server.stop(number) == status
        for process in processes:
            words_of_peer_failure(finish(process))


def test_server_goes_silent():
    """A stopped server keeps its sockets open: only its silence shows, and the words say how long it lasted."""
    with Server() as server:
        processes = [running(server, *args) for args in DIRECTIONS]
        server.process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        for process in processes:
            words = words_of_peer_failure(finish(process))
            assert "silent" in words or "took no message" in words, words
        assert time.monotonic() - began < 30
        server.process.send_signal(signal.SIGCONT)
        assert weir("run", server.target, "-t", "0.3").code == 0
        server.at_rest()


def test_server_is_silent_from_the_start(server):
    server.process.send_signal(signal.SIGSTOP)
    outcome = weir("run", server.target, "--connect-timeout", "1")
    server.process.send_signal(signal.SIGCONT)
    assert "no answer within 1 s" in error_of(outcome, PEER, "run")
    server.at_rest()


def test_port_is_taken(server):
    err = error_of(weir("serve", "--port", server.port), HOST, "serve")
    assert str(server.port) in err and "in use" in err and "--port" in err


def test_serve_stops_at_once():
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        server = Server()
        began = time.monotonic()
        assert server.stop(number) == status
        assert time.monotonic() - began < 3 * PATIENCE


# -- the disk --

@pytest.mark.parametrize("args", [[], ["--json"], ["--json-stream"], ["-i", "0.1"]], ids=lambda args: " ".join(args) or "text")
def test_stdout_is_full(server, args):
    with open("/dev/full", "wb") as full:
        outcome = call(WEIR, "run", server.target, "-t", "0.5", *args, stdout=full)
    assert outcome.code == HOST, outcome
    assert len(outcome.err_lines) <= 2 and "stdout" in outcome.err and "No space left" in outcome.err, outcome.err


@pytest.mark.parametrize("args", [["--version"], ["--help"], ["help", "run"], ["run", "--help"]], ids=" ".join)
def test_words_on_a_full_disk(args):
    with open("/dev/full", "wb") as full:
        outcome = call(WEIR, *args, stdout=full)
    assert outcome.code == HOST and "No space left" in outcome.err, outcome


def test_reader_of_stdout_is_gone(server):
    process = start(WEIR, "run", server.target, "-t", "0.5", "-i", "0.1")
    process.stdout.readline()
    process.stdout.close()
    process.stdout = None
    outcome = finish(process)
    assert outcome.code == HOST and len(outcome.err_lines) <= 2 and "stdout" in outcome.err, outcome


@pytest.mark.parametrize("path", ["/dev/full", "/no/such/folder/evidence.json", "/"])
def test_evidence_can_not_be_written(server, path):
    for json_flag in ([], ["--json"]):
        outcome = weir("run", server.target, "-t", "0.3", "--evidence", path, *json_flag)
        assert outcome.code == HOST and path in outcome.err and len(outcome.err_lines) <= 2, outcome
        # The result is out all the same.
        assert outcome.json["complete"] if json_flag else "Result" in outcome.out


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors(server, closed):
    """Sockets must not land on descriptors 0 to 2, where words would go into them."""
    outcome = call("sh", "-c", f'exec "$0" run "$1" -t 0.3 --json {closed}', WEIR, server.target)
    assert outcome.code in (0, HOST), outcome
    if ">&-" not in closed.replace("2>&-", ""):
        assert outcome.code == 0 and json.loads(outcome.out)["complete"]
    server.at_rest()


# -- privilege --

@pytest.fixture
def as_nobody(tmp_path):
    """A function that runs weir as an ordinary user."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root and setpriv to become somebody else")
    tool = tmp_path / "weir"
    shutil.copy(WEIR, tool)
    for path in [tool, *list(tool.parents)[:3]]:
        path.chmod(path.stat().st_mode | stat.S_IXOTH | stat.S_IROTH)
    before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", "--inh-caps=-all"]
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o777)
    # A sanitizer's report goes to stderr then, where nobody may write.
    return lambda *args: call(*before, tool, *args,
                              env={"ASAN_OPTIONS": "", "UBSAN_OPTIONS": "", "XDG_DATA_HOME": str(data)})


@pytest.mark.parametrize("args", [[], ["-R"]], ids=["forward", "reverse"])
def test_run_without_privilege(server, as_nobody, args):
    outcome = as_nobody("run", server.target, "-t", "0.5", "--json", *args)
    assert outcome.code == 0 and outcome.err == "" and outcome.json["bytes"] > 0, outcome


def test_clamp_without_privilege_is_named(server, as_nobody):
    """More than net.core.wmem_max is cut by the kernel; the words name the sysctl and the size."""
    with open("/proc/sys/net/core/wmem_max", encoding="ascii") as source:
        most = int(source.read())
    outcome = as_nobody("run", server.target, "-t", "0.5", "--sndbuf", str(2 * most))
    assert outcome.code == 0 and "net.core.wmem_max" in outcome.out, outcome
    with open("/proc/sys/net/ipv4/tcp_allowed_congestion_control", encoding="ascii") as source:
        allowed = source.read().split()
    for name in {"reno", "cubic"} - set(allowed):
        outcome = as_nobody("run", server.target, "-t", "0.3", "-C", name)
        assert outcome.code == HOST and name in outcome.err and "hint: " in outcome.err, outcome


def test_lab_without_privilege(as_nobody):
    err = error_of(as_nobody("lab", "--", "true"), HOST, "lab")
    assert "hint: " in err and "root" in err


def test_low_port_without_privilege(as_nobody):
    with open("/proc/sys/net/ipv4/ip_unprivileged_port_start", encoding="ascii") as source:
        if int(source.read()) <= 80:
            pytest.skip("every port is open to everybody here")
    err = error_of(as_nobody("serve", "--port", "80"), HOST, "serve")
    assert "80" in err and "ermission" in err


# -- signals --

STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143}


def check_stopped(outcome, number, finished=(0,)):
    """A stopped run: 128 + signal and a valid partial result, or, before there was anything, words."""
    if outcome.code == -number: # before the handler stood
        assert outcome.out == ""
        return "early"
    if outcome.code in finished:
        assert outcome.json["complete"]
        return "late"
    assert outcome.code == STATUS[number], outcome
    result = outcome.json
    if "error" in result:
        assert result["error"]["code"] == STATUS[number], result
        return "nothing"
    assert outcome.err == ""
    return "late" if result["complete"] else "partial" # the signal may meet a run that has just ended


@pytest.mark.parametrize("number", STATUS, ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("args", DIRECTIONS[:2] + [["-P", "4"], ["-n", "1G", "-b", "5mbit"]],
                         ids=["forward", "reverse", "4 streams", "bytes"])
def test_signal_mid_run(server, number, args):
    """There is something to report, so it is reported."""
    rate = [] if "-b" in args else ["-b", "20mbit"]
    process = start(WEIR, "run", server.target, "--json", *([] if "-n" in args else ["-t", "60"]), *rate, *args)
    until(lambda: "session opened" in server.words(), "the run begins")
    time.sleep(0.7) # long enough for a judgement of what there was
    process.send_signal(number)
    outcome = finish(process)
    assert check_stopped(outcome, number) == "partial"
    assert outcome.json["bytes"] > 0 and outcome.json["verdict"]["causes"]
    assert outcome.seconds < 5 * PATIENCE
    server.at_rest()


def test_signals_at_random_moments(server):
    """30 runs are stopped at any moment of their half second; the server is none the worse."""
    chance = random.Random(20)
    seen = set()
    for i in range(30):
        number = chance.choice(list(STATUS))
        process = start(WEIR, "run", server.target, "--json", "-t", "0.4", "-P", "2", *(["-R"] if i % 2 else []))
        time.sleep(chance.uniform(0, 0.5))
        process.send_signal(number)
        seen.add(check_stopped(finish(process), number))
    assert "partial" in seen
    server.at_rest()


def test_signals_to_serve_at_random_moments():
    chance = random.Random(21)
    for i in range(8):
        number = chance.choice(list(STATUS))
        with Server() as server:
            process = start(WEIR, "run", server.target, "--json", "-t", "1", "-P", "2", *(["-R"] if i % 2 else []))
            time.sleep(chance.uniform(0, 0.6))
            assert server.stop(number) == STATUS[number]
            outcome = finish(process)
            assert outcome.code == PEER and len(outcome.err_lines) <= 2 and outcome.json["error"]["code"] == PEER, outcome


@pytest.mark.parametrize("number", STATUS, ids=["SIGINT", "SIGTERM"])
def test_signal_while_connecting(number):
    """While a silent port is waited for."""
    with Server() as server:
        server.process.send_signal(signal.SIGSTOP)
        process = start(WEIR, "run", server.target, "--json", "--connect-timeout", "30")
        until(lambda: len(os.listdir(f"/proc/{process.pid}/fd")) >= 4, "it connects")
        time.sleep(0.2)
        process.send_signal(number)
        outcome = finish(process)
        assert check_stopped(outcome, number) == "nothing"
        assert outcome.seconds < 3 * PATIENCE


def test_second_signal_ends_it():
    """A server that fell silent keeps the last answer back; a second Ctrl-C does not wait for it."""
    with Server() as server:
        process = running(server)
        server.process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        outcome = finish(process)
        assert outcome.code in (-signal.SIGINT, 130) and outcome.seconds < 3 * PATIENCE


@needs_lab
@pytest.mark.parametrize("number", STATUS, ids=["SIGINT", "SIGTERM"])
def test_signal_to_a_lab(number):
    """The run inside gives its partial result, the lab its status, and nothing stays."""
    process = start(*lab_command("--rate 50mbit --rtt 10ms", WEIR, "run", "far", "-t", "60", "-i", "0.1", "--json-stream"),
                    env=LAB_ENVIRONMENT)
    for _ in range(5):
        assert process.stdout.readline()
    process.send_signal(number)
    outcome = finish(process)
    assert outcome.code == STATUS[number], outcome
    assert last_object(outcome.out)["complete"] is False


@needs_lab
def test_signals_to_a_lab_at_random_moments():
    chance = random.Random(22)
    for _ in range(8):
        number = chance.choice(list(STATUS))
        process = start(*lab_command("--rate 50mbit --rtt 4ms", WEIR, "run", "far", "-t", "1", "--json"),
                        env=LAB_ENVIRONMENT)
        time.sleep(chance.uniform(0, 1))
        os.killpg(process.pid, number)
        outcome = finish(process)
        assert outcome.code in (0, -number, STATUS[number]), outcome
        if outcome.out:
            json.loads(outcome.out)


@needs_root
def test_no_file_is_left_in_the_working_folder(server, tmp_path):
    assert call(WEIR, "run", server.target, "-t", "0.3", cwd=tmp_path).code == 0
    assert not os.listdir(tmp_path)
