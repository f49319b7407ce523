// Judges the status of routes by the checks of the Gateway API's own conformance module. It applies the manifests of
// its tests of meshes, whose pods nobody starts here, and waits until each route says what it has to.
package judge

import (
	"io/fs"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/gateway-api/conformance"
	meshtests "sigs.k8s.io/gateway-api/conformance/tests/mesh"
	"sigs.k8s.io/gateway-api/conformance/utils/config"
	"sigs.k8s.io/gateway-api/conformance/utils/kubernetes"
)

const controllerName = "xdskit.github.io/xdskit"

func conditions(accepted, acceptedReason, resolved, resolvedReason string) []metav1.Condition {
	return []metav1.Condition{
		{Type: "Accepted", Status: metav1.ConditionStatus(accepted), Reason: acceptedReason},
		{Type: "ResolvedRefs", Status: metav1.ConditionStatus(resolved), Reason: resolvedReason},
	}
}

var (
	usual = conditions("True", "Accepted", "True", "ResolvedRefs")
	// All rules of these have filters that gRPC's clients do not know.
	refused = conditions("False", "UnsupportedValue", "True", "ResolvedRefs")
)

var unusual = map[string][]metav1.Condition{
	// One of its backends, with a weight of 0, is in no manifest.
	"MeshGRPCRouteWeight":                conditions("True", "Accepted", "False", "BackendNotFound"),
	"MeshConsumerRoute":                  conditions("False", "NoMatchingParent", "False", "RefNotPermitted"),
	"MeshHTTPRoute303Redirect":           refused,
	"MeshHTTPRoute307Redirect":           refused,
	"MeshHTTPRoute308Redirect":           refused,
	"MeshHTTPRouteRedirectHostAndStatus": refused,
	"MeshHTTPRouteRedirectPath":          refused,
	"MeshHTTPRouteRedirectPort":          refused,
	"MeshHTTPRouteSchemeRedirect":        refused,
	// Its filters are those of backends.
	"MeshHTTPRouteBackendRequestHeaderModifier": refused,
	"MeshHTTPRouteRewritePath":                  refused,
}

func TestStatuses(t *testing.T) {
	restConfig, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(t, err)
	restConfig.QPS, restConfig.Burst = 1000, 1000
	known := runtime.NewScheme()
	must(t, scheme.AddToScheme(known))
	must(t, gatewayv1.Install(known))
	api, err := client.New(restConfig, client.Options{Scheme: known})
	must(t, err)
	patience := config.DefaultTimeoutConfig()
	patience.RouteMustHaveParents = 15 * time.Second
	patience.DefaultPollInterval = 50 * time.Millisecond
	applier := kubernetes.Applier{ManifestFS: []fs.FS{&conformance.Manifests}, ControllerName: controllerName}
	applier.MustApplyWithCleanup(t, api, patience, "mesh/manifests.yaml", false)
	for _, test := range meshtests.MeshConformanceTests {
		t.Run(test.ShortName, func(t *testing.T) {
			for _, manifest := range test.Manifests {
				applier.MustApplyWithCleanup(t, api, patience, manifest, true)
			}
			expected, isUnusual := unusual[test.ShortName]
			if !isUnusual {
				expected = usual
			}
			judge(t, api, patience, expected)
		})
	}
}

func judge(t *testing.T, api client.Client, patience config.TimeoutConfig, expected []metav1.Condition) {
	var http gatewayv1.HTTPRouteList
	must(t, api.List(t.Context(), &http))
	for _, route := range http.Items {
		name := types.NamespacedName{Namespace: route.Namespace, Name: route.Name}
		parents := parentsOf(route.Spec.ParentRefs, expected)
		kubernetes.HTTPRouteMustHaveParents(t, api, patience, name, parents, true)
		kubernetes.HTTPRouteMustHaveLatestConditions(t, api, patience, name)
	}
	var grpc gatewayv1.GRPCRouteList
	must(t, api.List(t.Context(), &grpc))
	for _, route := range grpc.Items {
		name := types.NamespacedName{Namespace: route.Namespace, Name: route.Name}
		parents := parentsOf(route.Spec.ParentRefs, expected)
		kubernetes.RouteMustHaveParents(t, api, patience, name, parents, true, &gatewayv1.GRPCRoute{})
	}
}

func parentsOf(refs []gatewayv1.ParentReference, expected []metav1.Condition) []gatewayv1.RouteParentStatus {
	var parents []gatewayv1.RouteParentStatus
	for _, ref := range refs {
		parents = append(parents, gatewayv1.RouteParentStatus{
			ParentRef: ref, ControllerName: controllerName, Conditions: expected,
		})
	}
	return parents
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
