# SPDX-License-Identifier: MIT
"""Scenarios: what is expected against what is found, refusals that name file and line, and the shell."""
import glob
import json
import os
import pty

import pytest

from lab_util import HERE, NEEDS, WEIR, lab

pytestmark = NEEDS
SCENARIOS = os.path.join(HERE, "..", "..", "scenarios")
NAMES = sorted(os.path.basename(path)[:-4] for path in glob.glob(f"{SCENARIOS}/*.ini"))
LINK = "[link]\nrate = 100mbit\nrtt = 40ms\n[near]\ncommand = weir run far -t 2 --sndbuf 64K\n[expect]\n"


def run(*arguments):
    return lab("run", *arguments, cwd=os.path.join(HERE, "..", ".."))


def test_the_list_names_them_all():
    done = lab("list", cwd=os.path.join(HERE, "..", ".."))
    assert done.returncode == 0 and len(NAMES) >= 6
    assert [line.split()[0] for line in done.stdout.splitlines()] == NAMES
    assert all(len(line.split()) > 4 for line in done.stdout.splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_finds_what_it_should(name):
    done = run(name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"weir lab run {name}") and done.stdout.endswith("\nas expected\n")


def test_what_differs_is_told_and_is_status_1(tmp_path):
    file = tmp_path / "mine.ini"
    file.write_text(LINK + "cause = path-limited\nside = near\nthroughput_bps = 60mbit..\nnear.no_such_bytes = 1..2\n")
    done = run(str(file), "--json")
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["schema"] == "weir.lab/1" and found["pass"] is False and found["complete"] and found["command"] == "lab"
    assert found["link"]["rate_bps"] == 100000000 and found["verdict"]["causes"] and found["plan"]["sndbuf_bytes"] == 65536
    checks = {check["key"]: check for check in found["expected"]}
    assert {key: check["pass"] for key, check in checks.items()} == {
        "cause": False, "side": True, "throughput_bps": False, "near.no_such_bytes": False}
    assert checks["cause"]["expected"] == "path-limited" and checks["cause"]["found"] == "sndbuf-limited"
    assert checks["throughput_bps"]["found"] < 60e6 and "found" not in checks["near.no_such_bytes"]
    done = run(str(file))
    assert done.returncode == 1 and done.stdout.endswith("not as expected\n")
    assert "expected path-limited" in done.stdout and "expected from 60.0 Mbit/s" in done.stdout


@pytest.mark.parametrize("text,words", [
    ("[link]\nrate = 50parsec\n", ":2: --rate"),
    ("[link]\nsped = 50mbit\n", ":2: there is no option --sped"),
    ("[link]\nrtt = 10ms\n[near]\nbuffer = 3\n", ":4: "),
    ("[link]\nqueue = 1M\n[near]\ncommand = weir run far\n[expect]\ncause = none\n", "--queue without --rate"),
    ("[near]\ncommand = weir run far\n", "[expect]"),
    ("[near]\nnet.no.such=1\ncommand = weir run far\n[expect]\ncause = none\n", "no/such"),
])
def test_nonsense_is_refused_with_its_place(tmp_path, text, words):
    file = tmp_path / "wrong.ini"
    file.write_text(text)
    done = run(str(file))
    assert done.returncode == 2 and done.stdout == "" and len(done.stderr.splitlines()) <= 2
    assert done.stderr.startswith("weir lab run: ") and words.replace("no/such", "no") in done.stderr, done.stderr
    if words.startswith(":"):
        assert str(file) + words in done.stderr


@pytest.mark.parametrize("arguments", [[], ["no-such-scenario"], ["/nonexistent.ini"], ["a", "b"], ["--no-such"]], ids=str)
def test_bad_usage(arguments):
    done = run(*arguments)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.startswith("weir lab run: ")


def test_a_command_that_fails_keeps_its_status(tmp_path):
    file = tmp_path / "fails.ini"
    file.write_text(LINK.replace("run far", "run far:1") + "cause = none\n")
    done = run(str(file), "--json")
    assert done.returncode == 4 and "error" in json.loads(done.stdout) and "status 4" in done.stderr


def test_a_shell_on_near():
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["SHELL"] = "/bin/sh"
        os.execv(WEIR, [WEIR, "lab", "shell", "--rtt", "2ms", "--far-cmd", ""])
    os.write(terminal, b"getent hosts near; exit 7\n")
    _, status = os.waitpid(pid, 0)
    out = os.read(terminal, 65536).decode()
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 7, out
    assert "2001:2::1" in out or "198.18.0.1" in out
