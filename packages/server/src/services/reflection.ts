import { create, type DescFile, fromBinary, type MessageInitShape, type Registry, toBinary } from "@bufbuild/protobuf";
import { envoySchema } from "@xdskit/api";
import type {
  ServerReflectionRequest,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "@xdskit/api/grpc/reflection/v1/reflection";
import { statusCode } from "@xdskit/protocol";
import type { Call, Service, ServiceHandler } from "../contracts/transport.js";
import { createDescriptors, type Descriptors, serializedFile, withImports } from "./descriptors.js";

/** Clients send one question, or a few at once; each is small. */
const most = { waiting: 100, requestBytes: 16 * 1024 } as const;

/** v1, and v1alpha for older clients: their messages are the same. */
const serviceNames = ["grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"];

const requestSchema = () =>
  envoySchema<typeof ServerReflectionRequestSchema>("grpc.reflection.v1.ServerReflectionRequest");
const responseSchema = () =>
  envoySchema<typeof ServerReflectionResponseSchema>("grpc.reflection.v1.ServerReflectionResponse");

/** The answer, one of several kinds. */
type ReflectionAnswer = MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"];

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
  const answerTo = (request: ServerReflectionRequest, sent: Set<string>): ReflectionAnswer => {
    descriptors ??= createDescriptors(options.registry());
    return answer(request, { descriptors, services: options.services, sent });
  };
  const accept = (call: Call) => new ReflectionStream(call, answerTo);
  return serviceNames.map((name) => ({ name, methods: { ServerReflectionInfo: { unary: false, accept } } }));
}

/** One client's questions, answered in their order, each when the client has read the answers before. */
class ReflectionStream implements ServiceHandler {
  readonly #call: Call;
  readonly #answerTo: (request: ServerReflectionRequest, sent: Set<string>) => ReflectionAnswer;
  readonly #waiting: Uint8Array[] = [];
  /** Names of the files that the client has. */
  readonly #sent = new Set<string>();
  #room = true;
  #finished = false;

  constructor(call: Call, answerTo: (request: ServerReflectionRequest, sent: Set<string>) => ReflectionAnswer) {
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
      let request: ServerReflectionRequest;
      try {
        request = fromBinary(requestSchema(), bytes);
      } catch {
        this.#waiting.length = 0;
        this.#call.end(statusCode.invalidArgument, "malformed reflection request");
        return;
      }
      const messageResponse = this.#answerTo(request, this.#sent);
      const response = create(responseSchema(), { originalRequest: request, messageResponse });
      this.#room = this.#call.send(toBinary(responseSchema(), response), nothing);
    }
  }
}

const nothing = new Uint8Array();

function answer(
  { messageRequest: asked }: ServerReflectionRequest,
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
    const fileDescriptorProto = [file, ...imported].map(serializedFile);
    return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
  };
  switch (asked.case) {
    case "fileByFilename":
      return files(descriptors.file(asked.value), `file ${shown(asked.value)}`);
    case "fileContainingSymbol":
      return files(descriptors.fileOf(asked.value), `symbol ${shown(asked.value)}`);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = asked.value;
      const what = `extension ${extensionNumber} of ${shown(containingType)}`;
      return files(descriptors.fileOfExtension(containingType, extensionNumber), what);
    }
    case "allExtensionNumbersOfType": {
      const extensionNumber = descriptors.extensionsOf(asked.value);
      if (extensionNumber === undefined) return notFound(`message ${shown(asked.value)}`);
      return { case: "allExtensionNumbersResponse", value: { baseTypeName: asked.value, extensionNumber } };
    }
    case "listServices":
      return { case: "listServicesResponse", value: { service: services().map((name) => ({ name })) } };
    case undefined:
      return failed(statusCode.invalidArgument, "the request asks for nothing that is known");
  }
}

function notFound(what: string): ReflectionAnswer {
  return failed(statusCode.notFound, `there is no ${what}`);
}

function failed(errorCode: number, errorMessage: string): ReflectionAnswer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 200));
}
