declare const brand: unique symbol;
type Branded<Base, Brand extends string> = Base & { readonly [brand]?: Brand };

/** `type.googleapis.com/` and the full name of a message: what `Any.type_url` and `DiscoveryRequest.type_url` hold. */
export type TypeUrl = Branded<string, "TypeUrl">;
/** The name by which a resource of one type is asked for; unique within its type. Old style, or an `xdstp://` URL. */
export type ResourceName = Branded<string, "ResourceName">;
/** The version of one resource (delta `Resource.version`) or of a type's whole set (`version_info`). Opaque to clients. */
export type Version = Branded<string, "Version">;
/** Names one response on one stream; the client echoes it in `response_nonce`. */
export type Nonce = Branded<string, "Nonce">;

/** The version of the transport and of the messages in it: `envoy.api.v2` of 2017–2021, or v3. */
export type ApiVersion = "v2" | "v3";

/** What every type URL of Envoy's APIs starts with. */
export const typeUrlPrefix = "type.googleapis.com/";
