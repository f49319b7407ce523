import { type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import { type TypeUrl, typeUrlPrefix } from "../identifiers.js";
import { envoyRegistry } from "../registry.js";

interface Names {
  readonly v3ByV2: ReadonlyMap<string, string>;
  readonly v2ByV3: ReadonlyMap<string, string>;
}

let names: Names | undefined;

/** Both directions, from the annotation that every v3 message with a predecessor in v2 carries. */
function readNames(): Names {
  if (names === undefined) {
    const v3ByV2 = new Map<string, string>();
    const v2ByV3 = new Map<string, string>();
    const registry = envoyRegistry();
    const versioning = registry.getExtension("udpa.annotations.versioning");
    if (versioning === undefined) throw new Error("gen/envoy.binpb lacks udpa.annotations.versioning");
    for (const type of registry) {
      if (type.kind !== "message" || !hasOption(type, versioning)) continue;
      const previous = previousName(getOption(type, versioning));
      if (previous === undefined) continue;
      v2ByV3.set(type.typeName, previous);
      v3ByV2.set(previous, type.typeName);
    }
    names = { v3ByV2, v2ByV3 };
  }
  return names;
}

function previousName(annotation: unknown): string | undefined {
  if (typeof annotation !== "object" || annotation === null || !("previousMessageType" in annotation)) return undefined;
  const { previousMessageType: name } = annotation;
  if (typeof name !== "string" || name === "") return undefined;
  // Two annotations name a v3 message: ExtAuthz's is a slip of the pen, LbSubsetConfig's is of a message that v2 did not have.
  if (name === "envoy.config.filter.http.ext_authz.v3.ExtAuthz") return name.replace(".v3.", ".v2.");
  return name.includes(".v3.") ? undefined : name;
}

/** The full name of a v2 message's successor in v3, or undefined. */
export function v3NameOf(v2Name: string): string | undefined {
  return mayBeOfV2(v2Name) ? readNames().v3ByV2.get(v2Name) : undefined;
}

/** Spares the common question about a message of v3, or of others, the reading of all annotations. */
function mayBeOfV2(name: string): boolean {
  return name.startsWith("envoy.") && !name.includes(".v3.");
}

/** The full name of a v3 message's predecessor in v2, or undefined where v2 had none. */
export function v2NameOf(schema: Pick<DescMessage, "typeName">): string | undefined {
  return readNames().v2ByV3.get(schema.typeName);
}

/** The v3 type URL for a type URL of v2; undefined where it is not one, or its message did not live on. */
export function v3TypeUrlOf(typeUrl: string): TypeUrl | undefined {
  const v3 = v3NameOf(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
  return v3 === undefined ? undefined : `${typeUrlPrefix}${v3}`;
}

/** The v2 type URL for a type URL of v3; undefined where v2 had no such message. */
export function v2TypeUrlOf(typeUrl: string): TypeUrl | undefined {
  const v2 = readNames().v2ByV3.get(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
  return v2 === undefined ? undefined : `${typeUrlPrefix}${v2}`;
}
