declare module "@lapo/asn1js" {
  /** The part of it that is used here. */
  export class ASN1 {
    /** Throws for what is not ASN.1 in BER or DER. */
    static decode(bytes: Uint8Array): ASN1;
    readonly tag: { readonly tagClass: number; readonly tagNumber: number };
    readonly sub: readonly ASN1[] | null;
    posStart(): number;
    posContent(): number;
    posEnd(): number;
    /** For people; of an object identifier, its numbers are the first line. */
    content(): string | null;
  }
}
