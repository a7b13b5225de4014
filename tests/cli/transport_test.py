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
# What runs on this machine without a server: the target, and what of it.
HERE = {"unix": ["unix:"], "unix-seqpacket": ["unix:", "--transport", "unix-seqpacket"],
        "unix-dgram": ["unix:", "--transport", "unix-dgram"], "mem": ["mem:"]}
here = pytest.mark.parametrize("kind", HERE)
MESSAGES = ["unix-seqpacket", "unix-dgram"]
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


def run(*args):
    outcome = weir("run", "--json", *args)
    assert outcome.code == 0 and outcome.err == "", outcome
    schema.check_run(outcome.json)
    return outcome.json


def causes(result):
    return [cause["cause"] for cause in result["verdict"]["causes"]]


# -- every transport --

@pytest.mark.parametrize("args", WAYS.values(), ids=WAYS.keys())
@here
def test_runs_without_a_server(kind, args):
    result = run(*HERE[kind], *SHORT, *args)
    assert result["plan"]["transport"] == kind
    assert len(result["streams"]) == (3 if "-P" in args else 1)
    assert not TCP_CAUSES & set(causes(result))


@pytest.mark.parametrize("args", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize("kind", ["unix", *MESSAGES])
def test_runs_with_a_server(unix_server, kind, args):
    assert run(unix_server.unix, "--transport", kind, *SHORT, *args)["plan"]["transport"] == kind
    unix_server.at_rest()
    assert os.listdir(os.path.dirname(unix_server.path)) == ["weir"]


@here
@pytest.mark.parametrize("args", [[], ["-R"]], ids=["forward", "reverse"])
def test_bytes(kind, args):
    """-n moves exactly what was asked for, and ends by itself."""
    for n, moved in (("1M", 1 << 20), ("1000001", 1000001), ("1", 1)):
        outcome = weir("run", *HERE[kind], "-n", n, "--json", *args)
        assert outcome.code == 0 and outcome.json["bytes"] == moved and outcome.json["complete"] is True, outcome


@here
def test_text(kind):
    outcome = weir("run", *HERE[kind], "-t", "0.6", "-b", "100mbit")
    assert outcome.code == 0 and outcome.err == ""
    first, path = outcome.out.split("weir run ")[1].splitlines()[:2]
    assert f" {kind} near -> far" in first
    assert path.startswith("Path ") and "no round trips" in path
    for word in ("nan", "inf ", "unknown under", "(null)", "RTT", "TCP", "weir tune"):
        assert word not in outcome.out, outcome.out


@here
def test_a_small_buffer_is_found(kind):
    """A buffer that holds less than two messages: the writer waits, and the verdict points to it."""
    args = ["-t", "1", "-l", "7K"]
    # At full speed on two CPUs samples are late: the figures are only compared with each other.
    small, large = (weir("run", *HERE[kind], *args, "--sndbuf", size, "--json").json for size in ("4K", "1M"))
    assert small["verdict"]["causes"][0]["cause"] == "sndbuf-limited", small["verdict"]
    assert small["verdict"]["causes"][0]["side"] == "near"
    assert large["throughput_bps"] > 1.5 * small["throughput_bps"]


@here
def test_paced_ends_are_told_apart(kind):
    """A slow writer or reader is the cause, on its own side, whichever way the data goes."""
    for args, cause, side in ((["-b", "50mbit"], "writer-limited", "near"), (["-b", "50mbit", "-R"], "writer-limited", "far"),
                              (["--far-read-rate", "50mbit"], "reader-limited", "far"),
                              (["--read-rate", "50mbit", "-R"], "reader-limited", "near")):
        first = run(*HERE[kind], "-t", "0.8", *args)["verdict"]["causes"][0]
        assert (first["cause"], first["side"]) == (cause, side), first


@here
def test_what_only_tcp_has_is_refused(kind):
    for args in (["-C", "cubic"], ["-N"], ["-4"], ["-6"], ["-B", "127.0.0.1"], ["-p", "5201"]):
        assert "nothing of the kind" in error_of(weir("run", *HERE[kind], *args), USAGE, "run")
    assert "weir sweep" in error_of(weir("tune", *HERE[kind]), USAGE, "tune")
    error_of(weir("tune", *HERE[kind], "--json"), USAGE, "tune", as_json=True)


def test_a_cause_is_tried_out():
    """--confirm changes what can be changed on a live connection, and lets be what can't."""
    for target, sizes, tried in (("unix:", ["--sndbuf", "4K", "-l", "64K"], True), ("mem:", ["--sndbuf", "4K"], False),
                                 ("unix:", ["--far-read-rate", "50mbit"], True)):
        first = run(target, "-t", "0.6", "--confirm", "-q", *sizes)["verdict"]["causes"][0]
        metrics = {line["metric"]: line["value"] for line in first["evidence"]}
        assert ("confirmed_ratio" in metrics) is tried, first
        assert not tried or metrics["confirmed_ratio"] > 1.2, first


@here
def test_a_grid(kind):
    result = weir("sweep", *HERE[kind], "--sndbuf", "16K,256K", "-l", "4K", "-t", "0.2", "--repeat", "2", "--json")
    assert result.code == 0, result
    assert len(result.json["cells"]) == 3 and result.json["plan"]["transport"] == kind


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["SIGINT", "SIGKILL"])
@here
def test_nothing_is_left_of_far(kind, number):
    """The far end beside near ends with it, whatever ends near. (The fixture of all tests looks for processes.)"""
    process = start(WEIR, "run", *HERE[kind], "-t", "60", "-b", "50mbit", "-i", "0.1", "--json-stream")
    process.stdout.readline()
    process.send_signal(number)
    outcome = finish(process)
    if number == signal.SIGINT:
        assert outcome.code == 130 and json.loads(outcome.out.splitlines()[-1])["complete"] is False
    until(lambda: not marked_processes(), "the end of far")


# -- messages --

@pytest.mark.parametrize("kind", MESSAGES)
def test_a_message_must_fit(kind):
    """SO_SNDBUF less 32 bytes: the default length gives way, one that was asked for is refused with the sizes."""
    for args, side in (["--sndbuf", "8K"], "near"), (["--far-sndbuf", "8K", "-R"], "far"):
        result = run(*HERE[kind], "-t", "0.3", *args)
        assert result[side]["sndbuf_eff_bytes"] == 16384 and result[side]["write_bytes"] == 16384 - 32
        words = error_of(weir("run", *HERE[kind], *args, "-l", "16353"), USAGE if side == "near" else PEER, "run")
        assert "16352" in words and "16.0 KiB" in words
        run(*HERE[kind], "-t", "0.3", *args, "-l", "16352")


@pytest.mark.parametrize("args", [["--sndbuf", "8K"], ["--far-sndbuf", "8K", "-R"]], ids=["near", "far"])
@pytest.mark.parametrize("kind", MESSAGES)
def test_cells_that_can_not_be_have_no_runs(kind, args):
    """A grid goes on beside sizes that contradict each other, on the same session."""
    result = weir("sweep", *HERE[kind], *args, "-l", "1K,64K", "-P", "2", "-t", "0.2", "--repeat", "2", "--json").json
    runs = {(cell.get("far_sndbuf_req_bytes", cell.get("sndbuf_req_bytes")), cell["len_bytes"]): cell["n"]
            for cell in result["cells"]}
    assert runs == {("unset", 1024): 2, ("unset", 65536): 2, (8192, 1024): 2, (8192, 65536): 0}
    assert result["complete"] is True and any("16352 bytes" in note for note in result["notes"]), result["notes"]


@pytest.mark.parametrize("kind", MESSAGES)
def test_slow_readers_take_whole_messages(kind):
    """A reader that takes a little at a time would lose the rest of each message."""
    result = run(*HERE[kind], "-n", "4M", "-l", "64K", "--far-read-rate", "50mbit")
    assert result["bytes"] == 4 << 20


def test_a_queue_of_datagrams_is_told_from_a_buffer():
    """Small messages fill the reader's queue by their number; large ones the writer's buffer."""
    with open("/proc/sys/net/unix/max_dgram_qlen", encoding="ascii") as source:
        most = int(source.read())
    if most > 50:
        pytest.skip(f"net.unix.max_dgram_qlen is {most} here: no queue of small messages fills")
    small = run(*HERE["unix-dgram"], "-t", "1", "-l", "100")
    assert "unix-queue" in causes(small) or "cpu-limited" == causes(small)[0], causes(small)
    assert "unix-queue" not in causes(run(*HERE["unix-dgram"], "-t", "1", "-l", "64K"))
    assert "unix-queue" not in causes(run(*HERE["unix"], "-t", "1", "-l", "100"))


# -- mem --

def test_mem_names_nothing_else():
    assert "nothing may follow" in error_of(weir("run", "mem:5201"), USAGE, "run")
    assert "does not lead to" in error_of(weir("run", "unix:", "--transport", "mem"), USAGE, "run")


def test_mem_starts_no_process():
    process = start(WEIR, "run", "mem:", "-t", "60", "-b", "50mbit", "-i", "0.1", "--json-stream")
    process.stdout.readline()
    assert marked_processes() == [process.pid]
    process.send_signal(signal.SIGTERM)
    assert finish(process).code == 143


def test_ring_is_as_large_as_asked():
    for args, side in ([], "near"), (["-R"], "far"):
        flag = "--sndbuf" if side == "near" else "--far-sndbuf"
        result = run("mem:", *SHORT, *args, flag, "12345")
        assert result[side]["sndbuf_eff_bytes"] == 12345 == result[side]["sndbuf_req_bytes"]


# -- vsock: what is refused on a machine without a local transport; tests/uml has the rest --

def local_transport():
    """Whether a socket can be bound to VMADDR_CID_LOCAL."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as probe:
        probe.bind((1, socket.VMADDR_PORT_ANY))
        return True
    return False


def own_cid():
    """This machine's CID, or None."""
    for cid in (2, *range(3, 200)):
        with contextlib.suppress(OSError), socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM) as probe:
            probe.bind((cid, socket.VMADDR_PORT_ANY))
            return cid
    return None


@pytest.mark.skipif(local_transport(), reason="this machine has a local vsock transport")
@pytest.mark.parametrize("kind", ["vsock", "vsock-seqpacket"])
def test_vsock_does_not_leave_this_machine(kind):
    """Without a local transport CID 1, and the machine's own, would be sought outside: nothing is connected."""
    for cid in filter(None, (1, own_cid())):
        words = error_of(weir("run", f"vsock:{cid}", "--transport", kind), HOST, "run")
        assert "AF_VSOCK" in words or ("no local vsock transport" in words and "bind(CID_LOCAL)" in words), words
        assert "modprobe vsock_loopback" in words
        error_of(weir("run", f"vsock:{cid}", "--json"), HOST, "run", as_json=True)


def test_vsock_targets_that_are_none():
    for target in ("vsock:", "vsock:x", "vsock:0", "vsock:4294967295", "vsock:99999999999999999999", "vsock:1:", "vsock:1:x",
                   "vsock:1:4294967295", "vsock:-1", "vsock:1:2:3"):
        words = error_of(weir("run", target), USAGE, "run")
        assert "vsock:CID" in words, words
    for port in ("0", "x", "4294967295", "-1", "99999999999999999999"):
        assert "is no port" in error_of(weir("serve", f"--vsock={port}"), USAGE, "serve")


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
