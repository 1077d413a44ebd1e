/** The next instants of times that are being typed, as the server computes them. */
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { call } from '../api/call.ts'
import type { Routes } from '../api/types.ts'
import { Text } from './text.tsx'

export type Times = Omit<Routes['previewTimes']['query'], 'next'>

const SHOWN = 5
const TYPING_MS = 300

/** `times` is undefined while there is nothing to compute. */
export function NextTimes({ label, times }: { readonly label: string; readonly times: Times | undefined }) {
  const settled = useSettled(JSON.stringify(times))
  const query = useQuery({
    queryKey: ['schedule-times', settled],
    queryFn: ({ signal }) =>
      call('previewTimes', { query: { ...(JSON.parse(settled ?? '{}') as Times), next: SHOWN }, signal }),
    enabled: settled !== undefined,
    retry: false,
    placeholderData: keepPreviousData,
  })
  if (settled === undefined) return null
  return (
    <div className="next-times" role="status">
      <p className="field-label">{label}</p>
      {query.error !== null ? (
        <p className="field-problem">
          <Text>{query.error.message}</Text>
        </p>
      ) : query.data === undefined ? (
        <p className="muted">Computing them</p>
      ) : (
        <Instants items={query.data.items} timeZone={times?.timeZone ?? 'UTC'} />
      )}
    </div>
  )
}

function Instants({ items, timeZone }: { readonly items: readonly number[]; readonly timeZone: string }) {
  if (items.length === 0) return <p className="muted">It fires no more.</p>
  return (
    <ol className="plain-list mono">
      {items.map((at) => (
        <li key={at}>
          <time dateTime={new Date(at).toISOString()}>{localText(at, timeZone)}</time>
        </li>
      ))}
    </ol>
  )
}

/** In the zone in which the expression is read. A zone that only the server knows is shown as UTC. */
function localText(at: number, timeZone: string): string {
  const parts = { dateStyle: 'full', timeStyle: 'long' } as const
  try {
    return new Intl.DateTimeFormat('en-GB', { ...parts, timeZone }).format(at)
  } catch {
    return new Intl.DateTimeFormat('en-GB', { ...parts, timeZone: 'UTC' }).format(at)
  }
}

/** Returns a text once it has not changed for a moment. */
function useSettled(text: string | undefined): string | undefined {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), TYPING_MS)
    return () => window.clearTimeout(timer)
  }, [text])
  return settled
}
