import { join } from "node:path";
import { type Ended, xdskit } from "./command.js";
import { type TestFolder, testFolder } from "./folder.js";
import { inProcessEnds, type RunningServer, servesHere } from "./in-process.js";

/** An `xdskit serve` on a folder and a state of its own, and the commands that speak with it. */
export interface Served extends AsyncDisposable {
  readonly folder: TestFolder;
  /** Of its gRPC listener. */
  readonly grpc: string;
  /** The URL of its admin listener. */
  readonly admin: string;
  readonly running: RunningServer;
  /** Runs a command with `--server`, to its end, in this process. */
  run(command: string, ...args: readonly string[]): Promise<Ended>;
  /** A file beside the folder. */
  file(name: string, text: string): Promise<string>;
  /** The body of an answer of the API. */
  ask(path: string): Promise<unknown>;
}

/** Starts it in this process, and waits until it is ready. */
export const served = (files: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Served> =>
  servedBy(servesHere, files, args);

/** The same in a process of its own. */
export const servedApart = (files: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Served> =>
  servedBy(xdskit, files, args);

async function servedBy(
  starts: (...args: readonly string[]) => RunningServer,
  files: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<Served> {
  const [folder, beside] = [await testFolder(files), await testFolder()];
  const ports = ["--grpc", "127.0.0.1:0", "--rest", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
  const state = join(beside.path, "state");
  const running = starts("serve", folder.path, "--state", state, "--settle", "20ms", ...ports, ...args);
  const end = async () => {
    await running[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
    await beside[Symbol.asyncDispose]();
  };
  try {
    const [, grpc = ""] = await running.seen(/^grpc listening on (\S+)$/m);
    const [, address = ""] = await running.seen(/^admin listening on (\S+)$/m);
    await running.seen(/^ready$/m);
    const admin = `http://${address}`;
    return {
      folder,
      grpc,
      admin,
      running,
      run: (command, ...more) => inProcessEnds(command, ...more, "--server", admin),
      file: (name, text) => beside.write(name, text),
      ask: async (path) => (await fetch(`${admin}${path}`)).json(),
      [Symbol.asyncDispose]: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}
