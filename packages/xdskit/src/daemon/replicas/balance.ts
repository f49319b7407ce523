/** How the connections of clients are spread over the servers of a store. */
export interface ReplicaSpread {
  /** Of this server. */
  readonly own: number;
  /** Of each other one. */
  readonly others: readonly number[];
}

/** The clients to ask to go, and the times for it. */
export interface Wave {
  /** How many clients are asked to go, one after the other within `askMs`. */
  readonly ask: number;
  /** In milliseconds. */
  readonly askMs: number;
  /** The time until the next look, in milliseconds: by then the clients are back, here or elsewhere. */
  readonly restMs: number;
}

/** A server may have this many times the mean, since clients come and go by themselves. */
const tolerance = 1.1;
/** A server may also have this many more than the mean: in a small fleet one client more or less says nothing. */
const maxMore = 1;
/** The most clients of a wave: at most ten a second. */
const maxInWave = 200;

/** Times, in milliseconds. */
export interface BalanceTimes {
  /** The time from one look to the next while clients are spread well. */
  readonly look: number;
  /** The time in which the clients of one wave go. */
  readonly wave: number;
  /** The time from a wave to the next look. */
  readonly rest: number;
  /** The longest such time, after waves that did not help. */
  readonly maxRest: number;
}

/** The rest is more than the grace that clients have by default, and the time that Envoy takes to come back. */
const usualTimes: BalanceTimes = { look: 5_000, wave: 20_000, rest: 15_000, maxRest: 10 * 60_000 };

/** The surplus of connections of this server; 0 if it is too small to matter. */
export function surplusOf({ own, others }: ReplicaSpread): number {
  if (others.length === 0) return 0;
  const mean = others.reduce((sum, each) => sum + each, own) / (others.length + 1);
  return own > Math.max(mean * tolerance, mean + maxMore) ? Math.floor(own - mean) : 0;
}

/**
 * Decides how many clients a server asks to go to the others. If that brings nobody there, because a load balancer
 * sends each client back to its server, it asks more and more rarely.
 */
export class Balance {
  readonly #times: BalanceTimes;
  #before: number | undefined;
  #restMs = 0;

  constructor(times: BalanceTimes = usualTimes) {
    this.#times = times;
  }

  /** The wave that begins now. */
  next(spread: ReplicaSpread): Wave {
    const surplus = surplusOf(spread);
    const hasHelped = this.#before === undefined || surplus < this.#before;
    const { look, wave, rest, maxRest } = this.#times;
    this.#restMs = hasHelped ? rest : Math.min(2 * this.#restMs, maxRest);
    this.#before = surplus === 0 ? undefined : surplus;
    if (surplus === 0) return { ask: 0, askMs: 0, restMs: look };
    return { ask: Math.min(surplus, maxInWave), askMs: wave, restMs: this.#restMs };
  }
}
