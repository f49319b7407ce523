import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { create } from "@bufbuild/protobuf";
import { type ChannelCredentials, credentials } from "@grpc/grpc-js";
import { didYouMean } from "@xdskit/api";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import type { Check } from "../checks/contract/check.js";
import { startCommandDriver } from "../driver/command-driver.js";
import type { Driver } from "../driver/driver.js";
import { createUrlDriver } from "../driver/url-driver.js";
import type { Expected } from "../run/result.js";
import type { RunOptions } from "../run/run-checks.js";
import { defaultBounds } from "../verdicts/bounds.js";
import { Usage } from "./usage.js";

/** What `server` is to do. */
export interface ServerOptions extends Omit<RunOptions, "onResult" | "driver"> {
  /** Starts the driver, if there is one. Its complaints go to `err`. */
  readonly startDriver: (err: (text: string) => void) => Driver | undefined;
  readonly junit: string | undefined;
  readonly json: string | undefined;
}

const text = { type: "string" } as const;
const options = {
  only: text,
  requirements: text,
  "expected-failures": text,
  junit: text,
  json: text,
  "node-id": text,
  "node-cluster": text,
  header: { type: "string", multiple: true },
  "tls-ca": text,
  "tls-cert": text,
  "tls-key": text,
  "answer-ms": text,
  "quiet-ms": text,
  "total-ms": text,
  parallel: text,
  driver: text,
  "driver-url": text,
} as const;

/** Longer waits would not end in a day. */
const longestMs = 86_400_000;
const mostParallel = 64;
const maxFile = 1 << 20;

/** Reads the command line of `server`. Throws Usage. */
export function readServerOptions(args: readonly string[], all: readonly Check[]): ServerOptions {
  const { values, positionals } = parsed(args);
  const [address, ...more] = positionals;
  if (address === undefined || more.length > 0) throw new Usage("say one server: xds-conformance server HOST:PORT");
  if (!/^(?:.+:\d{1,5}|unix:.+)$/.test(address)) throw new Usage(`the server is HOST:PORT, not ${address}`);
  const requirements = values.requirements ?? "9999-12";
  if (!/^\d{4}-\d\d$/.test(requirements)) throw new Usage("--requirements is a year and a month, such as 2026-12");
  const number = (name: "answer-ms" | "quiet-ms" | "total-ms" | "parallel", usual: number, most: number): number => {
    const value = values[name] === undefined ? usual : Number(values[name]);
    if (!Number.isInteger(value) || value < 1 || value > most)
      throw new Usage(`--${name} is a number from 1 to ${most}`);
    return value;
  };
  const answerMs = number("answer-ms", defaultBounds.answerMs, longestMs);
  const quietMs = number("quiet-ms", defaultBounds.quietMs, longestMs);
  return {
    target: { address, credentials: credentialsOf(values), headers: headersOf(values.header ?? []) },
    node: create(NodeSchema, {
      id: values["node-id"] ?? "xds-conformance",
      cluster: values["node-cluster"] ?? "xds-conformance",
      userAgentName: "xds-conformance",
    }),
    bounds: {
      answerMs,
      quietMs,
      // The longest check waits for a few answers and quiet times.
      checkMs: Math.max(defaultBounds.checkMs, 4 * answerMs + 8 * quietMs),
      totalMs: number("total-ms", defaultBounds.totalMs, longestMs),
    },
    checks: values.only === undefined ? all : chosen(values.only, all),
    requirements,
    expected: expectedFailures(values["expected-failures"], all),
    parallel: number("parallel", 8, mostParallel),
    junit: values.junit,
    json: values.json,
    startDriver: driverOf(values.driver, values["driver-url"]),
  };
}

function driverOf(command: string | undefined, url: string | undefined): ServerOptions["startDriver"] {
  if (command !== undefined && url !== undefined) throw new Usage("say --driver or --driver-url, not both");
  if (url !== undefined && !/^https?:/.test(url)) throw new Usage("--driver-url is an http:// or https:// URL");
  if (url !== undefined) return () => createUrlDriver(url);
  return (err) => (command === undefined ? undefined : startCommandDriver(command, err));
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new Usage(error instanceof Error ? error.message : String(error));
  }
}

/** The check of this identifier. Throws Usage if there is none. */
export function checkOf(id: string, all: readonly Check[]): Check {
  const check = all.find((one) => one.id === id);
  if (check !== undefined) return check;
  const ids = all.map((one) => one.id);
  throw new Usage(`there is no check ${id}${didYouMean(id, ids)}; xds-conformance list has all`);
}

function chosen(only: string, all: readonly Check[]): readonly Check[] {
  const wanted = new Set(
    only.split(",").flatMap((id) => {
      if (!id.endsWith("*")) return [checkOf(id, all)];
      const found = all.filter((check) => check.id.startsWith(id.slice(0, -1)));
      if (found.length === 0) throw new Usage(`no check begins with ${id.slice(0, -1)}; xds-conformance list has all`);
      return found;
    }),
  );
  return all.filter((check) => wanted.has(check));
}

/** Reads `ID`, or `ID sometimes`, a line; `#` begins a remark. */
function expectedFailures(file: string | undefined, all: readonly Check[]): ReadonlyMap<string, Expected> {
  if (file === undefined) return new Map();
  const lines = fileText(file)
    .split("\n")
    .map((line) => line.replace(/#.*/, "").trim().split(/\s+/))
    .filter(([id]) => id !== "");
  return new Map(
    lines.map(([id = "", how = "fails", ...more]) => {
      if ((how !== "fails" && how !== "sometimes") || more.length > 0) {
        throw new Usage(`${file} has a line that is neither ID nor ID sometimes: ${id} ${[how, ...more].join(" ")}`);
      }
      return [checkOf(id, all).id, how];
    }),
  );
}

/** Throws Usage if it cannot be read. */
function fileText(file: string): string {
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch (error) {
    throw new Usage(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (content.length > maxFile) throw new Usage(`${file} is larger than ${maxFile} bytes`);
  return content.toString("utf8");
}

function headersOf(headers: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    headers.map((header) => {
      const [, name, value] = /^([\w.-]+)=(.*)$/.exec(header) ?? [];
      // The value may be a secret.
      if (name === undefined || value === undefined) throw new Usage("--header is NAME=VALUE");
      return [name, value];
    }),
  );
}

interface TlsValues {
  readonly "tls-ca"?: string | undefined;
  readonly "tls-cert"?: string | undefined;
  readonly "tls-key"?: string | undefined;
}

function credentialsOf({ "tls-ca": ca, "tls-cert": cert, "tls-key": key }: TlsValues): ChannelCredentials {
  if ((cert === undefined) !== (key === undefined)) throw new Usage("--tls-cert and --tls-key belong together");
  if (ca === undefined && cert === undefined) return credentials.createInsecure();
  const content = (file: string | undefined) => (file === undefined ? null : Buffer.from(fileText(file)));
  try {
    return credentials.createSsl(content(ca), content(key), content(cert));
  } catch (error) {
    throw new Usage(`the certificates cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  }
}
