/** The fields for when a schedule fires, with the runs that would follow. */
import { useState } from 'react'
import type { ScheduleSummary, Routes } from '../../api/types.ts'
import { Choice, ZoneInput, chosenOf } from '../../parts/choices.tsx'
import { Field, FieldError, textOf, textsOf } from '../../parts/dialog.tsx'
import { NextTimes } from '../../parts/next-times.tsx'
import type { Times } from '../../parts/next-times.tsx'

const DURATION = '\\d+(\\.\\d+)?(ms|s|m|h|d)'
const KINDS = { cron: 'at the times of a cron expression', every: 'after a fixed period' } as const
const OVERLAPS = {
  skip: 'skip the new run',
  queue: 'run it afterwards',
  cancel_previous: 'cancel the earlier run',
  allow: 'run both',
} as const
const MISSED = { last: 'run the latest of them', skip: 'run none', all: 'run all, the latest 100 at most' } as const

type Kind = keyof typeof KINDS
type FiringTimes = Omit<Routes['retimeSchedule']['body'], 'reason' | 'by'>

export function TimesFields({ schedule }: { readonly schedule?: ScheduleSummary }) {
  const { cron, everyMs, timeZone, jitterMs = 0, from, until, overlap = 'skip', missed = 'last' } = schedule ?? {}
  const [kind, setKind] = useState<Kind>(everyMs === undefined ? 'cron' : 'every')
  const [times, setTimes] = useState<Times | undefined>(schedule === undefined ? undefined : previewOf(schedule))
  const read = (form: HTMLFormElement | null) => {
    if (form !== null) setTimes(typedIn(new FormData(form)))
  }
  return (
    <fieldset
      className="plain-fieldset"
      // Both events bubble: a choice changes which fields there are, and is read once they are there.
      onInput={({ currentTarget }) => {
        const { form } = currentTarget
        window.setTimeout(() => read(form), 0)
      }}
    >
      <legend className="visually-hidden">Times</legend>
      <Field label="Fires">
        <Choice name="kind" words={KINDS} initial={kind} onChoose={setKind} />
      </Field>
      {kind === 'cron' ? (
        <div className="field-pair">
          <Field label="Cron expression" hint="As 0 3 * * *, or six fields with seconds first." parts={['cron']}>
            <input name="cron" required maxLength={256} defaultValue={cron} className="mono" />
          </Field>
          <Field label="Time zone" hint="UTC unless given." parts={['timeZone']}>
            <ZoneInput initial={timeZone} />
          </Field>
        </div>
      ) : (
        <Field
          label="Period"
          hint="As 30s, 15m, 6h or 1d. Counted from the first instant, or from 1970."
          parts={['every']}
        >
          <input name="every" required pattern={DURATION} defaultValue={durationOf(everyMs)} />
        </Field>
      )}
      <div className="field-pair">
        <Field label="From (optional)" hint="In UTC." parts={['from']}>
          <input name="from" type="datetime-local" step={1} defaultValue={localOf(from)} />
        </Field>
        <Field label="Until (optional)" hint="In UTC. It fires no more then." parts={['until']}>
          <input name="until" type="datetime-local" step={1} defaultValue={localOf(until)} />
        </Field>
      </div>
      <Field label="Jitter (optional)" hint="As 5m. Delays each run by up to this much." parts={['jitter']}>
        <input name="jitter" pattern={DURATION} defaultValue={durationOf(jitterMs)} />
      </Field>
      <NextTimes label={textOfJitter(times)} times={times} />
      <div className="field-pair">
        <Field label="If the last still runs" parts={['overlap']}>
          <Choice name="overlap" words={OVERLAPS} initial={overlap} />
        </Field>
        <Field label="Runs missed without an engine" parts={['missed']}>
          <Choice name="missed" words={MISSED} initial={missed} />
        </Field>
      </div>
    </fieldset>
  )
}

function textOfJitter(times: Times | undefined): string {
  return times?.jitter === undefined ? 'Next runs' : `Next runs, each up to ${times.jitter} later`
}

/** Returns what was filled in, as the request has it. */
export function timesOf(fields: FormData): FiringTimes {
  const { cron, every, timeZone, jitter } = textsOf(fields, 'cron', 'every', 'timeZone', 'jitter')
  const [overlap, missed] = [chosenOf(fields, 'overlap', OVERLAPS), chosenOf(fields, 'missed', MISSED)]
  const [from, until] = [instantOf(fields, 'from'), instantOf(fields, 'until')]
  return {
    ...(cron === undefined ? {} : { cron }),
    ...(every === undefined ? {} : { every }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(jitter === undefined ? {} : { jitter }),
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
    ...(overlap === undefined ? {} : { overlap }),
    ...(missed === undefined ? {} : { missed }),
  }
}

/** What can be computed so far; undefined without an expression or a period. */
function typedIn(fields: FormData): Times | undefined {
  const { overlap: _overlap, missed: _missed, ...times } = timesOf(fields)
  return times.cron === undefined && times.every === undefined ? undefined : times
}

function previewOf({ cron, everyMs, timeZone, jitterMs, from, until }: ScheduleSummary): Times {
  const jitter = durationOf(jitterMs)
  return {
    ...(cron === undefined ? { every: durationOf(everyMs) } : { cron, timeZone }),
    ...(jitter === undefined ? {} : { jitter }),
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
  }
}

/** A field of the browser has no zone. Its text is read as UTC. */
function instantOf(fields: FormData, name: string): number | undefined {
  const text = textOf(fields, name)
  if (text === undefined) return undefined
  const at = Date.parse(`${text}Z`)
  if (Number.isNaN(at)) throw new FieldError(name, 'This is no date with a time.')
  return at
}

function localOf(at: number | undefined): string | undefined {
  return at === undefined ? undefined : new Date(at).toISOString().slice(0, 19)
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** Returns a duration as a person would type it. */
function durationOf(ms: number | undefined): string | undefined {
  if (ms === undefined || ms === 0) return undefined
  const unit = UNITS.find(([, length]) => ms % length === 0)
  return unit === undefined ? `${ms}ms` : `${ms / unit[1]}${unit[0]}`
}
