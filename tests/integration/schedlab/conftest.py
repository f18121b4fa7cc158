"""Fixtures for tests of the laboratory on real control planes."""

import kubernetes
import pytest

from schedlab import timing
from schedlab.cluster.fixtures import boot, control_plane

__all__ = ["boot", "control_plane"]


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory, monkeypatch):
    """Keep records apart from those of the user, of other runs, and of the control plane that lasts."""
    monkeypatch.setenv("SCHEDLAB_STATE_DIR", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def api():
    """Gives the official client for a kubeconfig."""
    opened = []

    def connect(kubeconfig):
        opened.append(kubernetes.config.new_client_from_config(str(kubeconfig)))
        return kubernetes.client.CoreV1Api(opened[-1])

    yield connect
    for client in opened:
        client.close()


@pytest.fixture
def eventually():
    """Asks until an answer is true, and returns it."""

    def ask(question, seconds=15.0):
        deadline = timing.Deadline.after(seconds)
        while not (answer := question()):
            assert not deadline.expired, f"still {answer!r} after {seconds} s"
            timing.pause(0.05)
        return answer

    return ask


@pytest.fixture
def namespace(control_plane, api):
    """A namespace of the test's own."""
    core = api(control_plane.kubeconfig())
    made = core.create_namespace({"metadata": {"generateName": "t-"}})
    yield made.metadata.name
    core.delete_namespace(made.metadata.name)
