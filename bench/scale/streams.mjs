/** The cost of streams for a server, or for a relay between it and the clients. */
import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { answers, freePorts, round, rssKb, started } from "./processes.mjs";

const bench = new URL("..", import.meta.url).pathname;
const xdskit = new URL("../../packages/xdskit/bin/xdskit.cjs", import.meta.url).pathname;

/** Figures of one fleet: `baseMb` is without streams. */
export async function measureStreams({ streams, relayed, clusters = 100 }) {
  const [grpc, control, relayGrpc, relayAdmin] = await freePorts(4);
  const programs = [];
  const load = `clusters=${clusters}&endpoints=1&payload=${clusters > 1_000 ? 0 : 1_000}`;
  try {
    const at = ["--control", `127.0.0.1:${control}`, "--grpc", `127.0.0.1:${grpc}`];
    programs.push(await started(process.execPath, ["--expose-gc", "dist/main.js", ...at], "ready", { cwd: bench }));
    await answers(`http://127.0.0.1:${control}/stats`);
    let [address, controlled] = [`127.0.0.1:${grpc}`, `http://127.0.0.1:${control}`];
    if (relayed) {
      await fetch(`${controlled}/load?${load}`, { method: "POST" });
      const ports = ["--grpc", `127.0.0.1:${relayGrpc}`, "--rest", "off", "--admin", `127.0.0.1:${relayAdmin}`];
      const relay = await started(
        process.execPath,
        ["--expose-gc", xdskit, "relay", "--server", address, "--ack-wait", "0s", ...ports],
        "ready",
      );
      programs.push(relay);
      address = `127.0.0.1:${relayGrpc}`;
      const proxy = await measuredInstead(controlled, relay.pid);
      programs.push(proxy);
      controlled = proxy.url;
    }
    const { stdout } = await promisify(execFile)(
      "bin/xdsload",
      [
        ...["-addr", address, "-control", controlled, "-load", load, "-clusters", String(clusters)],
        ...["-streams", String(streams), "-touch", "type=eds&k=1", "-warmup", "20", "-rounds", "30"],
        ...["-churn", "5", "-light", "-json", "-timeout", "120s"],
      ],
      { cwd: bench, maxBuffer: 1 << 26 },
    );
    return figures(JSON.parse(stdout), streams);
  } finally {
    for (const program of programs.reverse()) await program.stop();
  }
}

function figures({ connect, memory, churn, touch }, streams) {
  return {
    baseMb: round(memory.before_kb / 1024),
    streamKb: round(memory.per_stream_kb),
    connectCpuUs: round(connect.cpu_us_per_stream),
    connectBytes: Math.round(connect.bytes / streams),
    pushCpuUs: round(touch.cpu_us.median),
    pushBytes: Math.round(touch.bytes_per_push),
    firstMs: round(touch.first_ms.median),
    lastMs: round(touch.last_ms.median),
    reconnectCpuUs: round((churn.cpu_ms.median * 1000) / streams),
    reconnectBytes: Math.round(churn.bytes.median / streams),
    touchedRssMb: round(touch.rss_kb / 1024),
  };
}

/** The control API of a server, which names another process as its own: that one is measured then. */
async function measuredInstead(url, pid) {
  const server = createServer(async (request, answer) => {
    const response = await fetch(url + request.url, { method: request.method }).catch(() => undefined);
    if (response === undefined) return answer.writeHead(502).end();
    if (request.url !== "/stats") return answer.writeHead(response.status).end(await response.text());
    const stats = { ...(await response.json()), pid, pids: [pid], rss_kb: rssKb(pid) };
    answer.writeHead(200).end(JSON.stringify(stats));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
