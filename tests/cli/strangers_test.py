# SPDX-License-Identifier: MIT
"""A port with something else behind it: the words say what it is or how it behaves, within seconds."""
import contextlib
import http.server
import json
import shutil
import socket
import struct
import threading

import pytest

from weirtest import error_of, free_port, start, until, weir

PEER = 4


@contextlib.contextmanager
def listener(handle):
    """A TCP server on loopback that gives each connection to handle(socket) in a thread."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        def accept():
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()

        def serve(connection):
            with contextlib.suppress(OSError), connection:
                handle(connection)

        threading.Thread(target=accept, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)


def drain(connection):
    while connection.recv(65536):
        pass


def frame(text):
    data = text.encode() if isinstance(text, str) else text
    return struct.pack(">I", len(data)) + data


HELLO = ('{"op":"hello","version":"0","lab":false,"max_buffer_bytes":1048576,"max_streams":4,'
         '"host":{"connections":[],"counters":{}}}')


def says(*pieces):
    def handle(connection):
        for piece in pieces:
            connection.sendall(piece)
        drain(connection)
    return handle


# What the stranger sends at once, and what the words must hold.
STRANGERS = {
    "ssh": (says(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"), ["not a weir server", "SSH-2.0-OpenSSH"]),
    "smtp": (says(b"220 mail.example ESMTP ready\r\n"), ["not a weir server", "220 mail"]),
    "binary": (says(bytes(range(128, 256))), ["not a weir server"]),
    "escape codes": (says(b"\x1b[2J\x1b[31mred\n" * 4), ["not a weir server"]),
    "closes at once": (lambda connection: None, ["closed"]),
    "closes after a byte": (lambda connection: connection.sendall(b"x"), ["closed"]),
    "zero length": (says(frame("")), ["not a weir server"]),
    "huge length": (says(b"\x7f\xff\xff\xff" + b"x" * 64), ["not a weir server"]),
    "no JSON": (says(frame("{op: hello}")), ["no JSON"]),
    "JSON but no object": (says(frame("[1, 2, 3]")), ["no JSON object"]),
    "NUL in JSON": (says(frame(b'{"op":"hel\0lo"}')), ["no JSON"]),
    "no op": (says(frame("{}")), []),
    "op of a wrong type": (says(frame('{"op": 7}')), []),
    "hello without a host": (says(frame('{"op":"hello"}')), ["greets unlike"]),
    "hello of wrong types": (says(frame('{"op":"hello","host":{"connections":[],"n_cpus":"two"}}')), ["greets unlike"]),
    "too many connections": (says(frame('{"op":"hello","host":{"connections":[' + "{}," * 999 + "{}]}}")), []),
    "deep JSON": (says(frame('{"op":' + "[" * 5000 + "]" * 5000 + "}")), ["no JSON"]),
    "error with escapes": (says(frame(r'{"op":"error","error":{"text":"no\u001b[31m\nway","hint":"a\nb"}}')), ["says: no"]),
    "error without words": (says(frame('{"op":"error"}')), []),
    "closes after hello": (lambda connection: connection.sendall(frame(HELLO)), ["closed", "broke"]),
    "garbage after hello": (says(frame(HELLO), b"\xff" * 64), ["not a weir server"]),
    "listening without a port": (says(frame(HELLO), frame('{"op":"listening"}')), ["port"]),
    "listening on port 70000": (says(frame(HELLO), frame('{"op":"listening","port":70000}')), ["port"]),
    "listening where nobody does": (says(frame(HELLO), frame('{"op":"listening","port":1}')), ["refused"]),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_stranger(name):
    handle, words = STRANGERS[name]
    for as_json in (False, True):
        with listener(handle) as target:
            outcome = weir("run", target, "--connect-timeout", "2", "-t", "1", *(["--json"] if as_json else []))
        err = error_of(outcome, PEER, "run", as_json)
        assert not words or any(word in err for word in words), err
        assert "\x1b" not in err
        assert outcome.seconds < 10


def test_silent_listener():
    with listener(drain) as target:
        outcome = weir("run", target, "--connect-timeout", "1")
    err = error_of(outcome, PEER, "run")
    assert "no answer within 1 s" in err and "hint: " in err
    assert outcome.seconds < 10


def test_silent_listener_by_default():
    """Nobody should wait longer than 10 s to hear that the port is the wrong one."""
    with listener(drain) as target:
        outcome = weir("run", target)
    error_of(outcome, PEER, "run")
    assert outcome.seconds < 10


def test_one_byte_at_a_time():
    """A stranger that trickles does not stretch the deadline for ever."""
    def trickle(connection):
        connection.settimeout(0.2)
        for byte in b"\x00\x00\x01\x00" + b"{" * 200:
            connection.sendall(bytes([byte]))
            with contextlib.suppress(TimeoutError):
                if not connection.recv(4096):
                    return

    with listener(trickle) as target:
        outcome = weir("run", target, "--connect-timeout", "1")
    error_of(outcome, PEER, "run")
    assert outcome.seconds < 10


def test_http_server():
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        outcome = weir("run", f"127.0.0.1:{server.server_port}", "--connect-timeout", "2")
        server.shutdown()
    err = error_of(outcome, PEER, "run")
    assert "hint: " in err and outcome.seconds < 10


@pytest.mark.skipif(not shutil.which("iperf3"), reason="needs iperf3")
def test_iperf3_server():
    port = free_port()
    server = start("iperf3", "-s", "-4", "-p", port, "--forceflush")
    try:
        assert b"---" in server.stdout.readline()
        until(lambda: b"listening" in server.stdout.readline(), "iperf3 listens")
        outcome = weir("run", f"127.0.0.1:{port}", "--connect-timeout", "2")
        err = error_of(outcome, PEER, "run")
        assert "iperf3 server" in err and "weir serve" in err
        assert outcome.seconds < 10
        # It is none the worse for it, though it resets connections while it opens its port again.
        for _ in range(20):
            again = error_of(weir("run", f"127.0.0.1:{port}", "--connect-timeout", "1", "--json"), PEER, "run", as_json=True)
            if "iperf3 server" in again:
                break
        assert "iperf3 server" in again
    finally:
        server.terminate()
        server.communicate()


# -- a server that knows the protocol and breaks off in the middle of it --

def read_message(connection):
    def exactly(n):
        data = b""
        while len(data) < n:
            piece = connection.recv(n - len(data))
            if not piece:
                raise ConnectionError
            data += piece
        return data

    return json.loads(exactly(struct.unpack(">I", exactly(4))[0]))


INTERVAL = '{"op":"interval","t_ns":%d,"bytes":[%d],"done":false}'
ENDINGS = {
    "dies after the last interval": [frame(INTERVAL % (10**8, 1000))],
    "dies in the middle of a message": [frame(INTERVAL % (10**8, 1000)), frame('{"op":"result"}')[:9]],
    "result without an end": [frame('{"op":"result"}')],
    "result of wrong types": [frame('{"op":"result","end":{"connections":[{"samples":{"metrics":[1],"rows":[[]]}}]}}')],
    "result with too few streams": [frame('{"op":"result","end":{"connections":[]}}')],
    "result with no samples": [frame('{"op":"result","end":{"connections":[{}],"counters":{"x":"y"}}}')],
    "odd intervals": [frame('{"op":"interval","t_ns":"soon","bytes":{"a":1}}'), frame(INTERVAL % (-5, -7)),
                      frame('{"op":"interval","bytes":[1e300,null,"x"]}'), frame('{"op":"result"}')],
    "an error": [frame('{"op":"error","error":{"text":"enough","hint":"go away"}}')],
    "something unknown": [frame('{"op":"surprise"}')],
}


@pytest.mark.parametrize("direction", [[], ["-R"]], ids=["forward", "reverse"])
@pytest.mark.parametrize("name", ENDINGS)
def test_breaks_off(name, direction):
    """A run that goes well until "stop" is answered in a wrong way, or not at all."""
    def handle(connection):
        cookie = b""
        while len(cookie) < 37:
            cookie += connection.recv(37 - len(cookie))
        if cookie[5:6] == b"d":
            if direction:
                connection.sendall(b"x" * 50000)
            drain(connection)
            return
        connection.sendall(frame(HELLO))
        read_message(connection) # start
        connection.sendall(frame(json.dumps({"op": "listening", "port": connection.getsockname()[1]})))
        connection.sendall(frame('{"op":"ready"}'))
        while read_message(connection)["op"] != "stop":
            pass
        for piece in ENDINGS[name]:
            connection.sendall(piece)

    with listener(handle) as target:
        outcome = weir("run", target, "-t", "0.3", "-b", "10mbit", "--json", *direction)
    if outcome.code == 0: # what little it said was enough for a result
        assert outcome.json["verdict"]["causes"]
    else:
        error_of(outcome, PEER, "run", as_json=True)
