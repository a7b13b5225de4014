# SPDX-License-Identifier: MIT
"""The guests themselves: what comes back from them, and that nothing is left of one, however it ends."""
import glob
import os
import pathlib
import signal
import tempfile

import pytest

import weirtest

GUEST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guest.py")


@pytest.fixture
def folder(monkeypatch):
    """A TMPDIR of its own that is empty at the end, and no memory file that was not there before."""
    before = set(glob.glob("/dev/shm/vm_file*"))
    with tempfile.TemporaryDirectory(prefix="weir-") as name:
        os.chmod(name, 0o777)
        monkeypatch.setenv("TMPDIR", name)
        yield pathlib.Path(name)
        weirtest.until(lambda: not os.listdir(name), f"an empty {name}", 5)
    assert set(glob.glob("/dev/shm/vm_file*")) <= before


def sleeping(folder):
    """The program guest.py with a guest that has started to sleep, and the guest's pid."""
    process = weirtest.start(GUEST, "--timeout", 60 * weirtest.PATIENCE, "--", "sh", "-c",
                             "echo >$OUT/up; sync; sleep 1000")
    weirtest.until(lambda: list(folder.glob("*/out/up")), "the guest's first result", 30)
    (pid,) = folder.glob("*/uml/guest/pid")
    return process, int(pid.read_text(encoding="ascii"))


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        return int(stat.read().rpartition(")")[2].split()[1])


def test_what_a_command_leaves_comes_back(uml, folder):
    done = uml.run('echo "$WORD"; echo err >&2; printf "a\\0b" >$OUT/bytes; touch /file || exit 7',
                   env={"WORD": "it's"})
    assert (done.code, done.out) == (7, "it's\n")
    assert done.err.startswith("err\n") and "Read-only file system" in done.err
    assert done.files == {"bytes": b"a\0b"}


def test_the_guest_has_its_own_kernel_and_the_hosts_weir(uml, folder):
    done = uml.run("uname -r; weir --version; lsmod; cat /proc/net/dev", modules=["sch_netem"])
    assert done.code == 0, done.err
    assert done.out.split("\n", 1)[0] != os.uname().release
    assert done.out.split("\n")[1] == weirtest.weir("--version").out.strip()
    assert "sch_netem" in done.out and " lo:" in done.out


def test_modules_load_when_they_are_needed(uml, folder):
    done = uml.run("sysctl -qw net.ipv4.tcp_congestion_control=bbr && tc qdisc add dev lo root netem && lsmod")
    assert done.code == 0, done.err
    assert "tcp_bbr" in done.out and "sch_netem" in done.out


def test_a_module_that_does_not_exist_is_named(uml, folder):
    with pytest.raises(uml.Error, match="no module no_such_thing"):
        uml.run(["true"], modules=["no_such_thing"])


def test_the_deadline_holds(uml, folder):
    with pytest.raises(uml.Error, match="did not end within 12 s\nstdout: before"):
        uml.run("echo before; sync; sleep 1000", timeout=12)


def test_a_guest_that_dies_is_an_error(uml, folder):
    with pytest.raises(uml.Error, match="the guest died"):
        uml.run("echo o >/proc/sysrq-trigger; sleep 1000")


def test_without_the_package_the_reason_says_so(monkeypatch):
    import guest
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(guest.CannotStart, match="user-mode-linux is not installed"):
        guest.run(["true"])


@weirtest.needs_root
def test_an_ordinary_user_runs_a_guest(uml, folder):
    nobody = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"]
    if weirtest.call(*nobody, "test", "-r", GUEST, "-a", "-x", weirtest.WEIR).code:
        pytest.skip(f"user nobody can't read {weirtest.ROOT}")
    done = weirtest.call(*nobody, GUEST, "--", "sh", "-c", "id -u; weir --version; exit 3")
    assert done.code == 3, done.err
    assert done.out.splitlines()[0] == "0" and done.out.splitlines()[1].startswith("weir ")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_nothing_is_left_when_the_caller_is_killed(uml, folder, number):
    process, _ = sleeping(folder)
    process.send_signal(number)
    assert weirtest.finish(process).code != 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda number: number.name)
def test_nothing_is_left_when_the_keeper_is_killed(uml, folder, number):
    process, guest = sleeping(folder)
    os.kill(parent_of(guest), number)
    done = weirtest.finish(process)
    assert done.code == 1 and "the keeper of the guest was killed" in done.err


def test_nothing_is_left_when_the_guest_is_killed(uml, folder):
    process, guest = sleeping(folder)
    os.kill(guest, signal.SIGKILL)
    done = weirtest.finish(process)
    assert done.code == 1 and "the guest died" in done.err
