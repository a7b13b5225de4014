# SPDX-License-Identifier: MIT
"""Clients that lie, flood, stall or leave: each costs itself alone, and weir serve is as fit afterwards as before."""
import contextlib
import json
import re
import socket
import struct
import threading
import time

import pytest

from weirtest import LIMIT_S, PATIENCE, Server, until, weir

COOKIE_BYTES = 37


def cookie(kind="c", stream=0, token="a" * 28):
    return f"weir1{kind}{stream:02x}{token}".encode() + b"\0"


def frame(message):
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack(">I", len(data)) + data


class Client:
    """A hand-made weir client."""

    def __init__(self, server, token="a" * 28):
        self.server, self.token = server, token
        self.control = server.connect()
        self.control.sendall(cookie(token=token))
        self.hello = self.read()

    def read(self):
        head = self.exactly(4)
        return json.loads(self.exactly(struct.unpack(">I", head)[0])) if head else None

    def exactly(self, n):
        data = b""
        while len(data) < n:
            piece = self.control.recv(n - len(data))
            if not piece:
                return None
            data += piece
        return data

    def say(self, **message):
        self.control.sendall(frame(message))

    def ask(self, **message):
        self.say(**message)
        return self.read()

    def start(self, **plan):
        return self.ask(op="start", plan=plan)

    def data(self, stream=0, port=None, token=None):
        connection = socket.create_connection(("127.0.0.1", port or self.server.port), timeout=LIMIT_S)
        connection.sendall(cookie("d", stream, token or self.token))
        return connection

    def close(self):
        self.control.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def closes(connection):
    """The server ends this connection, by FIN or by reset."""
    with contextlib.suppress(ConnectionError):
        while connection.recv(65536):
            pass
    return True


def still_works(server, **options):
    outcome = weir("run", server.target, "-t", "0.3", "--json", **options)
    assert outcome.code == 0, outcome
    assert outcome.json["complete"] and outcome.json["bytes"] > 0


@pytest.fixture(autouse=True)
def fit_afterwards(server):
    yield
    still_works(server)
    server.at_rest()


def test_garbage_cookies(server):
    for garbage in (b"\0" * COOKIE_BYTES, b"\xff" * COOKIE_BYTES, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".ljust(64),
                    b"weir1" + b"\0" * 32, b"weir1z00" + b"a" * 28 + b"\0", b"weir1czz" + b"a" * 28 + b"\0",
                    b"WEIR1C00" + b"a" * 28 + b"\0", b"weir1c00" + b"a" * 29, b"x" * 100000):
        with server.connect() as connection:
            with contextlib.suppress(ConnectionError):
                connection.sendall(garbage)
            assert closes(connection)


def test_cookie_of_iperf3_is_told_so(server):
    with server.connect() as connection:
        connection.sendall(b"a" * 36 + b"\0")
        assert connection.recv(1) == b"\xff" # ACCESS_DENIED, which iperf3 reports as a busy server
        assert closes(connection)


def test_silent_connections_leave_room(server):
    """200 connections that say nothing, 40 sessions that say nothing, and a real run beside them."""
    silent = [server.connect() for _ in range(200)]
    idle = [Client(server, token=f"{i:028d}") for i in range(40)]
    still_works(server)
    for connection in silent + idle:
        connection.close()


def test_too_many_sessions():
    with Server("--max-sessions", "3") as small:
        clients = [Client(small, token=f"{i:028d}") for i in range(3)]
        outcome = weir("run", small.target)
        assert outcome.code == 4 and "sessions" in outcome.err and "hint: " in outcome.err
        clients[0].close()
        until(lambda: weir("run", small.target, "-t", "0.2").code == 0, "a place becomes free")
        for client in clients:
            client.close()
        small.at_rest()


@pytest.mark.parametrize("length", [0, 65537, 1 << 20, 0x7fffffff, 0xffffffff])
def test_lengths(server, length):
    with Client(server) as client:
        client.control.sendall(struct.pack(">I", length) + b"{" * 100)
        assert closes(client.control)


@pytest.mark.parametrize("text", [b"", b"{", b"nonsense", b"[]", b"7", b'"x"', b"null", b'{"op":"go"}{"op":"go"}',
                                  b'{"op":"go","op":"stop"}', b"[" * 60000, b'{"op":' * 9000, b"\xff\xfe{}",
                                  b'{"op":"\xc3\x28"}'], ids=lambda text: repr(text[:12]))
def test_messages_that_are_no_object(server, text):
    with Client(server) as client:
        client.control.sendall(frame(text))
        assert closes(client.control)


def test_requests_out_of_place(server):
    with Client(server) as client:
        for request in ({"op": "go"}, {"op": "stop"}, {"op": "set", "knob": "sndbuf", "value": 65536}, {"op": ""}, {},
                        {"op": 3}, {"op": "hello"}, {"op": "reboot"}, {"op": "x" * 60000}, {"op": ["go"]},
                        {"op": "sysctl", "key": "net.ipv4.tcp_rmem", "value": "1 1 1"},
                        {"op": "sysctl", "key": "kernel.core_pattern", "value": "|/bin/sh"}, {"op": "sysctl"},
                        {"op": "start"}, {"op": "start", "plan": None}, {"op": "start", "plan": []}):
            answer = client.ask(**request)
            assert answer["op"] == "error" and answer["error"]["text"], (request, answer)
        assert client.start(parallel=1)["op"] == "listening"


ABSURD = [{"parallel": 0}, {"parallel": 129}, {"parallel": -1}, {"parallel": 1 << 62}, {"parallel": "1"}, {"parallel": 1.5},
          {"parallel": None}, {"time_ns": 0}, {"time_ns": -1}, {"time_ns": 1 << 62}, {"time_ns": 86400 * 10**9},
          {"interval_ns": 1}, {"interval_ns": 1 << 62}, {"length_bytes": 0}, {"length_bytes": 1 << 40},
          {"far_sndbuf_bytes": 1 << 30}, {"far_rcvbuf_bytes": 65 << 20}, {"far_rcvbuf_bytes": -5}, {"window_bytes": 1 << 40},
          {"far_sndbuf_bytes": True}, {"reverse": "yes"}, {"reverse": 1}, {"congestion": 5}, {"congestion": "x" * 5000},
          {"bitrate_bps": 0}, {"bitrate_bps": "fast"}, {"read_rate_bps": 5000}, {"cpu": {}}, {"cpu": "0,-7"}, {"cpu": ","}, {"cpu": "0,x"}, {"force": "please"},
          {"bytes": 0}, {"bytes": -9}]


def test_absurd_plans(server):
    with Client(server) as client:
        for plan in ABSURD:
            answer = client.start(**plan)
            assert answer["op"] == "error" and answer["error"]["text"], (plan, answer)
        assert client.start(parallel=1)["op"] == "listening"


@pytest.mark.parametrize("plan", [
    {"cpu": "0,99999999999999999999"}, {"cpu": "none"}, {"congestion": "nosuchcc"},
    {"bytes": (1 << 62)}, {"far_read_rate_bps": 1 << 62}, {"length_bytes": 1}, {"unknown": {"a": 1}},
    {"reverse": True, "bitrate_bps": 1 << 62}, {"bind": "203.0.113.7"}, {"force": True, "far_sndbuf_bytes": 4096},
    {"far_sndbuf_bytes": 0, "far_rcvbuf_bytes": 0}, {"congestion": "\u0001\u20ac"}], ids=str)
def test_odd_plans_run_or_are_refused(server, plan):
    """Values at the edge: two streams start, move a little, stop; or words come. Nothing breaks."""
    with Client(server) as client:
        answer = client.start(parallel=2, **plan)
        if answer["op"] == "error":
            assert answer["error"]["text"]
            return
        data = [client.data(i, answer["port"]) for i in range(2)]
        answer = client.read()
        if answer["op"] == "error":
            assert "congestion" in answer["error"]["text"]
            assert client.ask(op="go")["op"] == "error"
            for connection in data:
                connection.close()
            return
        assert answer["op"] == "ready"
        client.say(op="go")
        for connection in data:
            with contextlib.suppress(OSError):
                connection.sendall(b"x" * 1000) if not plan.get("reverse") else connection.recv(1000)
        answer = client.ask(op="stop")
        while answer["op"] == "interval":
            answer = client.read()
        assert answer["op"] == "result" and len(answer["end"]["connections"]) == 2
        for connection in data:
            connection.close()


def test_thousands_of_messages(server):
    """A flood that nobody answers for: the server answers each or drops the client, and others don't notice."""
    with Client(server) as client:
        def flood():
            with contextlib.suppress(OSError):
                for _ in range(20000):
                    client.say(op="nonsense")

        flooding = threading.Thread(target=flood, daemon=True)
        flooding.start()
        still_works(server)
        client.control.settimeout(1)
        with contextlib.suppress(OSError):
            while client.control.recv(1 << 20):
                pass
        client.control.shutdown(socket.SHUT_RDWR)
        flooding.join(LIMIT_S)


def test_flood_that_never_reads(server):
    """A client that asks and never takes an answer holds one thread for a while, and no more."""
    with Client(server) as client:
        client.control.settimeout(0.5)
        with contextlib.suppress(OSError):
            while True:
                client.say(op="nonsense", more="x" * 10000)
        still_works(server)


def test_leaves_while_connecting(server):
    for _ in range(5):
        with Client(server) as client:
            assert client.start(parallel=2, far_rcvbuf_bytes=65536)["op"] == "listening"


def test_data_connections_of_nobody(server):
    """Data cookies without a session, for a stream that isn't, twice, and after the run has begun."""
    with Client(server) as client:
        with client.data(0) as early:
            assert closes(early)
        assert client.start(parallel=1)["op"] == "listening"
        with client.data(7) as beyond, client.data(0, token="b" * 28) as foreign:
            assert closes(beyond) and closes(foreign)
        with client.data(0):
            assert client.read()["op"] == "ready"
            with client.data(0) as late:
                client.say(op="go")
                assert client.ask(op="stop")["op"] in ("result", "interval")
                late.close()


def never_cookie(server):
    """Silence before the cookie, or half a cookie."""
    connections = [server.connect() for _ in range(20)]
    for i, connection in enumerate(connections):
        connection.sendall(cookie()[:i])
    assert all(closes(connection) for connection in connections)
    return "closed"


def never_arrives(server):
    """One of three streams comes; the session is told so, lives on and may try again."""
    with Client(server, token="b" * 28) as client:
        assert client.start(parallel=3)["op"] == "listening"
        with client.data(0):
            answer = client.read()
            assert answer["op"] == "error" and "of 3 data connections arrived" in answer["error"]["text"], answer
        assert client.start(parallel=1)["op"] == "listening"
        with client.data(0):
            assert client.read()["op"] == "ready"
    return "told"


def never_goes(server):
    """All streams are there and nothing follows."""
    with Client(server, token="c" * 28) as client:
        assert client.start(parallel=1)["op"] == "listening"
        with client.data(0):
            assert client.read()["op"] == "ready"
            assert closes(client.control)
    return "closed"


def test_every_state_has_its_deadline(server):
    """Three clients stop, each in another state, at the same time; each is through with within half a minute."""
    began, ends = time.monotonic(), {}
    clients = [threading.Thread(target=lambda act=act: ends.update({act: act(server)}))
               for act in (never_cookie, never_arrives, never_goes)]
    for client in clients:
        client.start()
    for client in clients:
        client.join(LIMIT_S)
    assert ends == {never_cookie: "closed", never_arrives: "told", never_goes: "closed"}, ends
    assert time.monotonic() - began < 30 * PATIENCE


def test_set_with_wrong_values(server):
    with Client(server) as client:
        answer = client.start(parallel=1)
        with client.data(0) as data:
            assert client.read()["op"] == "ready"
            client.say(op="go")
            data.sendall(b"x" * 1000)
            for wrong in ({"knob": "sndbuf"}, {"knob": "pace", "value": -5}, {"knob": "sndbuf", "value": 0}, {"knob": "rcvbuf", "value": -1},
                          {"knob": "everything", "value": 5}, {"knob": 5, "value": 5}, {"knob": "sndbuf", "value": 1 << 62},
                          {"knob": "rcvbuf", "value": "64K"}, {"knob": "rcvbuf", "value": 65 << 20}):
                answer = client.ask(op="set", **wrong)
                while answer["op"] == "interval":
                    answer = client.read()
                assert answer["op"] == "error", (wrong, answer)
            answer = client.ask(op="set", knob="rcvbuf", value=65536)
            assert answer["op"] == "set" and answer["effective"] == 131072
            assert client.ask(op="go")["op"] == "error"


def test_leaves_mid_run(server):
    for reverse in (False, True):
        with Client(server) as client:
            answer = client.start(parallel=2, reverse=reverse)
            data = [client.data(i, answer["port"]) for i in range(2)]
            assert client.read()["op"] == "ready"
            client.say(op="go")
            for connection in data:
                connection.close()
        server.at_rest()


def test_many_real_clients(server):
    """Ten clients at once, each with its own result."""
    outcomes = []
    clients = [threading.Thread(target=lambda i=i: outcomes.append(
        weir("run", server.target, "-t", "1", "-b", "20mbit", "--json", *(["-R"] if i % 2 else [])))) for i in range(10)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert [outcome.code for outcome in outcomes] == [0] * 10, outcomes
    assert all(outcome.json["bytes"] > 0 for outcome in outcomes)


def test_log_is_one_line_an_event(server):
    with Client(server):
        pass
    server.at_rest()
    for line in server.words().splitlines():
        assert re.match(r"weir serve: ", line), line
