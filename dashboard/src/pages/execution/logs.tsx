/** What the handler has written by ctx.log, live, from a level on. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { LogItem } from '../../api/types.ts'
import { inlineJson } from '../../parts/json.tsx'
import { Text } from '../../parts/text.tsx'
import { instantText } from '../../parts/time.tsx'
import { Empty, Failed, Panel } from '../../parts/views.tsx'
import { useFollowed } from './follow.ts'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
type Level = (typeof LEVELS)[number]
const KINDS = ['line', 'trimmed']

export function Logs({ id }: { readonly id: string }) {
  const [level, setLevel] = useState<Level>('debug')
  const { items, dropped, isOver } = useFollowed<LogItem>('followLogs', { id, level }, KINDS)
  // A stream that is refused gives no reason, so the list is asked for one.
  const readable = useQuery({
    queryKey: ['logs', id],
    queryFn: ({ signal }) => call('listLogs', { params: { id }, query: { limit: 1 }, signal }),
  })
  if (readable.error !== null) return <Failed error={readable.error} />
  return (
    <Panel
      title="Logs"
      aside={
        <div className="actions">
          <span className="muted">{isOver ? 'It has ended.' : 'More follow when a run ends or waits.'}</span>
          <select
            aria-label="Level"
            value={level}
            onChange={(event) => setLevel(LEVELS.find((each) => each === event.target.value) ?? level)}
          >
            {LEVELS.map((each) => (
              <option key={each} value={each}>
                {each === 'error' ? 'errors only' : `from ${each} on`}
              </option>
            ))}
          </select>
        </div>
      }
    >
      {items.length === 0 ? (
        <Empty title="No line was written">
          A handler writes lines with ctx.log, which are kept from level info on.
        </Empty>
      ) : (
        <>
          {dropped > 0 && <p className="muted note">{dropped.toLocaleString('en')} older ones are not shown.</p>}
          <ol className="frames">
            {items.map((item) => (
              <li key={item.cursor} data-level={item.kind === 'line' ? item.level : undefined}>
                <Line item={item} />
              </li>
            ))}
          </ol>
        </>
      )}
    </Panel>
  )
}

function Line({ item }: { readonly item: LogItem }) {
  if (item.kind === 'trimmed') {
    return <span className="muted">{item.count ?? 'Some'} lines before this are not kept.</span>
  }
  const { at, level, message, fields, step, attempt, isCut } = item
  return (
    <>
      <time className="muted mono" title={instantText(at)}>
        {instantText(at).slice(11, 23)}
      </time>
      <span className="log-level">{level}</span>
      <span className="lines">
        <Text>{message}</Text>{' '}
        {Object.keys(fields).length > 0 && (
          <span className="mono muted">
            <Text>{inlineJson(fields)}</Text>
          </span>
        )}
        {isCut && <span className="muted"> (cut)</span>}
      </span>
      <span className="muted small log-place">
        <Text>{step === undefined ? `attempt ${attempt}` : `${step}, attempt ${attempt}`}</Text>
      </span>
    </>
  )
}
