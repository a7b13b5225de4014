# SPDX-License-Identifier: MIT
"""Captures of the link, read block by block: what Wireshark would read, and that it tells the truth."""
import os
import shutil
import struct
import subprocess

import pytest

from lab_util import HERE, NEEDS, PYTHON, alone, lab, python_far

pytestmark = NEEDS


def transfer(*options):
    done = lab(*options, "--stats", "--far-cmd", python_far("lab_peer.py", "far"), "--", PYTHON,
               os.path.join(HERE, "lab_peer.py"), "near", "transfer:4:send:1000000", "transfer:6:receive:300000")
    assert done.returncode == 0, done.stderr
    return done.stderr


def blocks(file):
    """(type, body) of each block; both lengths agree."""
    data, at = file.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length % 4 == 0 and struct.unpack_from("<I", data, at + length - 4)[0] == length
        yield kind, data[at + 8:at + length - 4]
        at += length
    assert at == len(data)


def packets(file):
    """(interface, stamp in ns, packet) of each."""
    kinds = list(blocks(file))
    assert kinds[0][0] == 0x0A0D0D0A and kinds[0][1][:4] == struct.pack("<I", 0x1A2B3C4D)
    interfaces = [body for kind, body in kinds if kind == 1]
    assert [body[12:16].rstrip(b"\0")[:4] for body in interfaces] == [b"near", b"far"]
    found = []
    for kind, body in kinds[3:]:
        assert kind == 6
        end, high, low, captured, original = struct.unpack_from("<IIIII", body)
        assert captured == original and len(body) == 20 + (captured + 3) // 4 * 4
        found.append((end, high << 32 | low, body[20:20 + captured]))
    return found


def checksum(data, start=0):
    total = start + sum(struct.unpack(f">{len(data) // 2}H", data[:len(data) // 2 * 2])) + (data[-1] << 8 if len(data) % 2 else 0)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def assert_right(packet):
    """An IP packet of at most the MTU whose checksums are complete."""
    assert len(packet) <= 1500
    if packet[0] >> 4 == 4:
        assert struct.unpack_from(">H", packet, 2)[0] == len(packet) and checksum(packet[:20]) == 0xFFFF
        protocol, addresses, rest = packet[9], packet[12:20], packet[20:]
    else:
        protocol, addresses, rest = packet[6], packet[8:40], packet[40:]
    if protocol in (6, 17):
        assert checksum(rest, checksum(addresses) + protocol + len(rest)) == 0xFFFF


def test_both_directions_in_one_file(tmp_path):
    file = tmp_path / "both.pcapng"
    stats = transfer("--rate", "100mbit", "--rtt", "4ms", "--pcap", str(file))
    found = packets(file)
    for _, _, packet in found:
        assert_right(packet)
    for end, name in enumerate(("near", "far")):
        mine = [(stamp, packet) for sender, stamp, packet in found if sender == end]
        stamps = [stamp for stamp, _ in mine]
        assert stamps == sorted(stamps)
        # No two full segments leave closer together than the rate lets them.
        full = [b - a for (a, _), (b, packet) in zip(mine, mine[1:]) if len(packet) == 1500]
        assert min(full) >= 1538 * 80 - 1 and sorted(full)[len(full) // 4] <= 1538 * 80 + 1, (name, min(full))
    delivered = sum(int(line.split(", ")[1].split()[0]) for line in stats.splitlines() if " delivered " in line)
    assert len(found) == delivered


@pytest.mark.parametrize("options", [
    ["--rate", "100mbit", "--rtt", "4ms"],
    ["--rate", "50mbit", "--near-delay", "20ms", "--far-delay", "1ms"],
    ["--rate", "50mbit", "--rtt", "20ms", "--jitter", "5ms,normal,reorder", "--reorder", "1%,late=8ms"],
    [],
], ids=" ".join)
def test_packets_stand_in_the_order_in_which_they_left(options, tmp_path):
    """Whatever the delays do to their order of arrival, and nothing is lost or invented on the way."""
    file = tmp_path / "both.pcapng"
    stats = transfer(*options, "--pcap", str(file))
    found = packets(file)
    stamps = [stamp for _, stamp, _ in found]
    assert stamps == sorted(stamps)
    assert {sender for sender, _, _ in found} == {0, 1}
    assert len(found) == sum(int(line.split(", ")[1].split()[0]) for line in stats.splitlines() if " delivered " in line)


def test_one_direction_alone(tmp_path):
    file = tmp_path / "far.pcapng"
    transfer("--far-pcap", str(file))
    assert {sender for sender, _, _ in packets(file)} == {1}


@pytest.mark.skipif(not shutil.which("capinfos"), reason="capinfos (Debian: wireshark-common) is not installed")
def test_wireshark_reads_it(tmp_path):
    file = tmp_path / "both.pcapng"
    transfer("--near-delay", "5ms", "--pcap", str(file))
    done = subprocess.run(["capinfos", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "nanoseconds" in done.stdout and done.stderr == ""
    assert "Strict time order:   True" in done.stdout


def test_a_file_that_can_not_be_written():
    done = alone("--pcap", "/nonexistent/file", "--", "true")
    assert done.returncode == 2 and "/nonexistent/file" in done.stderr and done.stdout == ""
