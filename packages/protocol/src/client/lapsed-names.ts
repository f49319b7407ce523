import type { ResourceName } from "@xdskit/api";

/**
 * What was held on this stream until its time was over. A server that goes on to keep it alive, since its signs of life came too late, thinks the client to have it, and would
 * not send it again. Names are canonical.
 */
export class LapsedNames {
  readonly #ended = new Set<ResourceName>();
  /** How often each was asked for anew: a server whose signs of life always come too late is not to send it each time. */
  readonly #times = new Map<ResourceName, number>();

  /** Its time is over. */
  add(key: ResourceName): void {
    if (this.#ended.size < mostNames) this.#ended.add(key);
  }

  /** Nobody wants it, or it came. */
  delete(key: ResourceName): void {
    this.#ended.delete(key);
  }

  /** It is kept alive: whether it is to be asked for anew. */
  revives(key: ResourceName): boolean {
    const times = this.#times.get(key) ?? 0;
    if (!this.#ended.delete(key) || times >= mostTimes || this.#times.size >= mostNames) return false;
    this.#times.set(key, times + 1);
    return true;
  }

  clear(): void {
    this.#ended.clear();
    this.#times.clear();
  }
}

const mostTimes = 3;
/** On one stream; the server chooses them where all is asked for. */
const mostNames = 10_000;
