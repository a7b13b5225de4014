# SPDX-License-Identifier: MIT
"""Fixtures of all end-to-end tests."""
import os
import signal

import pytest

import weirtest

# Started in the background, a shell's child ignores SIGINT and hands that down; the tests send it on purpose.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def tool_is_built():
    assert os.access(weirtest.WEIR, os.X_OK), f"{weirtest.WEIR} is not built; WEIR names another"


@pytest.fixture(autouse=True)
def nothing_is_left():
    """After each test no process that it started lives, and the host's interfaces are as before."""
    links = weirtest.links_of_host()
    yield
    left = []
    try:
        weirtest.until(lambda: not weirtest.marked_processes(), "the end of every process", 5)
    except AssertionError:
        left = weirtest.marked_processes()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    assert not left, f"processes were left: {left}"
    assert weirtest.links_of_host() == links


@pytest.fixture
def server():
    with weirtest.Server() as running:
        yield running
