# SPDX-License-Identifier: MIT
"""What a grid finds on a link whose limits are known."""
import json
import statistics

import pytest

import schema
from weirtest import WEIR, lab, needs_lab

pytestmark = needs_lab

LINK = "--rate 100mbit --rtt 20ms"
PAYLOAD_BPS = 100e6 * 1448 / 1538


def sweep(link, args):
    outcome = lab(link, WEIR, "sweep", "far", "--json", "-q", *args.split())
    assert outcome.code == 0, outcome
    schema.check_sweep(outcome.json)
    return outcome.json


@pytest.mark.parametrize("way", ["", "--staircase"])
def test_a_buffer_grid_is_monotone_and_has_a_knee(way):
    """BDP 250 kB: sizes below carry in proportion, those above the line rate; the knee lies between."""
    result = sweep(LINK, f"--sndbuf 64K..1M:x2 -t 1 --repeat 3 --seed 1 {way}")
    medians = {cell["sndbuf_req_bytes"]: cell["throughput_bps"]["median"] for cell in result["cells"]}
    sizes = sorted(size for size in medians if size != "unset")
    for small, large in zip(sizes, sizes[1:]):
        assert medians[large] > 0.97 * medians[small], medians
    assert medians[131072] > 1.3 * medians[65536] and medians[65536] < 0.6 * PAYLOAD_BPS
    assert abs(medians["unset"] / PAYLOAD_BPS - 1) < 0.03 and abs(medians[1 << 20] / PAYLOAD_BPS - 1) < 0.03
    assert len(result["knees"]) == 1 and not result["knees"][0]["climbing"]
    assert 131072 <= result["knees"][0]["sndbuf_req_bytes"] <= 524288
    assert result["complete"]


def test_cost_of_a_grid():
    """What is around the transfers: connections, agreement, results."""
    result = sweep(LINK, "-l 8K,64K --vary nodelay,reverse -t 2 --repeat 1")
    assert len(result["cells"]) == 8
    assert result["cost"]["wall_s"] <= 1.15 * result["cost"]["transfer_s"], result["cost"]


def test_sizes_that_did_not_become_what_was_asked_are_said():
    """Forced past the sysctl where that is allowed; the kernel's least where less was asked."""
    notes = sweep("--rate 50mbit --rtt 5ms", "-w 1K,64M -t 0.5 --repeat 1")["notes"]
    assert any("SO_SNDBUFFORCE" in note or "was cut" in note for note in notes), notes
    assert any("least" in note for note in notes), notes


def test_the_path_is_forgotten_between_runs():
    """A sender that remembers ssthresh starts slowly after an overshoot; the runs of a grid don't inherit it."""
    keep = "--sysctl near:net.ipv4.tcp_no_metrics_save=0 --sysctl near:net.ipv4.tcp_no_ssthresh_metrics_save=0"
    script = (f"for i in 1 2 3 4 5 6; do {WEIR} run far -n 10M -C reno --json || exit 1; done; "
              f"{WEIR} sweep far -q --json -n 10M -C reno --repeat 5")
    outcome = lab(f"--rate 200mbit --rtt 50ms --queue 10ms {keep}", "sh", "-c", script)
    assert outcome.code == 0, outcome
    decoder, text, results = json.JSONDecoder(), outcome.out, []
    while text.strip():
        result, end = decoder.raw_decode(text)
        results.append(result)
        text = text[end:].lstrip()
    remembering = statistics.median(result["throughput_bps"] for result in results[2:6])
    assert results[6]["cells"][0]["throughput_bps"]["median"] > 1.2 * remembering
