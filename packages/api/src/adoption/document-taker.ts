import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { XdskitErrorCode } from "../errors/error-codes.js";
import type { FieldStep } from "../errors/field-path.js";
import { typeUrlPrefix } from "../names/identifiers.js";
import { type AdoptionRecord, recordOf } from "../reading/adoption-record.js";
import { addFinding, type FilePart, type FileReading } from "../reading/file-reading.js";
import { listNames } from "../text/list-names.js";
import { isObject, keepWritten } from "../text/source-document.js";
import { eachServerNamedIn } from "./config-sources.js";
import { type Form, type Message, type TakeAs, type Taker, textOf, typeNames } from "./form.js";

/** Reads the resources of a document. */
export interface DocumentReader {
  /** Reads an item that must say its own type. */
  readItem(item: JsonValue, steps: readonly FieldStep[]): void;
  /** Reads an object as a resource of a type. */
  readTyped(item: JsonObject, url: string, steps: readonly FieldStep[], isDump: boolean): void;
  partAt(steps: readonly FieldStep[], typeUrl: string | undefined): FilePart;
}

/** Takes the resources of a document in another form. */
export function takeForm(form: Form, reading: FileReading, reader: DocumentReader): void {
  form.take(new DocumentTaker(form, reading, reader));
}

/** Reports a file from which nothing was taken. Otherwise it would be served like an empty file. */
export function tellOfNothing(reading: FileReading): void {
  const [record] = reading.adoptions;
  if (record === undefined || reading.resources.length > 0) return;
  if (reading.findings.some(({ severity }) => severity === "error")) return;
  const { form, leftOut } = record.adoption;
  const rest = leftOut.length === 0 ? "" : ` (left out: ${listNames(leftOut)})`;
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
    addFinding(this.reading, this.reader.partAt([], undefined), code, message, steps, undefined, severity);
  }

  /** Counts the resource that was taken last, unless the same one was taken before. */
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
