/** How long is waited between attempts, in milliseconds (gRPC's A57). */
export interface Backoff {
  readonly firstMs: number;
  readonly factor: number;
  readonly mostMs: number;
  /** A part of each wait, up or down: 0.2 is ±20 %. */
  readonly jitter: number;
}
