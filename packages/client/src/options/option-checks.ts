import { XdskitError } from "@xdskit/api";
import type { ClientOptions } from "./client-options.js";
import { checkClientCall } from "./option-tables.js";
import { validateLevels } from "./validate-level.js";

/**
 * Checks what types alone cannot: times, counts and words. Throws an XdskitError (XDSKIT_CLIENT_OPTION) that names the
 * option.
 */
export function checkOptions(options: ClientOptions): void {
  checkClientCall("createClient", options);
  const { servers, authorities, types, registry, backoff, limits, absentAfterMs, nodeOn, fallback, node, validate } =
    options;
  if (node === undefined || !("$typeName" in node)) checkClientCall("createClient: node", node);
  // Authorities without servers of their own have the others'.
  if ((servers?.length ?? 0) === 0 && !Object.values(authorities ?? {}).some((own) => (own?.servers?.length ?? 0) > 0))
    throw wrongOption("servers", 'a list of servers, such as ["127.0.0.1:18000"]', servers);
  if (types !== undefined && typeof types.find !== "function")
    throw XdskitError.of("XDSKIT_CLIENT_OPTION", "types must be what createResourceTypes of @xdskit/api returns");
  if (registry !== undefined && typeof registry.getMessage !== "function")
    throw XdskitError.of("XDSKIT_CLIENT_OPTION", "registry must be what createRegistry of @xdskit/api returns");
  if (nodeOn !== undefined && nodeOn !== "first" && nodeOn !== "every")
    throw wrongOption("nodeOn", '"first" or "every"', nodeOn);
  if (fallback !== undefined && fallback !== "when-lacking" && fallback !== "when-away")
    throw wrongOption("fallback", '"when-lacking" or "when-away"', fallback);
  if (validate !== undefined && typeof validate !== "boolean" && !validateLevels.includes(validate))
    throw wrongOption("validate", '"full", "types" or "off"', validate);
  if (absentAfterMs !== undefined && !(absentAfterMs > 0)) {
    throw wrongOption("absentAfterMs", "milliseconds above 0", absentAfterMs);
  }
  for (const [option, value] of Object.entries(limits ?? {})) {
    if (value !== undefined && !(value > 0)) throw wrongOption(`limits.${option}`, "a number above 0", value);
  }
  const { firstMs, factor, maxMs, jitter } = backoff ?? {};
  // With 0 milliseconds the client would ask a server that is away without a pause.
  if (firstMs !== undefined && !(firstMs > 0)) throw wrongOption("backoff.firstMs", "milliseconds above 0", firstMs);
  if (maxMs !== undefined && !(maxMs > 0)) throw wrongOption("backoff.maxMs", "milliseconds above 0", maxMs);
  if (factor !== undefined && !(factor >= 1)) throw wrongOption("backoff.factor", "a number from 1 up", factor);
  if (jitter !== undefined && !(jitter >= 0 && jitter <= 1)) throw wrongOption("backoff.jitter", "from 0 to 1", jitter);
}

function wrongOption(option: string, wanted: string, value: unknown): XdskitError {
  const message = `${option} is ${JSON.stringify(value) ?? String(value)}, and has to be ${wanted}`;
  return XdskitError.of("XDSKIT_CLIENT_OPTION", message, { field: option });
}
