# SPDX-License-Identifier: MIT
"""A guest as a place for vsock: its loopback transport, which few hosts have."""
import json
import statistics

import pytest

import schema

MODULES = ["vsock_loopback"]

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


def served(uml, *commands, server=("--vsock",), modules=MODULES):
    """Results of `weir run ... --json` in one guest with a server, in their order."""
    lines = [f'weir run {command} --json >"$OUT/{i}" || exit' for i, command in enumerate(commands)]
    done = uml.run(uml.with_server("\n".join(lines), *server), modules=list(modules), timeout=90)
    assert done.code == 0, done.err
    results = [json.loads(done.files[str(i)]) for i in range(len(commands))]
    for result in results:
        schema.check_run(result)
    return results


def test_credit_bounds_a_transfer(uml):
    """Messages of 64 KiB: 4 KiB of credit carry a small part of what 1 MiB does, and the verdict says which buffer."""
    # Taken in turns: a guest has one CPU, which others use as well.
    results = served(uml, *3 * ["vsock:1 -l 64K -t 1 -w 4096", "vsock:1 -l 64K -t 1 -w 1048576"])
    for i, result in enumerate(results):
        assert result["far"]["rcvbuf_option"] == "SO_VM_SOCKETS_BUFFER_SIZE"
        assert result["far"]["rcvbuf_eff_bytes"] == (1048576 if i % 2 else 4096)
        assert result["near"]["local"].startswith("vsock:any:") and result["far"]["local"].startswith("vsock:1:")
    small, large = (statistics.median(result["throughput_bps"] for result in results[i::2]) for i in (0, 1))
    assert large > 3 * small, [result["throughput_bps"] for result in results]
    first = [result["verdict"]["causes"][0] for result in results[::2]]
    assert ("vsock-credit", "far") in [(cause["cause"], cause["side"]) for cause in first], first


def test_the_readers_buffer_alone_counts(uml):
    credit, sndbuf = served(uml, "vsock:1 -t 0.5 -b 100mbit --far-rcvbuf 4096", "vsock:1 -t 0.5 -b 100mbit --sndbuf 4096")
    assert credit["far"]["rcvbuf_eff_bytes"] == 4096 and sndbuf["far"]["rcvbuf_eff_bytes"] == 262144
    for result in (credit, sndbuf):
        assert not {"sndbuf_eff_bytes", "sndbuf_option"} & result["near"].keys()


def test_both_directions_and_kinds(uml):
    results = served(uml, *(f"vsock:1:77 -t 1 -b 20mbit {args}" for args in
                            ("", "-R", "-P 3", "--transport vsock-seqpacket", "--transport vsock-seqpacket -R -P 2")),
                     "vsock:1:77 -t 0.6 -R --rcvbuf 8K", "vsock:1:77 -t 0.6 -R --rcvbuf 8K --transport vsock-seqpacket",
                     server=("--vsock=77",))
    assert [result["plan"]["transport"] for result in results] == [*3 * ["vsock"], *2 * ["vsock-seqpacket"], "vsock",
                                                                   "vsock-seqpacket"]
    # A message may be as large as the reader's credit.
    assert results[-1]["far"]["write_bytes"] == 8192 and results[-2]["far"]["write_bytes"] == 131072
    for result in results[:5]:
        assert result["verdict"]["causes"][0]["cause"] in ("writer-limited", "cpu-limited"), result["verdict"]


def test_what_a_message_may_have(uml):
    line = "weir run vsock:1 --transport vsock-seqpacket -l 64K --far-rcvbuf 16K -t 0.5"
    done = uml.run(uml.with_server(line, "--vsock"), modules=MODULES)
    assert done.code == 2 and "16384 bytes" in done.err, done.err


@pytest.mark.parametrize("server", [("--vsock",), ("--vsock", "--port", "5201", "--unix", "/tmp/weir")], ids=["alone", "all"])
def test_several_at_once(uml, server):
    lines = "\n".join(f"weir run {target} -n 1M -q >/dev/null && echo {target} >>$OUT/through"
                      for target in ("vsock:1", "127.0.0.1", "unix:$TMPDIR/weir"))
    options = [option.replace("/tmp/", "$TMPDIR/") for option in server]
    script = f"""
weir serve {" ".join(options)} 2>$TMPDIR/log &
server=$!
until grep -q listening $TMPDIR/log; do kill -0 $server || exit 9; sleep 0.05; done
{lines}
kill $server; wait $server; test ! -e $TMPDIR/weir
"""
    done = uml.run(script, modules=MODULES)
    assert done.code == 0, done.err
    through = done.files["through"].decode().split()
    assert [line.split(":")[0] for line in through] == (["vsock"] if len(server) == 1 else ["vsock", "127.0.0.1", "unix"])


def test_without_loopback_it_says_so(uml):
    """vsock is there, the loopback transport is not: nothing leaves, and the words say what is missing."""
    done = uml.run("weir run vsock:1; test $? = 3", modules=["vsock"])
    assert done.code == 0 and "no local vsock transport" in done.err and "modprobe vsock_loopback" in done.err, done.err


def test_both_ends_of_weir_run_in_a_guest(uml):
    done = uml.run(uml.with_server(["weir", "run", "127.0.0.1", "-n", "1M", "--json"]))
    assert done.code == 0, done.err
    assert json.loads(done.out)["bytes"] >= 1 << 20


def test_a_server_that_fails_tells_why(uml):
    done = uml.run(uml.with_server(["true"], "--port", "no"))
    assert done.code == 3 and "no" in done.err
