"""The types of a test file: `kind: Test` of `schedlab/v1alpha1`, in Chainsaw's words.

These structs are the format: the loader checks files against them, the JSON schema and the reference are
generated from them. Operations have types of their own, in `schedlab.operations`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct, field

from schedlab.suite.check import OPERATIONS, explain_pattern
from schedlab.suite.extenders import ExtenderNeeds

GROUP = "schedlab/v1alpha1"

NAME_PATTERN = explain_pattern(
    r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", "lower case letters, digits and hyphens, at most 63"
)
DURATION_PATTERN = explain_pattern(
    r"^(0|([0-9]+(\.[0-9]+)?(ms|s|m|h))+)$", "a number with a unit, such as 500ms, 5s or 1m30s"
)
MUTATION_PATTERN = explain_pattern(
    r"^[A-Za-z0-9][-A-Za-z0-9 .,:/']{0,60}$", "words that go on after 'with', such as: no budget"
)
BINDING_PATTERN = explain_pattern(r"^[A-Za-z_][A-Za-z0-9_]*$", "letters, digits and underscores")

Name: TypeAlias = Annotated[str, Meta(pattern=NAME_PATTERN)]
Duration: TypeAlias = Annotated[str, Meta(pattern=DURATION_PATTERN)]
BindingName: TypeAlias = Annotated[str, Meta(pattern=BINDING_PATTERN)]
Positive: TypeAlias = Annotated[int, Meta(ge=1)]
Natural: TypeAlias = Annotated[int, Meta(ge=0)]
Operations: TypeAlias = Annotated[
    list[dict[str, Any]], Meta(extra={OPERATIONS: True}, extra_json_schema={OPERATIONS: True})
]


class _Part(Struct, forbid_unknown_fields=True, rename="camel", kw_only=True):
    """A part of a document; unknown fields are errors."""


class Metadata(_Part):
    """Who the test is."""

    name: Annotated[Name, Meta(description="The test's name: a claim, in words joined by hyphens.")]
    labels: Annotated[
        dict[str, str],
        Meta(description="For `--selector`. `plugin` names the plugin that `--sensitivity` disables."),
    ] = {}
    annotations: dict[str, str] = {}


class Timeouts(_Part):
    """How long operations may take, by kind; a step's win over the test's, an operation's own over both."""

    apply: Annotated[
        Duration | None, Meta(description="Each write: apply, create, patch, pods. Default 10s.")
    ] = None
    assert_: Annotated[
        Duration | None, Meta(description="The default `within` of each assertion. Default 30s.")
    ] = field(default=None, name="assert")
    error: Annotated[Duration | None, Meta(description="The default `within` of `error`. Default 30s.")] = (
        None
    )
    delete: Annotated[Duration | None, Meta(description="Until a deleted object is gone. Default 15s.")] = (
        None
    )
    nodes: Annotated[
        Duration | None,
        Meta(description="Until nodes are Ready and the scheduler has seen them. Default 30s."),
    ] = None
    exec: Annotated[Duration | None, Meta(description="Each `command` and `script`. Default 5s.")] = None
    cleanup: Annotated[Duration | None, Meta(description="For undoing the whole test. Default 30s.")] = None


class Binding(_Part):
    """A value with a name, for expressions."""

    name: Annotated[BindingName, Meta(description="`$name` in expressions.")]
    value: Annotated[Any, Meta(description="Any value; expressions in it may use earlier bindings.")]


class SchedulerNeeds(_Part):
    """How the scheduler under test must be set up; it is restarted when it runs otherwise."""

    config: Annotated[
        dict[str, Any],
        Meta(
            description="Merged into the scheduler's KubeSchedulerConfiguration: mappings by key, profiles "
            "by schedulerName, pluginConfig by name, other lists replaced."
        ),
    ] = {}
    flags: Annotated[list[str], Meta(description="Appended to its command line.")] = []
    proxy: Annotated[
        bool, Meta(description="Put a proxy between it and the API server, for the operation `fault`.")
    ] = False
    extenders: Annotated[
        list[ExtenderNeeds] | None,
        Meta(description="HTTP extenders that the runner serves and adds to the configuration."),
    ] = None


Flags: TypeAlias = dict[str, str | int | float | bool]


class ControlPlaneNeeds(_Part):
    """How the control plane's programs must run: flags without dashes, which win over schedlab's own.

    The test gets a control plane that was booted in this way; tests with equal needs share one.
    """

    kube_apiserver: Annotated[
        Flags, Meta(description="Flags of kube-apiserver: `{default-not-ready-toleration-seconds: 2}`.")
    ] = {}
    kube_controller_manager: Annotated[
        Flags, Meta(description="Flags of kube-controller-manager: `{node-monitor-grace-period: 4s}`.")
    ] = {}
    kwok: Annotated[
        Flags,
        Meta(description="Flags of kwok, which plays the kubelets: `{node-lease-duration-seconds: 4}`."),
    ] = {}

    def __bool__(self) -> bool:
        """True if anything must run otherwise than usual."""
        return bool(self.kube_apiserver or self.kube_controller_manager or self.kwok)


class KubeletNeeds(_Part):
    """How the kubelets of the test's nodes run, in the words of KubeletConfiguration; unset: its defaults.

    A test that has this gets an eviction manager on each of its nodes, fed by the operation `usage`.
    """

    eviction_hard: Annotated[
        dict[str, str] | None,
        Meta(description="Less than this and a pod goes at once: `{memory.available: 1Gi}`. `{}`: nothing."),
    ] = None
    eviction_soft: Annotated[
        dict[str, str] | None, Meta(description="Less than this for the grace period and a pod goes.")
    ] = None
    eviction_soft_grace_period: Annotated[
        dict[str, str] | None, Meta(description="By signal, for each of `evictionSoft`.")
    ] = None
    eviction_max_pod_grace_period: Annotated[
        Natural | None, Meta(description="Seconds that a pod gets at a soft threshold. Default 0, that is 1.")
    ] = None
    eviction_minimum_reclaim: Annotated[
        dict[str, str] | None, Meta(description="How far above a threshold eviction goes on, by signal.")
    ] = None
    eviction_pressure_transition_period: Annotated[
        Duration | None, Meta(description="How long a condition outlasts the pressure. Default 5m.")
    ] = None
    merge_default_eviction_settings: Annotated[
        bool | None, Meta(description="`evictionHard` adds to the defaults instead of replacing them.")
    ] = None
    enforce_node_allocatable: Annotated[
        list[str] | None,
        Meta(description="With `pods` (the default), all pods together are held to what is allocatable."),
    ] = None
    local_storage_capacity_isolation: Annotated[
        bool | None, Meta(description="Enforce limits of ephemeral-storage and emptyDir. Default true.")
    ] = None
    disks: Annotated[
        Literal["one", "imagefs", "split"] | None,
        Meta(
            description="`one` file system (the default); images and layers on their own (`imagefs`); only "
            "images on their own (`split`)."
        ),
    ] = None
    synchronize_period: Annotated[
        Duration | None,
        Meta(description="Time between two looks; 10s in every real kubelet, shorter to shorten a test."),
    ] = None


class Mutation(_Part):
    """A change under which the test must fail; for tests that disabling their plugin does not break."""

    name: Annotated[
        str,
        Meta(
            pattern=MUTATION_PATTERN, description="What is wrong then, as it goes on after 'with': no budget."
        ),
    ]
    bindings: Annotated[
        list[Binding], Meta(description="Other values for bindings of `spec.bindings`; the rest stay.")
    ] = []
    scheduler: Annotated[
        SchedulerNeeds, Meta(description="Merged over `spec.scheduler`, in the same way.")
    ] = field(default_factory=SchedulerNeeds)
    control_plane: Annotated[
        ControlPlaneNeeds, Meta(description="Merged over `spec.controlPlane`, flag by flag.")
    ] = field(default_factory=ControlPlaneNeeds)
    kubelet: Annotated[
        KubeletNeeds | None,
        Meta(description="Merged over `spec.kubelet`, field by field and signal by signal."),
    ] = None
    without: Annotated[list[str], Meta(description="Names of steps that are left out.")] = []


class With(_Part):
    """What a template is used with."""

    bindings: Annotated[list[Binding], Meta(description="Values of the template's bindings.")] = []


class Use(_Part):
    """A step that stands in a file of its own."""

    template: Annotated[str, Meta(description="The file of the StepTemplate, from the test's folder.")]
    with_: With = field(default_factory=With, name="with")


class Step(_Part):
    """A part of a test: what to do, and what to do when that fails, always, and at the end."""

    name: Annotated[str, Meta(description="For reports.")] = ""
    description: str = ""
    use: Annotated[
        Use | None, Meta(description="A step from a StepTemplate, instead of operations of its own.")
    ] = None
    bindings: Annotated[list[Binding], Meta(description="Bound in this step only.")] = []
    timeouts: Timeouts = field(default_factory=Timeouts)
    try_: Annotated[Operations, Meta(description="One after the other, until one fails.")] = field(
        default_factory=list, name="try"
    )
    catch: Annotated[Operations, Meta(description="When an operation of `try` failed: what to show.")] = []
    finally_: Annotated[Operations, Meta(description="After `try` and `catch`, whatever happened.")] = field(
        default_factory=list, name="finally"
    )
    cleanup: Annotated[Operations, Meta(description="At the end of the test, last step first.")] = []


class Scenario(_Part):
    """One row of the table of bindings over which a test is run."""

    name: Annotated[Name | None, Meta(description="What follows the test's name. Default: its number.")] = (
        None
    )
    bindings: Annotated[
        list[Binding], Meta(description="Take the place of `spec.bindings` of the same name, or add to them.")
    ] = []


class NamespaceTemplate(_Part):
    """What the test's namespace has besides its name."""

    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class Spec(_Part, kw_only=True):
    """What the test does."""

    description: Annotated[str, Meta(description="What is claimed, and why that is interesting.")] = ""
    skip: Annotated[bool, Meta(description="Do not run it.")] = False
    timeouts: Timeouts = field(default_factory=Timeouts)
    bindings: list[Binding] = []
    scenarios: Annotated[
        list[Scenario], Meta(description="The test is run once for each, under a name of its own.")
    ] = []
    namespace_template: Annotated[
        NamespaceTemplate, Meta(description="Labels and annotations of the test's namespace.")
    ] = field(default_factory=NamespaceTemplate)
    concurrent: Annotated[
        bool, Meta(description="False: while it runs, no test runs on the other workers of `--parallel`.")
    ] = True
    budget: Annotated[
        Duration | None, Meta(description="A run that takes longer is reported, instead of `--budget`.")
    ] = None
    flake_attempts: Annotated[
        Positive | None, Meta(description="Run it up to so many times, instead of `--flake-attempts`.")
    ] = None
    scheduler: SchedulerNeeds = field(default_factory=SchedulerNeeds)
    control_plane: Annotated[
        ControlPlaneNeeds,
        Meta(description="How the control plane must run, for tests of its controllers' settings."),
    ] = field(default_factory=ControlPlaneNeeds)
    kubelet: Annotated[
        KubeletNeeds | None,
        Meta(description="An eviction manager on each node, for tests of node pressure."),
    ] = None
    mutation: Annotated[
        Mutation | None,
        Meta(description="What `--sensitivity` does to this test instead of disabling its plugin."),
    ] = None
    requires: Annotated[
        list[Literal["audit", "component-flags", "logs", "own-control-plane", "process-faults"]],
        Meta(description="What the backend must provide; without it the test is inconclusive."),
    ] = []
    catch: Annotated[Operations, Meta(description="When any step failed, after its own `catch`.")] = []
    steps: Annotated[list[Step], Meta(min_length=1)]


class TestDocument(_Part):
    """One test."""

    __test__ = False

    api_version: Literal["schedlab/v1alpha1"]
    kind: Literal["Test"]
    metadata: Metadata
    spec: Spec


class StepTemplateSpec(_Part):
    """What a step does wherever it is used."""

    description: str = ""
    timeouts: Timeouts = field(default_factory=Timeouts)
    bindings: Annotated[
        list[Binding], Meta(description="What `with` can give, with the values that hold otherwise.")
    ] = []
    try_: Annotated[Operations, Meta(description="One after the other, until one fails.")] = field(
        default_factory=list, name="try"
    )
    catch: Operations = []
    finally_: Operations = field(default_factory=list, name="finally")
    cleanup: Operations = []


class StepTemplate(_Part):
    """A step for several tests."""

    api_version: Literal["schedlab/v1alpha1"]
    kind: Literal["StepTemplate"]
    metadata: Metadata
    spec: StepTemplateSpec
