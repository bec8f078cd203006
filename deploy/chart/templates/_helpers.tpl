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

{{- define "windlass.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}
