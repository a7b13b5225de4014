# SPDX-License-Identifier: MIT
"""The link's account of itself: what it says at the end and meanwhile, and that it adds up."""
import json
import os
import time

import pytest

from lab_util import HERE, NEEDS, PYTHON, Marked, alone, lab, python_far

pytestmark = NEEDS
TRANSFER = ["--far-cmd", python_far("lab_peer.py", "far"), "--", PYTHON, os.path.join(HERE, "lab_peer.py"), "near",
            "transfer:4:send:3000000"]


def read(file):
    """The JSON; numbers may be reals or integers."""
    return json.loads(file.read_text())


def test_the_json_adds_up(tmp_path):
    file = tmp_path / "stats.json"
    done = lab("--rate", "50mbit", "--rtt", "10ms", "--queue", "40K", "--near-loss", "0.5%", "--near-duplicate", "1%",
               "--stats-json", str(file), *TRANSFER)
    assert done.returncode == 0 and done.stderr.count("segments") == 0
    stats = read(file)
    assert stats["schema"] == "weir.lab-stats/1" and stats["complete"] and stats["duration_s"] > 0.4
    near, far = stats["near"], stats["far"]
    lost = sum(cause["segments"] for cause in near["dropped"].values())
    assert set(near["dropped"]) == {"loss", "queue"} and near["changed_segments"]["duplicate"] > 0
    left = near["taken"]["segments"] + near["changed_segments"]["duplicate"] - lost - near["delivered"]["segments"]
    assert 0 <= left <= 5  # on their way when the lab ended
    assert far["dropped"] == {} and far["delivered"]["packets"] > 0
    # what waits is bounded by the queue, and takes as long as its bytes at the rate
    assert 30000 < near["queue_bytes"]["max"] <= 40960
    assert near["queue_bytes"]["p50"] <= near["queue_bytes"]["p90"] <= near["queue_bytes"]["max"]
    assert near["sojourn_us"]["max"] == pytest.approx(near["queue_bytes"]["max"] * 8 / 50, rel=0.05)
    assert near["lateness_us"]["p50"] <= near["lateness_us"]["p99"] and near["late"] in (True, False)


def test_it_can_be_read_while_the_lab_runs(tmp_path):
    file = tmp_path / "stats.json"
    running = Marked("--far-cmd", "", "--stats-json", str(file), "--", PYTHON, "-c",
                     "import socket, time\nwhile True: socket.socket(2, 2).sendto(b'x', ('far', 9)); time.sleep(0.05)")
    until, seen = time.monotonic() + 10, {}
    while not seen.get("near", {}).get("taken", {}).get("packets") and time.monotonic() < until:
        time.sleep(0.05)
        seen = read(file) if file.exists() else {}
    running.process.terminate()
    running.process.communicate(timeout=10)
    assert seen["complete"] is False
    running.assert_gone()
    assert read(file)["complete"] is True


def test_text_goes_where_it_is_told(tmp_path):
    file = tmp_path / "stats"
    done = alone("--stats=" + str(file), "--", "true")
    assert done.stderr.count("near -> far") == 0 and "near -> far" in file.read_text()
    assert "near -> far" in alone("--stats", "--", "true").stderr


@pytest.mark.parametrize("option", ["--stats=", "--stats-json="])
def test_a_file_that_can_not_be_written(option):
    done = alone(option + "/nonexistent/file", "--", "true")
    assert done.returncode == 2 and "/nonexistent/file" in done.stderr and done.stdout == ""
