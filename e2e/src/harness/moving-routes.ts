import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { WrittenAt } from "./history-checker.js";
import type { HttpBackend } from "./http-backend.js";
import type { MeshServer } from "./mesh-server.js";
import { cluster, configSource, loadAssignment, routeConfiguration } from "./resources.js";

const source = configSource("ads-delta");

/** A change that moves the routes to a cluster of its own, and removes the one before. */
export function nextMove(moment: number, from: Record<string, unknown>, port: number) {
  return {
    upsert: [
      cluster({ name: `c${moment}`, source: from, serviceName: `s${moment}` }),
      loadAssignment(`s${moment}`, [port]),
      routeConfiguration("routes", `c${moment}`),
    ],
    delete: [
      { type: "cluster", name: `c${moment - 1}` },
      { type: "endpoint", name: `s${moment - 1}` },
    ],
  };
}

/** Routes that move from one backend to the other with each write. */
export class MovingRoutes {
  /** All writes that a server took. */
  readonly acknowledged: WrittenAt[] = [];
  readonly #servers: readonly MeshServer[];
  readonly #backends: readonly [even: HttpBackend, odd: HttpBackend];
  #moment = 0;

  constructor(servers: readonly MeshServer[], backends: readonly [even: HttpBackend, odd: HttpBackend]) {
    this.#servers = servers;
    this.#backends = backends;
  }

  /** The backend that the newest routes lead to. */
  get backend(): HttpBackend {
    return this.#backends[this.#moment % 2 === 0 ? 0 : 1];
  }

  /** Makes the next move, at any server that takes it. */
  async write(): Promise<void> {
    this.#moment += 1;
    const moment = this.#moment;
    const body = { ...nextMove(moment, source, this.backend.port), message: `${moment}` };
    for (let tries = 0; tries < 60; tries += 1) {
      const server = this.#servers[(moment + tries) % this.#servers.length] ?? assert.fail();
      const began = performance.now();
      try {
        const { revision } = await server.ask<{ revision: { id: string; number: number } }>("layers/api/changes", body);
        const { id, number } = revision;
        this.acknowledged.push({ server: server.name, revision: id, number, began, ended: performance.now() });
        return;
      } catch {
        await sleep(200);
      }
    }
    assert.fail("no server takes a write");
  }
}
