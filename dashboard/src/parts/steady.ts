import { Component, type ComponentChild, type FunctionComponent, h } from "preact";

/**
 * A part that is drawn again only when it gets other values: what stands above it is drawn with every answer of the
 * API. Its values are such as JSON has.
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
