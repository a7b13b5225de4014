# SPDX-License-Identifier: MIT
"""The link, measured from outside: rate, delay, queue, loss and seeds, and that everything arrives as it was sent."""
import json
import math
import os
import re
import shutil

import pytest

from lab_peer import TASKS
from lab_util import HERE, NEEDS, PYTHON, lab, python_far

pytestmark = NEEDS


def drive(*arguments):
    """Link options, then tasks for lab_peer.py; returns their results and the counters that --stats printed."""
    tasks = [word for word in arguments if word.split(":")[0] in TASKS]
    options = [word for word in arguments if word not in tasks]
    done = lab(*options, "--stats", "--far-cmd", python_far("lab_peer.py", "far"), "--", PYTHON,
               os.path.join(HERE, "lab_peer.py"), "near", *tasks)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def dropped(stats, cause):
    """Segments that a cause dropped, of both directions."""
    return sum(int(n) for n in re.findall(rf"(\d+) segments dropped by {cause}", stats))


def assert_clean(errors):
    """No end counted a wrong checksum, a broken header or a packet that its device had no room for."""
    for end in ("near", "far"):
        assert not any(errors[end].values()), errors


def assert_rates(options, transfers):
    """Each transfer of {task: bit/s of payload} gets its rate within 1 %. A sender that lacks the CPU gets less and may
    try again; the link may never carry more."""
    for last in (False, False, True):
        results, _ = drive(*options, *transfers)
        rates = [result["rate_bps"] for result in results]
        assert all(rate < 1.01 * expected for rate, expected in zip(rates, transfers.values())), rates
        if last:
            assert rates == pytest.approx(list(transfers.values()), rel=0.01)
        if rates == pytest.approx(list(transfers.values()), rel=0.01):
            return


TRANSFERS = ["transfer:4:send:4000000", "transfer:4:receive:4000000", "transfer:6:send:4000000", "transfer:6:receive:4000000"]


@pytest.mark.parametrize("options", [
    [],
    ["--offload", "off"],
    ["--mtu", "9000"],
    ["--mtu", "1280"],
    ["--mtu", "65535"],
    ["--rate", "300mbit", "--rtt", "2ms"],
    ["--rate", "300mbit", "--rtt", "4ms", "--loss", "1%"],
    ["--rate", "300mbit", "--rtt", "4ms", "--loss", "1%", "--offload", "off"],
    ["--rate", "300mbit", "--rtt", "4ms", "--queue", "30K"],
    ["--rate", "300mbit", "--rtt", "4ms", "--queue", "100K", "--mtu", "9000", "--loss", "0.5%"],
    ["--rate", "300mbit", "--rtt", "4ms", "--queue", "30K", "--mtu", "1280", "--offload", "off"],
], ids=" ".join)
def test_what_arrives_is_what_was_sent(options):
    results, stats = drive(*options, *TRANSFERS, "errors")
    assert all(result["equal"] for result in results[:-1])
    assert_clean(results[-1])
    lossy = "--loss" in options or "--queue" in options
    assert bool(dropped(stats, "loss")) == ("--loss" in options)
    assert ("dropped" in stats) == lossy
    assert sum(results[-1]["retrans"]) > 0 or not lossy
    assert "refused" not in stats


@pytest.mark.parametrize("options", [["--offload", "on"], ["--offload", "off"], ["--offload", "on", "--near-loss", "0.01%"]],
                         ids=" ".join)
def test_100_mbit_carry_94_of_payload(options):
    assert_rates(["--rate", "100mbit", "--rtt", "5ms", *options], {"transfer:4:send:20000000": 1448 / 1538 * 100e6})


@pytest.mark.parametrize("mtu", [9000, 1280])
def test_the_share_of_payload_follows_the_mtu(mtu):
    assert_rates(["--rate", "100mbit", "--rtt", "4ms", "--mtu", str(mtu)],
                 {"transfer:4:send:10000000": (mtu - 52) / (mtu + 38) * 100e6,
                  "transfer:6:receive:10000000": (mtu - 72) / (mtu + 38) * 100e6})


def test_each_direction_has_its_own_rate():
    assert_rates(["--near-rate", "20mbit", "--far-rate", "80mbit", "--rtt", "4ms"],
                 {"transfer:4:send:3000000": 1448 / 1538 * 20e6, "transfer:4:receive:10000000": 1448 / 1538 * 80e6})


@pytest.mark.parametrize("options,expected_s", [
    (["--rtt", "20ms"], 0.020),
    (["--near-delay", "3ms", "--far-delay", "9ms"], 0.012),
    # 1000 bytes of payload are 1066 on the wire, both ways
    (["--rate", "1mbit"], 2 * 1066 * 8 / 1e6),
    (["--rate", "1mbit", "--rtt", "10ms"], 0.010 + 2 * 1066 * 8 / 1e6),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_the_round_trip_takes_what_was_asked(options, expected_s):
    (result,), _ = drive(*options, "rtt:40:1000:0.002")
    assert expected_s <= result["rtt_s"][0] < expected_s + 0.001
    assert result["rtt_s"][20] < expected_s + 0.002


def test_the_queue_holds_what_it_is_told():
    (result,), stats = drive("--near-rate", "1mbit", "--near-queue", "106600", "burst:400:1000:400")
    # 100 fit; a few more leave while the burst is being written
    assert 100 <= len(result["back"]) <= 108
    assert result["back"][:100] == list(range(100))
    assert dropped(stats, "queue") == 400 - len(result["back"])


def test_a_queue_in_milliseconds_bounds_the_delay():
    (result,), stats = drive("--rate", "20mbit", "--rtt", "10ms", "--queue", "25ms", "transfer:4:send:6000000")
    assert result["equal"] and dropped(stats, "queue") > 0
    assert re.search(r"queue +61\.0 KiB at most", stats), stats  # 20 Mbit/s x 25 ms


def test_loss_has_its_share():
    n, share = 10000, 0.02
    (result,), stats = drive("--near-loss", "2%", f"burst:{n}:100:500")
    lost = n - len(result["back"])
    assert lost == dropped(stats, "loss")
    assert abs(lost - n * share) < 3.3 * math.sqrt(n * share * (1 - share))  # binomial, 99.9 %


def test_the_same_seed_loses_the_same_packets():
    def fate(seed):
        return drive("--near-loss", "5%", "--seed", seed, "burst:1000:100:500")[0][0]["back"]

    assert fate("1") == fate("1")
    assert fate("1") != fate("2")


@pytest.mark.parametrize("options", [[], ["--near-rate", "50mbit", "--near-queue", "20800"], ["--offload", "off"]], ids=" ".join)
def test_udp_segmentation_is_cut_right(options):
    results, stats = drive(*options, "segmented:4:40:1000", "segmented:6:40:1000", "errors")
    assert_clean(results[-1])
    for result in results[:2]:
        assert result["right"] == result["n"]
        # 20800 bytes hold 19 frames of 1066 (IPv4) or 1086; what leaves meanwhile makes room for one or two
        assert 19 <= result["n"] <= 21 if "--near-queue" in options else result["n"] == 40
    assert (dropped(stats, "queue") > 0) == ("--near-queue" in options)


def test_nothing_is_lost_that_was_not_asked_for():
    for options in ([], ["--offload", "off"], ["--rtt", "10ms"]):
        results, stats = drive(*options, "--sysctl", "near:net.ipv4.tcp_wmem=4096 16384 67108864",
                               "--sysctl", "far:net.ipv4.tcp_rmem=4096 131072 67108864", "transfer:4:send:200000000", "errors")
        assert results[0]["equal"] and "dropped" not in stats
        assert_clean(results[1])


@pytest.mark.skipif(not shutil.which("iperf3"), reason="iperf3 is not installed")
@pytest.mark.parametrize("congestion", ["cubic", "bbr"])
def test_another_program_finds_far_and_gets_its_rate(congestion):
    with open("/proc/sys/net/ipv4/tcp_available_congestion_control", encoding="ascii") as names:
        if congestion not in names.read().split():
            pytest.skip(f"this kernel has no {congestion}")
    done = lab("--rate", "100mbit", "--rtt", "10ms", "--far-cmd", "exec iperf3 -s", "--", "iperf3", "-c", "far", "-t", "2",
               "-O", "1", "-J", "-C", congestion)
    received = json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"]
    assert received == pytest.approx(1448 / 1538 * 100e6, rel=0.01)
