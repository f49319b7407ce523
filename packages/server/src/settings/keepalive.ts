export { defaultKeepalive, type Keepalive } from "@xdskit/grpc-server";
