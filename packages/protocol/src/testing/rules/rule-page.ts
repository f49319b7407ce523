import { basename } from "node:path";
import type { Case } from "../transcript.js";
import { reasonElsewhere } from "../transcript-coverage.js";
import type { NamedTest, Part, Place, Point, Subject } from "./rule-book.js";
import { transcriptFolder } from "./rule-files.js";

const listNames: { readonly [L in Point["list"]]: string } = {
  rule: "",
  choice: "C",
  interop: "I",
  envoy: "E",
  grpc: "G",
  naming: "N",
};

const introduction = `# The protocol, rule by rule

What xdskit promises about the xDS protocol, where that is in the code, and which test shows it. The numbers are this project's own: the protocol's documents number nothing.

- **1–167** are the rules: from the "xDS REST and gRPC protocol" document in its versions since v2 (for v3 the newest counts), from the comments of Envoy's proto files, and from what clients and servers rely on.
- **C1–C12** are choices where the document is silent; **I1–I13** what real clients do, and what a server must therefore do;
- **E1–E14** were seen on the wire of Envoy 1.40, **G1–G11** on that of gRPC's clients. Where they disagree with a rule, the client is served as it is, and others by the rule;
- **N1–N17** are about [names](naming.md): of federation, collections, variants, and errors of single names.

Comments in the code and the headings of [transcripts](../packages/protocol/transcripts) use the same numbers (\`rule 60\`, \`choice 4\`, \`envoy 8\`). A transcript is a small play: what a client sends, and all that must go out;
they run on both variants, aggregated and per type, as far as the column "on" says. Every row names code that exists and a test that exists, or this page's own test fails.

**on**: SotW and delta streams, or \`both\`; \`ADS\` or \`per type\` where it is about one of them only. \`client\`: what a client does; its transcripts are [in a folder of their own](../packages/protocol/transcripts/client).
Where xdskit deliberately does something else, the row says **differs**, and why; [all of them](#where-xdskit-differs) stand at the end.
`;

/** docs/protocol.md, as it should be. */
export function rulePage(parts: readonly Part[], cases: readonly Case[], clientCases: readonly Case[]): string {
  const tables = parts.map(({ title, introduction, points }) => {
    const rows = points.map((point) => row(point, point.subject.kind === "client" ? clientCases : cases));
    const words = introduction === "" ? "" : `${introduction}\n\n`;
    return `## ${title}\n\n${words}| | what it says | on | code | shown by |\n|--|--|--|--|--|\n${rows.join("\n")}\n`;
  });
  const points = parts.flatMap(({ points }) => points);
  const differing = points.filter(({ differs }) => differs !== undefined);
  const missing = points.filter(({ toCome }) => toCome !== undefined);
  const ofClient = points.filter(({ subject, places }) => subject.kind === "client" && places.length === 0);
  const notThere = [
    ...groupedByReason(missing),
    ...(ofClient.length === 0 ? [] : [["the client", ofClient.map(label)] as const]),
  ];
  return `<!-- Made by \`npm run docs -w @xdskit/protocol\` from packages/protocol/rules and packages/protocol/transcripts: change it there. -->

${introduction}
${tables.join("\n")}
## Where xdskit differs

${differing.map((point) => `- **${label(point)}** ${point.says}: ${point.differs}.`).join("\n")}

## Not there yet

${notThere.map(([reason, labels]) => `- ${reason}: ${labels.join(", ")}`).join("\n") || "Nothing."}
`;
}

function row(point: Point, cases: readonly Case[]): string {
  const remarks = [
    point.differs === undefined ? "" : ` **differs**: ${point.differs}`,
    point.note === undefined ? "" : ` *${point.note}*`,
  ];
  const shown = [...transcriptsOf(point, cases), ...point.tests.map(testLink)];
  const reason = reasonElsewhere(point);
  const why = reason === undefined || point.subject.kind === "client" ? [] : [`no transcript: ${reason}`];
  const cells = [
    label(point),
    `${point.says}.${remarks.join("")}`,
    subjectName(point.subject),
    point.toCome === undefined ? point.places.map(placeLink).join(", ") : `*to come: ${point.toCome}*`,
    [...shown, ...why].join("<br>"),
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** A rule by its number, a point of another list with the list's letter. */
export function label({ list, number }: Pick<Point, "list" | "number">): string {
  return `${listNames[list]}${number}`;
}

function subjectName(subject: Subject): string {
  if (subject.kind !== "streams") return subject.kind === "rest" ? "REST" : "client";
  const variants = subject.variants.length === 2 ? "both" : subject.variants[0] === "sotw" ? "SotW" : "delta";
  const ads = subject.ads.length === 2 ? "" : subject.ads[0] ? "ADS" : "per type";
  return `${variants} ${ads}`.trim();
}

/** Those that show a point. */
export function casesOf({ list, number }: Point, cases: readonly Case[]): readonly Case[] {
  return cases.filter(({ tags }) => tags.some((tag) => tag.list === list && tag.number === number));
}

/** The first case of each file: a case more does not change the page. */
function transcriptsOf(point: Point, cases: readonly Case[]): readonly string[] {
  const first = new Map<string, Case>();
  for (const one of casesOf(point, cases)) if (!first.has(one.file)) first.set(one.file, one);
  return [...first.values()].map(({ file, title }) => `[${file}](../${transcriptFolder}${file}): ${title}`);
}

function testLink({ file, title }: NamedTest): string {
  return `[${basename(file)}](../${file}): ${title.replaceAll(/,? ?\[?\$\{[a-z.]+\}\]?/g, "")}`;
}

function placeLink({ file, symbol }: Place): string {
  return `[${basename(file)}](../${file}) \`${symbol}\``;
}

function groupedByReason(points: readonly Point[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const point of points) {
    const reason = point.toCome ?? "";
    groups.set(reason, [...(groups.get(reason) ?? []), label(point)]);
  }
  return groups;
}
