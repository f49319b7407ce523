// An xdskit server behind the control API of README.md, for measuring it beside others:
//   node --expose-gc dist/main.js --control HOST:PORT --grpc HOST:PORT [--ordering off] [--workers N]
import { parseArgs } from "node:util";
import { createServer } from "@xdskit/server";
import { createControl } from "./control.js";
import { createFleet, groupOf, groupSettings } from "./fleet.js";

/** With workers: rows with more groups are not for it. */
const mostGroups = 100;

const { values } = parseArgs({
  options: {
    control: { type: "string" },
    grpc: { type: "string" },
    ordering: { type: "string", default: "on" },
    workers: { type: "string", default: "1" },
  },
});
if (values.control === undefined || values.grpc === undefined || !["on", "off"].includes(values.ordering)) {
  console.error("usage: main.js --control HOST:PORT --grpc HOST:PORT [--ordering on|off] [--workers N]");
  process.exit(2);
}

const workers = Number(values.workers);
const server = createServer({
  // Where there are workers, groups are settings.
  groups: workers > 1 ? groupSettings(mostGroups) : groupOf,
  workers,
  ...(values.ordering === "off" ? { ordering: false } : {}),
});
const control = createControl(createFleet(server), () => server.stats().eventLoop);
await server.listen({ grpc: values.grpc });
const [, host, port] = /^(.*):(\d+)$/.exec(values.control) ?? [];
await new Promise<void>((resolve, reject) => {
  control.once("error", reject).listen(Number(port), host, resolve);
});
console.log("ready");

process.once("SIGTERM", async () => {
  control.closeAllConnections();
  control.close();
  await server.close({ timeoutMs: 2000 });
  process.exit(0);
});

// `npm run bench:server` has a shell between, which ends alone by a SIGTERM for npm: under npm the end of the parent counts as the signal.
if (process.env.npm_lifecycle_event !== undefined) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, 250).unref();
}
