import { type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { TypeUrl } from "@xdskit/api";
import type { ClientResourceStatus } from "@xdskit/api/envoy/admin/v3/config_dump_shared";
import type { ConfigStatus } from "@xdskit/api/envoy/service/status/v3/csds";

/** One `ClientConfig.GenericXdsConfig`: a resource as a client has it, or a type as a whole, which has no name. */
export interface StatusEntry {
  readonly typeUrl: TypeUrl;
  readonly name: string;
  readonly version: string;
  /** The content without its secrets, or the summary of a type as a whole. */
  readonly content?: { readonly typeUrl: TypeUrl; readonly value: Uint8Array } | undefined;
  readonly lastUpdated?: Date | undefined;
  readonly configStatus: ConfigStatus;
  readonly clientStatus: ClientResourceStatus;
  readonly error?: { readonly details: string; readonly at: Date; readonly version: string } | undefined;
}

/** Writes an entry as the field of the `ClientConfig` that it is in. */
export function writeEntry(writer: BinaryWriter, entry: StatusEntry): void {
  const { typeUrl, name, version, content, lastUpdated, configStatus, clientStatus, error } = entry;
  writer.tag(3, WireType.LengthDelimited).fork();
  writeText(writer, 1, typeUrl);
  writeText(writer, 2, name);
  writeText(writer, 3, version);
  if (content !== undefined) {
    writer.tag(4, WireType.LengthDelimited).fork();
    writeText(writer, 1, content.typeUrl);
    writer.tag(2, WireType.LengthDelimited).bytes(content.value).join();
  }
  if (lastUpdated !== undefined) writeTime(writer, 5, lastUpdated);
  writer.tag(6, WireType.Varint).int32(configStatus);
  if (clientStatus !== 0) writer.tag(7, WireType.Varint).int32(clientStatus);
  if (error !== undefined) {
    writer.tag(8, WireType.LengthDelimited).fork();
    writeTime(writer, 2, error.at);
    writeText(writer, 3, error.details);
    writeText(writer, 4, error.version);
    writer.join();
  }
  writer.join();
}

function writeText(writer: BinaryWriter, field: number, text: string): void {
  if (text !== "") writer.tag(field, WireType.LengthDelimited).string(text);
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
