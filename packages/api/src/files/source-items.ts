import { create, type DescMessage, type JsonObject, type JsonValue, type Registry } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { eachServerNamedIn } from "../adoption/config-sources.js";
import { type DocumentItem, type Form, Taker } from "../adoption/form.js";
import { formOf, hintFor } from "../adoption/recognize.js";
import { CompiledResources } from "../compiled/compiled-resources.js";
import type { FieldStep } from "../errors/field-path.js";
import { maxSmallBody } from "../errors/limits.js";
import { mayHideMistakes } from "../json/json-expected.js";
import { type MessageReading, readJsonMessage, without } from "../json/json-message.js";
import { hasLongList, judgedMessage } from "../json/judged-message.js";
import { unknownTypeMessage } from "../messages/unknown-type.js";
import { schemaOf, v3NameOf } from "../messages/v2-names.js";
import { withV2Names } from "../messages/v2-names-registry.js";
import { typeNameOf } from "../names/identifiers.js";
import { type AdoptionRecord, recordOf } from "../reading/adoption-record.js";
import { addFinding, addResource, type FilePart, type FileReading, isRefused } from "../reading/file-reading.js";
import { readAny, unpack } from "../reading/message-items.js";
import { mayLackSecrets } from "../redact/left-out-secrets.js";
import { responseName, type Wrapping, wrappedVersionOf, wrapperName, wrappingOf } from "../resources/wrapping.js";
import type { FileText } from "../text/file-text.js";
import type { SourceDocument, SyntaxProblem } from "../text/source-document.js";
import { isObject, writtenAs } from "../text/source-document.js";
import { readBinaryForm } from "../unknown/json-reader.js";
import { isBinaryForm } from "../unknown/keys.js";

/** Reads the documents of a YAML or JSON file: each is a resource, a list of resources, or a discovery response. */
export function readSource(
  reading: FileReading,
  file: FileText,
  source: { readonly documents: Iterable<SourceDocument>; readonly problems: readonly SyntaxProblem[] },
): void {
  const compiled = reading.places ? undefined : new CompiledResources(reading);
  const isCareful = carefulnessOf(file);
  try {
    for (const document of source.documents) {
      if (source.problems.length === 0)
        new SourceItems(reading, file, document, compiled, isCareful).readDocument(document.value);
    }
  } finally {
    compiled?.end();
  }
  if (source.problems.length > 0) dropAll(reading);
  for (const { offset, message } of source.problems) {
    addFinding(reading, { at: () => file.at(offset) }, "XDSKIT_SYNTAX", message);
  }
}

/** A text that is not well-formed has nothing: a mistake in one place may change what another one means. */
function dropAll(reading: FileReading): void {
  reading.resources.length = 0;
  reading.findings.length = 0;
  reading.errors = 0;
  reading.adoptions.length = 0;
  reading.version = "";
}

/** Reads single resources of a document, wherever they stand in it. Call `end` after the last. */
export function itemReader(reading: FileReading, file: FileText, document: SourceDocument) {
  const compiled = new CompiledResources(reading);
  const items = new SourceItems(reading, file, document, compiled, carefulnessOf(file));
  return {
    read: (item: JsonValue, steps: readonly FieldStep[]): void => items.readItem(item, steps),
    end: (): void => compiled.end(),
  };
}

/**
 * Computed only if the compiled pass leaves something to the explaining readers. What is long is explained first: a
 * message takes many times the memory of its text, and mostly there is a mistake.
 */
function carefulnessOf({ text }: FileText): () => boolean {
  let careful: boolean | undefined;
  return () => {
    careful ??= text.length > maxSmallBody || mayHideMistakes(text);
    return careful;
  };
}

class SourceItems {
  private readonly reading: FileReading;
  private readonly file: FileText;
  private readonly document: SourceDocument;
  private readonly registry: Registry;
  private readonly compiled: CompiledResources | undefined;
  private readonly isCareful: () => boolean;

  constructor(
    reading: FileReading,
    file: FileText,
    document: SourceDocument,
    compiled: CompiledResources | undefined,
    isCareful: () => boolean,
  ) {
    this.reading = reading;
    this.file = file;
    this.document = document;
    this.registry = withV2Names(reading.registry);
    this.compiled = compiled;
    this.isCareful = isCareful;
  }

  readDocument(value: JsonValue): void {
    // An empty document, or one with comments only.
    if (value === null) return;
    const form = this.formOf(value);
    if (form === undefined) {
      for (const item of this.itemsIn(value)) this.read(item);
      return;
    }
    const taker = new Taker(this.reading.registry);
    form.take(taker);
    const record = recordOf(this.reading.adoptions, form.name, form.isDump);
    for (const item of taker.items) this.read(item, record);
  }

  private *itemsIn(value: JsonValue): Iterable<DocumentItem> {
    if (Array.isArray(value))
      for (const [index, item] of value.entries()) yield { kind: "item", value: item, steps: [index] };
    else if (isObject(value) && isResponse(value)) yield* this.itemsOfResponse(value);
    else yield { kind: "item", value, steps: [] };
  }

  /** `record`: of what is taken from another form. */
  private read(item: DocumentItem, record?: AdoptionRecord): void {
    const { reading } = this;
    switch (item.kind) {
      case "item":
        this.readItem(item.value, item.steps, item.declared);
        break;
      case "typed": {
        const before = reading.resources.length;
        this.readTyped(item, record?.isDump);
        const last = reading.resources.at(-1);
        if (reading.resources.length === before || last === undefined) break;
        if (record?.take(last.resource, item.isState) === false) reading.resources.pop();
        else eachServerNamedIn(item.value, (cluster) => record?.nameServer(cluster));
        break;
      }
      case "left out":
        record?.leaveOut(item.what, item.count);
        break;
      case "finding": {
        const { code, message, steps, severity } = item;
        addFinding(reading, this.partAt([], undefined), code, message, steps, undefined, severity);
      }
    }
  }

  /** The form of a document that does not hold plain resources. Parts of one list all have the same form. */
  private formOf(value: JsonValue): Form | undefined {
    if (isObject(value)) return isResponse(value) ? undefined : formOf(value);
    const { resources, findings, adoptions } = this.reading;
    return adoptions.length > 0 || resources.length + findings.length === 0 ? formOf(value) : undefined;
  }

  private readTyped({ value, url, steps }: DocumentItem & { readonly kind: "typed" }, isDump?: boolean): void {
    if (!this.take(value, url, steps, {}))
      this.readResource(value, url, { ...this.partAt(steps, url, nameIn(value)), isDump }, {});
  }

  private *itemsOfResponse(response: JsonObject): Iterable<DocumentItem> {
    const { resources } = response;
    const others = without(response, "@type", "resources");
    const schema = this.reading.registry.getMessage(responseName);
    const head = schema === undefined ? undefined : this.readMessage(schema, others, this.partAt([], undefined));
    if (head !== undefined) this.reading.version = wrappedVersionOf(head);
    const type = others.type_url ?? others.typeUrl;
    const declared = typeof type === "string" && type !== "" ? { declared: type } : {};
    if (resources === undefined || resources === null) return;
    if (Array.isArray(resources)) {
      for (const [index, value] of resources.entries())
        yield { kind: "item", value, steps: ["resources", index], ...declared };
    } else if (isObject(resources)) {
      yield { kind: "item", value: resources, steps: ["resources"], ...declared };
    } else {
      const message = "expected a list of resources";
      yield { kind: "finding", code: "XDSKIT_FIELD_INVALID", message, steps: ["resources"], severity: "error" };
    }
  }

  readItem(item: JsonValue, steps: readonly FieldStep[], declared?: string): void {
    const { reading } = this;
    if (!isObject(item)) {
      const message = 'expected a resource: a mapping with "@type" and the resource\'s fields';
      addFinding(reading, this.partAt(steps, undefined), "XDSKIT_FILE_FORM", message);
      return;
    }
    if (isBinaryForm(item)) {
      const any = this.readBinaryForm(item, this.partAt(steps, undefined));
      if (any !== undefined) readAny(reading, any, steps, (inner) => this.partAt([], undefined).at(inner));
      return;
    }
    const url = item["@type"];
    if (typeof url === "string" && declared === undefined && this.take(item, url, steps, {})) return;
    const part = this.partAt(steps, typeof url === "string" ? url : undefined, nameIn(item));
    if (typeof url !== "string" || url === "") {
      const message = 'a resource lacks "@type", such as "type.googleapis.com/envoy.config.cluster.v3.Cluster"';
      addFinding(reading, part, "XDSKIT_TYPE_MISSING", message + hintFor(item));
      return;
    }
    const typeName = v3Name(url);
    if (typeName === wrapperName) {
      this.readWrapped(item, steps);
      return;
    }
    if (typeName === responseName) {
      addFinding(reading, part, "XDSKIT_FILE_FORM", "a DiscoveryResponse must be a document of its own");
      return;
    }
    if (declared !== undefined && typeNameOf(declared) !== typeNameOf(url)) {
      const message = `the response's type_url says that it holds ${typeNameOf(declared)}`;
      addFinding(reading, part, "XDSKIT_TYPE_MISMATCH", message);
      return;
    }
    this.readResource(item, url, part, {});
  }

  private readWrapped(wrapper: JsonObject, steps: readonly FieldStep[]): void {
    const { reading } = this;
    const { resource: inner } = wrapper;
    const others = without(wrapper, "@type", "resource");
    const part = this.partAt(steps, undefined, nameIn(wrapper));
    const schema = reading.registry.getMessage(wrapperName);
    const read = schema === undefined ? undefined : this.readMessage(schema, others, part);
    if (read === undefined) return;
    if (isObject(inner) && isBinaryForm(inner)) {
      this.readBinaryInner(inner, [...steps, "resource"], wrappingOf(read));
      return;
    }
    const url = isObject(inner) ? inner["@type"] : undefined;
    if (!isObject(inner) || typeof url !== "string" || url === "") {
      const message = 'the wrapped resource must be a mapping with "@type"';
      addFinding(reading, part, "XDSKIT_TYPE_MISSING", message, ["resource"]);
      return;
    }
    const at = [...steps, "resource"];
    const wrapping = wrappingOf(read);
    if (this.take(inner, url, at, wrapping)) return;
    this.readResource(inner, url, this.partAt(at, url, nameIn(wrapper) ?? nameIn(inner)), wrapping);
  }

  private readBinaryInner(inner: JsonObject, steps: readonly FieldStep[], wrapping: Wrapping): void {
    const any = this.readBinaryForm(inner, this.partAt(steps, undefined, wrapping.name));
    if (any === undefined) return;
    const part = this.partAt(steps, any.typeUrl, wrapping.name);
    const content = unpack(this.reading, any, part);
    if (content !== undefined) addResource(this.reading, part, content.schema, content.message, wrapping);
  }

  private readBinaryForm(item: JsonObject, part: FilePart): Any | undefined {
    const read = readBinaryForm(item);
    if (!("code" in read)) return create(AnySchema, read);
    addFinding(this.reading, part, read.code, read.message, read.steps);
    return undefined;
  }

  /** Takes a usual, valid resource in one pass. */
  private take(item: JsonObject, url: string, steps: readonly FieldStep[], wrapping: Wrapping): boolean {
    if (this.reading.mayLeaveOutSecrets && mayLackSecrets(item)) return false;
    const made = this.compiled?.read(item, url, wrapping);
    if (made === undefined) return false;
    const { line, column } = this.file.at(this.document.locate(steps));
    const { resource, type } = made;
    const where = { file: this.reading.path, line, column, field: undefined, resource: resource.name, type };
    this.reading.resources.push({ resource, where });
    return true;
  }

  private readResource(item: JsonObject, url: string, part: FilePart, wrapping: Wrapping): void {
    const schema = schemaOf(typeNameOf(url), this.reading.registry);
    if (schema === undefined) {
      const message = () => unknownTypeMessage(url, this.reading.registry);
      addFinding(this.reading, part, "XDSKIT_TYPE_UNKNOWN", message);
      return;
    }
    const json = without(item, "@type");
    const isLong = wrapping.problem === undefined && hasLongList(json);
    if (isLong) {
      const judged = this.readMessage(schema, json, part, { careful: true, make: judgedMessage });
      if (judged === undefined || isRefused(this.reading, part, schema, judged)) return;
    }
    const message = this.readMessage(schema, json, part, { careful: !isLong && this.isCareful() });
    if (message !== undefined) addResource(this.reading, part, schema, message, wrapping);
  }

  private readMessage(
    schema: DescMessage,
    json: JsonValue,
    part: FilePart,
    how: MessageReading = { careful: this.isCareful() },
  ) {
    const read = readJsonMessage(schema, json, this.registry, how);
    if (read.kind === "message") return read.message;
    for (const { code, message, steps } of read.problems) addFinding(this.reading, part, code, message, steps);
    return undefined;
  }

  private partAt(base: readonly FieldStep[], typeUrl: string | undefined, resource?: string): FilePart {
    const at = (steps: readonly FieldStep[]) => this.file.at(this.document.locate([...base, ...steps]));
    return { typeUrl, resource, at };
  }
}

/** The form that Envoy reads from a file: `"@type"` may be missing. */
function isResponse(value: JsonObject): boolean {
  const url = value["@type"];
  return typeof url === "string" ? v3Name(url) === responseName : url === undefined && "resources" in value;
}

/** The name of the message, or of its successor for one of v2. */
function v3Name(typeUrl: string): string {
  const name = typeNameOf(typeUrl);
  return v3NameOf(name) ?? name;
}

/** A resource's own name, for messages about it. */
function nameIn(item: JsonObject): string | undefined {
  const key = ["name", "cluster_name", "clusterName"].find((key) => (item[key] ?? null) !== null);
  // `name: on` in YAML is a boolean elsewhere.
  const name = key === undefined ? undefined : (writtenAs(item, key) ?? item[key]);
  return typeof name === "string" && name !== "" ? name : undefined;
}
