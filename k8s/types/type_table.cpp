// Longer than other files because it is a table, made by make_table.py beside it from the OpenAPI
// of Kubernetes: nothing in it is decided here.
#include "k8s/types/object_type.hpp"

namespace k8s::type_tables {

// Per group version its kinds; "=" where the type has another name.
const std::string_view kinds = R"table(
v1 ConfigMap Event Namespace Node PersistentVolume PersistentVolumeClaim Pod ReplicationController
  Secret ServiceAccount Service
admissionregistration.k8s.io/v1 ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding
apiextensions.k8s.io/v1 CustomResourceDefinition
apps/v1 ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet
authorization.k8s.io/v1 SelfSubjectAccessReview
autoscaling/v2 HorizontalPodAutoscaler=HorizontalPodAutoscaler@v2
batch/v1 CronJob Job
coordination.k8s.io/v1 Lease
events.k8s.io/v1 Event=Event'
networking.k8s.io/v1 Ingress NetworkPolicy
policy/v1 PodDisruptionBudget
rbac.authorization.k8s.io/v1 ClusterRole ClusterRoleBinding Role RoleBinding
)table";

// Per type its fields: s text, i int32, l int64, f number, b flag, y bytes, t time, u time with
// microseconds, q quantity, x integer or text, a anything, [ a list of (with its keys), % a map of,
// else a type; in braces the words that validation takes.
const std::string_view types = R"table(
AWSElasticBlockStoreVolumeSource fsType:s partition:i readOnly:b volumeID:s
Affinity nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAntiAffinity
AggregationRule clusterRoleSelectors:[LabelSelector
AppArmorProfile localhostProfile:s type:s
AttachedVolume devicePath:s name:s
AuditAnnotation key:s valueExpression:s
AzureDiskVolumeSource cachingMode:s diskName:s diskURI:s fsType:s kind:s readOnly:b
AzureFilePersistentVolumeSource readOnly:b secretName:s secretNamespace:s shareName:s
AzureFileVolumeSource readOnly:b secretName:s shareName:s
CSIPersistentVolumeSource controllerExpandSecretRef:SecretReference
  controllerPublishSecretRef:SecretReference driver:s fsType:s nodeExpandSecretRef:SecretReference
  nodePublishSecretRef:SecretReference nodeStageSecretRef:SecretReference readOnly:b
  volumeAttributes:%s volumeHandle:s
CSIVolumeSource driver:s fsType:s nodePublishSecretRef:LocalObjectReference readOnly:b
  volumeAttributes:%s
Capabilities add:[s drop:[s
CephFSPersistentVolumeSource monitors:[s path:s readOnly:b secretFile:s secretRef:SecretReference
  user:s
CephFSVolumeSource monitors:[s path:s readOnly:b secretFile:s secretRef:LocalObjectReference user:s
CinderPersistentVolumeSource fsType:s readOnly:b secretRef:SecretReference volumeID:s
CinderVolumeSource fsType:s readOnly:b secretRef:LocalObjectReference volumeID:s
ClientIPConfig timeoutSeconds:i
ClusterRole aggregationRule:AggregationRule apiVersion:s kind:s metadata:ObjectMeta
  rules:[PolicyRule
ClusterRoleBinding apiVersion:s kind:s metadata:ObjectMeta roleRef:RoleRef subjects:[Subject
ClusterTrustBundleProjection labelSelector:LabelSelector name:s optional:b path:s signerName:s
Condition lastTransitionTime:t message:s observedGeneration:l reason:s status:s type:s
ConfigMap apiVersion:s binaryData:%y data:%s immutable:b kind:s metadata:ObjectMeta
ConfigMapEnvSource name:s optional:b
ConfigMapKeySelector key:s name:s optional:b
ConfigMapNodeConfigSource kubeletConfigKey:s name:s namespace:s resourceVersion:s uid:s
ConfigMapProjection items:[KeyToPath name:s optional:b
ConfigMapVolumeSource defaultMode:i items:[KeyToPath name:s optional:b
Container args:[s command:[s env:[EnvVar(name) envFrom:[EnvFromSource image:s
  imagePullPolicy:s{Always|IfNotPresent|Never} lifecycle:Lifecycle livenessProbe:Probe name:s
  ports:[ContainerPort(containerPort,protocol) readinessProbe:Probe
  resizePolicy:[ContainerResizePolicy resources:ResourceRequirements restartPolicy:s
  restartPolicyRules:[ContainerRestartRule securityContext:SecurityContext startupProbe:Probe
  stdin:b stdinOnce:b terminationMessagePath:s terminationMessagePolicy:s tty:b
  volumeDevices:[VolumeDevice(devicePath) volumeMounts:[VolumeMount(mountPath) workingDir:s
ContainerExtendedResourceRequest containerName:s requestName:s resourceName:s
ContainerImage names:[s sizeBytes:l
ContainerPort containerPort:i hostIP:s hostPort:i name:s protocol:s{SCTP|TCP|UDP}
ContainerResizePolicy resourceName:s restartPolicy:s
ContainerResourceMetricSource@v2 container:s name:s target:MetricTarget@v2
ContainerResourceMetricStatus@v2 container:s current:MetricValueStatus@v2 name:s
ContainerRestartRule action:s exitCodes:ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes operator:s values:[i
ContainerState running:ContainerStateRunning terminated:ContainerStateTerminated
  waiting:ContainerStateWaiting
ContainerStateRunning startedAt:t
ContainerStateTerminated containerID:s exitCode:i finishedAt:t message:s reason:s signal:i
  startedAt:t
ContainerStateWaiting message:s reason:s
ContainerStatus allocatedResources:%q allocatedResourcesStatus:[ResourceStatus(name) containerID:s
  image:s imageID:s lastState:ContainerState name:s ready:b resources:ResourceRequirements
  restartCount:i started:b state:ContainerState stopSignal:s user:ContainerUser
  volumeMounts:[VolumeMountStatus(mountPath)
ContainerUser linux:LinuxContainerUser
ControllerRevision apiVersion:s data:a kind:s metadata:ObjectMeta revision:l
CronJob apiVersion:s kind:s metadata:ObjectMeta spec:CronJobSpec status:CronJobStatus
CronJobSpec concurrencyPolicy:s{Allow|Forbid|Replace} failedJobsHistoryLimit:i
  jobTemplate:JobTemplateSpec schedule:s startingDeadlineSeconds:l successfulJobsHistoryLimit:i
  suspend:b timeZone:s
CronJobStatus active:[ObjectReference lastScheduleTime:t lastSuccessfulTime:t
CrossVersionObjectReference@v2 apiVersion:s kind:s name:s
CustomResourceColumnDefinition description:s format:s jsonPath:s name:s priority:i type:s
CustomResourceConversion strategy:s webhook:WebhookConversion
CustomResourceDefinition apiVersion:s kind:s metadata:ObjectMeta spec:CustomResourceDefinitionSpec
  status:CustomResourceDefinitionStatus
CustomResourceDefinitionCondition lastTransitionTime:t message:s observedGeneration:l reason:s
  status:s type:s
CustomResourceDefinitionNames categories:[s kind:s listKind:s plural:s shortNames:[s singular:s
CustomResourceDefinitionSpec conversion:CustomResourceConversion group:s
  names:CustomResourceDefinitionNames preserveUnknownFields:b scope:s
  versions:[CustomResourceDefinitionVersion
CustomResourceDefinitionStatus acceptedNames:CustomResourceDefinitionNames
  conditions:[CustomResourceDefinitionCondition(type) observedGeneration:l storedVersions:[s
CustomResourceDefinitionVersion additionalPrinterColumns:[CustomResourceColumnDefinition
  deprecated:b deprecationWarning:s name:s schema:CustomResourceValidation
  selectableFields:[SelectableField served:b storage:b subresources:CustomResourceSubresources
CustomResourceSubresourceScale labelSelectorPath:s specReplicasPath:s statusReplicasPath:s
CustomResourceSubresources scale:CustomResourceSubresourceScale status:a
CustomResourceValidation openAPIV3Schema:JSONSchemaProps
DaemonEndpoint Port:i
DaemonSet apiVersion:s kind:s metadata:ObjectMeta spec:DaemonSetSpec status:DaemonSetStatus
DaemonSetCondition lastTransitionTime:t message:s reason:s status:s type:s
DaemonSetSpec minReadySeconds:i revisionHistoryLimit:i selector:LabelSelector
  template:PodTemplateSpec updateStrategy:DaemonSetUpdateStrategy
DaemonSetStatus collisionCount:i conditions:[DaemonSetCondition(type) currentNumberScheduled:i
  desiredNumberScheduled:i numberAvailable:i numberMisscheduled:i numberReady:i numberUnavailable:i
  observedGeneration:l updatedNumberScheduled:i
DaemonSetUpdateStrategy rollingUpdate:RollingUpdateDaemonSet type:s
Deployment apiVersion:s kind:s metadata:ObjectMeta spec:DeploymentSpec status:DeploymentStatus
DeploymentCondition lastTransitionTime:t lastUpdateTime:t message:s reason:s status:s type:s
DeploymentSpec minReadySeconds:i paused:b progressDeadlineSeconds:i replicas:i
  revisionHistoryLimit:i selector:LabelSelector strategy:DeploymentStrategy template:PodTemplateSpec
DeploymentStatus availableReplicas:i collisionCount:i conditions:[DeploymentCondition(type)
  observedGeneration:l readyReplicas:i replicas:i terminatingReplicas:i unavailableReplicas:i
  updatedReplicas:i
DeploymentStrategy rollingUpdate:RollingUpdateDeployment type:s{Recreate|RollingUpdate}
DownwardAPIProjection items:[DownwardAPIVolumeFile
DownwardAPIVolumeFile fieldRef:ObjectFieldSelector mode:i path:s
  resourceFieldRef:ResourceFieldSelector
DownwardAPIVolumeSource defaultMode:i items:[DownwardAPIVolumeFile
EmptyDirVolumeSource medium:s sizeLimit:q
EnvFromSource configMapRef:ConfigMapEnvSource prefix:s secretRef:SecretEnvSource
EnvVar name:s value:s valueFrom:EnvVarSource
EnvVarSource configMapKeyRef:ConfigMapKeySelector fieldRef:ObjectFieldSelector
  fileKeyRef:FileKeySelector resourceFieldRef:ResourceFieldSelector secretKeyRef:SecretKeySelector
EphemeralContainer args:[s command:[s env:[EnvVar(name) envFrom:[EnvFromSource image:s
  imagePullPolicy:s lifecycle:Lifecycle livenessProbe:Probe name:s
  ports:[ContainerPort(containerPort,protocol) readinessProbe:Probe
  resizePolicy:[ContainerResizePolicy resources:ResourceRequirements restartPolicy:s
  restartPolicyRules:[ContainerRestartRule securityContext:SecurityContext startupProbe:Probe
  stdin:b stdinOnce:b targetContainerName:s terminationMessagePath:s terminationMessagePolicy:s
  tty:b volumeDevices:[VolumeDevice(devicePath) volumeMounts:[VolumeMount(mountPath) workingDir:s
EphemeralVolumeSource volumeClaimTemplate:PersistentVolumeClaimTemplate
Event action:s apiVersion:s count:i eventTime:u firstTimestamp:t involvedObject:ObjectReference
  kind:s lastTimestamp:t message:s metadata:ObjectMeta reason:s related:ObjectReference
  reportingComponent:s reportingInstance:s series:EventSeries source:EventSource type:s
Event' action:s apiVersion:s deprecatedCount:i deprecatedFirstTimestamp:t deprecatedLastTimestamp:t
  deprecatedSource:EventSource eventTime:u kind:s metadata:ObjectMeta note:s reason:s
  regarding:ObjectReference related:ObjectReference reportingController:s reportingInstance:s
  series:EventSeries' type:s
EventSeries count:i lastObservedTime:u
EventSeries' count:i lastObservedTime:u
EventSource component:s host:s
ExecAction command:[s
ExpressionWarning fieldRef:s warning:s
ExternalDocumentation description:s url:s
ExternalMetricSource@v2 metric:MetricIdentifier@v2 target:MetricTarget@v2
ExternalMetricStatus@v2 current:MetricValueStatus@v2 metric:MetricIdentifier@v2
FCVolumeSource fsType:s lun:i readOnly:b targetWWNs:[s wwids:[s
FieldSelectorAttributes rawSelector:s requirements:[FieldSelectorRequirement
FieldSelectorRequirement key:s operator:s values:[s
FileKeySelector key:s optional:b path:s volumeName:s
FlexPersistentVolumeSource driver:s fsType:s options:%s readOnly:b secretRef:SecretReference
FlexVolumeSource driver:s fsType:s options:%s readOnly:b secretRef:LocalObjectReference
FlockerVolumeSource datasetName:s datasetUUID:s
GCEPersistentDiskVolumeSource fsType:s partition:i pdName:s readOnly:b
GRPCAction port:i service:s
GitRepoVolumeSource directory:s repository:s revision:s
GlusterfsPersistentVolumeSource endpoints:s endpointsNamespace:s path:s readOnly:b
GlusterfsVolumeSource endpoints:s path:s readOnly:b
HPAScalingPolicy@v2 periodSeconds:i type:s value:i
HPAScalingRules@v2 policies:[HPAScalingPolicy@v2 selectPolicy:s stabilizationWindowSeconds:i
  tolerance:q
HTTPGetAction host:s httpHeaders:[HTTPHeader path:s port:x scheme:s{HTTP|HTTPS}
HTTPHeader name:s value:s
HTTPIngressPath backend:IngressBackend path:s pathType:s
HTTPIngressRuleValue paths:[HTTPIngressPath
HorizontalPodAutoscaler@v2 apiVersion:s kind:s metadata:ObjectMeta
  spec:HorizontalPodAutoscalerSpec@v2 status:HorizontalPodAutoscalerStatus@v2
HorizontalPodAutoscalerBehavior@v2 scaleDown:HPAScalingRules@v2 scaleUp:HPAScalingRules@v2
HorizontalPodAutoscalerCondition@v2 lastTransitionTime:t message:s reason:s status:s type:s
HorizontalPodAutoscalerSpec@v2 behavior:HorizontalPodAutoscalerBehavior@v2 maxReplicas:i
  metrics:[MetricSpec@v2 minReplicas:i scaleTargetRef:CrossVersionObjectReference@v2
HorizontalPodAutoscalerStatus@v2 conditions:[HorizontalPodAutoscalerCondition@v2(type)
  currentMetrics:[MetricStatus@v2 currentReplicas:i desiredReplicas:i lastScaleTime:t
  observedGeneration:l
HostAlias hostnames:[s ip:s
HostIP ip:s
HostPathVolumeSource path:s type:s
IPBlock cidr:s except:[s
ISCSIPersistentVolumeSource chapAuthDiscovery:b chapAuthSession:b fsType:s initiatorName:s iqn:s
  iscsiInterface:s lun:i portals:[s readOnly:b secretRef:SecretReference targetPortal:s
ISCSIVolumeSource chapAuthDiscovery:b chapAuthSession:b fsType:s initiatorName:s iqn:s
  iscsiInterface:s lun:i portals:[s readOnly:b secretRef:LocalObjectReference targetPortal:s
ImageVolumeSource pullPolicy:s reference:s
ImageVolumeStatus imageRef:s
Ingress apiVersion:s kind:s metadata:ObjectMeta spec:IngressSpec status:IngressStatus
IngressBackend resource:TypedLocalObjectReference service:IngressServiceBackend
IngressLoadBalancerIngress hostname:s ip:s ports:[IngressPortStatus
IngressLoadBalancerStatus ingress:[IngressLoadBalancerIngress
IngressPortStatus error:s port:i protocol:s
IngressRule host:s http:HTTPIngressRuleValue
IngressServiceBackend name:s port:ServiceBackendPort
IngressSpec defaultBackend:IngressBackend ingressClassName:s rules:[IngressRule tls:[IngressTLS
IngressStatus loadBalancer:IngressLoadBalancerStatus
IngressTLS hosts:[s secretName:s
JSONSchemaProps $ref:s $schema:s additionalItems:a additionalProperties:a allOf:[JSONSchemaProps
  anyOf:[JSONSchemaProps default:a definitions:%JSONSchemaProps dependencies:%a description:s
  enum:[a example:a exclusiveMaximum:b exclusiveMinimum:b externalDocs:ExternalDocumentation
  format:s id:s items:a maxItems:l maxLength:l maxProperties:l maximum:f minItems:l minLength:l
  minProperties:l minimum:f multipleOf:f not:JSONSchemaProps nullable:b oneOf:[JSONSchemaProps
  pattern:s patternProperties:%JSONSchemaProps properties:%JSONSchemaProps required:[s title:s
  type:s uniqueItems:b x-kubernetes-embedded-resource:b x-kubernetes-int-or-string:b
  x-kubernetes-list-map-keys:[s x-kubernetes-list-type:s x-kubernetes-map-type:s
  x-kubernetes-preserve-unknown-fields:b x-kubernetes-validations:[ValidationRule(rule)
Job apiVersion:s kind:s metadata:ObjectMeta spec:JobSpec status:JobStatus
JobCondition lastProbeTime:t lastTransitionTime:t message:s reason:s status:s type:s
JobSpec activeDeadlineSeconds:l backoffLimit:i backoffLimitPerIndex:i completionMode:s completions:i
  managedBy:s manualSelector:b maxFailedIndexes:i parallelism:i podFailurePolicy:PodFailurePolicy
  podReplacementPolicy:s selector:LabelSelector successPolicy:SuccessPolicy suspend:b
  template:PodTemplateSpec ttlSecondsAfterFinished:i
JobStatus active:i completedIndexes:s completionTime:t conditions:[JobCondition failed:i
  failedIndexes:s ready:i startTime:t succeeded:i terminating:i
  uncountedTerminatedPods:UncountedTerminatedPods
JobTemplateSpec metadata:ObjectMeta spec:JobSpec
KeyToPath key:s mode:i path:s
LabelSelector matchExpressions:[LabelSelectorRequirement matchLabels:%s
LabelSelectorAttributes rawSelector:s requirements:[LabelSelectorRequirement
LabelSelectorRequirement key:s operator:s values:[s
Lease apiVersion:s kind:s metadata:ObjectMeta spec:LeaseSpec
LeaseSpec acquireTime:u holderIdentity:s leaseDurationSeconds:i leaseTransitions:i preferredHolder:s
  renewTime:u strategy:s
Lifecycle postStart:LifecycleHandler preStop:LifecycleHandler stopSignal:s
LifecycleHandler exec:ExecAction httpGet:HTTPGetAction sleep:SleepAction tcpSocket:TCPSocketAction
LinuxContainerUser gid:l supplementalGroups:[l uid:l
LoadBalancerIngress hostname:s ip:s ipMode:s ports:[PortStatus
LoadBalancerStatus ingress:[LoadBalancerIngress
LocalObjectReference name:s
LocalVolumeSource fsType:s path:s
ManagedFieldsEntry apiVersion:s fieldsType:s fieldsV1:a manager:s operation:s subresource:s time:t
MatchCondition expression:s name:s
MatchResources excludeResourceRules:[NamedRuleWithOperations matchPolicy:s
  namespaceSelector:LabelSelector objectSelector:LabelSelector
  resourceRules:[NamedRuleWithOperations
MetricIdentifier@v2 name:s selector:LabelSelector
MetricSpec@v2 containerResource:ContainerResourceMetricSource@v2 external:ExternalMetricSource@v2
  object:ObjectMetricSource@v2 pods:PodsMetricSource@v2 resource:ResourceMetricSource@v2 type:s
MetricStatus@v2 containerResource:ContainerResourceMetricStatus@v2 external:ExternalMetricStatus@v2
  object:ObjectMetricStatus@v2 pods:PodsMetricStatus@v2 resource:ResourceMetricStatus@v2 type:s
MetricTarget@v2 averageUtilization:i averageValue:q type:s value:q
MetricValueStatus@v2 averageUtilization:i averageValue:q value:q
ModifyVolumeStatus status:s targetVolumeAttributesClassName:s
NFSVolumeSource path:s readOnly:b server:s
NamedRuleWithOperations apiGroups:[s apiVersions:[s operations:[s resourceNames:[s resources:[s
  scope:s
Namespace apiVersion:s kind:s metadata:ObjectMeta spec:NamespaceSpec status:NamespaceStatus
NamespaceCondition lastTransitionTime:t message:s reason:s status:s type:s
NamespaceSpec finalizers:[s
NamespaceStatus conditions:[NamespaceCondition(type) phase:s
NetworkPolicy apiVersion:s kind:s metadata:ObjectMeta spec:NetworkPolicySpec
NetworkPolicyEgressRule ports:[NetworkPolicyPort to:[NetworkPolicyPeer
NetworkPolicyIngressRule from:[NetworkPolicyPeer ports:[NetworkPolicyPort
NetworkPolicyPeer ipBlock:IPBlock namespaceSelector:LabelSelector podSelector:LabelSelector
NetworkPolicyPort endPort:i port:x protocol:s{SCTP|TCP|UDP}
NetworkPolicySpec egress:[NetworkPolicyEgressRule ingress:[NetworkPolicyIngressRule
  podSelector:LabelSelector policyTypes:[s{Egress|Ingress}
Node apiVersion:s kind:s metadata:ObjectMeta spec:NodeSpec status:NodeStatus
NodeAddress address:s type:s
NodeAffinity preferredDuringSchedulingIgnoredDuringExecution:[PreferredSchedulingTerm
  requiredDuringSchedulingIgnoredDuringExecution:NodeSelector
NodeAllocatableResourceClaimStatus containers:[s resourceClaimName:s resources:%q
NodeCondition lastHeartbeatTime:t lastTransitionTime:t message:s reason:s status:s type:s
NodeConfigSource configMap:ConfigMapNodeConfigSource
NodeConfigStatus active:NodeConfigSource assigned:NodeConfigSource error:s
  lastKnownGood:NodeConfigSource
NodeDaemonEndpoints kubeletEndpoint:DaemonEndpoint
NodeFeatures supplementalGroupsPolicy:b
NodeRuntimeHandler features:NodeRuntimeHandlerFeatures name:s
NodeRuntimeHandlerFeatures recursiveReadOnlyMounts:b userNamespaces:b
NodeSelector nodeSelectorTerms:[NodeSelectorTerm
NodeSelectorRequirement key:s operator:s values:[s
NodeSelectorTerm matchExpressions:[NodeSelectorRequirement matchFields:[NodeSelectorRequirement
NodeSpec configSource:NodeConfigSource externalID:s podCIDR:s podCIDRs:[s providerID:s taints:[Taint
  unschedulable:b
NodeStatus addresses:[NodeAddress(type) allocatable:%q capacity:%q conditions:[NodeCondition(type)
  config:NodeConfigStatus daemonEndpoints:NodeDaemonEndpoints declaredFeatures:[s
  features:NodeFeatures images:[ContainerImage nodeInfo:NodeSystemInfo phase:s
  runtimeHandlers:[NodeRuntimeHandler volumesAttached:[AttachedVolume volumesInUse:[s
NodeSwapStatus capacity:l
NodeSystemInfo architecture:s bootID:s containerRuntimeVersion:s kernelVersion:s kubeProxyVersion:s
  kubeletVersion:s machineID:s operatingSystem:s osImage:s swap:NodeSwapStatus systemUUID:s
NonResourceAttributes path:s verb:s
ObjectFieldSelector apiVersion:s fieldPath:s
ObjectMeta annotations:%s creationTimestamp:t deletionGracePeriodSeconds:l deletionTimestamp:t
  finalizers:[s generateName:s generation:l labels:%s managedFields:[ManagedFieldsEntry name:s
  namespace:s ownerReferences:[OwnerReference(uid) resourceVersion:s selfLink:s uid:s
ObjectMetricSource@v2 describedObject:CrossVersionObjectReference@v2 metric:MetricIdentifier@v2
  target:MetricTarget@v2
ObjectMetricStatus@v2 current:MetricValueStatus@v2 describedObject:CrossVersionObjectReference@v2
  metric:MetricIdentifier@v2
ObjectReference apiVersion:s fieldPath:s kind:s name:s namespace:s resourceVersion:s uid:s
OwnerReference apiVersion:s blockOwnerDeletion:b controller:b kind:s name:s uid:s
ParamKind apiVersion:s kind:s
ParamRef name:s namespace:s parameterNotFoundAction:s selector:LabelSelector
PersistentVolume apiVersion:s kind:s metadata:ObjectMeta spec:PersistentVolumeSpec
  status:PersistentVolumeStatus
PersistentVolumeClaim apiVersion:s kind:s metadata:ObjectMeta spec:PersistentVolumeClaimSpec
  status:PersistentVolumeClaimStatus
PersistentVolumeClaimCondition lastProbeTime:t lastTransitionTime:t message:s reason:s status:s
  type:s
PersistentVolumeClaimSpec accessModes:[s{ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod}
  dataSource:TypedLocalObjectReference dataSourceRef:TypedObjectReference
  resources:VolumeResourceRequirements selector:LabelSelector storageClassName:s
  volumeAttributesClassName:s volumeMode:s volumeName:s
PersistentVolumeClaimStatus accessModes:[s allocatedResourceStatuses:%s allocatedResources:%q
  capacity:%q conditions:[PersistentVolumeClaimCondition(type) currentVolumeAttributesClassName:s
  modifyVolumeStatus:ModifyVolumeStatus phase:s
PersistentVolumeClaimTemplate metadata:ObjectMeta spec:PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource claimName:s readOnly:b
PersistentVolumeSpec accessModes:[s awsElasticBlockStore:AWSElasticBlockStoreVolumeSource
  azureDisk:AzureDiskVolumeSource azureFile:AzureFilePersistentVolumeSource capacity:%q
  cephfs:CephFSPersistentVolumeSource cinder:CinderPersistentVolumeSource claimRef:ObjectReference
  csi:CSIPersistentVolumeSource fc:FCVolumeSource flexVolume:FlexPersistentVolumeSource
  flocker:FlockerVolumeSource gcePersistentDisk:GCEPersistentDiskVolumeSource
  glusterfs:GlusterfsPersistentVolumeSource hostPath:HostPathVolumeSource
  iscsi:ISCSIPersistentVolumeSource local:LocalVolumeSource mountOptions:[s nfs:NFSVolumeSource
  nodeAffinity:VolumeNodeAffinity persistentVolumeReclaimPolicy:s
  photonPersistentDisk:PhotonPersistentDiskVolumeSource portworxVolume:PortworxVolumeSource
  quobyte:QuobyteVolumeSource rbd:RBDPersistentVolumeSource scaleIO:ScaleIOPersistentVolumeSource
  storageClassName:s storageos:StorageOSPersistentVolumeSource volumeAttributesClassName:s
  volumeMode:s vsphereVolume:VsphereVirtualDiskVolumeSource
PersistentVolumeStatus lastPhaseTransitionTime:t message:s phase:s reason:s
PhotonPersistentDiskVolumeSource fsType:s pdID:s
Pod apiVersion:s kind:s metadata:ObjectMeta spec:PodSpec status:PodStatus
PodAffinity preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm
  requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm
PodAffinityTerm labelSelector:LabelSelector matchLabelKeys:[s mismatchLabelKeys:[s
  namespaceSelector:LabelSelector namespaces:[s topologyKey:s
PodAntiAffinity preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm
  requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm
PodCertificateProjection certificateChainPath:s credentialBundlePath:s keyPath:s keyType:s
  maxExpirationSeconds:i signerName:s userAnnotations:%s
PodCondition lastProbeTime:t lastTransitionTime:t message:s observedGeneration:l reason:s status:s
  type:s
PodDNSConfig nameservers:[s options:[PodDNSConfigOption searches:[s
PodDNSConfigOption name:s value:s
PodDisruptionBudget apiVersion:s kind:s metadata:ObjectMeta spec:PodDisruptionBudgetSpec
  status:PodDisruptionBudgetStatus
PodDisruptionBudgetSpec maxUnavailable:x minAvailable:x selector:LabelSelector
  unhealthyPodEvictionPolicy:s{AlwaysAllow|IfHealthyBudget}
PodDisruptionBudgetStatus conditions:[Condition(type) currentHealthy:i desiredHealthy:i
  disruptedPods:%t disruptionsAllowed:i expectedPods:i observedGeneration:l
PodExtendedResourceClaimStatus requestMappings:[ContainerExtendedResourceRequest resourceClaimName:s
PodFailurePolicy rules:[PodFailurePolicyRule
PodFailurePolicyOnExitCodesRequirement containerName:s operator:s values:[i
PodFailurePolicyOnPodConditionsPattern status:s type:s
PodFailurePolicyRule action:s onExitCodes:PodFailurePolicyOnExitCodesRequirement
  onPodConditions:[PodFailurePolicyOnPodConditionsPattern
PodIP ip:s
PodOS name:s
PodReadinessGate conditionType:s
PodResourceClaim name:s resourceClaimName:s resourceClaimTemplateName:s
PodResourceClaimStatus name:s resourceClaimName:s
PodSchedulingGate name:s
PodSchedulingGroup podGroupName:s
PodSecurityContext appArmorProfile:AppArmorProfile fsGroup:l fsGroupChangePolicy:s runAsGroup:l
  runAsNonRoot:b runAsUser:l seLinuxChangePolicy:s seLinuxOptions:SELinuxOptions
  seccompProfile:SeccompProfile supplementalGroups:[l supplementalGroupsPolicy:s sysctls:[Sysctl
  windowsOptions:WindowsSecurityContextOptions
PodSpec activeDeadlineSeconds:l affinity:Affinity automountServiceAccountToken:b
  containers:[Container(name) dnsConfig:PodDNSConfig dnsPolicy:s enableServiceLinks:b
  ephemeralContainers:[EphemeralContainer(name) hostAliases:[HostAlias(ip) hostIPC:b hostNetwork:b
  hostPID:b hostUsers:b hostname:s hostnameOverride:s imagePullSecrets:[LocalObjectReference(name)
  initContainers:[Container(name) nodeName:s nodeSelector:%s os:PodOS overhead:%q preemptionPolicy:s
  priority:i priorityClassName:s readinessGates:[PodReadinessGate
  resourceClaims:[PodResourceClaim(name) resources:ResourceRequirements restartPolicy:s
  runtimeClassName:s schedulerName:s schedulingGates:[PodSchedulingGate(name)
  schedulingGroup:PodSchedulingGroup securityContext:PodSecurityContext serviceAccount:s
  serviceAccountName:s setHostnameAsFQDN:b shareProcessNamespace:b subdomain:s
  terminationGracePeriodSeconds:l tolerations:[Toleration
  topologySpreadConstraints:[TopologySpreadConstraint(topologyKey,whenUnsatisfiable)
  volumes:[Volume(name)
PodStatus allocatedResources:%q conditions:[PodCondition(type) containerStatuses:[ContainerStatus
  ephemeralContainerStatuses:[ContainerStatus
  extendedResourceClaimStatus:PodExtendedResourceClaimStatus hostIP:s hostIPs:[HostIP
  initContainerStatuses:[ContainerStatus message:s
  nodeAllocatableResourceClaimStatuses:[NodeAllocatableResourceClaimStatus nominatedNodeName:s
  observedGeneration:l phase:s podIP:s podIPs:[PodIP(ip) qosClass:s reason:s resize:s
  resourceClaimStatuses:[PodResourceClaimStatus(name) resources:ResourceRequirements startTime:t
PodTemplateSpec metadata:ObjectMeta spec:PodSpec
PodsMetricSource@v2 metric:MetricIdentifier@v2 target:MetricTarget@v2
PodsMetricStatus@v2 current:MetricValueStatus@v2 metric:MetricIdentifier@v2
PolicyRule apiGroups:[s nonResourceURLs:[s resourceNames:[s resources:[s verbs:[s
PortStatus error:s port:i protocol:s
PortworxVolumeSource fsType:s readOnly:b volumeID:s
PreferredSchedulingTerm preference:NodeSelectorTerm weight:i
Probe exec:ExecAction failureThreshold:i grpc:GRPCAction httpGet:HTTPGetAction initialDelaySeconds:i
  periodSeconds:i successThreshold:i tcpSocket:TCPSocketAction terminationGracePeriodSeconds:l
  timeoutSeconds:i
ProjectedVolumeSource defaultMode:i sources:[VolumeProjection
QuobyteVolumeSource group:s readOnly:b registry:s tenant:s user:s volume:s
RBDPersistentVolumeSource fsType:s image:s keyring:s monitors:[s pool:s readOnly:b
  secretRef:SecretReference user:s
RBDVolumeSource fsType:s image:s keyring:s monitors:[s pool:s readOnly:b
  secretRef:LocalObjectReference user:s
ReplicaSet apiVersion:s kind:s metadata:ObjectMeta spec:ReplicaSetSpec status:ReplicaSetStatus
ReplicaSetCondition lastTransitionTime:t message:s reason:s status:s type:s
ReplicaSetSpec minReadySeconds:i replicas:i selector:LabelSelector template:PodTemplateSpec
ReplicaSetStatus availableReplicas:i conditions:[ReplicaSetCondition(type) fullyLabeledReplicas:i
  observedGeneration:l readyReplicas:i replicas:i terminatingReplicas:i
ReplicationController apiVersion:s kind:s metadata:ObjectMeta spec:ReplicationControllerSpec
  status:ReplicationControllerStatus
ReplicationControllerCondition lastTransitionTime:t message:s reason:s status:s type:s
ReplicationControllerSpec minReadySeconds:i replicas:i selector:%s template:PodTemplateSpec
ReplicationControllerStatus availableReplicas:i conditions:[ReplicationControllerCondition(type)
  fullyLabeledReplicas:i observedGeneration:l readyReplicas:i replicas:i
ResourceAttributes fieldSelector:FieldSelectorAttributes group:s
  labelSelector:LabelSelectorAttributes name:s namespace:s resource:s subresource:s verb:s version:s
ResourceClaim name:s request:s
ResourceFieldSelector containerName:s divisor:q resource:s
ResourceHealth health:s message:s resourceID:s
ResourceMetricSource@v2 name:s target:MetricTarget@v2
ResourceMetricStatus@v2 current:MetricValueStatus@v2 name:s
ResourceRequirements claims:[ResourceClaim(name) limits:%q requests:%q
ResourceStatus name:s resources:[ResourceHealth(resourceID)
Role apiVersion:s kind:s metadata:ObjectMeta rules:[PolicyRule
RoleBinding apiVersion:s kind:s metadata:ObjectMeta roleRef:RoleRef subjects:[Subject
RoleRef apiGroup:s kind:s name:s
RollingUpdateDaemonSet maxSurge:x maxUnavailable:x
RollingUpdateDeployment maxSurge:x maxUnavailable:x
RollingUpdateStatefulSetStrategy maxUnavailable:x partition:i
SELinuxOptions level:s role:s type:s user:s
ScaleIOPersistentVolumeSource fsType:s gateway:s protectionDomain:s readOnly:b
  secretRef:SecretReference sslEnabled:b storageMode:s storagePool:s system:s volumeName:s
ScaleIOVolumeSource fsType:s gateway:s protectionDomain:s readOnly:b secretRef:LocalObjectReference
  sslEnabled:b storageMode:s storagePool:s system:s volumeName:s
SeccompProfile localhostProfile:s type:s
Secret apiVersion:s data:%y immutable:b kind:s metadata:ObjectMeta stringData:%s type:s
SecretEnvSource name:s optional:b
SecretKeySelector key:s name:s optional:b
SecretProjection items:[KeyToPath name:s optional:b
SecretReference name:s namespace:s
SecretVolumeSource defaultMode:i items:[KeyToPath optional:b secretName:s
SecurityContext allowPrivilegeEscalation:b appArmorProfile:AppArmorProfile capabilities:Capabilities
  privileged:b procMount:s readOnlyRootFilesystem:b runAsGroup:l runAsNonRoot:b runAsUser:l
  seLinuxOptions:SELinuxOptions seccompProfile:SeccompProfile
  windowsOptions:WindowsSecurityContextOptions
SelectableField jsonPath:s
SelfSubjectAccessReview apiVersion:s kind:s metadata:ObjectMeta spec:SelfSubjectAccessReviewSpec
  status:SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec nonResourceAttributes:NonResourceAttributes
  resourceAttributes:ResourceAttributes
Service apiVersion:s kind:s metadata:ObjectMeta spec:ServiceSpec status:ServiceStatus
ServiceAccount apiVersion:s automountServiceAccountToken:b imagePullSecrets:[LocalObjectReference
  kind:s metadata:ObjectMeta secrets:[ObjectReference(name)
ServiceAccountTokenProjection audience:s expirationSeconds:l path:s
ServiceBackendPort name:s number:i
ServicePort appProtocol:s name:s nodePort:i port:i protocol:s{SCTP|TCP|UDP} targetPort:x
ServiceReference name:s namespace:s path:s port:i
ServiceSpec allocateLoadBalancerNodePorts:b clusterIP:s clusterIPs:[s externalIPs:[s externalName:s
  externalTrafficPolicy:s healthCheckNodePort:i internalTrafficPolicy:s ipFamilies:[s
  ipFamilyPolicy:s loadBalancerClass:s loadBalancerIP:s loadBalancerSourceRanges:[s
  ports:[ServicePort(port,protocol) publishNotReadyAddresses:b selector:%s
  sessionAffinity:s{ClientIP|None} sessionAffinityConfig:SessionAffinityConfig trafficDistribution:s
  type:s{ClusterIP|ExternalName|LoadBalancer|NodePort}
ServiceStatus conditions:[Condition(type) loadBalancer:LoadBalancerStatus
SessionAffinityConfig clientIP:ClientIPConfig
SleepAction seconds:l
StatefulSet apiVersion:s kind:s metadata:ObjectMeta spec:StatefulSetSpec status:StatefulSetStatus
StatefulSetCondition lastTransitionTime:t message:s reason:s status:s type:s
StatefulSetOrdinals start:i
StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted:s whenScaled:s
StatefulSetSpec minReadySeconds:i ordinals:StatefulSetOrdinals
  persistentVolumeClaimRetentionPolicy:StatefulSetPersistentVolumeClaimRetentionPolicy
  podManagementPolicy:s replicas:i revisionHistoryLimit:i selector:LabelSelector serviceName:s
  template:PodTemplateSpec updateStrategy:StatefulSetUpdateStrategy
  volumeClaimTemplates:[PersistentVolumeClaim
StatefulSetStatus availableReplicas:i collisionCount:i conditions:[StatefulSetCondition(type)
  currentReplicas:i currentRevision:s observedGeneration:l readyReplicas:i replicas:i
  updateRevision:s updatedReplicas:i
StatefulSetUpdateStrategy rollingUpdate:RollingUpdateStatefulSetStrategy type:s
StorageOSPersistentVolumeSource fsType:s readOnly:b secretRef:ObjectReference volumeName:s
  volumeNamespace:s
StorageOSVolumeSource fsType:s readOnly:b secretRef:LocalObjectReference volumeName:s
  volumeNamespace:s
Subject apiGroup:s kind:s name:s namespace:s
SubjectAccessReviewStatus allowed:b denied:b evaluationError:s reason:s
SuccessPolicy rules:[SuccessPolicyRule
SuccessPolicyRule succeededCount:i succeededIndexes:s
Sysctl name:s value:s
TCPSocketAction host:s port:x
Taint effect:s key:s timeAdded:t value:s
Toleration effect:s key:s operator:s tolerationSeconds:l value:s
TopologySpreadConstraint labelSelector:LabelSelector matchLabelKeys:[s maxSkew:i minDomains:i
  nodeAffinityPolicy:s nodeTaintsPolicy:s topologyKey:s whenUnsatisfiable:s
TypeChecking expressionWarnings:[ExpressionWarning
TypedLocalObjectReference apiGroup:s kind:s name:s
TypedObjectReference apiGroup:s kind:s name:s namespace:s
UncountedTerminatedPods failed:[s succeeded:[s
ValidatingAdmissionPolicy apiVersion:s kind:s metadata:ObjectMeta spec:ValidatingAdmissionPolicySpec
  status:ValidatingAdmissionPolicyStatus
ValidatingAdmissionPolicyBinding apiVersion:s kind:s metadata:ObjectMeta
  spec:ValidatingAdmissionPolicyBindingSpec
ValidatingAdmissionPolicyBindingSpec matchResources:MatchResources paramRef:ParamRef policyName:s
  validationActions:[s
ValidatingAdmissionPolicySpec auditAnnotations:[AuditAnnotation failurePolicy:s
  matchConditions:[MatchCondition(name) matchConstraints:MatchResources paramKind:ParamKind
  validations:[Validation variables:[Variable(name)
ValidatingAdmissionPolicyStatus conditions:[Condition(type) observedGeneration:l
  typeChecking:TypeChecking
Validation expression:s message:s messageExpression:s reason:s
ValidationRule fieldPath:s message:s messageExpression:s optionalOldSelf:b reason:s rule:s
Variable expression:s name:s
Volume awsElasticBlockStore:AWSElasticBlockStoreVolumeSource azureDisk:AzureDiskVolumeSource
  azureFile:AzureFileVolumeSource cephfs:CephFSVolumeSource cinder:CinderVolumeSource
  configMap:ConfigMapVolumeSource csi:CSIVolumeSource downwardAPI:DownwardAPIVolumeSource
  emptyDir:EmptyDirVolumeSource ephemeral:EphemeralVolumeSource fc:FCVolumeSource
  flexVolume:FlexVolumeSource flocker:FlockerVolumeSource
  gcePersistentDisk:GCEPersistentDiskVolumeSource gitRepo:GitRepoVolumeSource
  glusterfs:GlusterfsVolumeSource hostPath:HostPathVolumeSource image:ImageVolumeSource
  iscsi:ISCSIVolumeSource name:s nfs:NFSVolumeSource
  persistentVolumeClaim:PersistentVolumeClaimVolumeSource
  photonPersistentDisk:PhotonPersistentDiskVolumeSource portworxVolume:PortworxVolumeSource
  projected:ProjectedVolumeSource quobyte:QuobyteVolumeSource rbd:RBDVolumeSource
  scaleIO:ScaleIOVolumeSource secret:SecretVolumeSource storageos:StorageOSVolumeSource
  vsphereVolume:VsphereVirtualDiskVolumeSource
VolumeDevice devicePath:s name:s
VolumeMount mountPath:s mountPropagation:s name:s readOnly:b recursiveReadOnly:s subPath:s
  subPathExpr:s
VolumeMountStatus mountPath:s name:s readOnly:b recursiveReadOnly:s volumeStatus:VolumeStatus
VolumeNodeAffinity required:NodeSelector
VolumeProjection clusterTrustBundle:ClusterTrustBundleProjection configMap:ConfigMapProjection
  downwardAPI:DownwardAPIProjection podCertificate:PodCertificateProjection secret:SecretProjection
  serviceAccountToken:ServiceAccountTokenProjection
VolumeResourceRequirements limits:%q requests:%q
VolumeStatus image:ImageVolumeStatus
VsphereVirtualDiskVolumeSource fsType:s storagePolicyID:s storagePolicyName:s volumePath:s
WebhookClientConfig caBundle:y service:ServiceReference url:s
WebhookConversion clientConfig:WebhookClientConfig conversionReviewVersions:[s
WeightedPodAffinityTerm podAffinityTerm:PodAffinityTerm weight:i
WindowsSecurityContextOptions gmsaCredentialSpec:s gmsaCredentialSpecName:s hostProcess:b
  runAsUserName:s
)table";

}  // namespace k8s::type_tables
