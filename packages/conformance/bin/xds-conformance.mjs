#!/usr/bin/env node
import { main } from "xds-conformance";

// What gRPC's client says of its connections is in the report.
process.env.GRPC_VERBOSITY ??= "NONE";
process.exitCode = await main(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  isTerminal: process.stdout.isTTY === true && process.env.NO_COLOR === undefined,
});
// A connection to a server that hangs may stay open: the command is over, and output that is on its way gets a moment.
setTimeout(() => process.exit(), 500).unref();
