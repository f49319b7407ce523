//go:build tools

// Names the module of kube-apiserver, of which install.sh builds its command.
package main

import _ "k8s.io/kubernetes/cmd/kube-apiserver"
