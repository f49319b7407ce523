import type { ResourceName } from "@xdskit/api";
import { type CarriedNames, quoted, type TextReader } from "./blame-text.js";

const core = "xDS response validation errors: [";
const index = /resource index \d+: /y;
/**
 * Texts in the place of a name: a status of C++, or the words of Node's client and C++ for a resource that they cannot
 * read.
 */
const nameless =
  /(?:INVALID_ARGUMENT|UNKNOWN|INTERNAL|UNAVAILABLE|UNIMPLEMENTED|FAILED_PRECONDITION|OUT_OF_RANGE): |[A-Za-z]+ message validation failed|incorrect resource type|Can't decode|No resource/y;

/**
 * C++, Python and all wrappers of C++: `[resource index 0: NAME: INVALID_ARGUMENT: REASON; resource index 2: …]`.
 * They use the valid resources (gRFC A46). Node's client says the same without names.
 */
const coreTexts: TextReader = (text, carried) => {
  if (!text.startsWith(core)) return undefined;
  const names: ResourceName[] = [];
  let unnamed = 0;
  for (let at = core.length; at > 0; ) {
    index.lastIndex = at;
    at += index.exec(text)?.[0].length ?? 0;
    nameless.lastIndex = at;
    const name = nameless.test(text) ? undefined : carried.at(text, at, ": ");
    if (name !== undefined) names.push(name);
    else if (nameless.lastIndex > 0) unnamed++;
    const next = text.indexOf("; resource index ", at + (name?.length ?? 0));
    at = next < 0 ? 0 : next + 2;
  }
  return names.length === 0 && unnamed > 0 ? undefined : { names, usesRest: unnamed === 0 };
};

const goStart = /^error parsing "\w+" response: /;
const goTop = "top level errors: ";
const goResource = 'resource "';

/**
 * Go: `error parsing "ClusterResource" response: resource "NAME": REASON;⏎resource "NAME": …`. Errors of unreadable
 * resources come first. Nothing separates the last of them from the first resource. Go uses the valid resources.
 */
const goTexts: TextReader = (text, carried) => {
  const start = goStart.exec(text)?.[0];
  if (start === undefined) return undefined;
  const isTop = text.startsWith(goTop, start.length);
  const names: ResourceName[] = [];
  let hasNames = false;
  let at = isTop ? text.indexOf(goResource, start.length) : start.length;
  while (at >= 0) {
    const found = text.startsWith(goResource, at) ? quoted(text, at + goResource.length - 1) : undefined;
    const isNamed = found !== undefined && text.startsWith(": ", found.end);
    hasNames ||= isNamed;
    if (isNamed && carried.has(found.value)) names.push(found.value);
    if (isTop && !isNamed && !hasNames) at = text.indexOf(goResource, at + 1);
    else {
      const next = text.indexOf(`;\n${goResource}`, found?.end ?? at);
      at = next < 0 ? -1 : next + 2;
    }
  }
  return hasNames ? { names, usesRest: !isTop } : undefined;
};

const oldGo = / in response: (?=name:")/;

/** Go of 2020, which speaks v2 and rejects a response whole: `xds: REASON in response: name:"NAME" …`. */
const oldGoTexts: TextReader = (text, carried) => {
  const at = text.startsWith("xds: ") ? oldGo.exec(text) : null;
  if (at === null) return undefined;
  const name = quoted(text, at.index + at[0].length + "name:".length)?.value;
  return { names: name !== undefined && carried.has(name) ? [name] : [], usesRest: false };
};

const java = /(?:[A-Z]+ response [A-Za-z]+ '|[A-Z]+ response Resource index|Unsupported resource name: )/y;

/** Java: `CDS response Cluster 'NAME' validation error: REASON`, one a line. Java uses the valid resources. */
const javaTexts: TextReader = (text, carried) => {
  const names: ResourceName[] = [];
  let parts = 0;
  let unnamed = 0;
  for (let at = 0; at >= 0; ) {
    java.lastIndex = at;
    const start = java.exec(text)?.[0];
    if (start === undefined && parts === 0) return undefined;
    let name: ResourceName | undefined;
    if (start !== undefined) {
      parts++;
      const from = at + start.length;
      name = javaName(text, from, start, carried);
      if (name !== undefined) names.push(name);
      else if (start.endsWith("index")) unnamed++;
    }
    const next = text.indexOf("\n", at + (start?.length ?? 0) + (name?.length ?? 0));
    at = next < 0 ? -1 : next + 1;
  }
  return names.length === 0 && unnamed > 0 ? undefined : { names, usesRest: unnamed === 0 };
};

function javaName(text: string, from: number, start: string, carried: CarriedNames): ResourceName | undefined {
  if (start.endsWith("'")) return carried.at(text, from, "' validation error: ");
  return start.endsWith("name: ") ? carried.at(text, from, " for type: ") : undefined;
}

/** The texts of gRPC's own clients. */
export const grpcTexts: readonly TextReader[] = [coreTexts, goTexts, oldGoTexts, javaTexts];
