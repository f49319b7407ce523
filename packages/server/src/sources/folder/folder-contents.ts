import { hash } from "node:crypto";
import { join, relative, sep } from "node:path";
import {
  type Adoption,
  type Finding,
  type PositionedResource,
  type Resource,
  type ResourceFile,
  type ResourceTypes,
  readResources,
  resourceTypes,
  type Where,
} from "@xdskit/api";
import { type FileBytes, readWholeFile } from "@xdskit/api/disk";
import { ReadingThread } from "@xdskit/api/threads";
import type { LayerUpdate } from "../../contracts/source.js";
import type { LayerName } from "../../settings/group-settings.js";
import { AddressClaims } from "./address-claims.js";
import { isWithin } from "./folder-options.js";
import type { AdoptedFile } from "./folder-summary.js";
import type { FullFolderOptions } from "./full-folder-options.js";
import { type JudgedFiles, type Judgement, judgeFiles, judgeSkipping } from "./judgement.js";
import type { NamedResource } from "./kept-names.js";
import { type IndexedChange, LayerIndex } from "./layer-index.js";
import { eachOf } from "./scanning/each-of.js";
import type { ScannedFile } from "./scanning/list-folder.js";
import type { Scan } from "./scanning/scan.js";
import { usablePart } from "./skipping.js";

/** The state of one file. */
interface KnownFile {
  /** The scan's entry from before it was read. */
  readonly found: ScannedFile;
  /** Its identity when it was read. Undefined if it could not be read, and its metadata were not looked at. */
  readonly identity: string | undefined;
  /** The hash of the bytes; undefined if they could not be read. */
  readonly digest: string | undefined;
  /** For a file with errors: its valid resources if the rest is skipped, otherwise none. */
  readonly resources: readonly PositionedResource[];
  /** Names whose content is unknown now: their applied content stays. */
  readonly kept: readonly NamedResource[];
  readonly findings: readonly Finding[];
  /** The resources' forms taken from a file of another kind, such as a bootstrap. */
  readonly adoptions: readonly Adoption[];
  /** Whether it had resources when it was last valid. */
  readonly held: boolean;
  /** Whether to read it again at the next look, whatever its metadata say. */
  readonly doubtful: boolean;
}

/** The result of reading the files that a scan found changed. */
export interface FolderReading {
  /** Paths, relative to the directory. */
  readonly read: readonly string[];
  readonly parsed: number;
  /** Whether any file has another content than before, or is gone or new. */
  readonly changed: boolean;
  /** Something was written to or went away while it was read. */
  readonly moved: boolean;
}

/** The result of reading a file, with a hash of its bytes if there are any. */
type FileRead =
  | (Extract<FileBytes, { readonly kind: "read" }> & { readonly digest: string })
  | Exclude<FileBytes, { readonly kind: "read" }>;

/** A file that was read, and that a thread must still parse. */
interface LongFile {
  readonly file: ScannedFile;
  readonly read: FileRead;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Adds the hash of the bytes. */
function withDigest(read: FileBytes): FileRead {
  return read.kind === "read" ? { ...read, digest: hash("sha256", read.bytes, "base64") } : read;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The number of files that are open at once: as many as Node's thread pool reads, and as many more in waiting. */
const parallel = 8;

/** All files of a folder as they were last read, and the layers that they make together. */
export class FolderContents {
  readonly #options: FullFolderOptions;
  readonly #files = new Map<string, KnownFile>();
  /** Files that the last scan may have missed, as they were: when they come back, their last good content is known. */
  readonly #missed = new Map<string, KnownFile>();
  readonly #types: ResourceTypes;
  readonly #bad = new Set<string>();
  readonly #warned = new Set<string>();
  readonly #adopted = new Map<string, readonly Adoption[]>();
  readonly #layers: readonly { readonly path: string; readonly index: LayerIndex }[];
  readonly #addresses: AddressClaims;
  readonly #thread: ReadingThread;

  /** The prefix that `join` would add; `join` costs more than everything else that is done with a path. */
  readonly #prefix: string;

  constructor(options: FullFolderOptions) {
    this.#options = options;
    this.#types = options.read?.types ?? resourceTypes;
    this.#prefix = join(options.directory, "a").slice(0, -1);
    this.#thread = new ReadingThread(options.read);
    this.#layers = options.layers.map(({ name, path }) => ({ path, index: new LayerIndex(name) }));
    this.#addresses = new AddressClaims(options.groups);
  }

  /** Ends reading in the thread. */
  close(): void {
    this.#thread.close();
  }

  get size(): number {
    return this.#files.size;
  }

  /** Of all files, relative to the directory. */
  get paths(): ReadonlySet<string> {
    return new Set(this.#files.keys());
  }

  /** The results of files of another kind than resources, in the order of their paths. */
  get adopted(): readonly AdoptedFile[] {
    return [...this.#adopted.keys()]
      .sort()
      .flatMap((path) => (this.#adopted.get(path) ?? []).map((adoption) => ({ file: this.#shown(path), ...adoption })));
  }

  get indexes(): readonly LayerIndex[] {
    return this.#layers.map(({ index }) => index);
  }

  /** The place of a resource's definition in a layer. */
  whereIs(layer: LayerName, resource: Pick<Resource, "type" | "key">): Where | undefined {
    return this.#indexOf(layer)?.whereIs(resource);
  }

  /** The file of a resource's definition, below the folder. */
  fileOf(layer: LayerName, resource: Pick<Resource, "type" | "key">): string | undefined {
    return this.#indexOf(layer)?.fileOf(resource);
  }

  #indexOf(layer: LayerName): LayerIndex | undefined {
    return this.#layers.find(({ index }) => index.layer === layer)?.index;
  }

  /** Whether any file is new, gone, or has other metadata than when it was read. */
  differs(scan: Scan): boolean {
    if (scan.files.size !== this.#files.size) return true;
    for (const file of scan.files.values()) if (this.#mustRead(file)) return true;
    return false;
  }

  /**
   * Reads the files that changed, and only those. An aborted reading leaves the rest as it was.
   *
   * @param patient whether a file that was written to meanwhile may be read again soon; if not, that is an error of
   * that file
   * @param atStart whether this is the first reading
   */
  async update(scan: Scan, patient: boolean, signal: AbortSignal, atStart = false): Promise<FolderReading> {
    const toRead = [...scan.files.values()].filter((file) => this.#mustRead(file));
    let parsed = 0;
    let changed = false;
    let moved = false;
    const mayMiss = this.#missedBy(scan);
    for (const path of this.#missed.keys()) if (!scan.files.has(path) && !mayMiss(path)) this.#missed.delete(path);
    for (const [path, file] of [...this.#files]) {
      if (scan.files.has(path)) continue;
      if (mayMiss(path)) this.#missed.set(path, file);
      this.#put(path, undefined);
      changed = true;
    }
    const long: LongFile[] = [];
    const note = (file: ScannedFile, read: FileRead, parse: (bytes: Uint8Array) => ResourceFile): void => {
      const before = this.#known(file.path);
      const next = this.#understand(file, before, patient, read, parse);
      if (next === undefined) {
        moved = true;
        return;
      }
      if (next.resources !== before?.resources || next.findings !== before.findings) {
        changed = true;
        if (next.digest !== undefined) parsed += 1;
      }
      if (this.#missed.delete(file.path)) changed = true;
      this.#put(file.path, next);
    };
    const take = (file: ScannedFile, read: FileRead): void => {
      if (this.#isForThread(file, read, atStart)) long.push({ file, read, bytes: new Uint8Array(read.bytes) });
      else note(file, read, (bytes) => this.#parse(file, bytes));
    };
    const { fileBytes } = this.#options.limits;
    await eachOf(toRead, parallel, async (file) => {
      if (!signal.aborted) take(file, withDigest(await readWholeFile(file.realPath, fileBytes)));
    });
    for (const { file, read, bytes } of long) {
      if (signal.aborted) break;
      const understood = await this.#parseElsewhere(file, bytes);
      if (signal.aborted) break;
      if ("kind" in understood) note(file, understood, (bytes) => this.#parse(file, bytes));
      else note(file, read, () => understood);
    }
    return { read: toRead.map(({ path }) => path), parsed, changed, moved };
  }

  /** Finds the errors of all files as they were last read. */
  judge(): Judgement {
    const files: JudgedFiles = {
      all: this.#files,
      bad: this.#bad,
      warned: this.#warned,
      layers: this.#layers,
      addresses: this.#addresses,
      shown: (path) => this.#shown(path),
    };
    return this.#options.skips ? judgeSkipping(files, this.#types) : judgeFiles(files);
  }

  /** The changes to apply: everything the first time, then the differences. */
  changes(kind: LayerUpdate["kind"], leftOut: ReadonlySet<string>): readonly (readonly [LayerIndex, IndexedChange])[] {
    return this.indexes.flatMap((index) => {
      const change = index.change(kind, leftOut);
      return change === undefined ? [] : [[index, change] as const];
    });
  }

  /** Whether a file has changed and takes so long to parse that streams must not wait for it. */
  #isForThread(file: ScannedFile, read: FileRead, atStart: boolean): read is FileRead & { readonly kind: "read" } {
    if (read.kind !== "read" || this.#known(file.path)?.digest === read.digest) return false;
    return this.#thread.takes(file.path, read.bytes.length, atStart);
  }

  /** The last state of a file, even if it was missed since. */
  #known(path: string): KnownFile | undefined {
    return this.#files.get(path) ?? this.#missed.get(path);
  }

  /** Tells whether a file that a scan did not find may still be there, or come back with its folder. */
  #missedBy({ moved, missing, findings }: Scan): (path: string) => boolean {
    const { directory } = this.#options;
    const places = missing.map(({ path }) => path);
    for (const { file = directory } of findings) places.push(relative(directory, file).replaceAll(sep, "/") || ".");
    return (path) => moved || places.some((place) => isWithin(path, place));
  }

  #mustRead(file: ScannedFile): boolean {
    const known = this.#files.get(file.path);
    if (known === undefined || known.doubtful) return true;
    // Its metadata were not looked at, because no event came since it was found.
    if (file.identity === undefined) return known.found !== file;
    return known.identity !== file.identity || known.found.realPath !== file.realPath;
  }

  /** Undefined if the file changed during the reading. */
  #understand(
    file: ScannedFile,
    before: KnownFile | undefined,
    patient: boolean,
    result: FileRead,
    parse: (bytes: Uint8Array) => ResourceFile,
  ): KnownFile | undefined {
    switch (result.kind) {
      case "moved":
        return patient ? undefined : this.#unread(file, before, "it is written to all the time", true);
      case "refused":
        return this.#unread(file, before, result.reason, result.doubtful);
      case "read": {
        const { bytes, identity, digest, doubtful } = result;
        if (before !== undefined && before.digest === digest) return { ...before, found: file, identity, doubtful };
        if (bytes.length === 0 && before?.held === true) {
          const message = "held resources and is empty now";
          const findings = [this.#finding(file, "XDSKIT_FILE_EMPTIED", message)];
          const part = this.#partOf({ resources: [], findings }, before);
          return { found: file, identity, digest, ...part, findings, adoptions: [], held: true, doubtful };
        }
        const parsed = parse(bytes);
        const { resources, findings, adoptions } = parsed;
        const well = findings.every(({ severity }) => severity !== "error");
        const part = well ? { resources, kept: [] } : this.#partOf(parsed, before);
        const held = well ? resources.length > 0 : before?.held === true;
        return { found: file, identity, digest, ...part, findings, adoptions, held, doubtful };
      }
    }
  }

  /** A file that cannot be read; the same object if it was unreadable before. */
  #unread(file: ScannedFile, before: KnownFile | undefined, reason: string, doubtful: boolean): KnownFile {
    const { identity } = file;
    const message = `cannot be read: ${reason}`;
    const same = before !== undefined && before.digest === undefined && before.findings[0]?.message === message;
    const findings = same ? before.findings : [this.#finding(file, "XDSKIT_FILE_UNREADABLE", message)];
    const part = same ? before : this.#partOf({ resources: [], findings }, before);
    const { resources, kept } = part;
    const held = before?.held === true;
    return { found: file, identity, digest: undefined, resources, kept, findings, adoptions: [], held, doubtful };
  }

  /** The part of a file with errors that counts. */
  #partOf(
    file: Pick<ResourceFile, "resources" | "findings">,
    before: KnownFile | undefined,
  ): Pick<KnownFile, "resources" | "kept"> {
    if (!this.#options.skips) return { resources: [], kept: [] };
    const names = before === undefined ? [] : [...before.resources.map(({ resource }) => resource), ...before.kept];
    const held = names.map(({ type, key }) => ({ type, key }));
    return usablePart(file, held, this.#types);
  }

  #parse(file: ScannedFile, bytes: Uint8Array): ResourceFile {
    try {
      return readResources({ path: this.#shown(file.path), bytes }, this.#options.read);
    } catch (error) {
      // Reading does not throw for bad content. If it still does, one file must not end the server.
      const message = `cannot be understood: ${textOf(error)}`;
      return { resources: [], findings: [this.#finding(file, "XDSKIT_SYNTAX", message)], version: "", adoptions: [] };
    }
  }

  /**
   * The same in a thread. If the thread ends, the file counts as not read, so that touching it is enough to try again.
   * It is not doubtful: if its content needs too much memory, each look at the folder would try in vain.
   */
  async #parseElsewhere(file: ScannedFile, bytes: Uint8Array<ArrayBuffer>): Promise<ResourceFile | FileRead> {
    try {
      return await this.#thread.file(this.#shown(file.path), bytes);
    } catch (error) {
      return { kind: "refused", reason: textOf(error), doubtful: false };
    }
  }

  #put(path: string, file: KnownFile | undefined): void {
    const before = this.#files.get(path);
    if (file === undefined) this.#files.delete(path);
    else this.#files.set(path, file);
    if (before !== undefined && before.resources === file?.resources && before.findings === file.findings) return;
    for (const layer of this.#layers) {
      if (!isWithin(path, layer.path)) continue;
      if (before !== undefined) {
        layer.index.remove(path, before.resources);
        this.#addresses.remove(layer.index.layer, before.resources);
        layer.index.release(path, before.kept);
      }
      if (file !== undefined) {
        layer.index.add(path, file.resources);
        this.#addresses.add(layer.index.layer, path, file.resources);
        layer.index.keep(path, file.kept);
      }
    }
    this.#bad.delete(path);
    this.#warned.delete(path);
    this.#adopted.delete(path);
    if (file === undefined) return;
    const isBad = file.findings.some(({ severity }) => severity === "error");
    if (!isBad && file.adoptions.length > 0) this.#adopted.set(path, file.adoptions);
    if (file.findings.length === 0) return;
    (isBad ? this.#bad : this.#warned).add(path);
  }

  #finding(file: ScannedFile, code: Finding["code"], message: string): Finding {
    return { code, severity: "error", message, file: this.#shown(file.path) };
  }

  #shown(path: string): string {
    return sep === "/" ? this.#prefix + path : join(this.#options.directory, path);
  }
}
