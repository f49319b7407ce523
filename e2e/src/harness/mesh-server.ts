import type { Process } from "./process.js";

/** Called after each start of a server. */
export type Started = ((server: MeshServer) => Promise<unknown>) | undefined;

/** One server of a mesh. It has the same ports after each start. */
export class MeshServer {
  readonly name: string;
  readonly grpc: string;
  readonly admin: string;
  readonly #run: (server: MeshServer) => Process;
  readonly #started: Started;
  #process: Process | undefined;

  constructor(
    name: string,
    [grpc, admin]: readonly [grpc: number, admin: number],
    run: (server: MeshServer) => Process,
    started: Started,
  ) {
    this.name = name;
    this.grpc = `127.0.0.1:${grpc}`;
    this.admin = `127.0.0.1:${admin}`;
    this.#run = run;
    this.#started = started;
  }

  async start(): Promise<void> {
    this.#process = this.#run(this);
    await this.#process.line(/^ready$/, 60_000);
    await this.#started?.(this);
  }

  /** As an upgrade does. */
  async stop(): Promise<void> {
    await this.#process?.stop("SIGTERM", 20_000);
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#process !== undefined) process.kill(this.#process.pid, signal);
  }

  async ask<T>(path: string, body?: object): Promise<T> {
    const response = await fetch(`http://${this.admin}/api/v1/${path}`, {
      signal: AbortSignal.timeout(3_000),
      ...(body === undefined
        ? {}
        : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  async isHealthy(): Promise<boolean> {
    const response = await fetch(`http://${this.admin}/livez`, { signal: AbortSignal.timeout(500) });
    return response.ok;
  }
}
