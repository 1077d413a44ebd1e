import { call } from '../../api/call.ts'
import type { LaneLimit } from '../../api/types.ts'
import { ActionButton, ReasonField } from '../../parts/action-button.tsx'
import { Field, textOf } from '../../parts/dialog.tsx'

const MINUTE_MS = 60_000

/** Limits the executions of a lane together, or ends that. */
export function LimitLane({ lane, limit }: { readonly lane: string; readonly limit: LaneLimit | undefined }) {
  const perMinute = limit?.rate?.windowMs === MINUTE_MS ? limit.rate.count : undefined
  const act = (form: FormData) => {
    const [count, concurrency, reason] = [textOf(form, 'count'), textOf(form, 'concurrency'), textOf(form, 'reason')]
    if (count === undefined && concurrency === undefined) throw new Error('Give a rate, a number at once, or both.')
    return call('limitLane', {
      params: { lane },
      body: {
        ...(count === undefined ? {} : { perMinute: Number(count) }),
        ...(concurrency === undefined ? {} : { concurrency: Number(concurrency) }),
        ...(reason === undefined ? {} : { reason }),
      },
    })
  }
  return (
    <>
      <ActionButton label="Limit" title={`Limit lane “${lane}”`} verb="Limit it" act={act}>
        <p>All executions of the lane together obey it, beside the limits of their tasks.</p>
        <Field label="Starts in a minute (optional)">
          <input name="count" type="number" min={1} step={1} defaultValue={perMinute} />
        </Field>
        <Field label="At once (optional)">
          <input name="concurrency" type="number" min={1} step={1} defaultValue={limit?.concurrency} />
        </Field>
        <ReasonField />
      </ActionButton>
      <ActionButton
        label="Remove limit"
        title={`Remove the limit of lane “${lane}”?`}
        verb="Remove it"
        isOffered={limit !== undefined}
        act={() => call('unlimitLane', { params: { lane } })}
      />
    </>
  )
}
