import type { ReadResourcesOptions, ResourceFile } from "@xdskit/api";
import { ReadingThread } from "@xdskit/api/threads";
import type { ConfigMap, ConfigMapFile } from "../objects/config-map.js";
import { objectKey } from "../objects/object-shape.js";

/** Reads the files of ConfigMaps that take long in a thread: streams do not wait for them. */
export class LongFiles {
  readonly #read: () => ReadResourcesOptions;
  #thread: ReadingThread | undefined;
  readonly #parsed = new WeakMap<ConfigMapFile, ResourceFile>();
  readonly #running = new Set<ConfigMap>();

  constructor(read: () => ReadResourcesOptions) {
    this.#read = read;
  }

  /** Some are being read. */
  get isReading(): boolean {
    return this.#running.size > 0;
  }

  has(configMap: ConfigMap): boolean {
    return this.#running.has(configMap);
  }

  /** Begins to read the long files of a ConfigMap, if it has any. */
  begin(configMap: ConfigMap, done: () => void): void {
    this.#thread ??= new ReadingThread(this.#read());
    const thread = this.#thread;
    const long = configMap.files.filter(({ name, text }) => thread.takes(name, text.length));
    if (long.length === 0) return;
    this.#running.add(configMap);
    const all = long.map(async (file) => this.#parsed.set(file, await parsed(thread, configMap, file)));
    void Promise.all(all).then(() => {
      this.#running.delete(configMap);
      done();
    });
  }

  /** Undefined: it is not long. */
  of(file: ConfigMapFile): ResourceFile | undefined {
    return this.#parsed.get(file);
  }

  close(): void {
    this.#thread?.close();
  }
}

/** What stands for a file in findings. */
export function shownPath(configMap: ConfigMap, { name }: Pick<ConfigMapFile, "name">): string {
  return `ConfigMap ${objectKey(configMap)}/${name}`;
}

export function bytesOf({ text, encoding }: ConfigMapFile): Uint8Array {
  return Buffer.from(text, encoding);
}

async function parsed(thread: ReadingThread, configMap: ConfigMap, file: ConfigMapFile): Promise<ResourceFile> {
  const path = shownPath(configMap, file);
  try {
    // The thread takes the memory over, which of a Buffer may be that of others.
    return await thread.file(path, new Uint8Array(bytesOf(file)));
  } catch (error) {
    const message = `cannot be read: ${(error as Error).message}`;
    const finding = { code: "XDSKIT_FILE_UNREADABLE", severity: "error", message, file: path } as const;
    return { resources: [], findings: [finding], version: "", adoptions: [] };
  }
}
