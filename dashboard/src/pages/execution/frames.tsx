/** The output of a handler while it is written: frames in their order, and its summary. */
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { addressOf, call } from '../../api/call.ts'
import type { FrameItem, Summary } from '../../api/types.ts'
import { Json, inlineJson } from '../../parts/json.tsx'
import { Text } from '../../parts/text.tsx'
import { instantText } from '../../parts/time.tsx'
import { Empty, Failed, Panel } from '../../parts/views.tsx'

/** The newest frames that are kept in the page. */
const SHOWN_FRAMES = 1_000

interface Output {
  readonly items: readonly FrameItem[]
  readonly dropped: number
  readonly isOver: boolean
}

const NOTHING: Output = { items: [], dropped: 0, isOver: false }

export function Frames({ id }: { readonly id: string }) {
  const { items, dropped, isOver } = useFrames(id)
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

function useFrames(id: string): Output {
  const [output, setOutput] = useState(NOTHING)
  useEffect(() => {
    setOutput(NOTHING)
    const source = new EventSource(addressOf('followFrames', { params: { id } }))
    let waiting: FrameItem[] = []
    let frame: number | undefined
    // Tokens of a model arrive by the hundred: they are shown together, once per image.
    const show = () => {
      frame = undefined
      const added = waiting
      waiting = []
      setOutput(({ items, dropped, isOver }) => {
        const all = [...items, ...added]
        const kept = all.slice(-SHOWN_FRAMES)
        return { items: kept, dropped: dropped + all.length - kept.length, isOver }
      })
    }
    const add = (message: MessageEvent<string>) => {
      waiting.push(JSON.parse(message.data) as FrameItem)
      frame ??= requestAnimationFrame(show)
    }
    for (const kind of ['frame', 'attempt', 'trimmed']) source.addEventListener(kind, add)
    source.addEventListener('end', () => {
      source.close()
      setOutput((before) => ({ ...before, isOver: true }))
    })
    return () => {
      source.close()
      if (frame !== undefined) cancelAnimationFrame(frame)
    }
  }, [id])
  return output
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
