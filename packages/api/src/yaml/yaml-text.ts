import { Document, visit } from "yaml";

/** A text that is a number to Envoy, but not in YAML 1.2 and 1.1. */
const upperHex = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^[-+]?0X[\da-f]+$/i,
  identify: () => false,
  resolve: (source: string) => source,
};

/**
 * Writes a JSON value as YAML that Envoy's reader and ours read alike. Everything that means something else in YAML
 * 1.1, such as `yes`, `no`, `on` and `off`, is quoted.
 */
export function writeYaml(value: unknown): string {
  const document = new Document(value, {
    aliasDuplicateObjects: false,
    compat: "yaml-1.1",
    customTags: (tags) => [...tags, upperHex],
  });
  visit(document, {
    Scalar(_, scalar) {
      // A block scalar would lose lines of spaces.
      if (typeof scalar.value === "string" && /[ \t]\n/.test(scalar.value)) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 });
}
