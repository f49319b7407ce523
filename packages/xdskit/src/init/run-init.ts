import { stat } from "node:fs/promises";
import { join } from "node:path";
import { fileSchema, printable } from "@xdskit/api";
import { replaceFiles } from "@xdskit/api/disk";
import { reportFailure } from "../output/failure.js";
import { tell } from "../output/screen/told.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { settingsJsonSchema } from "../settings/described-settings.js";
import { settingsSchema } from "../settings/schema.js";
import { firstFiles } from "./first-files.js";

/** Writes a first configuration to a folder. Resolves to the exit status. */
export async function runInit(directory: string, terminal: Terminal): Promise<number> {
  const files = new Map(Object.entries(firstFiles).map(([name, text]) => [join(directory, name), text]));
  for (const path of files.keys()) {
    if (!(await isThere(path))) continue;
    reportFailure(terminal, "init", `${path} is there already: nothing was written`);
    return exitStatus.failed;
  }
  const schemas = new Map([
    // Dot folders hold no resources.
    [join(directory, ".schemas", "resources.schema.json"), JSON.stringify(fileSchema())],
    [
      join(directory, ".schemas", "settings.schema.json"),
      JSON.stringify(settingsJsonSchema("xdskit.yaml", settingsSchema)),
    ],
  ]);
  try {
    await replaceFiles(new Map([...schemas, ...files]), { file: 0o644, folder: 0o755, durable: false });
  } catch (error) {
    reportFailure(terminal, "init", error);
    return exitStatus.failed;
  }
  const folder = printable(directory);
  const served = directory === "config" ? "" : ` ${folder}`;
  tell(
    terminal,
    `wrote ${[...files.keys()].map(printable).join(", ")}

Next:
  xdskit serve${served}
  xdskit bootstrap > envoy.yaml && envoy -c envoy.yaml
  curl http://127.0.0.1:10000/hello
`,
  );
  return exitStatus.ok;
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
