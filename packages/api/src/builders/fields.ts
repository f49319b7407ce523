import { create, type DescMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";
import { checkCall, type OptionTable } from "../errors/option-table.js";

/** The fields of a message as `create` of protobuf-es takes them, without those that a builder fills. */
export type BesideFields<Schema extends DescMessage, Filled extends PropertyKey> = Omit<
  Exclude<MessageInitShape<Schema>, Message>,
  Filled | "$typeName"
>;

/** The options of a builder: its own, and the fields of its message. */
export interface BuilderCall {
  readonly call: string;
  /** An example in JavaScript. */
  readonly example: string;
  readonly own: OptionTable;
  readonly needs: readonly string[];
  /** The message whose other fields may stand beside. */
  readonly beside?: DescMessage | undefined;
}

/** Throws an XdskitError (XDSKIT_BUILDER_OPTION) that names the wrong option, and the one that was probably meant. */
export function checkBuilder({ call, example, own, needs, beside }: BuilderCall, options: unknown): void {
  const table = beside === undefined ? own : withFields(own, beside);
  checkCall({ call, example, needs, code: "XDSKIT_BUILDER_OPTION", table }, options);
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
