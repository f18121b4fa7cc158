"""Errors carry a message, a way out, and an exit code that CI can tell apart."""

import pytest

from schedlab import data
from schedlab.errors import EnvironmentStartError, SchedlabError, UsageError


def test_an_error_is_printed_as_message_and_hint():
    """The hint has a line of its own."""
    assert SchedlabError("it broke", hint="mend it").render() == "error: it broke\nhint: mend it"


def test_an_error_without_a_hint_has_no_hint_line():
    """Nothing is printed for nothing."""
    assert SchedlabError("it broke").render() == "error: it broke"


@pytest.mark.parametrize(("kind", "code"), [(SchedlabError, 1), (UsageError, 4), (EnvironmentStartError, 10)])
def test_each_kind_of_error_has_its_exit_code(kind, code):
    """1, 4 are pytest's; 10 is schedlab's own."""
    assert kind("x").exit_code == code


def test_shipped_data_is_found():
    """The node profiles are where a checkout or a wheel has them."""
    assert (data.path("manifests/nodes") / "h100x8.yaml").is_file()


def test_a_wheel_prefers_its_own_data(tmp_path, monkeypatch):
    """In a wheel the package carries `_data`; that goes before whatever lies beside site-packages."""
    (tmp_path / "a/manifests").mkdir(parents=True)
    (tmp_path / "b/manifests").mkdir(parents=True)
    monkeypatch.setattr(data, "_ROOTS", (tmp_path / "a", tmp_path / "b"))
    assert data.path("manifests") == tmp_path / "a/manifests"


def test_missing_data_names_what_is_missing_and_where_it_was_sought():
    """An incomplete installation is reported, not met later as an empty list."""
    with pytest.raises(EnvironmentStartError, match="lacks 'nothing/here'"):
        data.path("nothing/here")
