import { firstWithin, listNames } from "@xdskit/api";
import { type ClientSession, openSession } from "../asking/client-session.js";
import { readClientSettings } from "../asking/client-settings.js";
import { closed, stopMs } from "../asking/close-session.js";
import type { WatchEvent } from "../asking/output/watch-event.js";
import type { WatchOptions } from "../asking/watch-options.js";
import { inputFailure, reportFailure } from "../output/failure.js";
import { tell } from "../output/screen/told.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { listenForStop } from "../process/signals.js";
import { type AwaitedAnswers, followAnswers } from "./answers.js";

/** How long to wait for answers, in milliseconds: longer than a client needs to decide that a name does not exist. */
const usualTimeoutMs = 30_000;

/**
 * Prints what a server has, until everything is answered. Resolves to the exit status: 0, 1 if something was not found
 * or there was no answer, 2 for wrong usage.
 */
export async function runGet(options: WatchOptions, terminal: Terminal): Promise<number> {
  const signals = listenForStop();
  let session: ClientSession | undefined;
  // A slow reader gets everything; after a signal the command does not wait for it.
  let patience: number | undefined;
  let giveUp: () => void = () => {};
  const refused = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  try {
    const settings = await readClientSettings(options);
    const answers = followAnswers(settings.wanted);
    const refusals = createRefusals(settings.client.servers?.length ?? 0);
    const opened = openSession(settings, options, terminal, {
      answered: (type, name, error) => {
        if (error === undefined) answers.answered(type, name, true);
        // The client tries again until the time is over.
        else if (error.code !== "XDSKIT_UPSTREAM_AWAY") answers.answered(type, name, false);
      },
      event: (event) => {
        if (refusals.refused(event)) giveUp();
        if (event.kind === "error" && event.nack && event.type !== undefined) answers.incomplete(event.type);
      },
    });
    session = opened;
    for (const { type, names } of settings.wanted) for (const name of names) opened.subscribe(type, name);
    const { timeoutMs = usualTimeoutMs } = options;
    const stopped = () => "stopped" as const;
    const end = await firstWithin<"found" | "missing" | "stopped">(timeoutMs, [
      answers.all.then((found) => (found ? "found" : "missing")),
      refused.then(() => "missing"),
      signals.stop.then(stopped),
      terminal.closed?.then(stopped),
    ]);
    if (end === "stopped") patience = stopMs;
    if (opened.leftOut() > 0) tell(terminal, `xdskit get: ${leftOutMessage(opened.leftOut())}\n`, "err");
    if (end === undefined) reportFailure(terminal, "get", lateMessage(answers, timeoutMs));
    return end === "found" || end === "stopped" ? exitStatus.ok : exitStatus.failed;
  } catch (error) {
    return inputFailure(terminal, "get", error);
  } finally {
    await closed(session, terminal, signals.stop, patience);
    signals.release();
  }
}

/** Statuses that another attempt does not change. */
const final: ReadonlySet<string> = new Set([
  "INVALID_ARGUMENT",
  "PERMISSION_DENIED",
  "UNAUTHENTICATED",
  "UNIMPLEMENTED",
]);

/** Follows the servers that refuse to answer. */
function createRefusals(servers: number) {
  const refusing = new Set<string | undefined>();
  return {
    /** Whether no server is left that may answer. */
    refused: (event: WatchEvent): boolean => {
      if (event.kind === "upsert") refusing.clear();
      if (event.kind !== "error" || event.nack || event.name !== undefined || !final.has(event.code)) return false;
      return refusing.add(event.server).size >= servers;
    },
  };
}

function leftOutMessage(count: number): string {
  const what = count === 1 ? "the secrets of 1 resource are" : `the secrets of ${count} resources are`;
  return `${what} left out, so this output cannot be served again; add --show-secrets to print them`;
}

function lateMessage(answers: AwaitedAnswers, timeoutMs: number): string {
  return `no answer within ${timeoutMs / 1000} s about ${listNames(answers.open())}`;
}
