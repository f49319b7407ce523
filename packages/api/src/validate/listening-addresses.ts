import { type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import type { Address } from "@xdskit/api/envoy/config/core/v3/address";
import { envoySchema } from "../registry/envoy-schema.js";
import type { Resource } from "../resources/resource.js";
import { WireReader } from "../wire/wire-reader.js";
import { isIpv4, isIpv6 } from "./values/ip-address.js";

/** An address at which a listener listens. */
export interface ListeningAddress {
  /** Equal for addresses if Envoy takes only one listener for them. */
  readonly key: string;
  /** `127.0.0.1:80`, or a path. */
  readonly text: string;
  /** Its field in the listener. */
  readonly field: string;
}

const listenerType = "type.googleapis.com/envoy.config.listener.v3.Listener";
const none: readonly ListeningAddress[] = [];

/**
 * The addresses of a listener at which Envoy takes no second one; none for other resources. Only the addresses are
 * read, and not the filters: this is quick. A listener for gRPC's clients (`api_listener`) has none, nor has an
 * `internal_listener`, nor has port 0, for which the system chooses a port.
 */
export function listeningAddresses({ type, body }: Pick<Resource, "type" | "body">): readonly ListeningAddress[] {
  if (type.typeUrl !== listenerType) return none;
  const { listener, additional, numbers } = schemas();
  const parts: { readonly bytes: Uint8Array; readonly field: string }[] = [];
  let more = 0;
  let binds = true;
  const reader = new WireReader(body);
  while (!reader.atEnd) {
    const tag = reader.tag();
    const number = tag >>> 3;
    if (number === numbers.api_listener) return none;
    if (number === numbers.address) parts.push({ bytes: reader.part(), field: "address" });
    else if (number === numbers.additional_addresses)
      parts.push({ bytes: reader.part(), field: `additional_addresses[${more++}].address` });
    // A false value is the default of its wrapper, and takes no byte.
    else if (number === numbers.bind_to_port) binds &&= reader.part().includes(1);
    else if (number === numbers.deprecated_v1) binds &&= isBound(listener, number, reader.part());
    else reader.skip(tag);
  }
  const found: ListeningAddress[] = [];
  for (const { bytes, field } of parts) {
    const address =
      field === "address"
        ? fromBinary(schemas().address, bytes)
        : (fromBinary(additional, bytes) as Message & { readonly address?: Message }).address;
    const place = address === undefined ? undefined : placeOf(address as unknown as Address, binds);
    if (place !== undefined) found.push({ ...place, field });
  }
  return found;
}

/**
 * Whether a listener has an `api_listener`: it is for gRPC's clients. Envoy takes such a listener only from its
 * bootstrap, and logs a warning for each that a server sends.
 */
export function isApiListener({ type, body }: Pick<Resource, "type" | "body">): boolean {
  if (type.typeUrl !== listenerType) return false;
  const { numbers } = schemas();
  const reader = new WireReader(body);
  while (!reader.atEnd) {
    const tag = reader.tag();
    if (tag >>> 3 === numbers.api_listener) return true;
    reader.skip(tag);
  }
  return false;
}

/** Listener.DeprecatedV1 */
function isBound(listener: DescMessage, number: number, bytes: Uint8Array): boolean {
  const schema = listener.fields.find((field) => field.number === number)?.message;
  if (schema === undefined) return true;
  return (fromBinary(schema, bytes) as Message & { readonly bindToPort?: boolean }).bindToPort ?? true;
}

function placeOf({ address }: Address, binds: boolean): Omit<ListeningAddress, "field"> | undefined {
  if (address.case === "pipe") return { key: `pipe ${address.value.path}`, text: address.value.path };
  if (address.case !== "socketAddress") return undefined;
  const { portSpecifier, protocol, resolverName, networkNamespaceFilepath: space, address: host } = address.value;
  const ip = canonicalIp(host);
  const { case: kind, value: port } = portSpecifier;
  if (ip === undefined || kind !== "portValue" || (resolverName !== "" && resolverName !== "envoy.ip"))
    return undefined;
  if (port === 0 && binds) return undefined;
  const text = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return { key: `${protocol} ${ip} ${port} ${space}`, text: space === "" ? text : `${text} in ${space}` };
}

/** The same text for all spellings of an IP address; undefined if it is none. */
function canonicalIp(text: string): string | undefined {
  if (isIpv4(text)) return text;
  const [address = "", zone = ""] = text.split("%", 2);
  if (!isIpv6(address)) return undefined;
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address);
  const [, front = "", ...bytes] = dotted ?? [];
  const [a = 0, b = 0, c = 0, d = 0] = bytes.map(Number);
  const whole = dotted === null ? address : `${front}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  const [left, right] = whole.split("::", 2).map((half) => (half === "" ? [] : half.split(":")));
  const zeros = right === undefined ? [] : Array<string>(8 - (left?.length ?? 0) - right.length).fill("0");
  const groups = [...(left ?? []), ...zeros, ...(right ?? [])].map((group) => Number.parseInt(group, 16).toString(16));
  return zone === "" ? groups.join(":") : `${groups.join(":")}%${zone}`;
}

type AddressNumbers = Readonly<
  Record<"address" | "additional_addresses" | "api_listener" | "bind_to_port" | "deprecated_v1", number | undefined>
>;

interface Schemas {
  readonly listener: DescMessage;
  readonly address: DescMessage;
  readonly additional: DescMessage;
  readonly numbers: AddressNumbers;
}

let known: Schemas | undefined;

function schemas(): Schemas {
  if (known !== undefined) return known;
  const listener = envoySchema<DescMessage>("envoy.config.listener.v3.Listener");
  const number = (name: string) => listener.fields.find((field) => field.name === name)?.number;
  known = {
    listener,
    address: envoySchema<DescMessage>("envoy.config.core.v3.Address"),
    additional: envoySchema<DescMessage>("envoy.config.listener.v3.AdditionalAddress"),
    numbers: {
      address: number("address"),
      additional_addresses: number("additional_addresses"),
      api_listener: number("api_listener"),
      bind_to_port: number("bind_to_port"),
      deprecated_v1: number("deprecated_v1"),
    },
  };
  return known;
}
