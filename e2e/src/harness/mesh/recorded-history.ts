import { type Acknowledged, brokenPromises, type Listed } from "./history-checker.js";
import type { MeshServer } from "./mesh-server.js";

interface Page {
  readonly revisions: readonly Listed[];
  readonly next?: string;
}

/** The history of a layer as servers tell it, read from time to time: servers keep only so much of it. */
export class RecordedHistory {
  readonly #layer: string;
  readonly #revisions = new Map<number, Listed>();
  readonly #broken: string[] = [];

  constructor(layer: string) {
    this.#layer = layer;
  }

  /** Reads what a server lists, from its newest revision to those that are known. */
  async read(server: MeshServer): Promise<void> {
    let isKnown = false;
    for (let after: string | undefined = ""; !isKnown && after !== undefined; ) {
      const query: string = `layer=${this.#layer}&limit=100${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`;
      const { revisions, next }: Page = await server.ask<Page>(`revisions?${query}`);
      for (const revision of revisions) if (this.#note(server, revision)) isKnown = true;
      after = next;
    }
  }

  /** What of it breaks a promise, for people. */
  broken(acknowledged: readonly Acknowledged[]): readonly string[] {
    return [...this.#broken, ...brokenPromises(acknowledged, [...this.#revisions.values()])];
  }

  #note(server: MeshServer, { id, number, parent }: Listed): boolean {
    const known = this.#revisions.get(number);
    if (known === undefined) this.#revisions.set(number, { id, number, parent });
    else if (known.id !== id || known.parent !== parent)
      this.#broken.push(`${server.name} says that revision ${number} is ${id}, and it was ${known.id}`);
    return known !== undefined;
  }
}
