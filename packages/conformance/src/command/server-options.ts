import { parseArgs } from "node:util";
import { create } from "@bufbuild/protobuf";
import { type ChannelCredentials, credentials } from "@grpc/grpc-js";
import { NodeSchema } from "@xdskit/api/envoy/config/core/v3/base";
import type { Check } from "../checks/contract/check.js";
import { startCommandDriver } from "../driver/command-driver.js";
import type { Driver } from "../driver/driver.js";
import { createUrlDriver } from "../driver/url-driver.js";
import type { RunOptions } from "../run/run-checks.js";
import {
  type CommonOptions,
  commonOptions,
  fileText,
  mostParallel,
  numberOption,
  parsedOptions,
  readCommonOptions,
} from "./common-options.js";
import { Usage } from "./usage.js";

/** What `server` is to do. */
export interface CheckServerOptions extends Omit<RunOptions, "onResult" | "driver">, CommonOptions<Check> {
  /** Starts the driver, if there is one. Its complaints go to `err`. */
  readonly startDriver: (err: (text: string) => void) => Driver | undefined;
}

const text = { type: "string" } as const;
const options = {
  ...commonOptions,
  "node-id": text,
  "node-cluster": text,
  header: { type: "string", multiple: true },
  "tls-ca": text,
  "tls-cert": text,
  "tls-key": text,
  "tls-server-name": text,
  parallel: text,
  seed: text,
  driver: text,
  "driver-url": text,
  rest: text,
} as const;

const largestSeed = 2 ** 32 - 1;

/** Reads the command line of `server`. Throws Usage. */
export function readServerOptions(args: readonly string[], all: readonly Check[]): CheckServerOptions {
  const { values, positionals } = parsedOptions(() => parseArgs({ args: [...args], options, allowPositionals: true }));
  const [address, ...more] = positionals;
  if (address === undefined || more.length > 0) throw new Usage("say one server: xds-conformance server HOST:PORT");
  if (!/^(?:.+:\d{1,5}|unix:.+)$/.test(address)) throw new Usage(`the server is HOST:PORT, not ${address}`);
  return {
    target: {
      address,
      credentials: credentialsOf(values),
      serverName: values["tls-server-name"],
      headers: headersOf(values.header ?? []),
    },
    node: create(NodeSchema, {
      id: values["node-id"] ?? "xds-conformance",
      cluster: values["node-cluster"] ?? "xds-conformance",
      userAgentName: "xds-conformance",
    }),
    ...readCommonOptions(values, all),
    parallel: numberOption("parallel", values.parallel, 8, mostParallel),
    seed: numberOption("seed", values.seed, 1, largestSeed),
    rest: restOf(values.rest),
    startDriver: driverOf(values.driver, values["driver-url"]),
  };
}

function driverOf(command: string | undefined, url: string | undefined): CheckServerOptions["startDriver"] {
  if (command !== undefined && url !== undefined) throw new Usage("say --driver or --driver-url, not both");
  if (url !== undefined && !/^https?:/.test(url)) throw new Usage("--driver-url is an http:// or https:// URL");
  if (url !== undefined) return () => createUrlDriver(url);
  return (err) => (command === undefined ? undefined : startCommandDriver(command, err));
}

function restOf(url: string | undefined): string | undefined {
  if (url !== undefined && !/^https?:\/\/[^/]/.test(url)) throw new Usage("--rest is an http:// or https:// URL");
  return url?.replace(/\/+$/, "");
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
