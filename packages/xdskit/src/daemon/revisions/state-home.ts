import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** The folder that the environment says for states: systemd's, else one among the user's files. */
export function stateHome(env: Readonly<Record<string, string | undefined>>): string {
  // Several folders, where a unit names several: the first one is as good as any.
  const [fromSystemd = ""] = (env.STATE_DIRECTORY ?? "").split(":");
  if (fromSystemd !== "") return resolve(fromSystemd);
  const { XDG_STATE_HOME: home = "" } = env;
  // The specification ignores relative paths.
  return join(home.startsWith("/") ? home : join(homedir(), ".local/state"), "xdskit");
}
