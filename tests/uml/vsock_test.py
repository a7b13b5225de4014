# SPDX-License-Identifier: MIT
"""A guest as a place for vsock: its loopback transport, which few hosts have."""
import json

SCRIPT = """
import json, os, socket
LOCAL = 1  # VMADDR_CID_LOCAL
listener = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
listener.bind((LOCAL, 0xffffffff))
listener.listen()
port = listener.getsockname()[1]
near = socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
near.connect((LOCAL, port))
far, peer = listener.accept()
near.sendall(b"weir" * 1000)
near.shutdown(socket.SHUT_WR)
read = b"".join(iter(lambda: far.recv(4096), b""))
print(json.dumps({"read": len(read), "right": read == b"weir" * 1000, "peer": peer[0]}))
"""


def test_vsock_loops_back(uml):
    done = uml.run([uml.PYTHON, "-c", SCRIPT], modules=["vsock_loopback"])
    assert done.code == 0, done.err
    assert json.loads(done.out) == {"read": 4000, "right": True, "peer": 1}


def test_both_ends_of_weir_run_in_a_guest(uml):
    done = uml.run(uml.with_server(["weir", "run", "127.0.0.1", "-n", "1M", "--json"]))
    assert done.code == 0, done.err
    assert json.loads(done.out)["bytes"] >= 1 << 20


def test_a_server_that_fails_tells_why(uml):
    done = uml.run(uml.with_server(["true"], "--port", "no"))
    assert done.code == 3 and "no" in done.err
