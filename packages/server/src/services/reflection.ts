import type { DescFile, Registry } from "@bufbuild/protobuf";
import { statusCode } from "@xdskit/protocol";
import type { Call, Service, ServiceHandler } from "../contracts/transport.js";
import { createDescriptors, type Descriptors, serializedFile, withImports } from "./descriptors.js";
import {
  type ReflectionAnswer,
  type ReflectionRequest,
  readReflectionRequest,
  reflectionResponse,
} from "./reflection-messages.js";

/** Clients send one question, or a few at once; each is small. */
const most = { waiting: 100, requestBytes: 16 * 1024 } as const;

/** v1, and v1alpha for older clients: their messages are the same. */
const serviceNames = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];

/**
 * gRPC's server reflection, by which `grpcurl` and others learn what a server serves: its services. Nothing is loaded
 * or computed before the first call. gRPC's own package is not used: it reads and keeps all files again at the start,
 * with another reader of protos, and answers as fast as a client asks, even if the client does not read.
 */
export function createReflection(options: {
  /** All services of the server. */
  readonly services: () => readonly string[];
  readonly registry: () => Registry;
}): readonly Service[] {
  let descriptors: Descriptors | undefined;
  const answerTo = (request: ReflectionRequest, sent: Set<string>): ReflectionAnswer => {
    descriptors ??= createDescriptors(options.registry());
    return answer(request, { descriptors, services: options.services, sent });
  };
  const accept = (call: Call) => new ReflectionStream(call, answerTo);
  return serviceNames.map((name) => ({ name, methods: { ServerReflectionInfo: { unary: false, accept } } }));
}

/** One client's questions, answered in their order, each when the client has read the answers before. */
class ReflectionStream implements ServiceHandler {
  readonly #call: Call;
  readonly #answerTo: (request: ReflectionRequest, sent: Set<string>) => ReflectionAnswer;
  readonly #waiting: Uint8Array[] = [];
  /** Names of the files that the client has. */
  readonly #sent = new Set<string>();
  #room = true;
  #finished = false;

  constructor(call: Call, answerTo: (request: ReflectionRequest, sent: Set<string>) => ReflectionAnswer) {
    this.#call = call;
    this.#answerTo = answerTo;
  }

  received(bytes: Uint8Array): void {
    if (bytes.byteLength > most.requestBytes || this.#waiting.length >= most.waiting) {
      this.#call.end(statusCode.resourceExhausted, "too long a question, or too many before the answers were read");
      this.#waiting.length = 0;
      return;
    }
    // The bytes are only valid during the call.
    this.#waiting.push(new Uint8Array(bytes));
    this.#work();
  }

  drained(): void {
    this.#room = true;
    this.#work();
  }

  finished(): void {
    this.#finished = true;
    this.#work();
  }

  closed(): void {
    this.#waiting.length = 0;
  }

  stop(): void {
    this.#waiting.length = 0;
    this.#call.end(statusCode.ok, "");
  }

  #work(): void {
    while (this.#room) {
      const bytes = this.#waiting.shift();
      if (bytes === undefined) {
        if (this.#finished) this.#call.end(statusCode.ok, "");
        return;
      }
      let request: ReflectionRequest;
      try {
        request = readReflectionRequest(bytes);
      } catch {
        this.#waiting.length = 0;
        this.#call.end(statusCode.invalidArgument, "malformed reflection request");
        return;
      }
      this.#room = this.#call.send(reflectionResponse(bytes, this.#answerTo(request, this.#sent)), nothing);
    }
  }
}

const nothing = new Uint8Array();

function answer(
  request: ReflectionRequest,
  known: {
    readonly descriptors: Descriptors;
    readonly services: () => readonly string[];
    readonly sent: Set<string>;
  },
): ReflectionAnswer {
  const { descriptors, services, sent } = known;
  const files = (file: DescFile | undefined, what: string): ReflectionAnswer => {
    if (file === undefined) return notFound(what);
    // A requested file is sent again; its imports are not.
    const imported = file.dependencies.flatMap((each) => withImports(each, sent));
    sent.add(file.proto.name);
    return { kind: "files", files: [file, ...imported].map(serializedFile) };
  };
  switch (request.kind) {
    case "file":
      return files(descriptors.file(request.name), `file ${shown(request.name)}`);
    case "symbol":
      return files(descriptors.fileOf(request.name), `symbol ${shown(request.name)}`);
    case "extension": {
      const { extended, field } = request;
      return files(descriptors.fileOfExtension(extended, field), `extension ${field} of ${shown(extended)}`);
    }
    case "extensions": {
      const { extended } = request;
      const fields = descriptors.extensionsOf(extended);
      return fields === undefined ? notFound(`message ${shown(extended)}`) : { kind: "extensions", extended, fields };
    }
    case "services":
      return { kind: "services", names: services() };
    case "unknown":
      return { kind: "error", code: statusCode.invalidArgument, message: "the request asks for nothing that is known" };
  }
}

function notFound(what: string): ReflectionAnswer {
  return { kind: "error", code: statusCode.notFound, message: `there is no ${what}` };
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 200));
}
