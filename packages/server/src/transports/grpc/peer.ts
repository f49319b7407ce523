/** Who calls, as `HOST:PORT`: grpc-js writes IPv6 addresses without brackets, and IPv4 ones on an IPv6 socket as IPv6. */
export function peerOf(call: { getPeer(): string }): string {
  const peer = call.getPeer().replace(/^::ffff:(?=\d+\.)/, "");
  const colon = peer.lastIndexOf(":");
  const host = peer.slice(0, colon);
  return host.includes(":") ? `[${host}]${peer.slice(colon)}` : peer;
}
