import { shortened } from "../errors/shortened.js";
import type { ResourceName, TypeUrl } from "./identifiers.js";
import { typeUrlPrefix } from "./identifiers.js";

/**
 * The decoded parts of an xdstp name: `xdstp://[authority]/{resource type}/{id}[?{context parameters}][#{directives}]`
 * (xRFC TP1, "URI-based xDS resource names").
 */
export interface XdstpName {
  readonly kind: "xdstp";
  /** Empty means the server that is asked. */
  readonly authority: string;
  /** The full name of a message: `envoy.config.listener.v3.Listener`, or `…ListenerCollection` for a list of them. */
  readonly type: string;
  /** The path segments after the type. The last one of a glob collection is `*`. */
  readonly path: readonly string[];
  /** Sorted by key. */
  readonly parameters: ReadonlyMap<string, string>;
  readonly directives: readonly XdstpDirective[];
}

/** Instructions of a locator to a client, besides the name. Resource names have no directives. */
export type XdstpDirective =
  /** Where to look instead. */
  | { readonly kind: "alt"; readonly locator: XdstpName }
  /** A resource inside a list collection. */
  | { readonly kind: "entry"; readonly name: string };

/** The result of parsing a name. */
export type ParsedName =
  | XdstpName
  /** A plain name, which is opaque. */
  | { readonly kind: "plain" }
  /** It begins like an xdstp name but is not one. It is looked up as it is written, like a plain name. */
  | { readonly kind: "malformed"; readonly problem: string };

const scheme = "xdstp:";
/** A name of this form needs no decoding, encoding or sorting. */
const surelyCanonical = /^xdstp:\/\/[\w\-.~!$'()*+,;=:@/]*$/;

/** With parameters that need no decoding or encoding; only their order must be checked. */
const plainParameters =
  /^xdstp:\/\/[\w\-.~!$'()*+,;=:@/]*\?[\w\-.~!$'()*+,;:@/?]+=[\w\-.~!$'()*+,;:@/?]*(?:&[\w\-.~!$'()*+,;:@/?]+=[\w\-.~!$'()*+,;:@/?]*)*$/;
/** Well-formed up to the parameters. */
const wellFormedHead = /^xdstp:\/\/[^/?#%]*\/[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\/+[^/?#%]/;
/** A well-formed glob collection without encoded characters. */
const plainGlob = /^xdstp:\/\/[^/?#%]*\/[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\/(?:[^?#%]*\/)?\*$/;

/** Whether a name begins like an xdstp name. For most names the first character decides, and this is called often. */
export function isFederated(name: ResourceName): boolean {
  return name.charCodeAt(0) === 0x78 && name.startsWith(scheme);
}

/** Parses a name. Never throws: a malformed name is a result. */
export function parseName(name: ResourceName): ParsedName {
  if (!isFederated(name)) return { kind: "plain" };
  try {
    return parse(name);
  } catch (error) {
    if (error instanceof Malformed) return { kind: "malformed", problem: error.message };
    throw error;
  }
}

/** Formats a name canonically: parameters sorted by key, and percent-encoded where RFC 3986 requires it. */
export function formatName({ authority, type, path, parameters, directives }: XdstpName): ResourceName {
  const query = [...parameters]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${encoded(key, inQuery)}=${encoded(value, inQuery)}`);
  const fragment = directives.map((directive) =>
    directive.kind === "entry"
      ? `entry=${encoded(directive.name, inDirective)}`
      : `alt=${encoded(formatName(directive.locator), inDirective)}`,
  );
  const segments = path.map((segment) => encoded(segment, inPath));
  const start = `${scheme}//${encoded(authority, inAuthority)}/${[type, ...segments].join("/")}`;
  return `${start}${query.length === 0 ? "" : `?${query.join("&")}`}${fragment.length === 0 ? "" : `#${fragment.join(",")}`}`;
}

/**
 * The canonical spelling of all equivalent names: two xdstp names are the same "modulo context parameter ordering"
 * (xRFC TP1, gRPC A47), and regardless of percent-encoding. Plain and malformed names are returned unchanged. Applying
 * it twice changes nothing.
 */
export function canonicalName(name: ResourceName): ResourceName {
  if (!isFederated(name) || surelyCanonical.test(name)) return name;
  if (plainParameters.test(name)) {
    // Canonical names are by far the most frequent argument.
    if (hasKeysInOrder(name)) return name;
    if (wellFormedHead.test(name)) return withKeysInOrder(name);
  }
  // The text behind it is not part of the name: constraints in a key, or a client's parameters. No text from the wire
  // contains this pair.
  const end = name.indexOf("\ud800\ud800");
  if (end >= 0) return `${canonicalName(name.slice(0, end))}${name.slice(end)}`;
  const parsed = parseName(name);
  return parsed.kind === "xdstp" ? formatName(parsed) : name;
}

/** Whether the keys of plain parameters are sorted and unique. */
function hasKeysInOrder(name: string): boolean {
  let before = "";
  for (let from = name.indexOf("?") + 1; from > 0; from = name.indexOf("&", from) + 1) {
    const key = name.slice(from, name.indexOf("=", from));
    if (key <= before) return false;
    before = key;
  }
  return true;
}

/** The name with its plain parameters sorted; unchanged if a key is a duplicate, since the name is then malformed. */
function withKeysInOrder(name: string): string {
  const query = name.indexOf("?") + 1;
  const parts = name
    .slice(query)
    .split("&")
    .map((part): readonly [key: string, part: string] => [part.slice(0, part.indexOf("=")), part])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  if (parts.some(([key], index) => key === parts[index - 1]?.[0])) return name;
  return name.slice(0, query) + parts.map(([, part]) => part).join("&");
}

/** Whether two names mean the same resource. */
export function sameName(a: ResourceName, b: ResourceName): boolean {
  return a === b || canonicalName(a) === canonicalName(b);
}

/**
 * Why a resource of this type cannot have this name; undefined if it can. An xdstp name contains its type and names one
 * resource: it is not a glob and has no directives.
 */
export function nameProblem(name: ResourceName, ...types: readonly [TypeUrl, ...TypeUrl[]]): string | undefined {
  const parsed = parseName(name);
  if (parsed.kind === "plain") return undefined;
  if (parsed.kind === "malformed") return parsed.problem;
  if (!types.includes(`${typeUrlPrefix}${parsed.type}`)) {
    return `it says that it is of type ${shortened(parsed.type)}, and the resource is of type ${types[0].slice(typeUrlPrefix.length)}`;
  }
  if (isGlob(parsed))
    return "it ends with /*, which stands for all resources beside each other, and is no name of one of them";
  if (parsed.directives.length > 0)
    return "directives (what follows #) belong to locators and not to names of resources";
  return undefined;
}

/** A glob collection: `xdstp://authority/type/path/*`. */
export function isGlob({ path }: XdstpName): boolean {
  return path.at(-1) === "*";
}

/** A list collection by its type's name: `envoy.config.listener.v3.ListenerCollection`. */
export function isListType(typeName: string): boolean {
  return typeName.endsWith("Collection");
}

/**
 * The canonical name of the glob collection that a name belongs to: its siblings, with the same authority, type and
 * parameters. Undefined for a glob itself and for other names. Envoy looks only for this one as well; deeper resources
 * belong to other collections.
 */
export function globOf(name: ResourceName): ResourceName | undefined {
  if (!name.startsWith(scheme)) return undefined;
  const parsed = parseName(name);
  if (parsed.kind !== "xdstp" || isGlob(parsed)) return undefined;
  return formatName({ ...parsed, path: [...parsed.path.slice(0, -1), "*"], directives: [] });
}

/** Whether a name is a glob collection. */
export function isGlobName(name: ResourceName): boolean {
  if (!isFederated(name) || !name.includes("/*")) return false;
  if (plainGlob.test(name)) return true;
  const parsed = parseName(name);
  return parsed.kind === "xdstp" && isGlob(parsed);
}

/** The authority of a name; undefined for a plain or malformed name, which any server may have. */
export function authorityOf(name: ResourceName): string | undefined {
  const parsed = parseName(name);
  return parsed.kind === "xdstp" ? parsed.authority : undefined;
}

/** Not an `Error`: clients choose names, and a stack costs more than everything else here. */
class Malformed {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** An `alt` may contain an `alt`, percent-encoded once more each time. */
const deepest = 4;

function parse(name: string, depth = 0): XdstpName {
  if (!name.startsWith(`${scheme}//`)) throw new Malformed("xdstp: must be followed by //");
  const [beforeFragment = "", fragment] = cut(name.slice(scheme.length + 2), "#");
  const [hierarchy = "", query] = cut(beforeFragment, "?");
  const [authority = "", rest] = cut(hierarchy, "/");
  const [type = "", ...path] = (rest ?? "").split("/");
  if (type === "") throw new Malformed("the type of the resource is missing: xdstp://authority/type/name");
  if (!/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(type)) {
    throw new Malformed(`${JSON.stringify(shortened(type))} is no full name of a message`);
  }
  if (path.join("") === "") throw new Malformed("it lacks a name behind the type: xdstp://authority/type/name");
  return {
    kind: "xdstp",
    authority: decoded(authority),
    type,
    path: path.map(decoded),
    parameters: parametersOf(query ?? ""),
    directives: fragment === undefined ? [] : fragment.split(",").map((part) => directiveOf(part, depth)),
  };
}

function parametersOf(query: string): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const part of query === "" ? [] : query.split("&")) {
    const [key, value] = cut(part, "=").map((text) => decoded(text ?? ""));
    if (key === undefined || key === "") throw new Malformed("a context parameter has no key");
    if (pairs.has(key)) throw new Malformed(`the context parameter ${JSON.stringify(shortened(key))} is given twice`);
    pairs.set(key, value ?? "");
  }
  return new Map([...pairs].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function directiveOf(text: string, depth: number): XdstpDirective {
  const [kind = "", value = ""] = cut(text, "=");
  const content = decoded(value);
  if (kind === "entry") {
    if (!/^[\w\-./~:]+$/.test(content))
      throw new Malformed("the directive entry must be of the characters a-z, A-Z, 0-9, _-./~:");
    return { kind, name: content };
  }
  if (kind !== "alt")
    throw new Malformed(`the directive ${JSON.stringify(shortened(kind))} is not known: there are alt and entry`);
  if (depth === deepest) throw new Malformed("alt directives are nested too deep");
  if (!content.startsWith(scheme)) throw new Malformed("the directive alt must be an xdstp:// locator");
  return { kind, locator: parse(content, depth + 1) };
}

/** The text before and after the first separator. */
function cut(text: string, separator: string): readonly [before: string, after: string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** A character in percent-encoded UTF-8 (RFC 3629, 4). */
const encodedCharacter =
  /%(?:[0-7][\da-f]|(?:c[2-9a-f]|d[\da-f])%[89ab][\da-f]|(?:e0%[ab]|e[1-9a-cef]%[89ab]|ed%[89])[\da-f]%[89ab][\da-f]|(?:f0%[9ab]|f[1-3]%[89ab]|f4%8)[\da-f](?:%[89ab][\da-f]){2})/gi;

function decoded(text: string): string {
  if (!text.includes("%")) return text;
  // Checked first, since an error of `decodeURIComponent` would cost as much as one of ours.
  if (!text.replace(encodedCharacter, "").includes("%")) return decodeURIComponent(text);
  throw new Malformed(`${JSON.stringify(shortened(text))} is not percent-encoded UTF-8`);
}

// The characters that may stand in each part of a URI (RFC 3986, 3.2–3.5), except for the separators used here.
const inAuthority = /[^\w\-.~!$'()*+,;=:@&]/gu;
const inPath = /[^\w\-.~!$'()*+,;=:@&]/gu;
const inQuery = /[^\w\-.~!$'()*+,;:@/?]/gu;
const inDirective = /[^\w\-.~!$'()*+;:@/?=&]/gu;

function encoded(text: string, replaced: RegExp): string {
  // A lone surrogate is not a character. It can come only from a program, never from the wire.
  return text.replace(replaced, (character) =>
    /[\ud800-\udfff]/.test(character) && character.length === 1 ? character : percent(character),
  );
}

const encoder = new TextEncoder();

function percent(character: string): string {
  return Array.from(encoder.encode(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join(
    "",
  );
}
