{{- define "shop.labels" -}}
app: {{ .Release.Name }}
revision: "{{ .Release.Revision }}"
{{- end -}}
