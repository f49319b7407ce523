// Command server is an xDS-enabled gRPC server: it gets its listener from the management server and answers every call with
// its name. It prints "mode ADDRESS MODE" when it starts or stops serving.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	xdscreds "google.golang.org/grpc/credentials/xds"
	"google.golang.org/grpc/xds"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: server ADDRESS NAME")
	}
	creds, err := xdscreds.NewServerCredentials(xdscreds.ServerOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		log.Fatal(err)
	}
	server, err := xds.NewGRPCServer(grpc.Creds(creds), xds.ServingModeCallback(func(address net.Addr, args xds.ServingModeChangeArgs) {
		fmt.Printf("mode %s %s\n", address, args.Mode)
		if args.Err != nil {
			log.Print(args.Err)
		}
	}))
	if err != nil {
		log.Fatal(err)
	}
	name := os.Args[2]
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "xdskit.e2e.Echo",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "Name",
			Handler: func(_ any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
				request := new(wrapperspb.StringValue)
				if err := decode(request); err != nil {
					return nil, err
				}
				answer := func(context.Context, any) (any, error) { return wrapperspb.String(name), nil }
				if intercept == nil {
					return answer(ctx, request)
				}
				return intercept(ctx, request, &grpc.UnaryServerInfo{FullMethod: "/xdskit.e2e.Echo/Name"}, answer)
			},
		}},
	}, struct{}{})
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	go func() { // Standard input closes when the test ends.
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}()
	log.Fatal(server.Serve(listener))
}
