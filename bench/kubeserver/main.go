// Command kubeserver serves the Services of a Kubernetes cluster with go-control-plane, as xdskit serve --kubernetes does:
// informers of client-go follow the cluster, and each type has a LinearCache.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os/signal"
	"syscall"

	"google.golang.org/grpc"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "where the API server is")
	address := flag.String("grpc", "127.0.0.1:18000", "HOST:PORT of ADS")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, *kubeconfig, *address); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, kubeconfig, address string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	followed, err := follow(ctx, client)
	if err != nil {
		return err
	}
	go followed.run(ctx)

	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	grpcServer := grpc.NewServer(grpc.MaxConcurrentStreams(1_000_000))
	discovery.RegisterAggregatedDiscoveryServiceServer(grpcServer, server.NewServer(ctx, followed.caches.mux(), nil))
	go grpcServer.Serve(listener)
	fmt.Println("ready")
	<-ctx.Done()
	grpcServer.Stop()
	return nil
}
