import { Server, ServerCredentials } from "@grpc/grpc-js";
import type { Scene } from "../basics/scene.js";

/** A gRPC server in this process that answers every call with its name. */
export interface GrpcBackend {
  readonly name: string;
  readonly port: number;
  /** Ends it and every connection to it. */
  stop(): void;
}

export async function startGrpcBackend(scene: Scene, name: string, at = "127.0.0.1:0"): Promise<GrpcBackend> {
  const server = new Server();
  // A google.protobuf.StringValue shorter than 128 bytes: a tag, a length, the text.
  const reply = Buffer.concat([Buffer.from([0x0a, name.length]), Buffer.from(name)]);
  const bytes = (value: Buffer): Buffer => value;
  server.register("/xdskit.e2e.Echo/Name", (_: unknown, answer: Answer) => answer(null, reply), bytes, bytes, "unary");
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(at, ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  scene.onEnd(() => server.forceShutdown());
  return { name, port, stop: () => server.forceShutdown() };
}

type Answer = (error: null, value: Buffer) => void;
