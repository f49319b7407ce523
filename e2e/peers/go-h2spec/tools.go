//go:build tools

// Names the module of h2spec, of which install.sh builds its command.
package main

import _ "github.com/summerwind/h2spec/cmd/h2spec"
