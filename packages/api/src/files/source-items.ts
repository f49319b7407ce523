import { create, type DescMessage, type JsonObject, type JsonValue, type Registry } from "@bufbuild/protobuf";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import { type DocumentReader, takeForm } from "../adoption/document-taker.js";
import type { Form } from "../adoption/form.js";
import { formOf, hintFor } from "../adoption/recognize.js";
import { CompiledResources } from "../compiled/compiled-resources.js";
import type { FieldStep } from "../errors/field-path.js";
import { mayHideMistakes } from "../json/json-expected.js";
import { readJsonMessage, without } from "../json/json-message.js";
import { unknownTypeMessage } from "../messages/unknown-type.js";
import { schemaOf, v3NameOf } from "../messages/v2-names.js";
import { withV2Names } from "../messages/v2-names-registry.js";
import { typeNameOf } from "../names/identifiers.js";
import { addFinding, addResource, type FilePart, type FileReading } from "../reading/file-reading.js";
import { readAny, unpack } from "../reading/message-items.js";
import { mayLackSecrets } from "../redact/left-out-secrets.js";
import { responseName, type Wrapping, wrappedVersionOf, wrapperName, wrappingOf } from "../resources/wrapping.js";
import type { FileText } from "../text/file-text.js";
import type { SourceDocument, SyntaxProblem } from "../text/source-document.js";
import { isObject } from "../text/source-document.js";
import { readBinaryForm } from "../unknown/json-reader.js";
import { isBinaryForm } from "../unknown/keys.js";

/** Reads the documents of a YAML or JSON file: each is a resource, a list of resources, or a discovery response. */
export function readSource(
  reading: FileReading,
  file: FileText,
  source: { readonly documents: Iterable<SourceDocument>; readonly problems: readonly SyntaxProblem[] },
): void {
  for (const { offset, message } of source.problems) {
    addFinding(reading, { at: () => file.at(offset) }, "XDSKIT_SYNTAX", message);
  }
  if (source.problems.length > 0) return;
  const compiled = reading.places ? undefined : new CompiledResources(reading);
  // Computed only if the compiled pass leaves something to the explaining readers.
  let careful: boolean | undefined;
  const isCareful = () => {
    careful ??= mayHideMistakes(file.text);
    return careful;
  };
  try {
    for (const document of source.documents) {
      new SourceItems(reading, file, document, compiled, isCareful).readDocument(document.value);
    }
  } finally {
    compiled?.end();
  }
}

/** Reads single resources of a document, wherever they stand in it. Call `end` after the last. */
export function itemReader(reading: FileReading, file: FileText, document: SourceDocument) {
  const compiled = new CompiledResources(reading);
  let careful: boolean | undefined;
  const isCareful = () => {
    careful ??= mayHideMistakes(file.text);
    return careful;
  };
  const items = new SourceItems(reading, file, document, compiled, isCareful);
  return {
    read: (item: JsonValue, steps: readonly FieldStep[]): void => items.readItem(item, steps),
    end: (): void => compiled.end(),
  };
}

class SourceItems implements DocumentReader {
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
    if (form !== undefined) {
      takeForm(form, this.reading, this);
    } else if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) this.readItem(value[index] as JsonValue, [index]);
    } else if (isObject(value) && isResponse(value)) {
      this.readResponse(value);
    } else {
      this.readItem(value, []);
    }
  }

  /** The form of a document that does not hold plain resources. Parts of one list all have the same form. */
  private formOf(value: JsonValue): Form | undefined {
    if (isObject(value)) return isResponse(value) ? undefined : formOf(value);
    const { resources, findings, adoptions } = this.reading;
    return adoptions.length > 0 || resources.length + findings.length === 0 ? formOf(value) : undefined;
  }

  readTyped(item: JsonObject, url: string, steps: readonly FieldStep[], isDump: boolean): void {
    if (this.take(item, url, steps, {})) return;
    this.readResource(item, url, { ...this.partAt(steps, url, nameIn(item)), isDump }, {});
  }

  private readResponse(response: JsonObject): void {
    const { resources } = response;
    const others = without(response, "@type", "resources");
    const schema = this.reading.registry.getMessage(responseName);
    const part = this.partAt([], undefined);
    const head = schema === undefined ? undefined : this.readMessage(schema, others, part);
    if (head !== undefined) this.reading.version = wrappedVersionOf(head);
    const declared = others.type_url ?? others.typeUrl;
    if (resources === undefined || resources === null) return;
    const type = typeof declared === "string" && declared !== "" ? declared : undefined;
    if (Array.isArray(resources)) {
      for (const [index, item] of resources.entries()) this.readItem(item, ["resources", index], type);
    } else if (isObject(resources)) {
      this.readItem(resources, ["resources"], type);
    } else {
      addFinding(this.reading, part, "XDSKIT_FIELD_INVALID", "expected a list of resources", ["resources"]);
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
    const message = this.readMessage(schema, without(item, "@type"), part);
    if (message !== undefined) addResource(this.reading, part, schema, message, wrapping);
  }

  private readMessage(schema: DescMessage, json: JsonValue, part: FilePart) {
    const read = readJsonMessage(schema, json, this.registry, { careful: this.isCareful() });
    if (read.kind === "message") return read.message;
    for (const { code, message, steps } of read.problems) addFinding(this.reading, part, code, message, steps);
    return undefined;
  }

  partAt(base: readonly FieldStep[], typeUrl: string | undefined, resource?: string): FilePart {
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
  const name = item.name ?? item.cluster_name ?? item.clusterName;
  return typeof name === "string" && name !== "" ? name : undefined;
}
