# SPDX-License-Identifier: MIT
"""Socket options by name and the ways of sending: what was asked, what the kernel made of it, what a server refuses."""
import re

import pytest

import schema
from hostile_test import Client
from weirtest import error_of, weir

SHORT = ["-t", "0.4", "-b", "80mbit"]


def run(server, *args):
    outcome = weir("run", server.target, "--json", *args)
    assert outcome.code == 0 and outcome.err == "", outcome
    schema.check_run(outcome.json)
    return outcome.json


def setting(name, requested, effective=None):
    return {"name": name, "requested": requested, "effective": requested if effective is None else effective}


def test_each_end_has_its_own(server):
    result = run(server, *SHORT, "--set", "TCP_NODELAY=1", "--set", "SO_PRIORITY=5,SO_MAX_PACING_RATE=20000000",
                 "--far-set", "TCP_MAXSEG=1000", "--far-set", "SO_RCVLOWAT=2000+TCP_QUICKACK=1")
    assert result["near"]["settings"] == [setting("TCP_NODELAY", 1), setting("SO_PRIORITY", 5),
                                          setting("SO_MAX_PACING_RATE", 20000000)]
    far = {row["name"]: row["effective"] for row in result["far"]["settings"]}
    assert far.keys() == {"TCP_MAXSEG", "SO_RCVLOWAT", "TCP_QUICKACK"} and far["SO_RCVLOWAT"] == 2000
    # A maximum that was set before listen() is in force in the handshake, timestamps come off it.
    assert 900 <= far["TCP_MAXSEG"] <= 1000 and 900 <= result["path"]["mss_bytes"] <= 1000
    assert result["plan"]["set"] == "TCP_NODELAY=1,SO_PRIORITY=5,SO_MAX_PACING_RATE=20000000"
    server.at_rest()


def test_effective_is_what_the_kernel_says(server):
    result = run(server, *SHORT, "--set", "TCP_NODELAY=7,SOL_SOCKET:9=1")
    assert result["near"]["settings"] == [setting("TCP_NODELAY", 7, 1), setting("SOL_SOCKET:9", 1)]
    text = weir("run", server.target, *SHORT, "--set", "TCP_NODELAY=7", "--far-set", "SO_PRIORITY=3").out
    assert re.search(r"^Set       TCP_NODELAY=7 \(reads 1\), on near$", text, re.M), text
    assert re.search(r"^Set       SO_PRIORITY=3, on far$", text, re.M), text


def test_nothing_asked_nothing_said(server):
    result = run(server, *SHORT)
    assert not {"settings", "zerocopy"} & (result["near"].keys() | result["far"].keys())


@pytest.mark.parametrize("args,words", [
    (["--set", "TCP_NODELAI=1"], ["--set", "TCP_NODELAI", "weir list sockopts"]),
    (["--set", "TCP_NODELAY"], ["--set", "OPT=VALUE"]),
    (["--set", "TCP_NODELAY=on"], ["TCP_NODELAY", "'on'"]),
    (["--set", "SO_SNDBUF=1M"], ["SO_SNDBUF", "--sndbuf"]),
    (["--set", "SO_PRIORITY=1", "--set", "SO_PRIORITY=2"], ["SO_PRIORITY", "twice"]),
    (["--far-set", "SO_MARK=1"], ["--far-set", "SO_MARK", "peer"]),
    (["--far-set", "SO_PRIORITY=7"], ["--far-set", "SO_PRIORITY", "0 to 6"]),
    (["--far-set", "SOL_SOCKET:36=1"], ["--far-set", "SOL_SOCKET:36", "peer"]),
    (["--set", ",".join(f"6:{i}=1" for i in range(100, 117))], ["--set", "16"]),
    (["--set", "x" * 300], ["--set", "254"]),
    (["--zerocopy", "--msg-zerocopy"], ["--zerocopy", "--msg-zerocopy", "contradict"]),
    (["--zerocopy", "--workload", "records"], ["--workload records", "--zerocopy"]),
    (["--far-length", "2M"], ["--far-length", "1 MiB"]),
    (["-R", "--far-length", "1K", "-l", "2M"], ["--length", "near reads", "1 MiB"]),
    (["-M", "87"], ["--mss", "88"]),
    (["-M", "40000"], ["--mss", "40000"]),
    (["--notsent-lowat", "0"], ["--notsent-lowat", "0"]),
], ids=lambda value: " ".join(value)[:40])
def test_refused(args, words):
    for way in ([], ["--json"]):
        err = error_of(weir("run", "h", *way, *args), 2, "run", as_json=bool(way))
        assert all(word in err for word in words), err


def test_the_kernels_refusal_names_the_option(server):
    err = error_of(weir("run", server.target, *SHORT, "--set", "IPPROTO_TCP:999=1"), 3, "run")
    assert "IPPROTO_TCP:999=1" in err and "refused" in err and "hint: " in err
    server.at_rest()


@pytest.mark.parametrize("asked", ["SO_MARK=1", "SO_BINDTOIFINDEX=1", "SO_PRIORITY=7", "SO_PRIORITY=-1", "SOL_SOCKET:33=1000000000",
                                   "1:36=7", "SO_BUSY_POLL=50", "SO_SNDBUFFORCE=1G", "TCP_RTO_MIN_US=1", "x" * 255, "=", ","])
def test_a_server_sets_only_what_is_harmless(server, asked):
    """A client that doesn't check itself is refused by name, and the server is as before."""
    with Client(server) as client:
        answer = client.start(parallel=1, far_set=asked)
        assert answer["op"] == "error" and "--far-set" in answer["error"]["text"], answer
    with Client(server) as client:
        assert client.start(parallel=1, far_set=["SO_PRIORITY=1"])["op"] == "error"
        assert client.start(parallel=1, far_set="SO_PRIORITY=1," * 100)["op"] == "error"
        assert client.start(parallel=1, far_length_bytes=1 << 24)["op"] == "error"
    server.at_rest()


@pytest.mark.parametrize("direction", [[], ["-R"]], ids=["forward", "reverse"])
@pytest.mark.parametrize("how", ["-Z", "--zerocopy", "--msg-zerocopy"])
def test_bytes_arrive_whole_without_copying(server, how, direction):
    for args, moved in ((["-n", "20M"], 20 << 20), (["-n", "1000001", "-l", "1000", "-P", "2"], 1000002)):
        result = weir("run", server.target, "--json", how, *args, *direction).json
        assert result["bytes"] in (moved, moved - 1) and result["complete"]
        assert result["plan"]["zerocopy"] == (how != "--msg-zerocopy")
    server.at_rest()


@pytest.mark.parametrize("direction,sender", [([], "near"), (["-R"], "far")], ids=["forward", "reverse"])
def test_copies_of_msg_zerocopy_are_counted(server, direction, sender):
    """On loopback the receiver's side can't take the sender's pages, so the kernel copies (msg_zerocopy.rst)."""
    result = run(server, "-t", "0.5", "--msg-zerocopy", *direction)
    counted = result[sender]["zerocopy"]
    assert counted["writes"] > 100 and 0.9 * counted["writes"] <= counted["copied"] <= counted["writes"]
    assert "zerocopy" not in result["far" if sender == "near" else "near"]
    text = weir("run", server.target, "-t", "0.3", "--msg-zerocopy", *direction).out
    assert re.search(rf"^Zero copy the kernel copied \d+ of \d+ writes with MSG_ZEROCOPY.*, on {sender}$", text, re.M), text
    text = weir("run", server.target, "-t", "0.3", "-Z", *direction).out
    assert re.search(rf"^Zero copy sendfile\(\) .*, on {sender}$", text, re.M), text


@pytest.mark.parametrize("how", ["-Z", "--msg-zerocopy"])
def test_pace_and_buffer_hold_without_copying(server, how):
    result = run(server, how, "-t", "1", "-b", "20mbit", "--sndbuf", "256K")
    assert 16e6 < result["throughput_bps"] < 23e6 and result["near"]["sndbuf_eff_bytes"] == 524288


def test_far_has_a_length_of_its_own(server):
    assert run(server, *SHORT, "-R", "--far-length", "1000", "-l", "3000")["far"]["write_bytes"] == 1000
    assert run(server, *SHORT, "--far-length", "1000", "-l", "3000")["near"]["write_bytes"] == 3000
    # Alone, --length is of the sender, wherever that is.
    assert run(server, *SHORT, "-R", "-l", "3000")["far"]["write_bytes"] == 3000


def test_unix_sockets_have_none_of_it():
    for args in (["--cork"], ["-M", "500"], ["--notsent-lowat", "16K"], ["-Z"], ["--msg-zerocopy"], ["--set", "SO_PRIORITY=1"]):
        assert "unix has nothing of the kind" in error_of(weir("run", "unix:", *args), 2, "run")


def test_sweep_takes_them_as_axes(server):
    result = weir("sweep", server.target, "--json", "-q", "-t", "0.1", "--repeat", "1", "--set", "SO_PRIORITY=0,SO_PRIORITY=6+TCP_NODELAY=1",
                  "--notsent-lowat", "16K,unset", "--vary", "cork")
    assert result.code == 0, result
    assert len(result.json["cells"]) == 8
    assert {cell["set"] for cell in result.json["cells"]} == {"SO_PRIORITY=0", "SO_PRIORITY=6+TCP_NODELAY=1"}
    error_of(weir("sweep", server.target, "-q", "--set", "SO_PRIORITY=0,NONSENSE=6"), 2, "sweep")
