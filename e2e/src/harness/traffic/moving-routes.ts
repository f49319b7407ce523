import { cluster, loadAssignment, routeConfiguration } from "../basics/resources.js";
import type { HttpBackend } from "./http-backend.js";

/** How routes are moved. */
export interface MovingRoutesOptions {
  /** Where clusters get their endpoints. */
  readonly source: Record<string, unknown>;
  readonly backends: readonly [even: HttpBackend, odd: HttpBackend];
  /** Makes a change of the API's layer. */
  readonly change: (body: object) => Promise<unknown>;
}

/** Routes that move from one backend to the other with each write. */
export class MovingRoutes {
  readonly #options: MovingRoutesOptions;
  #moment = 0;

  constructor(options: MovingRoutesOptions) {
    this.#options = options;
  }

  /** How many moves there were. */
  get moment(): number {
    return this.#moment;
  }

  /** The backend that the newest routes lead to. */
  get backend(): HttpBackend {
    return this.#options.backends[this.#moment % 2 === 0 ? 0 : 1];
  }

  /** Moves the routes to a cluster of its own, and removes the one before. */
  async write(): Promise<void> {
    const { source, change } = this.#options;
    const [before, now] = [this.#moment, this.#moment + 1];
    this.#moment = now;
    await change({
      upsert: [
        cluster({ name: `c${now}`, source, serviceName: `s${now}` }),
        loadAssignment(`s${now}`, [this.backend.port]),
        routeConfiguration("routes", `c${now}`),
      ],
      delete: [
        { type: "cluster", name: `c${before}` },
        { type: "endpoint", name: `s${before}` },
      ],
      message: `${now}`,
    });
  }
}
