import { Document, visit } from "yaml";

/** A text that Envoy takes for a number, and YAML 1.2 and 1.1 do not. */
const upperHex = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^[-+]?0X[\da-f]+$/i,
  identify: () => false,
  resolve: (source: string) => source,
};

/**
 * Writes a value of JSON as YAML that Envoy's reader and ours take for the same: quotes around everything that means something
 * else to YAML 1.1, such as `yes`, `no`, `on` and `off`.
 */
export function writeYaml(value: unknown): string {
  const document = new Document(value, {
    aliasDuplicateObjects: false,
    compat: "yaml-1.1",
    customTags: (tags) => [...tags, upperHex],
  });
  visit(document, {
    Scalar(_, scalar) {
      // As a block, a line of spaces alone would lose them.
      if (typeof scalar.value === "string" && /[ \t]\n/.test(scalar.value)) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 });
}
