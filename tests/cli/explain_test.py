# SPDX-License-Identifier: MIT
"""weir explain: what it makes of captures whose cause is known, of texts in any order and state, and of bad input."""
import os
import sys

import pytest

import schema
from weirtest import ROOT, call, error_of, WEIR, weir

ARTEFACTS = os.path.join(ROOT, "tests", "artefacts")
sys.path.insert(0, ARTEFACTS)

import score # the path above comes first

CASES = list(score.cases())
# DESIGN: of all of them; what is wrong may change, the share may not fall.
LEAST_RIGHT = 0.95


def path(case, name):
    folder, = [folder for folder, _ in CASES if os.path.basename(folder.rstrip("/")).startswith(case)]
    return os.path.join(folder, name)


def text_of(case, name):
    with open(path(case, name), encoding="utf-8") as source:
        return source.read()


def first_of(outcome):
    assert outcome.code == 0, outcome.err
    schema.check(outcome.json, schema.EXPLAIN)
    return outcome.json["verdict"]["causes"][0]


@pytest.fixture(scope="module")
def verdicts():
    return {folder: score.explain(score.texts(folder, "near"), score.texts(folder, "far")) for folder, _ in CASES}


def test_known_causes_are_found(verdicts):
    wrong = [(truth["case"], score.short(verdicts[folder]["verdict"])) for folder, truth in CASES
             if not all(score.judge(truth, verdicts[folder]["verdict"]).values())]
    assert len(wrong) <= (1 - LEAST_RIGHT) * len(CASES), wrong


def test_no_wrong_knob_is_recommended(verdicts):
    wrong = [truth["case"] for folder, truth in CASES if not score.judge(truth, verdicts[folder]["verdict"])["knob"]]
    assert not wrong


def test_json_is_as_promised(verdicts):
    for folder, _ in CASES:
        schema.check(verdicts[folder], schema.EXPLAIN)
        shares = [cause["share_ratio"] for cause in verdicts[folder]["verdict"]["causes"] if not cause["companion"]]
        assert sum(shares) <= 1.001


@pytest.mark.parametrize("side", ["near", "far"])
def test_one_end_alone_is_never_wrong(side):
    wrong = [truth["case"] for folder, truth in CASES if score.one_end(folder, truth, side)[0] == "wrong"]
    assert not wrong


def test_all_lines_are_understood(verdicts):
    skipped = {truth["case"]: verdicts[folder]["skipped_lines"] for folder, truth in CASES
               if verdicts[folder]["skipped_lines"]}
    assert sum(skipped.values()) < 20, skipped


def test_one_snapshot_says_less_but_not_wrong():
    for folder, truth in CASES:
        files = {side: [name for name in score.texts(folder, side) if not name.endswith(".2")] for side in ("near", "far")}
        verdict = score.explain(files["near"], files["far"])["verdict"]
        parts = score.judge(truth, verdict)
        assert parts["knob"], truth["case"]
        assert parts["cause"] or verdict["causes"][0]["confidence"] != "high" or truth["case"] in LATER, truth["case"]


# Idle between bursts, or just then: what one snapshot can't show (a second one does).
LATER = set()


def test_without_labels_the_ends_are_found():
    files = [path("C011a", f"{side}.ss.{k}") for k in (1, 2) for side in ("far", "near")]
    first = first_of(weir("explain", "--json", *files))
    assert (first["cause"], first["side"]) == ("rcvbuf-limited", "far")


def test_stdin():
    with open(path("C002a", "near.ss.2"), "rb") as source:
        outcome = call("sh", "-c", f"cat {path('C002a', 'near.ss.1')} {path('C002a', 'near.ss.2')} | {WEIR} explain --json -")
        del source
    first = first_of(outcome)
    assert (first["cause"], first["side"]) == ("sndbuf-limited", "near")


def test_lines_wrapped_by_a_terminal(tmp_path):
    for k in (1, 2):
        lines = []
        for line in text_of("C011a", f"near.ss.{k}").splitlines():
            line = line.rstrip()
            lines += [line[i:i + 80] for i in range(0, len(line), 80)]
        (tmp_path / str(k)).write_text("\n".join(lines) + "\n")
    outcome = weir("explain", "--json", "--near", tmp_path / "1", tmp_path / "2", "--far", path("C011a", "far.ss.1"),
                   path("C011a", "far.ss.2"))
    first = first_of(outcome)
    assert first["cause"] == "rcvbuf-limited" and outcome.json["skipped_lines"] == 0


def test_other_lines_are_skipped_and_counted(tmp_path):
    text = "Hallo, hier die Ausgabe:\n\n" + text_of("C067a", "near.ss.1") + "und noch einmal\n" + text_of("C067a", "near.ss.2")
    (tmp_path / "a").write_text(text + "Vielen Dank!\n")
    outcome = weir("explain", "--json", tmp_path / "a")
    assert first_of(outcome)["cause"] == "sndbuf-limited" and outcome.json["skipped_lines"] == 3


@pytest.mark.parametrize("length", [1, 37, 300, 600, 900])
def test_truncated_texts(tmp_path, length):
    (tmp_path / "a").write_text(text_of("C067a", "near.ss.1")[:length])
    first_of(weir("explain", "--json", tmp_path / "a"))


def test_nothing_that_is_understood(tmp_path):
    (tmp_path / "a").write_bytes(bytes(range(256)) * 100)
    outcome = weir("explain", "--json", tmp_path / "a")
    assert first_of(outcome)["cause"] == "unknown" and outcome.json["sockets"] == []
    assert weir("explain", "/dev/null").code == 0


def test_a_log_line_names_the_cap(tmp_path):
    (tmp_path / "a").write_text("failed to sufficiently increase send buffer size (was: 208 kiB, wanted: 2048 kiB, got: 416 kiB)\n"
                                "net.core.rmem_max = 2500000\n")
    outcome = weir("explain", "--json", "--far", tmp_path / "a")
    first = first_of(outcome)
    advice = [row for row in outcome.json["verdict"]["advice"] if row["action"] == "sysctl"]
    assert first["cause"] == "sysctl-capped" and first["side"] == "far"
    assert [(row["key"], row["value_bytes"]) for row in advice] == [("net.core.wmem_max", 2048 * 1024)]


def test_interval(tmp_path):
    del tmp_path
    files = [path("C036", f"near.ss.{k}") for k in (1, 2)]
    outcome = weir("explain", "--json", "--interval", "3s", "--near", *files)
    assert outcome.json["interval_s"] == 3 and "interval_at_least" not in outcome.json
    assert weir("explain", "--json", "--near", *files).json["interval_at_least"] is True


def test_text_is_for_people():
    outcome = weir("explain", "--near", *score.texts(os.path.dirname(path("C035", "truth.json")), "near"))
    assert outcome.code == 0 and outcome.err == ""
    assert "Why       nagle-delack on near" in outcome.out and "TCP_NODELAY" in outcome.out


def test_a_thousand_sockets_in_a_tenth_of_a_second(tmp_path):
    row = text_of("C011a", "near.ss.1").splitlines()[1]
    for k in (1, 2):
        rows = [row.replace(":58076", f":{20000 + i}").replace("lastrcv:3", f"lastrcv:{3 * k}") for i in range(1000)]
        (tmp_path / str(k)).write_text("State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n" + "\n".join(rows) + "\n")
    outcome = weir("explain", "--json", tmp_path / "1", tmp_path / "2")
    assert len(outcome.json["sockets"]) == 1000
    assert weir("explain", "--json", path("C011a", "near.ss.1")).code == 0


@pytest.mark.parametrize("args", [[], ["--near"], ["--far"], ["/no/such/file"], ["/"], ["-", "-"], ["--interval", "x", "-"],
                                  ["--interval", "0", "-"], ["--no-such"]], ids=" ".join)
def test_bad_input(args):
    error_of(weir("explain", *args), 2, "explain")
    error_of(weir("explain", "--json", *args), 2, "explain", as_json=True)
