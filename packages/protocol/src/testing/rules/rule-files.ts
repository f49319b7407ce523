import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Case, parseTranscript } from "../transcripts/transcript.js";
import { type Chapter, parseRules } from "./rule-book.js";

/** The root of the repository, with a slash behind it. */
export const root: string = fileURLToPath(new URL("../../../../../", import.meta.url));

/** The folder of the transcripts, from the root. */
export const transcriptFolder = "packages/protocol/transcripts/";
/** The folder of the rules, from the root. */
const ruleFolder = "packages/protocol/rules/";

/** All chapters, in their order. */
export function readChapters(): readonly Chapter[] {
  return textsIn(ruleFolder).map(([name, text]) => parseRules(name, text));
}

/** The cases of all transcripts of a server's stream. */
export function readCases(): readonly Case[] {
  return textsIn(transcriptFolder).flatMap(([name, text]) => parseTranscript(name, text));
}

/** The cases of all transcripts of a client's end. */
export function readClientCases(): readonly Case[] {
  return textsIn(`${transcriptFolder}client/`).flatMap(([name, text]) =>
    parseTranscript(`client/${name}`, text, "client"),
  );
}

function textsIn(folder: string): readonly (readonly [name: string, text: string])[] {
  const names = readdirSync(`${root}${folder}`).filter((name) => name.endsWith(".txt"));
  return names.sort().map((name) => [name, readFileSync(`${root}${folder}${name}`, "utf8")]);
}
