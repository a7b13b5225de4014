# SPDX-License-Identifier: MIT
"""weir tune on paths where it must refuse, and one where it must find, prove and advise."""
import pytest

import schema
from weirtest import LAB_ENVIRONMENT, PATIENCE, WEIR, call, lab, needs_lab, weir

FULL = "--rate 100mbit --rtt 20ms"
REFUSALS = {
    "1 % loss": (FULL + " --loss 1%", "", "loss-limited"),
    "slow reader": (FULL, "--far-read-rate 20mbit", "reader-limited"),
    "slow reader, reverse": (FULL, "-R --read-rate 20mbit", "reader-limited"),
    "slow writer": (FULL, "-b 20mbit", "writer-limited"),
}


@needs_lab
@pytest.mark.parametrize("name", REFUSALS)
def test_refuses_where_no_buffer_helps(name):
    link, args, cause = REFUSALS[name]
    outcome = lab(link, WEIR, "tune", "far", "--json", *args.split(), timeout=100 * PATIENCE)
    assert outcome.code == 0, outcome
    result = outcome.json
    schema.check_tune(result)
    verdict = result["verdict"]
    assert verdict["causes"][0]["cause"] == cause
    assert {refusal["knob"] for refusal in verdict["refused"]} == {"sndbuf", "rcvbuf"}
    assert "knee" not in result and "proof" not in result
    assert not [advice for advice in verdict["advice"] if advice["action"] in ("sysctl", "setsockopt")]


@needs_lab
def test_finds_proves_and_advises():
    """A send buffer held at 256 KiB where 471 kB must be in flight."""
    outcome = call(WEIR, "lab", "--rate", "100mbit", "--rtt", "40ms", "--sysctl", "near:net.ipv4.tcp_wmem=4096 16384 262144",
                   "--", WEIR, "tune", "far", "--json", env=LAB_ENVIRONMENT, timeout=150 * PATIENCE)
    assert outcome.code == 0, outcome
    result = outcome.json
    schema.check_tune(result)
    assert result["complete"]
    first = result["verdict"]["causes"][0]
    assert (first["cause"], first["side"]) == ("sndbuf-limited", "near")
    assert result["knee"]["knob"] == "sndbuf" and 250e3 < result["knee"]["req_bytes"] < 600e3
    assert result["proof"]["ci95_ratio"][0] > 1.5 and result["proof"]["after_bps"] > 80e6
    sysctls = [advice for advice in result["verdict"]["advice"] if advice["action"] == "sysctl"]
    assert sysctls and sysctls[0]["key"] == "net.ipv4.tcp_wmem" and sysctls[0]["side"] == "near" and sysctls[0]["proved"]


@needs_lab
def test_budget_is_kept():
    """A budget that is too small for the whole procedure: what was left out is said, and the time is kept."""
    outcome = lab(FULL, WEIR, "tune", "far", "--json", "--budget", "12")
    assert outcome.code == 0, outcome
    schema.check_tune(outcome.json)
    assert outcome.json["left_out"] and outcome.json["cost"]["wall_s"] < 20


def test_loopback_finishes(server):
    """Both ends on one host: it ends by itself and gives no absurd advice."""
    outcome = weir("tune", server.target, "--json", "--max-rate", "100mbit", "--budget", "30")
    assert outcome.code == 0, outcome
    schema.check_tune(outcome.json)
    for advice in outcome.json["verdict"]["advice"]:
        assert advice.get("value_bytes", 0) <= 64 << 20
