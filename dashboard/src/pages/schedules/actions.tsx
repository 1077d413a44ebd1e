import { call } from '../../api/call.ts'
import type { ScheduleSummary } from '../../api/types.ts'
import { ActionButton, ReasonField } from '../../parts/action-button.tsx'
import { Field, FieldError, textOf, textsOf } from '../../parts/dialog.tsx'

interface Chosen {
  readonly schedule: Pick<ScheduleSummary, 'name' | 'namespace'>
}

const DAY_MS = 86_400_000

/** Dates of UTC, as their first instants; the last day is included. */
function rangeOf(form: FormData): { readonly from: number; readonly to: number } {
  const [from, to] = [Date.parse(textOf(form, 'from') ?? ''), Date.parse(textOf(form, 'to') ?? '') + DAY_MS]
  if (Number.isNaN(from) || Number.isNaN(to) || from >= to)
    throw new FieldError('from', 'The first day must not be after the last.')
  return { from, to: Math.min(to, Date.now()) }
}

export function Backfill({ schedule: { name, namespace } }: Chosen) {
  const today = new Date().toISOString().slice(0, 10)
  return (
    <ActionButton
      label="Backfill"
      title={`Fire “${name}” for the past?`}
      verb="Fire for them"
      act={(form) =>
        call('backfillSchedule', {
          params: { schedule: name },
          query: { namespace },
          body: { ...rangeOf(form), ...textsOf(form, 'reason') },
        })
      }
    >
      <p>Every time of these days (UTC) that has not fired creates its execution or flow now.</p>
      <Field label="First day" parts={['from']}>
        <input name="from" type="date" required max={today} />
      </Field>
      <Field label="Last day" parts={['to']}>
        <input name="to" type="date" required max={today} />
      </Field>
      <ReasonField />
    </ActionButton>
  )
}

export function DeleteSchedule({ schedule: { name, namespace } }: Chosen) {
  return (
    <ActionButton
      label="Delete"
      title={`Delete schedule “${name}”?`}
      verb="Delete it"
      isDangerous
      act={(form) =>
        call('deleteSchedule', { params: { schedule: name }, query: { namespace }, body: textsOf(form, 'reason') })
      }
    >
      <p>It fires no more. What it has started runs on. A program that declares it creates it again.</p>
      <ReasonField />
    </ActionButton>
  )
}
