import type { Failure as FailureRecord } from '../../api/types.ts'
import { Text } from '../../parts/text.tsx'
import { Moment } from '../../parts/time.tsx'
import { Panel } from '../../parts/views.tsx'

export function Failure({ title, failure }: { readonly title: string; readonly failure: FailureRecord }) {
  return (
    <Panel title={title} aside={<Moment at={failure.at} />}>
      <p className="failure">
        <span className="tag">
          <Text>{failure.category}</Text>
        </span>{' '}
        <Text className="lines">{failure.message}</Text>
      </p>
      {failure.stack !== undefined && (
        <details>
          <summary>Stack</summary>
          <pre tabIndex={0}>
            <Text>{failure.stack}</Text>
          </pre>
        </details>
      )}
    </Panel>
  )
}
