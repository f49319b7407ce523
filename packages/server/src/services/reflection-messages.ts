import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** `ServerReflectionRequest`, which is the same in v1 and v1alpha. */
export type ReflectionRequest =
  | { readonly kind: "file"; readonly name: string }
  | { readonly kind: "symbol"; readonly name: string }
  | { readonly kind: "extension"; readonly extended: string; readonly field: number }
  | { readonly kind: "extensions"; readonly extended: string }
  | { readonly kind: "services" }
  | { readonly kind: "unknown" };

/** The answer, one of these. */
export type ReflectionAnswer =
  | { readonly kind: "files"; readonly files: readonly Uint8Array[] }
  | { readonly kind: "extensions"; readonly extended: string; readonly fields: readonly number[] }
  | { readonly kind: "services"; readonly names: readonly string[] }
  | { readonly kind: "error"; readonly code: number; readonly message: string };

/** Throws if the bytes are no message. */
export function readReflectionRequest(bytes: Uint8Array): ReflectionRequest {
  const reader = new BinaryReader(bytes);
  let request: ReflectionRequest = { kind: "unknown" };
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (wireType !== WireType.LengthDelimited) {
      reader.skip(wireType, field);
      continue;
    }
    const content = reader.bytes();
    // Of several alternatives the last one counts.
    if (field === 3) request = { kind: "file", name: text(content) };
    else if (field === 4) request = { kind: "symbol", name: text(content) };
    else if (field === 5) request = readExtension(content);
    else if (field === 6) request = { kind: "extensions", extended: text(content) };
    else if (field === 7) request = { kind: "services" };
  }
  return request;
}

function readExtension(bytes: Uint8Array): ReflectionRequest {
  const reader = new BinaryReader(bytes);
  let extended = "";
  let number = 0;
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1 && wireType === WireType.LengthDelimited) extended = reader.string();
    else if (field === 2 && wireType === WireType.Varint) number = reader.int32();
    else reader.skip(wireType, field);
  }
  return { kind: "extension", extended, field: number };
}

/** Writes `ServerReflectionResponse`. `request` is the original one, which it repeats. */
export function reflectionResponse(request: Uint8Array, answer: ReflectionAnswer): Uint8Array {
  const writer = new BinaryWriter();
  writer.tag(2, WireType.LengthDelimited).bytes(request);
  switch (answer.kind) {
    case "files":
      writer.tag(4, WireType.LengthDelimited).fork();
      for (const file of answer.files) writer.tag(1, WireType.LengthDelimited).bytes(file);
      writer.join();
      break;
    case "extensions":
      writer.tag(5, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.LengthDelimited).string(answer.extended);
      writer.tag(2, WireType.LengthDelimited).fork();
      for (const field of answer.fields) writer.int32(field);
      writer.join().join();
      break;
    case "services":
      writer.tag(6, WireType.LengthDelimited).fork();
      for (const name of answer.names) {
        writer.tag(1, WireType.LengthDelimited).fork();
        writer.tag(1, WireType.LengthDelimited).string(name).join();
      }
      writer.join();
      break;
    case "error":
      writer.tag(7, WireType.LengthDelimited).fork();
      writer.tag(1, WireType.Varint).int32(answer.code);
      writer.tag(2, WireType.LengthDelimited).string(answer.message);
      writer.join();
      break;
  }
  return writer.finish();
}

const decoder = new TextDecoder();

function text(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
