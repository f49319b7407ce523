//go:build tools

// Names the modules of helm and kubeconform, of which install.sh builds their commands.
package main

import (
	_ "github.com/yannh/kubeconform/cmd/kubeconform"
	_ "helm.sh/helm/v3/cmd/helm"
)
