"""No replica survives its test, also when the test fails."""

from __future__ import annotations

import election_world
import pytest


@pytest.fixture(autouse=True)
async def no_replica_survives():
    yield
    await election_world.stop_all(*election_world.STARTED)
    election_world.STARTED.clear()
