"""Plugins are made from classes and functions; what cannot be made is refused in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from fakes import handle

from kubesched.framework import Handle, PluginArgs, RegistrationError
from kubesched.framework.construction import args_type, make


class Args(PluginArgs, frozen=True, kw_only=True):
    limit: int = 3


class Needs(PluginArgs, frozen=True, kw_only=True):
    limit: int


class _Base:
    name = "P"


class Plain(_Base):
    pass


class WithArgs(_Base):
    def __init__(self, args: Args):
        self.given = args


class WithHandle(_Base):
    def __init__(self, handle: Handle):
        self.given = handle


class WithBoth(_Base):
    def __init__(self, handle, args: Args, more: int = 0):
        self.given = (args, handle)


class WithMapping(_Base):
    def __init__(self, args: Mapping[str, Any]):
        self.given = args


class WithNeeds(_Base):
    def __init__(self, args: Needs):
        self.given = args


class WithStrange(_Base):
    def __init__(self, client):
        self.given = client


class WithWrongArgs(_Base):
    def __init__(self, args: int):
        self.given = args


class WithUnresolved(_Base):
    def __init__(self, args: Nowhere):  # noqa: F821 - that it is not there is the point
        self.given = args


def function(settings: Args, of: Handle):
    made = Plain()
    made.given = (settings, of)
    return made


def test_a_class_gets_what_its_constructor_names():
    offered = handle()
    assert isinstance(make("P", Plain, None, offered), Plain)
    assert make("P", WithArgs, Args(limit=5), offered).given == Args(limit=5)
    assert make("P", WithHandle, None, offered).given is offered
    assert make("P", WithBoth, None, offered).given == (Args(), offered)
    assert make("P", WithMapping, {"a": 1}, offered).given == {"a": 1}


def test_a_function_gets_both_in_order():
    offered = handle()
    assert make("P", function, None, offered).given == (Args(), offered)


@pytest.mark.parametrize(
    ("maker", "expected"),
    [
        pytest.param(Plain, None, id="a plugin without arguments"),
        pytest.param(WithArgs, Args, id="a class with typed arguments"),
        pytest.param(function, Args, id="a function with typed arguments"),
        pytest.param(WithMapping, None, id="arguments as the plain mapping"),
        pytest.param(lambda args, handle: Plain(), None, id="arguments without a type"),
    ],
)
def test_the_annotation_is_the_type_of_the_arguments(maker, expected):
    assert args_type("P", maker) is expected


@pytest.mark.parametrize(
    ("maker", "text"),
    [
        pytest.param(WithStrange, "nobody could give it client", id="a parameter nobody knows"),
        pytest.param(
            WithWrongArgs, "annotated as int; arguments are a subclass of", id="args of another type"
        ),
        pytest.param(WithUnresolved, "cannot be resolved at run time: name 'Nowhere'", id="an unknown type"),
        pytest.param(Plain(), "is neither a plugin class nor a function", id="an instance"),
        pytest.param(lambda args: Plain(), r"must take \(args, handle\)", id="a function of one parameter"),
    ],
)
def test_what_makes_no_plugin_is_refused(maker, text):
    with pytest.raises(RegistrationError, match=f'^plugin "P": .*{text}'):
        make("P", maker, None, handle())


@pytest.mark.parametrize(
    ("maker", "args", "text"),
    [
        pytest.param(
            WithNeeds, None, "it needs arguments in pluginConfig: .*limit", id="none where some are needed"
        ),
        pytest.param(
            WithArgs, {"limit": 5}, "its arguments are Args, not dict", id="a mapping where a type is"
        ),
        pytest.param(Plain, {"limit": 5}, "it takes no arguments: remove", id="some where none are taken"),
    ],
)
def test_arguments_it_cannot_take_are_refused(maker, args, text):
    with pytest.raises(ValueError, match=text):
        make("P", maker, args, handle())
