"""Where the files of a local control plane lie, and what is in them before anything starts."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import yaml

from schedlab import data
from schedlab.cluster import audit, pki
from schedlab.cluster.ports import HOST
from schedlab.errors import EnvironmentStartError

ADMIN = "admin"
SCHEDULER = "system:kube-scheduler"
CONTROLLER_MANAGER = "system:kube-controller-manager"
KWOK = "kwok"

_MASTERS = ("system:masters",)
USERS: Mapping[str, tuple[str, ...]] = {
    ADMIN: _MASTERS,
    SCHEDULER: (),
    # All controllers act under this one name; their user agents tell them apart in the audit log.
    CONTROLLER_MANAGER: _MASTERS,
    KWOK: _MASTERS,
}
"""Who has a kubeconfig, and the groups in its certificate. The scheduler has no more than RBAC gives it."""

_SERVICE_ADDRESS = (
    "10.96.0.1"  # the first of components.SERVICE_RANGE, where the API server is inside a cluster
)
_SHORT_ENOUGH = 60  # a socket's path holds 107 bytes, directory and file names included


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the files of one control plane lie: `private` is for its owner only and dies with it."""

    directory: Path
    private: Path

    @property
    def certificates(self) -> Path:
        """Certificates and keys."""
        return self.private / "pki"

    @property
    def etcd_socket(self) -> Path:
        """Where kube-apiserver reaches etcd: a socket in a private directory needs no certificate."""
        return self.private / "etcd.sock"

    @property
    def etcd_data(self) -> Path:
        """The data directory of etcd."""
        return self.private / "etcd"

    @property
    def audit_policy(self) -> Path:
        """The audit policy's file."""
        return self.private / "audit-policy.yaml"

    @property
    def audit_log(self) -> Path:
        """The audit log's file."""
        return self.directory / "audit.log"

    @property
    def stages(self) -> Path:
        """The configuration of kwok: all stages in one file."""
        return self.private / "stages.yaml"

    def log(self, component: str) -> Path:
        """The log of a component."""
        return self.directory / "logs" / f"{component}.log"

    def kubeconfig(self, user: str, instance: str = "") -> Path:
        """The kubeconfig of `user`, or of one of several programs that all act as this user."""
        return self.private / "kubeconfigs" / ((instance or user).replace(":", "-") + ".yaml")

    def create(self) -> None:
        """Make the directories; the private one is new, and its owner's only from the first moment.

        Raises:
            EnvironmentStartError: one cannot be made, or somebody else has made the private one.
        """
        try:
            self.private.mkdir(mode=0o700)
            (self.directory / "logs").mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise EnvironmentStartError(
                f"{error.filename} cannot be made: {error.strerror}",
                hint="set TMPDIR to a directory that you may write to",
            ) from error

    def prepare(self, *, name: str, server: str) -> pki.CertificateAuthority:
        """Write what the components read: certificates, kubeconfigs, the audit policy, the stages.

        Returns the authority, which can issue more certificates as long as somebody holds it: its key is
        never written down.
        """
        for directory in (self.certificates, self.private / "kubeconfigs"):
            directory.mkdir(mode=0o700)
        authority = pki.CertificateAuthority(f"schedlab {name}")
        pki.write_private(self.certificates / "ca.crt", authority.certificate)
        names = ["localhost", "kubernetes.default.svc"]
        self._write_pair("server", authority.server([HOST, _SERVICE_ADDRESS], names))
        pki.write_private(self.certificates / "service-accounts.key", pki.signing_key())
        for user, groups in USERS.items():
            credential = authority.client(user, groups)
            if user == ADMIN:
                self._write_pair(ADMIN, credential)
            pki.write_kubeconfig(
                self.kubeconfig(user),
                server=server,
                cluster=f"schedlab-{name}",
                authority=authority.certificate,
                user=user,
                credential=credential,
            )
        self.audit_policy.write_bytes(msgspec.json.encode(audit.policy(SCHEDULER)))
        self.stages.write_text(stages())
        return authority

    def _write_pair(self, stem: str, credential: pki.Credential) -> None:
        pki.write_private(self.certificates / f"{stem}.crt", credential.certificate)
        pki.write_private(self.certificates / f"{stem}.key", credential.key)

    def remove_private(self) -> None:
        """Remove keys, kubeconfigs and data; with a run directory inside, that too."""
        shutil.rmtree(self.private, ignore_errors=True)


def plan(run_directory: Path | None) -> Layout:
    """A layout that nobody else has; the run directory lies in the private one unless one is given.

    Nothing is made yet, so that it can be written down before there is anything to find.
    """
    base = tempfile.gettempdir()
    if len(base) > _SHORT_ENOUGH:
        base = "/tmp"  # noqa: S108 - `create` makes an unguessable directory in it and takes no other's
    private = Path(base) / f"schedlab-{secrets.token_hex(6)}"
    return Layout(directory=run_directory.absolute() if run_directory else private / "run", private=private)


def stages() -> str:
    """The configuration of kwok: every file of `manifests/stages` as one YAML stream."""
    paths = sorted(data.path("manifests/stages").glob("*.yaml"))
    return yaml.safe_dump_all([yaml.safe_load(path.read_text()) for path in paths], sort_keys=False)
