import { type ApiVersion, type ResourceType, type TypeUrl, unknownResourceType } from "@xdskit/api";
import { longestText } from "../../model/basics/limits.js";
import type { StreamOptions } from "../contract/options.js";

/** The type that a request asks for, or the reason for a refusal. */
type RequestedType =
  | { readonly kind: "type"; readonly type: ResourceType; readonly api: ApiVersion; readonly typeUrl: TypeUrl }
  | { readonly kind: "refused"; readonly message: string };

/**
 * The type that a request is about. The answer is in the API version of the type URL, whatever the method's version is:
 * a client's resource version and its transport version are two settings.
 */
export function requestedType(typeUrl: TypeUrl, { types, only, api }: StreamOptions): RequestedType {
  if (typeUrl === "") {
    // Rules 158, 159.
    if (only === undefined) return refused("type_url is missing: an aggregated stream cannot tell what is asked for");
    return ofType(only, api);
  }
  const known = types.byTypeUrl(typeUrl);
  if (only !== undefined) {
    // Rule 160.
    if (known === undefined || known.type.typeUrl !== only.typeUrl) {
      return refused(
        `type_url ${JSON.stringify(shortTypeUrl(typeUrl))} does not belong to this method, which is for ${only.typeUrl}`,
      );
    }
    return ofType(only, known.api);
  }
  if (known !== undefined) return ofType(known.type, known.api);
  // Rule 161.
  if (typeUrl.length > longestText) return refused(`type_url is longer than ${longestText} characters`);
  return { kind: "type", type: unknownResourceType(typeUrl), api: "v3", typeUrl };
}

function ofType(type: ResourceType, api: ApiVersion): RequestedType {
  return { kind: "type", type, api, typeUrl: typeUrlIn(type, api) };
}

/** The type's URL in a version of the API; v3's if the type has none in v2. */
export function typeUrlIn(type: ResourceType, api: ApiVersion): TypeUrl {
  return api === "v2" ? (type.v2TypeUrl ?? type.typeUrl) : type.typeUrl;
}

function refused(message: string): RequestedType {
  return { kind: "refused", message };
}

function shortTypeUrl(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
