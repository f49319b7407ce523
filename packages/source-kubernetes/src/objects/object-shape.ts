/** What every object of Kubernetes has, as far as it is read. Nothing of it is surely there. */
export interface ObjectShape {
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly resourceVersion?: string;
  };
}

/** The families of addresses that a Service may have. */
export type Family = "IPv4" | "IPv6";

/** Names an object among those of its kind. */
export function keyOf({ metadata: { namespace = "", name = "" } = {} }: ObjectShape): string {
  return objectKey({ namespace, name });
}

/** The same of one that was read, or that another one names. */
export function objectKey({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/** Only TCP: gRPC has no other. Kubernetes leaves it out, too. */
export function isTcp({ protocol = "TCP" }: { readonly protocol?: string | undefined }): boolean {
  return protocol === "TCP";
}
