import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { XdskitErrorCode } from "../error-codes.js";
import type { FieldStep } from "../field-path.js";
import { addFinding, type FileReading, type Place } from "../file-reading.js";
import { typeUrlPrefix } from "../identifiers.js";
import { keepWritten } from "../source-document.js";
import { type AdoptionRecord, recordOf } from "./adoption.js";
import { eachServerNamedIn } from "./config-sources.js";
import { type Form, isObject, type Message, type TakeAs, type Taker, textOf, typeNames } from "./form.js";

/** What reads the resources of a document. */
export interface DocumentReader {
  /** Reads what must say itself what it is. */
  readItem(item: JsonValue, steps: readonly FieldStep[]): void;
  /** Reads an object as a resource of a type. */
  readTyped(item: JsonObject, url: string, steps: readonly FieldStep[], isDump: boolean): void;
  placeOf(steps: readonly FieldStep[], typeUrl: string | undefined): Place;
}

/** Takes the resources of a document that is of another form. */
export function takeForm(form: Form, reading: FileReading, reader: DocumentReader): void {
  form.take(new DocumentTaker(form, reading, reader));
}

/** Says of a file of which nothing was taken that it holds nothing: served, it would be as if it were empty. */
export function tellOfNothing(reading: FileReading): void {
  const [record] = reading.adoptions;
  if (record === undefined || reading.resources.length > 0) return;
  if (reading.findings.some(({ severity }) => severity === "error")) return;
  const { form, leftOut } = record.adoption;
  const rest = leftOut.length === 0 ? "" : ` (left out: ${leftOut.slice(0, 10).join(", ")})`;
  const message = `this is ${form}, and nothing in it can be served${rest}`;
  addFinding(reading, { at: () => ({ line: 1, column: 1 }) }, "XDSKIT_NOTHING_TAKEN", message);
}

class DocumentTaker implements Taker {
  private readonly form: Form;
  private readonly reading: FileReading;
  private readonly reader: DocumentReader;
  private readonly record: AdoptionRecord;

  constructor(form: Form, reading: FileReading, reader: DocumentReader) {
    this.form = form;
    this.reading = reading;
    this.reader = reader;
    this.record = recordOf(reading.adoptions, form.name);
  }

  get registry() {
    return this.reading.registry;
  }

  take(item: JsonValue | undefined, steps: readonly FieldStep[], as: TakeAs = {}): void {
    const { reading, reader } = this;
    const url = isObject(item) ? (item["@type"] ?? (as.type && `${typeUrlPrefix}${as.type}`)) : undefined;
    if (!isObject(item) || typeof url !== "string" || url === "") {
      reader.readItem(item ?? null, steps);
      return;
    }
    const before = reading.resources.length;
    const { name } = as;
    const isNamed = name === undefined || textOf(item, "name") !== undefined || url.endsWith(typeNames.endpoint);
    reader.readTyped(isNamed ? item : named(item, name), url, steps, this.form.isDump);
    if (reading.resources.length > before && this.count(as.isState === true)) {
      eachServerNamedIn(item, (cluster) => this.record.nameServer(cluster));
    }
  }

  leaveOut(what: string, count = 0): void {
    this.record.leaveOut(what, count);
  }

  find(
    code: XdskitErrorCode,
    message: Message,
    steps: readonly FieldStep[],
    severity: "error" | "warning" = "error",
  ): void {
    addFinding(this.reading, this.reader.placeOf([], undefined), code, message, steps, undefined, severity);
  }

  /** Counts what was taken last, unless it was taken before. */
  private count(isState: boolean): boolean {
    const { reading, record } = this;
    const last = reading.resources.at(-1);
    if (last === undefined) return false;
    const { type, key, version } = last.resource;
    const name = `${type.typeUrl} ${key}`;
    const known = this.form.isDump ? record.versions.get(name) : undefined;
    if (known === version || (known !== undefined && isState)) {
      reading.resources.pop();
      if (known !== version) this.leaveOut(`${type.name} with another state of its endpoints`, 1);
      return false;
    }
    record.versions.set(name, version);
    record.take(type);
    return true;
  }
}

function named(item: JsonObject, name: string): JsonObject {
  const named = { ...item, name };
  keepWritten(item, named);
  return named;
}
