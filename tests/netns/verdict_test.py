# SPDX-License-Identifier: MIT
"""Every verdict on a path where its cause is known, forward and with -R and every option swapped.

What is judged are causes, sides and shares, and rates against what the path or the buffer lets through, widely.
"""
import dataclasses
import re

import pytest

import schema
from weirtest import LAB_ENVIRONMENT, WEIR, call, needs_lab

pytestmark = needs_lab

SENDER, RECEIVER, PATH = "sender", "receiver", "path"
# TCP payload of a full Ethernet frame with timestamps, of all that it takes on the wire.
PAYLOAD_SHARE = 1448 / 1538


@dataclasses.dataclass
class Case:
    """What is run, forward, and what must come of it."""
    link: str
    args: str
    cause: str
    side: str
    share: float = 0.8
    refused: bool = False
    companion: str = ""
    evidence: tuple = ()
    mbps: tuple = (0, 1e9)


FULL = "--rate 100mbit --rtt 20ms"
WIDE = "--rate 200mbit --rtt 60ms"
CASES = {
    "sndbuf pinned": Case("--rate 100mbit --rtt 40ms", "-t 2.5 --sndbuf 64K", "sndbuf-limited", SENDER,
                          evidence=(("sndbuf_eff_bytes", 131072, 131072), ("in_flight_ratio", 0.8, 1.25)), mbps=(8, 50)),
    "sndbuf pinned, bbr": Case("--rate 100mbit --rtt 40ms", "-t 2.5 --sndbuf 64K -C bbr", "sndbuf-limited", SENDER,
                               mbps=(8, 50)),
    "sndbuf at tcp_wmem": Case(WIDE + " --sysctl near:net.ipv4.tcp_wmem=4096,16384,524288", "-t 3", "sndbuf-limited", SENDER,
                               companion="sysctl-capped", evidence=(("net.ipv4.tcp_wmem", 524288, 524288),), mbps=(20, 120)),
    "rcvbuf pinned": Case("--rate 100mbit --rtt 40ms", "-t 2.5 --far-rcvbuf 64K", "rcvbuf-limited", RECEIVER,
                          evidence=(("window_ratio", 0.85, 1.2), ("rcvbuf_eff_bytes", 131072, 131072)), mbps=(10, 25)),
    "rcvbuf at tcp_rmem": Case(WIDE + " --sysctl far:net.ipv4.tcp_rmem=4096,131072,524288", "-t 3", "rcvbuf-limited",
                               RECEIVER, companion="sysctl-capped", evidence=(("net.ipv4.tcp_rmem", 524288, 524288),),
                               mbps=(25, 80)),
    "slow reader": Case(FULL, "-t 2.5 --far-read-rate 20mbit", "reader-limited", RECEIVER, refused=True,
                        evidence=(("receive_queue_ratio", 0.25, 1.6),), mbps=(17, 23)),
    "slow reader, small window": Case(FULL, "-t 2.5 --far-read-rate 20mbit --far-rcvbuf 128K", "reader-limited", RECEIVER,
                                      share=0.6, refused=True, mbps=(15, 23)),
    "slow writer": Case(FULL, "-t 2.5 -b 20mbit", "writer-limited", SENDER, refused=True, mbps=(17, 23)),
    "full path": Case(FULL, "-t 3", "path-limited", PATH, refused=True, companion="bufferbloat",
                      evidence=(("in_flight_ratio", 1.25, 20),), mbps=(88, 96)),
    "full path, bbr": Case(FULL, "-t 2.5 -C bbr", "path-limited", PATH, refused=True, mbps=(80, 96)),
    "long queue": Case("--rate 10mbit --rtt 20ms --queue 1M", "-t 4", "bufferbloat", PATH, refused=True,
                       companion="path-limited", evidence=(("queue_us", 100000, 2e6),), mbps=(8, 9.6)),
    "1 % loss": Case(FULL + " --loss 1%", "-t 4", "loss-limited", PATH, refused=True,
                     evidence=(("loss_ratio", 0.003, 0.04),), mbps=(1, 30)),
    "short transfer": Case("--rate 100mbit --rtt 100ms", "-n 100K", "ramp-limited", PATH, share=0.5, refused=True,
                           mbps=(0.5, 20)),
    "sndbuf at the BDP": Case(FULL, "-t 3 --sndbuf 250K", "path-limited", PATH, refused=True, mbps=(86, 96)),
    "window above the BDP": Case(FULL, "-t 3 --far-rcvbuf 600K", "path-limited", PATH, refused=True, mbps=(86, 96)),
    "advice in force": Case(WIDE + " --sysctl near:net.ipv4.tcp_wmem=4096,16384,33554432"
                            " --sysctl far:net.ipv4.tcp_rmem=4096,131072,33554432", "-t 4", "path-limited", PATH, refused=True,
                            mbps=(165, 190)),
    "4 streams, sndbuf pinned": Case("--rate 300mbit --rtt 40ms", "-t 2.5 --sndbuf 16K -P 4", "sndbuf-limited", SENDER,
                                     share=0.6, mbps=(5, 150)),
    "4 streams, full path": Case(FULL, "-t 3 -P 4", "path-limited", PATH, share=0.7, refused=True, mbps=(86, 96)),
    "IPv6, rcvbuf pinned": Case("--rate 100mbit --rtt 40ms", "-t 2.5 -6 --far-rcvbuf 64K", "rcvbuf-limited", RECEIVER,
                                mbps=(10, 25)),
    "IPv6, slow writer": Case(FULL, "-t 2 -6 -b 20mbit", "writer-limited", SENDER, refused=True, mbps=(17, 23)),
}


def swap(text):
    """The same for the other direction: near options become far ones and the reverse."""
    names = {"--sndbuf": "--far-sndbuf", "--rcvbuf": "--far-rcvbuf", "--read-rate": "--far-read-rate"}
    names |= {far: near for near, far in names.items()}
    words = [names.get(word, word) for word in text.split()]
    turned = {"near:": "far:", "far:": "near:"}
    return " ".join(re.sub(r"^(near:|far:)", lambda match: turned[match.group()], word) for word in words)


def side_of(role, reverse):
    if role == PATH:
        return "path"
    return "near" if (role == SENDER) != reverse else "far"


def run(link, args):
    """A run to far in a lab; the commas of a sysctl stand for blanks."""
    link = [word.replace(",", " ") for word in link.split()]
    outcome = call(WEIR, "lab", *link, "--", WEIR, "run", "far", "--json", *args.split(), env=LAB_ENVIRONMENT)
    assert outcome.code == 0, outcome
    schema.check_run(outcome.json)
    return outcome.json


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("name", CASES)
def test_verdict(name, reverse):
    case = CASES[name]
    result = run(swap(case.link), swap(case.args) + " -R") if reverse else run(case.link, case.args)
    verdict, mbps = result["verdict"], result["throughput_bps"] / 1e6
    first = verdict["causes"][0]
    assert (first["cause"], first["side"]) == (case.cause, side_of(case.side, reverse)), verdict["causes"]
    assert first["share_ratio"] >= case.share, first
    assert case.mbps[0] <= mbps <= case.mbps[1], mbps
    assert {refusal["knob"] for refusal in verdict["refused"]} == ({"sndbuf", "rcvbuf"} if case.refused else set())
    # A run proves nothing, so it never advises a setting.
    assert not {advice["action"] for advice in verdict["advice"]} & {"sysctl", "setsockopt"}, verdict["advice"]
    companions = [cause["cause"] for cause in verdict["causes"] if cause["companion"]]
    assert not case.companion or case.companion in companions, verdict["causes"]
    proofs = {line["metric"]: line["value"] for line in first["evidence"]}
    for metric, least, most in case.evidence:
        assert least <= proofs[metric] <= most, (metric, proofs)


def test_the_words_carry_the_arithmetic():
    """The summary is the sentence that users quote: bytes in flight / RTT = rate, and what was measured."""
    verdict = run("--rate 100mbit --rtt 40ms", "-t 2 --far-rcvbuf 64K")["verdict"]
    found = re.search(r"([\d.]+) (\w+) in flight / ([\d.]+) ms = ([\d.]+) Mbit/s; measured ([\d.]+) Mbit/s",
                      verdict["summary"])
    assert found, verdict["summary"]
    size = float(found.group(1)) * {"KiB": 1024, "MiB": 1 << 20}[found.group(2)]
    rate = size * 8 / float(found.group(3)) * 1e-3
    assert rate == pytest.approx(float(found.group(4)), rel=0.02)
    assert rate == pytest.approx(float(found.group(5)), rel=0.15)
