import type { SharedSession, SharedSessionOptions } from "@xdskit/server";
import type { EtcdClient } from "./client/etcd-client.js";

/** A session is a lease of etcd's. */
export class EtcdSession implements SharedSession {
  readonly lease: bigint;
  readonly #client: EtcdClient;
  readonly #options: SharedSessionOptions;
  readonly #over: () => void;
  /** By this process' own clock, counted from before etcd was asked: etcd ends it later, never earlier. */
  #until: number;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  private constructor(
    client: EtcdClient,
    lease: bigint,
    until: number,
    options: SharedSessionOptions,
    over: () => void,
  ) {
    this.lease = lease;
    this.#client = client;
    this.#until = until;
    this.#options = options;
    this.#over = over;
    this.#goOn();
  }

  /** `over` is called when it is over, whyever. */
  static async open(
    client: EtcdClient,
    options: SharedSessionOptions,
    { over }: { over(session: EtcdSession): void },
  ): Promise<EtcdSession> {
    const asked = performance.now();
    const lease = await client.grantLease(Math.ceil(options.ttlMs / 1_000));
    const session: EtcdSession = new EtcdSession(client, lease, asked + options.ttlMs, options, () => over(session));
    return session;
  }

  get id(): string {
    return this.lease.toString(16);
  }

  get isOver(): boolean {
    return this.#isEnded || performance.now() >= this.#until;
  }

  async close(): Promise<void> {
    if (this.#isEnded) return;
    this.#end();
    await this.#client.revokeLease(this.lease);
  }

  #goOn(): void {
    this.#timer = setTimeout(() => void this.#renew(), this.#options.ttlMs / 3).unref();
  }

  async #renew(): Promise<void> {
    const asked = performance.now();
    try {
      const seconds = await this.#client.keepAlive(this.lease, this.#options.ttlMs / 3);
      if (this.#isEnded) return;
      // `isOver` is final: its holder may have acted on it, and would never hear that the session goes on.
      if (seconds <= 0 || this.isOver) return this.#lost();
      this.#until = asked + this.#options.ttlMs;
    } catch {
      if (this.#isEnded) return;
      if (this.isOver) return this.#lost();
    }
    this.#goOn();
  }

  #lost(): void {
    this.#end();
    // Others may have been told that it is over: what it holds must not come back.
    void this.#client.revokeLease(this.lease).catch(() => {});
    this.#options.lost();
  }

  #end(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    this.#over();
  }
}
