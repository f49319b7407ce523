package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

const (
	port       = 8080
	writers    = 16
	perSpace   = 100
	zonesCount = 3
)

func namespaceOf(service int) string { return fmt.Sprintf("bench-%03d", service/perSpace) }

func nameOf(service int) string { return fmt.Sprintf("service-%05d", service) }

// assignmentOf is the name of the Service's load assignment.
func assignmentOf(service int) string {
	return fmt.Sprintf("%s.%s:%d", nameOf(service), namespaceOf(service), port)
}

// fill writes everything that the benchmark needs into an empty cluster, as controllers would.
func fill(ctx context.Context, client kubernetes.Interface, o options) error {
	for space := 0; space*perSpace < o.services; space++ {
		meta := metav1.ObjectMeta{Name: namespaceOf(space * perSpace)}
		if _, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: meta}, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range writers {
		group.Go(func() error {
			for service := int(next.Add(1)) - 1; service < o.services; service = int(next.Add(1)) - 1 {
				if err := write(ctx, client, service, o.endpoints); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func write(ctx context.Context, client kubernetes.Interface, service, endpoints int) error {
	meta := metav1.ObjectMeta{Name: nameOf(service), Namespace: namespaceOf(service)}
	spec := corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "grpc", Port: port}}, ClusterIP: corev1.ClusterIPNone}
	if _, err := client.CoreV1().Services(meta.Namespace).Create(ctx, &corev1.Service{ObjectMeta: meta, Spec: spec}, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := client.DiscoveryV1().EndpointSlices(meta.Namespace).Create(ctx, newSlice(service, endpoints), metav1.CreateOptions{})
	return err
}

// newSlice is the slice of a Service, as its controller writes it.
func newSlice(service, endpoints int) *discoveryv1.EndpointSlice {
	portName, portNumber, tcp, yes, no := "grpc", int32(port), corev1.ProtocolTCP, true, false
	all := make([]discoveryv1.Endpoint, endpoints)
	for i := range all {
		pod := service*endpoints + i
		node, zone := fmt.Sprintf("node-%d", pod%200), fmt.Sprintf("zone-%d", pod%200%zonesCount)
		all[i] = discoveryv1.Endpoint{
			Addresses:  []string{fmt.Sprintf("10.%d.%d.%d", pod>>16&255, pod>>8&255, pod&255)},
			Conditions: discoveryv1.EndpointConditions{Ready: &yes, Serving: &yes, Terminating: &no},
			NodeName:   &node, Zone: &zone,
			TargetRef: &corev1.ObjectReference{
				Kind: "Pod", Namespace: namespaceOf(service), Name: fmt.Sprintf("%s-%d", nameOf(service), i),
				UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", pod)),
			},
		}
	}
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Name: nameOf(service) + "-slice", Namespace: namespaceOf(service),
			Labels: map[string]string{
				discoveryv1.LabelServiceName: nameOf(service), discoveryv1.LabelManagedBy: "endpointslice-controller.k8s.io",
			},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &portName, Port: &portNumber, Protocol: &tcp}},
		Endpoints:   all,
	}
}

// marked says in the address of the first pod which change this is.
func marked(slice *discoveryv1.EndpointSlice, turn, number int) *discoveryv1.EndpointSlice {
	slice.Endpoints[0].Addresses = []string{fmt.Sprintf("172.%d.%d.%d", turn, number>>8, number&255)}
	return slice
}
