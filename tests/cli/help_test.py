# SPDX-License-Identifier: MIT
"""Words of the tool itself: help of each command, complete and consistent; the version."""
import re

import pytest

from weirtest import WEIR, call, weir

COMMANDS = [name for name in re.findall(r"^  (\w+) +\S", call(WEIR, "help").out, re.M) if name not in ("help", "weir")]
MEASURING = [name for name in COMMANDS if "TARGET" in weir("help", name).out.splitlines()[0]]
# What iperf3's users know, where the idea is the same.
IPERF3 = {"p": "port", "t": "time", "n": "bytes", "P": "parallel", "w": "window", "l": "length", "R": "reverse",
          "b": "bitrate", "i": "interval", "J": "json", "N": "nodelay", "C": "congestion", "B": "bind", "4": "ipv4",
          "6": "ipv6", "M": "mss", "Z": "zerocopy"}


def rows_of(text):
    """(letter, name, value's name, help) of each option."""
    return re.findall(r"^  (?:-(\w), |    )--([\w-]+)(?: (\S+)|(?:\[=\w+\]))?  +(\S.*)$", text, re.M)


def test_commands():
    assert {"run", "serve", "lab", "tune"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_complete(name):
    outcome = weir(name, "--help")
    assert outcome.code == 0 and outcome.err == ""
    for other in (weir(name, "-h"), weir("help", name), weir(name, "--help", "--no-such-option")):
        assert (other.code, other.out, other.err) == (0, outcome.out, "")
    text = outcome.out
    assert text.startswith(f"usage: weir {name} ")
    assert not re.search(r"\(null\)|TO" r"DO|%[sd]", text)
    assert all(len(line) <= 120 for line in text.splitlines())
    paragraph = text.split("\n\n")[1]
    assert len(paragraph) > 80 and paragraph.rstrip().endswith(".")
    rows = rows_of(text)
    names = [row[1] for row in rows]
    assert len(names) == len(set(names)) and "help" in names
    letters = [row[0] for row in rows if row[0]]
    assert len(letters) == len(set(letters))
    # Every line of the table is a row that was understood.
    table = text.split("\n\n")[2].splitlines()
    assert len(table) == len(rows), set(table)
    example = text.split("\nExample:\n")[1]
    assert re.match(rf"  weir .*\b{name}\b", example) and len(example.splitlines()) >= 2


@pytest.mark.parametrize("name", COMMANDS)
def test_example_uses_options_that_exist(name):
    line = weir("help", name).out.split("\nExample:\n")[1].splitlines()[0]
    known = {row[1] for command in COMMANDS for row in rows_of(weir("help", command).out)}
    used = re.findall(r"--([a-z][\w-]*)", line)
    assert set(used) <= known, used


def test_letters_of_iperf3():
    rows = {letter: name for letter, name, _, _ in rows_of(weir("help", "run").out)}
    assert {letter: rows.get(letter) for letter in IPERF3} == IPERF3


@pytest.mark.parametrize("name", MEASURING)
def test_measuring_commands_share_their_rows(name):
    rows = {row[1]: row for row in rows_of(weir("help", name).out)}
    shared = {row[1]: row for row in rows_of(weir("help", "run").out)}
    assert {"json", "quiet", "sndbuf", "far-rcvbuf", "reverse"} <= set(rows)
    for option in set(rows) & set(shared):
        assert rows[option] == shared[option]


@pytest.mark.parametrize("args", [["help"], ["--help"], ["-h"]], ids=" ".join)
def test_overview(args):
    outcome = weir(*args)
    assert outcome.code == 0 and outcome.err == "" and outcome.out == weir("help").out
    for name in COMMANDS:
        assert len(re.search(rf"^  {name} +(.+)$", outcome.out, re.M).group(1)) > 10


@pytest.mark.parametrize("args", [["--version"], ["-V"]], ids=" ".join)
def test_version(args):
    outcome = weir(*args)
    assert outcome.code == 0 and outcome.err == "" and re.fullmatch(r"weir \d+\.\d+\.\d+\n", outcome.out)


def test_version_is_the_projects():
    with open(__file__.replace("tests/cli/help_test.py", "meson.build"), encoding="utf-8") as source:
        version = re.search(r"version: '([\d.]+)'", source.read()).group(1)
    assert weir("--version").out == f"weir {version}\n"
