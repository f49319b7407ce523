import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { maxSmallBody, XdskitError } from "@xdskit/api";
import type { Credentials } from "./connection.js";

/** A program that says who the user is, as a kubeconfig has it. */
export interface ExecSettings {
  readonly apiVersion?: string;
  readonly command?: string;
  readonly args?: readonly string[] | null;
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null;
}

/** What the program prints. */
interface ExecCredential {
  readonly status?: {
    readonly token?: string;
    readonly clientCertificateData?: string;
    readonly clientKeyData?: string;
    readonly expirationTimestamp?: string;
  };
}

type OwnCredentials = Pick<Credentials, "token" | "cert" | "key">;

/** Asks the program, and keeps what it says until that ends. */
export interface ExecCredentials {
  /** The program ends once the signals of all who wait for it are aborted. */
  get(signal?: AbortSignal): Promise<OwnCredentials>;
  forget(): void;
}

/** What a program says, or will say. */
interface ProgramAnswer {
  readonly made: Promise<OwnCredentials>;
  readonly end: AbortController;
  until: number;
  waiting: number;
}

/** Clouds' programs ask their own servers. */
const patienceMs = 60_000;
/** Asked again a moment before the end. */
const spareMs = 10_000;

/** `folder`: a command with a path is relative to it. */
export function execCredentials(settings: ExecSettings, folder: string): ExecCredentials {
  let kept: ProgramAnswer | undefined;
  const drop = (answer: ProgramAnswer) => {
    if (kept === answer) kept = undefined;
  };
  const begin = (): ProgramAnswer => {
    const end = new AbortController();
    const made = ask(settings, folder, end.signal).then(({ until, ...credentials }) => {
      answer.until = until;
      return credentials;
    });
    const answer: ProgramAnswer = { made, end, until: Number.POSITIVE_INFINITY, waiting: 0 };
    made.catch(() => drop(answer));
    return answer;
  };
  return {
    get(signal) {
      if (kept === undefined || Date.now() >= kept.until) kept = begin();
      const answer = kept;
      answer.waiting++;
      const left = () => {
        answer.waiting--;
        if (answer.waiting > 0) return;
        drop(answer);
        answer.end.abort();
      };
      signal?.addEventListener("abort", left, { once: true });
      return answer.made.finally(() => signal?.removeEventListener("abort", left));
    },
    forget() {
      kept = undefined;
    },
  };
}

async function ask(
  { apiVersion, command = "", args, env }: ExecSettings,
  folder: string,
  signal: AbortSignal,
): Promise<OwnCredentials & { readonly until: number }> {
  const path = command.includes("/") ? resolve(folder, command) : command;
  const failed = (reason: string) =>
    XdskitError.of("XDSKIT_KUBECONFIG", `${JSON.stringify(command)} of users.exec gives no credentials: ${reason}`);
  const info = { kind: "ExecCredential", apiVersion, spec: { interactive: false } };
  const own = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
  const running = promisify(execFile)(path, [...(args ?? [])], {
    env: { ...process.env, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    timeout: patienceMs,
    killSignal: "SIGKILL",
    signal,
    maxBuffer: maxSmallBody,
  });
  // At the abort, Node sends only SIGTERM, which a program may ignore.
  signal.addEventListener("abort", () => running.child.kill("SIGKILL"), { once: true });
  const { stdout } = await running.catch(
    ({ code, killed }: { readonly code?: string | number; readonly killed?: boolean }) => {
      // What it printed may hold a token.
      throw failed(killed === true ? `it did not end within ${patienceMs / 1000} s` : `it ended with ${code}`);
    },
  );
  const status = statusIn(stdout);
  if (status === undefined) throw failed("what it prints is no ExecCredential with a status");
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  const end = expirationTimestamp === undefined ? Number.NaN : Date.parse(expirationTimestamp);
  return { token, cert, key, until: Number.isNaN(end) ? Number.POSITIVE_INFINITY : end - spareMs };
}

function statusIn(text: string): ExecCredential["status"] {
  try {
    return (JSON.parse(text) as ExecCredential).status;
  } catch {
    return undefined;
  }
}
