import { isDoubt } from "./doubt.js";
import { Encoding } from "./encoding.js";
import type { JsonBytes } from "./json-bytes.js";
import type { Kept, Reader } from "./message-reader.js";
import { Recording } from "./recording.js";
import { createTemplate, fillTemplate, type Template } from "./template.js";

/** Of how many patterns objects may come in turn. */
const mostTemplates = 4;
/** What it costs to make a template, and what one brings that fits, beside a comparison in vain, which is 1. */
const making = 32;
const fitting = 4;
const mostSaved = 512;
/**
 * How much of a comparison is earned with each object that is not compared, so that it is tried again some time; half of it after each template that was made while none
 * fits: to make one of a large object costs as much as to read a hundred.
 */
const waiting = 0.25;
const leastWaiting = 1 / 1024;

/** What a template writes when it is tried on the object that it is made of. */
const trial = new Encoding();

/** The patterns after which the objects of one type are made, as far as they are. Where they are not, there is soon no use in trying. */
export class Templates {
  readonly #reader: Reader;
  readonly #templates: Template[] = [];
  /** What was gained by templates, and not yet spent on making and comparing them. */
  #saved = 8 * making;
  #waiting = waiting;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** Reads the object that comes next, as `reader.read` does. */
  read(out: Encoding, src: JsonBytes): Kept {
    if (this.#saved < making) {
      this.#saved += this.#waiting;
      return this.#begin(out, src);
    }
    for (let index = 0; index < this.#templates.length; index += 1) {
      const found = this.#fill(this.#templates[index] as Template, out, src);
      if (found === undefined) continue;
      if (index > 0) this.#templates.unshift(...this.#templates.splice(index, 1));
      if (this.#saved < mostSaved) this.#saved += fitting;
      this.#waiting = waiting;
      return found;
    }
    return this.#learn(out, src);
  }

  #begin(out: Encoding, src: JsonBytes): Kept {
    out.start();
    out.repeats = true;
    return this.#reader.read(out, src);
  }

  #fill(template: Template, out: Encoding, src: JsonBytes): Kept | undefined {
    const { at, lines } = src;
    let found: Kept | undefined;
    try {
      out.start();
      out.repeats = true;
      found = fillTemplate(template, this.#reader, out, src);
    } catch (error) {
      if (!isDoubt(error)) throw error;
    }
    if (found === undefined) src.goBack(at, lines);
    return found;
  }

  /** Reads the object by itself, and makes a template of it. */
  #learn(out: Encoding, src: JsonBytes): Kept {
    this.#saved -= making;
    this.#waiting = Math.max(leastWaiting, this.#waiting / 2);
    const { at, lines } = src;
    const recording = new Recording();
    out.recording = recording;
    let found: Kept;
    try {
      found = this.#begin(out, src);
    } finally {
      out.recording = undefined;
    }
    const template = createTemplate(recording, src, { at, lines }, out, found);
    if (template === undefined || !this.#isRight(template, out, src, at, lines)) return found;
    this.#templates.unshift(template);
    if (this.#templates.length > mostTemplates) this.#templates.pop();
    return found;
  }

  /** Whether it makes the same of the object that it is made of: not where references are found further inside, for one. */
  #isRight(template: Template, out: Encoding, src: JsonBytes, at: number, lines: number): boolean {
    const end = src.at;
    const endLines = src.lines;
    src.goBack(at, lines);
    const found = this.#fill(template, trial, src);
    const isSame =
      found !== undefined && src.at === end && src.lines === endLines && trial.hosts === out.hosts && trial.isSame(out);
    src.goBack(end, endLines);
    return isSame;
  }
}
