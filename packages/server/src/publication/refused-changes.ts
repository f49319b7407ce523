import { callListener } from "../basics/call-listener.js";
import { mergedUpdates } from "../configuration/merged-updates.js";
import type { LayerUpdate, Source } from "../contracts/source.js";

/**
 * The last changes of sources that were refused because they would break references or share addresses. Another change
 * may make them sound.
 */
export class RefusedChanges {
  readonly #bySource = new Map<Source, readonly LayerUpdate[]>();

  /** Keeps the change only if the source can be asked to try again. Other sources try again by themselves. */
  note(source: Source, updates: readonly LayerUpdate[]): void {
    if (source.retry !== undefined) this.#bySource.set(source, updates);
  }

  forget(source: Source): void {
    this.#bySource.delete(source);
  }

  /** The source replaces other sources of its name. */
  forgetOthers(source: Source): void {
    for (const other of this.#bySource.keys())
      if (other !== source && other.name === source.name) this.#bySource.delete(other);
  }

  /**
   * The changes to try instead of one that is refused alone: with one of the others, then with all of them. A change of
   * a source whose place this one takes is none of them.
   */
  *together(updates: readonly LayerUpdate[], own?: Source): Iterable<readonly LayerUpdate[]> {
    const others = [...this.#bySource].filter(([source]) => source.name !== own?.name).map(([, refused]) => refused);
    for (const other of others) yield mergedUpdates(other, updates);
    if (others.length > 1) yield mergedUpdates(others.reduce(mergedUpdates), updates);
  }

  /** Asks the sources whose change is sound by now to try again, in separate turns. */
  retry(isSound: (updates: readonly LayerUpdate[]) => boolean): void {
    for (const [source, updates] of this.#bySource) {
      if (!isSound(updates)) continue;
      this.#bySource.delete(source);
      setImmediate(() => callListener(`${source.name}: retry`, () => source.retry?.()));
    }
  }
}

/** One update for each layer, which says the same. */
export function onePerLayer(updates: readonly LayerUpdate[]): readonly LayerUpdate[] {
  const isOne = new Set(updates.map(({ layer }) => layer)).size === updates.length;
  return isOne ? updates : updates.reduce((sum: readonly LayerUpdate[], each) => mergedUpdates(sum, [each]), []);
}
