// `npm run conformance:reports -- [servers|clients|NAME…]` holds servers and clients against the protocol, and writes
// `reports/conformance.md` and `reports/conformance-clients.md`, or one of these. With names it only holds these, and
// writes nothing.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../harness/basics/peers.js";
import { envoyGateway } from "./envoy-gateway.js";
import { inKubernetes } from "./in-kubernetes.js";
import { judgeClient, judgedClients } from "./judged-clients.js";
import { judgedServers, judgeServer } from "./judged-servers.js";
import type { JudgedCheck, Judgement } from "./judgement.js";

/** Who was judged, and how that went. */
interface Column {
  readonly name: string;
  readonly about: string;
  /** Why checks are known to fail, by their identifiers. */
  readonly reasons: ReadonlyMap<string, string>;
  readonly checks: readonly JudgedCheck[];
}

interface Judged {
  readonly name: string;
  readonly about: string;
  readonly known?: string | undefined;
}

/** The remarks of a file of known failures, by check. */
function reasonsOf({ known }: Judged): ReadonlyMap<string, string> {
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
const statuses = ["passed", "failed", "skipped"] as const;
const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;

/** The tables, and each failure. */
function reportText(columns: readonly Column[]): readonly string[] {
  if (columns.length === 0) return [];
  const names = columns.map(({ name }) => name);
  const counted = (checks: readonly JudgedCheck[], status: JudgedCheck["status"]) =>
    String(checks.filter((check) => check.status === status).length);
  return [
    columns.map(({ name, about }) => `- ${name}: ${about}`).join("\n"),
    [
      row(["", ...names]),
      row(["---", ...names.map(() => "---")]),
      ...statuses.map((status) => row([status, ...columns.map(({ checks }) => counted(checks, status))])),
    ].join("\n"),
    "Checks that not all of them pass (– is skipped: it is not offered, or cannot be seen):",
    [
      row(["check", "level", ...names]),
      row(["---", "---", ...names.map(() => "---")]),
      ...columns[0]!.checks.flatMap(({ id, level }, index) => {
        const those = columns.map(({ checks }) => checks[index]!.status);
        const isSame = those.every((status) => status === "passed");
        return isSame ? [] : [row([id, level, ...those.map((status) => marks[status])])];
      }),
    ].join("\n"),
    ...columns.flatMap(({ name, reasons, checks }) => {
      const failed = checks.filter(({ status }) => status === "failed");
      if (failed.length === 0) return [];
      return [`## ${name}`, ...failed.map((check) => failureText(check, reasons.get(check.id)))];
    }),
  ];
}

const files = { servers: "conformance.md", clients: "conformance-clients.md" } as const;
type Page = keyof typeof files;
const chosen = process.argv.slice(2);
const isPage = (word: string): word is Page => word in files;
const named = chosen.filter((word) => !isPage(word));
/** What is judged, or written if there are no names. */
const isChosen = (page: Page): boolean => chosen.every((word) => !isPage(word)) || chosen.includes(page);

async function judgeAll<J extends Judged>(
  page: Page,
  all: readonly J[],
  judge: (one: J) => Promise<Judgement | undefined>,
): Promise<readonly Column[]> {
  const columns: Column[] = [];
  for (const one of isChosen(page) ? all : []) {
    if (named.length > 0 && !named.includes(one.name)) continue;
    const judged = await judge(one);
    if (judged === undefined) throw new Error(`${one.name} is not installed: run e2e/peers/install.sh`);
    const { checks } = judged;
    console.log(
      `${one.name}: ${statuses.map((is) => `${checks.filter((c) => c.status === is).length} ${is}`).join(", ")}`,
    );
    if (named.length > 0) console.log(judged.out);
    columns.push({ name: one.name, about: one.about, reasons: reasonsOf(one), checks });
  }
  return columns;
}

function write(page: Page, parts: readonly string[]): void {
  if (named.length > 0 || !isChosen(page)) return;
  mkdirSync(join(root, "reports"), { recursive: true });
  writeFileSync(
    join(root, "reports", files[page]),
    `${parts
      .join("\n\n")
      .replace(/\n{3,}/g, "\n\n")
      .trimEnd()}\n`,
  );
}

const made =
  "Made by `npm run conformance:reports`, which with `-- NAME` prints what it says of one column; " +
  "[docs/conformance.md](../docs/conformance.md) says what it means.";
// Most of the time they wait.
const [servers, built, clients] = await Promise.all([
  judgeAll("servers", judgedServers, judgeServer),
  judgeAll("servers", [envoyGateway, ...inKubernetes], (server) => server.judge()),
  judgeAll("clients", judgedClients, judgeClient),
]);
write("servers", [
  "# Servers, held against the protocol",
  `${made} Each failure has what was sent and received, and the reason as we read it in the server's sources, which` +
    " `known/` keeps. Whoever finds that we are unfair: please tell us. [Clients](conformance-clients.md) have a page of" +
    " their own.",
  ...reportText([...servers, ...built]),
]);
write("clients", [
  "# Clients, held against the protocol",
  `${made} Whoever finds that we are unfair: please tell us.`,
  ...reportText(clients),
]);
