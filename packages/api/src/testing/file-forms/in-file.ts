import type { JsonObject } from "@bufbuild/protobuf";
import type { FileForm } from "./file-form.js";

/** The type of the resource that holds the form: metadata of a cluster may be of any type. */
export const holderUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** A cluster of that name with the form in it, in a file's own language. */
export function clusterWith({ form, type, text }: Pick<FileForm, "form" | "type" | "text">, name: string): string {
  const url = `type.googleapis.com/${type}`;
  if (form === "json") {
    return `{"name": "${name}", "metadata": {"typed_filter_metadata": {"form": {"@type": "${url}", ${text}}}}}`;
  }
  const head = `name: ${name}\nmetadata:\n  typed_filter_metadata:\n    form:\n      "@type": ${url}\n`;
  return `${head}${text.replaceAll(/^/gm, "      ")}\n`;
}

/** The meaning of a form, in such a cluster. */
export function clusterOf({ type }: Pick<FileForm, "type">, name: string, means: JsonObject): JsonObject {
  const content = { "@type": `type.googleapis.com/${type}`, ...means };
  return { name, metadata: { typed_filter_metadata: { form: content } } };
}
