"""What runs is written down, and can be found and told apart later."""

import os
import stat
import threading

import pytest

from schedlab.cluster.layout import Layout
from schedlab.cluster.processes import Identity
from schedlab.cluster.state import ProcessRecord, Registry, check_name, new_record, state_directory
from schedlab.errors import EnvironmentStartError, UsageError

ME = Identity.of(os.getpid())
GONE = Identity(ME.pid, ME.started + 1, ME.boot)


@pytest.fixture
def registry():
    return Registry()


def record(tmp_path, name="lab", *, owner=ME, background=False, processes=()):
    """A record with one run directory."""
    made = new_record(
        name,
        owner=owner,
        background=background,
        layout=Layout(directory=tmp_path / "run", private=tmp_path / "private"),
        owns_directory=True,
    )
    made.processes = [ProcessRecord(f"p{index}", one, ["p"], "log") for index, one in enumerate(processes)]
    return made


def test_a_record_is_read_as_it_was_written(registry, tmp_path):
    """Every field, in a file that only the owner can read."""
    written = record(tmp_path, processes=[ME])
    written.ports["etcd"] = 7
    registry.save(written)
    assert registry.records() == [written]
    (file,) = (state_directory() / "clusters").glob("*.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_two_records_of_one_name_have_two_ids(registry, tmp_path):
    """Runs side by side do not overwrite each other."""
    registry.save(record(tmp_path))
    registry.save(record(tmp_path))
    assert len({one.id for one in registry.records()}) == 2


@pytest.mark.parametrize(
    ("owner", "processes", "wanted"),
    [
        (ME, [], True),
        (GONE, [ME], False),
        (None, [GONE, ME], True),
        (None, [GONE], False),
        (None, [], False),
    ],
    ids=[
        "its owner runs",
        "its owner is gone, though its programs run",
        "without an owner, one program runs",
        "without an owner, nothing runs any more",
        "without an owner, nothing ever ran",
    ],
)
def test_a_control_plane_is_wanted_while(tmp_path, owner, processes, wanted):
    """The owner decides; one in the background lives as long as something of it does."""
    assert record(tmp_path, owner=owner, processes=processes).wanted is wanted


def test_a_background_name_is_taken_once(registry, tmp_path):
    """`schedlab down NAME` must mean one thing; test runs may share a name."""
    registry.add(record(tmp_path, background=True))
    with pytest.raises(UsageError, match="already running") as caught:
        registry.add(record(tmp_path, background=True))
    assert "schedlab down --name lab" in caught.value.hint
    registry.add(record(tmp_path))
    registry.add(record(tmp_path))
    assert registry.named("lab").background


def test_a_forgotten_record_is_gone(registry, tmp_path):
    """Forgetting it twice does no harm."""
    one = record(tmp_path)
    registry.save(one)
    registry.forget(one)
    registry.forget(one)
    assert registry.records() == []


def test_a_record_that_cannot_be_read_is_named(registry):
    """Another version may have written it; what it describes may still run."""
    file = state_directory() / "clusters" / "x.json"
    file.write_text('{"id": 1}')
    with pytest.raises(EnvironmentStartError, match=r"x\.json is not a record") as caught:
        registry.records()
    assert "remove it" in caught.value.hint


def test_the_lock_admits_one_at_a_time(registry):
    """Whoever comes second waits until the first is done."""
    order = []
    inside = threading.Event()

    def second():
        inside.wait(5)
        with Registry().lock():
            order.append("second")

    thread = threading.Thread(target=second)
    thread.start()
    with registry.lock():
        inside.set()
        thread.join(0.1)
        order.append("first")
    thread.join(5)
    assert order == ["first", "second"]


@pytest.mark.parametrize("name", ["", "Lab", "a_b", "-a", "a-", "a/b", "..", "a" * 41])
def test_a_name_that_cannot_be_a_file_is_refused(name):
    """Names become file names and parts of host names."""
    with pytest.raises(UsageError, match="cannot name a cluster"):
        check_name(name)


def test_the_state_directory_follows_the_environment(monkeypatch):
    """Its own variable, then XDG's, then the home directory."""
    monkeypatch.delenv("SCHEDLAB_STATE_DIR")
    monkeypatch.setenv("XDG_STATE_HOME", "/xdg")
    assert str(state_directory()) == "/xdg/schedlab"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert str(state_directory()) == "/home/me/.local/state/schedlab"
