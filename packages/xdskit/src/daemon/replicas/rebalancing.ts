import { Balance, type BalanceTimes, type Wave } from "./balance.js";
import { Rounds, type RoundWait } from "./rounds.js";

export interface RebalancingOptions {
  /** This server. */
  readonly server: { connections(): number; askToGo(count: number): number };
  /** Asks all others for their connections; undefined: one of them does not answer, or there is none. */
  readonly others: () => Promise<readonly number[] | undefined>;
  /** Called with the number of clients that were told to go. */
  readonly asked: (count: number) => void;
  /** For tests. */
  readonly times?: BalanceTimes | undefined;
}

/**
 * Spreads clients over the servers of a store again, after one of them came (back): each asks its surplus to go, a few
 * a second, and the load balancer sends them on.
 */
export class Rebalancing {
  readonly #options: RebalancingOptions;
  readonly #balance: Balance;
  readonly #rounds: Rounds;

  constructor(options: RebalancingOptions) {
    this.#options = options;
    this.#balance = new Balance(options.times);
    this.#rounds = new Rounds((wait) => this.#round(wait));
  }

  async close(): Promise<void> {
    await this.#rounds.close();
  }

  async #round(wait: RoundWait): Promise<void> {
    const { server, others } = this.#options;
    const counts = await others();
    const wave = this.#balance.next({ own: server.connections(), others: counts ?? [] });
    await this.#tell(wave, wait);
    await wait(wave.restMs);
  }

  /** One by one, at random moments: a crowd that comes back at once is a storm. */
  async #tell({ ask, askMs }: Wave, wait: RoundWait): Promise<void> {
    let notified = 0;
    for (let left = ask; left > 0; left -= 1) {
      await wait((2 * Math.random() * askMs) / ask);
      notified += this.#options.server.askToGo(1);
    }
    if (notified > 0) this.#options.asked(notified);
  }
}
