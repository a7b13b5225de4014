# SPDX-License-Identifier: MIT
"""What is kept of each result, where, and what is said when it can't be."""
import json
import os
import signal
import sqlite3
import time

import pytest

import schema
from weirtest import IS_ROOT, WEIR, call, finish, lab, needs_lab, needs_root, start, until, weir

QUICK = ["-t", "0.2", "-b", "50mbit"]


def rows(path, columns="id, command, target, complete"):
    """What is in an archive, by another program than weir."""
    with sqlite3.connect(path) as db:
        return db.execute(f"SELECT {columns} FROM run ORDER BY id").fetchall()


@pytest.fixture
def db(tmp_path):
    return tmp_path / "here" / "weir.db"


def test_a_result_is_kept_as_it_was_printed(server, db):
    outcome = weir("run", server.target, "--json", "-t", "0.6", "-b", "50mbit", "--db", db)
    assert outcome.code == 0 and outcome.err == ""
    result = outcome.json
    schema.check_run(result)
    assert result.pop("archive") == {"id": 1, "path": str(db)}
    (kept, evidence, report), = rows(db, "result, evidence, report")
    assert json.loads(kept) == result
    samples = json.loads(evidence)["near"]["connections"][0]["samples"]
    assert len(samples["rows"]) > 5 and json.loads(evidence)["plan"] == result["plan"]
    assert report.startswith(f"weir run {server.target}") and "\nWhy " in report


def test_the_text_names_its_number(server, db):
    for number in (1, 2):
        outcome = weir("run", server.target, *QUICK, "--db", db)
        assert outcome.code == 0 and outcome.err == ""
        assert outcome.out.splitlines()[-1].startswith(f"Saved     as run {number};")
    (_, report), = rows(db, "id, report")[1:]
    assert outcome.out.endswith(report + outcome.out.splitlines()[-1] + "\n")


def test_where_it_is_kept(server, tmp_path):
    """XDG_DATA_HOME, else HOME; nothing but the archive comes into being, and only its user may look in."""
    for env, below in (({"XDG_DATA_HOME": str(tmp_path / "xdg")}, "xdg/weir"),
                       ({"XDG_DATA_HOME": "", "HOME": str(tmp_path / "home")}, "home/.local/share/weir")):
        assert weir("run", server.target, *QUICK, env=env).code == 0
        assert os.listdir(tmp_path / below) == ["weir.db"]
        assert (tmp_path / below).stat().st_mode & 0o777 == 0o700
    outcome = weir("run", server.target, *QUICK, env={"XDG_DATA_HOME": "", "HOME": ""})
    assert outcome.code == 0 and "Result" in outcome.out
    assert "not saved: " in outcome.err and "HOME" in outcome.err and "--no-save" in outcome.err


def test_no_save(server, db):
    for args in (["--json"], []):
        outcome = weir("run", server.target, *QUICK, "--no-save", *args, env={"XDG_DATA_HOME": str(db)})
        assert outcome.code == 0 and outcome.err == "" and "Saved" not in outcome.out and '"archive"' not in outcome.out
    assert not db.exists()
    assert weir("run", "--no-save", "--db", db, server.target).code == 2


def test_a_tuning_is_kept(server, db):
    outcome = weir("tune", server.target, "--max-rate", "50mbit", "--budget", "2s", "--db", db, "-q")
    assert outcome.code == 0, outcome
    assert outcome.out.splitlines()[-1].startswith("Saved     as run 1;")
    (result, evidence, report), = rows(db, "result, evidence, report")
    schema.check(json.loads(result), {**schema.TUNE, "*": object})
    assert evidence is None and report.startswith("weir tune ")


def test_a_sweep_is_kept(server, db):
    """Its result once, whatever was printed; other writers' output stays what it is."""
    args = ["sweep", server.target, "--sndbuf", "64K", "--repeat", "2", *QUICK, "--db", db]
    outcome = weir(*args, "-q")
    assert outcome.code == 0 and outcome.err == "" and outcome.out.splitlines()[-1].startswith("Saved     as run 1;")
    as_json = weir(*args, "-q", "--json")
    assert as_json.code == 0 and as_json.json["archive"]["id"] == 2
    schema.check_sweep(as_json.json)
    csv = weir(*args, "--format", "csv")
    assert csv.code == 0 and "aved" not in csv.out and csv.err.endswith("weir sweep: saved as run 3\n")
    kept = rows(db, "result, report, summary")
    assert json.loads(kept[1][0]) == {key: value for key, value in as_json.json.items() if key != "archive"}
    assert all(report.startswith("weir sweep ") and summary.startswith("2 cells, ") for _, report, summary in kept)


def test_what_was_stopped_is_kept_as_such(server, db):
    process = start(WEIR, "run", server.target, "-t", "60", "-b", "50mbit", "--db", db, "--json")
    until(lambda: "session opened" in server.words(), "the run begins")
    time.sleep(0.7)
    process.send_signal(signal.SIGINT)
    assert finish(process).code == 130
    assert rows(db) == [(1, "run", server.target, 0)]


def test_samples_are_bounded(server, db):
    """Of many connections only a part of the samples is kept, the first and last of each at least."""
    weir("run", server.target, "-t", "3", "-i", "1", "-b", "1mbit", "-P", "64", "--db", db)
    evidence = json.loads(rows(db, "evidence")[0][0])
    counts = [len(connection["samples"]["rows"]) for end in ("near", "far") for connection in evidence[end]["connections"]]
    width = len(evidence["near"]["connections"][0]["samples"]["metrics"])
    assert len(counts) == 128 and min(counts) >= 2 and sum(counts) * width <= 500000
    ends = [connection["samples"]["rows"][-1][0] for connection in evidence["near"]["connections"]]
    assert min(ends) > 2.9e9


def test_several_at_once(server, db):
    processes = [start(WEIR, "run", server.target, *QUICK, "--json", "--db", db) for _ in range(8)]
    outcomes = [finish(process) for process in processes]
    assert all(outcome.code == 0 and outcome.err == "" for outcome in outcomes), outcomes
    assert sorted(outcome.json["archive"]["id"] for outcome in outcomes) == list(range(1, 9))
    assert len(rows(db)) == 8


@needs_lab
def test_in_a_lab(db):
    outcome = lab("--rate 50mbit --rtt 10ms", WEIR, "run", "far", "-t", "0.5", "--json", "--db", db)
    assert outcome.code == 0 and outcome.json["archive"]["id"] == 1 and outcome.json["host"]["lab"] is True
    assert [nic["name"] for nic in outcome.json["host"]["nics"]] == ["near"]
    assert rows(db) == [(1, "run", "far", 1)]


# -- where it can't be kept --

def not_kept(server, path, words, **options):
    """The result is out, the exit status is 0, and one line, with a hint, says why it was not kept."""
    outcome = weir("run", server.target, *QUICK, "--db", path, **options)
    assert outcome.code == 0 and "Result" in outcome.out and "Saved" not in outcome.out, outcome
    lines = outcome.err_lines
    assert 1 <= len(lines) <= 2 and lines[0].startswith("weir run: not saved: ") and words in lines[0], lines
    assert all(line.startswith("hint: ") for line in lines[1:])
    as_json = weir("run", server.target, *QUICK, "--json", "--db", path, **options)
    assert as_json.code == 0 and "archive" not in as_json.json and as_json.err_lines[0].startswith("weir run: not saved: ")
    return outcome.err


@pytest.mark.parametrize("path,words", [("/proc/weir.db", "/proc/weir.db"), ("/dev/null/weir.db", "Not a directory"),
                                        ("/", "/: "), ("", "--db"), ("x" * 5000, "--db")], ids=lambda text: text[:20])
def test_a_place_that_can_not_be(server, path, words):
    not_kept(server, path, words)


@pytest.mark.parametrize("at,garbage", [(0, b"garbage"), (16, b"\xff" * 80), (0, None), (100, b"\xff" * 4096)],
                         ids=["head", "header", "text", "first page"])
def test_a_damaged_archive_is_left_alone(server, db, at, garbage):
    assert weir("run", server.target, *QUICK, "--db", db).code == 0
    with open(db, "r+b") as file:
        file.seek(at)
        file.write(garbage if garbage else b"This was never a database.\n" * 1000)
    before = db.read_bytes()
    err = not_kept(server, db, "damaged")
    assert str(db) in err and "mv " in err
    assert db.read_bytes() == before


def test_another_programs_database_is_left_alone(server, tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE bookmarks (url)")
    before = path.read_bytes()
    not_kept(server, path, "another program")
    assert path.read_bytes() == before


def test_an_archive_of_a_newer_weir_is_left_alone(server, db):
    assert weir("run", server.target, *QUICK, "--db", db).code == 0
    with sqlite3.connect(db) as newer:
        newer.execute("PRAGMA user_version = 99")
    newer.close()
    before = db.read_bytes()
    not_kept(server, db, "newer weir")
    assert db.read_bytes() == before


def test_an_archive_that_is_locked_for_long(server, db):
    assert weir("run", server.target, *QUICK, "--db", db).code == 0
    other = sqlite3.connect(db, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    outcome = weir("run", server.target, *QUICK, "--db", db)
    other.execute("ROLLBACK")
    other.close()
    assert outcome.code == 0 and "Result" in outcome.out
    assert "not saved: " in outcome.err and "another program holds it" in outcome.err
    assert weir("run", server.target, *QUICK, "--db", db).out.splitlines()[-1].startswith("Saved     as run 2;")


@pytest.mark.skipif(not IS_ROOT, reason="needs root to mount a small disk")
def test_a_full_disk(server, tmp_path):
    """Runs until there is no room: what was kept stays whole, and the end of it is said."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = """
        mount -t tmpfs -o size=300k tmpfs "$1" && head -c 50000 /dev/zero >"$1/filler" || exit 9
        for i in $(seq 40); do
            "$0" run "$2" -t 0.2 -b 50mbit -q --db "$1/weir.db" >"$3/out.$i" 2>"$3/err.$i" || exit 9
            [ ! -s "$3/err.$i" ] || break
        done
        cp "$1"/weir.db* "$3" # with the log, which there may have been no room to fold back
        rm "$1/filler"
        "$0" run "$2" -t 0.2 -q --db "$1/weir.db" """
    outcome = call("unshare", "-m", "sh", "-c", script, WEIR, disk, server.target, tmp_path)
    assert outcome.code == 0, outcome
    tries = len(list(tmp_path.glob("err.*")))
    assert 2 <= tries < 40
    for i in range(1, tries):
        assert f"Saved     as run {i};" in (tmp_path / f"out.{i}").read_text()
    said = (tmp_path / f"err.{tries}").read_text()
    assert said.startswith("weir run: not saved: ") and "no room" in said and len(said.splitlines()) == 2, said
    assert "Result" in (tmp_path / f"out.{tries}").read_text()
    with sqlite3.connect(tmp_path / "weir.db") as kept:
        assert kept.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert kept.execute("SELECT count(*) FROM run").fetchall() == [(tries - 1,)]
    assert f"Saved     as run {tries};" in outcome.out, outcome # there was room again


@needs_root
def test_a_place_that_only_root_may_write(server, tmp_path):
    """What root makes in a user's folder is that user's: or `sudo weir lab` would shut the user out."""
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    assert weir("run", server.target, *QUICK, env={"XDG_DATA_HOME": "", "HOME": str(home)}).code == 0
    for path in [home / ".local", home / ".local/share/weir", home / ".local/share/weir/weir.db"]:
        assert (path.stat().st_uid, path.stat().st_gid) == (65534, 65534), path
