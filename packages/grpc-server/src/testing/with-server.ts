import type { GrpcCall, GrpcCallHandler, GrpcMethod } from "../calls/call.js";
import { createGrpcServer, type GrpcServer, type GrpcServerOptions } from "../grpc-server.js";

/** A call that nobody answers. */
export const silent = (): GrpcCallHandler => ({ received() {}, drained() {}, finished() {}, closed() {} });

/** Returns each message, and ends once the client has sent everything. */
export const echo = (call: GrpcCall): GrpcCallHandler => ({
  received: (bytes) => void call.send(Buffer.from(bytes)),
  drained() {},
  finished: () => call.end(0, ""),
  closed() {},
});

/** `/test.Service/…`: `Echo` and `EchoOnce` return their messages, and `Silent` sends nothing. */
export const testMethods: ReadonlyMap<string, GrpcMethod> = new Map<string, GrpcMethod>([
  ["/test.Service/Echo", { unary: false, accept: echo }],
  ["/test.Service/EchoOnce", { unary: true, accept: echo }],
  ["/test.Service/Silent", { unary: false, accept: silent }],
]);

/** Runs a test with a server that listens on a free port of this machine. */
export async function withGrpcServer(
  options: Partial<GrpcServerOptions>,
  test: (at: { readonly server: GrpcServer; readonly address: string; readonly port: number }) => Promise<void>,
): Promise<void> {
  const server = createGrpcServer({ methods: testMethods, ...options });
  const port = await server.listen({ host: "127.0.0.1", port: 0 });
  try {
    await test({ server, address: `127.0.0.1:${port}`, port });
  } finally {
    await server.close(1_000);
  }
}
