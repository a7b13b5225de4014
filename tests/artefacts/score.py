#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What `weir explain` makes of captures whose cause is known: a folder a case, with the texts that the tools of both
ends printed (near.*, far.*; .1 and .2 are two snapshots) and truth.json.

    tests/artefacts/score.py [CASE...]      a table of all, or of those that begin so; WEIR names the tool

A verdict is right when its first cause is the true one (or one that the truth accepts), its side is, its number is
within 1.5 of the truth where the texts hold it, and the ceiling is where they don't, it recommends no knob that the
truth calls wrong, and it is not sure where the truth isn't. The texts of one end alone may say less, never wrong.
"""
import glob
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
WEIR = os.path.abspath(os.environ.get("WEIR", os.path.join(HERE, "..", "..", "build", "weir")))
WITHIN = 1.5
# Where what several connections moved together is in the truth, but a verdict is of one of them.
CONNECTIONS = {"C025b": 4, "C069b": 10}
BUFFERS = {"SO_SNDBUF", "SO_RCVBUF", "SO_RCVBUFFORCE", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.core.rmem_max",
           "net.core.wmem_max"}


def cases(prefixes=()):
    """(folder, truth) of each case."""
    for folder in sorted(glob.glob(os.path.join(HERE, "*", ""))):
        if prefixes and not os.path.basename(folder.rstrip("/")).startswith(tuple(prefixes)):
            continue
        with open(os.path.join(folder, "truth.json"), encoding="utf-8") as source:
            yield folder, json.load(source)


def texts(folder, side):
    return sorted(glob.glob(os.path.join(folder, side + ".*")))


def explain(near, far):
    """The JSON of one explanation."""
    command = [WEIR, "explain", "--json"] + (["--near", *near] if near else []) + (["--far", *far] if far else [])
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def near_to(a, b):
    return bool(a) and bool(b) and max(a, b) / min(a, b) <= WITHIN


def number_is_right(truth, verdict):
    number = truth.get("number")
    if not number:
        return True
    if "not in the files" in number["needs"]:
        goodput = truth["measured"].get("goodput_mbps")
        return not goodput or near_to(verdict["causes"][0].get("ceiling_bps"),
                                      goodput * 1e6 / CONNECTIONS.get(truth["case"], 1))
    return any(near_to(row.get("value_bytes"), number["bytes"]) for row in verdict["advice"])


def is_wrong_knob(truth, row):
    """Whether the truth warns of what a row of advice says, or of any buffer while it names another thing."""
    key, number = row.get("key", ""), truth.get("number") or {}
    if not key or row["action"] in ("program", "path", "none"):
        return False
    if key in BUFFERS:
        named = key.split(".")[-1].replace("FORCE", "") in number.get("knob", "")
        unset = row.get("value") == "unset" and truth["cause"] in ("sysctl-capped", "sndbuf-limited", "rcvbuf-limited")
        # On a full path a smaller buffer is a remedy against delay.
        smaller = "smaller" in row.get("why", "") and truth["cause"] in ("bufferbloat", "path-limited")
        return not (named or unset or smaller)
    other = {"near": "far", "far": "near"}.get(truth["side"])
    for knob in truth.get("wrong_knobs", []):
        if knob.startswith(key) and "4 MB" not in knob:
            side = other if "the other end" in knob else row["side"]
            if row["side"] == side:
                return True
    return False


def judge(truth, verdict):
    """The parts of being right, by name."""
    first = verdict["causes"][0]
    doubted = truth["doubt"] and first["confidence"] == "low"
    accepted = first["cause"] == truth["cause"] or first["cause"] in truth.get("accept", [])
    candidate = doubted and truth["cause"] in [cause["cause"] for cause in verdict["causes"]]
    return {
        "cause": accepted or candidate,
        "side": first["side"] == truth["side"] or first["cause"] != truth["cause"] or truth["doubt"],
        "number": number_is_right(truth, verdict),
        "knob": not any(is_wrong_knob(truth, row) for row in verdict["advice"]),
        "doubt": not truth["doubt"] or first["confidence"] != "high",
    }


def says_less(verdict):
    first = verdict["causes"][0]
    return first["confidence"] == "low" or first["cause"] in ("unknown", "none")


def one_end(folder, truth, side):
    """What one end's texts alone give: "right", "less", "wrong", or None without such texts."""
    files = texts(folder, side)
    if not files:
        return None, None
    verdict = explain(files if side == "near" else [], files if side == "far" else [])["verdict"]
    enough = all(name.startswith(side) for name in truth["vantage"])
    parts = judge(truth, verdict)
    if parts["cause"] and parts["side"] and parts["knob"] and (parts["number"] or not enough):
        return "right", verdict
    return "less" if says_less(verdict) and parts["knob"] and not enough else "wrong", verdict


def short(verdict):
    first = verdict["causes"][0]
    return f"{first['cause']}/{first['side']} {first['confidence']}"


def main():
    n = n_right = n_knobs = 0
    ends = {"right": 0, "less": 0, "wrong": 0}
    for folder, truth in cases(sys.argv[1:]):
        verdict = explain(texts(folder, "near"), texts(folder, "far"))["verdict"]
        parts = judge(truth, verdict)
        right = all(parts.values())
        n, n_right, n_knobs = n + 1, n_right + right, n_knobs + (not parts["knob"])
        found = []
        for side in ("near", "far"):
            grade, alone = one_end(folder, truth, side)
            if grade:
                ends[grade] += 1
                found.append(f"{side} alone: {grade}" + (f" ({short(alone)})" if grade != "right" else ""))
        wrong = ", ".join(name for name, good in parts.items() if not good)
        print(f"{'right' if right else 'WRONG: ' + wrong:14} {truth['case']:12} {truth['cause']}/{truth['side']:5}"
              f"{' (doubt)' if truth['doubt'] else ''} -> {short(verdict)};  {'; '.join(found)}")
    print(f"{n_right} of {n} right, {n_knobs} with a wrong knob; of one end alone {ends}")
    return 0 if n_right == n and not n_knobs and not ends["wrong"] else 1


if __name__ == "__main__":
    sys.exit(main())
