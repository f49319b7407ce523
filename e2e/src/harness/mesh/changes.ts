import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../basics/wait.js";
import type { Mesh } from "./mesh.js";

const everyMs = 500;

/** Moves the routes of a mesh twice a second, and brings its staged nodes one rollout after the other. */
export class Changes {
  readonly #mesh: Mesh;
  readonly #going = { isOn: true };
  readonly #done: Promise<unknown>;
  #error: unknown;
  #isPaused = false;
  #isIdle = false;

  constructor(mesh: Mesh) {
    this.#mesh = mesh;
    const note = (error: unknown) => {
      this.#error ??= error;
    };
    this.#done = Promise.all([this.#move().catch(note), mesh.rollouts.go(this.#going).catch(note)]);
  }

  /** Routes stay where they are, until `goOn`. Resolves when no write is on its way. Rollouts go on. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    await eventually("no write is on its way", () => this.#isIdle || this.#error !== undefined, { withinMs: 30_000 });
    if (this.#error !== undefined) throw this.#error;
  }

  goOn(): void {
    this.#isPaused = false;
  }

  /**
   * After a fault all nodes must be well within `healedMs`, and no request after the first `past` failures may have
   * failed. Resolves to the milliseconds that it took. `meanwhile` runs before changes go on.
   */
  async mustHeal(what: string, healedMs: number, past = 0, meanwhile?: () => Promise<unknown>): Promise<number> {
    const { isWhole, load } = this.#mesh;
    const since = Date.now();
    // While routes move, somebody is always behind for a moment.
    await this.pause();
    await isWhole(`all are well after ${what}`, healedMs);
    const ms = Date.now() - since;
    await meanwhile?.();
    this.goOn();
    assert.deepEqual(load.failures(past), [], what);
    return ms;
  }

  /** At the end every write must be in one line of history, and no request may have failed. */
  async mustEndWell(t: TestContext, etcdctl: string): Promise<void> {
    const { load, writer, rollouts } = this.#mesh;
    await this.stop();
    await this.#mesh.checkHistory(etcdctl);
    t.diagnostic(`${writer.acknowledged.length} writes, ${rollouts.completed} rollouts`);
    t.diagnostic(`${load.answered()} requests, ${load.failed()} failed`);
    await load.stop();
    assert.deepEqual(load.failures(), []);
  }

  /** Ends with the rollout under way. Rejects if a change could not be made. */
  async stop(): Promise<void> {
    this.#going.isOn = false;
    await this.#done;
    if (this.#error !== undefined) throw this.#error;
  }

  async #move(): Promise<void> {
    while (this.#going.isOn) {
      this.#isIdle = this.#isPaused;
      if (!this.#isPaused) {
        await this.#mesh.routes.write();
        // Each new connection may come to the other Envoy.
        this.#mesh.load.reconnect();
      }
      await sleep(this.#isPaused ? 20 : everyMs);
    }
  }
}
