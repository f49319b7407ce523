/** What may be done about a response that a client does not take. */
export function largeText({ bytes }: { readonly bytes: number }): string {
  return (
    `its stream ended at a response of ${bytes} bytes: gRPC's clients take 4 MiB (4194304 bytes) unless they are told ` +
    "otherwise, and end it with RESOURCE_EXHAUSTED; raise the client's limit of received messages, serve it fewer " +
    "resources by a group of its own, or use delta"
  );
}
