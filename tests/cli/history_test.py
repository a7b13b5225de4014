# SPDX-License-Identifier: MIT
"""weir history: what is kept, shown, exported, deleted, also from archives that are damaged or hostile."""
import datetime
import json
import os
import re
import sqlite3
import stat
import subprocess

import pytest

import schema
from weirtest import IS_ROOT, WEIR, call, error_of, lab_reason, weir

HEADING = "    ID  STARTED           COMMAND  TARGET                   RESULT"
HISTORY = {"schema": "weir.history/1", "version": schema.words, "started": schema.rfc3339, "duration_s": schema.seconds,
           "complete": True, "command": "history",
           "plan": {"limit": schema.positive, "db": schema.words, "command?": schema.words, "target?": schema.words,
                    "since?": schema.words},
           "runs": [{"id": schema.positive, "started": schema.rfc3339, "duration_s": schema.seconds, "schema": schema.words,
                     "command": {"run", "sweep", "tune"}, "target": schema.words, "complete": bool, "summary": schema.words}]}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """An archive of three runs, a sweep and a tuning: a file to be copied, and what the runs printed."""
    from weirtest import Server
    db = tmp_path_factory.mktemp("kept") / "weir.db"
    with Server() as server:
        printed = [weir("run", server.target, "-t", "0.6", "-b", "50mbit", "--json", "--db", db).json for _ in range(2)]
        text = weir("run", server.target, "-t", "0.6", "-b", "50mbit", "-q", "--db", db).out
        weir("sweep", server.target, "-t", "0.2", "-b", "50mbit", "--sndbuf", "64K", "--repeat", "2", "-q", "--db", db)
        weir("tune", server.target, "--max-rate", "50mbit", "--budget", "2s", "-q", "--db", db)
    return db.read_bytes(), printed, text, server.target


@pytest.fixture
def db(kept, tmp_path):
    path = tmp_path / "weir.db"
    path.write_bytes(kept[0])
    return path


def history(db, *args):
    return weir("history", *args, "--db", db)


def ids(db, *args):
    outcome = history(db, *args, "--json")
    assert outcome.code == 0 and outcome.err == "", outcome
    schema.check(outcome.json, HISTORY)
    return [run["id"] for run in outcome.json["runs"]]


# -- list --

def test_list(db, kept):
    outcome = history(db)
    lines = outcome.out.splitlines()
    assert outcome.code == 0 and lines[0] == HEADING and len(lines) == 6
    assert [line.split()[0] for line in lines[1:]] == ["1", "2", "3", "4", "5"]
    assert [line.split()[3] for line in lines[1:]] == ["run", "run", "run", "sweep", "tune"]
    assert all(kept[3] in line for line in lines[1:]) and "bit/s" in lines[1] and " cells, " in lines[4]
    assert str(db) in outcome.err and "KiB" in outcome.err
    assert history(db, "list").out == outcome.out


def test_filters(db, kept):
    assert ids(db) == ids(db, "list") == [1, 2, 3, 4, 5]
    assert ids(db, "--command", "run") == [1, 2, 3] and ids(db, "--command", "tune") == [5] and ids(db, "--command", "lab") == []
    assert ids(db, "--target", kept[3]) == [1, 2, 3, 4, 5] and ids(db, "--target", "elsewhere") == []
    assert ids(db, "--limit", "2") == [4, 5] and "newest 2" in history(db, "--limit", "2").err
    assert ids(db, "--since", "1d") == [1, 2, 3, 4, 5] and ids(db, "--since", "2000-01-01") == [1, 2, 3, 4, 5]
    assert ids(db, "--since", "2200-01-01T10:00") == []


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "America/Los_Angeles"])
def test_dates_are_local(db, kept, zone):
    """A date without a zone is this place's; the table shows this place's time."""
    instant = datetime.datetime.fromisoformat(kept[1][1]["started"].replace("Z", "+00:00")).timestamp()
    env = {"TZ": zone}
    local = subprocess.run(["date", "-d", f"@{instant:.0f}", "+%Y-%m-%d %H:%M:%S"], env={**os.environ, **env}, text=True,
                           stdout=subprocess.PIPE, check=True).stdout.strip()
    assert local[:16] in call(WEIR, "history", "--db", db, env=env).out.splitlines()[2]
    found = call(WEIR, "history", "--json", "--db", db, "--since", local, env=env).json["runs"]
    assert [run["id"] for run in found if run["id"] <= 2][-1:] == [2]
    utc = kept[1][1]["started"]
    assert [run["id"] for run in call(WEIR, "history", "--json", "--db", db, "--since", utc, env=env).json["runs"]] == [
        run["id"] for run in found]


def test_nothing_is_kept_yet(tmp_path):
    """No failure for a list, and looking makes no file."""
    for path in (tmp_path / "none.db", tmp_path / "no/folder/weir.db"):
        outcome = history(path)
        assert outcome.code == 0 and outcome.out == "" and "nothing is kept" in outcome.err and str(path) in outcome.err
        assert ids(path) == []
        for args in (["show", "1"], ["export"], ["export", "1"], ["delete", "1"], ["delete", "--older-than", "1d"]):
            assert history(path, *args).code == 2
    assert not os.listdir(tmp_path)


# -- show --

def test_show(db, kept):
    shown = history(db, "show", "3")
    report = kept[2].splitlines()
    assert shown.code == 0 and shown.err == "" and shown.out.splitlines()[:-1] == report[:-1]
    assert re.match(r"Kept +as run 3, from \d{4}-\d\d-\d\d \d\d:\d\d, by weir \d", shown.out.splitlines()[-1])
    for number in (1, 2):
        result = {key: value for key, value in kept[1][number - 1].items() if key != "archive"}
        assert history(db, "show", number, "--json").json == result
    evidence = history(db, "show", "1", "--evidence").json
    assert evidence["schema"] == "weir.evidence/1" and evidence["far"]["connections"]
    assert "no samples" in error_of(history(db, "show", "5", "--evidence"), 2, "history show", as_json=True)


@pytest.mark.parametrize("args,words", [
    (["show"], "which run"), (["show", "99"], "no run 99"), (["show", "0"], "'0'"), (["show", "-1"], "-1"), (["show", "x"], "'x'"),
    (["show", "1", "2"], "one run"), (["show", "99999999999999999999"], "99999"), (["bogus"], "'bogus'"), (["--since", "soon"], "soon"),
    (["--since", "7"], "'7'"), (["--since", "-7d"], "-7d"), (["--since", "2025-13-01"], "2025-13-01"), (["--limit", "0"], "--limit"),
    (["export", "x", "y"], "'x'"), (["export", "99"], "no run 99"), (["delete"], "which runs"), (["delete", "99"], "no run 99"),
    (["delete", "1", "x"], "'x'"), (["delete", "1", "--older-than", "1d"], "not both"), (["delete", "--older-than", "90"], "'90'"),
    (["delete", "1", "1"], "no run 1"), (["list", "extra"], "'extra'"), (["--db", ""], "--db"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_bad_usage(db, args, words):
    command = " ".join(["history"] + [word for word in args[:1] if word in ("show", "export", "delete")])
    outcome = history(db, *args) if "--db" not in args else weir("history", *args)
    assert words in error_of(outcome, 2, command)
    assert ids(db) == [1, 2, 3, 4, 5]
    if command == "history":
        error_of(weir("history", "--json", *args, *([] if "--db" in args else ["--db", db])), 2, command, as_json=True)


# -- export --

def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def test_export(db, kept, tmp_path):
    everything = lines_of(history(db, "export").out)
    assert [line["id"] for line in everything] == [1, 2, 3, 4, 5]
    for line in everything:
        assert line["schema"] == "weir.export/1" and line["report"].startswith("weir ")
        assert ("evidence" in line) == (line["result"]["command"] == "run")
    assert everything[0]["result"] == history(db, "show", "1", "--json").json
    assert [line["id"] for line in lines_of(history(db, "export", "5", "2").out)] == [5, 2]
    file = tmp_path / "out.ndjson"
    outcome = history(db, "export", "5", "2", file)
    assert outcome.code == 0 and outcome.out == "" and [line["id"] for line in lines_of(file.read_text())] == [5, 2]
    assert history(db, "export", file).code == 0 and lines_of(file.read_text()) == everything
    for path in ("/dev/full", "/no/such/file"):
        assert path in error_of(history(db, "export", path), 3, "history export")


# -- delete --

def test_delete(db):
    outcome = history(db, "delete", "4", "2")
    assert outcome.code == 0 and outcome.err == ""
    assert [line.split()[0] for line in outcome.out.splitlines()] == ["ID", "4", "2", "deleted:"]
    assert ids(db) == [1, 3, 5]
    assert history(db, "delete", "--older-than", "1d").out == "deleted: 0\n"
    size = db.stat().st_size
    outcome = history(db, "delete", "--older-than", "2200-01-01")
    assert outcome.out.endswith("deleted: 3\n") and ids(db) == []
    assert db.stat().st_size < size / 2 # the room is given back
    assert weir("history", "show", "1", "--db", db).code == 2


# -- archives that are not as they should be --

def garbage_in_every_page_but_the_first(path, seed):
    """Each page in turn is filled with garbage in a copy of its own."""
    data = path.read_bytes()
    page = int.from_bytes(data[16:18], "big") or 65536
    for at in range(page, len(data), page):
        yield data[:at] + bytes((seed * (at // page) + i * i) % 256 for i in range(page)) + data[at + page:]


def test_damage_in_the_middle(db, tmp_path):
    """Whatever page is garbage: no crash, clear words or whole runs, and nothing of the file is changed or deleted."""
    whole = {line["id"]: line for line in lines_of(history(db, "export").out)}
    hurt = tmp_path / "hurt.db"
    fully = 0
    for data in garbage_in_every_page_but_the_first(db, 7):
        hurt.write_bytes(data)
        outcome = history(hurt, "export")
        assert outcome.code in (0, 3), outcome
        lines = lines_of(outcome.out)
        for line in lines:
            assert line == whole[line["id"]], "a run that was damaged came through as if it were whole"
        assert outcome.code == 0 or "damaged" in outcome.err or "malformed" in outcome.err, outcome
        assert outcome.code == 3 or len(lines) == 5
        fully += len(lines) >= 4
        listed = history(hurt)
        assert listed.code in (0, 3) and (listed.code == 0 or str(hurt) in listed.err)
        assert hurt.read_bytes() == data
    assert fully > 5, "most of the damage hurts one run only"


def test_damage_at_the_head(db):
    data = b"not a database" + db.read_bytes()[14:]
    db.write_bytes(data)
    for args in ([], ["show", "1"], ["export"], ["delete", "1"]):
        outcome = history(db, *args)
        assert outcome.code == 3 and str(db) in outcome.err and "damaged" in outcome.err and "mv " in outcome.err
    assert db.read_bytes() == data


def test_cut_off(db):
    data = db.read_bytes()
    for n in (1, 99, 512, 4096, 5000, len(data) // 2, len(data) - 1):
        db.write_bytes(data[:n])
        for args in ([], ["show", "1"], ["export"]):
            assert history(db, *args).code in (0, 2, 3)
        assert db.read_bytes() == data[:n]


def test_texts_of_a_hostile_archive(db):
    """No escape sequence, no newline, no broken UTF-8 reaches the terminal or the JSON, however the bytes came there."""
    with sqlite3.connect(db) as other:
        other.execute("UPDATE run SET target = ?, summary = CAST(? AS TEXT), started = ?, command = 5 WHERE id = 1",
                      ("\x1b[2J\nspoofed", b"\xff\xfe" + b"x" * 5000, "9" * 100))
        other.execute("UPDATE run SET summary = x'1b5d00', duration_s = 'long', complete = 'yes' WHERE id = 2")
    other.close()
    outcome = history(db)
    assert outcome.code == 0 and len(outcome.out.splitlines()) == 6 and "\x1b" not in outcome.out
    assert "?[2J?spoofed" in outcome.out and max(map(len, outcome.out.splitlines())) < 500
    runs = history(db, "--json").json["runs"]
    assert len(runs) == 5 and runs[0]["command"] == "5"
    assert history(db, "show", "2").code == 0 # its long texts are whole


def test_a_hostile_schema(db):
    """Triggers and views of a foreign file are never run."""
    with sqlite3.connect(db) as other:
        other.execute("CREATE TRIGGER trap AFTER DELETE ON run BEGIN DELETE FROM run; END")
    other.close()
    assert history(db, "delete", "1").code == 0
    assert ids(db) == [2, 3, 4, 5]
    with sqlite3.connect(db) as other:
        other.executescript("DROP TRIGGER trap; ALTER TABLE run RENAME TO hidden; CREATE VIEW run AS WITH RECURSIVE n(id) AS "
                            "(SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, 'a' AS schema FROM n")
    other.close()
    for args in ([], ["show", "1"], ["export"], ["delete", "1"]):
        outcome = history(db, *args)
        assert outcome.code == 3 and str(db) in outcome.err, outcome


@pytest.mark.skipif(not IS_ROOT or lab_reason() is not None, reason="needs root to mount read-only")
def test_a_read_only_archive(db):
    """Listed and shown where nobody may write; deleting says why not."""
    folder = db.parent
    script = ('mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && "$0" history --db "$1/weir.db" && '
              '"$0" history show 1 --json --db "$1/weir.db" >/dev/null && "$0" history delete 1 --db "$1/weir.db"')
    outcome = call("unshare", "-m", "sh", "-c", script, WEIR, folder)
    assert outcome.out.splitlines()[0] == HEADING and len(outcome.out.splitlines()) == 6, outcome
    assert outcome.code == 3 and "history delete: " in outcome.err and str(db) in outcome.err
    assert ids(db) == [1, 2, 3, 4, 5]


def test_an_archive_that_may_not_be_read(db, tmp_path):
    if IS_ROOT:
        tool = tmp_path / "weir"
        tool.write_bytes(open(WEIR, "rb").read())
        for path in [tool, *list(tool.parents)[:3]]:
            path.chmod(path.stat().st_mode | stat.S_IXOTH | stat.S_IROTH)
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", tool]
    else:
        as_nobody = [WEIR]
    db.chmod(0)
    outcome = call(*as_nobody, "history", "--db", db, env={"ASAN_OPTIONS": "", "UBSAN_OPTIONS": ""})
    assert outcome.code == 3 and str(db) in outcome.err and "ermission denied" in outcome.err, outcome
