"""kube-scheduler's flags, in its sections, with its defaults and its meaning.

A flag that cannot mean anything here is accepted, so that a manifest written for kube-scheduler runs
unchanged, and said at start. Follows `cmd/kube-scheduler/app/options`, `apiserver/pkg/server/options` and
`component-base`.
"""

from __future__ import annotations

from collections.abc import Mapping

from kubesched.config import durations
from kubesched.config.flag_kinds import (
    BOOL,
    DURATION,
    FLOAT,
    GATES,
    INT,
    INT32,
    INT32S,
    IP,
    LEVEL,
    NAMED_PAIRS,
    PAIRS,
    PATTERNS,
    QUANTITY,
    STRING,
    STRINGS,
    VERSION,
)
from kubesched.config.flagset import Flag

_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - upstream's default
_IGNORED = "DEPRECATED, and ignored when --config is given: "
_HTTP1 = "only HTTP/1.1 is served"
_OPENSSL = "OpenSSL's own choice is used"
_NO_PROXY = "requests through a front proxy are not authenticated"
_UNBUFFERED = "every line is written at once"

SECTIONS: Mapping[str, tuple[Flag, ...]] = {
    "Misc": (
        Flag("config", STRING, "", "The path to the configuration file."),
        Flag("master", STRING, "", "The address of the API server (overrides any value in kubeconfig)."),
        Flag("write-config-to", STRING, "", "Write the configuration to this file and exit."),
    ),
    "Secure serving": (
        Flag("bind-address", IP, _ANY_ADDRESS, "The address on which to listen for --secure-port."),
        Flag("cert-dir", STRING, "", "The directory of kube-scheduler.crt and kube-scheduler.key."),
        Flag("disable-http2-serving", BOOL, False, "Disable HTTP/2.", inert=_HTTP1),
        Flag("http2-max-streams-per-connection", INT, 0, "Bound of HTTP/2 streams.", inert=_HTTP1),
        Flag("permit-address-sharing", BOOL, False, "Bind the port with SO_REUSEADDR."),
        Flag("permit-port-sharing", BOOL, False, "Bind the port with SO_REUSEPORT."),
        Flag("secure-port", INT, 10259, "The port of HTTPS with authentication; 0 serves nothing."),
        Flag(
            "tls-cert-file", STRING, "", "The certificate for HTTPS; without it a self-signed one is made."
        ),
        Flag("tls-cipher-suites", STRINGS, (), "The cipher suites for HTTPS up to TLS 1.2, in Go's names."),
        Flag("tls-curve-preferences", INT32S, (), "The key exchange mechanisms.", inert=_OPENSSL),
        Flag("tls-min-version", STRING, "", "The lowest TLS version; VersionTLS12 where less is said."),
        Flag("tls-private-key-file", STRING, "", "The private key of --tls-cert-file."),
        Flag("tls-sni-cert-key", NAMED_PAIRS, (), "Certificate and key by host name: crt,key[:names]."),
    ),
    "Authentication": (
        Flag("authentication-kubeconfig", STRING, "", "The kubeconfig with which to review tokens."),
        Flag("authentication-skip-lookup", BOOL, False, "Do not look up the cluster's client CA."),
        Flag("authentication-token-webhook-cache-ttl", DURATION, 10.0, "How long a token review is kept."),
        Flag(
            "authentication-tolerate-lookup-failure", BOOL, True, "Go on without the cluster's client CA."
        ),
        Flag("client-ca-file", STRING, "", "The CA of client certificates that are recognised."),
        Flag("requestheader-allowed-names", STRINGS, (), "Names of front proxies.", inert=_NO_PROXY),
        Flag("requestheader-client-ca-file", STRING, "", "The CA of front proxies.", inert=_NO_PROXY),
        Flag(
            "requestheader-extra-headers-prefix", STRINGS, ("x-remote-extra-",), "Headers.", inert=_NO_PROXY
        ),
        Flag("requestheader-group-headers", STRINGS, ("x-remote-group",), "Headers.", inert=_NO_PROXY),
        Flag("requestheader-uid-headers", STRINGS, (), "Headers.", inert=_NO_PROXY),
        Flag("requestheader-username-headers", STRINGS, ("x-remote-user",), "Headers.", inert=_NO_PROXY),
    ),
    "Authorization": (
        Flag(
            "authorization-always-allow-paths", STRINGS, ("/healthz", "/readyz", "/livez"),
            "Paths that anybody may read.",
        ),
        Flag("authorization-kubeconfig", STRING, "", "The kubeconfig with which to review access."),
        Flag("authorization-webhook-cache-authorized-ttl", DURATION, 10.0, "How long a yes is kept."),
        Flag("authorization-webhook-cache-unauthorized-ttl", DURATION, 10.0, "How long a no is kept."),
    ),
    "Deprecated": (
        Flag("contention-profiling", BOOL, True, f"{_IGNORED}block profiling.", inert="one thread schedules"),
        Flag("kube-api-burst", INT32, 100, f"{_IGNORED}requests at once."),
        Flag(
            "kube-api-content-type", STRING, "application/vnd.kubernetes.protobuf",
            f"{_IGNORED}content type of requests.", inert="requests are JSON",
        ),
        Flag("kube-api-qps", FLOAT, 50.0, f"{_IGNORED}requests per second."),
        Flag("kubeconfig", STRING, "", f"{_IGNORED}path to the kubeconfig."),
        Flag(
            "pod-max-in-unschedulable-pods-duration", DURATION, 300.0,
            "DEPRECATED: the longest a pod waits for an event before it is tried again anyway.",
        ),
        Flag("profiling", BOOL, True, f"{_IGNORED}serve /debug/pprof and /debug/flags."),
    ),
    "Leader election": (
        Flag("leader-elect", BOOL, True, "Gain leadership before scheduling."),
        Flag("leader-elect-lease-duration", DURATION, 15.0, "How long a lease that is not renewed is valid."),
        Flag("leader-elect-renew-deadline", DURATION, 10.0, "How long the leader tries to renew its lease."),
        Flag("leader-elect-resource-lock", STRING, "leases", "The type of the lock: leases."),
        Flag("leader-elect-resource-name", STRING, "kube-scheduler", "The name of the lock."),
        Flag("leader-elect-resource-namespace", STRING, "kube-system", "The namespace of the lock."),
        Flag("leader-elect-retry-period", DURATION, 2.0, "How long to wait between attempts."),
    ),
    "Feature gate": (
        Flag("emulated-version", STRINGS, (), "The version to behave as.", inert="it is 1.36"),
        Flag("feature-gates", GATES, (), "Gates to switch: A=true,B=false. May be repeated."),
        Flag("min-compatibility-version", STRINGS, (), "The oldest neighbour.", inert="it is 1.36"),
    ),
    "Metrics": (
        Flag("allow-metric-labels", PAIRS, (), "Label values to tell apart: metric,label=value,value."),
        Flag("allow-metric-labels-manifest", STRING, "", "The same, from a YAML file."),
        Flag("disabled-metrics", STRINGS, (), "Metrics not to show."),
        Flag("show-hidden-metrics-for-version", STRING, "", "Show hidden metrics.", inert="none is hidden"),
    ),
    "Logs": (
        Flag("log-flush-frequency", DURATION, 5.0, "How often to flush logs.", inert=_UNBUFFERED),
        Flag("log-json-info-buffer-size", QUANTITY, "0", "Buffer of info lines.", inert=_UNBUFFERED),
        Flag("log-json-split-stream", BOOL, False, "JSON: errors to stderr, all else to stdout."),
        Flag("log-text-info-buffer-size", QUANTITY, "0", "Buffer of info lines.", inert=_UNBUFFERED),
        Flag("log-text-split-stream", BOOL, False, "Text: errors to stderr, all else to stdout."),
        Flag("logging-format", STRING, "text", 'The format of the log: "text" or "json".'),
        Flag("v", LEVEL, 0, "How much to log.", short="v"),
        Flag("vmodule", PATTERNS, (), "Verbosity by module; only for text."),
    ),
    "Global": (Flag("version", VERSION, "false", "Print the version and quit; raw prints all of it."),),
}  # fmt: skip

ALL: tuple[Flag, ...] = tuple(flag for section in SECTIONS.values() for flag in section)

_ABOUT = """\
kubesched assigns pods to nodes: kube-scheduler's decisions, flags, events and metrics, in Python.

Usage:
  kubesched [flags]
  kubesched explain --help
  kubesched new-plugin --help
"""


def usage() -> str:
    """The help text."""
    parts = [_ABOUT]
    for section, flags in SECTIONS.items():
        heads = [_head(flag) for flag in flags]
        width = max(map(len, heads)) + 3
        lines = [f"{head:<{width}}{_about(flag)}" for head, flag in zip(heads, flags, strict=True)]
        parts.append("\n".join([f"{section} flags:\n", *lines]) + "\n")
    return "\n".join(parts)


def _head(flag: Flag) -> str:
    short = f"-{flag.short}, " if flag.short else "    "
    return f"  {short}--{flag.name} {flag.kind.name}".rstrip()


def _about(flag: Flag) -> str:
    inert = f" [no effect: {flag.inert}]" if flag.inert else ""
    shown = _default(flag)
    return f"{flag.help}{inert}" + (f" (default {shown})" if shown else "")


def _default(flag: Flag) -> str:
    """The default as pflag shows it: nothing for what is empty, but brackets for some lists."""
    value, kind = flag.default, flag.kind
    if kind is DURATION and isinstance(value, float):
        return durations.render(value)
    if isinstance(value, tuple) and (value or kind in {INT32S, NAMED_PAIRS, PAIRS}):
        return f"[{','.join(value)}]"
    if not value or value in {"0", "false"}:
        return ""
    if isinstance(value, bool):
        return "true"
    return f'"{value}"' if kind is STRING else f"{value:g}" if isinstance(value, float) else str(value)
