import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Process, startProcess } from "../harness/basics/process.js";
import { eventually, within } from "../harness/basics/wait.js";
import { judgeBootstrap } from "./bootstrap.js";
import { type DeltaServer, startDeltaServer } from "./delta-server.js";

/** A resource to be judged, as it goes over the wire. */
export interface Candidate {
  readonly typeUrl: string;
  readonly name: string;
  readonly body: Uint8Array;
}

/** What Envoy makes of it: takes it, refuses it with a reason, ends because of it, or says nothing of it. */
export type Verdict =
  | { readonly is: "taken" }
  | { readonly is: "refused"; readonly reason: string }
  | { readonly is: "crash" | "silent" };

/** Called with the names of what was taken, while Envoy has it; the address is that of its admin listener. */
export type WhileTaken = (names: ReadonlySet<string>, admin: string) => Promise<void>;

/**
 * A real Envoy that judges resources, one by one, over one delta ADS stream; it is started again where one of them
 * ends it.
 */
export interface EnvoyJudge {
  judge(candidates: readonly Candidate[], whileTaken?: WhileTaken): Promise<readonly Verdict[]>;
  /** The `host:port` of its admin listener at present. */
  admin(): string;
  close(): Promise<void>;
}

/** Types of which Envoy wants all there are: what was judged is removed again. */
const wildcard = /\.(Cluster|Listener|ScopedRouteConfiguration)$/;
const runtimeType = "type.googleapis.com/envoy.service.runtime.v3.Runtime";
/** How many are on their way at once. */
const batchSize = 40;
const patienceMs = 30_000;
/** How long each step of a start may take: many tests may start at once. */
const startMs = 60_000;

type Batch = readonly Candidate[];
type Heard = (Verdict | undefined)[];

/** Starts an Envoy, given its executable. */
export async function startEnvoyJudge(path: string): Promise<EnvoyJudge> {
  const directory = await mkdtemp(join(tmpdir(), "xdskit-corpus-"));
  const removeFiles = () => rm(directory, { recursive: true, force: true });
  const server = await startDeltaServer().catch(async (error: unknown) => {
    await removeFiles();
    throw error;
  });
  let starts = 0;
  const start = (): Promise<Running> => startEnvoy(path, directory, server, starts++);
  let running = await start().catch(async (error: unknown) => {
    // Nobody has anything yet that could be closed.
    server.close();
    await removeFiles();
    throw error;
  });

  /** What was heard of each; `whole` where Envoy lived through it. */
  async function together(batch: Batch, whileTaken?: WhileTaken): Promise<{ heard: Heard; whole: boolean }> {
    const heard: Heard = batch.map(() => undefined);
    const answers = batch.map(async ({ typeUrl, name, body }, index) => {
      const { error } = await server.send(typeUrl, [{ name, body }]);
      heard[index] = error === undefined ? { is: "taken" } : { is: "refused", reason: reasonOf(error, name) };
    });
    const { ended } = running.process;
    const answered = (awaited: Promise<unknown>): Promise<boolean> => isInTime(awaited, ended);
    // Envoy takes responses in order: once this is answered, all before it are decided. While a cluster warms, it
    // keeps the answers back.
    if (!(await answered(settle(server)))) return { heard, whole: false };
    if (whileTaken !== undefined) {
      const here = batch.filter((_, index) => heard[index]?.is !== "refused");
      await whileTaken(new Set(here.map(({ name }) => name)), running.admin);
    }
    const removals = [...new Set(batch.map(({ typeUrl }) => typeUrl))]
      .filter((typeUrl) => wildcard.test(typeUrl))
      .map((typeUrl) => {
        const names = batch.filter((each) => each.typeUrl === typeUrl).map(({ name }) => name);
        return server.send(typeUrl, [], names);
      });
    return { heard, whole: await answered(Promise.all([...answers, ...removals, settle(server)])) };
  }

  /** Where Envoy ends, the one that did it is found: mostly the first that was not answered. */
  async function decide(batch: Batch, whileTaken?: WhileTaken): Promise<readonly Verdict[]> {
    if (batch.length === 0) return [];
    const { heard, whole } = await together(batch, whileTaken);
    if (whole) return heard.map((verdict) => verdict ?? { is: "silent" });
    const is = running.process.isRunning() ? "silent" : "crash";
    await running.process.stop("SIGKILL");
    server.reset();
    running = await start();
    const first = heard.indexOf(undefined);
    if (batch.length === 1 || first === -1) return heard.map((verdict) => verdict ?? { is });
    const before = heard.slice(0, first) as Verdict[];
    const [suspect] = await decide(batch.slice(first, first + 1));
    const rest = batch.slice(first + 1);
    const half = suspect?.is === is ? rest.length : rest.length >> 1;
    return [...before, suspect!, ...(await decide(rest.slice(0, half))), ...(await decide(rest.slice(half)))];
  }

  return {
    async judge(candidates, whileTaken) {
      const verdicts: Verdict[] = [];
      for (let from = 0; from < candidates.length; from += batchSize) {
        verdicts.push(...(await decide(candidates.slice(from, from + batchSize), whileTaken)));
      }
      return verdicts;
    },
    admin: () => running.admin,
    async close() {
      await running.process.stop("SIGKILL");
      server.close();
      await removeFiles();
    },
  };
}

/** Whether it came before Envoy's end, and within reason. */
async function isInTime(awaited: Promise<unknown>, ended: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), patienceMs);
  });
  try {
    return await Promise.race([ended.then(() => false), late, awaited.then(() => true)]);
  } finally {
    clearTimeout(timer);
  }
}

interface Running {
  readonly process: Process;
  readonly admin: string;
}

async function startEnvoy(path: string, directory: string, server: DeltaServer, number: number): Promise<Running> {
  const prefix = join(directory, `envoy-${number}`);
  await writeFile(`${prefix}.yaml`, stringify(judgeBootstrap(server.address)));
  const process = startProcess({
    name: "envoy",
    command: path,
    cwd: directory,
    args: [
      ...["--config-path", `${prefix}.yaml`, "--admin-address-path", `${prefix}.admin`, "--use-dynamic-base-id"],
      ...["--concurrency", "1", "--drain-time-s", "1", "--drain-strategy", "immediate"],
      ...["--log-level", globalThis.process.env.XDSKIT_E2E_ENVOY_LOG ?? "error"],
      // Fields that it does not know must not pass unseen.
      "--reject-unknown-dynamic-fields",
    ],
  });
  try {
    return { process, admin: await adminOf(process, `${prefix}.admin`, server) };
  } catch (error) {
    await process.stop("SIGKILL");
    throw error;
  }
}

/** The address of its admin listener, once it asks for the resources to judge. */
async function adminOf(process: Process, file: string, server: DeltaServer): Promise<string> {
  const ended = (): Error => new Error(`Envoy ended: ${process.stderr.slice(-5).join("\n")}`);
  const step = async (what: string, done: Promise<unknown>): Promise<void> => {
    const end = process.ended.then(() => Promise.reject(ended()));
    await within(what, startMs, Promise.race([done, end]));
  };
  const admin = await eventually(
    "Envoy's admin address",
    async () => {
      if (!process.isRunning()) return "";
      const text = await readFile(file, "utf8");
      return text !== "" && text;
    },
    { withinMs: startMs },
  );
  if (admin === "") throw ended();
  await step("the subscription to the runtime", server.subscribed(runtimeType));
  await step("the answer to the runtime", settle(server));
  for (const type of ["cluster.v3.Cluster", "listener.v3.Listener"]) {
    const typeUrl = `type.googleapis.com/envoy.config.${type}`;
    await step(`the subscription to ${type}`, server.subscribed(typeUrl));
    await step(`the answer to an empty ${type}`, server.send(typeUrl, []));
  }
  return admin;
}

/** An empty runtime, answered at once. */
async function settle(server: DeltaServer): Promise<void> {
  await server.send(runtimeType, [{ name: "runtime", body: new Uint8Array([10, 7, ...Buffer.from("runtime")]) }]);
}

/** Without what Envoy says of all such errors, and without the resource's own name. */
function reasonOf(error: string, name: string): string {
  return (name === "" ? error : error.replaceAll(name, "NAME"))
    .replace(/^Error adding\/updating (listener|cluster)\(s\) NAME: /, "")
    .trim();
}
