import { relative, sep } from "node:path";
import { hasErrors, type Resource, type ResourceTypes, resourceTypes, type Where } from "@xdskit/api";
import type { LayerUpdate } from "../../contracts/source.js";
import type { LayerName } from "../../settings/group-settings.js";
import { AddressClaims } from "./address-claims.js";
import { isWithin } from "./folder-options.js";
import type { AdoptedFile } from "./folder-summary.js";
import type { FullFolderOptions } from "./full-folder-options.js";
import { type FolderJudgement, type JudgedFiles, judgeFiles, judgeSkipping } from "./judgement.js";
import { type KnownFile, KnownFileReader, type LongFile } from "./known-file.js";
import { type IndexedChange, LayerIndex } from "./layer-index.js";
import { type FileInRound, isLong, isOther, type KnownFiles, LongRounds } from "./long-rounds.js";
import { eachOf } from "./scanning/each-of.js";
import type { ScannedFile } from "./scanning/list-folder.js";
import type { Scan } from "./scanning/scan.js";

/** The result of reading the files that a scan found changed. */
export interface FolderReading {
  /** Whether any file differs from the last reading, or is gone or new. */
  readonly isChanged: boolean;
  /** Something was written to or went away while it was read. */
  readonly moved: boolean;
}

/** What counts now that did not count before. */
export interface CountedFiles {
  /** Paths, relative to the directory, of the files that were read. */
  readonly read: ReadonlySet<string>;
  readonly parsed: number;
  /** Whether any file has another content than before, or is gone or new. */
  readonly isChanged: boolean;
}

/** The number of files that are open at once: as many as Node's thread pool reads, and as many more in waiting. */
const parallel = 8;

/** All files of a folder as they were last read, and the layers that they make together. */
export class FolderContents {
  readonly #options: FullFolderOptions;
  /** What counts: the results of the rounds that are over. */
  readonly #files = new Map<string, KnownFile>();
  /** What this round found of files that differ from that. */
  #round = new Map<string, FileInRound>();
  readonly #longRounds: LongRounds;
  #counted = { read: new Set<string>(), parsed: 0, isChanged: false };
  /** Files that the last scan may have missed, as they were: when they come back, their last good content is known. */
  readonly #missed = new Map<string, KnownFile>();
  readonly #types: ResourceTypes;
  readonly #bad = new Set<string>();
  readonly #warned = new Set<string>();
  readonly #adopted = new Map<string, KnownFile["adoptions"]>();
  readonly #layers: readonly { readonly path: string; readonly index: LayerIndex }[];
  readonly #addresses: AddressClaims;
  readonly #reader: KnownFileReader;

  readonly #onParsed: () => void;

  /** `onParsed`: long files were parsed, so another round has something to count. */
  constructor(options: FullFolderOptions, onParsed: () => void) {
    this.#options = options;
    this.#onParsed = onParsed;
    this.#types = options.read?.types ?? resourceTypes;
    this.#reader = new KnownFileReader(options);
    this.#longRounds = new LongRounds(this.#reader);
    this.#layers = options.layers.map(({ name, path }) => ({ path, index: new LayerIndex(name) }));
    this.#addresses = new AddressClaims(options.groups);
  }

  /** Ends reading in the thread. */
  close(): void {
    this.#reader.close();
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
      .flatMap((path) =>
        (this.#adopted.get(path) ?? []).map((adoption) => ({ file: this.#reader.shown(path), ...adoption })),
      );
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
    for (const path of this.#files.keys()) if (!scan.files.has(path) && !this.#longRounds.has(path)) return true;
    const isSwapped = this.#longRounds.isSwapped(scan);
    for (const file of scan.files.values()) if (this.#mustRead(file, isSwapped)) return true;
    return false;
  }

  /**
   * Reads the files that changed, and only those. They count once the round is over. An aborted reading leaves the rest
   * as it was.
   *
   * @param patient whether a file that was written to meanwhile may be read again soon; if not, that is an error of
   * that file
   * @param atStart whether this is the first reading
   */
  async update(scan: Scan, patient: boolean, signal: AbortSignal, atStart = false): Promise<FolderReading> {
    let isChanged = this.#countParsed(scan);
    let moved = false;
    const isSwapped = this.#longRounds.isSwapped(scan);
    if (this.#findGone(scan, isSwapped)) isChanged = true;
    const toRead = [...scan.files.values()].filter((file) => this.#mustRead(file, isSwapped));
    await eachOf(toRead, parallel, async (file) => {
      if (signal.aborted) return;
      const before = this.#known(file.path);
      const read = await this.#reader.read(file);
      const long = this.#reader.long(file, read, before, atStart);
      const next = long ?? this.#reader.understood(file, before, patient, read);
      if (next === undefined) moved = true;
      else if (this.#found(file.path, next, before)) isChanged = true;
    });
    return { isChanged, moved };
  }

  /**
   * Ends the round: what was read in it counts now, or once its long files are parsed. With `waits` that is now.
   */
  async endRound(scan: Scan, waits: boolean): Promise<CountedFiles> {
    const { now, parsed } = this.#longRounds.begin(this.#round);
    this.#round = new Map();
    this.#count(now, scan);
    if (waits) {
      await parsed;
      this.#countParsed(scan);
    } else void parsed?.then(this.#onParsed);
    const counted = this.#counted;
    this.#counted = { read: new Set(), parsed: 0, isChanged: false };
    return counted;
  }

  /** Takes what a reading found into the round. False if the file is as it was. */
  #found(path: string, next: KnownFile | LongFile, before: KnownFile | undefined): boolean {
    if (!isLong(next) && isSame(next, this.#files.get(path))) {
      // It belongs to no change.
      this.#round.delete(path);
      this.#put(path, next);
      this.#counted.read.add(path);
    } else this.#round.set(path, next);
    return isLong(next) || !isSame(next, before) || this.#missed.has(path);
  }

  /** Finds files that are gone. */
  #findGone(scan: Scan, isSwapped: boolean): boolean {
    const mayMiss = this.#missedBy(scan);
    for (const path of this.#missed.keys()) if (!scan.files.has(path) && !mayMiss(path)) this.#missed.delete(path);
    // New in this round, and gone again.
    for (const path of this.#round.keys()) {
      if (!scan.files.has(path) && !this.#files.has(path)) this.#round.delete(path);
    }
    let found = false;
    for (const [path, file] of this.#files) {
      if (scan.files.has(path) || isSwapped || this.#longRounds.has(path)) continue;
      if (mayMiss(path)) this.#missed.set(path, file);
      if (this.#round.has(path) && this.#round.get(path) === undefined) continue;
      this.#round.set(path, undefined);
      found = true;
    }
    return found;
  }

  /** Rounds whose long files are parsed count now. */
  #countParsed(scan: Scan): boolean {
    let any = false;
    for (const round of this.#longRounds.takeParsed()) {
      this.#count(round, scan);
      any = true;
    }
    return any;
  }

  #count(round: KnownFiles, scan: Scan): void {
    for (const [path, file] of round) {
      // A file that is gone meanwhile does not come back with its round; one that came back is read again.
      if (scan.files.has(path) !== (file !== undefined)) continue;
      if (file !== undefined) {
        this.#counted.read.add(path);
        const before = this.#files.get(path) ?? this.#missed.get(path);
        if (file.digest !== undefined && file.digest !== before?.digest) this.#counted.parsed += 1;
        this.#missed.delete(path);
      }
      this.#counted.isChanged = true;
      this.#put(path, file);
    }
  }

  /** Finds the errors of all files as they were last read. */
  judge(): FolderJudgement {
    const files: JudgedFiles = {
      all: this.#files,
      bad: this.#bad,
      warned: this.#warned,
      layers: this.#layers,
      addresses: this.#addresses,
      shown: (path) => this.#reader.shown(path),
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

  /** The last state of a file, even if it was missed since. */
  #known(path: string): KnownFile | undefined {
    const inRound = this.#round.get(path);
    if (inRound !== undefined && !isLong(inRound)) return inRound;
    return this.#files.get(path) ?? this.#missed.get(path);
  }

  /** Tells whether a file that a scan did not find may still be there, or come back with its folder. */
  #missedBy({ moved, missing, findings }: Scan): (path: string) => boolean {
    const { directory } = this.#options;
    const places = missing.map(({ path }) => path);
    for (const { file = directory } of findings) places.push(relative(directory, file).replaceAll(sep, "/") || ".");
    return (path) => moved || places.some((place) => isWithin(path, place));
  }

  #mustRead(file: ScannedFile, isSwapped: boolean): boolean {
    if (isSwapped ? this.#longRounds.has(file.path) : this.#longRounds.holds(file)) return false;
    const known = this.#round.has(file.path) ? this.#round.get(file.path) : this.#files.get(file.path);
    // What a link leads to now counts together, and some of it must wait.
    if (isSwapped && known?.found.realPath !== file.realPath) return false;
    return known === undefined || known.doubtful || isOther(file, known);
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
    const isBad = hasErrors(file.findings);
    if (!isBad && file.adoptions.length > 0) this.#adopted.set(path, file.adoptions);
    if (file.findings.length === 0) return;
    (isBad ? this.#bad : this.#warned).add(path);
  }
}

function isSame(file: KnownFile, before: KnownFile | undefined): boolean {
  return file.resources === before?.resources && file.findings === before.findings;
}
