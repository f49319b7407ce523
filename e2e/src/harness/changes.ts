import { setTimeout as sleep } from "node:timers/promises";
import type { Mesh } from "./mesh.js";
import { eventually } from "./wait.js";

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
