import { noSuchType, type ResourceType, resourceTypes, typesByUrl, XdskitError } from "@xdskit/api";
import type { CrowdInterest } from "../crowd/shared-state.js";
import type { FleetOptions } from "./fleet-options.js";

/** The types that an Envoy asks for. */
const usual = ["cluster", "endpoint", "listener", "route"];

/** Reads `--type`. Throws an XdskitError (XDSKIT_TYPE_NAME_UNKNOWN, XDSKIT_CLIENT_OPTION) for an invalid one. */
export function readInterests({ types, variant, ads }: FleetOptions): readonly CrowdInterest[] {
  const interests = new Map<ResourceType, CrowdInterest>();
  for (const text of types.length === 0 ? usual : types) {
    const interest = readInterest(text);
    if (interests.has(interest.type)) throw wrongInterest(`--type ${interest.type.name} is given twice`);
    if (!ads) mustHaveService(interest.type, variant);
    interests.set(interest.type, interest);
  }
  const all = [...interests.values()];
  if (all.some(({ type, names }) => names !== undefined || type.emptyFirstRequest === "wildcard")) return all;
  const [first] = all;
  throw wrongInterest(
    `nothing says which ${first?.type.name} to ask for: give names (TYPE=NAME,…), or the type that names them`,
  );
}

function readInterest(text: string): CrowdInterest {
  const equals = text.indexOf("=");
  const type = interestType(equals < 0 ? text : text.slice(0, equals));
  if (equals < 0) return { type };
  const names = text
    .slice(equals + 1)
    .split(",")
    .filter((name) => name !== "");
  if (names.length === 0) throw wrongInterest(`--type ${text} has no name behind the =`);
  return { type, names };
}

function interestType(text: string): ResourceType {
  const type = text.includes("/") ? typesByUrl([text]).find(text) : resourceTypes.find(text);
  if (type !== undefined) return type;
  throw XdskitError.of("XDSKIT_TYPE_NAME_UNKNOWN", noSuchType(text, resourceTypes));
}

function mustHaveService({ name, services }: ResourceType, variant: FleetOptions["variant"]): void {
  const service = services.v3;
  if (service === undefined) throw wrongInterest(`${name} has no service of its own: add --ads`);
  if ((variant === "delta" ? service.delta : service.stream) !== undefined) return;
  throw wrongInterest(`the service of ${name} has no method for ${variant}: add --ads`);
}

function wrongInterest(message: string): XdskitError {
  return XdskitError.of("XDSKIT_CLIENT_OPTION", message);
}
