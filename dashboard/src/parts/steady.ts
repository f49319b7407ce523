import { Component, type ComponentChild, type FunctionComponent, h } from "preact";

/**
 * A part that is redrawn only when its values change: what stands above it is drawn with every answer of the API.
 * Values must be JSON.
 */
export function steady<P extends object>(part: FunctionComponent<P>) {
  return class Steady extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return JSON.stringify(next) !== JSON.stringify(this.props);
    }

    override render(props: P): ComponentChild {
      return h(part, props);
    }
  };
}
