import { basename } from "node:path";
import type { Case } from "../transcripts/transcript.js";
import { reasonElsewhere } from "../transcripts/transcript-coverage.js";
import type { Chapter, NamedTest, Place, Point, Subject } from "./rule-book.js";
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

The promises of xdskit about the xDS protocol, the code that keeps each, and the tests that show it. The numbers are
this project's own, since the protocol's documents number nothing.

- **1–167** are the rules. They come from the "xDS REST and gRPC protocol" document in its versions since v2 (for v3 the
  newest counts), from the comments in Envoy's proto files, and from the habits that clients and servers rely on.
- **C1–C12** are choices where the document is silent. **I1–I13** describe the behavior of real clients, and the duties
  of a server that follow from it.
- **E1–E14** were seen on the wire of Envoy 1.40, **G1–G11** on the wire of gRPC's clients. Where they disagree with a
  rule, xdskit serves that client as it is, and others by the rule.
- **N1–N18** are about [names](naming.md): federation, collections, variants, and errors of single names.

Comments in the code and the headings of [transcripts](../packages/protocol/transcripts) use the same numbers
(\`rule 60\`, \`choice 4\`, \`envoy 8\`). A transcript is a small play: what a client sends, and everything that must go
out. Transcripts run on both variants, aggregated and per type, as far as the column "on" says. Every row names code
that exists and a test that exists: a test holds these pages to that.

The column **on** says SotW or delta streams, or \`both\`, and \`ADS\` or \`per type\` where a rule is about one of them
only. \`client\` is what a client does: those transcripts are
[in a folder of their own](../packages/protocol/transcripts/client). Where xdskit deliberately does something else, the
row says **differs**, and why; [all of these](#where-xdskit-differs) are at the end of this page.
`;

const madeBy =
  "<!-- Made by `npm run docs -w @xdskit/protocol` from packages/protocol/rules and packages/protocol/transcripts: change it there. -->";

/** From a chapter's page to the root of the repository. */
const toRoot = "../../";

/** The documentation of the protocol: docs/protocol.md, and a page for each chapter. By path from the root. */
export function rulePages(
  chapters: readonly Chapter[],
  cases: readonly Case[],
  clientCases: readonly Case[],
): ReadonlyMap<string, string> {
  const pages = new Map([["docs/protocol.md", indexPage(chapters)]]);
  for (const chapter of chapters) pages.set(pageOf(chapter), chapterPage(chapter, cases, clientCases));
  return pages;
}

function pageOf({ name }: Chapter): string {
  return `docs/protocol/${name}.md`;
}

/** The chapters, every number with a link to its row, and the differences and missing parts. */
function indexPage(chapters: readonly Chapter[]): string {
  const rows = chapters.flatMap((chapter) =>
    chapter.parts.flatMap(({ points }) =>
      points.map((point) => ({
        point,
        line: tableRow([link(chapter, point), said(point), subjectName(point.subject)]),
      })),
    ),
  );
  const points = rows.map(({ point }) => point);
  const differing = points.filter(({ differs }) => differs !== undefined);
  const missing = points.filter(({ toCome }) => toCome !== undefined);
  const ofClient = points.filter(({ subject, places }) => subject.kind === "client" && places.length === 0);
  const notThere = [
    ...groupedByReason(missing),
    ...(ofClient.length === 0 ? [] : [["the client", ofClient.map(label)] as const]),
  ];
  return `${madeBy}

${introduction}
## Chapters

${chapters.map((chapter) => `- [${chapter.title}](protocol/${chapter.name}.md): ${numbers(chapter)}`).join("\n")}

## By number

| | what it says | on |
|--|--|--|
${rows.map(({ line }) => line).join("\n")}

## Where xdskit differs

${differing.map((point) => `- **${label(point)}** ${point.says}: ${point.differs}.`).join("\n")}

## Not there yet

${notThere.map(([reason, labels]) => `- ${reason}: ${labels.join(", ")}`).join("\n") || "Nothing."}
`;
}

/** `1–50`, or of several lists `C1–C12, I1–I13`. */
function numbers({ parts }: Chapter): string {
  const byList = new Map<Point["list"], Point[]>();
  for (const point of parts.flatMap(({ points }) => points))
    byList.set(point.list, [...(byList.get(point.list) ?? []), point]);
  const ranges = Array.from(byList.values(), (points) =>
    [points[0], points.at(-1)].map((point) => point && label(point)),
  );
  return ranges.map(([first, last]) => (first === last ? first : `${first}–${last}`)).join(", ");
}

function chapterPage({ title, parts }: Chapter, cases: readonly Case[], clientCases: readonly Case[]): string {
  const tables = parts.map(({ title, introduction, points }) => {
    const rows = points.map((point) => row(point, point.subject.kind === "client" ? clientCases : cases));
    const words = introduction === "" ? "" : `${introduction}\n\n`;
    return `## ${title}\n\n${words}| | what it says | on | code | shown by |\n|--|--|--|--|--|\n${rows.join("\n")}\n`;
  });
  return `${madeBy}

# ${title}

[All rules by number, and what the columns mean](../protocol.md)

${tables.join("\n")}`;
}

function row(point: Point, cases: readonly Case[]): string {
  const shown = [...transcriptsOf(point, cases), ...point.tests.map(testLink)];
  const reason = reasonElsewhere(point);
  const why = reason === undefined || point.subject.kind === "client" ? [] : [`no transcript: ${reason}`];
  const remarks = [
    point.differs === undefined ? "" : ` **differs**: ${point.differs}`,
    point.note === undefined ? "" : ` *${point.note}*`,
  ];
  return tableRow([
    `<a id="${anchor(point)}"></a>${label(point)}`,
    `${said(point)}${remarks.join("")}`,
    subjectName(point.subject),
    point.toCome === undefined ? point.places.map(placeLink).join(", ") : `*to come: ${point.toCome}*`,
    [...shown, ...why].join("<br>"),
  ]);
}

function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function said({ says }: Point): string {
  return `${says}.`;
}

function anchor({ list, number }: Point): string {
  return `${list}-${number}`;
}

function link({ name }: Chapter, point: Point): string {
  return `[${label(point)}](protocol/${name}.md#${anchor(point)})`;
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

/** The cases that show a point. */
export function casesOf({ list, number }: Point, cases: readonly Case[]): readonly Case[] {
  return cases.filter(({ tags }) => tags.some((tag) => tag.list === list && tag.number === number));
}

/** The first case of each file: a case more does not change the page. */
function transcriptsOf(point: Point, cases: readonly Case[]): readonly string[] {
  const first = new Map<string, Case>();
  for (const one of casesOf(point, cases)) if (!first.has(one.file)) first.set(one.file, one);
  return [...first.values()].map(({ file, title }) => `[${file}](${toRoot}${transcriptFolder}${file}): ${title}`);
}

function testLink({ file, title }: NamedTest): string {
  return `[${basename(file)}](${toRoot}${file}): ${title.replaceAll(/,? ?\[?\$\{[a-z.]+\}\]?/g, "")}`;
}

function placeLink({ file, symbol }: Place): string {
  return `[${basename(file)}](${toRoot}${file}) \`${symbol}\``;
}

function groupedByReason(points: readonly Point[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const point of points) {
    const reason = point.toCome ?? "";
    groups.set(reason, [...(groups.get(reason) ?? []), label(point)]);
  }
  return groups;
}
