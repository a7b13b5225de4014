# SPDX-License-Identifier: MIT
"""weir sweep on loopback: the grid's shape, its files, its refusals. What figures mean is tested on a link."""
import csv
import io
import json
import signal

import pytest

import schema
from weirtest import WEIR, error_of, finish, start, until, weir

FAST = ["-t", "0.1", "-b", "80mbit", "-q"]


def sweep(server, *args, **options):
    return weir("sweep", server.target, *FAST, *args, **options)


def test_every_cell_once_a_block(server):
    outcome = sweep(server, "--json", "--sndbuf", "64K,128K", "-l", "1K,8K", "--repeat", "6", "--seed", "3")
    assert outcome.code == 0 and outcome.err == "", outcome
    result = outcome.json
    schema.check_sweep(result)
    assert result["axes"] == {"len_bytes": [1024, 8192], "sndbuf_req_bytes": ["unset", 65536, 131072]}
    assert result["complete"] and result["seed"] == 3 and len(result["runs"]) == 36
    blocks = [[run["cell"] for run in result["runs"] if run["block"] == block] for block in range(6)]
    assert all(sorted(block) == list(range(6)) for block in blocks)
    assert len({tuple(block) for block in blocks}) > 1, "the order is drawn anew for each block"
    for cell in result["cells"]:
        asked = cell["sndbuf_req_bytes"]
        assert asked == "unset" or cell["sndbuf_eff_bytes"] == 2 * asked
    server.at_rest()


def test_flags_and_texts_vary(server):
    result = sweep(server, "--json", "--vary", "nodelay,reverse", "-P", "1,2", "--repeat", "1").json
    schema.check_sweep(result)
    assert result["axes"] == {"streams": [1, 2], "nodelay": [False, True], "reverse": [False, True]}
    assert "grade" not in result["cells"][0] and "ci95" not in result["cells"][0]["throughput_bps"]


def test_unset_can_be_left_out(server):
    result = sweep(server, "--json", "--sndbuf", "64K", "--repeat", "1").json
    assert result["axes"] == {"sndbuf_req_bytes": ["unset", 65536]}
    result = sweep(server, "--json", "--sndbuf", "64K", "--no-unset", "--repeat", "1").json
    assert result["axes"] == {"sndbuf_req_bytes": [65536]}


@pytest.mark.parametrize("face", ["all", "median", "mean", "ci", "cv", "rtt", "time", "messages", "latency"])
def test_tables(server, face):
    outcome = sweep(server, "--sndbuf", "64K", "-l", "1K,8K", "--repeat", "2", "--cell", face)
    assert outcome.code == 0, outcome
    lines = outcome.out.splitlines()
    head = next(i for i, line in enumerate(lines) if "SO_SNDBUF \\ write" in line)
    assert lines[head].split()[-4:] == ["1.00", "KiB", "8.00", "KiB"]
    assert lines[head + 1].startswith("  unset ") and lines[head + 2].startswith("  64.0 KiB ")
    assert len({len(line) for line in lines[head:head + 3]}) == 1, "columns are aligned"


def test_markdown_and_csv(server):
    text = sweep(server, "--sndbuf", "64K,128K", "--repeat", "2", "--format", "markdown").out
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 5 and len({line.count("|") for line in rows}) == 1
    text = sweep(server, "--sndbuf", "64K,128K", "--repeat", "2", "--format", "csv").out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["sndbuf_req_bytes"] for row in rows] == ["unset", "65536", "131072"]
    assert all(int(row["n"]) == 2 and int(row["min_bps"]) <= int(row["median_bps"]) <= int(row["max_bps"]) for row in rows)


def test_plan_again_and_resume(server, tmp_path):
    plan, first, part = tmp_path / "plan.json", tmp_path / "first.json", tmp_path / "part.json"
    outcome = weir("sweep", server.target, *FAST, "--sndbuf", "64K,128K", "--repeat", "3", "--seed", "9", "--save-plan", plan)
    assert outcome.code == 0 and outcome.out == ""
    outcome = weir("sweep", "--plan", plan, "--json", "-q")
    assert outcome.code == 0, outcome
    first.write_text(outcome.out)
    schema.check_sweep(outcome.json)
    again = weir("sweep", "--again", first, "--json", "-q").json
    assert again["plan"] == outcome.json["plan"]
    order = [(run["block"], run["cell"]) for run in outcome.json["runs"]]
    assert [(run["block"], run["cell"]) for run in again["runs"]] == order
    cut = json.loads(first.read_text())
    cut["runs"] = cut["runs"][:4]
    part.write_text(json.dumps(cut))
    resumed = weir("sweep", "--resume", part, "--json", "-q").json
    schema.check_sweep(resumed)
    assert resumed["runs"][:4] == cut["runs"] and resumed["complete"]
    assert [(run["block"], run["cell"]) for run in resumed["runs"]] == order


def test_interrupted_stream_goes_on(server, tmp_path):
    """SIGINT keeps what is finished; a stream that was cut off in a line is continued too."""
    path = tmp_path / "stream"
    with open(path, "wb") as out:
        process = start(WEIR, "sweep", server.target, "-t", "0.3", "-b", "80mbit", "--sndbuf", "64K..1M", "--repeat", "4", "--json-stream",
                        stdout=out)
        until(lambda: path.read_text().count("\n") > 4, "some runs")
        process.send_signal(signal.SIGINT)
        assert finish(process).code == 130
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    schema.check_sweep(lines[-1])
    assert lines[-1]["complete"] is False and len(lines[-1]["runs"]) == len(lines) - 2 >= 3
    done = lines[1:-1]
    path.write_text("\n".join(json.dumps(line) for line in lines[:-1]) + "\n" + json.dumps(lines[-1])[:200])
    outcome = weir("sweep", "--resume", path, "--json", "-q")
    assert outcome.code == 0, outcome
    assert outcome.json["complete"] and len(outcome.json["runs"]) == 24
    assert [run["throughput_bps"] for run in outcome.json["runs"][:len(done)]] == [run["throughput_bps"] for run in done]


def test_staircase(server):
    """One connection for all sizes, one for unset, in each block; a size is what the live socket then had."""
    result = weir("sweep", server.target, "-q", "--json", "--staircase", "--sndbuf", "64K,256K", "-b", "80mbit", "-t", "0.3",
                  "--repeat", "2").json
    schema.check_sweep(result)
    assert result["complete"] and [cell["n"] for cell in result["cells"]] == [2, 2, 2]
    for cell in result["cells"][1:]:
        assert cell["sndbuf_eff_bytes"] == 2 * cell["sndbuf_req_bytes"]


def test_budget_ends_in_time(server):
    outcome = sweep(server, "--json", "--sndbuf", "64K..1M", "--repeat", "100", "--budget", "2s")
    assert outcome.code == 0, outcome
    assert 0 < len(outcome.json["runs"]) < 600 and not outcome.json["complete"]
    assert any("budget" in note for note in outcome.json["notes"])


@pytest.mark.parametrize("args,words", [
    (["--sndbuf", "16K,,1M"], "empty"), (["--sndbuf", "1M..16K"], "does not rise"), (["--sndbuf", "16K,16384"], "twice"),
    (["-l", "1..64M:+1"], "outside"), (["--vary", "sndbuf"], "no flag"), (["--vary", "nodelay,nodelay"], "twice"),
    (["--cell", "nothing"], "--cell"), (["--format", "xml"], "--format"), (["--repeat", "0"], "--repeat"),
    (["--until", "3%", "--repeat", "3"], "--until"), (["--sndbuf", "1K..40K:+1K", "--rcvbuf", "1K..40K:+1K"], "1024 cells"),
    (["--plan", "/nonexistent"], "/nonexistent"), (["--plan", "/dev/null"], "no JSON"), (["-C", "a..b"], "no range"),
    (["--staircase", "--sndbuf", "64K"], "two sizes"), (["--staircase", "--sndbuf", "1K,64K"], "4.5 KiB"),
    (["--staircase", "--sndbuf", "8K,64K", "--rcvbuf", "8K"], "--rcvbuf"), (["--staircase", "-w", "8K,64K"], "--window"),
    (["--plan", "x", "--sndbuf", "1K"], "--sndbuf"), (["--far-read-rate", "1mbit", "--vary", "reverse"], "--far-read-rate"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_refusals(args, words):
    outcome = weir("sweep", "127.0.0.1:1", *args)
    assert words in error_of(outcome, 2, "sweep")


@pytest.mark.parametrize("text", ["[]", "{}", "{\"plan\": 1}", "{\"plan\": {\"axes\": {\"x\": [\"1\"]}}}", "not json",
                                  "{\"plan\": {\"axes\": {}, \"repeat\": -1}}",
                                  "{\"plan\": {\"axes\": {}}, \"runs\": [{\"cell\": 5, \"block\": 0, \"bytes\": 1}]}"])
def test_bad_files(tmp_path, text):
    path = tmp_path / "plan"
    path.write_text(text)
    error = error_of(weir("sweep", "127.0.0.1:1", "--resume", path), 2, "sweep")
    assert str(path) in error


def test_nobody_there():
    error_of(weir("sweep", "127.0.0.1:1", "--sndbuf", "64K", "--json"), 4, "sweep", as_json=True)
