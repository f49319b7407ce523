import { stringify } from "yaml";

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
  return stringify(value, {
    lineWidth: 0,
    aliasDuplicateObjects: false,
    compat: "yaml-1.1",
    customTags: (tags) => [...tags, upperHex],
  });
}
