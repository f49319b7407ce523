/** As a `ref`: the page shows the element as soon as it is there. */
export function intoView(element: Element | null): void {
  element?.scrollIntoView({ block: "center" });
}
