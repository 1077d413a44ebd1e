import { call } from '../../api/call.ts'
import type { Budget, BudgetKey } from '../../api/types.ts'
import { ActionButton, ReasonField } from '../../parts/action-button.tsx'
import { Field, FieldError, textOf } from '../../parts/dialog.tsx'
import { ChangeBudget, DeleteBudget } from './define.tsx'
import { OnceKey, onceKeyOf } from '../../parts/once-key.tsx'

const AMOUNT_MAX = 1e12

function reasonOf(fields: FormData): { readonly reason?: string } {
  const reason = textOf(fields, 'reason')
  return reason === undefined ? {} : { reason }
}

export function BudgetActions({ budget }: { readonly budget: Budget }) {
  return (
    <div className="actions">
      <ChangeBudget budget={budget} />
      <HoldBudget budget={budget} />
      <DeleteBudget budget={budget} />
    </div>
  )
}

function HoldBudget({ budget: { name, frozen } }: { readonly budget: Budget }) {
  const params = { budget: name }
  return (
    <>
      <ActionButton
        label="Freeze"
        title={`Freeze budget “${name}”?`}
        verb="Freeze it"
        isDangerous
        isOffered={frozen === undefined}
        act={(form) => call('freezeBudget', { params, body: reasonOf(form) })}
      >
        <p>Nothing is reserved and no new work starts, also of the budgets below it. What runs may still spend.</p>
        <ReasonField />
      </ActionButton>
      <ActionButton
        label="Open"
        title={`Open budget “${name}”?`}
        verb="Open it"
        isOffered={frozen !== undefined}
        act={(form) => call('openBudget', { params, body: reasonOf(form) })}
      >
        <p>Work that waits for it is woken.</p>
        <ReasonField />
      </ActionButton>
    </>
  )
}

export function KeyActions({ budget, usage }: { readonly budget: Budget; readonly usage: BudgetKey }) {
  const { name, hard } = budget
  const { key } = usage
  const params = { budget: name }
  const ofKey = key === '' ? '' : ` for “${key}”`
  const limited = Object.keys(hard)
  const raise = (form: FormData) => {
    const given = limited.flatMap((dimension, i) => {
      const amount = textOf(form, `amount-${i}`)
      return amount === undefined ? [] : [[dimension, Number(amount)] as const]
    })
    if (given.length === 0) throw new FieldError('amounts', 'Give an amount of one dimension at least.')
    const body = { amounts: Object.fromEntries(given), key, ...reasonOf(form) }
    return call('raiseBudget', { params, key: onceKeyOf(form), body })
  }
  return (
    <div className="actions">
      {limited.length > 0 && (
        <ActionButton label="Raise" title={`Raise budget “${name}”${ofKey}`} verb="Raise it" act={raise}>
          <p>It is added to the hard limits until the budget begins anew. Work that waits for it is woken.</p>
          {limited.map((dimension, i) => (
            <Field key={dimension} label={`Add to ${dimension}`}>
              <input name={`amount-${i}`} type="number" min={1} max={AMOUNT_MAX} step={1} />
            </Field>
          ))}
          <ReasonField />
          <OnceKey />
        </ActionButton>
      )}
      <ActionButton
        label="Reset"
        title={`Begin budget “${name}”${ofKey} anew?`}
        verb="Reset it"
        isDangerous
        act={(form) => call('resetBudget', { params, key: onceKeyOf(form), body: { key, ...reasonOf(form) } })}
      >
        <p>Nothing counts as spent any more. What is reserved stays reserved, and the ledger is kept.</p>
        <ReasonField />
        <OnceKey />
      </ActionButton>
    </div>
  )
}
