import type { ApiServer } from "../api-client/api-server.js";
import { withServer } from "../api-client/with-server.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";

/** Asks a server whether it is ready, or whether it lives. Resolves to the exit status. */
export function runHealth(
  { server, live = false }: { readonly server: ApiServer; readonly live?: boolean },
  terminal: Terminal,
): Promise<number> {
  return withServer("health", { server }, terminal, async (client) => {
    terminal.out(await client.text(live ? "/livez" : "/readyz"));
    return exitStatus.ok;
  });
}
