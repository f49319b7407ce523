import type { KnownFile, KnownFileReader, LongFile, ParsedLongFile } from "./known-file.js";
import type { ScannedFile } from "./scanning/list-folder.js";
import type { Scan } from "./scanning/scan.js";

/** What a round found of a file; undefined if it is gone. */
export type FileInRound = KnownFile | LongFile | undefined;

/** Files that were read in one round: they count together. */
type FilesOfRound = ReadonlyMap<string, FileInRound>;

/** The same, once none is to be parsed. */
export type KnownFiles = ReadonlyMap<string, KnownFile | undefined>;

export function isLong(file: FileInRound): file is LongFile {
  return file !== undefined && "read" in file;
}

/** Whether a file may have other bytes than when it was read. */
export function isOther(file: ScannedFile, { found, identity }: Pick<KnownFile, "found" | "identity">): boolean {
  // Its metadata were not looked at, because no event came since it was found.
  if (file.identity === undefined) return found !== file;
  return identity !== file.identity || found.realPath !== file.realPath;
}

interface LongRound {
  readonly files: FilesOfRound;
  /** The contents of its long files, once all are parsed. */
  parsed: ReadonlyMap<string, ParsedLongFile> | undefined;
}

/**
 * Rounds whose long files are being parsed. None of their files is read again before they are over, so rounds share no
 * file, and a file that is replaced again and again is still read. All other files are served meanwhile.
 */
export class LongRounds {
  readonly #reader: KnownFileReader;
  readonly #running = new Set<LongRound>();
  /** Files that changed while an earlier content of them was parsed: they belong to no later round. */
  readonly #late = new WeakSet<ScannedFile>();

  constructor(reader: KnownFileReader) {
    this.#reader = reader;
  }

  has(path: string): boolean {
    return this.#of(path) !== undefined;
  }

  /** Whether a file is not read now, because an earlier content of it is parsed. */
  holds(file: ScannedFile): boolean {
    const round = this.#of(file.path);
    if (round === undefined) return false;
    const known = round.files.get(file.path);
    if (known === undefined || isOther(file, known)) this.#late.add(file);
    return true;
  }

  /** Whether a link that led to files of a running round leads elsewhere: what it leads to now is one change. */
  isSwapped({ files }: Scan): boolean {
    for (const round of this.#running) {
      for (const [path, file] of round.files) {
        const now = files.get(path);
        if (now !== undefined && file !== undefined && now.realPath !== file.found.realPath) return true;
      }
    }
    return false;
  }

  /** Parses the long files of a round. The files that are returned belong to none of them, and count now. */
  begin(round: FilesOfRound): { readonly now: KnownFiles; readonly parsed: Promise<void> | undefined } {
    const long = new Map<string, LongFile>();
    const others = new Map<string, KnownFile | undefined>();
    for (const [path, file] of round) {
      if (isLong(file)) long.set(path, file);
      else others.set(path, file);
    }
    if (long.size === 0) return { now: others, parsed: undefined };
    const areLate = [...long.values()].every(({ found }) => this.#late.has(found));
    const running: LongRound = { files: areLate ? long : round, parsed: undefined };
    this.#running.add(running);
    const contents = Array.from(long, async ([path, file]) => [path, await this.#reader.parsed(file)] as const);
    const parsed = Promise.all(contents).then((all) => {
      running.parsed = new Map(all);
    });
    return { now: areLate ? others : new Map(), parsed };
  }

  /** The files of rounds that are over. */
  *takeParsed(): Iterable<KnownFiles> {
    for (const round of this.#running) {
      const { files, parsed } = round;
      if (parsed === undefined) continue;
      this.#running.delete(round);
      yield new Map(Array.from(files, ([path, file]) => [path, isLong(file) ? this.#known(file, parsed) : file]));
    }
  }

  #known(file: LongFile, parsed: ReadonlyMap<string, ParsedLongFile>): KnownFile | undefined {
    const content = parsed.get(file.found.path);
    return content && this.#reader.understoodLong(file, content);
  }

  #of(path: string): LongRound | undefined {
    for (const round of this.#running) if (round.files.has(path)) return round;
    return undefined;
  }
}
