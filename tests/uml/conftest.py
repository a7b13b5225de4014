# SPDX-License-Identifier: MIT
"""The fixture of every test that needs a guest."""
import os

import pytest

import guest
import weirtest

# What a guest consists of on the host is found as every process of a test.
os.environ.update([weirtest.MARK.split("=")])


@pytest.fixture(scope="session")
def uml():
    """guest.py, where a guest can run."""
    reason = guest.reason()
    if reason:
        pytest.skip(reason)
    return guest
