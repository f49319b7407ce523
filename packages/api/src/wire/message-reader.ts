import { delimited, type Span, varintTag, WireReader } from "./wire-reader.js";

/** One field of a message. `Context` is passed on from the caller: for limits over nested messages. */
export interface FieldReader<Value, Context = unknown> {
  /** Of its numbers in the message; several where alternatives are read as one. */
  readonly tags: readonly number[];
  /** The value if the message has none. */
  readonly missing: Value;
  /** The reader stands behind the tag. `before` is the value so far. */
  readonly read: (reader: WireReader, before: Value, context: Context, tag: number) => Value;
}

/** Reads the message at a span. Throws `MalformedMessage`. */
export type MessageReader<Content, Context = unknown> = (
  bytes: Uint8Array,
  span: Span,
  ...context: unknown extends Context ? [] : [context: Context]
) => Content;

/**
 * Makes a reader of a message of these fields; it skips all others. For messages that are read rarely: if each
 * microsecond counts, a loop over `WireReader` takes half the time.
 */
export function messageReader<Content extends object, Context = unknown>(
  fields: {
    readonly [Key in keyof Content]: FieldReader<Content[Key], Context>;
  },
): MessageReader<Content, Context> {
  const keys = Object.keys(fields) as (keyof Content)[];
  const keyOf = new Map(keys.flatMap((key) => fields[key].tags.map((tag) => [tag, key] as const)));
  return (bytes, span, ...[context]) => {
    const content = {} as Content;
    for (const key of keys) content[key] = fields[key].missing;
    const reader = new WireReader(bytes, span);
    while (!reader.atEnd) {
      const tag = reader.tag();
      const key = keyOf.get(tag);
      if (key === undefined) reader.skip(tag);
      else content[key] = fields[key].read(reader, content[key], context as Context, tag);
    }
    return content;
  };
}

/** A field whose last occurrence counts. */
export function single<Value, Context = unknown>(
  tags: number | readonly number[],
  missing: Value,
  read: (reader: WireReader, context: Context, tag: number) => Value,
): FieldReader<Value, Context> {
  return { tags: [tags].flat(), missing, read: (reader, _, context, tag) => read(reader, context, tag) };
}

/** A repeated field. */
export function listField<Value, Context = unknown>(
  tags: number | readonly number[],
  read: (reader: WireReader, context: Context, tag: number) => Value,
): FieldReader<readonly Value[], Context> {
  const missing: readonly Value[] = Object.freeze([]);
  return {
    tags: [tags].flat(),
    missing,
    read(reader, before, context, tag) {
      const values = before === missing ? [] : (before as Value[]);
      values.push(read(reader, context, tag));
      return values;
    },
  };
}

/** A `string`. */
export function textField(field: number): FieldReader<string> {
  return single(delimited(field), "", (reader) => reader.string());
}

/** A `uint64`; above 2⁵³ it is as near as a number comes. */
export function uint64(field: number): FieldReader<number> {
  return single(varintTag(field), 0, (reader) => reader.uint64());
}

/** A number of 32 bits. */
export function uint32(field: number): FieldReader<number> {
  return single(varintTag(field), 0, (reader) => reader.varint());
}

/** A message, read by the reader of its kind. */
export function embedded<Content>(field: number, missing: Content, read: MessageReader<Content>): FieldReader<Content> {
  return single(delimited(field), missing, (reader) => read(reader.bytes, reader.span()));
}

/** `google.protobuf.Duration`. */
export const readSecondsAndNanos = messageReader({ seconds: uint64(1), nanos: uint32(2) });
