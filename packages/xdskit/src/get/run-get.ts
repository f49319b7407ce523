import { XdskitError } from "@xdskit/api";
import { longestTimerMs } from "../duration.js";
import { exitStatus } from "../exit-status.js";
import { reportFailure } from "../output/failure.js";
import type { Terminal } from "../output/terminal.js";
import { listenForStop } from "../serving/signals.js";
import { type ClientSession, openSession } from "../watch/client-session.js";
import { readClientSettings } from "../watch/client-settings.js";
import { closed, stopMs } from "../watch/run-watch.js";
import type { WatchEvent } from "../watch/watch-event.js";
import type { WatchOptions } from "../watch/watch-options.js";
import { type Answers, followAnswers } from "./answers.js";

/** How long answers are waited for, in milliseconds: longer than a client takes to decide that a name does not exist. */
const usualTimeoutMs = 30_000;

/** Prints what a server has, until all is answered; resolves to the exit status: 0, 1 where something was not found or nobody answered, 2 wrong usage. */
export async function runGet(options: WatchOptions, terminal: Terminal): Promise<number> {
  const signals = listenForStop();
  let session: ClientSession | undefined;
  // A reader who is slow gets all the same; who asked to stop does not wait for it.
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
        // It is tried again, until the time is over.
        else if (error.code !== "XDSKIT_UPSTREAM_AWAY") answers.answered(type, name, false);
      },
      event: (event) => {
        if (refusals.refused(event)) giveUp();
        if (event.kind === "error" && event.nack && event.type !== undefined) answers.incomplete(event.type);
      },
    });
    session = opened;
    for (const { type, names } of settings.wanted) for (const name of names) opened.subscribe(type, name);
    const end = await endOf(answers, refused, signals.stop, terminal.closed, options.timeoutMs ?? usualTimeoutMs);
    if (end === "stopped") patience = stopMs;
    if (opened.leftOut() > 0) terminal.err(`xdskit get: ${leftOutMessage(opened.leftOut())}\n`);
    if (end === "late") reportFailure(terminal, "get", lateMessage(answers, options.timeoutMs ?? usualTimeoutMs));
    return end === "found" || end === "stopped" ? exitStatus.ok : exitStatus.failed;
  } catch (error) {
    if (!(error instanceof XdskitError)) throw error;
    reportFailure(terminal, "get", error);
    return exitStatus.usage;
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

/** Follows who refuses to answer at all. */
function createRefusals(servers: number) {
  const refusing = new Set<string | undefined>();
  return {
    /** Whether there is nobody left who may answer. */
    refused: (event: WatchEvent): boolean => {
      if (event.kind === "upsert") refusing.clear();
      if (event.kind !== "error" || event.nack || event.name !== undefined || !final.has(event.code)) return false;
      return refusing.add(event.server).size >= servers;
    },
  };
}

type End = "found" | "missing" | "late" | "stopped";

async function endOf(
  answers: Answers,
  refused: Promise<unknown>,
  stop: Promise<unknown>,
  gone: Promise<unknown> | undefined,
  timeoutMs: number,
): Promise<End> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<End>((resolve) => {
    timer = setTimeout(() => resolve("late"), Math.min(timeoutMs, longestTimerMs));
  });
  const stopped = (): End => "stopped";
  try {
    return await Promise.race<End>([
      answers.all.then((found) => (found ? "found" : "missing")),
      late,
      refused.then(() => "missing"),
      stop.then(stopped),
      ...(gone === undefined ? [] : [gone.then(stopped)]),
    ]);
  } finally {
    clearTimeout(timer);
  }
}

function leftOutMessage(count: number): string {
  const what = count === 1 ? "the secrets of 1 resource are" : `the secrets of ${count} resources are`;
  return `${what} left out, so this output cannot be served again; add --show-secrets to print them`;
}

/** Names that are listed where nobody answered. */
const mostNames = 10;

function lateMessage(answers: Answers, timeoutMs: number): string {
  const open = answers.open();
  const more = open.length > mostNames ? ` and ${open.length - mostNames} more` : "";
  return `no answer within ${timeoutMs / 1000} s about ${open.slice(0, mostNames).join(", ")}${more}`;
}
