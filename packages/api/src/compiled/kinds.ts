import type { DescField, Registry } from "@bufbuild/protobuf";
import { copied, type FileReading, shownType } from "../file-reading.js";
import { typeUrlPrefix } from "../identifiers.js";
import { perRegistry } from "../per-registry.js";
import type { ResourceType, ResourceTypes } from "../resource-types/resource-type.js";
import type { JsonBytes, TextPiece } from "./json-bytes.js";
import { type MessageWriter, writersOf } from "./message-writer.js";
import { readersOf } from "./readers.js";
import { Templates } from "./templates.js";

/** One type's resources. */
export interface Kind {
  readonly type: ResourceType;
  readonly nameField: DescField;
  /** As a place in a file calls it. */
  readonly shown: string;
  readonly writer: MessageWriter;
  /** Out of a text; undefined where only its JSON can be read. */
  readonly templates: Templates | undefined;
  /** How its last object began, up to its type. */
  head: TextPiece | undefined;
  /** How many lines end in that. */
  headLines: number;
}

/** What kind an object is of, by its type. */
export interface Kinds {
  /** By type URL. Undefined: of none that can be read in one pass. */
  readonly of: (url: string) => Kind | undefined;
  /** By what comes next in a text, which is passed over up to the type. Gives up where that is no string. */
  readonly next: (src: JsonBytes) => Kind | undefined;
}

/** Of how many types objects may come in turn. */
const mostLately = 4;
const longestHead = 256;
/** Files may spell the URLs of types in many ways. */
const mostKinds = 1000;

const known = new WeakMap<ResourceTypes, (registry: Registry) => Kinds>();

/** The kinds of resources that may occur in a file: of a folder of small files, most are of the same. */
export function kindsOf({ types, registry }: Pick<FileReading, "types" | "registry">): Kinds {
  let ofTypes = known.get(types);
  if (ofTypes === undefined) {
    ofTypes = perRegistry((registry) => createKinds(types, registry));
    known.set(types, ofTypes);
  }
  return ofTypes(registry);
}

function createKinds(types: ResourceTypes, registry: Registry): Kinds {
  const byUrl = new Map<string, Kind>();
  /** Those of which objects came last, the newest first. */
  let lately: Kind[] = [];

  function find(url: string): Kind | undefined {
    const writer = writersOf(registry).byUrl(url);
    if (writer === undefined) return undefined;
    const { schema } = writer;
    const type = types.byTypeUrl(`${typeUrlPrefix}${schema.typeName}`)?.type;
    const nameField = schema.fields.find(({ localName }) => localName === type?.nameField);
    if (type === undefined || nameField === undefined) return undefined;
    const reader = readersOf(registry).typed(schema, nameField);
    const shown = shownType({ types }, url);
    // Of what is read out of a text, the place says its type's name.
    const templates = reader === undefined || shown !== type.name ? undefined : new Templates(reader);
    return { type, nameField, writer, shown, templates, head: undefined, headLines: 0 };
  }

  function of(url: string): Kind | undefined {
    const kind = byUrl.get(url);
    if (kind !== undefined) return kind;
    // A URL out of YAML is a view of its file's text.
    const own = copied(url);
    const found = find(own);
    if (found === undefined) return undefined;
    if (byUrl.size >= mostKinds) byUrl.clear();
    byUrl.set(own, found);
    return found;
  }

  function next(src: JsonBytes): Kind | undefined {
    for (const kind of lately) if (kind.head !== undefined && src.passes(kind.head, kind.headLines)) return kind;
    const { at, lines } = src;
    if (src.bytes[at] !== 0x7b) return undefined;
    src.at += 1;
    src.space();
    if (src.text() !== "@type" || src.space() !== 0x3a) return undefined;
    src.at += 1;
    src.space();
    const kind = of(src.text());
    if (kind === undefined || src.at - at > longestHead) return kind;
    kind.head = src.since(at);
    kind.headLines = src.lines - lines;
    lately = [kind, ...lately.filter((one) => one !== kind)].slice(0, mostLately);
    return kind;
  }

  return { of, next };
}
