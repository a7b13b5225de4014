# SPDX-License-Identifier: MIT
"""weir list: every table's rows as text and JSON, and the pages that are made of them."""
import os
import re

import pytest

from weirtest import ROOT, error_of, weir

KINDS = [row["name"] for row in weir("list", "--json").json["rows"]]
# What the tables can't lose without somebody noticing.
KNOWN = {"workloads": {"stream", "records"}, "transports": {"tcp", "unix"}, "causes": {"sndbuf-limited", "unknown"},
         "metrics": {"t_ns", "cwnd_segs"}, "elements": {"rate", "delay", "ack-policy"}, "options": {"sndbuf", "workload"},
         "strategies": {"staircase", "grid"}, "sockopts": {"TCP_NODELAY", "SO_PRIORITY"}, "scenarios": {"path-limited"}}


def rows(kind):
    return weir("list", kind, "--json").json["rows"]


def test_kinds():
    assert set(KNOWN) <= set(KINDS)
    text = weir("list").out
    assert all(re.search(rf"^{kind} +\w", text, re.M) for kind in KINDS) and len(text.splitlines()) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_rows(kind):
    outcome = weir("list", kind, "--json")
    assert outcome.code == 0 and outcome.err == ""
    result = outcome.json
    assert set(result) == {"schema", "version", "kind", "rows"} and result["schema"] == "weir.list/1"
    assert result["kind"] == kind
    names = [row["name"] for row in result["rows"]]
    assert len(names) == len(set(names)) and KNOWN.get(kind, set()) <= set(names)
    for row in result["rows"]:
        assert row["summary"] and "\n" not in row["summary"], row
        assert all(value not in (None, "") for value in row.values()), row
        for key in row.get("keys", []):
            assert {"form", "meaning"} <= set(key) <= {"form", "unit", "range", "default", "meaning"}
    text = weir("list", kind)
    assert text.code == 0 and text.err == ""
    assert [line.split()[0] for line in text.out.splitlines() if not line.startswith(" ")] == names


@pytest.mark.parametrize("kind,folder", [("elements", "docs/elements"), ("workloads", "docs/workloads")])
def test_pages_are_of_the_rows(kind, folder):
    """The table of what can be said to an element or a workload stands on its page as it is in the code."""
    for row in rows(kind):
        with open(os.path.join(ROOT, folder, f"{row['name']}.md"), encoding="utf-8") as source:
            page = source.read()
        for key in row["keys"]:
            cells = [key.get(name, "").replace("|", "\\|") for name in ("form", "unit", "range", "default", "meaning")]
            line = f"| `{cells[0]}` | " + " | ".join(cells[1:]) + " |"
            assert line in page, line
        assert len(re.findall(r"^\| `", page.split("## Measured")[0], re.M)) == len(row["keys"]), row["name"]


def test_causes_are_the_pages():
    pages = {name[:-3] for name in os.listdir(os.path.join(ROOT, "docs/causes"))}
    assert {row["name"] for row in rows("causes")} <= pages


def test_options_are_those_of_run():
    text = weir("help", "run").out
    for row in rows("options"):
        assert re.search(rf"--{row['name']}( |$)", text, re.M), row


@pytest.mark.parametrize("args,words", [(["no-such"], "elements"), (["workloads", "causes"], "only one"),
                                        (["workloads", "--jsn"], "--json")])
def test_refuses(args, words):
    assert words in error_of(weir("list", *args), 2, "list")
    assert words in error_of(weir("list", "--json", *args), 2, "list", as_json=True)
