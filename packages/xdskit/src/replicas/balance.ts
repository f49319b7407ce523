/** How the connections of clients are spread over the servers of a store. */
export interface ReplicaSpread {
  /** Of this server. */
  readonly own: number;
  /** Of each other one. */
  readonly others: readonly number[];
}

/** What to do about it. */
export interface Wave {
  /** So many clients are asked to go, one after the other within `askMs`. */
  readonly ask: number;
  /** In milliseconds. */
  readonly askMs: number;
  /** So many milliseconds later it is looked again: by then they are back, here or elsewhere. */
  readonly restMs: number;
}

/** A server may have so many times the mean: clients come and go by themselves. */
const tolerance = 1.1;
/** And so many more than the mean: in a small fleet one client more or less says nothing. */
const mostMore = 1;
/** Together at most ten a second. */
const mostInWave = 200;

/** Times, in milliseconds. */
export interface BalanceTimes {
  /** From one look to the next while nothing is to be done. */
  readonly look: number;
  /** Clients of one wave go within this. */
  readonly wave: number;
  /** From a wave to the next look. */
  readonly rest: number;
  /** The same after waves that did not help, at most. */
  readonly mostRest: number;
}

/** The rest is more than the grace that clients have by default, and the time that Envoy takes to come back. */
const usualTimes: BalanceTimes = { look: 5_000, wave: 20_000, rest: 15_000, mostRest: 10 * 60_000 };

/** How many connections this server has more than its part; 0 where it is not worth a word. */
export function surplusOf({ own, others }: ReplicaSpread): number {
  if (others.length === 0) return 0;
  const mean = others.reduce((sum, each) => sum + each, own) / (others.length + 1);
  return own > Math.max(mean * tolerance, mean + mostMore) ? Math.floor(own - mean) : 0;
}

/**
 * Decides how many clients a server asks to go to the others. Where that brings nobody there, because a load balancer
 * sends each client to the server that it had, it asks more and more rarely.
 */
export class Balance {
  readonly #times: BalanceTimes;
  #before: number | undefined;
  #restMs = 0;

  constructor(times: BalanceTimes = usualTimes) {
    this.#times = times;
  }

  /** Call it again when the wave is over. */
  next(spread: ReplicaSpread): Wave {
    const surplus = surplusOf(spread);
    const hasHelped = this.#before === undefined || surplus < this.#before;
    const { look, wave, rest, mostRest } = this.#times;
    this.#restMs = hasHelped ? rest : Math.min(2 * this.#restMs, mostRest);
    this.#before = surplus === 0 ? undefined : surplus;
    if (surplus === 0) return { ask: 0, askMs: 0, restMs: look };
    return { ask: Math.min(surplus, mostInWave), askMs: wave, restMs: this.#restMs };
  }
}
