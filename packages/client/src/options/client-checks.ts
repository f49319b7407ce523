import { type Finding, noSuchType, type Registry, type ResourceTypes, validateMessage, XdskitError } from "@xdskit/api";
import type { CheckMessage } from "@xdskit/protocol";
import type { ClientOptions } from "./client-options.js";
import { levelOf } from "./validate-level.js";

/**
 * The checks of a message that the level demands and that the program adds. Undefined if there are none, so that no
 * message need be read. Throws an XdskitError (XDSKIT_CLIENT_OPTION) for checks of an unknown type.
 */
export function clientChecks(
  { validate, checks = {} }: Pick<ClientOptions, "validate" | "checks">,
  types: ResourceTypes,
  registry: Registry | undefined,
): CheckMessage | undefined {
  const own = Object.entries(checks).map(([name, check]) => {
    const type = types.find(name);
    if (name === "*" || type !== undefined) return { type, check };
    throw XdskitError.of("XDSKIT_CLIENT_OPTION", `checks: ${noSuchType(name, types)}`);
  });
  const level = levelOf(validate);
  if (level === "off" && own.length === 0) return undefined;
  const rules = level === "full";
  return (type, name, message) => {
    const where = { type: type.name, resource: name };
    const findings: Finding[] =
      level === "off" ? [] : validateMessage(message, { registry, rules }).map((finding) => ({ ...finding, ...where }));
    const failed = (text: string) => {
      findings.push({ code: "XDSKIT_CHECK_FAILED", severity: "error", message: text, ...where });
    };
    for (const each of own) {
      if (each.type !== undefined && each.type !== type) continue;
      try {
        const found = each.check(message, { type, name });
        if (typeof found === "string") failed(found);
        else findings.push(...(found ?? []));
      } catch (error) {
        failed(`the check threw: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return findings;
  };
}
