import { delimited, MalformedMessage, messageReader, type Span, textField, WireReader } from "@xdskit/api/wire";
import { maxLocatorParameters } from "../../model/basics/limits.js";
import { locatorOf, type Parameters, writeParameters } from "../../model/names/locator.js";

/** The content of a `ResourceLocator`. */
export interface Locator {
  /** The name with its parameters, as `locatorOf` writes it; `*` stays as it is. */
  readonly name: string;
  readonly parameters: Parameters;
}

/**
 * Reads a `ResourceLocator`. Throws `MalformedMessage`, also for more parameters than a client can need: they are kept
 * with every name.
 */
export function readLocator(bytes: Uint8Array, span: Span): Locator {
  const reader = new WireReader(bytes, span);
  const parameters = new Map<string, string>();
  let name = "";
  let length = 0;
  let count = 0;
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag === delimited(1)) name = reader.string();
    else if (tag === delimited(2)) {
      const { key, value } = readEntry(bytes, reader.span());
      parameters.set(key, value);
      count += 1;
      length += key.length + value.length;
    } else reader.skip(tag);
    if (count > maxLocatorParameters.count || length > maxLocatorParameters.characters) {
      throw new MalformedMessage(
        `a resource locator has more than ${maxLocatorParameters.count} dynamic parameters, or more than ${maxLocatorParameters.characters} characters of them`,
      );
    }
  }
  return { name: name === "*" ? name : locatorOf(name, parameters), parameters: writeParameters(parameters) };
}

const readEntry = messageReader({ key: textField(1), value: textField(2) });
