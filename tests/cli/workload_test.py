# SPDX-License-Identifier: MIT
"""What connections carry: every workload in both directions, its counts, its end, what the server refuses."""
import json
import os
import re

import pytest

import schema
from weirtest import ROOT, weir

RECORDS = ["records", "records:size=1-500", "records:size=100,batch=80", "records:size=60,wait=acked",
           "records:size=20-100,batch=7,wait=acked"]


def run(server, *args):
    outcome = weir("run", server.target, "--json", *args)
    assert outcome.code == 0 and outcome.err == "", outcome
    schema.check_run(outcome.json)
    return outcome.json


@pytest.mark.parametrize("direction", [[], ["-R"]], ids=["forward", "reverse"])
@pytest.mark.parametrize("workload", RECORDS)
def test_records_arrive(server, workload, direction):
    result = run(server, "-t", "0.4", "-P", "2", "--workload", workload, *direction)
    assert result["complete"] and result["plan"]["workload"] == workload
    assert result["workload"]["messages"] > 100 and result["workload"]["messages_per_s"] > 0
    server.at_rest()


@pytest.mark.parametrize("direction", [[], ["-R"]], ids=["forward", "reverse"])
@pytest.mark.parametrize("keys,bytes_of", [("size=100", 100), ("size=100,batch=80", 100 + 4 / 80), ("size=7,wait=acked", 7)])
def test_count_ends_it(server, keys, bytes_of, direction):
    """As many as asked for, of as many bytes, over all streams; no time is taken that they don't need."""
    result = weir("run", server.target, "--json", "--workload", f"records:{keys},count=960", "-P", "3", *direction).json
    assert result["workload"]["messages"] == 960 and result["bytes"] == round(960 * bytes_of)
    assert result["complete"] and "time_ns" not in result["plan"]
    server.at_rest()


def test_count_that_batches_do_not_divide(server):
    for keys, streams, messages, moved in (("batch=4,count=10", "1", 10, 10 * 10 + 3 * 4), ("count=2", "4", 2, 20)):
        result = weir("run", server.target, "--json", "--workload", f"records:size=10,{keys}", "-P", streams).json
        assert result["workload"]["messages"] == messages and result["bytes"] == moved


def test_time_ends_a_count_that_takes_longer(server):
    result = run(server, "--workload", "records:size=10,count=1000000000", "-t", "0.3")
    assert 0 < result["workload"]["messages"] < 1e9 and result["complete"]


def test_sizes_are_of_the_range(server):
    result = run(server, "--workload", "records:size=20-100,count=20000")
    assert 59 < result["bytes"] / result["workload"]["messages"] < 61


@pytest.mark.parametrize("direction", [[], ["-R"]], ids=["forward", "reverse"])
def test_records_over_a_unix_socket(direction):
    outcome = weir("run", "unix:", "--json", "-t", "0.3", "--workload", "records:size=100,batch=80", *direction)
    assert outcome.code == 0, outcome
    schema.check_run(outcome.json)
    assert outcome.json["workload"]["messages"] > 100
    outcome = weir("run", "unix:", "--workload", "records:wait=acked")
    assert outcome.code == 2 and "unix acknowledges nothing" in outcome.err


def test_pace_holds_for_records(server):
    result = run(server, "--workload", "records:size=100", "-b", "800kbit", "-t", "1")
    assert 700 < result["workload"]["messages_per_s"] < 1100
    assert result["verdict"]["causes"][0]["cause"] == "writer-limited"


def test_a_stream_has_no_messages(server):
    result = run(server, "-t", "0.3")
    assert result["plan"]["workload"] == "stream" and set(result["workload"]) == {"name", "bytes_per_segment"}


def test_text_has_their_figures(server):
    text = weir("run", server.target, "-t", "0.3", "--workload", "records:size=60,wait=acked").out
    assert re.search(r"^Workload  records:size=60,wait=acked: [\d.]+ messages/s, \d+ read, \d+ B a segment$", text, re.M), text
    assert re.search(r"^Latency   p50 [\d.]+ \S+, p90 .*, max [\d.]+ \S+ until a message was done$", text, re.M), text
    text = weir("run", server.target, "-t", "0.3").out
    assert "Workload" not in text and "Latency" not in text


def test_evidence_holds_the_messages(server, tmp_path):
    path = tmp_path / "evidence.json"
    result = run(server, "-t", "0.4", "--workload", "records:size=100", "--evidence", path)
    evidence = json.loads(path.read_text())
    samples = evidence["far"]["connections"][0]["samples"]
    assert samples["rows"][-1][samples["metrics"].index("messages")] == result["workload"]["messages"]
    assert evidence["near"]["latency_p50_ns"] <= evidence["near"]["latency_max_ns"]
    assert "latency_p50_ns" not in evidence["far"]


def test_each_workload_has_its_page():
    with open(os.path.join(ROOT, "src/workload/table.c"), encoding="utf-8") as source:
        names = set(re.findall(r"^\t&wr_workload_(\w+),", source.read(), re.M))
    folder = os.path.join(ROOT, "docs/workloads")
    pages = {name[:-3] for name in os.listdir(folder)} - {"README"}
    assert names == pages and "records" in names
    with open(os.path.join(folder, "README.md"), encoding="utf-8") as source:
        assert names == set(re.findall(r"^\| \[(\w+)\]\(\1\.md\) \|", source.read(), re.M))
