import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { TypeUrl } from "@xdskit/api";
import type { ClientResourceStatus } from "@xdskit/api/envoy/admin/v3/config_dump_shared";
import type { ConfigStatus } from "@xdskit/api/envoy/service/status/v3/csds";

/** One `ClientConfig.GenericXdsConfig`: a resource as a client has it, or a type as a whole, which has no name. */
export interface StatusEntry {
  readonly typeUrl: TypeUrl;
  readonly name: string;
  readonly version: string;
  /** The content, without its secrets. */
  readonly content?: Uint8Array | undefined;
  readonly lastUpdated?: Date | undefined;
  readonly configStatus: ConfigStatus;
  readonly clientStatus: ClientResourceStatus;
  readonly error?: { readonly details: string; readonly at: Date; readonly version: string } | undefined;
}

/** Writes an entry as the field of the `ClientConfig` that it is in. */
export function writeEntry(entry: StatusEntry): Uint8Array {
  const { typeUrl, name, version, content, lastUpdated, configStatus, clientStatus, error } = entry;
  const writer = new BinaryWriter();
  const text = (field: number, value: string) => {
    if (value !== "") writer.tag(field, WireType.LengthDelimited).string(value);
  };
  writer.tag(3, WireType.LengthDelimited).fork();
  text(1, typeUrl);
  text(2, name);
  text(3, version);
  if (content !== undefined) {
    writer.tag(4, WireType.LengthDelimited).fork();
    text(1, typeUrl);
    writer.tag(2, WireType.LengthDelimited).bytes(content).join();
  }
  if (lastUpdated !== undefined) writeTime(writer, 5, lastUpdated);
  writer.tag(6, WireType.Varint).int32(configStatus);
  if (clientStatus !== 0) writer.tag(7, WireType.Varint).int32(clientStatus);
  if (error !== undefined) {
    writer.tag(8, WireType.LengthDelimited).fork();
    writeTime(writer, 2, error.at);
    text(3, error.details);
    text(4, error.version);
    writer.join();
  }
  return writer.join().finish();
}

/** A field with a `google.protobuf.Timestamp`. */
function writeTime(writer: BinaryWriter, field: number, time: Date): void {
  const ms = Math.round(time.getTime());
  const seconds = Math.floor(ms / 1000);
  writer.tag(field, WireType.LengthDelimited).fork();
  writer.tag(1, WireType.Varint).int64(seconds);
  writer.tag(2, WireType.Varint).int32((ms - seconds * 1000) * 1_000_000);
  writer.join();
}
