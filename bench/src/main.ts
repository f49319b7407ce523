// An xdskit server behind the control API of README.md, for measuring it beside others:
//   node --expose-gc dist/main.js --control HOST:PORT --grpc HOST:PORT [--ordering off] [--workers N]
import { once } from "node:events";
import { parseArgs } from "node:util";
import { type Address, createServer, parseAddress, type ServerOptions } from "@xdskit/server";
import { createControl } from "./control.js";
import { createFleet, groupOf, groupSettings } from "./fleet.js";

/** With workers: rows with more groups are not for it. */
const mostGroups = 100;

/** Before it is ready: who hears of that may end the parent at once. */
const parent = process.ppid;
const { server, control } = await start().catch(refuse);
console.log("ready");

async function start() {
  const { values } = parseArgs({
    options: {
      control: { type: "string" },
      grpc: { type: "string" },
      ordering: { type: "string", default: "on" },
      workers: { type: "string", default: "1" },
    },
  });
  const at = addressOf("control", values.control);
  addressOf("grpc", values.grpc);
  if (!["on", "off"].includes(values.ordering)) throw new Error(`--ordering ${values.ordering} is neither on nor off`);
  const workers: ServerOptions["workers"] = values.workers === "auto" ? "auto" : Number(values.workers);
  const server = createServer({
    // Where there are workers, groups are settings.
    groups: workers === 1 ? groupOf : groupSettings(mostGroups),
    workers,
    ...(values.ordering === "off" ? { ordering: false } : {}),
  });
  const control = createControl(createFleet(server), () => server.stats().eventLoop);
  await server.listen({ grpc: values.grpc });
  await once(control.listen(at.port, at.host), "listening");
  return { server, control };
}

function addressOf(option: string, text = ""): Address {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`--${option} wants HOST:PORT, not "${text}"`);
  return address;
}

/** What was asked for cannot be: said in one line, without where in here that showed. */
function refuse(error: unknown): never {
  console.error(error instanceof Error ? error.message : String(error));
  console.error("usage: main.js --control HOST:PORT --grpc HOST:PORT [--ordering on|off] [--workers N|auto]");
  process.exit(2);
}

process.once("SIGTERM", async () => {
  control.closeAllConnections();
  control.close();
  await server.close({ timeoutMs: 2000 });
  process.exit(0);
});

// `npm run bench:server` has a shell between, which ends alone by a SIGTERM for npm: under npm the end of the parent
// counts as the signal.
if (process.env.npm_lifecycle_event !== undefined) {
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, 250).unref();
}
