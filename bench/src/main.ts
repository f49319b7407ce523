// An xdskit server behind the control API of README.md, for measuring it beside others:
//   node --expose-gc dist/main.js --control HOST:PORT --grpc HOST:PORT [--ordering off] [--workers N]
//     [--tls-cert FILE --tls-key FILE [--tls-client-ca FILE]] [--rules]
import cluster from "node:cluster";
import { parseArgs } from "node:util";
import { type Address, createServer, parseAddress } from "@xdskit/server";
import { createControl } from "./control.js";
import { createFleet, groupOf } from "./fleet.js";
import { listenForControl, startWorkers } from "./workers.js";

/** Before it is ready: a program that waits for that may end the parent at once. */
const parent = process.ppid;
const { control, close } = await start().catch(refuse);
console.log("ready");

async function start() {
  const { values } = parseArgs({
    options: {
      control: { type: "string" },
      grpc: { type: "string" },
      ordering: { type: "string", default: "on" },
      workers: { type: "string", default: "1" },
      "tls-cert": { type: "string" },
      "tls-key": { type: "string" },
      "tls-client-ca": { type: "string" },
      rules: { type: "boolean", default: false },
    },
  });
  const at = addressOf("control", values.control);
  addressOf("grpc", values.grpc);
  if (!["on", "off"].includes(values.ordering)) throw new Error(`--ordering ${values.ordering} is neither on nor off`);
  const workers = Number(values.workers);
  if (!Number.isInteger(workers) || workers < 1 || workers > 64)
    throw new Error(`--workers ${values.workers} is no whole number from 1 to 64`);
  if (workers > 1 && cluster.isPrimary) return await startWorkers(workers, at);
  const tls = tlsOf(values["tls-cert"], values["tls-key"], values["tls-client-ca"]);
  const server = createServer({
    groups: groupOf,
    ...(tls ? { tls } : {}),
    ...(values.rules
      ? { identities: [{ when: tls ? { dns: "localhost" } : { network: "127.0.0.0/8" }, node: {} }] }
      : {}),
    ...(values.ordering === "off" ? { ordering: false } : {}),
  });
  const control = createControl(createFleet(server), () => server.stats().eventLoop);
  await server.listen({ grpc: values.grpc });
  await listenForControl(control, at);
  return { control, close: () => server.close({ timeoutMs: 2000 }) };
}

function tlsOf(certificateFile: string | undefined, keyFile: string | undefined, clientCaFile: string | undefined) {
  if (certificateFile === undefined && keyFile === undefined) return undefined;
  if (certificateFile === undefined || keyFile === undefined) throw new Error("--tls-cert goes with --tls-key");
  return { certificateFile, keyFile, clientCaFile };
}

function addressOf(option: string, text = ""): Address {
  const address = parseAddress(text);
  if (address === undefined) throw new Error(`--${option} wants HOST:PORT, not "${text}"`);
  return address;
}

/** Says in one line that the command cannot be carried out, without a stack. */
function refuse(error: unknown): never {
  console.error(error instanceof Error ? error.message : String(error));
  console.error("usage: main.js --control HOST:PORT --grpc HOST:PORT [--ordering on|off] [--workers N]");
  console.error("       [--tls-cert FILE --tls-key FILE [--tls-client-ca FILE]] [--rules]");
  process.exit(2);
}

process.once("SIGTERM", async () => {
  control.closeAllConnections();
  control.close();
  await close();
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
