import type { Registry } from "@bufbuild/protobuf";
import { nearestName } from "./nearest-name.js";

/** What to tell about a type URL that the registry does not know: the name that was meant, or how to make the type known. */
export function unknownTypeMessage(typeUrl: string, registry: Registry): string {
  const name = typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
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
