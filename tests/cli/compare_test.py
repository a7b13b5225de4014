# SPDX-License-Identifier: MIT
"""weir compare: figures with known truths, what is said where nothing can be known, and real results of the archive."""
import copy
import json
import math

import pytest

import schema
from weirtest import error_of, weir

SOURCE = {"id?": schema.positive, "file?": schema.words, "schema": schema.words, "command?": schema.words, "target?": schema.words,
          "started?": schema.rfc3339, "version?": schema.words, "complete?": bool}
FIGURE = {"figure?": schema.words, "cell?": {"*": schema.axis_value}, "n": [schema.positive], "a": schema.number, "b": schema.number,
          "ratio?": schema.number, "ci95_ratio?": [schema.number], "paired?": bool, "p?": schema.ratio, "rank_p?": schema.ratio,
          "min_effect_ratio?": schema.number, "outcome": {"single", "undecided", "lower", "higher"}}
COMPARE = {"schema": "weir.compare/1", "version": schema.words, "started": schema.rfc3339, "duration_s": schema.seconds,
           "complete": True, "command": "compare", "plan": {"fail_on_regression_ratio?": schema.ratio},
           "compares": {"weir.run/1", "weir.sweep/1", "weir.tune/1"}, "a": [SOURCE], "b": [SOURCE], "figures": [FIGURE],
           "overall?": FIGURE, "only_a": [{"*": schema.axis_value}], "only_b": [{"*": schema.axis_value}],
           "differences": [{"where": {"verdict", "result", "plan", "host", "near", "far"}, "key": schema.words, "a?": lambda _: True,
                            "b?": lambda _: True}],
           "regressions?": schema.natural, "pass?": bool}


def run_result(bps, **more):
    return {"schema": "weir.run/1", "version": "0.1.0", "started": "2025-12-01T10:00:00Z", "command": "run", "target": "far",
            "complete": True, "throughput_bps": bps, "path": {"rtt_min_us": 20000}, "plan": {"parallel": 1}, **more}


def sweep_result(cells, seed=1, key="sndbuf_req_bytes"):
    """@cells: value of the axis to its runs"""
    return {"schema": "weir.sweep/1", "version": "0.1.0", "started": "2025-12-01T10:00:00Z", "command": "sweep", "target": "far",
            "complete": True, "seed": seed, "plan": {"parallel": 1}, "axes": {key: list(cells)},
            "cells": [{key: value, "runs_bps": runs} for value, runs in cells.items()],
            "runs": [{"cell": i, "block": k} for i, runs in enumerate(cells.values()) for k in range(len(runs))]}


@pytest.fixture
def put(tmp_path):
    """A function that writes results to a file, one a line."""
    def write(*results):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        path.write_text("".join(json.dumps(result) + "\n" for result in results))
        return path
    return write


def compared(*args):
    outcome = weir("compare", "--json", *args)
    assert outcome.err == "", outcome
    schema.check(outcome.json, COMPARE)
    for figure in outcome.json["figures"]:
        if "ci95_ratio" in figure:
            low, high = figure["ci95_ratio"]
            assert low <= figure["ratio"] <= high
            assert figure["outcome"] == ("higher" if low > 1 else "lower" if high < 1 else "undecided")
        else:
            assert figure["outcome"] == "single" and "p" not in figure and "paired" not in figure
    return outcome


# -- figures --

def test_one_run_each(put):
    """Figures side by side, and plainly no interval."""
    outcome = compared(put(run_result(2e8)), put(run_result(1e8)))
    assert outcome.code == 0
    figure = outcome.json["figures"][0]
    assert (figure["figure"], figure["n"], figure["a"], figure["b"]) == ("throughput_bps", [1, 1], 200000000, 100000000)
    assert figure["ratio"] == 0.5 and figure["outcome"] == "single"
    text = weir("compare", put(run_result(2e8)), put(run_result(1e8)))
    assert text.code == 0 and "200 Mbit/s" in text.out and "x0.500" in text.out and "one run" in text.out
    assert "no interval" in text.out and "CI" in text.out


def test_several_runs(put):
    """Of each side several: the interval of the ratio by hand (Welch on logarithms)."""
    a, b = [1e8, 1.02e8, 0.99e8, 1.01e8], [0.9e8, 0.91e8, 0.89e8]
    outcome = compared(put(*map(run_result, a)), put(*map(run_result, b)))
    figure = outcome.json["figures"][0]
    logs = [[math.log(x) for x in side] for side in (a, b)]
    means = [sum(side) / len(side) for side in logs]
    squares = [sum((x - mean) ** 2 for x in side) / (len(side) - 1) / len(side) for side, mean in zip(logs, means)]
    df = sum(squares) ** 2 / sum(square ** 2 / (len(side) - 1) for square, side in zip(squares, logs))
    assert 4 < df < 5 # so t lies between 2.571 and 2.776
    ratio, error = math.exp(means[1] - means[0]), math.sqrt(sum(squares))
    assert figure["n"] == [4, 3] and abs(figure["ratio"] - ratio) < 1e-5 and figure["outcome"] == "lower"
    assert ratio * math.exp(-2.776 * error) <= figure["ci95_ratio"][0] <= ratio * math.exp(-2.571 * error)
    assert figure["p"] < 0.01 and figure["rank_p"] == pytest.approx(2 / 35, abs=1e-5) # 2 of the 35 orders of 4 and 3
    text = weir("compare", put(*map(run_result, a)), put(*map(run_result, b))).out
    assert "B is lower" in text and "4, 3" in text and "one day to the next" in text


def test_sweeps_are_paired_by_block(put):
    """Blocks that drift alike, measured again in the same order: the difference is seen; in another order it is not."""
    drift = [1, 1.3, 0.8, 1.5, 0.7, 1.2]
    a = {"unset": [1e8 * d for d in drift], 65536: [5e7 * d for d in drift]}
    b = {value: [run * 0.97 * (1 + 0.001 * i) for i, run in enumerate(runs)] for value, runs in a.items()}
    same = compared(put(sweep_result(a)), put(sweep_result(b))).json
    assert [figure["outcome"] for figure in same["figures"]] == ["lower", "lower"]
    assert all(figure["paired"] and figure["n"] == [6, 6] for figure in same["figures"])
    assert [figure["cell"] for figure in same["figures"]] == [{"sndbuf_req_bytes": "unset"}, {"sndbuf_req_bytes": 65536}]
    assert same["overall"]["outcome"] == "lower" and same["overall"]["ratio"] == pytest.approx(0.97 * 1.0025, abs=1e-3)
    other = compared(put(sweep_result(a)), put(sweep_result(b, seed=2))).json
    assert [figure["outcome"] for figure in other["figures"]] == ["undecided", "undecided"]
    assert not any(figure["paired"] for figure in other["figures"])
    assert all(figure["min_effect_ratio"] > 0.5 for figure in other["figures"])


def test_many_cells_widen_the_intervals(put):
    """What would be a difference of one cell alone is none among twenty."""
    runs = [1e8, 1.01e8, 0.99e8, 1.005e8, 0.995e8, 1e8]
    lower = [run * 0.985 for run in runs]
    one = compared(put(sweep_result({1024: runs})), put(sweep_result({1024: lower}, seed=2))).json
    many = compared(put(sweep_result({1024 * i: runs for i in range(1, 21)})),
                    put(sweep_result({1024 * i: lower if i == 1 else runs for i in range(1, 21)}, seed=2))).json
    assert one["figures"][0]["outcome"] == "lower"
    width = [math.log(high / low) for low, high in (result["figures"][0]["ci95_ratio"] for result in (one, many))]
    assert width[1] > 1.5 * width[0] and many["figures"][0]["p"] == pytest.approx(min(1, 20 * one["figures"][0]["p"]), rel=1e-3)


def test_cells_that_one_side_lacks(put):
    a, b = sweep_result({1024: [1e8, 1.1e8], 2048: [2e8, 2.1e8]}), sweep_result({2048: [2e8, 2.1e8], 4096: [3e8, 3.1e8]})
    result = compared(put(a), put(b)).json
    assert [figure["cell"] for figure in result["figures"]] == [{"sndbuf_req_bytes": 2048}]
    assert result["only_a"] == [{"sndbuf_req_bytes": 1024}] and result["only_b"] == [{"sndbuf_req_bytes": 4096}]
    text = weir("compare", put(a), put(b)).out
    assert "Only A    1 cells" in text and "Only B    1 cells" in text


def test_runs_that_moved_nothing(put):
    """0 bit/s has no ratio; what is left is compared, and nothing crashes."""
    result = compared(put(sweep_result({1024: [0, 0, 0], 2048: [1e8, 0, 1e8]})),
                      put(sweep_result({1024: [1e8, 1e8, 1e8], 2048: [1e8, 1e8, 1e8]}))).json
    assert "ratio" not in result["figures"][0] and result["figures"][0]["a"] == 0


def test_what_else_differs(put):
    host = {"kernel": "6.1.0", "lab": False, "nics": [{"name": "eth0", "mtu_bytes": 1500}], "rmem_max_bytes": 212992}
    other = copy.deepcopy(host)
    other["kernel"], other["nics"][0]["mtu_bytes"] = "6.18.0", 9000
    a = run_result(1e8, host=host, near={"host": "x", "local": "1.2.3.4:1", "cpu_ratio": 0.1})
    b = run_result(1e8, host=other, near={"host": "x", "local": "1.2.3.4:2", "cpu_ratio": 0.9}, plan={"parallel": 1, "sndbuf_bytes": 65536},
                   target="elsewhere")
    result = compared(put(a), put(b)).json
    found = {(row["where"], row["key"]): (row.get("a"), row.get("b")) for row in result["differences"]}
    assert found == {("result", "target"): ("far", "elsewhere"), ("plan", "sndbuf_bytes"): (None, 65536),
                     ("host", "kernel"): ("6.1.0", "6.18.0"), ("host", "eth0.mtu_bytes"): (1500, 9000)}
    text = weir("compare", put(a), put(b)).out
    for words in ("Differs   result target: far | elsewhere", "plan sndbuf_bytes: unset | 64.0 KiB", "host kernel: 6.1.0 | 6.18.0",
                  "host eth0.mtu_bytes: 1500 B | 9000 B"):
        assert words in text, text
    assert "nothing else" in weir("compare", put(a), put(a)).out


# -- the check --

def test_fail_on_regression(put):
    runs = [1e8, 1.01e8, 0.99e8, 1.005e8]
    good, bad = put(*map(run_result, runs)), put(*[run_result(run * 0.9) for run in runs])
    for margin, code in (("0", 1), ("5%", 1), ("0.05", 1), ("15%", 0)):
        outcome = compared(good, bad, "--fail-on-regression", margin)
        assert outcome.code == code and outcome.json["pass"] == (code == 0) and outcome.json["regressions"] == code
        text = weir("compare", good, bad, f"--fail-on-regression={margin}")
        assert text.code == code and text.err == "" and text.out.splitlines()[-1].startswith("Check     ")
        assert text.out.splitlines()[-1].endswith("FAILS" if code else "passes")
    assert compared(bad, good, "--fail-on-regression", "0").code == 0 # faster is no regression
    assert compared(good, good, "--fail-on-regression", "0").code == 0
    assert "pass" not in compared(good, bad).json


def test_noise_is_no_regression(put):
    """10 % lower on average, but with 30 % of noise."""
    a, b = [1e8, 1.4e8, 0.7e8, 1.1e8], [0.9e8, 1.25e8, 0.65e8, 1e8]
    assert compared(put(*map(run_result, a)), put(*map(run_result, b)), "--fail-on-regression", "5%").code == 0


def test_one_run_each_is_checked_by_its_share_alone(put):
    a, b = put(run_result(1e8)), put(run_result(0.7e8))
    assert compared(a, b, "--fail-on-regression", "20%").code == 1
    assert compared(a, b, "--fail-on-regression", "40%").code == 0
    err = error_of(weir("compare", a, b, "--fail-on-regression", "0"), 2, "compare")
    assert "one run" in err and "20%" in err


def test_nothing_in_common_does_not_pass(put):
    a, b = put(sweep_result({1024: [1e8, 1e8]})), put(sweep_result({2048: [1e8, 1e8]}))
    assert "no figure and no cell" in weir("compare", a, b).out
    assert "nothing to check" in error_of(weir("compare", a, b, "--fail-on-regression", "5%"), 2, "compare")


# -- what is refused --

def test_bad_usage(put, tmp_path):
    run, sweep = put(run_result(1e8)), put(sweep_result({1024: [1e8]}))
    empty, text, unlike = tmp_path / "empty", tmp_path / "text", put({"schema": "weir.lab/1"})
    empty.write_text("")
    text.write_text("no JSON at all")
    for args, words in (([], "two results"), ([run], "two results"), ([run, run, run], "one too many"), ([run, sweep], "in common"),
                        ([run, empty], str(empty)), ([run, text], str(text)), ([run, unlike], "no result"), ([run, tmp_path], str(tmp_path)),
                        ([run, "/no/such/file"], "/no/such/file"), ([run, ""], ""), ([run, "99"], "run 99"), ([run, "1,"], ""),
                        ([run, run, "--fail-on-regression", "much"], "much"), ([run, run, "--fail-on-regression", "-5%"], "-5%")):
        assert words in error_of(weir("compare", *args), 2, "compare"), args
        error_of(weir("compare", "--json", *args), 2, "compare", as_json=True)


def test_texts_of_a_hostile_result(put):
    bad = "\x1b[2J\nspoofed"
    a = run_result(1e8, target=bad, plan={bad: bad}, verdict={"causes": [{"cause": bad}]})
    outcome = weir("compare", put(a), put(run_result(1e8)))
    assert outcome.code == 0 and "\x1b" not in outcome.out and "\nspoofed" not in outcome.out


# -- real results --

def test_results_of_the_archive(server, tmp_path):
    """By number, by file, by export and by stream: the same figures."""
    db, first, stream, exported = (tmp_path / name for name in ("weir.db", "first.json", "stream.json", "export.ndjson"))
    run = ["run", server.target, "-t", "0.5", "-b", "50mbit", "--db", db]
    first.write_text(weir(*run, "--json").out)
    stream.write_text(weir(*run, "--json-stream", "-i", "0.1").out)
    weir("history", "export", exported, "--db", db)
    by_number = compared("1", "2", "--db", db)
    assert by_number.json["compares"] == "weir.run/1" and by_number.json["a"][0]["id"] == 1
    assert by_number.json["figures"] == compared(first, stream).json["figures"] == compared(first, "2", "--db", db).json["figures"]
    both = compared("1,2", exported, "--db", db).json
    assert [len(both[side]) for side in ("a", "b")] == [2, 2] and both["figures"][0]["n"] == [2, 2]
    assert both["figures"][0]["ratio"] == 1 and both["figures"][0]["outcome"] == "undecided"
    assert not [row for row in both["differences"] if row["where"] in ("plan", "host")]


def test_a_sweep_measured_again(server, tmp_path):
    """--again gives the same order, so the comparison is paired; a slower writer is found."""
    db, plan = tmp_path / "weir.db", tmp_path / "again.json"
    sweep = ["sweep", server.target, "-t", "0.3", "--sndbuf", "64K", "--no-unset", "--repeat", "6", "-q", "--json", "--db", db]
    result = weir(*sweep, "-b", "20mbit").json
    plan.write_text(json.dumps(result))
    assert weir("sweep", "--again", plan, "-q", "--db", db).code == 0
    result["plan"]["bitrate_bps"] = 15000000
    plan.write_text(json.dumps(result))
    assert weir("sweep", "--again", plan, "-q", "--db", db).code == 0
    same, slower = compared("1", "2", "--db", db).json, compared("1", "3", "--db", db, "--fail-on-regression", "10%")
    assert same["figures"][0]["paired"] and abs(same["figures"][0]["ratio"] - 1) < 0.1
    assert slower.code == 1 and slower.json["figures"][0]["outcome"] == "lower"
    assert ("plan", "bitrate_bps") in [(row["where"], row["key"]) for row in slower.json["differences"]]
    text = weir("compare", "1", "3", "--db", db).out
    assert "6 pairs" in text and "B is lower" in text and "plan bitrate_bps: 20.0 Mbit/s | 15.0 Mbit/s" in text


def test_tunings(server, tmp_path):
    db = tmp_path / "weir.db"
    for _ in range(2):
        assert weir("tune", server.target, "--max-rate", "50mbit", "--budget", "10s", "-q", "--db", db).code == 0
    result = compared("1", "2", "--db", db).json
    assert result["compares"] == "weir.tune/1" and result["figures"][0]["figure"] == "baseline.throughput_bps"
    assert "Baseline" in weir("compare", "1", "2", "--db", db).out
