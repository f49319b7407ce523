// Writes docs/logs.md from the table of the log's events: npm run docs -w xdskit
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { logEvents } from "../../admin/src/log/log-events.ts";

/** Where the page is. */
export const logsPageFile = new URL("../../../docs/logs.md", import.meta.url);

/** The page as it should be. */
export function logsPage() {
  const rows = Object.entries(logEvents).map(([event, meaning]) => `| \`${event}\` | ${meaning} |`);
  return `<!-- Made by \`npm run docs -w xdskit\` from packages/admin/src/log/log-events.ts: change it there. -->

# The log

\`serve\` and \`relay\` write a line to standard error for what happens. \`--log-level\` says how much (\`debug\`, \`info\`,
\`warn\`, \`error\`, \`silent\`), \`--log-format\` in which form: \`pretty\` for people, \`json\` for programs, an object on each line.

\`\`\`json
{"level":"warn","time":"2026-05-01T10:15:02.123Z","event":"client-rejected","node":"edge-1","type":"cluster","msg":"client rejected the configuration (NACK); it keeps what it had"}
\`\`\`

\`event\` says what happened. Its names stay; texts (\`msg\`) may change. What else a line has depends on the event. Clients that
come and go are lines of \`debug\` each, and summed up for \`info\`, at most every ten seconds.

| event | |
| --- | --- |
${rows.join("\n")}
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(logsPageFile, logsPage());
