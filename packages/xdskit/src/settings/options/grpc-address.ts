import { XdskitError } from "@xdskit/api";
import { parseAddress } from "@xdskit/server/address";

/**
 * The address of a gRPC server, as people type it. Throws an XdskitError (XDSKIT_CLIENT_OPTION) for an invalid one, so
 * that the client does not try a typing error for ever.
 */
export function grpcAddress(text: string): string {
  if (parseAddress(text) !== undefined || /^(?:dns|ipv4|ipv6|unix|unix-abstract):./.test(text)) return text;
  const wanted = "HOST:PORT, such as 127.0.0.1:18000, nor a target such as unix:/run/xds.sock";
  // The part before an @ may be a password.
  const shown = JSON.stringify(text.replace(/^.*@/s, "[redacted]@"));
  throw XdskitError.of("XDSKIT_CLIENT_OPTION", `${shown} is not ${wanted}`);
}
