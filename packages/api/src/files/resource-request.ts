import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Finding, Where } from "../errors/errors.js";
import type { FieldStep } from "../errors/field-path.js";
import { didYouMean } from "../errors/nearest-name.js";
import { shortened } from "../errors/shortened.js";
import { parseJson } from "../json/json-source.js";
import type { ResourceName } from "../names/identifiers.js";
import {
  addFinding,
  type FilePart,
  type FileReading,
  type PositionedResource,
  stopReading,
} from "../reading/file-reading.js";
import { readBinarySteps } from "../reading/message-items.js";
import { noSuchType } from "../resource-types/no-such-type.js";
import type { ResourceType } from "../resource-types/resource-type.js";
import { decodeText } from "../text/file-text.js";
import { isObject, type SourceDocument } from "../text/source-document.js";
import { inTurns, type Steps } from "../timing/in-turns.js";
import { parseYaml } from "../yaml/yaml-source.js";
import { type ReadResourcesOptions, readingOf } from "./resource-file.js";
import { itemReader } from "./source-items.js";

/** A type and a name, for a resource that is named and not given. */
export interface NamedInRequest {
  readonly type: ResourceType;
  readonly name: ResourceName;
}

/** A request with resources in it: its valid ones, and all problems. */
export interface ResourceRequest {
  /** The other fields that the mapping has. Empty if it has none, or there are errors. */
  readonly fields: JsonObject;
  /** The places of these fields. */
  readonly places: Readonly<Record<string, Where>>;
  readonly resources: readonly PositionedResource[];
  readonly named: readonly NamedInRequest[];
  /** At most 100, in the order of the text. */
  readonly findings: readonly Finding[];
}

/** How to read a request. */
export interface ReadResourceRequestOptions extends Omit<ReadResourcesOptions, "places"> {
  /** The form of the bytes. `binary` is a serialized `DiscoveryResponse`, without keys. */
  readonly form: "json" | "yaml" | "binary";
  /** The keys of the mapping. Undefined if the text is one resource. */
  readonly keys?: RequestKeys | undefined;
  /** The name of the text in findings. */
  readonly name: string;
}

/** The keys of a mapping with resources. */
export interface RequestKeys {
  /** The list of resources. */
  readonly resources: string;
  /** The list of resources that are named, each a `type` and a `name`. */
  readonly named: string;
  /** All other keys. They have no lists or mappings. */
  readonly fields: readonly string[];
}

/**
 * Reads a text in JSON or YAML that is a mapping with a list of resources, or one resource; or a binary message.
 * Resources are read as `readResources` reads them, a few in a turn of the event loop. A request that is not short
 * belongs into a `ReadingThread`: its text is parsed in one turn. Never rejects because of the text: problems become
 * findings, with their positions.
 */
export function readResourceRequest(bytes: Uint8Array, options: ReadResourceRequestOptions): Promise<ResourceRequest> {
  return inTurns(resourceRequestSteps(bytes, options));
}

/** The same with a stop after each resource. */
export function* resourceRequestSteps(bytes: Uint8Array, options: ReadResourceRequestOptions): Steps<ResourceRequest> {
  const { form, name } = options;
  const reading = readingOf(name, bytes, form, options);
  let mapping: Pick<ResourceRequest, "fields" | "places" | "named"> = { fields: {}, places: {}, named: [] };
  try {
    if (form === "binary") yield* readBinarySteps(reading, bytes);
    else mapping = (yield* textSteps(reading, bytes, form, options.keys)) ?? mapping;
  } catch (error) {
    stopReading(reading, error);
  }
  return { ...mapping, resources: reading.resources, findings: reading.findings };
}

function* textSteps(
  reading: FileReading,
  bytes: Uint8Array,
  form: "json" | "yaml",
  keys: RequestKeys | undefined,
): Steps<Pick<ResourceRequest, "fields" | "places" | "named"> | undefined> {
  const text = decodeText(bytes, form);
  const { documents, problems } =
    text.problem !== undefined
      ? { documents: [], problems: [text.problem] }
      : form === "json"
        ? parseJson(text.text, "envoy")
        : parseYaml(text.text, "envoy");
  const [document, second] = documents;
  for (const { offset, message } of problems)
    addFinding(reading, { at: () => text.at(offset) }, "XDSKIT_SYNTAX", message);
  if (second !== undefined)
    addFinding(reading, { at: () => text.at(second.offset) }, "XDSKIT_SYNTAX", "a second document: there must be one");
  if (reading.findings.length > 0) return undefined;
  const value = document?.value;
  if (document === undefined || !isObject(value)) {
    addFinding(reading, { at: () => text.at(document?.offset ?? 0) }, "XDSKIT_API_REQUEST", "expected a mapping");
    return undefined;
  }
  const items = itemReader(reading, text, document as SourceDocument);
  try {
    if (keys === undefined) {
      items.read(value, []);
      return undefined;
    }
    const at = (steps: readonly FieldStep[]) => text.at(document.locate(steps));
    return yield* new RequestMapping(reading, keys, at).read(value, items.read);
  } finally {
    items.end();
  }
}

/** The keys of a request. All is checked here, since a mapping may have millions of keys and items. */
class RequestMapping {
  private readonly reading: FileReading;
  private readonly keys: RequestKeys;
  private readonly part: FilePart;

  constructor(reading: FileReading, keys: RequestKeys, at: FilePart["at"]) {
    this.reading = reading;
    this.keys = keys;
    this.part = { at };
  }

  *read(
    value: JsonObject,
    readItem: (item: JsonValue, steps: readonly FieldStep[]) => void,
  ): Steps<Pick<ResourceRequest, "fields" | "places" | "named">> {
    const { resources, named, fields } = this.keys;
    const found: JsonObject = {};
    const places: Record<string, Where> = {};
    const known = [resources, named, ...fields];
    for (const key of Object.keys(value)) {
      const content = value[key] ?? null;
      const isField = fields.includes(key);
      if (!known.includes(key)) this.wrong([key], () => `there is no such field${didYouMean(shortened(key), known)}`);
      else if (isField && typeof content === "object" && content !== null)
        this.wrong([key], "expected a text, a number, or true or false");
      else if (isField) {
        found[key] = content;
        places[key] = { file: this.reading.path, ...this.part.at([key]), field: key };
      }
    }
    for (const [index, item] of this.listAt(value, resources).entries()) yield readItem(item, [resources, index]);
    const names: NamedInRequest[] = [];
    for (const [index, item] of this.listAt(value, named).entries()) {
      const one = this.namedBy(item, [named, index]);
      if (one !== undefined) names.push(one);
      yield;
    }
    return { fields: found, places, named: names };
  }

  private listAt(value: JsonObject, key: string): readonly JsonValue[] {
    const list = value[key] ?? [];
    if (Array.isArray(list)) return list;
    this.wrong([key], "expected a list");
    return [];
  }

  private namedBy(item: JsonValue, steps: readonly FieldStep[]): NamedInRequest | undefined {
    if (!isObject(item)) {
      this.wrong(steps, "expected a mapping with type and name");
      return undefined;
    }
    const { type: named, name, ...others } = item;
    const [other] = Object.keys(others);
    if (other !== undefined) this.wrong([...steps, other], "there is no such field beside type and name");
    else if (typeof named !== "string" || named === "") this.wrong([...steps, "type"], "expected a type's name");
    else if (typeof name !== "string" || name === "") this.wrong([...steps, "name"], "expected a resource's name");
    else {
      const type = this.reading.types.find(named);
      if (type !== undefined) return { type, name };
      const message = () => noSuchType(named, this.reading.types);
      addFinding(this.reading, this.part, "XDSKIT_TYPE_NAME_UNKNOWN", message, [...steps, "type"]);
    }
    return undefined;
  }

  private wrong(steps: readonly FieldStep[], message: string | (() => string)): void {
    addFinding(this.reading, this.part, "XDSKIT_API_REQUEST", message, steps);
  }
}
