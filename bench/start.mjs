// How long `xdskit serve` takes from its start to `ready`, and the CPU that it uses until then, with the compiled code
// of earlier starts and without, in turns: node bench/start.mjs [starts of each] [folder]. Linux only; needs a build.
// NODE_EXTRA_CA_CERTS is taken away: with it, every program on Node 20 first reads those certificates, which is none of
// the command's work (60 ms for the 140 of Debian). To see it with them: KEEP_EXTRA_CA_CERTS=1.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const starts = Number(process.argv[2] ?? 20);
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = process.argv[3] ?? join(root, "examples/quickstart/config");
const temporary = mkdtempSync(join(tmpdir(), "xdskit-start-"));
const ports = ["--grpc", "--rest", "--admin"].flatMap((option) => [option, "127.0.0.1:0"]);
// A tick of the kernel's accounting is 10 ms.
const tickMs = 10;

const inherited = { ...process.env };
if (inherited.KEEP_EXTRA_CA_CERTS === undefined) delete inherited.NODE_EXTRA_CA_CERTS;

/** One start, with an empty state: milliseconds of wall clock and of CPU until `ready`. */
async function start(cacheFolder, run) {
  const env = { ...inherited, XDG_STATE_HOME: join(temporary, `state-${run}`), XDG_CACHE_HOME: cacheFolder };
  const args = [join(root, "packages/xdskit/bin/xdskit.cjs"), "serve", folder, ...ports];
  const begun = performance.now();
  const server = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  let out = "";
  for await (const chunk of server.stdout) {
    out += chunk;
    if (!/^ready$/m.test(out)) continue;
    const wall = performance.now() - begun;
    const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    const cpu = (Number(fields[11]) + Number(fields[12])) * tickMs;
    server.kill("SIGTERM");
    await ended;
    return { wall, cpu };
  }
  throw new Error(`it did not become ready: ${out}`);
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const sides = [
  { name: "with kept code", cacheFolder: join(temporary, "cache"), got: [] },
  { name: "without", cacheFolder: "/dev/null", got: [] },
];
try {
  // The first start of each side warms the disk, and keeps the code.
  for (let run = 0; run <= starts; run++) {
    for (const [index, { cacheFolder, got }] of sides.entries()) {
      const one = await start(cacheFolder, `${run}-${index}`);
      if (run > 0) got.push(one);
    }
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
for (const { name, got } of sides) {
  const cpu = got.reduce((sum, one) => sum + one.cpu, 0) / got.length;
  console.log(
    `${name}: ${Math.round(median(got.map(({ wall }) => wall)))} ms (median), CPU ${Math.round(cpu)} ms (mean)`,
  );
}
