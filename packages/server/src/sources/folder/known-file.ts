import { hash } from "node:crypto";
import { join, sep } from "node:path";
import {
  type Adoption,
  type Finding,
  messageOf,
  type PositionedResource,
  type ResourceFile,
  type ResourceTypes,
  readResources,
  resourceTypes,
} from "@xdskit/api";
import { type FileBytes, readWholeFile } from "@xdskit/api/disk";
import { ReadingThread } from "@xdskit/api/threads";
import type { FullFolderOptions } from "./full-folder-options.js";
import type { TypeAndKey } from "./kept-names.js";
import type { ScannedFile } from "./scanning/list-folder.js";
import { usablePart } from "./skipping.js";

/** The state of one file. */
export interface KnownFile {
  /** The scan's entry from before it was read. */
  readonly found: ScannedFile;
  /** Its identity when it was read. Undefined if it could not be read, and its metadata were not looked at. */
  readonly identity: string | undefined;
  /** The hash of the bytes; undefined if they could not be read. */
  readonly digest: string | undefined;
  /** For a file with errors: its valid resources if the rest is skipped, otherwise none. */
  readonly resources: readonly PositionedResource[];
  /** Names whose content is unknown now: their applied content stays. */
  readonly kept: readonly TypeAndKey[];
  readonly findings: readonly Finding[];
  /** The resources' forms taken from a file of another kind, such as a bootstrap. */
  readonly adoptions: readonly Adoption[];
  /** Whether it had resources when it was last valid. */
  readonly hadResources: boolean;
  /** Whether to read it again at the next look, whatever its metadata say. */
  readonly doubtful: boolean;
}

/** The result of reading a file, with a hash of its bytes if there are any. */
export type FileRead =
  | (Extract<FileBytes, { readonly kind: "read" }> & { readonly digest: string })
  | Exclude<FileBytes, { readonly kind: "read" }>;

/** A file that was read, and that a thread parses. */
export interface LongFile extends Pick<KnownFile, "found" | "identity" | "doubtful"> {
  /** Its last state. */
  readonly before: KnownFile | undefined;
  readonly read: Extract<FileRead, { readonly kind: "read" }>;
}

/** The content of a long file, or why there is none. */
export type ParsedLongFile = ResourceFile | FileRead;

/** Reads the files of a folder, and understands them. */
export class KnownFileReader {
  readonly #options: FullFolderOptions;
  readonly #types: ResourceTypes;
  readonly #thread: ReadingThread;
  /** The prefix that `join` would add; `join` costs more than everything else that is done with a path. */
  readonly #prefix: string;

  constructor(options: FullFolderOptions) {
    this.#options = options;
    this.#types = options.read?.types ?? resourceTypes;
    this.#thread = new ReadingThread(options.read);
    this.#prefix = join(options.directory, "a").slice(0, -1);
  }

  /** Ends reading in the thread. */
  close(): void {
    this.#thread.close();
  }

  /** As findings show a path. */
  shown(path: string): string {
    return sep === "/" ? this.#prefix + path : join(this.#options.directory, path);
  }

  async read({ realPath }: ScannedFile): Promise<FileRead> {
    const read = await readWholeFile(realPath, this.#options.limits.fileBytes);
    return read.kind === "read" ? { ...read, digest: hash("sha256", read.bytes, "base64") } : read;
  }

  /** What was read, if it differs from before and takes so long to parse that streams must not wait for it. */
  long(found: ScannedFile, read: FileRead, before: KnownFile | undefined, atStart: boolean): LongFile | undefined {
    if (read.kind !== "read" || before?.digest === read.digest) return undefined;
    if (!this.#thread.takes(found.path, read.bytes.length, atStart)) return undefined;
    return { found, before, read, identity: read.identity, doubtful: read.doubtful };
  }

  /**
   * Parses a file in a thread. If the thread ends, the file counts as not read, so that touching it is enough to try
   * again. It is not doubtful: if its content needs too much memory, each look at the folder would try in vain.
   */
  async parsed({ found, read }: LongFile): Promise<ParsedLongFile> {
    try {
      return await this.#thread.file(this.shown(found.path), new Uint8Array(read.bytes));
    } catch (error) {
      return { kind: "refused", reason: messageOf(error), doubtful: false };
    }
  }

  /** The state of a long file that was parsed. */
  understoodLong({ found, before, read }: LongFile, parsed: ParsedLongFile): KnownFile {
    if (!("kind" in parsed)) return this.#understoodBytes(found, before, read, parsed);
    return this.#unread(found, before, parsed.kind === "refused" ? parsed.reason : "it was moved", false);
  }

  /**
   * The state of a file that was read. Undefined if the file changed during the reading.
   *
   * @param patient whether a file that was written to meanwhile may be read again soon; if not, that is its error
   */
  understood(
    file: ScannedFile,
    before: KnownFile | undefined,
    patient: boolean,
    result: FileRead,
  ): KnownFile | undefined {
    switch (result.kind) {
      case "moved":
        return patient ? undefined : this.#unread(file, before, "it is written to all the time", true);
      case "refused":
        return this.#unread(file, before, result.reason, result.doubtful);
      case "read": {
        const { bytes, identity, digest, doubtful } = result;
        if (before !== undefined && before.digest === digest) return { ...before, found: file, identity, doubtful };
        if (bytes.length === 0 && before?.hadResources === true) {
          const message = "had resources and is empty now";
          const findings = [this.#finding(file, "XDSKIT_FILE_EMPTIED", message)];
          const part = this.#partOf({ resources: [], findings }, before);
          return { found: file, identity, digest, ...part, findings, adoptions: [], hadResources: true, doubtful };
        }
        return this.#understoodBytes(file, before, result, this.#parse(file, bytes));
      }
    }
  }

  #understoodBytes(
    found: ScannedFile,
    before: KnownFile | undefined,
    { identity, digest, doubtful }: Extract<FileRead, { readonly kind: "read" }>,
    parsed: ResourceFile,
  ): KnownFile {
    const { resources, findings, adoptions } = parsed;
    const well = findings.every(({ severity }) => severity !== "error");
    const part = well ? { resources, kept: [] } : this.#partOf(parsed, before);
    const hadResources = well ? resources.length > 0 : before?.hadResources === true;
    return { found, identity, digest, ...part, findings, adoptions, hadResources, doubtful };
  }

  /** A file that cannot be read; the same object if it was unreadable before. */
  #unread(file: ScannedFile, before: KnownFile | undefined, reason: string, doubtful: boolean): KnownFile {
    const { identity } = file;
    const message = `cannot be read: ${reason}`;
    const same = before !== undefined && before.digest === undefined && before.findings[0]?.message === message;
    const findings = same ? before.findings : [this.#finding(file, "XDSKIT_FILE_UNREADABLE", message)];
    const part = same ? before : this.#partOf({ resources: [], findings }, before);
    const { resources, kept } = part;
    const hadResources = before?.hadResources === true;
    return {
      found: file,
      identity,
      digest: undefined,
      resources,
      kept,
      findings,
      adoptions: [],
      hadResources,
      doubtful,
    };
  }

  /** The part of a file with errors that counts. */
  #partOf(
    file: Pick<ResourceFile, "resources" | "findings">,
    before: KnownFile | undefined,
  ): Pick<KnownFile, "resources" | "kept"> {
    if (!this.#options.skips) return { resources: [], kept: [] };
    const names = before === undefined ? [] : [...before.resources.map(({ resource }) => resource), ...before.kept];
    const named = names.map(({ type, key }) => ({ type, key }));
    return usablePart(file, named, this.#types);
  }

  #parse(file: ScannedFile, bytes: Uint8Array): ResourceFile {
    try {
      return readResources({ path: this.shown(file.path), bytes }, this.#options.read);
    } catch (error) {
      // Reading does not throw for bad content. If it still does, one file must not end the server.
      const message = `cannot be understood: ${messageOf(error)}`;
      return { resources: [], findings: [this.#finding(file, "XDSKIT_SYNTAX", message)], version: "", adoptions: [] };
    }
  }

  #finding(file: ScannedFile, code: Finding["code"], message: string): Finding {
    return { code, severity: "error", message, file: this.shown(file.path) };
  }
}
