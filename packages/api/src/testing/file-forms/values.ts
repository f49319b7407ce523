import { each, type FileForm, otherwise, refused, taken } from "./file-form.js";

const wkt = "google.protobuf";
const cluster = "envoy.config.cluster.v3.Cluster";
const statuses = "envoy.config.core.v3.HealthStatusSet";
const json = (values: readonly string[]) => values.map((value) => `"value": ${value}`);
const yaml = (values: readonly string[]) => values.map((value) => `value: ${value}`);
const valued = (values: readonly string[], means: string | number | boolean) =>
  each('"value"', values, { value: means });
const valuedYaml = (values: readonly string[], means: string | number | boolean) =>
  each("value", values, { value: means });

const enums = "names of enums in any case, and their numbers in quotes";
const booleans = "booleans as text";
const numbers = "numbers as text";
const wider = "other numbers";
const lines = "base64 with white space in it";
const outOfRange = "durations and times out of range";
const base64 = "base64 of any kind";
const times = "durations and times as messages";
const fractions = "fractions and large numbers of YAML";
const tooMuch = "numbers that are no numbers";

/** Single values. */
export const valueForms: readonly FileForm[] = [
  ...taken(enums, cluster, "json", each('"type"', ['"static"', '"Static"', "0", '"0"', "0.0"], { type: "STATIC" })),
  ...taken(
    enums,
    cluster,
    "json",
    each('"type"', ['"strict_dns"', '"Strict_Dns"', "1", '"1"', "1.0"], { type: "STRICT_DNS" }),
  ),
  ...taken(enums, cluster, "json", each('"type"', ["99", '"99"'], { type: 99 })),
  ...taken(enums, cluster, "json", each('"type"', ["-1", '"-1"'], { type: -1 })),
  ...taken(enums, cluster, "yaml", each("type", ["strict_dns", "1", "01", '"1"'], { type: "STRICT_DNS" })),
  ...taken(enums, statuses, "yaml", {
    "statuses: [healthy, Unhealthy, 3]": { statuses: ["HEALTHY", "UNHEALTHY", "DRAINING"] },
  }),
  ...refused(cluster, "json", ['"type": "strictDns"', '"type": "STRICT-DNS"', '"type": "1.0"', '"type": "0x1"']),
  ...refused(cluster, "json", [
    '"type": " EDS"',
    '"type": ""',
    '"type": true',
    '"type": ["EDS"]',
    '"type": 2147483648',
  ]),
  ...refused(cluster, "yaml", ["type: strict-dns", "type: off"]),
  ...otherwise(fractions, cluster, "yaml", { "type: 1.0": { ours: { type: "STRICT_DNS" } } }),
  ...taken(booleans, `${wkt}.BoolValue`, "json", valued(['"true"', '"TRUE"', '"t"', '"yes"', '"y"', '"1"'], true)),
  ...taken(booleans, `${wkt}.BoolValue`, "json", valued(['"false"', '"False"', '"f"', '"NO"', '"n"', '"0"'], false)),
  ...taken(booleans, `${wkt}.BoolValue`, "yaml", valuedYaml(["yes", '"yes"', "On", "t", "Y"], true)),
  ...refused(`${wkt}.BoolValue`, "json", json(["1", "0", "1.0", '""', '"on"', '" true"', "[true]"])),
  ...refused(`${wkt}.BoolValue`, "yaml", yaml(["1", '"on"'])),
  ...taken(
    numbers,
    `${wkt}.UInt32Value`,
    "json",
    valued(['"12"', '"+12"', '"012"', '"12.0"', '"12."', '"0xC"', "1.2e1", '"1.2e1"'], 12),
  ),
  ...taken(numbers, `${wkt}.UInt32Value`, "json", valued(["-0", '"-0"', "-0.0"], 0)),
  ...taken(
    numbers,
    `${wkt}.UInt32Value`,
    "yaml",
    valuedYaml(['"12"', "+12", "12.0", "12.", "1.2e1", "0xC", "014"], 12),
  ),
  ...taken(
    numbers,
    `${wkt}.UInt64Value`,
    "json",
    valued(["18446744073709551615", '"18446744073709551615"'], "18446744073709551615"),
  ),
  ...taken(
    numbers,
    `${wkt}.UInt64Value`,
    "yaml",
    valuedYaml(["9223372036854775807", "0x7fffffffffffffff", "0777777777777777777777"], "9223372036854775807"),
  ),
  ...taken(numbers, `${wkt}.Int64Value`, "json", valued(["-1000", '"-1e3"', "-1e3"], "-1000")),
  ...taken(numbers, `${wkt}.Int32Value`, "yaml", valuedYaml(["-010", '"-8"', "-8.0"], -8)),
  ...taken(numbers, `${wkt}.DoubleValue`, "json", valued(['"1.5"', '"+1.5"', '" 1.5"', '"1.5 "', '"15e-1"'], 1.5)),
  ...taken(numbers, `${wkt}.DoubleValue`, "json", valued(['".5"', "0.5"], 0.5)),
  ...taken(numbers, `${wkt}.DoubleValue`, "json", valued(['"Infinity"', '"inf"', '"+INF"'], "Infinity")),
  ...taken(numbers, `${wkt}.FloatValue`, "json", valued(['"NaN"', '"nan"'], "NaN")),
  ...taken(numbers, `${wkt}.DoubleValue`, "yaml", valuedYaml(["8", "010", "0x8", "8.", '"8"'], 8)),
  ...taken(numbers, `${wkt}.DoubleValue`, "yaml", valuedYaml(["inf", "Infinity"], "Infinity")),
  ...refused(
    `${wkt}.UInt32Value`,
    "json",
    json(["1.5", '"1.5"', "-1", "4294967296", '" 12"', '"12 "', '""', "true", "[12]", '"1_000"']),
  ),
  ...refused(`${wkt}.UInt32Value`, "yaml", yaml(["1_000", "yes", "4294967296", "-1"])),
  ...refused(`${wkt}.UInt64Value`, "json", json(["18446744073709551616", "-5"])),
  ...refused(`${wkt}.DoubleValue`, "json", json(["NaN", "1e400", '"abc"', '""', "true", '"1_0"'])),
  ...otherwise(wider, `${wkt}.UInt32Value`, "json", {
    '"value": "0b11"': { ours: { value: 3 } },
    '"value": "0o17"': { ours: { value: 15 } },
  }),
  ...otherwise(wider, `${wkt}.UInt32Value`, "yaml", { "value: 0o17": { ours: { value: 15 } } }),
  ...otherwise(wider, `${wkt}.DoubleValue`, "yaml", {
    "value: .inf": { ours: { value: "Infinity" } },
    "value: -.INF": { ours: { value: "-Infinity" } },
    "value: .nan": { ours: { value: "NaN" } },
  }),
  ...otherwise(lines, `${wkt}.BytesValue`, "yaml", { "value: |\n  aG\n  k=": { ours: { value: "aGk=" } } }),
  ...otherwise(outOfRange, `${wkt}.Timestamp`, "json", {
    '"value": "2026-13-01T00:00:00Z"': { envoy: { value: "2027-01-01T00:00:00Z" } },
  }),
  ...otherwise(tooMuch, `${wkt}.DoubleValue`, "json", { '"value": "1e400"': { envoy: { value: "Infinity" } } }),
  ...refused(`${wkt}.FloatValue`, "json", json(["1e39"])),
  ...taken(base64, `${wkt}.BytesValue`, "json", valued(['"_-8="', '"/+8="', '"_-8"', '"/-8"'], "/+8=")),
  ...taken(base64, `${wkt}.BytesValue`, "yaml", valuedYaml(["!!binary aGk=", "aGk", '"aGk="'], "aGk=")),
  ...refused(`${wkt}.BytesValue`, "json", json(['"a"', "1234", '"!!!!"'])),
  ...refused(`${wkt}.StringValue`, "json", json(["12", "1.5", "true", '["a"]', '"\\ud800"'])),
  ...refused(`${wkt}.StringValue`, "yaml", yaml(["12", "true", "0x10", "0X1f", "0644", "2147483647"])),
  ...taken(
    times,
    `${wkt}.Duration`,
    "json",
    valued(['"1.5s"', '"1.50s"', '"01.5s"', '{"seconds": 1, "nanos": 500000000}'], "1.5s"),
  ),
  ...taken(times, `${wkt}.Duration`, "yaml", valuedYaml(["-0.5s", "{ nanos: -500000000 }"], "-0.5s")),
  ...refused(
    `${wkt}.Duration`,
    "json",
    json(['"5"', "5", '"1ms"', '".5s"', '"1.s"', '"1s "', '" 1s"', '"+1s"', '"1S"', '"1e3s"', '"1m"', '"1s500ms"']),
  ),
  ...refused(`${wkt}.Duration`, "json", json(['""', '"315576000001s"', '"1.1234567891s"', "[]"])),
  ...taken(
    times,
    `${wkt}.Timestamp`,
    "json",
    valued(['{"seconds": 1}', '"1970-01-01T01:00:01+01:00"'], "1970-01-01T00:00:01Z"),
  ),
  ...refused(
    `${wkt}.Timestamp`,
    "json",
    json(['"2026-01-01"', '"2026-01-01 00:00:00Z"', "0", '"2026-01-01T00:00:00"']),
  ),
  ...taken(times, `${wkt}.Timestamp`, "json", {
    '"value": "2026-02-31T00:00:00Z"': { value: "2026-03-03T00:00:00Z" },
  }),
];
