import {
  type Finding,
  type OwnResourceType,
  type Registry,
  type ResourceTypes,
  typesOfMessages,
  typeUrlPrefix,
  XdskitError,
} from "@xdskit/api";
import type { LoadedSettings } from "./load-settings.js";
import type { Settings } from "./schema.js";
import { defined } from "./server-settings.js";

/**
 * The types of resources: the built-in ones, every message of the descriptor sets, and the changes in `types` of the
 * settings. Throws an XdskitError that names the place in the settings.
 */
export function typesFor(
  registry: Registry,
  { file, settings }: LoadedSettings<Pick<Settings, "types">>,
): ResourceTypes {
  const definitions = (settings.types ?? []).map((own, index) => definitionOf(own, registry, `types[${index}]`, file));
  try {
    return typesOfMessages(registry, definitions);
  } catch (error) {
    if (!(error instanceof XdskitError) || file === undefined) throw error;
    const [first, ...more] = error.findings.map((finding) => ({ ...finding, file, field: finding.field ?? "types" }));
    throw new XdskitError([first as Finding, ...more], { cause: error });
  }
}

type OwnType = NonNullable<Settings["types"]>[number];

function definitionOf(own: OwnType, registry: Registry, field: string, file: string | undefined): OwnResourceType {
  const typeName = own.type.startsWith(typeUrlPrefix) ? own.type.slice(typeUrlPrefix.length) : own.type;
  const schema = registry.getMessage(typeName);
  if (schema === undefined) {
    const hint = "give its descriptor set: `descriptors` in the settings, or --descriptors";
    const message = `there is no message ${JSON.stringify(typeName)}; ${hint}`;
    throw XdskitError.of("XDSKIT_TYPE_DEFINITION", message, { file, field: `${field}.type` });
  }
  const { abbreviation, name_field: nameOf, path: restPath, after, service } = own;
  return {
    schema,
    name: own.name ?? typeName,
    wildcard: own.wildcard ?? true,
    ...defined({
      abbreviation,
      nameOf,
      restPath,
      after,
      service: service && { name: service.name, ...defined(service) },
    }),
  };
}
