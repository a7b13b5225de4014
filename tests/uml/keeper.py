# SPDX-License-Identifier: MIT
"""Keeps one User-Mode Linux guest for guest.py and leaves nothing of it behind, however both of them end.

Reads one line from stdin: an object with kernel, command (a shell script), modules, memory_mb and timeout_s. Writes two
lines to stdout: the job's folder and the guest's pid when it has started, and how it ended ("ended" or "deadline"). The
folder then holds console, stdout, stderr, status and out/ until stdin ends. When that ends earlier, whoever asked is
gone: the guest is killed.
"""
import contextlib
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile

INIT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "init")
# prctl(2)
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
libc = ctypes.CDLL(None, use_errno=True)


def memory_folder(memory_mb):
    """Where the kernel keeps the guest's memory, in a file without a name: memory itself, if it is large enough (a
    container's often has 64 MB)."""
    with contextlib.suppress(OSError):
        state = os.statvfs("/dev/shm")
        if state.f_bavail * state.f_frsize > memory_mb << 20 and os.access("/dev/shm", os.W_OK):
            return "/dev/shm"
    return tempfile.gettempdir()


def prepare(job, request):
    os.mkdir(f"{job}/out")
    modules = "".join(f"{name}\n" for name in request["modules"])
    for name, text in (("command", request["command"]), ("modules", modules)):
        with open(f"{job}/{name}", "w", encoding="utf-8") as target:
            target.write(text)


def start(job, request):
    argv = [request["kernel"], f"mem={request['memory_mb']}M", f"uml_dir={job}/uml", "umid=guest",
            "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro", f"init={INIT}", f"weir_job={job}",
            "con=null", "con0=null,fd:1", "ssl=null", "quiet", "loglevel=3"]
    with open(f"{job}/console", "wb") as console:
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=console, stderr=console, start_new_session=True,
                                env={**os.environ, "TMPDIR": memory_folder(request["memory_mb"])},
                                preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL))


def wait(guest, timeout_s):
    """How it ended: None when whoever asked is gone."""
    pidfd = os.pidfd_open(guest.pid)
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    poll.register(0, select.POLLIN)
    ready = [fd for fd, _ in poll.poll(timeout_s * 1000)]
    os.close(pidfd)
    if not ready:
        return "deadline"
    return None if 0 in ready else "ended"


def end(guest):
    """The kernel's helpers and the guest's processes are in its group, and come to this process when it dies."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(guest.pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def say(line):
    with contextlib.suppress(BrokenPipeError):
        os.write(1, f"{line}\n".encode())


def main():
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    request = json.loads(sys.stdin.buffer.readline())
    job = tempfile.mkdtemp(prefix="weir-uml-")
    guest = None
    try:
        prepare(job, request)
        guest = start(job, request)
        say(f"{guest.pid} {job}")
        how = wait(guest, request["timeout_s"])
        end(guest)
        guest = None
        if how:
            say(how)
            sys.stdin.buffer.read()
    finally:
        if guest:
            end(guest)
        shutil.rmtree(job, ignore_errors=True)


if __name__ == "__main__":
    main()
