import { call } from '../../api/call.ts'
import type { Limit, Routes } from '../../api/types.ts'
import { ActionButton, ReasonField } from '../../parts/action-button.tsx'
import { Choice, chosenOf } from '../../parts/choices.tsx'
import { Field, FieldError, textOf, textsOf } from '../../parts/dialog.tsx'
import { durationText } from '../../parts/time.tsx'

const WINDOWS = { perSecond: 'second', perMinute: 'minute', perHour: 'hour', perDay: 'day' } as const
const WINDOW_MS = { perSecond: 1_000, perMinute: 60_000, perHour: 3_600_000, perDay: 86_400_000 } as const
/** A window that none of the words is for, which stays as it is. */
const OWN = 'own'

type Window = keyof typeof WINDOWS
type LimitBody = Routes['defineLimit']['body']

export function DefineLimit() {
  return (
    <ActionButton
      label="Define a limit"
      title="Define a limit"
      verb="Define it"
      act={(fields) => call('defineLimit', { params: { limit: textOf(fields, 'name') ?? '' }, body: bodyOf(fields) })}
    >
      <p>Tasks and submits name it. Each of its keys is limited alone.</p>
      <Field label="Name" hint="A limit of this name is changed." parts={['limit', 'name']}>
        <input name="name" required maxLength={128} />
      </Field>
      <LimitFields />
    </ActionButton>
  )
}

export function ChangeLimit({ limit }: { readonly limit: Limit }) {
  const { name, rate } = limit
  return (
    <ActionButton
      label="Change"
      title={`Change limit “${name}”`}
      verb="Change it"
      act={(fields) => call('defineLimit', { params: { limit: name }, body: bodyOf(fields, rate?.windowMs) })}
    >
      <p>The next admission of every key obeys it. An empty field does not limit.</p>
      <LimitFields limit={limit} />
    </ActionButton>
  )
}

function LimitFields({ limit: { rate, concurrency } = {} }: { readonly limit?: Pick<Limit, 'rate' | 'concurrency'> }) {
  const known = (Object.keys(WINDOWS) as Window[]).find((window) => WINDOW_MS[window] === rate?.windowMs)
  const ownMs = known === undefined ? rate?.windowMs : undefined
  const words = ownMs === undefined ? WINDOWS : { [OWN]: durationText(ownMs), ...WINDOWS }
  return (
    <>
      <div className="field-pair">
        <Field label="Rate (optional)" parts={[...Object.keys(WINDOWS), 'rate', 'count']}>
          <input name="count" type="number" min={1} step={1} defaultValue={rate?.count} />
        </Field>
        <Field label="Per">
          <Choice<string> name="window" words={words} initial={ownMs === undefined ? (known ?? 'perMinute') : OWN} />
        </Field>
      </div>
      <Field label="At once (optional)" parts={['concurrency']}>
        <input name="concurrency" type="number" min={1} step={1} defaultValue={concurrency} />
      </Field>
      <ReasonField />
    </>
  )
}

function bodyOf(fields: FormData, ownMs?: number): LimitBody {
  const { count, concurrency } = textsOf(fields, 'count', 'concurrency')
  if (count === undefined && concurrency === undefined) {
    throw new FieldError('count', 'Give a rate, a number at once, or both.')
  }
  return {
    ...(count === undefined ? {} : rateOf(Number(count), chosenOf(fields, 'window', WINDOWS), ownMs)),
    ...(concurrency === undefined ? {} : { concurrency: Number(concurrency) }),
    ...textsOf(fields, 'reason'),
  }
}

function rateOf(count: number, window: Window | undefined, ownMs: number | undefined): LimitBody {
  if (window !== undefined) return { [window]: count }
  return ownMs === undefined ? { perMinute: count } : { rate: { count, per: ownMs } }
}

export function DeleteLimit({ name }: { readonly name: string }) {
  return (
    <ActionButton
      label="Delete"
      title={`Delete limit “${name}”?`}
      verb="Delete it"
      isDangerous
      act={(form) => {
        return call('deleteLimit', { params: { limit: name }, body: textsOf(form, 'reason') })
      }}
    >
      <p>It limits nothing from now on. Work that waits for it is woken.</p>
      <ReasonField />
    </ActionButton>
  )
}
