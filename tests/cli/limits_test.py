# SPDX-License-Identifier: MIT
"""What weir serve bounds: asked for too much, a client is told the bound and its option; a client that lies is held to it."""
import contextlib
import threading
import time

import pytest

import schema
from hostile_test import Client
from weirtest import PATIENCE, Server, error_of, weir

PEER = 4


@pytest.mark.parametrize("option,args,words", [
    (["--max-streams", "2"], ["-P", "3"], ["2 streams", "--max-streams"]),
    (["--max-buffer", "64K"], ["--far-rcvbuf", "65K"], ["64.0 KiB", "--max-buffer"]),
    (["--max-buffer", "64K"], ["-R", "--far-sndbuf", "1M"], ["64.0 KiB", "--max-buffer"]),
    (["--max-time", "2s"], ["-t", "3"], ["2 s", "--max-time"]),
    (["--max-bytes", "1M"], ["-t", "20", "-b", "40mbit"], ["1048576 bytes", "--max-bytes"]),
    (["--max-bytes", "1M"], ["-t", "20", "-b", "40mbit", "-R", "-i", "30"], ["1048576 bytes", "--max-bytes"]),
], ids=lambda value: " ".join(value))
def test_too_much_is_told(option, args, words):
    with Server(*option) as server:
        outcome = weir("run", server.target, *args)
        lines = outcome.err_lines
        assert outcome.code == PEER and len(lines) <= 2 and lines[0].startswith("weir run: "), outcome
        assert all(word in outcome.err for word in words), outcome.err
        assert outcome.seconds < 10 * PATIENCE
        # What stays below is served.
        assert weir("run", server.target, "-t", "0.3", "-b", "5mbit").code == 0
        server.at_rest()


@pytest.mark.parametrize("args", [[], ["-R"], ["-P", "4"], ["-R", "-P", "4"]], ids=lambda args: " ".join(args) or "forward")
def test_rate_is_bounded_and_known(args):
    """The client paces itself to the server's bound, and its verdict says that the writer is the limit."""
    with Server("--max-rate", "40mbit") as server:
        outcome = weir("run", server.target, "-t", "1.5", "--json", *args)
        assert outcome.code == 0, outcome
        schema.check_run(outcome.json)
        assert 34e6 < outcome.json["throughput_bps"] < 44e6
        assert outcome.json["verdict"]["causes"][0]["cause"] == "writer-limited"


def test_a_client_that_lies_is_held_to_the_rate():
    """Data as fast as it goes, whatever the greeting said: the server reads no faster than its bound."""
    with Server("--max-rate", "40mbit") as server, Client(server) as client:
        assert client.start(parallel=1, interval_ns=10**8)["op"] == "listening"
        with client.data(0) as data:
            assert client.read()["op"] == "ready"
            client.say(op="go")
            flood(data)
            counts = []
            while not counts or counts[-1][0] < 2e9:
                answer = client.read()
                counts.append((answer["t_ns"], answer["bytes"][0]))
            (t_0, bytes_0), (t_1, bytes_1) = counts[len(counts) // 4], counts[-1]
            assert 8e9 * (bytes_1 - bytes_0) / (t_1 - t_0) < 48e6


@pytest.mark.parametrize("pester", [False, True], ids=["long interval", "many requests"])
def test_a_client_that_lies_is_held_to_the_bytes(pester):
    """Neither an hour between reports nor a request every moment keeps the server from looking."""
    with Server("--max-bytes", "10M") as server, Client(server) as client:
        assert client.start(parallel=1, interval_ns=3600 * 10**9, bitrate_bps=10**8)["op"] == "listening"
        with client.data(0) as data:
            assert client.read()["op"] == "ready"
            client.say(op="go")
            flood(data)
            began = time.monotonic()
            answer = {"op": "none"}
            with contextlib.suppress(ConnectionError):
                while answer and "ends a run" not in answer.get("error", {}).get("text", ""):
                    if pester:
                        client.say(op="nonsense")
                    answer = client.read()
                    assert time.monotonic() - began < 10 * PATIENCE
        server.at_rest()


def flood(connection):
    """Send until the other end has enough, in a thread."""
    def send():
        with contextlib.suppress(OSError):
            while True:
                connection.sendall(b"x" * 65536)

    threading.Thread(target=send, daemon=True).start()
