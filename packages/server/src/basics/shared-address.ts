/** The parts of a message about listeners at one address. */
export interface SharedAddressWords {
  /** `127.0.0.1:80`, or a path. */
  readonly address: string;
  /** The listener that Envoy takes. */
  readonly first: string;
  /** Where that one is: a file and line, or a layer. */
  readonly place: string;
  /** How many listeners have the address beside these two. */
  readonly others: number;
  /** The groups that get them; empty if there are no groups. */
  readonly groups: readonly string[];
}

/** For people: of the listeners at one address an Envoy takes one, and refuses the others. */
export function sharedAddressMessage({ address, first, place, others, groups }: SharedAddressWords): string {
  const more = others === 0 ? "" : `, and ${others} more do`;
  const [group, ...further] = groups;
  const inGroups = group === undefined ? "" : ` in the group ${group}${further.length > 0 ? " and others" : ""}`;
  return `listens at ${address}, as listener ${JSON.stringify(first)} (${place}) does${more}${inGroups}: an Envoy takes only one of them`;
}

/**
 * Whether a server of gRPC may ask for a listener at its own address: its name ends with the address then. Others may
 * have the same address on other machines.
 */
export function isOfGrpcServer(listener: string, address: string): boolean {
  return listener.endsWith(address);
}
