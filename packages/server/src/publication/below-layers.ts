import type { Snapshot } from "@xdskit/protocol";
import type { Layers } from "../configuration/layers.js";
import type { LayerChange } from "../contracts/layer-change.js";
import type { KernelLayers } from "../contracts/parts/kernel.js";
import type { MakeIndex, SnapshotIndex } from "../contracts/parts/snapshot-index.js";
import type { LayerUpdate } from "../contracts/source.js";
import type { LayerName } from "../settings/group-settings.js";
import type { Publication } from "./publication.js";

/** The layers as parts see them: they change only those below a group's own. */
export class BelowLayers implements KernelLayers {
  readonly #layers: Layers;
  readonly #publication: Publication;
  #isOver = false;

  constructor(layers: Layers, publication: Publication) {
    this.#layers = layers;
    this.#publication = publication;
  }

  get names(): readonly LayerName[] {
    return this.#layers.names;
  }

  get(layer: LayerName): Snapshot | undefined {
    return this.#layers.get(layer);
  }

  bring(update: LayerUpdate): void {
    this.#publish(this.#layers.apply([update]));
  }

  drop(layer: LayerName): void {
    const change = this.#layers.drop(layer);
    if (change !== undefined) this.#publish([change]);
  }

  indexOf<Index extends SnapshotIndex>(group: string, make: MakeIndex<Index>): Index | undefined {
    return this.#publication.indexOf(group, make);
  }

  /** No client is left to be told anything. */
  end(): void {
    this.#isOver = true;
  }

  #publish(changes: readonly LayerChange[]): void {
    if (changes.length > 0 && !this.#isOver) this.#publication.publish(changes);
  }
}
