#include "helm/commands/create_command.hpp"

#include "formats/plain/path.hpp"
#include "helm/commands/flags/chart_flags.hpp"
#include "helm/commands/flags/command_flags.hpp"
#include "helm/go.hpp"
#include "reactor/system/files.hpp"

#include <algorithm>
#include <filesystem>

namespace helm {
namespace {

namespace fs = std::filesystem;

// NAME is the chart's. The files, the keys of the values and the named templates are those of
// Helm's own first chart, on which tutorials and other people's values build; the texts are ours.
constexpr std::pair<const char*, const char*> files[] = {
    {"Chart.yaml", R"(apiVersion: v2
name: NAME
description: What this chart installs, in one sentence
type: application
# Of the chart: counts up with every change.
version: 0.1.0
# Of what is in it; the tag of the image where values name none.
appVersion: "1.27"
)"},
    {"values.yaml", R"(# Without effect where autoscaling is on.
replicaCount: 1

image:
  repository: nginx
  pullPolicy: IfNotPresent
  tag: ""  # empty: the chart's appVersion

imagePullSecrets: []
nameOverride: ""
fullnameOverride: ""

serviceAccount:
  create: true
  automount: true
  annotations: {}
  name: ""  # empty: the name of the other objects, or "default" where none is created

podAnnotations: {}
podLabels: {}
podSecurityContext: {}
securityContext: {}

service:
  type: ClusterIP
  port: 80  # the container listens on it, too

ingress:
  enabled: false
  className: ""
  annotations: {}
  hosts:
    - host: chart-example.local
      paths:
        - path: /
          pathType: ImplementationSpecific
  tls: []  # as in - {secretName: example-tls, hosts: [chart-example.local]}

# Needs the kinds of the Gateway API.
httpRoute:
  enabled: false
  annotations: {}
  parentRefs:
    - name: gateway
      sectionName: http
  hostnames:
    - chart-example.local
  rules:
    - matches:
        - path: {type: PathPrefix, value: /}

# As in requests: {cpu: 50m, memory: 64Mi}
resources: {}

livenessProbe:
  httpGet: {path: /, port: http}
readinessProbe:
  httpGet: {path: /, port: http}

autoscaling:
  enabled: false
  minReplicas: 1
  maxReplicas: 100
  targetCPUUtilizationPercentage: 80

volumes: []
volumeMounts: []
nodeSelector: {}
tolerations: []
affinity: {}
)"},
    {".helmignore", R"(.git/
.gitignore
.DS_Store
.idea/
.vscode/
*.swp
*.bak
*.tmp
*.orig
*~
)"},
    {"templates/ingress.yaml", R"({{- with .Values.ingress }}{{ if .enabled -}}
{{- $name := include "NAME.fullname" $ -}}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ $name }}
  labels: {{- include "NAME.labels" $ | nindent 4 }}
  {{- if .annotations }}
  annotations: {{- toYaml .annotations | nindent 4 }}
  {{- end }}
spec:
  {{- if .className }}
  ingressClassName: {{ .className }}
  {{- end }}
  {{- if .tls }}
  tls: {{- toYaml .tls | nindent 4 }}
  {{- end }}
  rules:
  {{- range .hosts }}
    - host: {{ .host | quote }}
      http:
        paths:
        {{- range .paths }}
          - path: {{ .path }}
            pathType: {{ .pathType | default "ImplementationSpecific" }}
            backend: {service: {name: {{ $name }}, port: {number: {{ $.Values.service.port }}}}}
        {{- end }}
  {{- end }}
{{- end }}{{ end }}
)"},
    {"templates/httproute.yaml", R"({{- with .Values.httpRoute }}{{ if .enabled -}}
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: {{ include "NAME.fullname" $ }}
  labels: {{- include "NAME.labels" $ | nindent 4 }}
  {{- if .annotations }}
  annotations: {{- toYaml .annotations | nindent 4 }}
  {{- end }}
spec:
  parentRefs: {{- toYaml .parentRefs | nindent 4 }}
  {{- if .hostnames }}
  hostnames: {{- toYaml .hostnames | nindent 4 }}
  {{- end }}
  rules:
  {{- range .rules }}
    - backendRefs: [{name: {{ include "NAME.fullname" $ }}, port: {{ $.Values.service.port }}, weight: 1}]
      {{- if .matches }}
      matches: {{- toYaml .matches | nindent 8 }}
      {{- end }}
      {{- if .filters }}
      filters: {{- toYaml .filters | nindent 8 }}
      {{- end }}
  {{- end }}
{{- end }}{{ end }}
)"},
    {"templates/deployment.yaml", R"({{- $v := .Values -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "NAME.fullname" . }}
  labels: {{- include "NAME.labels" . | nindent 4 }}
spec:
  {{- if not $v.autoscaling.enabled }}
  replicas: {{ $v.replicaCount }}
  {{- end }}
  selector:
    matchLabels: {{- include "NAME.selectorLabels" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "NAME.labels" . | nindent 8 }}
        {{- if $v.podLabels }}
        {{- toYaml $v.podLabels | nindent 8 }}
        {{- end }}
      {{- if $v.podAnnotations }}
      annotations: {{- toYaml $v.podAnnotations | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "NAME.serviceAccountName" . }}
      {{- range $key, $content := dict "imagePullSecrets" $v.imagePullSecrets "securityContext" $v.podSecurityContext "volumes" $v.volumes "nodeSelector" $v.nodeSelector "tolerations" $v.tolerations "affinity" $v.affinity }}
      {{- if $content }}
      {{ $key }}: {{- toYaml $content | nindent 8 }}
      {{- end }}
      {{- end }}
      containers:
        - name: {{ .Chart.Name }}
          image: "{{ $v.image.repository }}:{{ $v.image.tag | default .Chart.AppVersion }}"
          imagePullPolicy: {{ $v.image.pullPolicy }}
          ports: [{name: http, containerPort: {{ $v.service.port }}, protocol: TCP}]
          {{- range $key := list "securityContext" "livenessProbe" "readinessProbe" "resources" "volumeMounts" }}
          {{- if get $v $key }}
          {{ $key }}: {{- toYaml (get $v $key) | nindent 12 }}
          {{- end }}
          {{- end }}
)"},
    {"templates/service.yaml", R"(apiVersion: v1
kind: Service
metadata:
  name: {{ include "NAME.fullname" . }}
  labels: {{- include "NAME.labels" . | nindent 4 }}
spec:
  type: {{ .Values.service.type }}
  selector: {{- include "NAME.selectorLabels" . | nindent 4 }}
  ports: [{name: http, port: {{ .Values.service.port }}, targetPort: http, protocol: TCP}]
)"},
    {"templates/serviceaccount.yaml", R"({{- with .Values.serviceAccount }}{{ if .create -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "NAME.serviceAccountName" $ }}
  labels: {{- include "NAME.labels" $ | nindent 4 }}
  {{- if .annotations }}
  annotations: {{- toYaml .annotations | nindent 4 }}
  {{- end }}
automountServiceAccountToken: {{ .automount }}
{{- end }}{{ end }}
)"},
    {"templates/hpa.yaml", R"({{- with .Values.autoscaling }}{{ if .enabled -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ include "NAME.fullname" $ }}
  labels: {{- include "NAME.labels" $ | nindent 4 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ include "NAME.fullname" $ }}}
  minReplicas: {{ .minReplicas }}
  maxReplicas: {{ .maxReplicas }}
  metrics:
  {{- range $name, $percent := dict "cpu" .targetCPUUtilizationPercentage "memory" .targetMemoryUtilizationPercentage }}
  {{- if $percent }}
    - {type: Resource, resource: {name: {{ $name }}, target: {type: Utilization, averageUtilization: {{ $percent }}}}}
  {{- end }}
  {{- end }}
{{- end }}{{ end }}
)"},
    {"templates/NOTES.txt", R"({{ .Release.Name }} is installed. To look at it:

  kubectl port-forward -n {{ .Release.Namespace }} service/{{ include "NAME.fullname" . }} 8080:{{ .Values.service.port }}
)"},
    {"templates/_helpers.tpl",
     R"({{/* Names are cut to what a label may be. */}}
{{- define "NAME.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{/* The name of every object: the release's, with the chart's where that says more. */}}
{{- define "NAME.fullname" -}}
{{- $chart := .Values.nameOverride | default .Chart.Name -}}
{{- $both := contains $chart .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $chart) -}}
{{ .Values.fullnameOverride | default $both | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "NAME.chart" -}}
{{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{/* Labels that never change: a Deployment's selector may not. */}}
{{- define "NAME.selectorLabels" -}}
app.kubernetes.io/name: {{ include "NAME.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "NAME.labels" -}}
{{ include "NAME.selectorLabels" . }}
helm.sh/chart: {{ include "NAME.chart" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- if .Chart.AppVersion }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}
{{- end -}}

{{- define "NAME.serviceAccountName" -}}
{{ .Values.serviceAccount.name | default (.Values.serviceAccount.create | ternary (include "NAME.fullname" .) "default") }}
{{- end -}}
)"},
    {"templates/tests/test-connection.yaml", R"(apiVersion: v1
kind: Pod
metadata:
  name: {{ printf "%s-test-connection" (include "NAME.fullname" .) }}
  labels: {{- include "NAME.labels" . | nindent 4 }}
  annotations:
    helm.sh/hook: test
spec:
  restartPolicy: Never
  containers:
    - name: wget
      image: busybox
      command: [wget, -qO-, "http://{{ include "NAME.fullname" . }}:{{ .Values.service.port }}/"]
)"},
};

constexpr std::size_t most_letters = 250;

bool is_chart_name(const std::string& name) {
  const bool fits = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
  return fits && !name.empty() && name.size() <= most_letters && name != "." && name != "..";
}

command_result failed(const std::string& why) {
  return usage_end(problem{why});
}

}  // namespace

std::vector<std::pair<std::string, std::string>> first_chart(const std::string& name) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [path, text] : files) out.emplace_back(path, replace_all(text, "NAME", name));
  return out;
}

command_result create_command(std::span<const std::string> arguments) {
  chart_flags unread;
  command_flags f;
  ignore_cluster_flags(f);
  add_place_flags(f, unread);
  f.unsupported_with_value("starter", "copy a chart of your own instead");
  auto rest = f.parse(arguments);
  if (!rest) return usage_end(rest.error());
  if (rest->size() != 1)
    return failed("\"helm create\" requires 1 argument\n\nUsage:  helm create NAME [flags]");
  const fs::path folder = fs::path(rest->front()).lexically_normal();
  const std::string name = base_name(folder.string());
  if (!is_chart_name(name))
    return failed(name.empty() || name.size() > most_letters
                      ? "chart name must be between 1 and 250 characters"
                      : "chart name must match the regular expression \"^[a-zA-Z0-9._-]+$\"");
  const std::string at = absolute_path(folder.string());
  std::error_code e;
  if (fs::exists(at, e) && !fs::is_directory(at, e))
    return failed("file " + at + " already exists and is not a directory");
  command_result done{"Creating " + rest->front() + "\n", "", 0};
  if (const fs::path above = fs::path(at).parent_path(); !fs::exists(above, e)) {
    done.err = "Error: stat " + above.string() + ": no such file or directory\n";
    done.exit_code = 1;
    return done;
  }
  for (const auto& [path, text] : first_chart(name)) {
    const std::string file = at + "/" + path;
    if (fs::exists(file, e))
      done.out += "WARNING: File " + quote(file) + " already exists. Overwriting.\n";
    fs::create_directories(fs::path(file).parent_path(), e);
    if (e) return failed("create " + fs::path(file).parent_path().string() + ": " + e.message());
    if (auto stored = reactor::store_file(file, text); !stored)
      return failed(stored.error().message());
  }
  fs::create_directories(at + "/charts", e);
  return done;
}

}  // namespace helm
