import type { Place } from "../basics/place.js";
import type { Process } from "../basics/process.js";

/** Called after each start of a server. */
export type Started = ((server: MeshServer) => Promise<unknown>) | undefined;

/** The options of a server of a mesh. */
export interface MeshServerOptions {
  readonly name: string;
  readonly place: Place;
  readonly ports: { readonly grpc: number; readonly admin: number };
  readonly run: (server: MeshServer) => Process;
  readonly started: Started;
}

/** One server of a mesh. It has the same ports after each start. */
export class MeshServer {
  readonly name: string;
  readonly place: Place;
  readonly grpc: string;
  readonly admin: string;
  readonly #run: (server: MeshServer) => Process;
  readonly #started: Started;
  #process: Process | undefined;

  constructor({ name, place, ports, run, started }: MeshServerOptions) {
    this.name = name;
    this.place = place;
    this.grpc = `${place.host}:${ports.grpc}`;
    this.admin = `${place.host}:${ports.admin}`;
    this.#run = run;
    this.#started = started;
  }

  async start(): Promise<void> {
    this.#process = this.#run(this);
    await this.#process.line(/^ready$/, 60_000);
    await this.#started?.(this);
  }

  /** By default as an upgrade does. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await this.#process?.stop(signal, 20_000);
  }

  kill(): void {
    this.signal("SIGKILL");
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#process !== undefined) process.kill(this.#process.pid, signal);
  }

  async ask<T>(path: string, body?: object, headers: Readonly<Record<string, string>> = {}): Promise<T> {
    const response = await fetch(`http://${this.admin}/api/v1/${path}`, {
      signal: AbortSignal.timeout(3_000),
      ...(body === undefined
        ? {}
        : {
            method: "POST",
            headers: { "content-type": "application/json", ...headers },
            body: JSON.stringify(body),
          }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** The newest revision of a layer, as this server knows it. */
  async head(layer: string): Promise<Head | undefined> {
    const { layers } = await this.ask<{ layers: { name: string; head: Head | null }[] }>("layers");
    return layers.find(({ name }) => name === layer)?.head ?? undefined;
  }

  async isHealthy(): Promise<boolean> {
    const response = await fetch(`http://${this.admin}/livez`, { signal: AbortSignal.timeout(500) });
    return response.ok;
  }
}

/** The newest revision of a layer. */
export interface Head {
  readonly id: string;
  readonly number: number;
}
