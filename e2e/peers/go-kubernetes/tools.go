//go:build tools

// Names the commands of Kubernetes that install.sh builds.
package main

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kubectl"
)
