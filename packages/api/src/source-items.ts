import type { DescMessage, JsonObject, JsonValue, Registry } from "@bufbuild/protobuf";
import { schemaOf, typeNameOf } from "./any.js";
import { CompiledResources } from "./compiled/compiled-resources.js";
import type { FieldStep } from "./field-path.js";
import { addFinding, addResource, type FileReading, type Place, takeResource } from "./file-reading.js";
import type { FileText } from "./file-text.js";
import { mayHaveTrailedDurations } from "./json-explain.js";
import { readJsonMessage, withoutType } from "./json-message.js";
import type { SourceDocument, SyntaxProblem } from "./source-document.js";
import { unknownTypeMessage } from "./unknown-type.js";
import { v3NameOf } from "./v2/names.js";
import { withV2Names } from "./v2-names-registry.js";
import { responseName, versionOf, type Wrapping, wrapperName, wrappingOf } from "./wrapping.js";

/** Reads what a YAML or JSON file holds: resources, lists of them, and discovery responses, one a document. */
export function readSource(
  reading: FileReading,
  file: FileText,
  source: { readonly documents: Iterable<SourceDocument>; readonly problems: readonly SyntaxProblem[] },
): void {
  for (const { offset, message } of source.problems) {
    addFinding(reading, { at: () => file.at(offset) }, "XDSKIT_SYNTAX", message);
  }
  if (source.problems.length > 0) return;
  // Asked for only where the one pass over JSON leaves something to the readers that explain.
  let mayTrail: boolean | undefined;
  const careful = () => {
    mayTrail ??= mayHaveTrailedDurations(file.text);
    return mayTrail;
  };
  for (const document of source.documents) {
    const items = new SourceItems(reading, file, document, careful);
    items.readDocument(document.value);
  }
}

class SourceItems {
  private readonly reading: FileReading;
  private readonly file: FileText;
  private readonly document: SourceDocument;
  private readonly registry: Registry;
  private readonly careful: () => boolean;
  private readonly compiled: CompiledResources | undefined;

  constructor(reading: FileReading, file: FileText, document: SourceDocument, careful: () => boolean) {
    this.reading = reading;
    this.file = file;
    this.document = document;
    this.registry = withV2Names(reading.registry);
    this.careful = careful;
    this.compiled = reading.places ? undefined : new CompiledResources(reading.registry, reading.types);
  }

  readDocument(value: JsonValue): void {
    // A document of comments only, or none at all.
    if (value === null) return;
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) this.readItem(item, [index]);
    } else if (isObject(value) && isResponse(value)) {
      this.readResponse(value);
    } else {
      this.readItem(value, []);
    }
  }

  private readResponse(response: JsonObject): void {
    const { resources, ...others } = withoutType(response);
    const schema = this.reading.registry.getMessage(responseName);
    const place = this.placeOf([], undefined);
    const head = schema === undefined ? undefined : this.readMessage(schema, others, place);
    if (head !== undefined) this.reading.version = versionOf(head);
    const declared = others.type_url ?? others.typeUrl;
    if (resources === undefined || resources === null) return;
    if (!Array.isArray(resources)) {
      addFinding(this.reading, place, "XDSKIT_FIELD_INVALID", "expected a list of resources", ["resources"]);
      return;
    }
    for (const [index, item] of resources.entries()) {
      this.readItem(item, ["resources", index], typeof declared === "string" && declared !== "" ? declared : undefined);
    }
  }

  private readItem(item: JsonValue, steps: readonly FieldStep[], declared?: string): void {
    const { reading } = this;
    if (!isObject(item)) {
      const message = 'expected a resource: a mapping with "@type" and the resource\'s fields';
      addFinding(reading, this.placeOf(steps, undefined), "XDSKIT_FILE_FORM", message);
      return;
    }
    const url = item["@type"];
    const place = this.placeOf(steps, typeof url === "string" ? url : undefined, nameIn(item));
    if (typeof url !== "string" || url === "") {
      const message = 'a resource lacks "@type", such as "type.googleapis.com/envoy.config.cluster.v3.Cluster"';
      addFinding(reading, place, "XDSKIT_TYPE_MISSING", message);
      return;
    }
    const typeName = v3Name(url);
    if (typeName === wrapperName) {
      this.readWrapped(item, steps);
      return;
    }
    if (typeName === responseName) {
      addFinding(reading, place, "XDSKIT_FILE_FORM", "a DiscoveryResponse must be a document of its own");
      return;
    }
    if (declared !== undefined && typeNameOf(declared) !== typeNameOf(url)) {
      const message = `the response's type_url says that it holds ${typeNameOf(declared)}`;
      addFinding(reading, place, "XDSKIT_TYPE_MISMATCH", message);
      return;
    }
    this.readResource(item, url, place, {});
  }

  private readWrapped(wrapper: JsonObject, steps: readonly FieldStep[]): void {
    const { reading } = this;
    const { resource: inner, ...others } = withoutType(wrapper);
    const place = this.placeOf(steps, undefined, nameIn(wrapper));
    const schema = reading.registry.getMessage(wrapperName);
    const read = schema === undefined ? undefined : this.readMessage(schema, others, place);
    if (read === undefined) return;
    const url = isObject(inner) ? inner["@type"] : undefined;
    if (!isObject(inner) || typeof url !== "string" || url === "") {
      const message = 'the wrapped resource must be a mapping with "@type"';
      addFinding(reading, place, "XDSKIT_TYPE_MISSING", message, ["resource"]);
      return;
    }
    this.readResource(
      inner,
      url,
      this.placeOf([...steps, "resource"], url, nameIn(wrapper) ?? nameIn(inner)),
      wrappingOf(read),
    );
  }

  private readResource(item: JsonObject, url: string, place: Place, wrapping: Wrapping): void {
    const made = this.compiled?.read(item, url, wrapping);
    if (made !== undefined) {
      takeResource(this.reading, place, made);
      return;
    }
    const schema = schemaOf(typeNameOf(url), this.reading.registry);
    if (schema === undefined) {
      const message = () => unknownTypeMessage(url, this.reading.registry);
      addFinding(this.reading, place, "XDSKIT_TYPE_UNKNOWN", message);
      return;
    }
    const message = this.readMessage(schema, withoutType(item), place);
    if (message !== undefined) addResource(this.reading, place, schema, message, wrapping);
  }

  private readMessage(schema: DescMessage, json: JsonValue, place: Place) {
    const read = readJsonMessage(schema, json, this.registry, { careful: this.careful() });
    if (read.kind === "message") return read.message;
    for (const { code, message, steps } of read.problems) addFinding(this.reading, place, code, message, steps);
    return undefined;
  }

  private placeOf(base: readonly FieldStep[], typeUrl: string | undefined, resource?: string): Place {
    const at = (steps: readonly FieldStep[]) => this.file.at(this.document.locate([...base, ...steps]));
    return { typeUrl, resource, at };
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The form that Envoy reads from a file: `"@type"` may be missing. */
function isResponse(value: JsonObject): boolean {
  const url = value["@type"];
  return typeof url === "string" ? v3Name(url) === responseName : url === undefined && "resources" in value;
}

/** The name of the message, or of its successor where it is one of v2. */
function v3Name(typeUrl: string): string {
  const name = typeNameOf(typeUrl);
  return v3NameOf(name) ?? name;
}

/** What a resource calls itself, for messages about it. */
function nameIn(item: JsonObject): string | undefined {
  const name = item.name ?? item.cluster_name ?? item.clusterName;
  return typeof name === "string" && name !== "" ? name : undefined;
}
