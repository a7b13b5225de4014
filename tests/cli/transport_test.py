# SPDX-License-Identifier: MIT
"""What a transfer can run over: each kind on this machine, what it has and lacks, what is refused, what is left behind."""
import contextlib
import json
import os
import signal
import socket
import stat
import time

import pytest

import schema
from weirtest import (IS_ROOT, WEIR, Server, call, error_of, finish, marked_processes, needs_root, start, until, weir)

USAGE, HOST, PEER = 2, 3, 4
# Slow enough to leave the other tests a CPU.
SHORT = ["-t", "0.6", "-b", "200mbit"]
HERE = ["unix:"]
WAYS = {"forward": [], "reverse": ["-R"], "streams": ["-P", "3"], "reverse streams": ["-R", "-P", "3"]}
# What only TCP's counters could have shown.
TCP_CAUSES = {"rcvbuf-limited", "path-limited", "bufferbloat", "loss-limited", "ramp-limited", "sysctl-capped"}


@pytest.fixture
def path(tmp_path):
    return f"{tmp_path}/weir"


@pytest.fixture
def unix_server(path):
    with Server("--unix", path) as server:
        server.path = path
        server.unix = f"unix:{path}"
        yield server


def run(target, *args):
    outcome = weir("run", target, "--json", *args)
    assert outcome.code == 0 and outcome.err == "", outcome
    schema.check_run(outcome.json)
    return outcome.json


def causes(result):
    return [cause["cause"] for cause in result["verdict"]["causes"]]


# -- every transport --

@pytest.mark.parametrize("args", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("target", HERE)
def test_runs_without_a_server(target, args):
    result = run(target, *SHORT, *args)
    assert result["plan"]["transport"] == target.rstrip(":")
    assert len(result["streams"]) == (3 if "-P" in args else 1)
    assert not TCP_CAUSES & set(causes(result))


@pytest.mark.parametrize("args", WAYS.values(), ids=WAYS.keys())
def test_runs_with_a_server(unix_server, args):
    run(unix_server.unix, *SHORT, *args)
    unix_server.at_rest()


@pytest.mark.parametrize("target", HERE)
@pytest.mark.parametrize("args", [[], ["-R"]], ids=["forward", "reverse"])
def test_bytes(target, args):
    """-n moves exactly what was asked for, and ends by itself."""
    for n, moved in (("1M", 1 << 20), ("1000001", 1000001), ("1", 1)):
        outcome = weir("run", target, "-n", n, "--json", *args)
        assert outcome.code == 0 and outcome.json["bytes"] == moved and outcome.json["complete"] is True, outcome


@pytest.mark.parametrize("target", HERE)
def test_text(target):
    outcome = weir("run", target, "-t", "0.6", "-b", "100mbit")
    assert outcome.code == 0 and outcome.err == ""
    first, path = outcome.out.split("weir run ")[1].splitlines()[:2]
    assert f"{target.rstrip(':')} near -> far" in first
    assert path.startswith("Path ") and "no round trips" in path
    for word in ("nan", "inf ", "unknown under", "(null)", "RTT", "TCP", "weir tune"):
        assert word not in outcome.out, outcome.out


@pytest.mark.parametrize("target", HERE)
def test_a_small_buffer_is_found(target):
    """A buffer that holds a few messages: the writer waits, and the verdict points to it."""
    args = ["-t", "1", "-l", "64K"]
    small, large = (run(target, *args, "--sndbuf", size) for size in ("4K", "1M"))
    assert small["verdict"]["causes"][0]["cause"] == "sndbuf-limited", small["verdict"]
    assert small["verdict"]["causes"][0]["side"] == "near"
    assert large["throughput_bps"] > 1.5 * small["throughput_bps"]


@pytest.mark.parametrize("target", HERE)
def test_paced_ends_are_told_apart(target):
    """A slow writer or reader is the cause, on its own side, whichever way the data goes."""
    for args, cause, side in ((["-b", "50mbit"], "writer-limited", "near"), (["-b", "50mbit", "-R"], "writer-limited", "far"),
                              (["--far-read-rate", "50mbit"], "reader-limited", "far"),
                              (["--read-rate", "50mbit", "-R"], "reader-limited", "near")):
        first = run(target, "-t", "0.8", *args)["verdict"]["causes"][0]
        assert (first["cause"], first["side"]) == (cause, side), first


@pytest.mark.parametrize("target", HERE)
def test_what_only_tcp_has_is_refused(target):
    for args in (["-C", "cubic"], ["-N"], ["-4"], ["-6"], ["-B", "127.0.0.1"], ["-p", "5201"]):
        assert "nothing of the kind" in error_of(weir("run", target, *args), USAGE, "run")
    assert "weir sweep" in error_of(weir("tune", target), USAGE, "tune")
    error_of(weir("tune", target, "--json"), USAGE, "tune", as_json=True)


@pytest.mark.parametrize("target", HERE)
def test_a_grid(target):
    result = weir("sweep", target, "--sndbuf", "16K,256K", "-l", "4K", "-t", "0.2", "--repeat", "2", "--json")
    assert result.code == 0, result
    assert len(result.json["cells"]) == 3 and result.json["plan"]["transport"] == target.rstrip(":")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["SIGINT", "SIGKILL"])
@pytest.mark.parametrize("target", HERE)
def test_nothing_is_left_of_far(target, number):
    """The far end beside near ends with it, whatever ends near. (The fixture of all tests looks for processes.)"""
    process = start(WEIR, "run", target, "-t", "60", "-b", "50mbit", "-i", "0.1", "--json-stream")
    process.stdout.readline()
    process.send_signal(number)
    outcome = finish(process)
    if number == signal.SIGINT:
        assert outcome.code == 130 and json.loads(outcome.out.splitlines()[-1])["complete"] is False
    until(lambda: not marked_processes(), "the end of far")


# -- unix --

def test_a_socket_is_its_users_alone(unix_server):
    assert stat.S_IMODE(os.stat(unix_server.path).st_mode) == 0o600
    assert os.listdir(os.path.dirname(unix_server.path)) == ["weir"]


@needs_root
def test_others_are_turned_away(path, tmp_path):
    os.chmod(tmp_path, 0o755)
    with Server("--unix", path):
        for folder in (tmp_path, *tmp_path.parents[:3]):
            os.chmod(folder, os.stat(folder).st_mode | 0o011)
        outcome = call("setpriv", "--reuid", "65534", "--clear-groups", WEIR, "run", f"unix:{path}")
        assert outcome.code == PEER and "ermission denied" in outcome.err and "only its own user" in outcome.err, outcome


def test_a_file_that_nobody_listens_to_is_replaced(path):
    """As a server that was killed leaves it."""
    with Server("--unix", path) as server:
        server.process.kill()
        server.process.wait()
        assert os.path.exists(path)
    with Server("--unix", path):
        run(f"unix:{path}", *SHORT)
    assert not os.path.exists(path)


def test_what_is_in_use_or_no_socket_stays(unix_server, tmp_path):
    words = error_of(weir("serve", "--unix", unix_server.path), HOST, "serve")
    assert "another program listens" in words
    run(unix_server.unix, *SHORT)
    file = tmp_path / "file"
    file.write_text("mine")
    assert "no socket" in error_of(weir("serve", "--unix", file), HOST, "serve")
    assert file.read_text() == "mine"


def test_a_server_removes_its_own_file_alone(path):
    with Server("--unix", path):
        os.rename(path, path + ".old")
        other = socket.socket(socket.AF_UNIX)
        other.bind(path)
    assert os.path.exists(path)
    other.close()


def test_unix_alone_opens_no_port(path):
    process = start(WEIR, "serve", "--unix", path)
    until(lambda: os.path.exists(path), "weir serve listens")
    with open(f"/proc/{process.pid}/net/tcp6", encoding="ascii") as tcp6, open(f"/proc/{process.pid}/net/tcp",
                                                                              encoding="ascii") as tcp4:
        listening = {line.split()[9] for line in [*tcp4, *tcp6][1:] if line.split()[3:4] == ["0A"]}
    sockets = {os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{process.pid}/fd")}
    assert not {f"socket:[{inode}]" for inode in listening} & sockets
    run(f"unix:{path}", *SHORT)
    process.send_signal(signal.SIGTERM)
    outcome = finish(process)
    assert outcome.code == 143 and "listening on unix:" in outcome.err and "on port" not in outcome.err
    assert not os.path.exists(path)


def test_paths_that_lead_nowhere(path):
    words = error_of(weir("run", f"unix:{path}"), PEER, "run")
    assert "No such file" in words and "weir serve --unix" in words
    assert "107" in error_of(weir("run", "unix:/" + 120 * "x"), USAGE, "run")
    error_of(weir("serve", "--unix", "/no/such/folder/socket"), HOST, "serve")
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(path)
        listener.listen()
        began = time.monotonic()
        words = error_of(weir("run", f"unix:{path}", "--connect-timeout", "300ms"), PEER, "run")
        assert "no answer" in words and time.monotonic() - began < 10


def test_transport_and_target_must_agree(unix_server):
    assert "there is no such transport" in error_of(weir("run", "unix:", "--transport", "pigeon"), USAGE, "run")
    assert "does not lead to" in error_of(weir("run", "unix:", "--transport", "tcp"), USAGE, "run")
    assert "unix:[PATH]" in error_of(weir("run", unix_server.target, "--transport", "unix"), USAGE, "run")
    assert run(unix_server.target, *SHORT, "--transport", "tcp")["plan"]["transport"] == "tcp"


def test_a_client_over_tcp_gets_no_other_transport(unix_server):
    """A client that is no weir asks for what its connection does not lead to."""
    plan = run(unix_server.target, *SHORT)["plan"]
    with unix_server.connect() as control:
        control.sendall(b"weir1c00" + b"a" * 28 + b"\0")
        receive(control)
        for transport in ("unix", "pigeon", "", "x" * 100):
            send(control, {"op": "start", "plan": {**plan, "transport": transport}})
            answer = receive(control)
            assert answer["op"] == "error" and "has no transport" in answer["error"]["text"], answer


def send(connection, message):
    text = json.dumps(message).encode()
    connection.sendall(len(text).to_bytes(4, "big") + text)


def receive(connection):
    file = connection.makefile("rb")
    return json.loads(file.read(int.from_bytes(file.read(4), "big")))
