"""What is wrong with flags that can be read: values that do not go together, or are not to be had.

In kube-scheduler's words, so that what is known about an error there holds here. Follows the `Validate`
methods of `apiserver/pkg/server/options`, `component-base/compatibility` and `component-base/logs/api/v1`.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from kubesched.config.flagset import Flags
from kubesched.config.gates import FeatureGates
from kubesched.config.problems import OptionsError
from kubesched.config.types import ClientConnection

_OLDEST, _NEWEST = (1, 33), (1, 36)


def check(flags: Flags, gates: FeatureGates, connection: ClientConnection) -> None:
    """Raises OptionsError that names everything found."""
    found = [
        *_ports(flags),
        *_serving(flags),
        *_versions(flags),
        *_logs(flags, gates),
        *_connection(connection),
    ]
    if found:
        raise OptionsError(found[0] if len(found) == 1 else f"[{', '.join(found)}]")


def _ports(flags: Flags) -> Iterator[str]:
    port = int(flags.number("secure-port"))
    if port > 65535:
        yield f"--secure-port {port} must be between 1 and 65535, inclusive. It cannot be turned off with 0"
    elif port < 0:
        yield f"--secure-port {port} must be between 0 and 65535, inclusive. 0 for turning off secure port"


def _serving(flags: Flags) -> Iterator[str]:
    if bool(flags.text("tls-cert-file")) != bool(flags.text("tls-private-key-file")):
        yield "missing filename for serving cert: --tls-cert-file and --tls-private-key-file go together"
    for path in flags.items("authorization-always-allow-paths"):
        if "*" in path[:-1]:
            yield f'only trailing * allowed in "{path}"'


def _versions(flags: Flags) -> Iterator[str]:
    emulated = yield from _version(flags, "emulated-version", _NEWEST)
    previous = max(_OLDEST, (emulated[0], emulated[1] - 1))
    compatible = yield from _version(flags, "min-compatibility-version", previous)
    if not _OLDEST <= emulated <= _NEWEST:
        yield f"emulation version {_shown(emulated)} is not between [{_shown(_OLDEST)}, {_shown(_NEWEST)}.0]"
    elif emulated != _NEWEST:
        yield f"--emulated-version={_shown(emulated)}: kubesched behaves as 1.36 and nothing else"
    if not _OLDEST <= compatible <= emulated:
        yield (
            f"minCompatibilityVersion version {_shown(compatible)} is not between "
            f"[{_shown(_OLDEST)}, {_shown(emulated)}]"
        )


def _version(flags: Flags, name: str, default: tuple[int, int]) -> Generator[str, None, tuple[int, int]]:
    """The version that a flag gives to the component `kube`, which is the only one."""
    version = default
    for item in flags.items(name):
        component, separator, text = item.rpartition("=")
        if separator and component != "kube":
            yield f"component not registered: {component}"
        elif re.fullmatch(r"v?\d+\.\d+\.\d+.*", text):
            yield f"patch version not allowed, got: kube={text}"
        elif (found := re.fullmatch(r"v?(\d+)\.(\d+)", text)) is None:
            yield f'could not parse "{text}" as version'
        else:
            version = int(found[1]), int(found[2])
    return version


def _shown(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


def _logs(flags: Flags, gates: FeatureGates) -> Iterator[str]:
    style = flags.text("logging-format")
    if flags.number("log-flush-frequency") <= 0:
        yield 'flushFrequency: Invalid value: "0s": Must be greater than zero'
    if style not in {"text", "json"}:
        yield f'format: Invalid value: "{style}": Unsupported log format'
    elif style == "json" and not gates.enabled("LoggingBetaOptions"):
        yield "format: Forbidden: Log format json is disabled, see LoggingBetaOptions feature"
    if style != "text" and flags.items("vmodule"):
        yield "vmodule: Forbidden: Only supported for text log format"
    if gates.enabled("LoggingAlphaOptions"):
        return
    for kind in ("text", "json"):
        if flags.on(f"log-{kind}-split-stream"):
            yield f"options.{kind}.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled"
        if re.search("[1-9]", flags.text(f"log-{kind}-info-buffer-size")):
            yield f"options.{kind}.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled"


def _connection(connection: ClientConnection) -> Iterator[str]:
    if connection.qps > 0 and connection.burst <= 0:
        yield (
            "burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater "
            "than 0"
        )
