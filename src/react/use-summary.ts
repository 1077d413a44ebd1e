/** Follows the summary of an execution. */
import type { HttpClient } from '../http/http-client.ts'
import { Followed, useFollowed } from './followed.ts'
import type { Following } from './followed.ts'
import { useOf } from './use-of.ts'

export interface SummaryView<Document = Readonly<Record<string, unknown>>> extends Following {
  /** The document that the handler keeps. Undefined before the first. */
  readonly summary: Document | undefined
  /** Rises with every change. */
  readonly version: number
  readonly attempt: number | undefined
}

const NOTHING: SummaryView = {
  status: 'connecting',
  error: undefined,
  summary: undefined,
  version: 0,
  attempt: undefined,
}

/**
 * Returns the live summary of an execution: the latest version, until it ends.
 *
 * @example
 * const { summary } = useSummary<{ stage: string }>(api, id)
 * return <p>{summary?.stage}</p>
 */
export function useSummary<Document = Readonly<Record<string, unknown>>>(
  api: HttpClient,
  id: string | undefined,
): SummaryView<Document> {
  return useFollowed(useOf([api, id], () => followSummary(api, id))) as SummaryView<Document>
}

function followSummary(api: HttpClient, id: string | undefined): Followed<SummaryView> {
  if (id === undefined) return new Followed<SummaryView>({ ...NOTHING, status: 'idle' }, undefined)
  let last: string | undefined
  return new Followed<SummaryView>(NOTHING, async (change, signal) => {
    const position = last === undefined ? {} : { lastEventId: last }
    const onOpen = () => change((view) => view)
    const path = '/v1/executions/{id}/summary/live'
    for await (const { id: seen, data } of api.events(path, { params: { id }, signal, ...position, onOpen })) {
      last = seen
      const { document, version, attempt } = data
      change((view) => ({ ...view, summary: document, version, attempt }))
    }
  })
}
