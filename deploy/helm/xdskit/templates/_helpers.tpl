{{- define "xdskit.name" -}}
{{- if eq .Release.Name .Chart.Name }}{{ .Chart.Name }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "xdskit.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "xdskit.labels" -}}
{{ include "xdskit.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "xdskit.settings" -}}
{{- $made := dict }}
{{- if .Values.tls.secret }}
{{- $tls := dict "cert" "/tls/tls.crt" "key" "/tls/tls.key" }}
{{- if .Values.tls.clientCa }}{{ $_ := set $tls "client_ca" "/tls/ca.crt" }}{{ end }}
{{- $_ := set $made "tls" $tls }}
{{- end }}
{{- if .Values.admin.secret }}
{{- $_ := set $made "admin_tls" (dict "cert" "/admin-tls/tls.crt" "key" "/admin-tls/tls.key") }}
{{- end }}
{{- mergeOverwrite (deepCopy .Values.settings) $made | toYaml }}
{{- end }}

{{- define "xdskit.check" -}}
{{- if not (or .Values.tls.secret .Values.insecure) }}
{{- fail "tls.secret is missing: a secret of the type kubernetes.io/tls, or insecure: true where something else protects the port" }}
{{- end }}
{{- if and .Values.config .Values.configMap }}{{ fail "config and configMap: only one of them" }}{{ end }}
{{- if not (or .Values.config .Values.configMap .Values.kubernetes.enabled) }}
{{- fail "config or configMap is missing: what to serve; or kubernetes.enabled" }}
{{- end }}
{{- if and .Values.kubernetes.tlsSecrets (not .Values.kubernetes.namespaces) }}
{{- fail "kubernetes.tlsSecrets: name kubernetes.namespaces, since the right to read Secrets is one for whole namespaces" }}
{{- end }}
{{- $ofClusterOnly := and .Values.kubernetes.enabled (not (or .Values.config .Values.configMap)) }}
{{- if and (gt (int .Values.replicas) 1) (not .Values.store) (not $ofClusterOnly) }}
{{- fail "replicas: more than one need a store, such as etcd://etcd:2379/mesh" }}
{{- end }}
{{- if and .Values.store (not .Values.insecure) (not (and .Values.tls.clientCa .Values.settings.replicas)) }}
{{- fail "store: pods know each other by certificates: tls.clientCa, and replicas in settings (docs/replicas.md#certificates)" }}
{{- end }}
{{- if and .Values.admin.secret (not .Values.settings.roles) }}
{{- fail "admin.secret: on the network the admin listener needs roles in settings (docs/security.md#roles)" }}
{{- end }}
{{- range concat (.Values.settings.identities | default list) (.Values.settings.roles | default list) }}
{{- $jwks := dig "when" "jwt" "jwks" "" . }}
{{- if and $jwks (not $.Values.keys) (not (regexMatch "^(/|https:)" $jwks)) }}
{{- fail (printf "keys is missing: a secret with the key %s, which jwks names" $jwks) }}
{{- end }}
{{- end }}
{{- if and .Values.tls.secret (hasKey (.Values.settings.tls | default dict) "sds") }}
{{- fail "settings.tls.sds: the certificates come from tls.secret" }}
{{- end }}
{{- if hasKey (.Values.settings.admin_tls | default dict) "client_ca" }}
{{- fail "settings.admin_tls.client_ca: the probes of Kubernetes, and Prometheus, have no certificate; let roles ask for tokens" }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled (not (and .Values.admin.secret .Values.serviceMonitor.tokenSecret)) }}
{{- fail "serviceMonitor: it needs admin.secret and serviceMonitor.tokenSecret" }}
{{- end }}
{{- end }}
