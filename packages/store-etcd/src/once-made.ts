import { XdskitError } from "@xdskit/api";
import { type EtcdClient, UnknownOutcome } from "./client/etcd-client.js";
import type { Transaction } from "./client/messages.js";

/** How often an operation is tried while its outcome is unknown, or others are faster. */
export const maxTries = 5;

/**
 * Makes a transaction once; resolves to the revision of the store that it made; undefined: a comparison does not hold.
 * `wasMade` is asked where an earlier try may have made it. Rejects with XDSKIT_STORE; `what` was to be written.
 */
export async function onceMade(
  client: EtcdClient,
  transaction: Transaction,
  what: string,
  wasMade: () => Promise<number | undefined>,
): Promise<number | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      const { succeeded, revision } = await client.transactionOnce(transaction);
      if (succeeded) return revision;
      return tries > 1 ? await wasMade() : undefined;
    } catch (error) {
      // Trying again tells: the keys are compared.
      if (!(error instanceof UnknownOutcome)) throw error;
      if (tries < maxTries) continue;
      const message = `nobody knows whether ${what} was written: ${error.message}`;
      throw XdskitError.of("XDSKIT_STORE", message, {}, { cause: error });
    }
  }
}
