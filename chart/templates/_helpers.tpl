{{/* Names are fixed: there is one operator per cluster, its CRDs and webhooks are the cluster's own. */}}

{{- define "stackgate.selector" -}}
app.kubernetes.io/name: stackgate
app.kubernetes.io/component: operator
{{- end }}

{{/* Labels of every object, with the root as argument. */}}
{{- define "stackgate.labels" -}}
{{ include "stackgate.selector" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/part-of: stackgate
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* metadata of every object: (dict "root" $ "name" "…" "namespaced" true "annotations" (dict …) "labels" (dict …)) */}}
{{- define "stackgate.metadata" -}}
name: {{ .name }}
{{- if .namespaced }}
namespace: {{ .namespace | default .root.Release.Namespace }}
{{- end }}
labels:
  {{- include "stackgate.labels" .root | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "stackgate.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{- define "stackgate.pullSecrets" }}
{{- with .Values.image.pullSecrets }}
      imagePullSecrets:
      {{- range . }}
      - name: {{ . }}
      {{- end }}
{{- end }}
{{- end }}

{{/* What a pod of ours runs with: nothing. */}}
{{- define "stackgate.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "stackgate.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* The kinds, as the API server names them. */}}
{{- define "stackgate.plurals" -}}
inferenceservices inferencecaches inferencepipelines stackdatastores stackentitystores stackcustomizers stackevaluators stackguardrails
{{- end }}

{{/* The plurals as a YAML list, each with a suffix: (dict "suffix" "/status") */}}
{{- define "stackgate.resources" -}}
{{- $list := list }}
{{- range splitList " " (include "stackgate.plurals" .) }}
{{- $list = append $list (print . $.suffix) }}
{{- end }}
{{- toYaml $list }}
{{- end }}

{{/* What no schema can say; rendered by the Deployment. */}}
{{- define "stackgate.checks" -}}
{{- with .Values.certificates }}
{{- if and (eq .mode "secret") (not .secretName) }}{{ fail "certificates.mode is secret, so certificates.secretName must name a Secret with tls.crt and tls.key" }}{{ end }}
{{- if and (eq .mode "secret") (not .caBundle) $.Values.operator.admissionController.enabled }}{{ fail "certificates.mode is secret, so certificates.caBundle must be the PEM text of the authority behind its certificate: --set-file certificates.caBundle=ca.crt" }}{{ end }}
{{- if and .caBundle (not (contains "-----BEGIN CERTIFICATE-----" .caBundle)) }}{{ fail "certificates.caBundle must be PEM text (-----BEGIN CERTIFICATE-----), not base64 of it" }}{{ end }}
{{- if and (ne .mode "secret") (or .secretName .caBundle) }}{{ fail (printf "certificates.secretName and certificates.caBundle are for certificates.mode secret; it is %s" .mode) }}{{ end }}
{{- end }}
{{- with .Values.operator }}
{{- if not (or .admissionController.enabled .reconciler.enabled) }}{{ fail "operator.admissionController.enabled and operator.reconciler.enabled are both false: nothing would run" }}{{ end }}
{{- with .leaderElection }}
{{- if le (int .leaseDurationSeconds) (int .renewDeadlineSeconds) }}{{ fail "operator.leaderElection.renewDeadlineSeconds must be below leaseDurationSeconds: a leader has to stop before another one starts" }}{{ end }}
{{- if le (int .renewDeadlineSeconds) (int .retryPeriodSeconds) }}{{ fail "operator.leaderElection.retryPeriodSeconds must be below renewDeadlineSeconds" }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
