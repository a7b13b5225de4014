# SPDX-License-Identifier: MIT
"""The ends of the link tests: `far` serves, `near TASK...` drives it and prints one JSON object.

TCP, port 5300: a line "send N" or "receive N" or "errors"; data both ways is checked by its SHA-256. UDP, port 5300: echo.
"""
import fcntl
import hashlib
import json
import socket
import struct
import sys
import threading
import time

PORT = 5300
FAR = {"4": "198.18.0.2", "6": "2001:2::2"}
BLOCK = bytes(hashlib.sha256(b"%d" % i).digest()[i % 32] for i in range(262139))  # a prime length: no two offsets alike
UDP_SEGMENT = 103


def errors():
    """Counters that must stay 0 at an end, and those that tell of loss."""
    found = {}
    with open("/proc/net/snmp", encoding="ascii") as table:
        lines = table.read().splitlines()
    for names, values in zip(lines[::2], lines[1::2]):
        kind = names.split(":")[0]
        found.update({f"{kind}.{n}": int(v) for n, v in zip(names.split()[1:], values.split()[1:])})
    with open("/proc/net/snmp6", encoding="ascii") as table:
        found.update({line.split()[0]: int(line.split()[1]) for line in table})
    with open("/proc/net/dev", encoding="ascii") as table:
        for line in table:
            name, _, values = line.partition(":")
            if name.strip() in ("near", "far"):
                found["Device.RxDropped"], found["Device.TxDropped"] = int(values.split()[3]), int(values.split()[11])
    wanted = ["Device.RxDropped", "Device.TxDropped", "Tcp.InCsumErrors", "Tcp.InErrs", "Udp.InCsumErrors", "Udp6InCsumErrors",
              "Ip.InHdrErrors", "Ip6InHdrErrors", "Ip6InTruncatedPkts"]
    return {name: found.get(name, 0) for name in wanted}, found.get("Tcp.RetransSegs", 0)


def send(connection, n):
    """Send n bytes; returns their digest."""
    digest, at = hashlib.sha256(), 0
    while n:
        piece = BLOCK[at:at + n]
        connection.sendall(piece)
        digest.update(piece)
        n -= len(piece)
        at = (at + 65521) % len(BLOCK)
    return digest.hexdigest()


def receive(connection, n):
    """Receive n bytes; returns their digest and the rate in bit/s over the later three quarters."""
    digest, left, marks = hashlib.sha256(), n, []
    while left:
        piece = connection.recv(min(left, 1 << 20))
        if not piece:
            break
        digest.update(piece)
        left -= len(piece)
        marks.append((time.monotonic(), n - left))
    later = [mark for mark in marks if mark[1] >= n / 4]
    (t0, b0), (t1, b1) = later[0], later[-1]
    return digest.hexdigest(), (b1 - b0) * 8 / (t1 - t0) if t1 > t0 else 0


def line_of(connection):
    line = b""
    while not line.endswith(b"\n"):
        line += connection.recv(1)
    return line.decode().split()


def serve_one(connection):
    words = line_of(connection)
    if words[0] == "send":
        answer = receive(connection, int(words[1]))
    elif words[0] == "receive":
        answer = send(connection, int(words[1])), 0
    else:
        answer = errors()
    connection.sendall(json.dumps(answer).encode() + b"\n")
    connection.close()


def far():
    datagrams = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    datagrams.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
    datagrams.bind(("", PORT))

    def echo():
        while True:
            data, address = datagrams.recvfrom(65536)
            datagrams.sendto(data, address)

    threading.Thread(target=echo, daemon=True).start()
    listener = socket.create_server(("", PORT), family=socket.AF_INET6, dualstack_ipv6=True)
    while True:
        threading.Thread(target=serve_one, args=(listener.accept()[0],), daemon=True).start()


def ask(family, *words):
    """A connection to far that has been told what to do. Always cubic: the host's default may be another."""
    connection = socket.socket(socket.AF_INET6 if family == "6" else socket.AF_INET)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    connection.connect((FAR[family], PORT))
    connection.sendall((" ".join(words) + "\n").encode())
    return connection


def answer_of(connection):
    text = b""
    while not text.endswith(b"\n"):
        text += connection.recv(65536)
    return json.loads(text)


def transfer(family, direction, n):
    """n bytes to or from far; returns whether they arrived as they were and the rate at which far read them."""
    connection = ask(family, direction, n)
    if direction == "send":
        mine, (theirs, rate) = send(connection, int(n)), answer_of(connection)
    else:
        mine, rate = receive(connection, int(n))
        theirs, _ = answer_of(connection)
    return {"equal": mine == theirs, "rate_bps": rate}


def both_errors():
    mine, my_retrans = errors()
    theirs, far_retrans = answer_of(ask("4", "errors"))
    return {"near": mine, "far": theirs, "retrans": [my_retrans, far_retrans]}


def datagram_socket(family="4", timeout=0.5):
    connection = socket.socket(socket.AF_INET6 if family == "6" else socket.AF_INET, socket.SOCK_DGRAM)
    connection.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)
    connection.connect((FAR[family], PORT))
    connection.settimeout(timeout)
    return connection


def rtt(n, size, gap_s):
    """Round-trip times of n datagrams, in seconds, in ascending order."""
    connection, found = datagram_socket(timeout=5), []
    for _ in range(int(n)):
        started = time.perf_counter()
        connection.send(bytes(int(size)))
        connection.recv(65536)
        found.append(time.perf_counter() - started)
        time.sleep(float(gap_s))
    return {"rtt_s": sorted(found)}


def burst(n, size, window):
    """Numbered datagrams, `window` at a time; which came back, in order of arrival."""
    connection, back, window = datagram_socket(timeout=0.1), [], int(window)
    for first in range(0, int(n), window):
        for i in range(first, min(first + window, int(n))):
            connection.send(i.to_bytes(4, "big") + bytes(int(size) - 4))
        for _ in range(window):
            try:
                back.append(int.from_bytes(connection.recv(65536)[:4], "big"))
            except TimeoutError:
                break
    try:
        while True:  # what came twice
            back.append(int.from_bytes(connection.recv(65536)[:4], "big"))
    except TimeoutError:
        return {"back": back}


def segmented(family, n, size):
    """One send of n datagrams by UDP segmentation offload; how many came back as they were."""
    connection = datagram_socket(family)
    connection.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, int(size))
    parts = [i.to_bytes(4, "big") + BLOCK[i:i + int(size) - 4] for i in range(int(n))]
    connection.send(b"".join(parts))
    back = []
    try:
        while True:
            back.append(connection.recv(65536))
    except TimeoutError:
        pass
    return {"n": len(back), "right": sum(part in parts for part in back)}


def netstat(name):
    """A counter of /proc/net/netstat, as TcpExt.TCPDeliveredCE."""
    kind, key = name.split(".")
    with open("/proc/net/netstat", encoding="ascii") as table:
        names, values = [line.split()[1:] for line in table if line.startswith(kind + ":")]
    return int(values[names.index(key)])


def options():
    """The TCP options that a connection to far has agreed on (tcpi_options: 1 timestamps, 2 SACK, 4 window scale, 8 ECN)."""
    return ask("4", "errors").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[5]


def records(n, size, seconds):
    """Records of `size` bytes, each sent when the one before is acknowledged (as with SO_SNDBUF 0 on Windows); how many
    a second, after the first."""
    connection, times = ask("4", "send", str(int(n) * int(size))), []
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    until = time.monotonic() + float(seconds)
    for _ in range(int(n)):
        connection.sendall(bytes(int(size)))
        while struct.unpack("i", fcntl.ioctl(connection, 0x5411, bytes(4)))[0]:  # SIOCOUTQ
            time.sleep(0.0002)
        times.append(time.monotonic())
        if times[-1] > until:
            break
    return {"per_s": (len(times) - 1) / (times[-1] - times[0])}


TASKS = {"records": records, "netstat": netstat, "options": options, "transfer": transfer, "rtt": rtt, "burst": burst, "segmented": segmented, "errors": both_errors}

if __name__ == "__main__":
    if sys.argv[1] == "far":
        far()
    # near TASK:word:word TASK...
    print(json.dumps([TASKS[task.split(":")[0]](*task.split(":")[1:]) for task in sys.argv[2:]]))
