declare const brand: unique symbol;
type Branded<Base, Brand extends string> = Base & { readonly [brand]?: Brand };

/** `type.googleapis.com/` and the full name of a message, as in `Any.type_url` and `DiscoveryRequest.type_url`. */
export type TypeUrl = Branded<string, "TypeUrl">;
/** The name by which clients request a resource; unique within its type. Either a plain name or an `xdstp://` URL. */
export type ResourceName = Branded<string, "ResourceName">;
/**
 * The version of one resource (delta `Resource.version`) or of a type's whole set (`version_info`). Opaque to clients.
 */
export type Version = Branded<string, "Version">;
/** Identifies one response on one stream. The client echoes it in `response_nonce`. */
export type Nonce = Branded<string, "Nonce">;

/** The version of the transport and its messages: `envoy.api.v2` (2017–2021) or v3. */
export type ApiVersion = "v2" | "v3";

/** The prefix of every type URL in Envoy's APIs. */
export const typeUrlPrefix = "type.googleapis.com/";

/** The full name of the message in an `Any`: the part of its type URL after the last slash. */
export function typeNameOf(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf("/") + 1);
}
