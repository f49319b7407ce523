import type { JsonObject } from "@bufbuild/protobuf";

/* Values that several hints use. */

export const httpUri: JsonObject = { uri: "http://127.0.0.1/", cluster: "backend", timeout: "1s" };
export const metadataValue: JsonObject = { key: "text", value: "text" };
