import type { HttpBackend } from "./http-backend.js";
import { cluster, configSource, loadAssignment, routeConfiguration } from "./resources.js";
import type { Writer } from "./writer.js";

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
  readonly #writer: Writer;
  readonly #backends: readonly [even: HttpBackend, odd: HttpBackend];
  #moment = 0;

  constructor(writer: Writer, backends: readonly [even: HttpBackend, odd: HttpBackend]) {
    this.#writer = writer;
    this.#backends = backends;
  }

  /** The backend that the newest routes lead to. */
  get backend(): HttpBackend {
    return this.#backends[this.#moment % 2 === 0 ? 0 : 1];
  }

  /** Makes the next move. */
  async write(): Promise<void> {
    this.#moment += 1;
    await this.#writer.write({ ...nextMove(this.#moment, source, this.backend.port), message: `${this.#moment}` });
  }
}
