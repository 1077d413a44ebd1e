/** Forms that define a budget, change it and delete it. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { Budget, Routes } from '../../api/types.ts'
import { ActionButton, ReasonField } from '../../parts/action-button.tsx'
import { Choice, ZoneInput, chosenOf } from '../../parts/choices.tsx'
import { Field, FieldError, textOf, textsOf } from '../../parts/dialog.tsx'
import { NextTimes } from '../../parts/next-times.tsx'
import type { Times } from '../../parts/next-times.tsx'

const AMOUNT_MAX = 1e12
const DIMENSIONS_MAX = 64
const PERIODS = {
  never: 'never',
  hour: 'every hour',
  day: 'every day',
  week: 'every week, on Monday',
  month: 'every month',
  cron: 'at the times of a cron expression',
} as const
const CRONS = { hour: '0 * * * *', day: '0 0 * * *', week: '0 0 * * 1', month: '0 0 1 * *' } as const
const BREACHES = {
  refuse_new: 'it is refused',
  suspend: 'it asks for an approval',
  cancel: 'the execution is cancelled',
  warn: 'an event is written, and it may go over',
} as const

type Period = keyof typeof PERIODS
type BudgetBody = Routes['defineBudget']['body']

export function DefineBudget() {
  return (
    <ActionButton
      label="Define a budget"
      title="Define a budget"
      verb="Define it"
      isWide
      act={(fields) => call('defineBudget', { params: { budget: textOf(fields, 'name') ?? '' }, body: bodyOf(fields) })}
    >
      <Field label="Name" hint="A budget of this name is changed." parts={['budget', 'name']}>
        <input name="name" required maxLength={128} />
      </Field>
      <ParentField />
      <TermsFields />
    </ActionButton>
  )
}

export function ChangeBudget({ budget }: { readonly budget: Budget }) {
  const { name, parent } = budget
  return (
    <ActionButton
      label="Change"
      title={`Change budget “${name}”`}
      verb="Change it"
      isWide
      act={(fields) =>
        call('defineBudget', {
          params: { budget: name },
          body: { ...bodyOf(fields), ...(parent === undefined ? {} : { parent }) },
        })
      }
    >
      <p>The next execution that starts and the next reservation obey it. What programs define applies no more.</p>
      <TermsFields budget={budget} />
    </ActionButton>
  )
}

export function DeleteBudget({ budget: { name } }: { readonly budget: Budget }) {
  return (
    <ActionButton
      label="Delete"
      title={`Delete budget “${name}”?`}
      verb="Delete it"
      isDangerous
      act={(fields) => call('deleteBudget', { params: { budget: name }, body: textsOf(fields, 'reason') })}
    >
      <p>It bounds and counts nothing from now on. Work that waits for it is woken, and its ledger is removed.</p>
      <ReasonField />
    </ActionButton>
  )
}

function ParentField() {
  const query = useQuery({ queryKey: ['budgets'], queryFn: ({ signal }) => call('listBudgets', { signal }) })
  return (
    <Field
      label="Below"
      hint="What is spent counts there, too. It stays in the tree that it is defined in."
      parts={['parent']}
    >
      <select name="parent">
        <option value="">none: the root of a tree</option>
        {query.data?.items.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </Field>
  )
}

function TermsFields({ budget }: { readonly budget?: Budget }) {
  const { onBreach = 'refuse_new', inherit = false, per } = budget ?? {}
  return (
    <>
      <DimensionFields budget={budget} />
      <Field label="What finds no room" parts={['onBreach']}>
        <Choice name="onBreach" words={BREACHES} initial={onBreach} />
      </Field>
      <PeriodFields budget={budget} />
      <label className="check">
        <input type="checkbox" name="inherit" defaultChecked={inherit} /> Children of an execution spend it, too
      </label>
      <label className="check">
        <input type="checkbox" name="per" defaultChecked={per !== undefined} /> Each execution has an account of its own
      </label>
      <ReasonField />
    </>
  )
}

interface Row {
  readonly id: number
  readonly dimension: string
  readonly hard: number | undefined
  readonly soft: number | undefined
}

function rowsOf({ hard, soft }: Pick<Budget, 'hard' | 'soft'>): readonly Row[] {
  const names = [...new Set([...Object.keys(hard), ...Object.keys(soft)])].sort()
  return names.map((dimension, id) => ({ id, dimension, hard: hard[dimension], soft: soft[dimension] }))
}

const EMPTY = { dimension: '', hard: undefined, soft: undefined } as const

function DimensionFields({ budget }: { readonly budget: Budget | undefined }) {
  const known = budget === undefined ? [] : rowsOf(budget)
  const [rows, setRows] = useState<readonly Row[]>(known.length > 0 ? known : [{ id: 0, ...EMPTY }])
  return (
    <fieldset className="plain-fieldset">
      <legend className="field-label">Limits</legend>
      <p className="muted small">Whole numbers by dimension, such as tokens. Money is in millionths.</p>
      {rows.map(({ id, dimension, hard, soft }, i) => (
        <div key={id} className="field-row">
          <Field label={`Dimension ${i + 1}`} parts={dimension === '' ? [] : [dimension]}>
            <input name="dimension" pattern="[a-z][a-z0-9_]{0,63}" defaultValue={dimension} title="a-z, 0-9 and _" />
          </Field>
          <Field label="Hard" parts={i === 0 ? ['hard'] : []}>
            <input name="hard" type="number" min={1} max={AMOUNT_MAX} step={1} defaultValue={hard} />
          </Field>
          <Field label="Soft" parts={i === 0 ? ['soft'] : []}>
            <input name="soft" type="number" min={1} max={AMOUNT_MAX} step={1} defaultValue={soft} />
          </Field>
          <button
            type="button"
            aria-label={`Remove dimension ${i + 1}`}
            disabled={rows.length === 1}
            onClick={() => setRows(rows.filter((row) => row.id !== id))}
          >
            Remove
          </button>
        </div>
      ))}
      <button
        type="button"
        disabled={rows.length >= DIMENSIONS_MAX}
        onClick={() => setRows([...rows, { id: Math.max(...rows.map((row) => row.id)) + 1, ...EMPTY }])}
      >
        Add a dimension
      </button>
    </fieldset>
  )
}

function periodOf(budget: Budget | undefined): Period {
  const { every } = budget ?? {}
  if (every === undefined) return 'never'
  return every === 'hour' || every === 'day' || every === 'week' || every === 'month' ? every : 'cron'
}

function PeriodFields({ budget }: { readonly budget: Budget | undefined }) {
  const [period, setPeriod] = useState(periodOf(budget))
  const known = period === 'cron' && periodOf(budget) === 'cron' ? budget?.every : undefined
  const [typed, setTyped] = useState({ cron: known, timeZone: budget?.timeZone })
  return (
    <fieldset
      className="plain-fieldset"
      onInput={({ currentTarget: { form } }) => {
        const { cron, timeZone } = form === null ? {} : textsOf(new FormData(form), 'cron', 'timeZone')
        setTyped({ cron, timeZone })
      }}
    >
      <legend className="visually-hidden">Period</legend>
      <Field label="Begins anew" parts={['every']}>
        <Choice name="every" words={PERIODS} initial={period} onChoose={setPeriod} />
      </Field>
      {period !== 'never' && (
        <div className="field-pair">
          {period === 'cron' && (
            <Field label="Cron expression" parts={['cron']}>
              <input name="cron" required maxLength={256} defaultValue={known} className="mono" />
            </Field>
          )}
          <Field label="Time zone" hint="UTC unless given." parts={['timeZone']}>
            <ZoneInput initial={budget?.timeZone} />
          </Field>
        </div>
      )}
      <NextTimes label="It begins anew" times={timesOf(period, typed)} />
    </fieldset>
  )
}

function timesOf(period: Period, { cron, timeZone }: Pick<Times, 'cron' | 'timeZone'>): Times | undefined {
  if (period === 'never') return undefined
  const expression = period === 'cron' ? cron : CRONS[period]
  if (expression === undefined) return undefined
  return { cron: expression, ...(timeZone === undefined ? {} : { timeZone }) }
}

function bodyOf(fields: FormData): BudgetBody {
  const [period, onBreach] = [chosenOf(fields, 'every', PERIODS), chosenOf(fields, 'onBreach', BREACHES)]
  const { cron = '' } = textsOf(fields, 'cron')
  const [hard, soft] = [amountsOf(fields, 'hard'), amountsOf(fields, 'soft')]
  const every = period === 'cron' ? { cron } : period === 'never' ? undefined : period
  return {
    ...textsOf(fields, 'parent', 'timeZone', 'reason'),
    ...(hard === undefined ? {} : { hard }),
    ...(soft === undefined ? {} : { soft }),
    ...(onBreach === undefined ? {} : { onBreach }),
    ...(every === undefined ? {} : { every }),
    ...(fields.has('inherit') ? { inherit: true } : {}),
    ...(fields.has('per') ? { per: 'execution' as const } : {}),
  }
}

/** The rows of the form have fields of the same names, so they are in one order. */
function amountsOf(fields: FormData, name: 'hard' | 'soft'): Readonly<Record<string, number>> | undefined {
  const dimensions = fields.getAll('dimension').map((value) => (typeof value === 'string' ? value.trim() : ''))
  const given = fields.getAll(name).flatMap((value, i) => {
    const dimension = dimensions[i] ?? ''
    if (value === '') return []
    if (dimension === '') throw new FieldError(name, 'An amount needs the name of its dimension.')
    if (dimensions.indexOf(dimension) !== i) throw new FieldError(name, `${dimension} is there twice.`)
    return [[dimension, Number(value)] as const]
  })
  return given.length === 0 ? undefined : Object.fromEntries(given)
}
