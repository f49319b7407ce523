import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** What one process says on standard output. */
export interface WorkerOutput {
  /** `grpc`, `rest` or `admin`, and the line that says where it listens. */
  listening(name: string, line: string): void;
  ready(): void;
}

/** Reads the lines by which a server says where it listens, and that it is ready. */
export function readWorkerOutput(output: Readable, told: WorkerOutput): void {
  createInterface(output).on("line", (line) => {
    const [, name] = /^(\w+) listening on /.exec(line) ?? [];
    if (name !== undefined) told.listening(name, line);
    else if (line === "ready") told.ready();
  });
}
