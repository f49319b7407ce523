import { type DescMessage, getOption, hasOption, type Registry } from "@bufbuild/protobuf";
import { type TypeUrl, typeUrlPrefix } from "../names/identifiers.js";
import { perObject } from "../names/per-object.js";
import { envoyRegistry } from "../registry/registry.js";

let v3Names: ReadonlyMap<string, string> | undefined;

/** By v2 name, from the annotation of every v3 message with a predecessor. This reads all of Envoy's files. */
function readV3Names(): ReadonlyMap<string, string> {
  if (v3Names === undefined) {
    const names = new Map<string, string>();
    for (const type of envoyRegistry()) {
      const v2 = type.kind === "message" ? annotatedName(type) : undefined;
      if (v2 !== undefined) names.set(v2, type.typeName);
    }
    v3Names = names;
  }
  return v3Names;
}

/** The v2 name of a v3 message, by its annotation. */
const annotatedName = perObject((message: DescMessage): string | undefined => {
  const versioning = envoyRegistry().getExtension("udpa.annotations.versioning");
  if (versioning === undefined) throw new Error("gen/envoy.binpb lacks udpa.annotations.versioning");
  return hasOption(message, versioning) ? previousName(getOption(message, versioning)) : undefined;
});

function previousName(annotation: unknown): string | undefined {
  if (typeof annotation !== "object" || annotation === null || !("previousMessageType" in annotation)) return undefined;
  const { previousMessageType: name } = annotation;
  if (typeof name !== "string" || name === "") return undefined;
  // Two annotations name a v3 message: ExtAuthz's is a typo, LbSubsetConfig's names a message that v2 did not have.
  if (name === "envoy.config.filter.http.ext_authz.v3.ExtAuthz") return name.replace(".v3.", ".v2.");
  return name.includes(".v3.") ? undefined : name;
}

/** The full name of a v2 message's v3 successor, or undefined. */
export function v3NameOf(v2Name: string): string | undefined {
  return mayBeOfV2(v2Name) ? readV3Names().get(v2Name) : undefined;
}

/** Common names of v3 and other messages need no annotations. */
function mayBeOfV2(name: string): boolean {
  return name.startsWith("envoy.") && !name.includes(".v3.");
}

/** The full name of a v3 message's v2 predecessor; undefined if v2 had none. */
export function v2NameOf(schema: Pick<DescMessage, "typeName">): string | undefined {
  const message = envoyRegistry().getMessage(schema.typeName);
  return message && annotatedName(message);
}

/** The schema for a type name; for a v2 name the schema of its v3 successor. */
export function schemaOf(typeName: string, registry: Registry): DescMessage | undefined {
  const v3 = typeName.includes(".v3.") ? undefined : v3NameOf(typeName);
  return registry.getMessage(v3 ?? typeName);
}

/** The v3 type URL for a v2 type URL; undefined if it is not one, or has no successor. */
export function v3TypeUrlOf(typeUrl: string): TypeUrl | undefined {
  const v3 = v3NameOf(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
  return v3 === undefined ? undefined : `${typeUrlPrefix}${v3}`;
}

/** The v2 type URL for a v3 type URL; undefined if v2 had no such message. */
export function v2TypeUrlOf(typeUrl: string): TypeUrl | undefined {
  const v2 = v2NameOf({ typeName: typeUrl.slice(typeUrl.lastIndexOf("/") + 1) });
  return v2 === undefined ? undefined : `${typeUrlPrefix}${v2}`;
}
