#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs commands in User-Mode Linux (Debian's user-mode-linux): a kernel of its own with modules that the host's may
lack (vsock_loopback, sch_netem, every congestion control), on the host's own files, as any user, in two seconds.

    done = guest.run("ping -c 1 127.0.0.1", modules=["vsock_loopback"], timeout=30)
    done.code, done.out, done.err, done.files["name"]      # what the command left in $OUT

As a program: tests/uml/guest.py [--module NAME]... [--timeout SECONDS] [--out FOLDER] -- COMMAND...

In the guest: uid 0; the root file system is the host's, read-only; writable are $TMPDIR (its own) and $OUT (results);
weir's folder leads the PATH. One CPU, timer ticks of 10 ms. Most modules load by themselves when they are needed.
"""
import argparse
import contextlib
import dataclasses
import functools
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WEIR = os.path.abspath(os.environ.get("WEIR", os.path.join(HERE, "..", "..", "build", "weir")))
PYTHON = "/usr/bin/python3"
BOOT_S = 30
MOST_BYTES = 64 << 20  # of each result
UP = "weir: the guest is up"


class Error(Exception):
    """The guest did not run the command to its end."""


class CannotStart(Error):
    """User-Mode Linux does not run here."""


@dataclasses.dataclass
class Outcome:
    """How a command in a guest ended; files: name -> bytes, what it left in $OUT."""
    code: int
    out: str
    err: str
    seconds: float
    files: dict

    @property
    def json(self):
        return json.loads(self.out)


def script_of(command, env):
    """The shell script that a guest runs: a list is one command, a string is a script."""
    lines = [f"export PATH={shlex.quote(os.path.dirname(WEIR))}:$PATH"]
    for name, value in {"WEIR": WEIR, **(env or {})}.items():
        lines.append(f"export {name}={shlex.quote(str(value))}")
    lines.append(f"cd {shlex.quote(os.getcwd())} || exit")
    lines.append(command if isinstance(command, str) else shlex.join(str(word) for word in command))
    return "\n".join(lines) + "\n"


def with_server(command, *options):
    """A script that runs `weir serve` with these options (none: TCP on its port) and the command when it listens."""
    if not isinstance(command, str):
        command = shlex.join(str(word) for word in command)
    return f"""
log=$(mktemp)
weir serve {shlex.join(str(word) for word in options)} >"$log" 2>&1 &
server=$!
until grep -q listening "$log"; do
	kill -0 $server 2>/dev/null || {{ cat "$log" >&2; exit 3; }}
	sleep 0.05
done
{command}
status=$?
kill $server
wait $server || cat "$log" >&2
exit $status
"""


def read(path):
    with open(path, "rb") as source:
        return source.read(MOST_BYTES)


def outcome_of(job, how, seconds, timeout):
    console = read(f"{job}/console").decode(errors="replace")
    last = [line for line in console.splitlines() if line.strip()][-3:]
    if UP not in console:
        raise CannotStart(f"User-Mode Linux does not start here: {' | '.join(last) or how}")
    out, err = (read(path).decode(errors="replace") if os.path.exists(path) else ""
                for path in (f"{job}/stdout", f"{job}/stderr"))
    if how == "deadline":
        raise Error(f"the guest did not end within {timeout} s\nstdout: {out}\nstderr: {err}\nconsole: {console}")
    if not os.path.exists(f"{job}/status"):
        raise Error(f"the guest died: {' | '.join(last)}\nstdout: {out}\nstderr: {err}")
    files = {entry.name: read(entry.path) for entry in os.scandir(f"{job}/out") if entry.is_file(follow_symlinks=False)}
    return Outcome(int(read(f"{job}/status")), out, err, seconds, files)


def run(command, modules=(), env=None, timeout=60, memory_mb=256):
    """Run a command in a guest of its own.

    command: a list is one command, a string a shell script
    modules: kernel modules that do not load by themselves
    timeout: seconds for everything, the boot of about two included
    Raises CannotStart, or Error when the guest died or was not done in time.
    """
    kernel = shutil.which("linux.uml")
    if not kernel or not os.path.isdir("/usr/lib/uml/modules"):
        raise CannotStart("the package user-mode-linux is not installed")
    if not shutil.which("modprobe", path="/usr/sbin:/sbin"):
        raise CannotStart("the package kmod is not installed")
    request = {"kernel": kernel, "command": script_of(command, env), "modules": list(modules), "memory_mb": memory_mb,
               "timeout_s": timeout}
    began = time.monotonic()
    keeper = subprocess.Popen([PYTHON, os.path.join(HERE, "keeper.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              start_new_session=True)
    pid, job, how = None, None, ""
    try:
        keeper.stdin.write(json.dumps(request).encode() + b"\n")
        keeper.stdin.flush()
        pid, _, job = keeper.stdout.readline().decode().rstrip("\n").partition(" ")
        how = keeper.stdout.readline().decode().strip()
        if not how:
            raise Error("the keeper of the guest was killed")
        return outcome_of(job, how, time.monotonic() - began, timeout)
    finally:
        with contextlib.suppress(BrokenPipeError):
            keeper.stdin.close()
        keeper.wait()
        if keeper.returncode and job: # killed, so it could not
            with contextlib.suppress(ProcessLookupError):
                os.killpg(int(pid), signal.SIGKILL)
            shutil.rmtree(job, ignore_errors=True)


@functools.lru_cache(maxsize=None)
def reason():
    """Why no guest can run here, or None. A guest that comes up and then fails is a failure, no reason to skip."""
    try:
        run(["true"], timeout=BOOT_S)
    except CannotStart as error:
        return str(error)
    return None


def main():
    parser = argparse.ArgumentParser(prog="guest.py", description="Run a command in User-Mode Linux.")
    parser.add_argument("--module", action="append", default=[], help="load it; may be repeated")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for everything (60)")
    parser.add_argument("--out", help="folder for what the command leaves in $OUT")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    try:
        done = run(options.command, options.module, timeout=options.timeout)
    except Error as error:
        sys.exit(f"guest.py: {error}")
    if options.out:
        os.makedirs(options.out, exist_ok=True)
        for name, content in done.files.items():
            with open(os.path.join(options.out, name), "wb") as target:
                target.write(content)
    sys.stdout.write(done.out)
    sys.stderr.write(done.err)
    sys.exit(done.code)


if __name__ == "__main__":
    main()
