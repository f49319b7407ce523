// Writes docs/settings.md from the schema of the settings: npm run docs -w xdskit
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { settingsJsonSchema } from "../src/settings/described-settings.ts";
import { relaySettingsSchema, settingsSchema } from "../src/settings/schema.ts";
import { fixedKeys, liveKeys } from "../src/settings/settings-change.ts";

/** Where the page is. */
export const settingsPageFile = new URL("../../../docs/settings.md", import.meta.url);

/** The page as it should be. */
export function settingsPage() {
  const { properties } = settingsJsonSchema("", settingsSchema);
  const relay = settingsJsonSchema("", relaySettingsSchema).properties;
  const keys = Object.entries(properties).map(([key, schema]) => keyText(key, schema, liveKeys.has(key)));
  const example = readFileSync(new URL("settings-example.yaml", import.meta.url), "utf8");
  return `<!-- Made by \`npm run docs -w xdskit\` from packages/xdskit/src/settings: change setting-words.ts. -->

# Settings

\`xdskit serve\` and \`xdskit validate\` read \`xdskit.yaml\` in the folder, or the file that \`--settings\` names. All keys are
optional. An unknown key or a wrong value is an error with file, line and column. Paths are relative to the file. A
[relay](relay.md#settings) takes the same keys, but for folders, and has [its own](#of-a-relay).

\`\`\`yaml
${example}\`\`\`

## Edits

The file is watched. What is marked *edits count* below is taken over two seconds after an edit, and the log says
\`settings in use: …\`; all else needs a restart, which no client notices. An edit with an error changes nothing: the log,
the dashboard and \`xdskit status\` give its place. New folders are read before any node is told of them.

${keys.join("\n")}
## Of a relay

${keyText("upstream", relay.upstream, false)}
In \`groups\`, \`upstream\` has \`node\`, \`wildcard\` and \`prefetch\`: ${relay.groups.items.properties.upstream.description}
`;
}

function keyText(key, schema, isLive) {
  const { description = "", default: usual } = schema;
  const notes = [
    valuesOf(schema, description),
    usual === undefined ? "" : `Default \`${usual}\`.`,
    isLive ? "*Edits count.*" : "",
  ];
  const rows = rowsOf(schema, "");
  const hasDefaults = rows.some(([, , value]) => value !== "");
  const cells = [["key", "", "default"], ["---", "---", "---"], ...rows];
  const lines = cells.map(
    ([name, words, value]) => `| ${(hasDefaults ? [name, value, words] : [name, words]).join(" | ")} |`,
  );
  const table = rows.length === 0 ? "" : `\n${lines.join("\n")}\n`;
  return `## ${key}\n\n${[description, ...notes].filter(Boolean).join(" ")}\n${table}`;
}

/** The words that it may be, unless its description has them. */
function valuesOf(schema, description) {
  const values = [schema, ...(schema.anyOf ?? [])].flatMap(
    (one) => one.enum ?? (one.const === undefined ? [] : [one.const]),
  );
  const missing = values.filter((value) => !description.includes(`\`${value}\``));
  return missing.length === 0 ? "" : `One of ${values.map((value) => `\`${value}\``).join(", ")}.`;
}

function rowsOf(schema, prefix) {
  return Object.entries(propertiesOf(schema)).flatMap(([name, of]) => {
    const { description = "", default: usual } = of;
    const isFixed = prefix === "" && fixedKeys.includes(name) ? " A change needs a restart." : "";
    const words = [description, valuesOf(of, description)].filter(Boolean).join(" ") + isFixed;
    const row = [`\`${prefix}${name}\``, words, usual === undefined ? "" : `\`${usual}\``];
    // What stands on its own elsewhere is told there.
    return [row, ...(shared.has(name) ? [] : rowsOf(of, `${prefix}${name}.`))];
  });
}

/** Keys of groups that are keys beside \`groups\`, too. */
const shared = new Set(["load_reports", "rollout", "match"]);

function propertiesOf(schema) {
  const parts = [schema, schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].filter(Boolean);
  return Object.assign({}, ...parts.map((one) => (one === schema ? (one.properties ?? {}) : propertiesOf(one))));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(settingsPageFile, settingsPage());
