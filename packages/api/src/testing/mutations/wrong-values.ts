import { ScalarType } from "@bufbuild/protobuf";

/** A value and its notation. */
export type Wrong = readonly [shown: string, value: unknown];

const shown = (text: string): Wrong => [JSON.stringify(text.length > 40 ? `${text.slice(0, 20)}…` : text), text];

/** Texts that mostly are wrong: some anywhere, some by the field's name. */
export function wrongTexts(name: string, value: string): readonly Wrong[] {
  const texts = ["", " ", "a b", "a\nb", "a\0b", "%", "*", "é", "x".repeat(300), value.toUpperCase(), `${value} `];
  if (/regex|pattern/.test(name)) texts.push("(", "(?=a)", "[z-a]", "a{2000}", "\\8", "(?P<a>b)(?P<a>c)");
  if (/address|host|prefix$|^ip/.test(name))
    texts.push("a.b", "1.2.3", "1.2.3.4.5", "::g", "127.0.0.1/8", "::1", "0.0.0.0");
  if (/domain|host|server_name/.test(name)) texts.push("*.*", "a*", "*a", "a*b", "A.B");
  if (/path|prefix|rewrite|redirect/.test(name)) texts.push("/a?b", "/a#b", "a", "//", "/%zz");
  if (/key|header|name/.test(name)) texts.push(":path", "host", "x_y", "X-Y", "a:b", "\u007f");
  if (/value|format|substitution|body|string/.test(name)) texts.push("%REQ(", "%UNKNOWN%", "%%", "\\9", "%REQ(a)%%");
  return [...new Set(texts)].filter((text) => text !== value).map(shown);
}

/** Bytes that mostly are wrong. */
export function wrongBytes(value: Uint8Array): readonly Wrong[] {
  return [
    ["no bytes", new Uint8Array()],
    ["a zero", new Uint8Array(1)],
    ["one byte less", value.subarray(1)],
    ["a large one", new Uint8Array(10_000)],
  ];
}

/** The ends of a number's range, and the neighbours of the value. */
export function wrongNumbers(scalar: ScalarType | undefined, value: number | bigint): readonly Wrong[] {
  const [least, most] = rangeOf(scalar);
  if (typeof value === "bigint") {
    const numbers = [0n, 1n, value + 1n, value - 1n, BigInt(least), BigInt(most)];
    return [...new Set(numbers)]
      .filter((each) => each !== value && each >= BigInt(least) && each <= BigInt(most))
      .map((each) => [String(each), each]);
  }
  if (scalar === ScalarType.DOUBLE || scalar === ScalarType.FLOAT)
    return [0, -1, 100.5, 1e30, Number.NaN, Number.POSITIVE_INFINITY].map((each) => [String(each), each]);
  const numbers = [0, 1, 2, 100, 101, 65_535, 65_536, value + 1, value - 1, Number(least), Number(most)];
  return [...new Set(numbers)]
    .filter((each) => each !== value && each >= Number(least) && each <= Number(most))
    .map((each) => [String(each), each]);
}

function rangeOf(scalar: ScalarType | undefined): readonly [string, string] {
  switch (scalar) {
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return ["0", "4294967295"];
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return ["0", "18446744073709551615"];
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return ["-9223372036854775808", "9223372036854775807"];
    default:
      return ["-2147483648", "2147483647"];
  }
}
