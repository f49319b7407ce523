/** The command line is wrong. The message says how. */
export class Usage extends Error {
  override readonly name = "Usage";
}

/** What the command prints when it is asked for help. */
export const help = `xds-conformance server HOST:PORT [options]   holds a management server against the xDS protocol
xds-conformance client [options] -- CMD …    holds a client against it: CMD finds the server in XDS_SERVER,
                                             GRPC_XDS_BOOTSTRAP or XDS_CONFORMANCE_ENVOY_BOOTSTRAP
xds-conformance list                         lists the checks
xds-conformance explain ID                   says what a check is about, and where to read

  --driver CMD              a command that changes what the server serves: see docs/conformance.md
  --driver-url URL          the same by HTTP PUT
  --rest URL                where the server answers polls, such as http://127.0.0.1:18001
  --only ID,…               only these checks; ID may end with *
  --requirements DATE       scores only checks that were there at that date, such as 2026-12
  --expected-failures FILE  a line for each check that is known to fail, or fails sometimes; fails also if one passes
  --junit FILE, --json FILE, --yaml FILE    writes a report
  --node-id ID              the node's id (xds-conformance)
  --node-cluster NAME       the node's cluster
  --header NAME=VALUE       a header of each call; may be repeated
  --tls-ca FILE             uses TLS, and trusts these certificates
  --tls-cert FILE, --tls-key FILE   the client's certificate and key
  --tls-server-name NAME    the name that the server's certificate has, if it is not the host
  --answer-ms N             how long a response may take (5000)
  --quiet-ms N              how long nothing may come where nothing must (300)
  --total-ms N              how long all may take (300000)
  --parallel N              checks at a time (8)
  --seed N                  chooses the random series of changes (1)

Exit status: 0 if every MUST holds or is expected to fail, 1 if not, 2 if the command line is wrong.
`;
