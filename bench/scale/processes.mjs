/** Starting programs, and reading the kernel's figures of them. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

/** Free ports of loopback. */
export async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer());
  for (const server of servers) await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const ports = servers.map((server) => server.address().port);
  for (const server of servers) server.close();
  return ports;
}

/**
 * Starts a program, and resolves once it prints a line with this beginning. Rejects after 60 s, or if it ends before.
 */
export async function started(command, args, line, options = {}) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "ignore"], ...options });
  const end = new Promise((resolve) => child.once("exit", resolve));
  await new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new Error(`${command} ${args.join(" ")} printed no "${line}" in 60 s`)),
      60_000,
    );
    createInterface({ input: child.stdout }).on("line", (text) => text.startsWith(line) && resolve(clearTimeout(late)));
    child.once("error", reject);
    end.then((code) => reject(new Error(`${command} ${args.join(" ")} ended with ${code}`)));
  });
  return {
    pid: child.pid,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      const late = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await end;
      clearTimeout(late);
    },
  };
}

/** Resolves once a URL answers. Rejects after 30 s. */
export async function answers(url) {
  for (let tries = 0; tries < 300; tries += 1) {
    const isThere = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${url} does not answer`);
}

/** The memory of a process, in kB. */
export function rssKb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

/** CPU time of a process until now, in milliseconds. Linux counts it in hundredths of a second. */
export function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** The median: the middle one, or the mean of two. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export const round = (value, digits = 1) => Number(value.toFixed(digits));
