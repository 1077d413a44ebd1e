import { Link } from '@tanstack/react-router'
import { Text } from './text.tsx'

/** Tags, each a link to the executions that have it. */
export function Tags({ tags }: { readonly tags: Readonly<Record<string, string>> }) {
  return (
    <span className="tags">
      {Object.entries(tags).map(([name, value]) => (
        <Link key={name} className="tag" to="/executions" search={{ tag: `${name}:${value}` }}>
          <Text>{name}</Text>: <Text>{value}</Text>
        </Link>
      ))}
    </span>
  )
}
