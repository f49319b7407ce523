#!/usr/bin/env node
// While the modules load there is nothing to end in order, and a stop is no failure.
const early = () => process.exit(0);
process.on("SIGTERM", early).on("SIGINT", early);
// gRPC's own messages about a port in use, and the like, come as errors of ours; GRPC_VERBOSITY=DEBUG shows all of them.
process.env.GRPC_VERBOSITY ??= "NONE";
const { main } = await import("xdskit").catch((error) => {
  if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  console.error(`xdskit: ${error.message}\nIn a checkout, build it first: npm ci && npm run build`);
  process.exit(1);
});
process.off("SIGTERM", early).off("SIGINT", early);

process.exitCode = await main(process.argv.slice(2));
// Whatever a library still holds open, the command is over; output that is on its way gets a moment.
setTimeout(() => process.exit(), 500).unref();
