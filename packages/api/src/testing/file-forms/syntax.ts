import { each, type FileForm, otherwise, refused, taken } from "./file-form.js";

const struct = "google.protobuf.Struct";
const cluster = "envoy.config.cluster.v3.Cluster";
const parameters = "envoy.service.discovery.v3.ResourceLocator";

const words = "YAML's words for booleans";
const octal = "octal and hexadecimal numbers of YAML";
const texts = "numbers of YAML as text";
const ignored = "`!ignore` before a key";
const loose = "JSON with a comma too many, with single quotes, without quotes around keys";
const fractions = "fractions and large numbers of YAML";
const wordTexts = "YAML's words for booleans as text";
const merged = "YAML's merge keys and tags";

/** Forms of YAML and JSON themselves. */
export const syntaxForms: readonly FileForm[] = [
  ...taken(
    words,
    struct,
    "yaml",
    each("value", ["{ a: yes }", "{ a: Y }", "{ a: On }", "{ a: TRUE }", "{ a: true }"], { value: { a: true } }),
  ),
  ...taken(
    words,
    struct,
    "yaml",
    each("value", ["{ a: no }", "{ a: n }", "{ a: OFF }", "{ a: False }"], { value: { a: false } }),
  ),
  ...taken(
    words,
    struct,
    "yaml",
    each("value", ['{ a: "yes" }', "{ a: 'yes' }", "{ a: ! yes }"], { value: { a: "yes" } }),
  ),
  ...taken(words, struct, "yaml", { "value: { a: oFF, b: tRue, c: t }": { value: { a: "oFF", b: "tRue", c: "t" } } }),
  ...taken(words, struct, "yaml", {
    "value: { yes: 1, 010: 2, 1.0: 3, 0x10: 4 }": { value: { yes: 1, "010": 2, "1.0": 3, "0x10": 4 } },
  }),
  ...otherwise(wordTexts, cluster, "yaml", {
    "name: no": { ours: { name: "no" } },
    "name: Y": { ours: { name: "Y" } },
  }),
  ...taken(octal, struct, "yaml", {
    "value: { a: 0644, b: 0x10, c: -010, d: +12, e: -0X1f }": { value: { a: 420, b: 16, c: -8, d: 12, e: -31 } },
  }),
  ...taken(octal, struct, "yaml", {
    "value: { a: 1_000, b: 2001-01-01, c: 1:30, d: 0b11 }": {
      value: { a: "1_000", b: "2001-01-01", c: "1:30", d: "0b11" },
    },
  }),
  ...taken(texts, "google.protobuf.StringValue", "yaml", each("value", ["1.10", "{ value: 1.10 }"], { value: "1.10" })),
  ...taken(texts, cluster, "yaml", each("name", ["1.10", '"1.10"'], { name: "1.10" })),
  ...taken(texts, cluster, "yaml", {
    "name: .5": { name: ".5" },
    "name: 1e3": { name: "1e3" },
    "name: .inf": { name: ".inf" },
    "name: 08": { name: "08" },
    "name: 0o17": { name: "0o17" },
  }),
  ...taken(texts, cluster, "yaml", each("name", ["4294967295", "0xffffffff", "037777777777"], { name: "4294967295" })),
  ...taken(texts, cluster, "yaml", {
    "name: 99999999999999999999": { name: "99999999999999999999" },
    "name: -2147483649": { name: "-2147483649" },
  }),
  ...taken(texts, parameters, "yaml", {
    "dynamic_parameters: { a: 1.50, b: 12345678901 }": { dynamic_parameters: { a: "1.50", b: "12345678901" } },
  }),
  ...otherwise(fractions, struct, "yaml", {
    "value: { a: 1.5 }": { envoy: { value: { a: "1.5" } }, ours: { value: { a: 1.5 } } },
    "value: { a: 12345678901 }": { envoy: { value: { a: "12345678901" } }, ours: { value: { a: 12345678901 } } },
  }),
  ...taken(ignored, struct, "yaml", { "value: { !ignore a: 1, b: 2 }": { value: { b: 2 } } }),
  ...taken(ignored, cluster, "yaml", { "!ignore own: &time 1s\nconnect_timeout: *time": { connect_timeout: "1s" } }),
  ...otherwise(merged, struct, "yaml", {
    "value: { a: !mine 1 }": { envoy: { value: { a: 1 } } },
    "value: { a: &a { b: 1 }, c: { <<: *a, d: 2 } }": {
      envoy: { value: { a: { b: 1 }, c: { "<<": { b: 1 }, d: 2 } } },
      ours: { value: { a: { b: 1 }, c: { b: 1, d: 2 } } },
    },
    "value: { a: !!str 12 }": { envoy: { value: { a: 12 } }, ours: { value: { a: "12" } } },
  }),
  ...refused(cluster, "yaml", ["name: *missing", "[name]: a"]),
  ...taken(loose, cluster, "json", each('"name"', ['"a",', "'a'", "'a' ,"], { name: "a" })),
  ...taken(loose, cluster, "json", {
    "'name': 'a\"b', alt_stat_name : \"c\\'d\"": { name: 'a"b', alt_stat_name: "c'd" },
  }),
  ...taken(loose, cluster, "json", {
    '"name": "a\n\tb"': { name: "a\n\tb" },
    '"health_checks": [{},]': { health_checks: [{}] },
  }),
  ...refused(cluster, "json", [
    '"name": "a",,',
    ', "name": "a"',
    '"health_checks": [,]',
    '"name": "a" /* no */',
    '1: "a"',
    'na-me: "a"',
    'true: "a"',
    '"name": "\\q"',
    "name: a",
  ]),
];
