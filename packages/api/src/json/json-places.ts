import type { FieldStep } from "../errors/field-path.js";
import { keysOfStep } from "../text/source-document.js";
import { endOfString } from "./json-scan.js";

/** A value: the offset of its key (in a list, of the value), and the offset of the value. */
interface Part {
  readonly offset: number;
  readonly value: number;
  /** Its parts by key or index, once somebody has asked. */
  parts?: ReadonlyMap<string | number, Part>;
}

/**
 * Finds the parts of a JSON text that `JSON.parse` has accepted and that has no duplicate keys. It scans only what is
 * asked for, and each object or list once: to locate ten thousand resources in one dump takes two scans of the text.
 */
export class JsonPlaces {
  private readonly text: string;
  private readonly root: Part;

  constructor(text: string) {
    this.text = text;
    const start = this.space(0);
    this.root = { offset: start, value: start };
  }

  /** The offset of the part at these steps, or of the deepest part that exists. */
  locate(steps: readonly FieldStep[]): number {
    let part = this.root;
    for (const step of steps) {
      part.parts ??= this.partsAt(part.value);
      const keys = typeof step === "number" ? [step] : keysOfStep(step);
      const next = keys.map((key) => part.parts?.get(key)).find((found) => found !== undefined);
      if (next === undefined) break;
      part = next;
    }
    return part.offset;
  }

  private partsAt(start: number): ReadonlyMap<string | number, Part> {
    const parts = new Map<string | number, Part>();
    const { text } = this;
    const isObject = text[start] === "{";
    if (!isObject && text[start] !== "[") return parts;
    for (let at = this.space(start + 1); at < text.length && text[at] !== "}" && text[at] !== "]"; ) {
      let key: string | number = parts.size;
      const offset = at;
      if (isObject) {
        const end = endOfString(text, at) + 1;
        key = JSON.parse(text.slice(at, end)) as string;
        at = this.space(this.space(end) + 1);
      }
      parts.set(key, { offset, value: at });
      at = this.space(this.behind(at));
      if (text[at] === ",") at = this.space(at + 1);
    }
    return parts;
  }

  /** The offset of the next character that is not white space. */
  private space(from: number): number {
    let at = from;
    while (this.text.charCodeAt(at) <= 0x20) at += 1;
    return at;
  }

  /** The end of the value that begins here. */
  private behind(start: number): number {
    const { text } = this;
    let depth = 0;
    for (let at = start; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 0x22 /* " */) at = endOfString(text, at);
      else if (code === 0x7b || code === 0x5b) depth += 1;
      else if (code === 0x7d || code === 0x5d) {
        // The end of a number or word.
        if (depth === 0) return at;
        depth -= 1;
      } else if (code !== 0x2c || depth > 0) continue;
      else return at;
      if (depth === 0) return at + 1;
    }
    return text.length;
  }
}
