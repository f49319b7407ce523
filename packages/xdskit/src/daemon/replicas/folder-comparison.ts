import type { Finding } from "@xdskit/api";
import type { LayerName, XdsServer } from "@xdskit/server";
import { Rounds } from "./rounds.js";

/** The versions of what a server serves of its folder, by layer and type. Equal content has equal versions. */
export type FolderVersions = Readonly<Record<LayerName, Readonly<Record<string, string>>>>;

/** What another server serves of its folder. */
export interface OtherFolder {
  /** The name of the server. */
  readonly name: string;
  /** Undefined: it did not answer. What is known of it stays as it was. */
  readonly versions: FolderVersions | undefined;
}

export interface FolderComparisonOptions {
  readonly own: () => FolderVersions;
  /** Asks all others that there are. */
  readonly others: () => Promise<readonly OtherFolder[]>;
  /** Called when a difference begins, is another one, or is over (undefined). */
  readonly onChanged: (difference: Finding | undefined) => void;
  /** For tests. Default: every 5 seconds. */
  readonly everyMs?: number | undefined;
}

/** The usual time between two looks, in milliseconds. */
const usualMs = 5_000;
/**
 * A change comes to one folder later than to another: a difference counts once it was seen this often in turn, while
 * one of the two stood still. Two that change all the time may differ whenever somebody looks.
 */
const enough = 4;

/** A server that has other content. */
interface Differing {
  /** How often in turn it had. */
  readonly times: number;
  readonly types: readonly string[];
  readonly ours: string;
  readonly theirs: string;
}

/** The versions of what a server serves of the layers of its folder. */
export function folderVersions(server: Pick<XdsServer, "layerSnapshot">, layers: readonly LayerName[]): FolderVersions {
  const versions = layers.map((layer) => {
    const sets = [...(server.layerSnapshot(layer)?.sets.values() ?? [])].filter(({ size }) => size > 0);
    return [layer, Object.fromEntries(sets.map(({ type, version }) => [type.name, version]))] as const;
  });
  return Object.fromEntries(versions);
}

/** Finds servers of the same store whose folders have other content, which none of them could see alone. */
export class FolderComparison {
  readonly #options: FolderComparisonOptions;
  readonly #rounds: Rounds;
  /** By the name of the server. */
  #seen: ReadonlyMap<string, Differing> = new Map();
  #reported: string | undefined;

  constructor(options: FolderComparisonOptions) {
    this.#options = options;
    const { everyMs = usualMs } = options;
    this.#rounds = new Rounds(async (wait) => {
      await wait(everyMs);
      await this.#look();
    });
  }

  async close(): Promise<void> {
    await this.#rounds.close();
  }

  async #look(): Promise<void> {
    const { own, others, onChanged } = this.#options;
    const found = await others();
    const versions = own();
    const seen = new Map<string, Differing>();
    for (const other of found) {
      const before = this.#seen.get(other.name);
      if (other.versions === undefined) {
        if (before !== undefined) seen.set(other.name, before);
        continue;
      }
      const types = differingTypes(versions, other.versions);
      if (types.length === 0) continue;
      const [ours, theirs] = [JSON.stringify(versions), JSON.stringify(other.versions)];
      const isStill = before?.ours === ours || before?.theirs === theirs;
      seen.set(other.name, { times: isStill ? before.times + 1 : 1, types, ours, theirs });
    }
    this.#seen = seen;
    const lasting = [...seen].filter(([, { times }]) => times >= enough);
    const message = lasting.length === 0 ? undefined : differenceText(lasting);
    if (message === this.#reported || this.#rounds.isClosed) return;
    this.#reported = message;
    onChanged(message === undefined ? undefined : { code: "XDSKIT_FOLDER_DIFFERS", severity: "error", message });
  }
}

function differingTypes(own: FolderVersions, other: FolderVersions): readonly string[] {
  const types = new Set<string>();
  for (const layer of new Set([...Object.keys(own), ...Object.keys(other)])) {
    const [ours, theirs] = [own[layer] ?? {}, other[layer] ?? {}];
    for (const type of [...Object.keys(ours), ...Object.keys(theirs)]) if (ours[type] !== theirs[type]) types.add(type);
  }
  return [...types].sort();
}

function differenceText(lasting: readonly (readonly [string, { readonly types: readonly string[] }])[]): string {
  const names = lasting.map(([name]) => name).sort();
  const types = [...new Set(lasting.flatMap(([, each]) => each.types))].sort();
  return `the folder differs from that of ${names.join(", ")} (${types.join(", ")}): their clients get other resources`;
}
