import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { WrittenAt } from "./history-checker.js";
import type { Head, MeshServer } from "./mesh-server.js";

/** The only writer of a layer. Each change is tried at one server after the other. */
export class Writer {
  readonly layer: string;
  /** All writes that a server took. */
  readonly acknowledged: WrittenAt[] = [];
  readonly #servers: readonly MeshServer[];
  #turn = 0;
  #head: string | undefined;

  constructor(layer: string, servers: readonly MeshServer[]) {
    this.layer = layer;
    this.#servers = servers;
  }

  /**
   * Makes a change, at any server that takes it. What a stopped server finds in its sockets later comes too late: each
   * try names the head that it changes.
   */
  async write(body: object): Promise<void> {
    this.#turn += 1;
    let last: unknown;
    for (let tries = 0; tries < 60; tries += 1) {
      const server = this.#servers[(this.#turn + tries) % this.#servers.length] ?? assert.fail();
      const began = performance.now();
      try {
        // The try before may have been made all the same.
        if (tries > 0) this.#head = (await server.head(this.layer))?.id;
        const condition: Record<string, string> =
          this.#head === undefined ? { "if-none-match": "*" } : { "if-match": `"${this.#head}"` };
        const path = `layers/${this.layer}/changes`;
        const { revision } = await server.ask<{ revision: Head }>(path, body, condition);
        this.#head = revision.id;
        const { id, number } = revision;
        this.acknowledged.push({ server: server.name, revision: id, number, began, ended: performance.now() });
        return;
      } catch (error) {
        last = error;
        await sleep(200);
      }
    }
    assert.fail(`no server takes a write to layer ${this.layer}: ${String(last)}`);
  }
}
