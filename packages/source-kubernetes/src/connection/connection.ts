/** What a request proves, and what it trusts. Files of it are read anew for each request: they are replaced. */
export interface Credentials {
  readonly token: string | undefined;
  /** In PEM. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** Undefined: the authorities that Node trusts. */
  readonly ca: string | undefined;
}

/** How an API server is reached. */
export interface KubernetesConnection {
  /** `https://10.0.0.1:6443`, with a path if it has one. */
  readonly server: URL;
  /** The namespace of its user; undefined: it has none. */
  readonly namespace: string | undefined;
  /** Whether the certificate of the server is checked. */
  readonly isChecked: boolean;
  /** The name that the server's certificate must have; undefined: that of the URL. */
  readonly serverName: string | undefined;
  /** Where it is from, for messages. */
  readonly from: string;
  /** Rejects with an XdskitError. `signal`: nobody waits for them any more. */
  credentials(signal?: AbortSignal): Promise<Credentials>;
  /** The server did not accept them: the next are made anew. */
  refused(): void;
}

/** The rule of an option that takes a connection. */
export const connectionOption = {
  methods: ["credentials", "refused"] satisfies (keyof KubernetesConnection)[],
} as const;
