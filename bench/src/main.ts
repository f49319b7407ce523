// An xdskit server behind the control API of README.md, for measuring it beside others:
//   node --expose-gc dist/main.js --control HOST:PORT --grpc HOST:PORT [--ordering off]
import { parseArgs } from "node:util";
import { createServer } from "@xdskit/server";
import { createControl } from "./control.js";
import { createFleet, groupOf } from "./fleet.js";

const { values } = parseArgs({
  options: { control: { type: "string" }, grpc: { type: "string" }, ordering: { type: "string", default: "on" } },
});
if (values.control === undefined || values.grpc === undefined || !["on", "off"].includes(values.ordering)) {
  console.error("usage: main.js --control HOST:PORT --grpc HOST:PORT [--ordering on|off]");
  process.exit(2);
}

const server = createServer({ groups: groupOf, ...(values.ordering === "off" ? { ordering: false } : {}) });
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
