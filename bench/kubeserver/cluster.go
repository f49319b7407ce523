package main

import (
	"context"
	"errors"
	"log"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// byService is the index of the slices of each Service.
const byService = "service"

// cluster follows Services and EndpointSlices. What changes puts the Service into a queue, where it is once at most.
type cluster struct {
	services cache.Indexer
	slices   cache.Indexer
	due      workqueue.TypedInterface[string]
	caches   *caches
}

// follow returns once everything was read, and all resources were made.
func follow(ctx context.Context, client kubernetes.Interface) (*cluster, error) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTransform(withoutManagedFields))
	services := factory.Core().V1().Services().Informer()
	slices := factory.Discovery().V1().EndpointSlices().Informer()
	if err := slices.AddIndexers(cache.Indexers{byService: func(object any) ([]string, error) {
		return []string{serviceOf(object.(*discoveryv1.EndpointSlice))}, nil
	}}); err != nil {
		return nil, err
	}
	c := &cluster{
		services: services.GetIndexer(), slices: slices.GetIndexer(),
		due: workqueue.NewTyped[string](),
	}
	if !runUntilSynced(ctx, factory, services, slices) {
		return nil, errors.New("the cluster was not read")
	}
	c.caches = newCaches(c.all())
	// What changed while the resources were made is told again: all objects are.
	for informer, key := range map[cache.SharedIndexInformer]func(any) string{
		services: keyOfService,
		slices:   func(object any) string { return serviceOf(object.(*discoveryv1.EndpointSlice)) },
	} {
		if _, err := informer.AddEventHandler(c.queues(key)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// withoutManagedFields leaves out who wrote which field: nothing here reads it.
func withoutManagedFields(object any) (any, error) {
	if one, err := meta.Accessor(object); err == nil {
		one.SetManagedFields(nil)
	}
	return object, nil
}

func runUntilSynced(ctx context.Context, factory informers.SharedInformerFactory, all ...cache.SharedIndexInformer) bool {
	factory.Start(ctx.Done())
	for _, informer := range all {
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			return false
		}
	}
	return true
}

func (c *cluster) queues(key func(any) string) cache.ResourceEventHandler {
	add := func(object any) {
		if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		c.due.Add(key(object))
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(before, after any) { add(before); add(after) },
		DeleteFunc: add,
	}
}

// run makes what is due until ctx ends.
func (c *cluster) run(ctx context.Context) {
	go func() {
		<-ctx.Done()
		c.due.ShutDown()
	}()
	for {
		key, over := c.due.Get()
		if over {
			return
		}
		if err := c.caches.set(key, c.made(key)); err != nil {
			log.Printf("%s: %v", key, err)
		}
		c.due.Done(key)
	}
}

func (c *cluster) all() map[string]made {
	all := map[string]made{}
	for _, key := range c.services.ListKeys() {
		all[key] = c.made(key)
	}
	return all
}

// made is what a Service gives now; one that is gone gives nothing.
func (c *cluster) made(key string) made {
	object, exists, err := c.services.GetByKey(key)
	if err != nil || !exists {
		return nil
	}
	found, _ := c.slices.ByIndex(byService, key)
	slices := make([]*discoveryv1.EndpointSlice, len(found))
	for i, one := range found {
		slices[i] = one.(*discoveryv1.EndpointSlice)
	}
	return makeResources(object.(*corev1.Service), slices)
}

func keyOfService(object any) string {
	service := object.(*corev1.Service)
	return service.Namespace + "/" + service.Name
}

func serviceOf(slice *discoveryv1.EndpointSlice) string {
	return slice.Namespace + "/" + slice.Labels[discoveryv1.LabelServiceName]
}
