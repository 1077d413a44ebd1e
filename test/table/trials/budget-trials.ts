/** Calls that concern budgets: their definitions, their accounts, their reservations and their ledger. */
import { CHARGE_RETENTION_MS } from '../../../src/kernel/index.ts'
import { accountId, budgetId } from '../../../src/kernel/model/budget-ids.ts'
import type { DefineBudgetInput, ExecutionId } from '../../../src/kernel/index.ts'
import type { OperationCall } from './operation-call.ts'
import { SOON_MS } from './trial.ts'
import type { Trial } from './trial.ts'
import { START_AT, step } from './world.ts'
import type { World } from './world.ts'

const ROOT = 'company'
const root = { root: ROOT, name: ROOT }
const tenant = { root: ROOT, name: 'tenant', key: 'acme' }
const tokens = (value: number) => [{ dimension: 'tokens', value }]
const period = { every: 'day', cron: '0 0 * * *', timeZone: 'UTC' }

const top: DefineBudgetInput = { ...root, hard: [], soft: tokens(50), onBreach: 'warn', boundaries: [], by: 'ada' }
const below: DefineBudgetInput = {
  root: ROOT,
  name: 'tenant',
  parent: ROOT,
  hard: tokens(100),
  soft: [],
  onBreach: 'refuse_new',
  period,
  boundaries: [START_AT + SOON_MS],
}
const usage = {
  root: ROOT,
  key: 'call-1',
  accounts: [
    { name: 'tenant', key: 'acme' },
    { name: ROOT, key: '' },
  ],
  amounts: tokens(60),
  spender: {
    executionId: '0-00000000-0000-7000-8000-0000000000f1' as ExecutionId,
    namespace: 'default',
    task: 'summarise',
    epoch: 1,
    attempt: 1,
  },
}
const reserve = { ...usage, ttlMs: 30_000 }
/** Its partition is stored as a number, so its id is none of those that each store of the table renames. */
const elsewhere = { ...usage.spender, executionId: '3-11111111-1111-7111-8111-1111111111f1' as ExecutionId }
const waiting = { ...usage, spender: elsewhere, waitMs: 60_000 }
const call = { root: ROOT, key: 'call-1' }
const limit = budgetId(ROOT, 'tenant')

function defined(world: World): void {
  step(world, 0, { operation: 'defineBudget', input: top })
  step(world, 0, { operation: 'defineBudget', input: { ...below, period: undefined, boundaries: [] } })
}

function periodic(world: World): void {
  step(world, 0, { operation: 'defineBudget', input: top })
  step(world, 0, { operation: 'defineBudget', input: below })
  step(world, 0, { operation: 'spendBudget', input: usage })
}

function reserved(world: World): void {
  defined(world)
  step(world, 0, { operation: 'reserveBudget', input: reserve })
}

function spent(world: World): void {
  defined(world)
  step(world, 0, { operation: 'spendBudget', input: usage })
}

function frozen(world: World): void {
  spent(world)
  step(world, 0, { operation: 'freezeBudget', input: { ...root, isFrozen: true, by: 'ada' } })
}

function trial(one: OperationCall, manner = '', prepare?: (world: World) => void, atMs = SOON_MS): Trial {
  return { ...one, manner, atMs, blobs: [], about: 'registry', prepare }
}

/** A reservation that is released makes room for work that waits. */
function owing(world: World): void {
  defined(world)
  step(world, 0, { operation: 'reserveBudget', input: { ...reserve, amounts: tokens(100) } })
  const asked = { limit, key: 'acme', weight: 1, needed: 1, spare: 0, waitingIn: 3 }
  const take = { requestId: 't', workerInstanceId: 'w', ttlMs: 1, requests: [asked] }
  step(world, 0, { operation: 'takePermits', input: take })
  step(world, 0, { operation: 'releaseReservation', input: call })
  step(world, 0, { operation: 'freezeBudget', input: { ...root, isFrozen: true } })
  step(world, 0, { operation: 'freezeBudget', input: { ...root, isFrozen: false } })
}

/** An execution waits for more room than is left. */
function parked(world: World): void {
  reserved(world)
  step(world, 0, { operation: 'awaitRoom', input: waiting })
}

function roomy(world: World): void {
  parked(world)
  const larger = { ...below, period: undefined, boundaries: [], hard: tokens(200) }
  step(world, 0, { operation: 'defineBudget', input: larger })
}

const due = { operation: 'runDue', input: { limit: 10, seed: 7, family: 'q' } } as const
const reset = { ...tenant, requestId: 'r', by: 'ada' }
const huge = tokens(Number.MAX_SAFE_INTEGER)

export const budgetTrials: readonly Trial[] = [
  trial({ operation: 'defineBudget', input: top }, 'a root'),
  trial({ operation: 'defineBudget', input: below }, 'without its parent'),
  trial({ operation: 'defineBudget', input: { ...top, parent: 'tenant' } }, 'below itself', defined),
  trial({ operation: 'defineBudget', input: { ...top, isDeclared: true } }, 'of a program', defined),
  trial({ operation: 'defineBudget', input: { ...top, hard: tokens(9) } }, 'another', defined),
  trial({ operation: 'deleteBudget', input: root }, 'with one below it', defined),
  trial({ operation: 'deleteBudget', input: { ...tenant, by: 'ada' } }, 'that is used', spent),
  trial({ operation: 'deleteBudget', input: tenant }, 'that does not exist'),
  trial({ operation: 'planBudget', input: { ...root, period, after: START_AT, boundaries: [] } }, 'none'),
  trial(
    {
      operation: 'planBudget',
      input: { ...tenant, period, after: START_AT + SOON_MS, boundaries: [START_AT + 60_000] },
    },
    'one that lacks boundaries',
    periodic,
    SOON_MS - 1,
  ),
  trial({ operation: 'planBudget', input: { ...root, period, after: 1, boundaries: [] } }, 'an outdated one', periodic),
  trial({ operation: 'freezeBudget', input: { ...root, isFrozen: true, by: 'ada' } }, 'none'),
  trial({ operation: 'freezeBudget', input: { ...root, isFrozen: true, by: 'ada' } }, 'one that is open', spent),
  trial({ operation: 'freezeBudget', input: { ...root, isFrozen: false } }, 'one that is frozen', frozen),
  trial({ operation: 'raiseBudget', input: { ...tenant, requestId: 'r', amounts: tokens(5) } }, 'none'),
  trial({ operation: 'raiseBudget', input: { ...tenant, requestId: 'r', amounts: tokens(5) } }, '', spent),
  trial({ operation: 'raiseBudget', input: { ...tenant, requestId: 'r', amounts: huge } }, 'too far', spent),
  trial({ operation: 'resetBudget', input: reset }, 'none'),
  trial({ operation: 'resetBudget', input: reset }, 'one that is used', spent),
  trial({ operation: 'reserveBudget', input: reserve }, 'of none'),
  trial({ operation: 'reserveBudget', input: reserve }, 'with room', defined),
  trial({ operation: 'reserveBudget', input: { ...reserve, key: 'call-2' } }, 'without room', reserved),
  trial({ operation: 'reserveBudget', input: { ...reserve, key: 'call-2' } }, 'of a frozen one', frozen),
  trial({ operation: 'reserveBudget', input: reserve }, 'what was spent', spent),
  trial(
    { operation: 'reserveBudget', input: { ...reserve, spender: { ...usage.spender, epoch: 0 } } },
    'of an older lease',
    reserved,
  ),
  trial({ operation: 'reserveBudget', input: { ...reserve, key: 'call-3', amounts: huge } }, 'too much', spent),
  trial({ operation: 'awaitRoom', input: waiting }, 'of none'),
  trial({ operation: 'awaitRoom', input: waiting }, 'that exists', defined),
  trial({ operation: 'awaitRoom', input: waiting }, 'that is missing', reserved),
  trial({ operation: 'releaseReservation', input: call }, 'none'),
  trial({ operation: 'releaseReservation', input: call }, 'one that is held', reserved),
  trial({ operation: 'renewReservations', input: { reservations: [call], ttlMs: 60_000 } }, '', reserved),
  trial({ operation: 'settleReservation', input: usage }, 'of none'),
  trial({ operation: 'settleReservation', input: { ...usage, amounts: tokens(140) } }, 'for more', reserved),
  trial({ operation: 'settleReservation', input: usage }, 'one that has lapsed', defined),
  trial({ operation: 'settleReservation', input: { ...usage, key: 'call-2', amounts: huge } }, 'for too much', spent),
  trial({ operation: 'spendBudget', input: usage }, 'of none'),
  trial({ operation: 'spendBudget', input: usage }, '', defined),
  trial({ operation: 'spendBudget', input: { ...usage, key: 'call-2', amounts: huge } }, 'too much', spent),
  trial({ operation: 'listBudgets', input: { limit: 10 } }, '', defined),
  trial({ operation: 'describeBudget', input: { ...root, limit: 10 } }, 'none'),
  trial({ operation: 'describeBudget', input: { ...root, limit: 10 } }, '', spent),
  trial({ operation: 'describeBudget', input: { ...tenant, limit: 10 } }, 'one key', spent),
  trial({ operation: 'readCharges', input: { account: tenant, limit: 10 } }, 'of a key', spent),
  trial(
    { operation: 'readCharges', input: { spentBy: usage.spender.executionId, limit: 10 } },
    'of an execution',
    spent,
  ),
  trial({ operation: 'readPeriods', input: { ...tenant, limit: 10 } }, '', (world) => {
    spent(world)
    step(world, 0, { operation: 'resetBudget', input: reset })
  }),
  trial({ operation: 'reconcileBudgets', input: {} }, '', spent),
  trial({ operation: 'readReservations', input: { reservedBy: usage.spender.executionId } }, '', reserved),
  trial({ operation: 'findSpenders', input: { accounts: ['none'], owners: [usage.spender.executionId] } }, '', spent),
  trial(
    { operation: 'retireAccounts', input: { accounts: [accountId(ROOT, 'tenant', 'acme')], spent: [] } },
    '',
    spent,
  ),
  trial({ operation: 'wakeWaiting', input: { name: limit } }, 'of a budget', parked),
  trial({ operation: 'wakeWaiting', input: { name: limit, cursor: { stage: 'delayed' } } }, 'with room', roomy),
  trial({ operation: 'readWakes', input: { id: accountId(ROOT, 'tenant', 'acme') } }, '', owing),
  trial(
    { operation: 'confirmWakes', input: { limit, keys: [{ key: 'acme', at: START_AT + SOON_MS }], wakeAt: 1 } },
    '',
    owing,
  ),
  trial(due, 'wakes of a budget were not confirmed', owing, 60_000),
  trial(due, 'a budget begins anew', periodic),
  trial(due, 'a reservation lapses', reserved, reserve.ttlMs),
  trial(due, 'a line of the ledger is old', spent, CHARGE_RETENTION_MS),
]
