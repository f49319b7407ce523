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
  const { service } = own;
  return {
    schema,
    name: own.name ?? typeName,
    ...(own.abbreviation === undefined ? {} : { abbreviation: own.abbreviation }),
    ...(own.name_field === undefined ? {} : { nameOf: own.name_field }),
    ...(own.path === undefined ? {} : { restPath: own.path }),
    wildcard: own.wildcard ?? true,
    ...(own.after === undefined ? {} : { after: own.after }),
    ...(service === undefined ? {} : { service: definedOf(service) }),
  };
}

/** Without undefined values. */
function definedOf(service: NonNullable<OwnType["service"]>): NonNullable<OwnResourceType["service"]> {
  const { name, stream, delta, fetch } = service;
  return {
    name,
    ...(stream === undefined ? {} : { stream }),
    ...(delta === undefined ? {} : { delta }),
    ...(fetch === undefined ? {} : { fetch }),
  };
}
