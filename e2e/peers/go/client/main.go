// Command client calls an xds:/// target over and over and prints a line for each call: "ok NAME" or "fail CODE MESSAGE".
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	_ "google.golang.org/grpc/xds"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: client TARGET INTERVAL_MS")
	}
	interval, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	conn, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	go func() { // Standard input closes when the test ends.
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		var reply wrapperspb.StringValue
		err := conn.Invoke(ctx, "/xdskit.e2e.Echo/Name", &wrapperspb.StringValue{}, &reply)
		cancel()
		if err != nil {
			fmt.Printf("fail %s %q\n", status.Code(err), status.Convert(err).Message())
		} else {
			fmt.Printf("ok %s\n", reply.Value)
		}
		time.Sleep(time.Duration(interval) * time.Millisecond)
	}
}
