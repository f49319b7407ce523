import { Document, visit } from "yaml";

/**
 * Texts that some reader takes for something else, besides what YAML 1.2 and 1.1 themselves say: `0X1F` (Envoy), `=`
 * and `<<` (the keys of YAML 1.1), numbers with separators at any place (Go, Ruby), what begins with a colon (Ruby),
 * and what has a tab in it (Python).
 */
const mistakable = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^(?:[-+]?_*0_*[xob][\da-f_]*|[-+]?(?=[\d.:]*[_,])[\d_,.:]*(?:e[-+]?[\d_]*)?|=|<<|:.*|.*\t.*)$/is,
  identify: () => false,
  resolve: (source: string) => source,
};

/** Numbers that need a point: without it `1e-7` is text in YAML 1.1, and `-0` an integer, which has no sign. */
const pointed = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  test: /^[-+]?\d+\.0(?:e[-+]?\d+)?$/,
  identify: (value: unknown) => typeof value === "number" && (Object.is(value, -0) || /^-?\d+e/.test(String(value))),
  resolve: Number,
  stringify: ({ value }: { readonly value: unknown }) =>
    Object.is(value, -0) ? "-0.0" : String(value).replace("e", ".0e"),
};

/** Line ends of YAML 1.1, and characters that readers refuse or drop. */
const unprintable = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/;

/**
 * Writes a JSON value as YAML that Envoy's reader and ours read alike, and other readers too: what any of them takes
 * for something else is quoted, such as `yes`, `no`, `on`, `off`, `=` and `1_000`.
 */
export function writeYaml(value: unknown): string {
  const document = new Document(value, {
    aliasDuplicateObjects: false,
    compat: "yaml-1.1",
    customTags: (tags) => [pointed, ...tags, mistakable],
  });
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value !== "string") return;
      // A block scalar would lose lines of spaces, must not begin with a tab, and has no escapes.
      if (/[ \t]\n|^[ \n]*\t/.test(scalar.value) || unprintable.test(scalar.value)) scalar.type = "QUOTE_DOUBLE";
    },
  });
  const text = document.toString({ lineWidth: 0 });
  return text.replaceAll(
    new RegExp(unprintable, "g"),
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
