// servicemonitor reads manifests from standard input, and fails where one of the kind ServiceMonitor has a field that
// the types of Prometheus' operator have not, or of another type.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	strict "sigs.k8s.io/yaml"
)

func main() {
	if err := run(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(manifests io.Reader) error {
	documents := yaml.NewDocumentDecoder(io.NopCloser(manifests))
	defer documents.Close()
	found := 0
	text := make([]byte, 1<<20)
	for {
		n, err := documents.Read(text)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		document := bytes.TrimSpace(text[:n])
		var about struct{ Kind string }
		if err := strict.Unmarshal(document, &about); err != nil {
			return err
		}
		if about.Kind != monitoring.ServiceMonitorsKind {
			continue
		}
		found++
		var monitor monitoring.ServiceMonitor
		if err := strict.UnmarshalStrict(document, &monitor); err != nil {
			return err
		}
		if len(monitor.Spec.Endpoints) == 0 {
			return errors.New("it has no endpoints")
		}
	}
	fmt.Println(found)
	return nil
}
