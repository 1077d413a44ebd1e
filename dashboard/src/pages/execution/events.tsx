/** The events of one execution, as the server sends them: those that are kept, and those that follow. */
import { useEffect, useState } from 'react'
import { addressOf } from '../../api/call.ts'
import { eventTypes } from '../../api/types.ts'
import type { Event as StoredEvent } from '../../api/types.ts'
import { Text } from '../../parts/text.tsx'
import { instantText } from '../../parts/time.tsx'
import { Empty, Panel } from '../../parts/views.tsx'

/** The newest events that are kept in the page. */
const SHOWN_EVENTS = 500

export function Events({ id }: { readonly id: string }) {
  const [events, setEvents] = useState<readonly StoredEvent[]>([])
  const [isOver, setOver] = useState(false)
  useEffect(() => {
    setEvents([])
    const source = new EventSource(addressOf('followExecution', { params: { id }, query: { fromStart: true } }))
    const add = (message: MessageEvent<string>) => {
      const event = JSON.parse(message.data) as StoredEvent
      setEvents((before) => [...before, event].slice(-SHOWN_EVENTS))
    }
    for (const type of eventTypes) source.addEventListener(type, add)
    source.addEventListener('end', () => {
      source.close()
      setOver(true)
    })
    return () => source.close()
  }, [id])
  return (
    <Panel
      title="Events"
      aside={<span className="muted">{isOver ? 'It has ended.' : 'More follow as they happen.'}</span>}
    >
      {events.length === 0 ? (
        <Empty title="No event is kept">Events are kept for a day.</Empty>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col">Event</th>
              <th scope="col">Detail</th>
            </tr>
          </thead>
          <tbody>
            {events.map((event) => (
              <tr key={event.sequence}>
                <td className="mono">{instantText(event.at)}</td>
                <td>{event.type.replaceAll('_', ' ')}</td>
                <td>
                  <Text>{eventDetail(event)}</Text>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  )
}

function eventDetail(event: StoredEvent): string {
  const {
    attempt,
    workerId,
    outcome,
    step,
    waitpoint,
    signal,
    effect,
    category,
    reason,
    by,
    percent,
    priority,
    until,
  } = event
  const parts = [
    outcome,
    attempt !== undefined && `attempt ${attempt}`,
    workerId !== undefined && `worker ${workerId}`,
    step !== undefined && `step ${step}`,
    waitpoint !== undefined && `waitpoint ${waitpoint}`,
    signal !== undefined && `signal ${signal}`,
    effect,
    category,
    percent !== undefined && `${percent} %`,
    priority !== undefined && `priority ${priority}`,
    until !== undefined && `until ${instantText(until)}`,
    reason,
    by !== undefined && `by ${by}`,
  ]
  return parts.filter((part) => typeof part === 'string' && part !== '').join(' · ')
}
