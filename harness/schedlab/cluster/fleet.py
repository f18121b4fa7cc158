"""A fleet in one line: `4 racks x 18 gb200-nvl72, 200 h100x8 in 3 zones, 1000 cpu`.

    fleet = group { "," group }
    group = [ NUMBER "racks" "x" ] NUMBER PROFILE [ "in" place { "and" place } ]
    place = NUMBER ( "zones" | "islands" | "racks" )

`docs/fleets.md` tells it by example. Everything is dealt out by number, nothing by chance: the same line
always makes the same machines in the same places.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schedlab.cluster import nodes
from schedlab.cluster.components import GRACE_SECONDS, LEASE_SECONDS
from schedlab.errors import UsageError

_TOKEN = re.compile(r",|[^\s,]+")
_PLACES = ("zones", "islands", "racks")
_RENEWALS_PER_LEASE = 4  # a kubelet, and kwok, renew when a quarter of the time is over
_RENEWALS_PER_SECOND = 40
_EXAMPLE = "write for example: 4 racks x 18 gb200-nvl72, 200 h100x8 in 3 zones, 1000 cpu"


@dataclass(frozen=True, slots=True)
class Batch:
    """Machines of one kind and how they are dealt out: racks lie in islands, islands in zones.

    `islands` are what one fast network joins (a scalable unit, a pod of leaf switches); 0 is none. With
    `per_rack` each rack is filled before the next; without it machines go to racks in turn.
    """

    profile: str
    count: int
    zones: int = 1
    islands: int = 0
    racks: int = 0
    per_rack: int = 0

    def place(self, index: int) -> tuple[int, int | None, int | None]:
        """The zone, island and rack of a machine, each by its number in this batch."""
        rack = island = None
        unit = index
        if self.racks:
            unit = rack = index // self.per_rack if self.per_rack else index % self.racks
        if self.islands:
            unit = island = unit % self.islands
        return unit % self.zones, island, rack


def parse(text: str) -> list[Batch]:
    """The batches of a fleet, in the order given.

    Raises:
        UsageError: it does not follow the grammar, or names no profile; the message tells the character.
    """
    reader = _Reader(text)
    batches = [_batch(reader)]
    while reader.take(","):
        batches.append(_batch(reader))
    if not reader.done:
        raise reader.error(f"expected a comma or the end, not {reader.word!r}")
    return batches


def machines(batches: Sequence[Batch]) -> Iterator[dict[str, Any]]:
    """The Node objects of a fleet, named by profile and number.

    Numbers of machines, islands and racks go on where an earlier batch of the profile has ended; zones are
    the cluster's and shared by all.
    """
    address = 0
    used: Counter[tuple[str, str]] = Counter()
    for batch in batches:
        kind = Path(batch.profile).stem
        for index in range(batch.count):
            zone, island, rack = batch.place(index)
            yield nodes.render(
                batch.profile,
                f"{kind}-{used[kind, 'machine'] + index}",
                zone=f"zone-{zone}",
                island="" if island is None else f"{kind}-island-{used[kind, 'island'] + island}",
                rack="" if rack is None else f"{kind}-rack-{used[kind, 'rack'] + rack}",
                address=nodes.address(address + index),
                ready=True,
            )
        address += batch.count
        used.update({(kind, "machine"): batch.count})
        used.update({(kind, "island"): batch.islands, (kind, "rack"): batch.racks})


def size(batches: Sequence[Batch]) -> int:
    """How many machines a fleet has."""
    return sum(batch.count for batch in batches)


@dataclass(frozen=True, slots=True)
class Heartbeats:
    """How often the kubelets of a cluster are heard of, as flags of the programs concerned.

    `grace` is after how long a silent node counts as lost, empty where that is Kubernetes' default.
    """

    grace: str = ""
    kwok_flags: Mapping[str, str] = field(default_factory=dict)
    controller_flags: Mapping[str, str] = field(default_factory=dict)


def heartbeats(count: int) -> Heartbeats:
    """Kubernetes' own heartbeats up to 400 machines; beyond that as slow as keeps them at 40 a second.

    Five thousand kubelets would renew 500 leases a second, which is more than the rest of a small machine
    can bear. The time after which a silent node counts as lost grows alike.
    """
    lease = max(LEASE_SECONDS, math.ceil(count / _RENEWALS_PER_SECOND) * _RENEWALS_PER_LEASE)
    if lease == LEASE_SECONDS:
        return Heartbeats()
    grace = f"{lease * GRACE_SECONDS // LEASE_SECONDS}s"
    return Heartbeats(
        grace, {"node-lease-duration-seconds": str(lease)}, {"node-monitor-grace-period": grace}
    )


class _Reader:
    """The words of a fleet, each with its place."""

    def __init__(self, text: str) -> None:
        self._words = [(match.group(), match.start() + 1) for match in _TOKEN.finditer(text)]
        self._end = len(text) + 1
        self._at = 0

    @property
    def done(self) -> bool:
        return self._at == len(self._words)

    @property
    def word(self) -> str:
        """The word that comes next, empty at the end."""
        return "" if self.done else self._words[self._at][0]

    def next(self) -> str:
        word = self.word
        self._at += 1
        return word

    def take(self, word: str) -> bool:
        """Take the next word if it is `word`."""
        found = self.word == word
        self._at += found
        return found

    def number(self, what: str) -> int:
        """The next word as a number above 0."""
        if not self.word.isascii() or not self.word.isdigit() or int(self.word) == 0:
            raise self.error(f"expected the number of {what}, not {self.word or 'the end'!r}")
        return int(self.next())

    def error(self, problem: str, hint: str = _EXAMPLE) -> UsageError:
        """A problem with the next word."""
        place = self._end if self.done else self._words[self._at][1]
        return UsageError(f"fleet, character {place}: {problem}", hint=hint)


def _batch(reader: _Reader) -> Batch:
    number = reader.number("machines or racks")
    racks = per_rack = 0
    if reader.word in ("rack", "racks"):
        reader.next()
        if not reader.take("x"):
            raise reader.error(f"expected 'x' and the machines of a rack, not {reader.word or 'the end'!r}")
        racks, per_rack = number, reader.number("machines of a rack")
        number = racks * per_rack
    name = _profile(reader)
    places = _places(reader, racks)
    return Batch(name, number, places["zones"], places["islands"], places["racks"], per_rack)


def _profile(reader: _Reader) -> str:
    """A profile by its name, by the beginning of just one name, or by the path of a file."""
    word, known = reader.word, nodes.profiles()
    found = [name for name in known if name.startswith(word)] if word else []
    if word in known or word.endswith((".yaml", ".yml")):
        nodes.profile(word)
        return reader.next()
    if len(found) == 1:
        reader.next()
        return found[0]
    problem = f"{word!r} may be {' or '.join(found)}" if found else f"there is no node profile {word!r}"
    raise reader.error(
        problem if word else "expected a node profile, not 'the end'",
        hint=f"profiles are {', '.join(known)}, or give the path of a file",
    )


def _places(reader: _Reader, racks: int) -> dict[str, int]:
    """What comes after `in`; a wider place cannot be smaller in number than what lies in it."""
    places = {"zones": 1, "islands": 0, "racks": racks}
    given: list[str] = []
    more = reader.take("in")
    while more:
        number = reader.number("zones, islands or racks")
        kind = reader.word if reader.word.endswith("s") else f"{reader.word}s"
        if kind not in _PLACES:
            raise reader.error(f"expected zones, islands or racks, not {reader.word or 'the end'!r}")
        if kind in given or (kind == "racks" and racks):
            raise reader.error(f"{kind} are given twice")
        reader.next()
        places[kind] = number
        given.append(kind)
        more = reader.take("and")
    for wide, narrow in (("zones", "islands"), ("islands", "racks"), ("zones", "racks")):
        if places[narrow] and places[wide] > places[narrow]:
            few, many = places[narrow], places[wide]
            raise reader.error(
                f"{few} {narrow} cannot lie in {many} {wide}", hint=f"give at least {many} {narrow}"
            )
    return places
