"""The feature gates that kube-scheduler 1.36 knows: stage, default, lock, and what each depends on.

Facts, not behaviour: every gate is known, so that a command line written for kube-scheduler is accepted or
refused for the same reasons, although most gates concern other components. Source: the gates registered in
`pkg/features`, `apiserver/pkg/features`, `client-go/features` and `component-base` at v1.36.3.
"""

# (stage, default, locked to the default): names
GROUPS: dict[tuple[str, bool, bool], str] = {
    ("ALPHA", False, False): """
        APIServingWithRoutine AllowUnsafeMalformedObjectDeletion CBORServingAndStorage
        CPUManagerPolicyAlphaOptions CRIListStreaming CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR
        CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook
        ContainerStopSignals CrossNamespaceVolumeDataSource DRAListTypeAttributes
        DRANodeAllocatableResources DRAResourcePoolStatus DRAWorkloadResourceClaims EventedPLEG
        GangScheduling GenericWorkload HPAScaleToZero ImageVolumeWithDigest
        InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory
        KubeletInUserNamespace LoggingAlphaOptions ManifestBasedAdmissionControlConfig MemoryQoS
        MutablePVNodeAffinity NativeHistograms PersistentVolumeClaimUnusedSinceTime
        PodAndContainerStatsFromCRI PodLevelResourceManagers PodLogsQuerySplitStreams PodsAPI
        QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi ShardedListAndWatch
        StorageCapacityScoring StorageVersionAPI TaintTolerationComparisonOperators
        TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions
        UserNamespacesHostNetworkSupport VolumeLimitScaling WindowsCPUAndMemoryAffinity
        WorkloadAwarePreemption WorkloadWithJob
    """,
    ("BETA", False, False): """
        ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode
        CoordinatedLeaderElection DRADeviceTaintRules LocalStorageCapacityIsolationFSQuotaMonitoring
        MaxUnavailableStatefulSet PodCertificateRequest SELinuxMount SchedulerAsyncAPICalls
        StorageVersionMigrator
    """,
    ("BETA", True, False): """
        APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AtomicFIFO
        AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions
        CRDObservedGenerationTracking ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation
        ClientsAllowTLSCacheGC ComponentFlagz ComponentStatusz ConstrainedImpersonation
        ContainerCheckpoint ContainerRestartRules ContextualLogging DRAConsumableCapacity
        DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices
        DRAResourceClaimDeviceStatus DRAResourceClaimGranularStatusAuthorization
        DRASchedulerFilterTimeout DeclarativeValidationBeta DeploymentReplicaSetTerminatingReplicas
        DetectCacheInconsistency EnvFiles ExtendWebSocketsToKubelet GracefulNodeShutdown
        GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride
        InOrderInformersBatchProcess InPlacePodLevelResourcesVerticalScaling
        InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax
        KubeletEnsureSecretPulledImages KubeletSeparateDiskGC
        KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions
        MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
        MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs
        NodeDeclaredFeatures NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching
        PLEGOnDemandRelist PodDeletionCost PodLevelResources PodReadyToStartContainersCondition
        PodTopologyLabelsAdmission PortForwardWebsockets PreventStaticPodAPIReferences
        RelaxedServiceNameValidation ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile
        RemoteRequestHeaderUID ResourceHealthStatus ResourceHealthStatusMessage
        RestartAllContainersOnContainerExits RotateKubeletServerCertificate SchedulerAsyncPreemption
        SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
        StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob
        StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet
        StatefulSetSemanticRevisionComparison StorageVersionHash StrictIPCIDRValidation
        StructuredAuthenticationConfigurationEgressSelector
        StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
        TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests
        UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO
        WatchCacheInitializationPostStartHook WatchList WatchListClient WindowsGracefulNodeShutdown
    """,
    ("GA", True, False): """
        AllowServiceExternalIPs CustomCPUCFSQuotaPeriod DRAPrioritizedList InformerResourceVersion
        MutatingAdmissionPolicy
    """,
    ("GA", True, True): """
        APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource
        AuthorizeNodeWithSelectors AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions
        CRDValidationRatcheting CSIServiceAccountTokenSecrets ConsistentListFromCache
        CustomResourceFieldSelectors DRAAdminAccess DeclarativeValidation DisableAllocatorDualWrite
        DynamicResourceAllocation ExecProbeTimeout ExternalServiceAccountTokenSigner ImageMaximumGCAge
        ImageVolume InOrderInformers InPlacePodVerticalScaling JobBackoffLimitPerIndex JobManagedBy
        JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz
        KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing
        LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator
        MutableCSINodeAllocatableCount NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread
        NodeLogQuery NodeSwap OrderedNamespaceDeletion PodLifecycleSleepAction
        PodLifecycleSleepActionAllowZero PodObservedGenerationTracking PodSchedulingReadiness
        PreferSameTrafficDistribution ProcMountType RecoverVolumeExpansionFailure
        RecursiveReadOnlyMounts RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation
        ResilientWatchCacheInitialization RetryGenerateName SELinuxChangePolicy
        SELinuxMountReadWriteOncePod SchedulerQueueingHints SeparateTaintEvictionController
        ServiceAccountTokenJTI ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
        ServiceAccountTokenPodNodeInfo SidecarContainers StreamingCollectionEncodingToJSON
        StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
        SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport
        VolumeAttributesClass WinDSR WinOverlay
    """,
    ("DEPRECATED", False, False): """
        AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests
        ChangeContainerStatusOnKubeletRestart DeclarativeValidationTakeover KMSv1
        KubeletRegistrationGetOnExistsOnly WindowsHostNetwork
    """,
    ("DEPRECATED", False, True): """
        AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC
    """,
    ("DEPRECATED", True, False): """
        DisableCPUQuotaWithExclusiveCPUs KubeletPodResourcesListUseActivePods
        ServiceCIDRStatusFieldWiping StorageNamespaceIndex
    """,
    ("DEPRECATED", True, True): """
        AggregatedDiscoveryRemoveBetaType DisableNodeKubeProxyVersion
    """,
}

# gate: the gates that must be enabled with it
DEPENDENCIES: dict[str, tuple[str, ...]] = {
    "AuthorizeNodeWithSelectors": ("AuthorizeWithSelectors",),
    "ClusterTrustBundleProjection": ("ClusterTrustBundle",),
    "DRAAdminAccess": ("DynamicResourceAllocation",),
    "DRAConsumableCapacity": ("DynamicResourceAllocation",),
    "DRADeviceBindingConditions": ("DRAResourceClaimDeviceStatus", "DynamicResourceAllocation"),
    "DRADeviceTaintRules": ("DRADeviceTaints",),
    "DRADeviceTaints": ("DynamicResourceAllocation",),
    "DRAExtendedResource": ("DynamicResourceAllocation",),
    "DRAListTypeAttributes": ("DynamicResourceAllocation",),
    "DRANodeAllocatableResources": ("DynamicResourceAllocation",),
    "DRAPartitionableDevices": ("DynamicResourceAllocation",),
    "DRAPrioritizedList": ("DynamicResourceAllocation",),
    "DRAResourceClaimGranularStatusAuthorization": (
        "DRAResourceClaimDeviceStatus",
        "DynamicResourceAllocation",
    ),
    "DRAResourcePoolStatus": ("DynamicResourceAllocation",),
    "DRASchedulerFilterTimeout": ("DynamicResourceAllocation",),
    "DRAWorkloadResourceClaims": ("DynamicResourceAllocation", "GenericWorkload"),
    "DeclarativeValidationBeta": ("DeclarativeValidation",),
    "DeclarativeValidationTakeover": ("DeclarativeValidation",),
    "DisableAllocatorDualWrite": ("MultiCIDRServiceAllocator",),
    "ExtendWebSocketsToKubelet": ("NodeDeclaredFeatures",),
    "GangScheduling": ("GenericWorkload",),
    "GracefulNodeShutdownBasedOnPodPriority": ("GracefulNodeShutdown",),
    "ImageVolumeWithDigest": ("ImageVolume",),
    "InPlacePodLevelResourcesVerticalScaling": (
        "InPlacePodVerticalScaling",
        "NodeDeclaredFeatures",
        "PodLevelResources",
    ),
    "InPlacePodVerticalScalingExclusiveCPUs": ("InPlacePodVerticalScaling",),
    "InPlacePodVerticalScalingExclusiveMemory": ("InPlacePodVerticalScaling",),
    "InPlacePodVerticalScalingInitContainers": ("InPlacePodVerticalScaling", "NodeDeclaredFeatures"),
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": ("MatchLabelKeysInPodTopologySpread",),
    "PodCertificateRequest": ("AuthorizeNodeWithSelectors",),
    "PodLevelResourceManagers": ("PodLevelResources",),
    "PodLifecycleSleepActionAllowZero": ("PodLifecycleSleepAction",),
    "ProcMountType": ("UserNamespacesSupport",),
    "ResourceHealthStatus": ("DynamicResourceAllocation",),
    "ResourceHealthStatusMessage": ("ResourceHealthStatus",),
    "RestartAllContainersOnContainerExits": ("ContainerRestartRules", "NodeDeclaredFeatures"),
    "ServiceAccountTokenNodeBinding": ("ServiceAccountTokenNodeBindingValidation",),
    "StaleControllerConsistencyDaemonSet": ("AtomicFIFO",),
    "StaleControllerConsistencyJob": ("AtomicFIFO",),
    "StaleControllerConsistencyReplicaSet": ("AtomicFIFO",),
    "StaleControllerConsistencyStatefulSet": ("AtomicFIFO",),
    "StorageVersionAPI": ("APIServerIdentity",),
    "StructuredAuthenticationConfigurationEgressSelector": ("StructuredAuthenticationConfiguration",),
    "StructuredAuthenticationConfigurationJWKSMetrics": ("StructuredAuthenticationConfiguration",),
    "TopologyAwareWorkloadScheduling": ("GenericWorkload",),
    "UnknownVersionInteroperabilityProxy": ("APIServerIdentity",),
    "UserNamespacesHostNetworkSupport": ("NodeDeclaredFeatures", "UserNamespacesSupport"),
    "WindowsGracefulNodeShutdown": ("GracefulNodeShutdown",),
    "WorkloadAwarePreemption": ("GangScheduling",),
    "WorkloadWithJob": ("GenericWorkload",),
}
