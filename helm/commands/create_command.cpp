#include "helm/commands/create_command.hpp"

#include "formats/go/path.hpp"
#include "helm/commands/flags/chart_flags.hpp"
#include "helm/commands/flags/command_flags.hpp"
#include "helm/go.hpp"
#include "reactor/system/files.hpp"

#include <algorithm>
#include <filesystem>

namespace helm {
namespace {

namespace fs = std::filesystem;

// NAME is the chart's.
constexpr std::pair<const char*, const char*> files[] = {
    {"Chart.yaml", R"(apiVersion: v2
name: NAME
description: What this chart installs, in one sentence
type: application
# Of the chart: counts up with every change.
version: 0.1.0
# Of what is in it.
appVersion: "1.27"
)"},
    {"values.yaml", R"(replicas: 1

image:
  repository: docker.io/library/nginx
  tag: ""  # empty: the chart's appVersion
  pullPolicy: IfNotPresent

service:
  type: ClusterIP
  port: 80
  targetPort: 80

resources:
  requests: {cpu: 50m, memory: 64Mi}
  limits: {memory: 128Mi}

podAnnotations: {}
nodeSelector: {}
tolerations: []
)"},
    {"values.schema.json", R"({
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "object",
  "properties": {
    "replicas": {"type": "integer", "minimum": 0},
    "image": {
      "type": "object",
      "required": ["repository"],
      "properties": {
        "repository": {"type": "string", "minLength": 1},
        "tag": {"type": "string"},
        "pullPolicy": {"enum": ["Always", "IfNotPresent", "Never"]}
      }
    },
    "service": {
      "type": "object",
      "properties": {
        "type": {"enum": ["ClusterIP", "NodePort", "LoadBalancer"]},
        "port": {"type": "integer", "minimum": 1, "maximum": 65535},
        "targetPort": {"type": "integer", "minimum": 1, "maximum": 65535}
      }
    }
  }
}
)"},
    {".helmignore", R"(.git/
.gitignore
*.swp
*.tmp
*~
)"},
    {"templates/_helpers.tpl",
     R"({{/* The name of every object: the release's, with the chart's where that says more. */}}
{{- define "NAME.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{/* Labels that never change: a Deployment's selector may not. */}}
{{- define "NAME.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "NAME.labels" -}}
{{ include "NAME.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}
)"},
    {"templates/deployment.yaml", R"(apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "NAME.fullname" . }}
  labels:
    {{- include "NAME.labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels:
      {{- include "NAME.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "NAME.labels" . | nindent 8 }}
      {{- with .Values.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      automountServiceAccountToken: false
      containers:
        - name: {{ .Chart.Name }}
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
          imagePullPolicy: {{ .Values.image.pullPolicy }}
          ports:
            - name: http
              containerPort: {{ .Values.service.targetPort }}
          readinessProbe:
            httpGet:
              path: /
              port: http
          resources:
            {{- toYaml .Values.resources | nindent 12 }}
      {{- with .Values.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
)"},
    {"templates/service.yaml", R"(apiVersion: v1
kind: Service
metadata:
  name: {{ include "NAME.fullname" . }}
  labels:
    {{- include "NAME.labels" . | nindent 4 }}
spec:
  type: {{ .Values.service.type }}
  selector:
    {{- include "NAME.selector" . | nindent 4 }}
  ports:
    - name: http
      port: {{ .Values.service.port }}
      targetPort: http
)"},
    {"templates/tests/answers.yaml", R"(apiVersion: v1
kind: Pod
metadata:
  name: {{ printf "%s-answers" (include "NAME.fullname" . | trunc 55 | trimSuffix "-") }}
  labels:
    {{- include "NAME.labels" . | nindent 4 }}
  annotations:
    helm.sh/hook: test
    helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
spec:
  restartPolicy: Never
  containers:
    - name: ask
      image: docker.io/library/busybox:1.36
      command: [wget, -qO-, "http://{{ include "NAME.fullname" . }}:{{ .Values.service.port }}/"]
)"},
    {"templates/NOTES.txt", R"({{ .Release.Name }} is installed. To look at it:

  kubectl port-forward -n {{ .Release.Namespace }} service/{{ include "NAME.fullname" . }} 8080:{{ .Values.service.port }}
)"},
};

bool is_chart_name(const std::string& name) {
  const bool fits = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
  return fits && !name.empty() && name.size() <= 250 && name != "." && name != "..";
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
  f.unsupported("starter", "copy a chart of your own instead");
  auto rest = f.parse(arguments);
  if (!rest) return usage_end(rest.error());
  if (rest->size() != 1)
    return failed("\"helm create\" requires 1 argument\n\nUsage:  helm create NAME [flags]");
  const fs::path folder = fs::path(rest->front()).lexically_normal();
  const std::string name = base_name(folder.string());
  if (!is_chart_name(name))
    return failed("chart name must be letters, digits, \".\", \"_\" and \"-\", at most 250: " +
                  quote(name));
  for (const auto& [path, text] : first_chart(name)) {
    std::error_code e;
    if (fs::exists(fs::symlink_status(folder / path, e)))
      return failed((folder / path).string() + " is there already; nothing of it was changed");
  }
  for (const auto& [path, text] : first_chart(name)) {
    std::error_code e;
    fs::create_directories((folder / path).parent_path(), e);
    if (e) return failed("create " + (folder / path).parent_path().string() + ": " + e.message());
    if (auto done = reactor::store_file((folder / path).string(), text); !done)
      return failed(done.error().message());
  }
  return {"Creating " + rest->front() + "\n", "", 0};
}

}  // namespace helm
