import { hash } from "node:crypto";
import { appendFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { LayerUpdate } from "../../contracts/source.js";
import type { LayerCommit, StoredKey } from "../../contracts/stores/store.js";
import type { LayerName } from "../../settings/group-settings.js";
import { encodeStored } from "../history/stored-content.js";
import { isNeededBack } from "./lossless.js";

/** A change that was served, and that the store may not have. */
export interface AheadChange extends Pick<LayerCommit, "layer" | "upsert" | "remove"> {
  /** In milliseconds since 1970. */
  readonly time: number;
}

interface Line {
  readonly layer: LayerName;
  readonly time: number;
  /** `bytes` in base64. */
  readonly upsert: readonly (StoredKey & { readonly version: string; readonly bytes: string })[];
  readonly remove: readonly StoredKey[];
}

/** More is not written ahead: nobody must wait for that. */
const maxBytes = 32 * 1024 * 1024;
/** The file may hold private keys. */
const mode = 0o600;

/**
 * What is served and not in the store yet, in a file: a line for each change. A line is written before streams are told
 * of its change, and stays if the process is killed. It is not flushed to the disk, so a power failure may take it.
 */
export class AheadFile {
  readonly #path: string;
  /** How long it is. */
  #bytes = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** What an earlier process left, oldest first, up to the first line that is not whole. */
  async left(): Promise<readonly AheadChange[]> {
    const text = await readFile(this.#path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw error;
    });
    this.#bytes = text.length;
    const left: AheadChange[] = [];
    for (const line of text.split("\n")) {
      const change = readLine(line);
      if (change === undefined) break;
      left.push(change);
    }
    return left;
  }

  /** Throws the system's error. */
  append(updates: readonly LayerUpdate[]): void {
    const time = Date.now();
    const lines = updates.map((update) => lineOf(update, time)).filter((line) => line !== undefined);
    const bytes = Buffer.from(lines.join(""));
    if (bytes.length === 0 || this.#bytes + bytes.length > maxBytes) return;
    appendFileSync(this.#path, bytes, { mode });
    this.#bytes += bytes.length;
  }

  /** The store has it all. */
  clear(): void {
    if (this.#bytes === 0) return;
    writeFileSync(this.#path, "", { mode });
    this.#bytes = 0;
  }
}

/** Undefined: nothing of it is needed. What a source has as a whole it also has after a restart. */
function lineOf({ layer, kind, upsert, remove = [] }: LayerUpdate, time: number): string | undefined {
  if (kind === "replace") return undefined;
  const line: Line = {
    layer,
    time,
    upsert: upsert.filter(isNeededBack).map((one) => {
      const { type, key, version, bytes } = encodeStored(one);
      return { type, key, version, bytes: Buffer.from(bytes).toString("base64") };
    }),
    remove: remove.map(({ type, name }) => ({ type: type.typeUrl, key: name })),
  };
  if (line.upsert.length === 0 && line.remove.length === 0) return undefined;
  const text = JSON.stringify(line);
  return `${sumOf(text)} ${text}\n`;
}

function readLine(line: string): AheadChange | undefined {
  const at = line.indexOf(" ");
  const text = line.slice(at + 1);
  if (at < 0 || sumOf(text) !== line.slice(0, at)) return undefined;
  const { layer, time, upsert, remove } = JSON.parse(text) as Line;
  return { layer, time, upsert: upsert.map((one) => ({ ...one, bytes: Buffer.from(one.bytes, "base64") })), remove };
}

function sumOf(text: string): string {
  return hash("sha256", text, "base64url").slice(0, 16);
}
