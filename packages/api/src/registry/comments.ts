import { generatedFile } from "./generated-file.js";

let comments: ReadonlyMap<string, string> | undefined;

/**
 * What the authors of Envoy's protos say of a message, field, enum or value, by its full name
 * (`envoy.config.cluster.v3.Cluster.connect_timeout`): plain text, paragraphs with an empty line between them.
 * Undefined where they say nothing, for contrib, and for what is newer than the protos that the build reads. Read on
 * first use.
 */
export function commentOf(name: string): string | undefined {
  comments ??= new Map(
    Object.entries(JSON.parse(new TextDecoder().decode(generatedFile("comments.json"))) as Record<string, string>),
  );
  return comments.get(name);
}
