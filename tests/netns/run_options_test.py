# SPDX-License-Identifier: MIT
"""Options of weir run whose effect needs a path to show."""

import json
import re

import pytest

import schema
from weirtest import LAB_ENVIRONMENT, WEIR, call, lab, needs_lab

pytestmark = needs_lab


def run(link, args):
    outcome = lab(link, WEIR, "run", "far", "--json", *args.split())
    assert outcome.code == 0, outcome
    schema.check_run(outcome.json)
    return outcome.json


def segment_bytes(link, args, tmp_path):
    """Payload of a segment that the sender sent, by its kernel's counters."""
    path = tmp_path / "evidence.json"
    run(link, f"{args} --evidence {path}")
    samples = json.loads(path.read_text())["near"]["connections"][0]["samples"]
    last = dict(zip(samples["metrics"], samples["rows"][-1]))
    return last["bytes_sent"] / last["data_segs_out"]


@pytest.mark.parametrize("args,moved", [("-n 4M", 4 << 20), ("-n 4M -R", 4 << 20), ("-n 4000001 -l 1K", 4000001),
                                        ("-n 4M -P 4", 4 << 20), ("-n 4M -6", 4 << 20)])
def test_bytes_arrive_whole(args, moved):
    result = run("--rate 100mbit --rtt 10ms --loss 0.1%", args)
    assert result["bytes"] == moved and result["complete"]


def test_nodelay_sends_small_writes_at_once(tmp_path):
    """100-byte writes, one a millisecond, on a path of 40 ms: Nagle gathers them, TCP_NODELAY doesn't."""
    link, args = "--rate 100mbit --rtt 40ms", "-t 1 -l 100 -b 800K"
    assert segment_bytes(link, args + " -N", tmp_path) < 200
    assert segment_bytes(link, args, tmp_path) > 400


def test_own_length_is_exact_and_its_leak_is_said():
    """Writes of 64K leave a tail that Nagle holds, by which SO_SNDBUF is passed; weir's own default doesn't."""
    for length, leaks in (("-l 64K", True), ("", False)):
        outcome = lab("--rate 100mbit --rtt 60ms", WEIR, "run", "far", "-t", "2", "--sndbuf", "64K", *length.split())
        assert outcome.code == 0
        assert bool(re.search(r"^Note .*SO_SNDBUF", outcome.out, re.M)) == leaks, outcome.out


def test_streams_share_the_path():
    """Four connections of one path get a like share each, and together what it carries."""
    result = run("--rate 80mbit --rtt 20ms", "-t 4 -P 4")
    rates = [stream["throughput_bps"] for stream in result["streams"]]
    assert 70e6 < sum(rates) < 77e6
    assert min(rates) > max(rates) / 8


def test_pace_is_a_connections():
    result = run("--rate 100mbit --rtt 10ms", "-t 1.5 -P 3 -b 10mbit")
    assert 27e6 < result["throughput_bps"] < 33e6


def test_bind_chooses_the_local_address():
    """Its family chooses far's address, too."""
    for address, local in (("198.18.0.1", "198.18.0.1:"), ("2001:2::1", "[2001:2::1]:")):
        result = run("--rate 100mbit", f"-B {address} -t 0.3")
        assert result["near"]["local"].startswith(local) and result["plan"]["bind"] == address


def test_bind_that_leads_nowhere():
    """An address that far can't answer: the timeout is said, not that far's other address is of another family."""
    outcome = call(WEIR, "lab", "--", "sh", "-c", "ip addr add 203.0.113.9/32 dev lo && "
                   "exec weir run far -B 203.0.113.9 --connect-timeout 0.5", env=LAB_ENVIRONMENT)
    assert outcome.code == 4 and "did not answer" in outcome.err, outcome


def test_clamp_names_its_sysctl():
    """More than net.core.wmem_max asked of a host without privilege to force it."""
    with open("/proc/sys/net/core/wmem_max", encoding="ascii") as source:
        most = int(source.read())
    outcome = lab("--rate 100mbit --rtt 10ms", WEIR, "run", "far", "-t", "0.5", "--sndbuf", str(2 * most))
    assert outcome.code == 0
    assert "net.core.wmem_max on near" in outcome.out and "Clamped" in outcome.out


def test_next_step_is_named():
    for args, words in (([], "-R tests the other direction"), (["-R"], "without -R")):
        outcome = lab("--rate 100mbit --rtt 10ms", WEIR, "run", "far", "-t", "0.5", *args)
        assert words in outcome.out, outcome.out


def test_mss_is_the_segments_size(tmp_path):
    """-M holds in both directions, whoever sends."""
    for args in ("-t 0.5 -M 700", "-t 0.5 -M 700 -R"):
        assert 650 <= run("--rate 100mbit --rtt 10ms", args)["path"]["mss_bytes"] <= 700
    assert 600 < segment_bytes("--rate 100mbit --rtt 10ms", "-t 0.5 -M 700", tmp_path) <= 700


def test_cork_holds_small_writes_together(tmp_path):
    """100-byte writes, one a millisecond, on a path without delay: corked they leave as full segments."""
    args = "-t 1 -l 100 -b 800K"
    assert segment_bytes("--rate 100mbit", args + " --cork", tmp_path) > 1000
    assert segment_bytes("--rate 100mbit", args, tmp_path) < 500


def test_notsent_lowat_keeps_little_unsent(tmp_path):
    def unsent(args):
        path = tmp_path / "evidence.json"
        run("--rate 50mbit --rtt 20ms", f"-t 2 --evidence {path} {args}")
        samples = json.loads(path.read_text())["near"]["connections"][0]["samples"]
        place = samples["metrics"].index("notsent_bytes")
        values = sorted(row[place] for row in samples["rows"][len(samples["rows"]) // 2:])
        return values[len(values) // 2]
    assert unsent("--notsent-lowat 16K") < 150000 < unsent("")
