# SPDX-License-Identifier: MIT
"""The elements of the link, measured from outside: what each does to packets of programs that know nothing of it."""
import glob
import json
import math
import os
import re

import pytest

from lab_peer import TASKS
from lab_util import HERE, NEEDS, PYTHON, lab, python_far

pytestmark = NEEDS


def drive(*arguments):
    """Link options, then tasks for lab_peer.py; returns their results and the counters that --stats printed."""
    tasks = [word for word in arguments if word.split(":")[0] in TASKS and not word.startswith("-")]
    options = [word for word in arguments if word not in tasks]
    done = lab(*options, "--stats", "--far-cmd", python_far("lab_peer.py", "far"), "--", PYTHON,
               os.path.join(HERE, "lab_peer.py"), "near", *tasks)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def counted(stats, words):
    """Segments of which --stats says so, of both directions."""
    return sum(int(n) for n in re.findall(rf"(\d+) segments {words}", stats))


def test_each_element_has_its_page():
    root = os.path.join(HERE, "..", "..")
    row = re.compile(r'^const struct wr_lab_element wr_lab_element_\w+ = \{\n\t\.name = "([\w-]+)"', re.M)
    names = set()
    for path in glob.glob(os.path.join(root, "src/lab/*.c")):
        with open(path, encoding="utf-8") as source:
            names.update(row.findall(source.read()))
    pages = {os.path.basename(path)[:-3] for path in glob.glob(os.path.join(root, "docs/elements/*.md"))} - {"README"}
    assert names == pages and len(pages) > 15


def test_bursts_of_loss():
    n = 20000
    (result,), stats = drive("--near-loss", "ge:p=0.5%,r=30%", f"burst:{n}:100:500")
    lost = n - len(result["back"])
    assert lost == counted(stats, "dropped by loss")
    gaps = [b - a - 1 for a, b in zip([-1] + result["back"], result["back"] + [n]) if b - a > 1]
    share = 0.005 / 0.305
    # losses come in bursts of 3.3, so their number varies (2 - r - p) / (r + p) = 5.6 times as much as a binomial one
    assert abs(lost - n * share) < 2.58 * math.sqrt(n * share * (1 - share) * 5.6)
    assert 2.6 < lost / len(gaps) < 4.2


def test_each_nth_is_lost():
    (result,), _ = drive("--near-loss", "every:50", "burst:1000:100:100")
    assert result["back"] == [i for i in range(1000) if i % 50 != 49]


def test_super_packets_are_lost_and_small_ones_are_not():
    # The whole transfer survives by retransmissions of single segments.
    (small, sent, errors), stats = drive("--near-loss", "gso:20%", "burst:500:100:100", "transfer:4:send:1000000", "errors")
    assert len(small["back"]) == 500 and sent["equal"]
    assert counted(stats, "dropped by loss") > 0 and not any(errors["far"].values())


def test_duplicates_arrive():
    (result,), stats = drive("--near-duplicate", "10%", "burst:1000:100:50")
    assert len(result["back"]) - 1000 == counted(stats, "duplicated")
    assert set(result["back"]) == set(range(1000)) and 60 < counted(stats, "duplicated") < 140


@pytest.mark.parametrize("options", [["--duplicate", "5%"], ["--duplicate", "5%", "--rate", "200mbit", "--reorder", "1%"],
                                     ["--delay", "3ms", "--jitter", "1ms,normal,reorder"], ["--loss", "gso:3%"],
                                     ["--loss", "ge:p=0.2%,r=30%", "--offload", "off"]], ids=" ".join)
def test_tcp_survives_unharmed(options):
    results, _ = drive(*options, "transfer:4:send:2000000", "transfer:6:receive:2000000", "errors")
    assert all(result["equal"] for result in results[:2])
    assert not any(results[2]["near"].values()) and not any(results[2]["far"].values())


def test_late_ones_are_overtaken():
    (result,), stats = drive("--rate", "20mbit", "--queue", "4M", "--near-reorder", "2%,by=3", "burst:1000:1400:1000")
    back = result["back"]
    n_late = sum(1 for i in range(1, len(back)) if back[i] < max(back[:i]))
    assert sorted(back) == list(range(1000)) and n_late == pytest.approx(counted(stats, "held back"), abs=2)
    # the place that a packet has lost: three others have gone before it
    distances = sorted(back.index(i) - i for i in set(back) if back.index(i) - i > 1)
    assert distances and distances[len(distances) // 2] in (2, 3)


def test_jitter_spreads_the_round_trips():
    (result,), _ = drive("--near-delay", "20ms", "--near-jitter", "10ms", "rtt:150:100:0")
    times = result["rtt_s"]
    # A busy machine is late by milliseconds, never early.
    assert 0.010 <= times[0] < 0.015 and 0.0275 < times[-1] < 0.045
    assert times[75] == pytest.approx(0.020, abs=0.006)


def test_a_policer_drops_what_exceeds_it():
    (result,), stats = drive("--near-police", "1mbit,burst=10660", "burst:100:1000:100")
    # ten frames of 1066 bytes, and one each 8.5 ms while the burst is being written
    assert 10 <= len(result["back"]) <= 13 and result["back"][:10] == list(range(10))
    assert counted(stats, "dropped by police") == 100 - len(result["back"])


def test_an_outage_holds_packets_or_loses_them():
    (held,), _ = drive("--near-outage", "0,for=2500ms,hold", "--near-rate", "10mbit", "rtt:1:100:0")
    assert 0.1 < held["rtt_s"][0] < 2.5
    (lost,), stats = drive("--near-outage", "0,for=10s", "burst:5:100:5")
    assert lost["back"] == [] and counted(stats, "dropped by outage") >= 5


def test_codel_keeps_the_delay_short():
    queue = ["--rate", "20mbit", "--rtt", "10ms", "--queue", "1M"]
    (plain,), _ = drive(*queue, "transfer:4:send:6000000")
    (short,), stats = drive(*queue, "--codel", "5ms", "transfer:4:send:6000000")
    assert plain["equal"] and short["equal"] and counted(stats, "dropped by codel") > 0
    assert short["rate_bps"] > 0.8 * 1448 / 1538 * 20e6


def test_a_rate_follows_its_file(tmp_path):
    file = tmp_path / "rates"
    file.write_text("0 5mbit\n50ms 20mbit\n100ms repeat\n")
    (result,), _ = drive("--rate-file", str(file), "--queue", "200ms", "transfer:4:send:4000000")
    assert result["equal"] and result["rate_bps"] == pytest.approx(1448 / 1538 * 12.5e6, rel=0.03)


def test_a_queue_in_packets():
    (result,), stats = drive("--near-rate", "1mbit", "--near-queue", "50p", "burst:200:1000:200")
    assert 50 <= len(result["back"]) <= 58 and result["back"][:50] == list(range(50))
    assert counted(stats, "dropped by queue") == 200 - len(result["back"])


def test_a_queue_marks_instead_of_dropping():
    (sent, marked), stats = drive("--rate", "20mbit", "--rtt", "10ms", "--queue", "1M", "--near-ecn", "60K", "--sysctl",
                                  "near:net.ipv4.tcp_ecn=1", "transfer:4:send:4000000", "netstat:TcpExt.TCPDeliveredCE")
    assert sent["equal"] and marked > 0 and "dropped" not in stats
    assert counted(stats, "marked by ECN") > 0  # the sender counts all that is acknowledged until it has answered
    assert re.search(r"queue +(6\d|[7-9]\d|1\d\d)(\.\d)? KiB at most", stats), stats


def test_only_what_reacts_is_marked():
    _, stats = drive("--rate", "20mbit", "--near-ecn", "20K", "transfer:4:send:500000")
    assert counted(stats, "marked") == 0


@pytest.mark.parametrize("offload", ["on", "off"])
def test_the_receiver_finds_flipped_bits(offload):
    results, stats = drive("--near-corrupt", "1%", "--offload", offload, "transfer:4:send:3000000", "transfer:6:send:3000000",
                           "errors")
    assert results[0]["equal"] and results[1]["equal"]
    found = results[2]["far"]["Tcp.InCsumErrors"]
    # A flip in the ports or flags may end a packet before its checksum is looked at.
    assert 0.9 * counted(stats, "corrupted") <= found <= counted(stats, "corrupted") and found > 5


def test_a_path_mtu_is_found_by_icmp():
    for family in "46":
        (sent,), stats = drive("--near-path-mtu", "1400", f"transfer:{family}:send:2000000")
        assert sent["equal"]
        assert 0 < counted(stats, "dropped by path-mtu") < 500 and "answers that a packet was too large" in stats


def test_a_black_hole_says_nothing():
    (small, large), stats = drive("--near-path-mtu", "1400,blackhole", "burst:20:1300:20", "burst:20:1450:20")
    assert len(small["back"]) == 20 and large["back"] == []
    assert counted(stats, "dropped by path-mtu") == 20 and "ICMP" not in stats


def test_the_window_scale_is_stripped():
    (plain,), _ = drive("options")
    assert plain & 4
    for offload in ("on", "off"):
        (stripped, sent, errors), stats = drive("--near-strip-wscale", "--offload", offload, "options",
                                                "transfer:4:send:1000000", "errors")
        assert not stripped & 4 and sent["equal"] and counted(stats, "stripped") == 3
        assert not any(errors["far"].values()), errors


@pytest.mark.parametrize("policy,per_s", [("microsoft", 5.0), ("timer=50ms,count=2", 20.0)])
def test_an_ack_is_held(policy, per_s):
    (result,), stats = drive("--ack-policy", policy, "records:1000:60:2.5")
    assert result["per_s"] == pytest.approx(per_s, rel=0.04)
    assert counted(stats, "held as the ACK policy says") >= 2 * per_s


def test_an_ack_policy_leaves_bulk_transfers_alone():
    results, _ = drive("--ack-policy", "microsoft", "--rate", "200mbit", "transfer:4:send:4000000", "transfer:6:receive:4000000",
                       "errors")
    assert all(result["equal"] for result in results[:2]) and not any(results[2]["far"].values())
    assert results[0]["rate_bps"] > 0.9 * 1448 / 1538 * 200e6


def test_a_slow_device_drops_what_its_queue_does_not_hold():
    (burst,), stats = drive("--near-rate", "1mbit", "--near-txqueuelen", "20", "burst:100:1000:100")
    # 20 in the device, one that is being sent, and those that leave while the burst is being written
    assert 20 <= len(burst["back"]) <= 26 and "dropped" not in stats
    assert int(re.search(r"lost +(\d+) packets in the sender's device", stats).group(1)) == 100 - len(burst["back"])
    (sent,), stats = drive("--rate", "50mbit", "--rtt", "4ms", "--near-txqueuelen", "30", "transfer:4:send:6000000")
    assert sent["equal"] and sent["rate_bps"] == pytest.approx(1448 / 1538 * 50e6, rel=0.05)


@pytest.mark.parametrize("options,words", [
    (["--loss", "ge:p=1%"], ["--loss", "r="]),
    (["--far-jitter", "5ms"], ["--far-jitter", "delay"]),
    (["--codel", "5ms"], ["--codel", "--rate"]),
    (["--outage", "1s"], ["--outage", "for="]),
    (["--rate-file", "/nonexistent"], ["--rate-file", "No such file"]),
], ids=lambda words: " ".join(words))
def test_nonsense_is_one_line_and_a_hint(options, words):
    done = lab(*options, "--", "true")
    assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) <= 2
    assert all(word in done.stderr for word in words), done.stderr
