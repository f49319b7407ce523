import { fileSchema, type JsonSchema, noSuchType, resourceSchema, resourceTypes } from "@xdskit/api";
import { reportFailure } from "../output/failure.js";
import type { Terminal } from "../output/terminal.js";
import { exitStatus } from "../process/exit-status.js";
import { settingsJsonSchema } from "../settings/described-settings.js";
import { relaySettingsSchema, settingsSchema } from "../settings/schema.js";

/** Prints the schema of a type, of the settings, or of any file of resources. Returns the exit status. */
export function runSchema(type: string | undefined, terminal: Terminal): number {
  const schema = schemaFor(type);
  if (schema === undefined) {
    reportFailure(terminal, "schema", noSuchType(type ?? "", resourceTypes));
    return exitStatus.usage;
  }
  terminal.out(`${JSON.stringify(schema)}\n`);
  return exitStatus.ok;
}

function schemaFor(type: string | undefined): JsonSchema | undefined {
  if (type === undefined) return fileSchema();
  if (type === "settings") return settingsJsonSchema("xdskit.yaml", settingsSchema);
  if (type === "relay-settings") return settingsJsonSchema("settings of xdskit relay", relaySettingsSchema);
  const message = resourceTypes.find(type)?.schema;
  return message === undefined ? undefined : resourceSchema(message);
}
