// Command kubeload fills a Kubernetes cluster with Services and EndpointSlices (-fill), or measures a server that serves
// them over xDS: how long it takes to serve everything, its memory, and how soon clients have what changes.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

type options struct {
	kubeconfig           string
	fill                 bool
	services, endpoints  int
	address              string
	pid                  int
	begun                int64
	turn                 int
	streams, names, rate int
	duration, timeout    time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "where the API server is")
	flag.BoolVar(&o.fill, "fill", false, "write the Services and their slices, and measure nothing")
	flag.IntVar(&o.services, "services", 5000, "Services")
	flag.IntVar(&o.endpoints, "endpoints", 10, "endpoints of each Service")
	flag.StringVar(&o.address, "addr", "", "HOST:PORT of the server's ADS")
	flag.IntVar(&o.pid, "pid", 0, "its process")
	flag.Int64Var(&o.begun, "begun", 0, "when it was started, in milliseconds since 1970")
	flag.IntVar(&o.turn, "turn", 0, "0 to 255: changes of another turn are not taken for those of this one")
	flag.IntVar(&o.streams, "streams", 200, "clients, each with a connection of its own")
	flag.IntVar(&o.names, "names", 50, "load assignments that each of them asks for")
	flag.IntVar(&o.rate, "rate", 100, "slices that change each second")
	flag.DurationVar(&o.duration, "duration", 30*time.Second, "for how long")
	flag.DurationVar(&o.timeout, "timeout", 2*time.Minute, "limit for each step")
	flag.Parse()
	if err := run(context.Background(), o); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, o options) error {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if o.fill {
		return fill(ctx, client, o)
	}
	report, err := measure(ctx, client, o)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(report)
}
