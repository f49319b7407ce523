export type { GrpcCall, GrpcCallHandler, GrpcMethod, GrpcRefusal, GrpcRequest } from "./calls/call.js";
export type { UseLimits } from "./calls/client-use.js";
export { defaultGrpcLimits, type GrpcLimits } from "./calls/limits.js";
export { lastWordMs } from "./connection/connection-end.js";
export type { RemakableBytes } from "./connection/outgoing-queue.js";
export { foreignToHttp1, type UnreadRequest } from "./frames/foreign-protocol.js";
export {
  backlog,
  createGrpcServer,
  type GrpcServer,
  type GrpcServerOptions,
  isOnUnixSocket,
  type ListenAt,
} from "./grpc-server.js";
export { type GrpcCode, grpcCode } from "./messages/grpc-code.js";
export { inflateInTurn } from "./messages/inflate-message.js";
export { followHandshakes, type HandshakeFailed, handshakeMs } from "./sockets/handshakes.js";
export { defaultKeepalive, type Keepalive } from "./sockets/keepalive.js";
export { type Peer, type PeerIdentity, peerOf } from "./sockets/peer.js";
export { followRevoked, type IsRevoked, type RevocableTls, renewTls } from "./sockets/revoked-peers.js";
export { knowUnixUsers } from "./sockets/unix-user.js";
export {
  createFairQueue,
  type FairQueue,
  type FairQueueOptions,
  type SliceClock,
  systemSliceClock,
} from "./timing/fair-queue.js";
