// Writes docs/errors.md from the registry of error codes: npm run docs -w xdskit
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { errorCodes } from "@xdskit/api";

/** Where the page is. */
export const errorsPageFile = new URL("../../../docs/errors.md", import.meta.url);

/** The page as it should be. */
export function errorsPage() {
  const codes = Object.entries(errorCodes).sort(([a], [b]) => (a < b ? -1 : 1));
  const sections = codes.map(
    ([code, { meaning, cause, fix }]) =>
      `## ${code}\n\n${meaning}\n\n- **Usual cause:** ${cause}\n- **What to do:** ${fix}\n`,
  );
  return `<!-- Made by \`npm run docs -w xdskit\` from packages/api/src/errors/error-codes.ts: change it there. -->

# Errors

Whatever xdskit refuses, logs or answers with an error has one of these codes. It stands at the end of a line, in brackets:

\`\`\`
config/clusters.yaml:12:3: cluster "web", connect_timeout: must be more than 0s (duration.gt: 0s) [XDSKIT_RULE_BROKEN]
\`\`\`

Before it come, as far as they are known: file, line and column, the resource, the field in the proto's own spelling, what is wrong,
and the rule that it breaks. In JSON logs, \`xdskit validate --json\` and \`/api/v1/sources\` these are fields of their own.
A warning changes nothing; an error keeps a change from being applied, and the last good configuration stays.

${sections.join("\n")}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(errorsPageFile, errorsPage());
}
