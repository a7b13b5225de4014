# SPDX-License-Identifier: MIT
"""The fixture of every test that needs a guest."""
import pytest

import guest


@pytest.fixture(scope="session")
def uml():
    """guest.py, where a guest can run."""
    reason = guest.reason()
    if reason:
        pytest.skip(reason)
    return guest
