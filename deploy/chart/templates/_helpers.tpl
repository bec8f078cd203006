{{- define "windlass.labels" -}}
app.kubernetes.io/name: {{ .Values.name }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "windlass.selector" -}}
app.kubernetes.io/name: {{ .root.Values.name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "windlass.componentLabels" -}}
{{ include "windlass.selector" . }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "windlass.podLabels" -}}
{{ include "windlass.componentLabels" . }}
{{- with .root.Values.podLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Without a registry a node asks docker.io/library, where the image is not. As container runtimes read a name: its first part is a registry
when it has a dot or a colon, or is localhost. */}}
{{- define "windlass.image" -}}
{{- $name := .Values.image.repository }}
{{- with .Values.image.registry }}
{{- $name = printf "%s/%s" . $name }}
{{- end }}
{{- if not (regexMatch "^([^/]*[.:][^/]*|localhost)/" $name) }}
{{- fail "image.registry is not set: it is the registry that your nodes pull from and that the image was pushed to, for example --set image.registry=registry.example.com (docker.io/library for an image that was loaded onto the nodes by hand)" }}
{{- end }}
{{- if .Values.image.digest -}}
{{ $name }}@{{ .Values.image.digest }}
{{- else -}}
{{ $name }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{/* Where the daemons run. They need a namespace that allows privileged pods; kubeconfigs and the controller stay out of it. */}}
{{- define "windlass.daemonNamespace" -}}
{{- .Values.daemon.namespace | default (printf "%s-daemon" .Release.Namespace) -}}
{{- end }}

{{/* Namespaces that these flags name in controller.extraArgs. */}}
{{- define "windlass.namespacesInFlags" -}}
{{- $all := list }}
{{- range .root.Values.controller.extraArgs }}
{{- $flag := splitn "=" 2 . }}
{{- if and $flag._1 (has $flag._0 $.flags) }}
{{- range splitList "," $flag._1 }}
{{- if regexMatch "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" (trim .) }}
{{- $all = append $all (trim .) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- $all | toJson }}
{{- end }}

{{/* Namespaces that the service is told of to stay out of: those of the daemons and of the kubeconfig of home. */}}
{{- define "windlass.reservedNamespaces" -}}
{{- $all := list (include "windlass.daemonNamespace" .) }}
{{- if and .Values.controller.enabled .Values.watchCluster.secretName }}
{{- $all = append $all (include "windlass.watchNamespace" .) }}
{{- end }}
{{- $flags := list "--reserved-namespaces" "--watch-kubeconfig-secret-namespace" }}
{{- concat $all (include "windlass.namespacesInFlags" (dict "root" . "flags" $flags) | fromJsonArray) | uniq | toJson }}
{{- end }}

{{/* Namespaces, beside the release's and the fleet's, in which the admission policy lets the service run nothing. */}}
{{- define "windlass.closedNamespaces" -}}
{{- $flags := list "--namespace" "--notes-namespace" "--records-namespace" "--region-secret-namespaces" }}
{{- $named := include "windlass.namespacesInFlags" (dict "root" . "flags" $flags) | fromJsonArray }}
{{- $system := ternary list (list "kube-system") .Values.serviceLimits.openKubeSystem }}
{{- concat $system (include "windlass.reservedNamespaces" . | fromJsonArray) $named .Values.serviceLimits.namespaces | uniq | toJson }}
{{- end }}

{{/* Where the kubeconfig of the cluster is that is home instead of this one. */}}
{{- define "windlass.watchNamespace" -}}
{{- .Values.watchCluster.secretNamespace | default (include "windlass.fleetNamespace" .) -}}
{{- end }}

{{/* The rules of a Role on pull secrets: those that are named, and no Secret where none is. Nodes read them, so none may lead to a cluster. */}}
{{- define "windlass.pullSecretRules" -}}
{{- if .names -}}
rules:
  - apiGroups: [""]
    resources: [secrets]
    resourceNames: {{ .names | toJson }}
    verbs: [{{ .verbs }}]
{{- else -}}
rules: []
{{- end }}
{{- end }}

{{/* Where the fleet's Secrets are; discovery.namespace is what the chart of krypton-operator calls it. */}}
{{- define "windlass.fleetNamespace" -}}
{{- .Values.fleet.namespace | default .Values.discovery.namespace | default (eq .Values.compat "krypton" | ternary "krypton-operator" .Release.Namespace) -}}
{{- end }}

{{/* The one chart of the Tenants: `chart` has the names, and with compat the defaults, of the chart of krypton-operator. */}}
{{- define "windlass.tenantsChart" -}}
{{- $standard := .Values.tenants.chart }}
{{- if .Values.compat }}
{{- $standard = dict "repo" "https://ealenn.github.io/charts" "name" "echo-server" "version" "0.5.0" "installCRDs" false }}
{{- end }}
{{- mergeOverwrite (deepCopy $standard) .Values.chart | toYaml }}
{{- end }}

{{/* Values of the chart of krypton-operator that are called otherwise here, or have nothing to mean. */}}
{{- define "windlass.replacedValues" -}}
{{- $here := dict
  "replicaCount" "controller.replicas"
  "nameOverride" "name"
  "fullnameOverride" "name"
  "extraEnvs" "controller.extraEnv"
  "extraEnvsFrom" "controller.extraEnv"
  "extraVolumes" "controller.volumes"
  "extraVolumeMounts" "controller.volumeMounts"
  "resources" "controller.resources"
  "nodeSelector" "controller.nodeSelector"
  "affinity" "controller.affinity"
  "tolerations" "controller.tolerations"
  "serviceAccount" "nothing: the chart makes the account that its rights are bound to"
  "service" "nothing: the metrics are served on port 8080, probes on 8081"
  "ports" "nothing: the metrics are served on port 8080, probes on 8081"
  "livenessProbe" "nothing: the chart has its probes"
  "readinessProbe" "nothing: the chart has its probes"
  "autoscaling" "controller.replicas: the others stand by"
  "podSecurityContext" "nothing: the chart has the one it needs"
  "securityContext" "nothing: the chart has the one it needs"
  "extraInitContainers" "nothing"
  "extraContainers" "nothing" }}
{{- $image := dict "args" "controller.extraArgs" "command" "nothing: the image has it" }}
{{- $wrong := list }}
{{- range $name, $instead := $here }}
{{- if hasKey $.Values $name }}
{{- $wrong = append $wrong (printf "%s is a value of krypton-operator's chart; here it is %s" $name $instead) }}
{{- end }}
{{- end }}
{{- range $name, $instead := $image }}
{{- if hasKey $.Values.image $name }}
{{- $wrong = append $wrong (printf "image.%s is a value of krypton-operator's chart; here it is %s" $name $instead) }}
{{- end }}
{{- end }}
{{- if and (kindIs "string" .Values.namespace) .Values.namespace }}
{{- $wrong = append $wrong "namespace is a value of krypton-operator's chart; here it is Helm's --namespace" }}
{{- end }}
{{- if not .Values.populateArgs }}
{{- $wrong = append $wrong "populateArgs=false: the flags come from the values here, and more of them from controller.extraArgs" }}
{{- end }}
{{- if .Values.installMode.crdsRbacOnly }}
{{- $wrong = append $wrong "installMode.crdsRbacOnly=true: here it is controller.enabled=false,daemon.enabled=false" }}
{{- end }}
{{- $ours := or .Values.tenants.enabled .Values.kryptondeployments.enabled }}
{{- range $name := list "compat" "chart" "watchCluster" "operator" }}
{{- $said := get $.Values $name }}
{{- if kindIs "map" $said }}
{{- $said = values $said | join "" }}
{{- end }}
{{- if and $said (not $ours) }}
{{- $wrong = append $wrong (printf "%s is for Tenants and KryptonDeployments: say tenants.enabled=true or kryptondeployments.enabled=true" $name) }}
{{- end }}
{{- end }}
{{- if $wrong }}
{{- fail (printf "%s (docs/migrating/krypton.md)" (join "\n" $wrong)) }}
{{- end }}
{{- end }}

{{/* What the service placed is noted in 16 ConfigMaps of its namespace, where the users of workload namespaces cannot write: `of` is the
API that places it, `root` the chart, `more` further ConfigMaps. */}}
{{- define "windlass.notes" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .root.Values.name }}-{{ .of }}-notes
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "windlass.labels" .root | nindent 4 }}
rules:
  - apiGroups: [""]
    resources: [configmaps]
    resourceNames: [{{ range $i, $part := splitList "" "0123456789abcdef" }}{{ if $i }}, {{ end }}windlass-placed-{{ $part }}{{ end }}{{ range .more }}, {{ . }}{{ end }}]
    verbs: [get, patch]
  {{- with .more }}
  - apiGroups: [""]
    resources: [configmaps]
    resourceNames: [{{ join ", " . }}]
    # followed, not only asked for
    verbs: [list, watch]
  {{- end }}
  - apiGroups: [""]
    resources: [configmaps]
    verbs: [create]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .root.Values.name }}-{{ .of }}-notes
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "windlass.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .root.Values.name }}-{{ .of }}-notes
subjects:
  - kind: ServiceAccount
    name: {{ .root.Values.name }}-controller-manager
    namespace: {{ .root.Release.Namespace }}
{{- end }}

{{- /* The version and the kinds that are served: hardened clusters take them from system:authenticated, where every account has them by default. */}}
{{- define "windlass.discovery" -}}
- nonResourceURLs: [/version, /api, /api/*, /apis, /apis/*]
  verbs: [get]
{{- end }}
