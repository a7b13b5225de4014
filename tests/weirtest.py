# SPDX-License-Identifier: MIT
"""What the end-to-end tests share: the tool under test, servers on free ports, labs, and a look at what is left.

WEIR names the binary (default build/weir). Nothing here sleeps for a fixed time to wait for something: until() polls.
"""
import atexit
import contextlib
import dataclasses
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WEIR = os.path.abspath(os.environ.get("WEIR", os.path.join(ROOT, "build", "weir")))
# Sanitizers make everything slower; deadlines that guard against hanging are stretched, judgements are not.
PATIENCE = 3 if os.environ.get("WEIR_REPORTS") else 1
LIMIT_S = 60 * PATIENCE
# ThreadSanitizer has a thread of its own, from the first that a program makes.
TSAN_THREADS = 1 if "tsan" in os.environ.get("TSAN_OPTIONS", "") else 0
IS_ROOT = os.geteuid() == 0

# Every process of a test carries this in its environment, so that what is left of it can be found.
MARK = f"WEIR_TEST_MARK={uuid.uuid4().hex}"

# Results are kept where no user's are.
DATA_HOME = tempfile.mkdtemp(prefix="weir-test-data-")
atexit.register(shutil.rmtree, DATA_HOME, ignore_errors=True)
os.environ["XDG_DATA_HOME"] = DATA_HOME

needs_root = pytest.mark.skipif(not IS_ROOT, reason="needs root")


def lab_reason():
    """Why a lab can't run here, or None."""
    if not IS_ROOT:
        return "a lab needs root"
    if not os.path.exists("/dev/net/tun"):
        return "a lab needs /dev/net/tun"
    return None


needs_lab = pytest.mark.skipif(lab_reason() is not None, reason=lab_reason() or "")


def until(condition, what, seconds=10):
    """Poll until condition() is true; its value."""
    deadline = time.monotonic() + seconds * PATIENCE
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds * PATIENCE} s"
        time.sleep(0.02)


def environment(**more):
    name, _, value = MARK.partition("=")
    return {**os.environ, name: value, **more}


@dataclasses.dataclass
class Outcome:
    """How a command ended."""
    code: int
    out: str
    err: str
    seconds: float

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def err_lines(self):
        return self.err.splitlines()


def call(*command, env=None, timeout=LIMIT_S, **options):
    """Run a command to its end; it must end within the timeout."""
    began = time.monotonic()
    done = subprocess.run([str(word) for word in command], stdout=options.pop("stdout", subprocess.PIPE),
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment(**(env or {})),
                          timeout=timeout, check=False, **options)
    out = done.stdout.decode(errors="replace") if done.stdout is not None else ""
    return Outcome(done.returncode, out, done.stderr.decode(errors="replace"), time.monotonic() - began)


def weir(*args, **options):
    return call(WEIR, *args, **options)


def start(*command, env=None, **options):
    """Start a command in a process group of its own."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, env=environment(**(env or {})),
                            start_new_session=True, **options)


def finish(process, timeout=LIMIT_S):
    """Wait for a started command; kill it when it hangs, which fails the test."""
    began = time.monotonic()
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return Outcome(process.returncode, (out or b"").decode(errors="replace"), (err or b"").decode(errors="replace"),
                   time.monotonic() - began)


def error_of(outcome, code, command, as_json=False):
    """Check the promised shape of a failure: one line `weir COMMAND: text`, perhaps `hint: ...`, the exit code."""
    lines = outcome.err_lines
    assert outcome.code == code, (outcome.code, outcome.err)
    assert lines and lines[0].startswith(f"weir {command}: "), lines
    assert len(lines) <= 2, lines
    assert all(line.startswith("hint: ") for line in lines[1:]), lines
    text = lines[0].split(": ", 1)[1]
    assert text.strip() and "(null)" not in outcome.err
    if as_json:
        assert set(outcome.json) == {"error"}
        error = outcome.json["error"]
        assert set(error) == {"code", "operation", "text", "hint"}
        assert error["code"] == code and error["text"] == text and error["operation"]
    else:
        assert outcome.out == ""
    return outcome.err


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """`weir serve` on a free port."""

    def __init__(self, *args, command=()):
        self.log = tempfile.TemporaryFile()
        for _ in range(5): # another program may take the port in between
            self.port = free_port()
            self.process = start(*command, WEIR, "serve", "--port", self.port, *args, stdout=self.log, stderr=self.log)
            until(lambda: self.process.poll() is not None or self.listens(), "weir serve listens")
            if self.process.poll() is None:
                break
        assert self.process.poll() is None, self.words()
        self.target = f"127.0.0.1:{self.port}"

    def words(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def listens(self):
        return "listening on port" in self.words()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S)

    def count(self, kind):
        return len(os.listdir(f"/proc/{self.process.pid}/{kind}"))

    def at_rest(self):
        """No connection, no thread of a session: the listener, the standard three and the main thread."""
        until(lambda: self.count("task") <= self.idle[1] + TSAN_THREADS and self.count("fd") == self.idle[0],
              f"back to {self.idle} fds and threads", 20)

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
        outcome = finish(self.process)
        self.log.close()
        return outcome.code

    def __enter__(self):
        self.idle = (self.count("fd"), self.count("task"))
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGKILL if self.process.poll() is None and _[0] else signal.SIGTERM)


# LeakSanitizer can't stop the world in a PID namespace of a lab's; loopback runs look for leaks.
LAB_ENVIRONMENT = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


def lab_command(link, *command):
    """The argv of a lab on a link: a string of options."""
    return [WEIR, "lab", *link.split(), "--", *command]


def lab(link, *command, **options):
    return call(*lab_command(link, *command), env=LAB_ENVIRONMENT, **options)


def marked_processes():
    """Processes that a test has started and that still live."""
    found = []
    mark = MARK.encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/environ", "rb") as source:
                if mark not in source.read().split(b"\0"):
                    continue
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as source:
                if source.read().rpartition(")")[2].split()[0] != "Z":
                    found.append(int(pid))
    return [pid for pid in found if pid != os.getpid()]


def links_of_host():
    with contextlib.suppress(OSError):
        return sorted(os.listdir("/sys/class/net"))
    return []
