import type { Registry } from "@bufbuild/protobuf";
import { nearestName } from "../errors/nearest-name.js";
import { typeNameOf } from "../names/identifiers.js";

/** Explains an unknown type URL: the name that was probably meant, or how to make the type known. */
export function unknownTypeMessage(typeUrl: string, registry: Registry): string {
  const name = typeNameOf(typeUrl);
  const meant = nearestName(name, messageNames(registry));
  if (meant !== undefined) return `the type ${name} is not known; did you mean "type.googleapis.com/${meant}"?`;
  return (
    `the type ${name} is not known; an extension of your own is made known by its descriptor set: ` +
    "--descriptors FILE of the command, descriptorSets of createRegistry"
  );
}

function* messageNames(registry: Registry): Iterable<string> {
  for (const type of registry) if (type.kind === "message") yield type.typeName;
}
