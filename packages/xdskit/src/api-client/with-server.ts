import { XdskitError } from "@xdskit/api";
import { reportFailure } from "../output/failure.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { type ApiClient, createApiClient } from "./api-client.js";
import { ApiError } from "./api-error.js";
import type { ApiServer } from "./api-server.js";

/** How long the server may take to make a change durable. */
const answerMs = 60_000;

/** Runs a command that speaks with a server; says why it failed. Resolves to the exit status. */
export async function withServer(
  command: string,
  { server }: { readonly server: ApiServer },
  terminal: Terminal,
  run: (client: ApiClient) => Promise<number>,
): Promise<number> {
  const client = createApiClient({ server, timeoutMs: answerMs });
  try {
    return await run(client);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const [first, ...more] = error.findings;
    // Findings say more than the message: which resource, and where it is written.
    reportFailure(terminal, command, first === undefined ? error : new XdskitError([first, ...more]));
    return exitStatus.failed;
  } finally {
    client.close();
  }
}
