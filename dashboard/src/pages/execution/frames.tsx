/** The output of a handler while it is written: frames in their order, and its summary. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { addressOf, call } from '../../api/call.ts'
import type { FrameItem, Summary } from '../../api/types.ts'
import { Json, inlineJson } from '../../parts/json.tsx'
import { Text } from '../../parts/text.tsx'
import { instantText } from '../../parts/time.tsx'
import { Empty, Failed, Panel } from '../../parts/views.tsx'
import { useFollowed } from './follow.ts'

const KINDS = ['frame', 'attempt', 'trimmed']

export function Frames({ id }: { readonly id: string }) {
  const { items, dropped, isOver } = useFollowed<FrameItem>('followFrames', { id }, KINDS)
  const summary = useSummary(id)
  // A stream that is refused gives no reason, so the list of frames is asked for one.
  const readable = useQuery({
    queryKey: ['frames', id],
    queryFn: ({ signal }) => call('listFrames', { params: { id }, query: { limit: 1 }, signal }),
  })
  if (readable.error !== null) return <Failed error={readable.error} />
  return (
    <>
      {summary !== undefined && (
        <Panel title="Summary" aside={<span className="muted">version {summary.version}</span>}>
          <Json value={summary.document} label="summary" />
        </Panel>
      )}
      <Panel
        title="Frames"
        aside={<span className="muted">{isOver ? 'It has ended.' : 'More follow as they are written.'}</span>}
      >
        {items.length === 0 ? (
          <Empty title="No frame was written">A handler writes frames to stream its output.</Empty>
        ) : (
          <>
            {dropped > 0 && <p className="muted note">{dropped.toLocaleString('en')} older ones are not shown.</p>}
            <ol className="frames">
              {items.map((item) => (
                <li key={item.cursor}>
                  <Frame item={item} />
                </li>
              ))}
            </ol>
          </>
        )}
      </Panel>
    </>
  )
}

function Frame({ item }: { readonly item: FrameItem }) {
  switch (item.kind) {
    case 'frame':
      return (
        <>
          <time className="muted mono" title={instantText(item.at)}>
            {instantText(item.at).slice(11, 23)}
          </time>
          <span className="tag">
            <Text>{item.name}</Text>
          </span>
          <span className="mono lines">
            <Text>{item.valueBytes === undefined ? inlineJson(item.value) : `bytes ${item.valueBytes}`}</Text>
          </span>
        </>
      )
    case 'attempt':
      return <strong>Attempt {item.attempt}</strong>
    case 'trimmed':
      return <span className="muted">{item.count ?? 'Some'} frames before this are not kept.</span>
  }
}

function useSummary(id: string): Summary | undefined {
  const [summary, setSummary] = useState<Summary>()
  useEffect(() => {
    setSummary(undefined)
    const source = new EventSource(addressOf('followSummary', { params: { id } }))
    source.addEventListener('summary', (message: MessageEvent<string>) => {
      setSummary(JSON.parse(message.data) as Summary)
    })
    source.addEventListener('end', () => source.close())
    return () => source.close()
  }, [id])
  return summary
}
