import type { Check } from "../checks/contract/check.js";
import { ClientPeer, type StartClient } from "../client/client-peer.js";
import { inOrder } from "./in-order.js";
import { type JudgeOptions, resultOf } from "./judge.js";
import type { Result } from "./result.js";

export interface ClientRunOptions extends JudgeOptions {
  readonly checks: readonly Check<ClientPeer>[];
  readonly start: StartClient;
  /** Checks at a time. */
  readonly parallel: number;
  /** Called for each result, in the order of the checks. */
  readonly onResult: (result: Result) => void;
}

/** Plays checks against a client, each with a client of its own. Always ends. */
export async function runClientChecks(options: ClientRunOptions): Promise<readonly Result[]> {
  const end = Date.now() + options.bounds.totalMs;
  const play = async (check: Check<ClientPeer>): Promise<Result> => {
    const client = new ClientPeer(options.start, options.bounds);
    const result = await resultOf(check, options, end, client.transcript, async () => await check.run(client));
    client.close();
    return result;
  };
  return await inOrder(options.checks, options.parallel, play, options.onResult);
}
