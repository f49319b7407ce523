import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Address } from "@xdskit/server";

/** Makes the control API listen; a worker listens on its own port, and tells it to the process that started it. */
export async function listenForControl(control: Server, { host, port }: Address): Promise<void> {
  if (cluster.isPrimary) {
    await once(control.listen(port, host), "listening");
    return;
  }
  await once(control.listen({ host, port: 0, exclusive: true }), "listening");
  process.send?.((control.address() as AddressInfo).port);
}

/** Starts processes behind one port. The control API asks all of them, and answers for all. */
export async function startWorkers(count: number, at: Address) {
  const workers = Array.from({ length: count }, () => cluster.fork());
  const ports = await Promise.all(workers.map(portOf));
  const control = createServer(async (request, response) => {
    request.resume();
    const answers = await Promise.all(ports.map((port) => ask(port, request.method ?? "GET", request.url ?? "/")));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answers.reduce(both)));
  });
  await listenForControl(control, at);
  const close = async () => {
    for (const worker of workers) worker.process.kill("SIGTERM");
    await Promise.all(workers.map((worker) => once(worker, "exit")));
  };
  return { control, close };
}

async function portOf(worker: Worker): Promise<number> {
  const failed = once(worker, "exit").then(() => {
    throw new Error("a worker ended");
  });
  const [port] = await Promise.race([once(worker, "message"), failed]);
  failed.catch(() => {});
  return port as number;
}

type Answer = Record<string, unknown>;

async function ask(port: number, method: string, url: string): Promise<Answer> {
  return (await (await fetch(`http://127.0.0.1:${port}${url}`, { method })).json()) as Answer;
}

/** The use of all processes is summed up. Of moments the first counts, and of lengths the longest. */
function both(a: Answer, b: Answer): Answer {
  const sums = ["rss_kb", "user_ms", "sys_ms", "heap_bytes", "external_bytes"];
  const merged: Answer = { ...b, ...a };
  for (const key of sums) if (key in a) merged[key] = Number(a[key]) + Number(b[key]);
  if ("pids" in a) merged.pids = [...(a.pids as number[]), ...(b.pids as number[])];
  if ("t0_ns" in a) merged.t0_ns = Math.min(Number(a.t0_ns), Number(b.t0_ns));
  if ("publish_ns" in a) merged.publish_ns = Math.max(Number(a.publish_ns), Number(b.publish_ns));
  return merged;
}
