// Command csds calls an xds:/// target over and over, says nothing of it, and serves gRPC's admin services, of which CSDS is one.
// It listens at XDS_CONFORMANCE_CSDS, or on a free port of loopback, and prints "listening on ADDRESS" once.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/admin"
	"google.golang.org/grpc/credentials/insecure"
	_ "google.golang.org/grpc/xds"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: csds TARGET")
	}
	conn, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			var reply wrapperspb.StringValue
			_ = conn.Invoke(ctx, "/xdskit.e2e.Echo/Name", &wrapperspb.StringValue{}, &reply)
			cancel()
			time.Sleep(100 * time.Millisecond)
		}
	}()
	server := grpc.NewServer()
	cleanup, err := admin.Register(server)
	if err != nil {
		log.Fatal(err)
	}
	defer cleanup()
	listener, err := net.Listen("tcp", cmp.Or(os.Getenv("XDS_CONFORMANCE_CSDS"), "127.0.0.1:0"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on %s\n", listener.Addr())
	go func() { // Standard input closes when the test ends.
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}()
	log.Fatal(server.Serve(listener))
}
