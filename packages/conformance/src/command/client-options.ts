import { parseArgs } from "node:util";
import type { Check } from "../checks/contract/check.js";
import type { ClientPeer } from "../client/client-peer.js";
import {
  type CommonOptions,
  commonOptions,
  mostParallel,
  numberOption,
  parsedOptions,
  readCommonOptions,
} from "./common-options.js";
import { Usage } from "./usage.js";

/** What `client` is to do. */
export interface CheckClientOptions extends CommonOptions<Check<ClientPeer>> {
  /** Checks at a time. */
  readonly parallel: number;
  /** The client and its arguments. */
  readonly command: readonly string[];
}

/** Reads the command line of `client`. Throws Usage. */
export function readClientOptions(args: readonly string[], all: readonly Check<ClientPeer>[]): CheckClientOptions {
  const end = args.indexOf("--");
  const command = end === -1 ? [] : args.slice(end + 1);
  if (command.length === 0) throw new Usage("say how the client is started: xds-conformance client -- CMD …");
  const own = args.slice(0, end);
  const { values } = parsedOptions(() =>
    parseArgs({ args: [...own], options: { ...commonOptions, parallel: { type: "string" } } }),
  );
  const parallel = numberOption("parallel", values.parallel, 4, mostParallel);
  return { ...readCommonOptions(values, all), parallel, command };
}
