// `npm run conformance:reports` holds servers against the protocol, and writes `reports/conformance.md`.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../harness/basics/peers.js";
import { type JudgedCheck, type JudgedServer, judgedServers, judgeServer } from "./judged-servers.js";

/** The remarks of a file of known failures, by check. */
function reasonsOf({ known }: JudgedServer): ReadonlyMap<string, string> {
  if (known === undefined) return new Map();
  const lines = readFileSync(join(root, known), "utf8").matchAll(/^([\w-]+)(?: sometimes)? # (.*)$/gm);
  return new Map([...lines].map(([, id = "", reason = ""]) => [id, reason]));
}

function failureText(check: JudgedCheck, reason: string | undefined): string {
  return [
    `#### ${check.id} (${check.level})`,
    `[${check.says}](${check.link}) Here: ${check.message}.${reason === undefined ? "" : ` ${reason}.`}`,
    `\`\`\`\n${check.transcript.join("\n")}\n\`\`\`\n`,
  ].join("\n\n");
}

const marks = { passed: "yes", failed: "**no**", skipped: "–" } as const;
const columns: { readonly server: JudgedServer; readonly checks: readonly JudgedCheck[] }[] = [];
for (const server of judgedServers) {
  const judged = await judgeServer(server);
  if (judged === undefined) throw new Error(`${server.name} is not installed: run e2e/peers/install.sh`);
  console.log(`${server.name}: ${judged.out.trimEnd().split("\n").at(-1)}`);
  columns.push({ server, checks: judged.checks });
}
const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
const counted = (checks: readonly JudgedCheck[], status: JudgedCheck["status"]) =>
  String(checks.filter((check) => check.status === status).length);
const text = [
  "# Servers, held against the protocol",
  "Made by `npm run conformance:reports`; [docs/conformance.md](../docs/conformance.md) says what it means. Each failure" +
    " has what was sent and received, and the reason as we read it in the server's sources, which `known/` keeps. Whoever" +
    " finds that we are unfair: please tell us.",
  columns.map(({ server }) => `- ${server.name}: ${server.about}`).join("\n"),
  [
    row(["", ...columns.map(({ server }) => server.name)]),
    row(["---", ...columns.map(() => "---")]),
    ...(["passed", "failed", "skipped"] as const).map((status) =>
      row([status, ...columns.map(({ checks }) => counted(checks, status))]),
    ),
  ].join("\n"),
  "Checks that not all of them pass:",
  [
    row(["check", "level", ...columns.map(({ server }) => server.name)]),
    row(["---", "---", ...columns.map(() => "---")]),
    ...columns[0]!.checks.flatMap(({ id, level }, index) => {
      const statuses = columns.map(({ checks }) => checks[index]!.status);
      const isSame = statuses.every((status) => status === "passed");
      return isSame ? [] : [row([id, level, ...statuses.map((status) => marks[status])])];
    }),
  ].join("\n"),
  ...columns.flatMap(({ server, checks }) => {
    const reasons = reasonsOf(server);
    const failed = checks.filter(({ status }) => status === "failed");
    if (failed.length === 0) return [];
    return [`## ${server.name}`, ...failed.map((check) => failureText(check, reasons.get(check.id)))];
  }),
].join("\n\n");
mkdirSync(join(root, "reports"), { recursive: true });
writeFileSync(join(root, "reports/conformance.md"), `${text.replace(/\n{3,}/g, "\n\n").trimEnd()}\n`);
