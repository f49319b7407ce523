// node in-turns.mjs [--variant delta|sotw] [--rounds N] [--repeat N] NAME=DIR NAME=DIR…: the processor time of a push
// and its ACK, of the bench servers that were built in these checkouts. All of them serve 1,000 streams at once, and
// take turns of 200 ms: while one runs, the others and their generators are stopped (SIGSTOP). So what else the machine
// does, and how fast it is at the moment, is the same for all. Each repetition begins with another one. Needs
// `bin/xdsload`, which `run.sh` builds.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const turnMs = 200;
const firstPort = 19_900;
const load = "clusters=100&endpoints=1&payload=1000";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    variant: { type: "string", default: "delta" },
    rounds: { type: "string", default: "80" },
    repeat: { type: "string", default: "5" },
  },
});
const servers = positionals.map((text) => {
  const [name, directory] = text.split("=");
  return { name, directory, costs: [] };
});
if (servers.length < 2 || servers.some(({ directory }) => directory === undefined))
  throw new Error("in-turns.mjs NAME=DIR NAME=DIR…: two servers or more");

for (let begun = 0; begun < Number(values.repeat); begun += 1) {
  const pairs = [];
  try {
    for (const place of servers.keys()) pairs.push(await started(servers[(place + begun) % servers.length], place));
    while (pairs.some(({ cost }) => cost === undefined)) for (const pair of pairs) await turn(pair);
    for (const { server, cost } of pairs) server.costs.push(cost);
  } finally {
    for (const { processes } of pairs) for (const child of processes) child.kill("SIGKILL");
  }
}

const [base] = servers;
for (const { name, costs } of servers) {
  const ratios = costs.map((cost, index) => cost / base.costs[index]);
  const all = ratios.map((ratio) => ratio.toFixed(2)).join(" ");
  console.log(
    `${name}: ${mean(costs).toFixed(1)} us per push+ACK, ${mean(ratios).toFixed(3)} of ${base.name} (${all})`,
  );
}

/** A server and its generator, both stopped. */
async function started(server, place) {
  const [control, grpc] = [0, 1].map((which) => `127.0.0.1:${firstPort + 2 * place + which}`);
  const program = ["--expose-gc", "bench/dist/main.js", "--control", control, "--grpc", grpc];
  const serving = spawn(process.execPath, program, { cwd: server.directory, stdio: ["ignore", "pipe", "inherit"] });
  const pair = { server, processes: [serving], cost: undefined };
  await Promise.race([once(serving.stdout, "data"), once(serving, "exit").then(mustNotEnd)]);
  const generator = spawn(
    fileURLToPath(new URL("bin/xdsload", import.meta.url)),
    [
      ...["-variant", values.variant, "-streams", "1000", "-rounds", values.rounds, "-touch", "type=eds&k=1"],
      ...["-load", load, "-control", `http://${control}`, "-addr", grpc],
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  pair.processes.push(generator);
  let said = "";
  generator.stdout.on("data", (text) => {
    said += text;
  });
  generator.on("close", () => {
    pair.cost = Number(/CPU +([\d.]+) us per push/.exec(said)?.[1] ?? Number.NaN);
  });
  for (const child of pair.processes) child.kill("SIGSTOP");
  return pair;
}

async function turn({ processes, cost }) {
  if (cost !== undefined) return;
  for (const child of processes) child.kill("SIGCONT");
  await new Promise((resolve) => setTimeout(resolve, turnMs));
  for (const child of processes) child.kill("SIGSTOP");
}

function mustNotEnd() {
  throw new Error("a server ended before it was ready");
}

function mean(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
