# SPDX-License-Identifier: MIT
"""weir.run/1, weir.tune/1's error and the text beside them: what scripts and people rely on."""
import json
import re

import pytest

import schema
from weirtest import WEIR, call, needs_lab, lab, weir

SHORT = ["-t", "0.6", "-b", "80mbit"]
WAYS = {
    "plain": [],
    "reverse": ["-R"],
    "streams": ["-P", "3"],
    "reverse streams": ["-R", "-P", "3"],
    "IPv4": ["-4"],
    "bound": ["-B", "127.0.0.1"],
    "buffers": ["--sndbuf", "64K", "--rcvbuf", "32K", "--far-sndbuf", "48K", "--far-rcvbuf", "128K"],
    "window": ["-w", "100K"],
    "no delay, own length": ["-N", "-l", "1000"],
    "not pinned": ["--cpu", "none"],
    "short intervals": ["-i", "0.1"],
    "reader": ["--far-read-rate", "40mbit"],
    "reader near": ["-R", "--read-rate", "40mbit"],
}


@pytest.mark.parametrize("args", WAYS.values(), ids=WAYS.keys())
def test_run_is_as_promised(server, args):
    outcome = weir("run", server.target, "--json", *SHORT, *args)
    assert outcome.code == 0 and outcome.err == "", outcome
    schema.check_run(outcome.json)
    server.at_rest()


def test_bytes(server):
    """-n moves exactly what was asked for, shared by the streams."""
    for args, moved in ((["-n", "1M"], 1 << 20), (["-n", "1M", "-R"], 1 << 20), (["-n", "1000001"], 1000001),
                        (["-n", "3M", "-P", "3"], 3 << 20), (["-n", "1"], 1)):
        outcome = weir("run", server.target, "--json", *args)
        assert outcome.code == 0, outcome
        assert outcome.json["bytes"] == moved and outcome.json["complete"] is True
        assert "time_ns" not in outcome.json["plan"]


def test_requested_and_effective(server):
    """Asked for and got are different figures; Linux doubles; unset stays absent; the other end is its own."""
    result = weir("run", server.target, "--json", *SHORT, "--sndbuf", "50000", "--far-rcvbuf", "60000").json
    near, far = result["near"], result["far"]
    assert near["sndbuf_req_bytes"] == 50000 and near["sndbuf_eff_bytes"] == 100000
    assert far["rcvbuf_req_bytes"] == 60000 and far["rcvbuf_eff_bytes"] == 120000
    assert "rcvbuf_req_bytes" not in near and "sndbuf_req_bytes" not in far
    assert near["autotuning"] == {"snd": False, "rcv": True} and far["autotuning"] == {"snd": True, "rcv": False}
    assert result["plan"]["sndbuf_bytes"] == 50000


def test_window_sets_all_four(server):
    result = weir("run", server.target, "--json", *SHORT, "-w", "70000", "--far-sndbuf", "30000").json
    assert [result[end][knob] for end in ("near", "far") for knob in ("sndbuf_req_bytes", "rcvbuf_req_bytes")] == [
        70000, 70000, 30000, 70000]


def test_length_is_exact_when_given(server):
    """-l is the user's own size; by default whole segments."""
    given = weir("run", server.target, "--json", *SHORT, "-l", "12345").json
    assert given["near"]["write_bytes"] == 12345
    mss = given["path"]["mss_bytes"]
    assert weir("run", server.target, "--json", "-t", "0.3").json["near"]["write_bytes"] % mss == 0


@pytest.mark.parametrize("args", [[], ["-R"]], ids=["forward", "reverse"])
def test_stream_of_objects(server, args):
    outcome = weir("run", server.target, "--json-stream", "-t", "1.2", "-i", "0.3", "-b", "50mbit", *args)
    assert outcome.code == 0, outcome
    objects = [json.loads(line) for line in outcome.out.splitlines()]
    assert 3 <= len(objects) <= 6
    for interval in objects[:-1]:
        schema.check(interval, schema.INTERVAL)
    schema.check_run(objects[-1])


def test_nothing_but_the_object(server):
    assert weir("run", server.target, "--json", "-t", "0.3").out.startswith("{")
    quiet = weir("run", server.target, "--quiet", "-t", "1.2", "-i", "0.3")
    assert quiet.code == 0 and quiet.err == "" and quiet.out.startswith("weir run ")


def test_text(server):
    """A line an interval, then the result, the verdict with its evidence, and what to do next."""
    outcome = weir("run", server.target, "-t", "1.3", "-i", "0.4", "-b", "50mbit")
    assert outcome.code == 0 and outcome.err == ""
    assert len(re.findall(r"^ +\d+\.\d - +\d+\.\d s +\S+ [kMG]bit/s", outcome.out, re.M)) >= 2
    for row in ("weir run ", "Path ", "Sender ", "Receiver ", "Result ", "Why ", "Next "):
        assert re.search(rf"^{row}", outcome.out, re.M), (row, outcome.out)
    assert "-R tests the other direction" in outcome.out
    assert "(null)" not in outcome.out and "nan" not in outcome.out and "inf " not in outcome.out


def test_text_names_a_clamp(server, tmp_path):
    with open("/proc/sys/net/core/rmem_max", encoding="ascii") as source:
        most = int(source.read())
    outcome = weir("run", server.target, "-t", "0.4", "-b", "50mbit", "--far-rcvbuf", str(most * 2))
    if most * 2 > 64 << 20:
        assert outcome.code == 4 and "--max-buffer" in outcome.err
    else:
        assert "net.core.rmem_max" in outcome.out and "Clamped" in outcome.out


def test_evidence_is_stored(server, tmp_path):
    path = tmp_path / "evidence.json"
    outcome = weir("run", server.target, "--json", *SHORT, "--evidence", path)
    assert outcome.code == 0
    evidence = json.loads(path.read_text())
    assert evidence["schema"] == "weir.evidence/1"
    for end in ("near", "far"):
        samples = evidence[end]["connections"][0]["samples"]
        assert len(samples["rows"]) > 20 and "t_ns" in samples["metrics"]
        assert all(len(row) == len(samples["metrics"]) for row in samples["rows"])


@pytest.mark.parametrize("command", ["run", "tune"])
def test_errors_are_objects(command):
    for args in (["no-such-host.invalid"], ["--sndbuf", "x", "h"], []):
        outcome = weir(command, "--json", *args)
        assert outcome.code in (2, 4)
        schema.check(outcome.json, schema.ERROR)


def test_port_in_target_and_option(server):
    host = server.target.split(":")[0]
    assert weir("run", host, "-p", server.port, "-t", "0.3").code == 0
    assert weir("run", f"[::ffff:{host}]:{server.port}", "-t", "0.3").code == 0
    assert weir("run", f"localhost:{server.port}", "-p", "1", "-t", "0.3").code == 0


@needs_lab
def test_ipv6():
    outcome = lab("--rate 100mbit --rtt 4ms", WEIR, "run", "far", "-6", "--json", "-t", "1")
    assert outcome.code == 0, outcome
    schema.check_run(outcome.json)
    assert outcome.json["near"]["local"].startswith("[2001:2::1]")
    assert outcome.json["path"]["mss_bytes"] == 1500 - 40 - 20 - 12


@needs_lab
def test_congestion_of_the_lab_and_own():
    for args, name in (([], "cubic"), (["-C", "reno"], "reno")):
        outcome = lab("--rate 100mbit --rtt 4ms", WEIR, "run", "far", "--json", "-t", "0.5", *args)
        assert outcome.json["near"]["congestion"] == name == outcome.json["far"]["congestion"]
    assert call(WEIR, "lab", "-C", "reno", "--", WEIR, "run", "far", "--json", "-t", "0.3").json["near"]["congestion"] == "reno"
