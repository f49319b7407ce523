import type { Message } from "@bufbuild/protobuf";
import type { Any } from "@bufbuild/protobuf/wkt";
import {
  type Finding,
  type KeptAsBytes,
  keptFindings,
  type ReadableJsonOptions,
  type Registry,
  readableJson,
  redacted,
  writeYaml,
  XdskitError,
} from "@xdskit/api";
import type { ReceivedResource } from "@xdskit/protocol";

/** The JSON of a resource, and what is wrong if it is not complete. */
export interface JsonWithProblem {
  readonly json: Readonly<Record<string, unknown>>;
  readonly problem: string | undefined;
}

const shownWrapperUrl = "type.googleapis.com/envoy.service.discovery.v3.Resource";

/** How resources are shown: without secrets by default. */
export interface ShownResources {
  /** How many times a resource was shown without its secrets. */
  readonly leftOut: number;
  /** Proto3 JSON, with its `"@type"`. */
  json(resource: ReceivedResource): JsonWithProblem;
  /**
   * A document as `xdskit serve` reads it: wrapped if it has a TTL, aliases, or a name that its message does not
   * hold.
   */
  yaml(resource: ReceivedResource): string;
}

/**
 * `registry`: includes the user's own messages. `incomplete`: told once of each resource with a part that JSON and YAML
 * have only in base64, and not at all without secrets.
 */
export function createResourceView(
  registry: Registry,
  secrets: boolean,
  incomplete: (findings: readonly Finding[]) => void = () => {},
): ShownResources {
  let leftOut = 0;
  const noted = new WeakSet<ReceivedResource>();
  const note = (resource: ReceivedResource, kept: readonly KeptAsBytes[]) => {
    if (noted.has(resource)) return;
    noted.add(resource);
    incomplete(keptFindings(resource, kept));
  };
  const noteLeftOut = () => {
    leftOut += 1;
  };
  const shown = (resource: ReceivedResource, fieldNames: ReadableJsonOptions["fieldNames"]): JsonWithProblem => {
    try {
      const { message } = resource;
      if (isAny(message)) return { json: unknownJson(message, secrets, noteLeftOut), problem: undefined };
      return {
        json: readableJson(message, {
          registry,
          secrets,
          fieldNames,
          leftOut: noteLeftOut,
          kept: (kept) => note(resource, kept),
        }),
        problem: undefined,
      };
    } catch (error) {
      if (!(error instanceof XdskitError)) throw error;
      return { json: { "@type": resource.type.typeUrl }, problem: error.message };
    }
  };
  return {
    get leftOut(): number {
      return leftOut;
    },
    json: (resource: ReceivedResource): JsonWithProblem => shown(resource, "json"),
    yaml: (resource: ReceivedResource): string => {
      const { json, problem } = shown(resource, "proto");
      const document = problem === undefined && isBare(resource) ? json : wrappedView(resource, json);
      const text = writeYaml(document);
      return problem === undefined ? text : `# its content cannot be shown: ${problem.replaceAll("\n", " ")}\n${text}`;
    },
  };
}

/** For an unknown type, its URL and its bytes are all there is; the bytes may hold secrets. */
function unknownJson({ typeUrl, value }: Any, secrets: boolean, leftOut: () => void): JsonWithProblem["json"] {
  if (value.byteLength === 0) return { "@type": typeUrl };
  if (!secrets) leftOut();
  return { "@type": typeUrl, "@value": secrets ? Buffer.from(value).toString("base64") : redacted };
}

const isAny = (message: Message): message is Any => message.$typeName === "google.protobuf.Any";

function isBare({ type, name, aliases, ttl, message }: ReceivedResource): boolean {
  // A resource of an unknown type cannot be written as a file that can be served, and may have no name of its own.
  if (type.anyContent) return ttl === undefined;
  return aliases.length === 0 && ttl === undefined && type.nameOf(message) === name;
}

function wrappedView({ name, aliases, ttl }: ReceivedResource, resource: JsonWithProblem["json"]) {
  return {
    "@type": shownWrapperUrl,
    name,
    ...(aliases.length > 0 ? { aliases } : {}),
    ...(ttl === undefined ? {} : { ttl: durationText(ttl) }),
    resource,
  };
}

/** Milliseconds as a duration in protobuf's JSON: `1.5s`. */
export function durationText(milliseconds: number): string {
  return `${milliseconds / 1000}s`;
}
