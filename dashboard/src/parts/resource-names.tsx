import { linkTo } from "../router.js";

interface Named {
  readonly type: string;
  readonly name: string;
}

/** The names of resources of a group, each with its type and a link to its page. `more`: how many are left out. */
export function ResourceNames({
  group,
  resources,
  more = 0,
}: {
  readonly group: string;
  readonly resources: readonly Named[];
  readonly more?: number;
}) {
  return (
    <ul class="names">
      {resources.map(({ type, name }) => (
        <li key={`${type} ${name}`}>
          <a href={linkTo("config", [group, type, name])}>{name}</a> <small>{type}</small>
        </li>
      ))}
      {more > 0 ? <li class="quiet">and {more} more</li> : null}
    </ul>
  );
}
