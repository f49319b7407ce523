import { Client, credentials } from "@grpc/grpc-js";
import { attacks } from "./attacks.js";
import { askPages, pagesAttack } from "./pages.js";

/*
 * A process that attacks once: `attacker.ts NAME ADMIN GRPC`. It says `ready` when its message is made, sends it when
 * it is told anything, and then says what it was answered.
 */
const [name = "", admin = "", grpc = ""] = process.argv.slice(2);
const attack = attacks[name]?.();
console.log("ready");
process.stdin.once("data", () => {
  if (name === pagesAttack) void askPages(admin).then(end);
  else if (attack?.kind === "body") void post(attack.type, attack.body).then(end);
  else if (attack?.kind === "request") void ask(attack.bytes).then(end);
  else end("nothing");
});

function end(answer: string): void {
  console.log(answer);
  process.exit(0);
}

async function post(type: string, body: Uint8Array): Promise<string> {
  const path = `http://${admin}/api/v1/layers/api/changes`;
  try {
    const { status } = await fetch(path, {
      method: "POST",
      headers: { "content-type": type },
      body: Buffer.from(body),
    });
    return `${status}`;
  } catch (error) {
    return String(error);
  }
}

function ask(bytes: Uint8Array): Promise<string> {
  const asIs = (value: Buffer): Buffer => value;
  const client = new Client(grpc, credentials.createInsecure(), { "grpc.max_receive_message_length": -1 });
  const path = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
  const stream = client.makeBidiStreamRequest(path, asIs, asIs);
  stream.write(Buffer.from(bytes));
  return new Promise((resolve) => {
    stream.on("data", ({ length }: Buffer) => resolve(`${length} bytes`));
    stream.on("error", ({ message }) => resolve(message.slice(0, 60)));
  });
}
