import assert from "node:assert/strict";
import { test } from "node:test";
import { parseYaml } from "./yaml-source.js";
import { writeYaml } from "./yaml-text.js";

test("a text with lines of spaces alone is read as it was after it is written", () => {
  for (const text of [" \n", "  \n\n", "a \nb", "\n \n", "a\n\t\nb\n", "\ta\nb", "\n\n \ta\nb"]) {
    const { documents, problems } = parseYaml(writeYaml({ [text]: text, list: [text] }));
    assert.deepEqual(problems, [], JSON.stringify(text));
    assert.deepEqual(
      documents.map(({ value }) => value),
      [{ [text]: text, list: [text] }],
    );
  }
});

test("a text that any reader takes for something else is quoted, as a value and as a key", () => {
  const words = ["=", "<<", "~", "null", "Null", "yes", "No", "on", "OFF", "y", "N", "true", "TRUE"];
  const numbers = ["1", "-1", "+1", "007", "08", "0o17", "0x1f", "0X1F", "0b11", "-0b1", "1e3", "1.", ".5", "1.5e-3"];
  const separated = [
    "1_000",
    "1_",
    "-_1",
    "0x_f",
    "0b1_0",
    "1,000",
    "1_0.5",
    "1_0e5",
    "190:20:30",
    "-1:20",
    "20:30.15",
  ];
  const others = [
    ".inf",
    "-.Inf",
    ".NaN",
    "2001-01-01",
    "2001-12-14t21:59:43.10-05:00",
    "2001-12-14 21:59:43",
    ":path",
    "a\tb",
  ];
  for (const word of [...words, ...numbers, ...separated, ...others]) {
    const text = writeYaml({ [word]: word });
    assert.match(text, /^(["']).*\1: (["']).*\2\n$/, text);
    assert.deepEqual(parseYaml(text, "envoy").documents[0]?.value, { [word]: word });
  }
});

test("a text that is plain to every reader is not quoted", () => {
  for (const word of ["web", "a=b", "==", "10.0.0.1", "1.2.3", "0.25s", "fd00::1", "http://a/b", "a_1", "x,y"])
    assert.equal(writeYaml({ a: word }), `a: ${word}\n`);
});

test("line ends of YAML 1.1 and characters that readers drop are escaped", () => {
  for (const mark of ["\x7f", "\x85", "\u2028", "\u2029", "\ufeff", "\x80", "\uffff"]) {
    const value = { [`a${mark}`]: `b${mark}\nc`, list: [`${mark}`] };
    const text = writeYaml(value);
    assert.ok(!text.includes(mark), JSON.stringify(text));
    assert.deepEqual(parseYaml(text).documents[0]?.value, value);
  }
});

test("a long list of numbers that a word ends is written in a time that grows as it does", () => {
  const text = `${"1,".repeat(200_000)}x`;
  const before = process.cpuUsage();
  assert.equal(writeYaml({ a: text }), `a: ${text}\n`);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 20_000_000, `${user + system} µs`);
});

test("a number has a point where YAML 1.1 would read text, or lose the sign of zero", () => {
  for (const [number, text] of [
    [1e-7, "1.0e-7"],
    [-1e-7, "-1.0e-7"],
    [1e21, "1.0e+21"],
    [-1e21, "-1.0e+21"],
    [5e-324, "5.0e-324"],
    [1.5e-7, "1.5e-7"],
    [-0, "-0.0"],
    [0, "0"],
    [5, "5"],
    [-2.5, "-2.5"],
  ] as const) {
    assert.equal(writeYaml({ a: number, b: [number] }), `a: ${text}\nb:\n  - ${text}\n`);
    for (const dialect of ["core", "envoy"] as const) {
      const [read] = parseYaml(`a: ${text}`, dialect).documents;
      assert.deepEqual(read?.value, { a: number });
    }
  }
});
