// Longer than other files because it is a table, made by tests/helm/differential/objects
// (schema.go) from the Go types of the Kubernetes API 1.36: nothing in it is decided here.
#include "k8s/merge/merge_schema.hpp"

namespace k8s::merge_tables {

// Per group version its kinds; "=" where the type has another name.
const std::string_view kinds = R"table(
admissionregistration.k8s.io/v1 MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
  MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
  ValidatingWebhookConfiguration
admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
  ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
admissionregistration.k8s.io/v1beta1 MutatingAdmissionPolicy MutatingAdmissionPolicyBinding
  MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
  ValidatingWebhookConfiguration
apiextensions.k8s.io/v1 CustomResourceDefinition
apps/v1 ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet
authentication.k8s.io/v1 SelfSubjectReview TokenRequest TokenReview
authentication.k8s.io/v1alpha1 SelfSubjectReview
authentication.k8s.io/v1beta1 SelfSubjectReview TokenReview
authorization.k8s.io/v1 LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview
  SubjectAccessReview
authorization.k8s.io/v1beta1 LocalSubjectAccessReview=LocalSubjectAccessReview'
  SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview=SubjectAccessReview'
autoscaling/v1 HorizontalPodAutoscaler Scale
autoscaling/v2 HorizontalPodAutoscaler=HorizontalPodAutoscaler'
batch/v1 CronJob Job
batch/v1beta1 CronJob
certificates.k8s.io/v1 CertificateSigningRequest
certificates.k8s.io/v1alpha1 ClusterTrustBundle
certificates.k8s.io/v1beta1 CertificateSigningRequest ClusterTrustBundle PodCertificateRequest
coordination.k8s.io/v1 Lease
coordination.k8s.io/v1alpha2 LeaseCandidate
coordination.k8s.io/v1beta1 Lease LeaseCandidate
discovery.k8s.io/v1 EndpointSlice
discovery.k8s.io/v1beta1 EndpointSlice
events.k8s.io/v1 Event
events.k8s.io/v1beta1 Event
flowcontrol.apiserver.k8s.io/v1 FlowSchema PriorityLevelConfiguration
flowcontrol.apiserver.k8s.io/v1beta1 FlowSchema=FlowSchema'
  PriorityLevelConfiguration=PriorityLevelConfiguration'
flowcontrol.apiserver.k8s.io/v1beta2 FlowSchema=FlowSchema'
  PriorityLevelConfiguration=PriorityLevelConfiguration'
flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema PriorityLevelConfiguration
internal.apiserver.k8s.io/v1alpha1 StorageVersion
networking.k8s.io/v1 IPAddress Ingress IngressClass NetworkPolicy ServiceCIDR
networking.k8s.io/v1beta1 IPAddress Ingress=Ingress' IngressClass ServiceCIDR
node.k8s.io/v1 RuntimeClass
node.k8s.io/v1alpha1 RuntimeClass=RuntimeClass'
node.k8s.io/v1beta1 RuntimeClass
policy/v1 Eviction PodDisruptionBudget
policy/v1beta1 Eviction PodDisruptionBudget=PodDisruptionBudget'
rbac.authorization.k8s.io/v1 ClusterRole ClusterRoleBinding Role RoleBinding
rbac.authorization.k8s.io/v1alpha1 ClusterRole ClusterRoleBinding Role RoleBinding
rbac.authorization.k8s.io/v1beta1 ClusterRole ClusterRoleBinding Role RoleBinding
resource.k8s.io/v1 DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice
resource.k8s.io/v1alpha3 DeviceTaintRule ResourcePoolStatusRequest
resource.k8s.io/v1beta1 DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice
resource.k8s.io/v1beta2 DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate
  ResourceSlice
scheduling.k8s.io/v1 PriorityClass
scheduling.k8s.io/v1alpha2 PodGroup Workload
scheduling.k8s.io/v1beta1 PriorityClass
storage.k8s.io/v1 CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment
  VolumeAttributesClass
storage.k8s.io/v1alpha1 CSIStorageCapacity VolumeAttachment VolumeAttributesClass
storage.k8s.io/v1beta1 CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment
  VolumeAttributesClass
storagemigration.k8s.io/v1beta1 StorageVersionMigration
v1 Binding ComponentStatus ConfigMap Endpoints Event=Event' LimitRange Namespace Node
  PersistentVolume PersistentVolumeClaim Pod PodStatusResult PodTemplate RangeAllocation
  ReplicationController ResourceQuota Secret Service ServiceAccount
)table";

// Per type its fields that are no scalars:
//   name=T   an object of type T     name!=T  one that is replaced whole    name^=T  one that is
//   told which keys stay
//   name%    a map                   name[]   a list that is replaced whole
//   name[+key]=T  a list merged by key, with ^ as above   name[+]  scalars that are added
const std::string_view types = R"table(
AWSElasticBlockStoreVolumeSource
Affinity nodeAffinity=NodeAffinity podAffinity=PodAffinity podAntiAffinity=PodAntiAffinity
AggregationRule clusterRoleSelectors[]
AllocationResult devices=DeviceAllocationResult nodeSelector=NodeSelector allocationTimestamp=Time
AppArmorProfile
AzureDiskVolumeSource
AzureFilePersistentVolumeSource
AzureFileVolumeSource
BasicSchedulingPolicy
Binding metadata=ObjectMeta target=ObjectReference
BoundObjectReference
CSIDriver metadata=ObjectMeta spec=CSIDriverSpec
CSIDriverSpec volumeLifecycleModes[] tokenRequests[]
CSINode metadata=ObjectMeta spec=CSINodeSpec
CSINodeDriver topologyKeys[] allocatable=VolumeNodeResources
CSINodeSpec drivers[+name]=CSINodeDriver
CSIPersistentVolumeSource volumeAttributes% controllerPublishSecretRef=SecretReference
  nodeStageSecretRef=SecretReference nodePublishSecretRef=SecretReference
  controllerExpandSecretRef=SecretReference nodeExpandSecretRef=SecretReference
CSIStorageCapacity metadata=ObjectMeta nodeTopology=LabelSelector capacity=Quantity
  maximumVolumeSize=Quantity
CSIVolumeSource volumeAttributes% nodePublishSecretRef=LocalObjectReference
Capabilities add[] drop[]
CephFSPersistentVolumeSource monitors[] secretRef=SecretReference
CephFSVolumeSource monitors[] secretRef=LocalObjectReference
CertificateSigningRequest metadata=ObjectMeta spec=CertificateSigningRequestSpec
  status=CertificateSigningRequestStatus
CertificateSigningRequestSpec usages[] groups[] extra%
CertificateSigningRequestStatus conditions[]
CinderPersistentVolumeSource secretRef=SecretReference
CinderVolumeSource secretRef=LocalObjectReference
ClientIPConfig
ClusterRole metadata=ObjectMeta rules[] aggregationRule=AggregationRule
ClusterRoleBinding metadata=ObjectMeta subjects[] roleRef=RoleRef
ClusterTrustBundle metadata=ObjectMeta spec=ClusterTrustBundleSpec
ClusterTrustBundleSpec
ComponentCondition
ComponentStatus metadata=ObjectMeta conditions[+type]=ComponentCondition
Condition lastTransitionTime=Time
ConfigMap metadata=ObjectMeta data% binaryData%
ConfigMapKeySelector
ConfigMapNodeConfigSource
ConfigMapVolumeSource items[]
Container command[] args[] ports[+containerPort]=ContainerPort envFrom[] env[+name]=EnvVar
  resources=ResourceRequirements resizePolicy[] restartPolicyRules[]
  volumeMounts[+mountPath]=VolumeMount volumeDevices[+devicePath]=VolumeDevice
  livenessProbe=Probe readinessProbe=Probe startupProbe=Probe lifecycle=Lifecycle
  securityContext=SecurityContext
ContainerPort
ControllerRevision metadata=ObjectMeta data=RawExtension
CronJob metadata=ObjectMeta spec=CronJobSpec status=CronJobStatus
CronJobSpec jobTemplate=JobTemplateSpec
CronJobStatus active[] lastScheduleTime=Time lastSuccessfulTime=Time
CrossVersionObjectReference
CustomResourceConversion webhook=WebhookConversion
CustomResourceDefinition metadata=ObjectMeta spec=CustomResourceDefinitionSpec
  status=CustomResourceDefinitionStatus
CustomResourceDefinitionNames shortNames[] categories[]
CustomResourceDefinitionSpec names=CustomResourceDefinitionNames versions[]
  conversion=CustomResourceConversion
CustomResourceDefinitionStatus conditions[] acceptedNames=CustomResourceDefinitionNames
  storedVersions[]
DaemonEndpoint
DaemonSet metadata=ObjectMeta spec=DaemonSetSpec status=DaemonSetStatus
DaemonSetCondition lastTransitionTime=Time
DaemonSetSpec selector=LabelSelector template=PodTemplateSpec
  updateStrategy=DaemonSetUpdateStrategy
DaemonSetStatus conditions[+type]=DaemonSetCondition
DaemonSetUpdateStrategy rollingUpdate=RollingUpdateDaemonSet
DeleteOptions preconditions=Preconditions dryRun[]
Deployment metadata=ObjectMeta spec=DeploymentSpec status=DeploymentStatus
DeploymentCondition lastUpdateTime=Time lastTransitionTime=Time
DeploymentSpec selector=LabelSelector template=PodTemplateSpec strategy^=DeploymentStrategy
DeploymentStatus conditions[+type]=DeploymentCondition
DeploymentStrategy rollingUpdate=RollingUpdateDeployment
DeviceAllocationResult results[] config[]
DeviceClaim requests[] constraints[] config[]
DeviceClass metadata=ObjectMeta spec=DeviceClassSpec
DeviceClassSpec selectors[] config[]
DeviceTaint timeAdded=Time
DeviceTaintRule metadata=ObjectMeta spec=DeviceTaintRuleSpec status=DeviceTaintRuleStatus
DeviceTaintRuleSpec deviceSelector=DeviceTaintSelector taint=DeviceTaint
DeviceTaintRuleStatus conditions[+type]=Condition
DeviceTaintSelector
DownwardAPIVolumeSource items[]
EmptyDirVolumeSource sizeLimit=Quantity
EndpointSlice metadata=ObjectMeta endpoints[] ports[]
Endpoints metadata=ObjectMeta subsets[]
EnvVar valueFrom=EnvVarSource
EnvVarSource fieldRef=ObjectFieldSelector resourceFieldRef=ResourceFieldSelector
  configMapKeyRef=ConfigMapKeySelector secretKeyRef=SecretKeySelector fileKeyRef=FileKeySelector
EphemeralContainer command[] args[] ports[+containerPort]=ContainerPort envFrom[]
  env[+name]=EnvVar resources=ResourceRequirements resizePolicy[] restartPolicyRules[]
  volumeMounts[+mountPath]=VolumeMount volumeDevices[+devicePath]=VolumeDevice
  livenessProbe=Probe readinessProbe=Probe startupProbe=Probe lifecycle=Lifecycle
  securityContext=SecurityContext
EphemeralVolumeSource volumeClaimTemplate=PersistentVolumeClaimTemplate
Event metadata=ObjectMeta eventTime=MicroTime series=EventSeries regarding=ObjectReference
  related=ObjectReference deprecatedSource=EventSource deprecatedFirstTimestamp=Time
  deprecatedLastTimestamp=Time
Event' metadata=ObjectMeta involvedObject=ObjectReference source=EventSource firstTimestamp=Time
  lastTimestamp=Time eventTime=MicroTime series=EventSeries related=ObjectReference
EventSeries lastObservedTime=MicroTime
EventSource
Eviction metadata=ObjectMeta deleteOptions=DeleteOptions
ExecAction command[]
ExemptPriorityLevelConfiguration
FCVolumeSource targetWWNs[] wwids[]
FieldSelectorAttributes requirements[]
FileKeySelector
FlexPersistentVolumeSource secretRef=SecretReference options%
FlexVolumeSource secretRef=LocalObjectReference options%
FlockerVolumeSource
FlowDistinguisherMethod
FlowSchema metadata=ObjectMeta spec=FlowSchemaSpec status=FlowSchemaStatus
FlowSchema' metadata=ObjectMeta spec=FlowSchemaSpec status=FlowSchemaStatus'
FlowSchemaCondition lastTransitionTime=Time
FlowSchemaSpec priorityLevelConfiguration=PriorityLevelConfigurationReference
  distinguisherMethod=FlowDistinguisherMethod rules[]
FlowSchemaStatus conditions[+type]=FlowSchemaCondition
FlowSchemaStatus' conditions[]
GCEPersistentDiskVolumeSource
GRPCAction
GangSchedulingPolicy
GitRepoVolumeSource
GlusterfsPersistentVolumeSource
GlusterfsVolumeSource
GroupResource
HPAScalingRules policies[] tolerance=Quantity
HTTPGetAction port=IntOrString httpHeaders[]
HorizontalPodAutoscaler metadata=ObjectMeta spec=HorizontalPodAutoscalerSpec
  status=HorizontalPodAutoscalerStatus
HorizontalPodAutoscaler' metadata=ObjectMeta spec=HorizontalPodAutoscalerSpec'
  status=HorizontalPodAutoscalerStatus'
HorizontalPodAutoscalerBehavior scaleUp=HPAScalingRules scaleDown=HPAScalingRules
HorizontalPodAutoscalerCondition lastTransitionTime=Time
HorizontalPodAutoscalerSpec scaleTargetRef=CrossVersionObjectReference
HorizontalPodAutoscalerSpec' scaleTargetRef=CrossVersionObjectReference metrics[]
  behavior=HorizontalPodAutoscalerBehavior
HorizontalPodAutoscalerStatus lastScaleTime=Time
HorizontalPodAutoscalerStatus' lastScaleTime=Time currentMetrics[]
  conditions[+type]=HorizontalPodAutoscalerCondition
HostAlias hostnames[]
HostIP
HostPathVolumeSource
IPAddress metadata=ObjectMeta spec=IPAddressSpec
IPAddressSpec parentRef=ParentReference
ISCSIPersistentVolumeSource portals[] secretRef=SecretReference
ISCSIVolumeSource portals[] secretRef=LocalObjectReference
ImageVolumeSource
Ingress metadata=ObjectMeta spec=IngressSpec status=IngressStatus
Ingress' metadata=ObjectMeta spec=IngressSpec' status=IngressStatus
IngressBackend service=IngressServiceBackend resource=TypedLocalObjectReference
IngressBackend' servicePort=IntOrString resource=TypedLocalObjectReference
IngressClass metadata=ObjectMeta spec=IngressClassSpec
IngressClassParametersReference
IngressClassSpec parameters=IngressClassParametersReference
IngressLoadBalancerStatus ingress[]
IngressServiceBackend port=ServiceBackendPort
IngressSpec defaultBackend=IngressBackend tls[] rules[]
IngressSpec' backend=IngressBackend' tls[] rules[]
IngressStatus loadBalancer=IngressLoadBalancerStatus
IntOrString
Job metadata=ObjectMeta spec=JobSpec status=JobStatus
JobCondition lastProbeTime=Time lastTransitionTime=Time
JobSpec podFailurePolicy=PodFailurePolicy successPolicy=SuccessPolicy selector=LabelSelector
  template=PodTemplateSpec
JobStatus conditions[+type]=JobCondition startTime=Time completionTime=Time
  uncountedTerminatedPods=UncountedTerminatedPods
JobTemplateSpec metadata=ObjectMeta spec=JobSpec
LabelSelector matchLabels% matchExpressions[]
LabelSelectorAttributes requirements[]
Lease metadata=ObjectMeta spec=LeaseSpec
LeaseCandidate metadata=ObjectMeta spec=LeaseCandidateSpec
LeaseCandidateSpec pingTime=MicroTime renewTime=MicroTime
LeaseSpec acquireTime=MicroTime renewTime=MicroTime
Lifecycle postStart=LifecycleHandler preStop=LifecycleHandler
LifecycleHandler exec=ExecAction httpGet=HTTPGetAction tcpSocket=TCPSocketAction sleep=SleepAction
LimitRange metadata=ObjectMeta spec=LimitRangeSpec
LimitRangeSpec limits[]
LimitResponse queuing=QueuingConfiguration
LimitedPriorityLevelConfiguration limitResponse=LimitResponse
LoadBalancerStatus ingress[]
LocalObjectReference
LocalSubjectAccessReview metadata=ObjectMeta spec=SubjectAccessReviewSpec
  status=SubjectAccessReviewStatus
LocalSubjectAccessReview' metadata=ObjectMeta spec=SubjectAccessReviewSpec'
  status=SubjectAccessReviewStatus
LocalVolumeSource
MatchCondition
MatchResources namespaceSelector=LabelSelector objectSelector=LabelSelector resourceRules[]
  excludeResourceRules[]
MicroTime
ModifyVolumeStatus
MutatingAdmissionPolicy metadata=ObjectMeta spec=MutatingAdmissionPolicySpec
MutatingAdmissionPolicyBinding metadata=ObjectMeta spec=MutatingAdmissionPolicyBindingSpec
MutatingAdmissionPolicyBindingSpec paramRef=ParamRef matchResources=MatchResources
MutatingAdmissionPolicySpec paramKind=ParamKind matchConstraints=MatchResources variables[]
  mutations[] matchConditions[+name]=MatchCondition
MutatingWebhook clientConfig=WebhookClientConfig rules[] namespaceSelector=LabelSelector
  objectSelector=LabelSelector admissionReviewVersions[] matchConditions[+name]=MatchCondition
MutatingWebhookConfiguration metadata=ObjectMeta webhooks[+name]=MutatingWebhook
NFSVolumeSource
Namespace metadata=ObjectMeta spec=NamespaceSpec status=NamespaceStatus
NamespaceCondition lastTransitionTime=Time
NamespaceSpec finalizers[]
NamespaceStatus conditions[+type]=NamespaceCondition
NetworkPolicy metadata=ObjectMeta spec=NetworkPolicySpec
NetworkPolicySpec podSelector=LabelSelector ingress[] egress[] policyTypes[]
Node metadata=ObjectMeta spec=NodeSpec status=NodeStatus
NodeAddress
NodeAffinity requiredDuringSchedulingIgnoredDuringExecution=NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution[]
NodeCondition lastHeartbeatTime=Time lastTransitionTime=Time
NodeConfigSource configMap=ConfigMapNodeConfigSource
NodeConfigStatus assigned=NodeConfigSource active=NodeConfigSource lastKnownGood=NodeConfigSource
NodeDaemonEndpoints kubeletEndpoint=DaemonEndpoint
NodeFeatures
NodeSelector nodeSelectorTerms[]
NodeSpec podCIDRs[+] taints[] configSource=NodeConfigSource
NodeStatus capacity% allocatable% conditions[+type]=NodeCondition addresses[+type]=NodeAddress
  daemonEndpoints=NodeDaemonEndpoints nodeInfo=NodeSystemInfo images[] volumesInUse[]
  volumesAttached[] config=NodeConfigStatus runtimeHandlers[] features=NodeFeatures
  declaredFeatures[]
NodeSwapStatus
NodeSystemInfo swap=NodeSwapStatus
NonResourceAttributes
ObjectFieldSelector
ObjectMeta creationTimestamp=Time deletionTimestamp=Time labels% annotations%
  ownerReferences[+uid]=OwnerReference finalizers[+] managedFields[]
ObjectReference
Overhead podFixed%
OwnerReference
ParamKind
ParamRef selector=LabelSelector
ParentReference
PersistentVolume metadata=ObjectMeta spec=PersistentVolumeSpec status=PersistentVolumeStatus
PersistentVolumeClaim metadata=ObjectMeta spec=PersistentVolumeClaimSpec
  status=PersistentVolumeClaimStatus
PersistentVolumeClaimCondition lastProbeTime=Time lastTransitionTime=Time
PersistentVolumeClaimSpec accessModes[] selector=LabelSelector
  resources=VolumeResourceRequirements dataSource=TypedLocalObjectReference
  dataSourceRef=TypedObjectReference
PersistentVolumeClaimStatus accessModes[] capacity%
  conditions[+type]=PersistentVolumeClaimCondition allocatedResources% allocatedResourceStatuses%
  modifyVolumeStatus=ModifyVolumeStatus
PersistentVolumeClaimTemplate metadata=ObjectMeta spec=PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource
PersistentVolumeSpec capacity% gcePersistentDisk=GCEPersistentDiskVolumeSource
  awsElasticBlockStore=AWSElasticBlockStoreVolumeSource hostPath=HostPathVolumeSource
  glusterfs=GlusterfsPersistentVolumeSource nfs=NFSVolumeSource rbd=RBDPersistentVolumeSource
  iscsi=ISCSIPersistentVolumeSource cinder=CinderPersistentVolumeSource
  cephfs=CephFSPersistentVolumeSource fc=FCVolumeSource flocker=FlockerVolumeSource
  flexVolume=FlexPersistentVolumeSource azureFile=AzureFilePersistentVolumeSource
  vsphereVolume=VsphereVirtualDiskVolumeSource quobyte=QuobyteVolumeSource
  azureDisk=AzureDiskVolumeSource photonPersistentDisk=PhotonPersistentDiskVolumeSource
  portworxVolume=PortworxVolumeSource scaleIO=ScaleIOPersistentVolumeSource
  local=LocalVolumeSource storageos=StorageOSPersistentVolumeSource csi=CSIPersistentVolumeSource
  accessModes[] claimRef=ObjectReference mountOptions[] nodeAffinity=VolumeNodeAffinity
PersistentVolumeStatus lastPhaseTransitionTime=Time
PhotonPersistentDiskVolumeSource
Pod metadata=ObjectMeta spec=PodSpec status=PodStatus
PodAffinity requiredDuringSchedulingIgnoredDuringExecution[]
  preferredDuringSchedulingIgnoredDuringExecution[]
PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution[]
  preferredDuringSchedulingIgnoredDuringExecution[]
PodCertificateRequest metadata=ObjectMeta spec=PodCertificateRequestSpec
  status=PodCertificateRequestStatus
PodCertificateRequestSpec unverifiedUserAnnotations%
PodCertificateRequestStatus conditions[+type]=Condition notBefore=Time beginRefreshAt=Time
  notAfter=Time
PodCondition lastProbeTime=Time lastTransitionTime=Time
PodDNSConfig nameservers[] searches[] options[]
PodDisruptionBudget metadata=ObjectMeta spec=PodDisruptionBudgetSpec
  status=PodDisruptionBudgetStatus
PodDisruptionBudget' metadata=ObjectMeta spec=PodDisruptionBudgetSpec'
  status=PodDisruptionBudgetStatus
PodDisruptionBudgetSpec minAvailable=IntOrString selector!=LabelSelector
  maxUnavailable=IntOrString
PodDisruptionBudgetSpec' minAvailable=IntOrString selector=LabelSelector
  maxUnavailable=IntOrString
PodDisruptionBudgetStatus disruptedPods% conditions[+type]=Condition
PodExtendedResourceClaimStatus requestMappings[]
PodFailurePolicy rules[]
PodGroup metadata=ObjectMeta spec=PodGroupSpec status=PodGroupStatus
PodGroupResourceClaim
PodGroupResourceClaimStatus
PodGroupSchedulingConstraints topology[]
PodGroupSchedulingPolicy basic=BasicSchedulingPolicy gang=GangSchedulingPolicy
PodGroupSpec podGroupTemplateRef=PodGroupTemplateReference
  schedulingPolicy=PodGroupSchedulingPolicy schedulingConstraints=PodGroupSchedulingConstraints
  resourceClaims[+name]^=PodGroupResourceClaim
PodGroupStatus conditions[+type]=Condition
  resourceClaimStatuses[+name]^=PodGroupResourceClaimStatus
PodGroupTemplateReference workload=WorkloadPodGroupTemplateReference
PodIP
PodOS
PodResourceClaim
PodResourceClaimStatus
PodSchedulingGate
PodSchedulingGroup
PodSecurityContext seLinuxOptions=SELinuxOptions windowsOptions=WindowsSecurityContextOptions
  supplementalGroups[] sysctls[] seccompProfile=SeccompProfile appArmorProfile=AppArmorProfile
PodSpec volumes[+name]^=Volume initContainers[+name]=Container containers[+name]=Container
  ephemeralContainers[+name]=EphemeralContainer nodeSelector% securityContext=PodSecurityContext
  imagePullSecrets[+name]=LocalObjectReference affinity=Affinity tolerations[]
  hostAliases[+ip]=HostAlias dnsConfig=PodDNSConfig readinessGates[] overhead%
  topologySpreadConstraints[+topologyKey]=TopologySpreadConstraint os=PodOS
  schedulingGates[+name]=PodSchedulingGate resourceClaims[+name]^=PodResourceClaim
  resources=ResourceRequirements schedulingGroup=PodSchedulingGroup
PodStatus conditions[+type]=PodCondition hostIPs[+ip]=HostIP podIPs[+ip]=PodIP startTime=Time
  initContainerStatuses[] containerStatuses[] ephemeralContainerStatuses[]
  resourceClaimStatuses[+name]^=PodResourceClaimStatus
  extendedResourceClaimStatus=PodExtendedResourceClaimStatus allocatedResources%
  resources=ResourceRequirements nodeAllocatableResourceClaimStatuses[]
PodStatusResult metadata=ObjectMeta status=PodStatus
PodTemplate metadata=ObjectMeta template=PodTemplateSpec
PodTemplateSpec metadata=ObjectMeta spec=PodSpec
PortworxVolumeSource
Preconditions
PriorityClass metadata=ObjectMeta
PriorityLevelConfiguration metadata=ObjectMeta spec=PriorityLevelConfigurationSpec
  status=PriorityLevelConfigurationStatus
PriorityLevelConfiguration' metadata=ObjectMeta spec=PriorityLevelConfigurationSpec
  status=PriorityLevelConfigurationStatus'
PriorityLevelConfigurationCondition lastTransitionTime=Time
PriorityLevelConfigurationReference
PriorityLevelConfigurationSpec limited=LimitedPriorityLevelConfiguration
  exempt=ExemptPriorityLevelConfiguration
PriorityLevelConfigurationStatus conditions[+type]=PriorityLevelConfigurationCondition
PriorityLevelConfigurationStatus' conditions[]
Probe exec=ExecAction httpGet=HTTPGetAction tcpSocket=TCPSocketAction grpc=GRPCAction
ProjectedVolumeSource sources[]
Quantity
QueuingConfiguration
QuobyteVolumeSource
RBDPersistentVolumeSource monitors[] secretRef=SecretReference
RBDVolumeSource monitors[] secretRef=LocalObjectReference
RangeAllocation metadata=ObjectMeta
RawExtension
ReplicaSet metadata=ObjectMeta spec=ReplicaSetSpec status=ReplicaSetStatus
ReplicaSetCondition lastTransitionTime=Time
ReplicaSetSpec selector=LabelSelector template=PodTemplateSpec
ReplicaSetStatus conditions[+type]=ReplicaSetCondition
ReplicationController metadata=ObjectMeta spec=ReplicationControllerSpec
  status=ReplicationControllerStatus
ReplicationControllerCondition lastTransitionTime=Time
ReplicationControllerSpec selector% template=PodTemplateSpec
ReplicationControllerStatus conditions[+type]=ReplicationControllerCondition
ResourceAttributes fieldSelector=FieldSelectorAttributes labelSelector=LabelSelectorAttributes
ResourceClaim metadata=ObjectMeta spec=ResourceClaimSpec status=ResourceClaimStatus
ResourceClaimConsumerReference
ResourceClaimSpec devices=DeviceClaim
ResourceClaimStatus allocation=AllocationResult reservedFor[+uid]=ResourceClaimConsumerReference
  devices[]
ResourceClaimTemplate metadata=ObjectMeta spec=ResourceClaimTemplateSpec
ResourceClaimTemplateSpec metadata=ObjectMeta spec=ResourceClaimSpec
ResourceFieldSelector divisor=Quantity
ResourcePool
ResourcePoolStatusRequest metadata=ObjectMeta spec=ResourcePoolStatusRequestSpec
  status=ResourcePoolStatusRequestStatus
ResourcePoolStatusRequestSpec
ResourcePoolStatusRequestStatus pools[] conditions[+type]=Condition
ResourceQuota metadata=ObjectMeta spec=ResourceQuotaSpec status=ResourceQuotaStatus
ResourceQuotaSpec hard% scopes[] scopeSelector=ScopeSelector
ResourceQuotaStatus hard% used%
ResourceRequirements limits% requests% claims[]
ResourceSlice metadata=ObjectMeta spec=ResourceSliceSpec
ResourceSliceSpec pool=ResourcePool nodeSelector=NodeSelector devices[] sharedCounters[]
Role metadata=ObjectMeta rules[]
RoleBinding metadata=ObjectMeta subjects[] roleRef=RoleRef
RoleRef
RollingUpdateDaemonSet maxUnavailable=IntOrString maxSurge=IntOrString
RollingUpdateDeployment maxUnavailable=IntOrString maxSurge=IntOrString
RollingUpdateStatefulSetStrategy maxUnavailable=IntOrString
RuntimeClass metadata=ObjectMeta overhead=Overhead scheduling=Scheduling
RuntimeClass' metadata=ObjectMeta spec=RuntimeClassSpec
RuntimeClassSpec overhead=Overhead scheduling=Scheduling
SELinuxOptions
Scale metadata=ObjectMeta spec=ScaleSpec status=ScaleStatus
ScaleIOPersistentVolumeSource secretRef=SecretReference
ScaleIOVolumeSource secretRef=LocalObjectReference
ScaleSpec
ScaleStatus
Scheduling nodeSelector% tolerations[]
ScopeSelector matchExpressions[]
SeccompProfile
Secret metadata=ObjectMeta data% stringData%
SecretKeySelector
SecretReference
SecretVolumeSource items[]
SecurityContext capabilities=Capabilities seLinuxOptions=SELinuxOptions
  windowsOptions=WindowsSecurityContextOptions seccompProfile=SeccompProfile
  appArmorProfile=AppArmorProfile
SelfSubjectAccessReview metadata=ObjectMeta spec=SelfSubjectAccessReviewSpec
  status=SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec resourceAttributes=ResourceAttributes
  nonResourceAttributes=NonResourceAttributes
SelfSubjectReview metadata=ObjectMeta status=SelfSubjectReviewStatus
SelfSubjectReviewStatus userInfo=UserInfo
SelfSubjectRulesReview metadata=ObjectMeta spec=SelfSubjectRulesReviewSpec
  status=SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec
Service metadata=ObjectMeta spec=ServiceSpec status=ServiceStatus
ServiceAccount metadata=ObjectMeta secrets[+name]=ObjectReference imagePullSecrets[]
ServiceBackendPort
ServiceCIDR metadata=ObjectMeta spec=ServiceCIDRSpec status=ServiceCIDRStatus
ServiceCIDRSpec cidrs[]
ServiceCIDRStatus conditions[+type]=Condition
ServicePort targetPort=IntOrString
ServiceReference
ServiceSpec ports[+port]=ServicePort selector% clusterIPs[] externalIPs[]
  loadBalancerSourceRanges[] sessionAffinityConfig=SessionAffinityConfig ipFamilies[]
ServiceStatus loadBalancer=LoadBalancerStatus conditions[+type]=Condition
SessionAffinityConfig clientIP=ClientIPConfig
SleepAction
StatefulSet metadata=ObjectMeta spec=StatefulSetSpec status=StatefulSetStatus
StatefulSetCondition lastTransitionTime=Time
StatefulSetOrdinals
StatefulSetPersistentVolumeClaimRetentionPolicy
StatefulSetSpec selector=LabelSelector template=PodTemplateSpec volumeClaimTemplates[]
  updateStrategy=StatefulSetUpdateStrategy
  persistentVolumeClaimRetentionPolicy=StatefulSetPersistentVolumeClaimRetentionPolicy
  ordinals=StatefulSetOrdinals
StatefulSetStatus conditions[+type]=StatefulSetCondition
StatefulSetUpdateStrategy rollingUpdate=RollingUpdateStatefulSetStrategy
StorageClass metadata=ObjectMeta parameters% mountOptions[] allowedTopologies[]
StorageOSPersistentVolumeSource secretRef=ObjectReference
StorageOSVolumeSource secretRef=LocalObjectReference
StorageVersion metadata=ObjectMeta spec=StorageVersionSpec status=StorageVersionStatus
StorageVersionMigration metadata=ObjectMeta spec=StorageVersionMigrationSpec
  status=StorageVersionMigrationStatus
StorageVersionMigrationSpec resource=GroupResource
StorageVersionMigrationStatus conditions[+type]=Condition
StorageVersionSpec
StorageVersionStatus storageVersions[] conditions[]
SubjectAccessReview metadata=ObjectMeta spec=SubjectAccessReviewSpec
  status=SubjectAccessReviewStatus
SubjectAccessReview' metadata=ObjectMeta spec=SubjectAccessReviewSpec'
  status=SubjectAccessReviewStatus
SubjectAccessReviewSpec resourceAttributes=ResourceAttributes
  nonResourceAttributes=NonResourceAttributes groups[] extra%
SubjectAccessReviewSpec' resourceAttributes=ResourceAttributes
  nonResourceAttributes=NonResourceAttributes group[] extra%
SubjectAccessReviewStatus
SubjectRulesReviewStatus resourceRules[] nonResourceRules[]
SuccessPolicy rules[]
TCPSocketAction port=IntOrString
Time
TokenRequest metadata=ObjectMeta spec=TokenRequestSpec status=TokenRequestStatus
TokenRequestSpec audiences[] boundObjectRef=BoundObjectReference
TokenRequestStatus expirationTimestamp=Time
TokenReview metadata=ObjectMeta spec=TokenReviewSpec status=TokenReviewStatus
TokenReviewSpec audiences[]
TokenReviewStatus user=UserInfo audiences[]
TopologySpreadConstraint labelSelector=LabelSelector matchLabelKeys[]
TypeChecking expressionWarnings[]
TypedLocalObjectReference
TypedObjectReference
UncountedTerminatedPods succeeded[] failed[]
UserInfo groups[] extra%
ValidatingAdmissionPolicy metadata=ObjectMeta spec=ValidatingAdmissionPolicySpec
  status=ValidatingAdmissionPolicyStatus
ValidatingAdmissionPolicyBinding metadata=ObjectMeta spec=ValidatingAdmissionPolicyBindingSpec
ValidatingAdmissionPolicyBindingSpec paramRef=ParamRef matchResources=MatchResources
  validationActions[]
ValidatingAdmissionPolicySpec paramKind=ParamKind matchConstraints=MatchResources validations[]
  auditAnnotations[] matchConditions[+name]=MatchCondition variables[+name]=Variable
ValidatingAdmissionPolicyStatus typeChecking=TypeChecking conditions[]
ValidatingWebhook clientConfig=WebhookClientConfig rules[] namespaceSelector=LabelSelector
  objectSelector=LabelSelector admissionReviewVersions[] matchConditions[+name]=MatchCondition
ValidatingWebhookConfiguration metadata=ObjectMeta webhooks[+name]=ValidatingWebhook
Variable
Volume hostPath=HostPathVolumeSource emptyDir=EmptyDirVolumeSource
  gcePersistentDisk=GCEPersistentDiskVolumeSource
  awsElasticBlockStore=AWSElasticBlockStoreVolumeSource gitRepo=GitRepoVolumeSource
  secret=SecretVolumeSource nfs=NFSVolumeSource iscsi=ISCSIVolumeSource
  glusterfs=GlusterfsVolumeSource persistentVolumeClaim=PersistentVolumeClaimVolumeSource
  rbd=RBDVolumeSource flexVolume=FlexVolumeSource cinder=CinderVolumeSource
  cephfs=CephFSVolumeSource flocker=FlockerVolumeSource downwardAPI=DownwardAPIVolumeSource
  fc=FCVolumeSource azureFile=AzureFileVolumeSource configMap=ConfigMapVolumeSource
  vsphereVolume=VsphereVirtualDiskVolumeSource quobyte=QuobyteVolumeSource
  azureDisk=AzureDiskVolumeSource photonPersistentDisk=PhotonPersistentDiskVolumeSource
  projected=ProjectedVolumeSource portworxVolume=PortworxVolumeSource scaleIO=ScaleIOVolumeSource
  storageos=StorageOSVolumeSource csi=CSIVolumeSource ephemeral=EphemeralVolumeSource
  image=ImageVolumeSource
VolumeAttachment metadata=ObjectMeta spec=VolumeAttachmentSpec status=VolumeAttachmentStatus
VolumeAttachmentSource inlineVolumeSpec=PersistentVolumeSpec
VolumeAttachmentSpec source=VolumeAttachmentSource
VolumeAttachmentStatus attachmentMetadata% attachError=VolumeError detachError=VolumeError
VolumeAttributesClass metadata=ObjectMeta parameters%
VolumeDevice
VolumeError time=Time
VolumeMount
VolumeNodeAffinity required=NodeSelector
VolumeNodeResources
VolumeResourceRequirements limits% requests%
VsphereVirtualDiskVolumeSource
WebhookClientConfig service=ServiceReference
WebhookConversion clientConfig=WebhookClientConfig conversionReviewVersions[]
WindowsSecurityContextOptions
Workload metadata=ObjectMeta spec=WorkloadSpec
WorkloadPodGroupTemplateReference
WorkloadSpec controllerRef=TypedLocalObjectReference podGroupTemplates[]
)table";

}  // namespace k8s::merge_tables
