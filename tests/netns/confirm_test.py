# SPDX-License-Identifier: MIT
"""weir run --confirm: the experiment that would refute a verdict, on links where it is known what comes of it."""
import pytest

import schema
from weirtest import WEIR, lab, needs_lab

pytestmark = needs_lab

LINK = "--rate 100mbit --rtt 20ms"
# Options of run and of the link, the cause, and the least that the change must make of the rate (most, where it slows it).
CASES = {
    "sndbuf": ("--sndbuf 64K", "", "sndbuf-limited", 1.3),
    "sndbuf reverse": ("-R --far-sndbuf 64K", "", "sndbuf-limited", 1.3),
    "rcvbuf": ("--far-rcvbuf 64K", "", "rcvbuf-limited", 1.2),
    "reader": ("--far-read-rate 20mbit", "", "reader-limited", 2),
    "writer": ("-b 20mbit", "", "writer-limited", 2),
    "loss": ("", "--near-loss 1%", "loss-limited", 1.5),
    "full path": ("", "", "path-limited", 0.9),
}


@pytest.mark.parametrize("run,link,cause,ratio", CASES.values(), ids=CASES.keys())
def test_confirmed(run, link, cause, ratio):
    outcome = lab(f"{LINK} {link}", WEIR, "run", "far", "-t", "2", "--json", "--quiet", "--confirm", *run.split())
    assert outcome.code == 0, outcome
    schema.check_run(outcome.json)
    first = outcome.json["verdict"]["causes"][0]
    tried = [line for line in first["evidence"] if line["metric"] == "confirmed_ratio"]
    assert first["cause"] == cause and len(tried) == 1, first
    assert tried[0]["says"].startswith("confirmed: "), tried
    assert tried[0]["value"] >= ratio if ratio > 1 else 0.7 < tried[0]["value"] < ratio, tried
    assert first["confidence"] == "high"


def test_without_the_option_nothing_is_tried():
    outcome = lab(LINK, WEIR, "run", "far", "-t", "1", "--json")
    assert "confirmed_ratio" not in outcome.out
