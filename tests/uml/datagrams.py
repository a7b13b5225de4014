# SPDX-License-Identifier: MIT
"""Numbered datagrams over a link: `datagrams.py far` receives, `datagrams.py near ADDRESS N SIZE GAP_US [echo]` sends N
of SIZE bytes, GAP_US apart, and prints what far made of them as JSON. With echo far returns each, for its round trip.

Both ends are on one machine and read one clock, so far knows how long each was under way. It takes the time at which
its kernel got it, since the program may be late. A TCP connection asks for the report; it waits behind the datagrams
in every queue.
"""
import json
import select
import signal
import socket
import statistics
import struct
import sys
import time

PORT = 5300
HEADER = struct.Struct("=Iq")  # number, CLOCK_REALTIME when it was sent
SO_RCVBUFFORCE, SO_TIMESTAMPNS = 33, 35
UDP_AND_FRAMING = 8 + 20 + 38


def receiver():
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    datagrams.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    datagrams.setblocking(False)
    return datagrams


def take(datagrams, echo):
    """What waits in the socket: (number, sent, arrived, bytes) of each."""
    found = []
    while True:
        try:
            data, (control,), _, sender = datagrams.recvmsg(2048, 64)
        except BlockingIOError:
            return found
        number, sent = HEADER.unpack_from(data)
        seconds, ns = struct.unpack("qq", control[2])
        found.append((number, sent, seconds * 10**9 + ns, len(data)))
        if echo:
            datagrams.sendto(data, sender)


def summary(found, n):
    """Of what arrived of n: counts, one-way delays, the rate on the wire, and how long the runs of lost ones are."""
    numbers = {number for number, *_ in found}
    lost = [i for i in range(n) if i not in numbers]
    runs = sum(1 for i in lost if i - 1 in numbers or i == 0)
    delays = sorted((arrived - sent) / 1e6 for _, sent, arrived, _ in found)
    took = (found[-1][2] - found[0][2]) / 1e9 if len(found) > 1 else 0
    wire = sum(size + UDP_AND_FRAMING for *_, size in found[1:]) * 8
    return {"n": n, "lost": len(lost), "twice": len(found) - len(numbers), "loss_runs": runs,
            "rate_bps": wire / took if took else 0, "delay_ms": statistics.median(delays) if delays else 0,
            "delay_min_ms": delays[0] if delays else 0, "delay_max_ms": delays[-1] if delays else 0}


def far():
    datagrams = receiver()
    datagrams.bind(("", PORT))
    control, _ = socket.create_server(("", PORT)).accept()
    n, echo = json.loads(control.makefile().readline())
    found, told = [], False
    while not told:
        ready, _, _ = select.select([datagrams, control], [], [])
        told = control in ready
        found += take(datagrams, echo)
    control.sendall(json.dumps(summary(found, n)).encode() + b"\n")
    signal.pause() # whoever started it ends it


def connected(address):
    until = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection((address, PORT), timeout=30)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def near(address, n, size, gap_us, echo=""):
    n, gap_ns, fill = int(n), int(gap_us) * 1000, bytes(int(size) - HEADER.size)
    control = connected(address)
    control.sendall(json.dumps([n, bool(echo)]).encode() + b"\n")
    datagrams = receiver()
    datagrams.connect((address, PORT))
    back, began = [], time.monotonic_ns()
    for i in range(n):
        wait = began + i * gap_ns - time.monotonic_ns()
        if wait > 0:
            time.sleep(wait / 1e9)
        datagrams.send(HEADER.pack(i, time.time_ns()) + fill)
        if echo:
            back += take(datagrams, False)
    took = (time.monotonic_ns() - began) / 1e9
    control.sendall(b"report\n")
    report = json.loads(control.makefile().readline())
    back += take(datagrams, False)
    report["offered_bps"] = n * (int(size) + UDP_AND_FRAMING) * 8 / took
    if back:
        # The smallest: far's program may have been late.
        report["rtt_ms"] = min((arrived - sent) / 1e6 for _, sent, arrived, _ in back)
    print(json.dumps(report))


if __name__ == "__main__":
    {"far": far, "near": near}[sys.argv[1]](*sys.argv[2:])
