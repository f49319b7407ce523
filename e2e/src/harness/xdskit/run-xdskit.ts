import type { Scene } from "../basics/scene.js";
import { xdskitCommand } from "./xdskit.js";

/** What a command left behind. */
export interface RunEnded {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a command to its end. */
export async function runXdskit(scene: Scene, ...words: readonly string[]): Promise<RunEnded> {
  const { command, args } = xdskitCommand();
  const started = scene.start({ name: `xdskit ${words[0]}`, command, args: [...args, ...words] });
  const { code } = await started.ended;
  return { status: code, out: started.stdout.join("\n"), err: started.stderr.join("\n") };
}
