{{- define "harena.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- define "harena.selector" -}}
app.kubernetes.io/name: harena
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
{{- define "harena.labels" -}}
{{ include "harena.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}
