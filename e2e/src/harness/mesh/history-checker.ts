/** A write that a server has acknowledged. Times are of one clock, in milliseconds. */
export interface Acknowledged {
  readonly revision: string;
  readonly number: number;
  readonly began: number;
  readonly ended: number;
}

/** A revision as a server lists it. */
export interface Listed {
  readonly id: string;
  readonly number: number;
  readonly parent: string | null;
}

/**
 * Holds what happened against what is promised: the history is one line, every acknowledged write is in it once, and a
 * write that began after another was acknowledged comes after it. Returns what is broken, for people.
 */
export function brokenPromises(acknowledged: readonly Acknowledged[], history: readonly Listed[]): readonly string[] {
  const broken: string[] = [];
  const line = history.toSorted((a, b) => a.number - b.number);
  for (const [index, { id, number, parent }] of line.entries()) {
    const before = line[index - 1];
    if (before !== undefined && (parent !== before.id || number !== before.number + 1))
      broken.push(`revision ${number} (${id}) does not follow ${before.number} (${before.id})`);
  }
  const numbers = new Map(line.map(({ id, number }) => [id, number]));
  const seen = new Set<string>();
  for (const { revision, number } of acknowledged) {
    if (numbers.get(revision) !== number) broken.push(`the acknowledged revision ${number} (${revision}) is lost`);
    if (seen.has(revision)) broken.push(`revision ${revision} was acknowledged to two writers`);
    seen.add(revision);
  }
  const byEnd = acknowledged.toSorted((a, b) => a.ended - b.ended);
  let most: Acknowledged | undefined;
  const byBegin = acknowledged.toSorted((a, b) => a.began - b.began);
  let next = 0;
  for (const write of byBegin) {
    for (let done = byEnd[next]; done !== undefined && done.ended < write.began; done = byEnd[next]) {
      if (most === undefined || done.number > most.number) most = done;
      next += 1;
    }
    if (most !== undefined && write.number < most.number)
      broken.push(`revision ${write.number} began after ${most.number} was acknowledged`);
  }
  return broken;
}

/** The newest revision that a server said to have. Times are of the clock of the writes. */
export interface Read {
  /** The server, and how often it was started: what ends in between forgets nothing that is in the store. */
  readonly server: string;
  readonly number: number;
  readonly began: number;
  readonly ended: number;
  /** All servers and members were well for a while by then. */
  readonly isHealed: boolean;
}

/** What one watcher was told, in its order. */
export interface Watched {
  readonly watcher: string;
  readonly numbers: readonly number[];
}

/** A write, and the server that acknowledged it. */
export interface WrittenAt extends Acknowledged {
  readonly server: string;
}

/**
 * Holds reads against what is promised: at one server nothing is read that is older than what was read there, or was
 * acknowledged there, before the read began. Once all is well again, that holds for what was acknowledged anywhere more
 * than `withinMs` before.
 */
export function brokenReads(
  acknowledged: readonly WrittenAt[],
  reads: readonly Read[],
  withinMs: number,
): readonly string[] {
  const broken: string[] = [];
  const byBegin = reads.toSorted((a, b) => a.began - b.began);
  const everywhere = new Newest(acknowledged);
  for (const server of new Set(reads.map((read) => read.server))) {
    const ofServer = byBegin.filter((read) => read.server === server);
    const [saidHere, writtenHere] = [
      new Newest(ofServer),
      new Newest(acknowledged.filter((one) => one.server === server)),
    ];
    for (const { number, began } of ofServer) {
      const said = saidHere.before(began);
      if (number < said) broken.push(`${server} said ${number} after it had said ${said}`);
      const written = writtenHere.before(began);
      if (number < written) broken.push(`${server} said ${number} after ${written} was acknowledged at ${server}`);
    }
  }
  for (const { server, number, began, isHealed } of byBegin) {
    const written = isHealed ? everywhere.before(began - withinMs) : 0;
    if (number < written) broken.push(`${server} said ${number} after ${written} was acknowledged elsewhere`);
  }
  return broken;
}

/** The newest revision that was known at a time; to be asked for ever later times. */
class Newest {
  readonly #known: readonly { readonly number: number; readonly ended: number }[];
  #next = 0;
  #most = 0;

  constructor(known: readonly { readonly number: number; readonly ended: number }[]) {
    this.#known = known.toSorted((a, b) => a.ended - b.ended);
  }

  before(time: number): number {
    for (let one = this.#known[this.#next]; one !== undefined && one.ended < time; one = this.#known[this.#next]) {
      this.#most = Math.max(this.#most, one.number);
      this.#next += 1;
    }
    return this.#most;
  }
}

/** Watchers only go forward. Changes that follow each other may be told as one. */
export function brokenWatches(watches: readonly Watched[]): readonly string[] {
  return watches.flatMap(({ watcher, numbers }) =>
    numbers.flatMap((number, index) => {
      const before = numbers[index - 1];
      return before === undefined || number > before ? [] : [`${watcher} was told ${number} after ${before}`];
    }),
  );
}
