import { create, type DescMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";
import type { CallWithOptions, OptionTable } from "../errors/option-table.js";

/** The fields of a message as `create` of protobuf-es takes them, without those that a builder fills. */
export type BesideFields<Schema extends DescMessage, Filled extends PropertyKey> = Omit<
  Exclude<MessageInitShape<Schema>, Message>,
  Filled | "$typeName"
>;

/** The options of a builder: its own, and the fields of its message. */
interface BuilderCall extends Omit<CallWithOptions, "table" | "code"> {
  readonly own: OptionTable;
  /** The message whose other fields may stand beside. */
  readonly beside?: DescMessage;
}

/** What a builder checks its options by. */
export function builderCall({ own, beside, ...call }: BuilderCall): CallWithOptions {
  return { ...call, code: "XDSKIT_BUILDER_OPTION", table: beside === undefined ? own : withFields(own, beside) };
}

/** Options, and the fields of a message beside them, but those that a builder fills. `create` checks the fields. */
export function withFields(own: OptionTable, schema: DescMessage, filled: readonly string[] = []): OptionTable {
  const names = schema.members.map(({ localName }) => localName);
  const others = names.filter((name) => !Object.hasOwn(own, name) && !filled.includes(name));
  return { ...own, ...Object.fromEntries(others.map((name) => [name, "any" as const])) };
}

/** A message inside an `Any`. */
export function packed<Schema extends DescMessage>(schema: Schema, message: MessageInitShape<Schema>): Any {
  return anyPack(schema, create(schema, message));
}
