import type { ApiVersion } from "@xdskit/api";
import type { SotwOrDelta } from "../../wire/basics/sotw-or-delta.js";

/** The numbered rule, or point of another list, that a case proves. */
export interface Tag {
  readonly list: "rule" | "choice" | "interop" | "envoy" | "grpc" | "naming";
  readonly number: number;
}

/** One line of a case. `number` counts from 1 in the file. */
export interface Line {
  readonly number: number;
  readonly text: string;
}

/** A step, and the output that it must cause, line by line. */
export interface Step extends Line {
  readonly expected: readonly Line[];
}

/** The mode of a case: its streams, and the type for the word TYPE. */
export interface Mode {
  readonly variant: SotwOrDelta;
  readonly ads: boolean;
  readonly api: ApiVersion;
  readonly type: string | undefined;
}

/** Details that are only printed if a case is about them. */
export type Detail = "versions" | "identified" | "subscribed" | "demanded" | "received" | "node" | "untold";

/** One case of a transcript file. */
export interface Case extends Line {
  readonly file: string;
  readonly tags: readonly Tag[];
  readonly title: string;
  readonly modes: readonly Mode[];
  readonly show: ReadonlySet<Detail>;
  /** The types that are supplied on demand. */
  readonly demand: readonly string[];
  /** Changes go out make before break; per-type streams are of one node and share an order. */
  readonly ordered: boolean;
  /** The snapshots of a group are a lineage: streams in sync are not given changes that do not concern them. */
  readonly lineage: boolean;
  readonly steps: readonly Step[];
}

const heading = /^# ((?:(?:rule|choice|interop|envoy|grpc|naming) \d+(?:, )?)+): (.+)$/;
/**
 * The lines that a step causes. For a server's stream: responses and effects; for a client's end: requests and effects.
 */
const outputs = { server: /^(?:∅|[a-z]*[<!] )/u, client: /^(?:∅|[>!] )/u } as const;
export type End = keyof typeof outputs;

/** A mode in words: `sotw ads`, `delta per-type v2`, `sotw ads endpoint`. */
export function describeMode({ variant, ads, api, type }: Mode): string {
  return [variant, ads ? "ads" : "per-type", api === "v3" ? "" : api, type ?? ""]
    .filter((word) => word !== "")
    .join(" ");
}

/**
 * Reads a transcript file, of a server's stream or of a client's end. Throws an error that names the line for anything
 * that it cannot read.
 */
export function parseTranscript(file: string, text: string, end: End = "server"): readonly Case[] {
  const output = outputs[end];
  const cases: Case[] = [];
  let draft: Draft | undefined;
  const finish = () => {
    if (draft !== undefined) cases.push(draft.finish());
    draft = undefined;
  };
  for (const [index, raw] of text.split("\n").entries()) {
    const line: Line = { number: index + 1, text: raw.trim() };
    const head = heading.exec(line.text);
    if (head !== null) {
      finish();
      draft = new Draft(file, output, line, head[1] ?? "", head[2] ?? "");
    } else if (/^# (?:rule|choice|interop|envoy|grpc|naming)s? \d/.test(line.text)) {
      throw new Error(`${file}:${line.number}: this looks like a heading but is none: ${line.text}`);
    } else if (line.text !== "" && !line.text.startsWith("#")) {
      if (draft === undefined) throw new Error(`${file}:${line.number}: a line before the first heading`);
      draft.add(line);
    }
  }
  finish();
  return cases;
}

class Draft {
  readonly #file: string;
  readonly #output: RegExp;
  readonly #line: Line;
  readonly #tags: readonly Tag[];
  readonly #title: string;
  #modes: readonly Omit<Mode, "type">[] = [];
  #types: readonly string[] | undefined;
  readonly #show = new Set<Detail>();
  #demand: readonly string[] = [];
  #ordered = false;
  #lineage = false;
  readonly #steps: { readonly line: Line; readonly expected: Line[] }[] = [];

  constructor(file: string, output: RegExp, line: Line, tags: string, title: string) {
    this.#file = file;
    this.#output = output;
    this.#line = line;
    this.#tags = tags.split(", ").map((tag) => {
      const [list, number] = tag.split(" ");
      return { list: list as Tag["list"], number: Number(number) };
    });
    this.#title = title;
  }

  add(line: Line): void {
    const [word = "", ...rest] = line.text.split(/\s+/);
    if (word === "on")
      this.#modes = line.text
        .slice(3)
        .split(",")
        .flatMap((part) => this.#readModes(line, part));
    else if (word === "for") this.#types = rest.slice(2);
    else if (word === "demand") this.#demand = rest;
    else if (line.text === "ordered") this.#ordered = true;
    else if (line.text === "lineage") this.#lineage = true;
    else if (word === "show") for (const detail of rest) this.#show.add(detail as Detail);
    else if (this.#output.test(line.text)) {
      const step = this.#steps.at(-1);
      if (step === undefined) throw new Error(`${this.#file}:${line.number}: an answer before the first step`);
      step.expected.push(line);
    } else this.#steps.push({ line, expected: [] });
  }

  finish(): Case {
    if (this.#modes.length === 0)
      throw new Error(`${this.#file}:${this.#line.number}: no line "on sotw" or "on delta"`);
    if (this.#steps.length === 0) throw new Error(`${this.#file}:${this.#line.number}: a case without steps`);
    return {
      ...this.#line,
      file: this.#file,
      tags: this.#tags,
      title: this.#title,
      modes: this.#modes.flatMap((mode) => (this.#types ?? [undefined]).map((type) => ({ ...mode, type }))),
      show: this.#show,
      demand: this.#demand,
      ordered: this.#ordered,
      lineage: this.#lineage,
      steps: this.#steps.map(({ line, expected }) => ({ ...line, expected })),
    };
  }

  #readModes(line: Line, text: string): readonly Omit<Mode, "type">[] {
    const words = new Set(text.trim().split(/\s+/));
    const take = (word: string) => words.delete(word);
    const variant = take("sotw") ? "sotw" : take("delta") ? "delta" : undefined;
    const ads = take("ads");
    const perType = take("per-type");
    const apis = [take("v3") ? "v3" : undefined, take("v2") ? "v2" : undefined].filter((api) => api !== undefined);
    if (variant === undefined || words.size > 0) {
      throw new Error(`${this.#file}:${line.number}: want "on sotw|delta [ads] [per-type] [v2] [v3]": ${line.text}`);
    }
    const kinds = [...(ads || !perType ? [true] : []), ...(perType || !ads ? [false] : [])];
    return kinds.flatMap((kind) =>
      (apis.length === 0 ? ["v3" as const] : apis).map((api) => ({ variant, ads: kind, api: api as ApiVersion })),
    );
  }
}
