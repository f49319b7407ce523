import type { JwtWhen } from "./tokens/jwt-when.js";

/**
 * Conditions on who calls, all of which must hold. In a pattern, `{name}` stands for a part of the text and keeps it
 * under that name; `*` stands for a part, too. A part never goes beyond its separator: `/` in `spiffe` and `uri`, `.`
 * in `dns`, `:` in claims, `,` in `subject`.
 */
export interface When {
  /**
   * A SPIFFE ID such as `spiffe://mesh.example/ns/{ns}/sa/{sa}`: the certificate has exactly one URI, which is the ID.
   * `*` may stand only for whole segments at the end.
   */
  readonly spiffe?: string | undefined;
  /** One of the certificate's DNS names. */
  readonly dns?: string | undefined;
  /** One of the certificate's URIs. */
  readonly uri?: string | undefined;
  /** The certificate's subject, from its last field to its first: `CN=edge-1, O=shop`. */
  readonly subject?: string | undefined;
  /** A JWT in `authorization: Bearer`. */
  readonly jwt?: JwtWhen | undefined;
  /**
   * The call came over a Unix socket (true) or not; the mode of the socket's file says who may do so. Or the numbers of
   * the users who may call over one, as the kernel says: on Linux, with the package `koffi` installed.
   */
  readonly unix?: boolean | UnixUsers | undefined;
  /** A network such as `10.0.0.0/8`, or several: the call came from an address in it. */
  readonly network?: string | readonly string[] | undefined;
  /** The name of a token whose hash the server knows, in `authorization: Bearer`. */
  readonly token?: string | undefined;
}

/** Users of the server's machine by their numbers, such as 1000. */
export interface UnixUsers {
  readonly uid: number | readonly number[];
}
