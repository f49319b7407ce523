/**
 * What is said of a connection that never came about, where the library's own words hide what it mostly is: a port that speaks TLS, asked without it, closes the
 * connection; one that speaks HTTP/1 breaks the rules of HTTP/2. Other words stay.
 */
export function connectWords(words: string): string {
  if (words === "Failed to connect" || words === "the connection was closed") {
    return "it closed the connection before it spoke HTTP/2: does it want TLS (--tls-ca)?";
  }
  if (words === "Protocol error") return "it does not speak HTTP/2: is this the address for gRPC?";
  return words;
}
