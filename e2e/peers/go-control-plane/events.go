package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"sync"

	"github.com/envoyproxy/go-control-plane/pkg/server/v3"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
)

// event is one line of output.
type event struct {
	Event       string            `json:"event"`
	Stream      int64             `json:"stream,omitempty"`
	Type        string            `json:"type,omitempty"`
	Node        string            `json:"node,omitempty"`
	Version     string            `json:"version,omitempty"`
	Nonce       string            `json:"nonce,omitempty"`
	Names       []string          `json:"names,omitempty"`
	Subscribe   []string          `json:"subscribe,omitempty"`
	Unsubscribe []string          `json:"unsubscribe,omitempty"`
	Initial     map[string]string `json:"initial,omitempty"`
	Error       string            `json:"error,omitempty"`
}

type events struct {
	mu sync.Mutex
	to io.Writer
}

func newEvents(to io.Writer) *events { return &events{to: to} }

func (e *events) line(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	fmt.Fprintln(e.to, text)
}

func (e *events) add(one event) {
	text, err := json.Marshal(one)
	if err != nil {
		log.Fatal(err)
	}
	e.line(string(text))
}

func (e *events) callbacks() server.Callbacks {
	opened := func(_ context.Context, stream int64, url string) error {
		e.add(event{Event: "opened", Stream: stream, Type: url})
		return nil
	}
	closed := func(stream int64, _ *core.Node) { e.add(event{Event: "closed", Stream: stream}) }
	return server.CallbackFuncs{
		StreamOpenFunc:        opened,
		StreamClosedFunc:      closed,
		DeltaStreamOpenFunc:   opened,
		DeltaStreamClosedFunc: closed,
		StreamRequestFunc: func(stream int64, request *discovery.DiscoveryRequest) error {
			e.add(event{
				Event: "request", Stream: stream, Type: request.GetTypeUrl(), Node: request.GetNode().GetId(), Version: request.GetVersionInfo(),
				Nonce: request.GetResponseNonce(), Names: request.GetResourceNames(), Error: request.GetErrorDetail().GetMessage(),
			})
			return nil
		},
		StreamDeltaRequestFunc: func(stream int64, request *discovery.DeltaDiscoveryRequest) error {
			e.add(event{
				Event: "request", Stream: stream, Type: request.GetTypeUrl(), Node: request.GetNode().GetId(), Nonce: request.GetResponseNonce(),
				Subscribe: request.GetResourceNamesSubscribe(), Unsubscribe: request.GetResourceNamesUnsubscribe(),
				Initial: request.GetInitialResourceVersions(), Error: request.GetErrorDetail().GetMessage(),
			})
			return nil
		},
		StreamResponseFunc: func(_ context.Context, stream int64, _ *discovery.DiscoveryRequest, response *discovery.DiscoveryResponse) {
			e.add(event{Event: "response", Stream: stream, Type: response.GetTypeUrl(), Version: response.GetVersionInfo(), Nonce: response.GetNonce()})
		},
		StreamDeltaResponseFunc: func(stream int64, _ *discovery.DeltaDiscoveryRequest, response *discovery.DeltaDiscoveryResponse) {
			e.add(event{Event: "response", Stream: stream, Type: response.GetTypeUrl(), Version: response.GetSystemVersionInfo(), Nonce: response.GetNonce()})
		},
	}
}
