{{ define "parent.name" }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
