import type { XdskitError } from "@xdskit/api";
import type { Source, SourceSink } from "@xdskit/server";

/**
 * Stands for a folder as new settings name it, which was refused and is closed. It never starts, and takes nobody's
 * place. Until it is closed, the server tells its errors beside what it tells of the folder in use.
 */
export class RefusedFolder implements Source {
  readonly name: string;
  readonly error: XdskitError;
  #end: () => void = () => {};

  constructor(name: string, error: XdskitError) {
    this.name = name;
    this.error = error;
  }

  start(sink: SourceSink): Promise<never> {
    return new Promise((_, reject) => {
      this.#end = () => {
        sink.ended?.();
        reject(this.error);
      };
      sink.report(this.error.findings);
    });
  }

  async close(): Promise<void> {
    this.#end();
  }
}
