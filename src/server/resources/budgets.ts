/** Budgets: defined, changed live, inspected, raised, reset and frozen. They belong to the store, not to a namespace. */
import { z } from 'zod'
import { actorOf } from '../auth/principal.ts'
import { repeatable } from '../http/idempotency.ts'
import { json, route } from '../routes/route.ts'
import { COSTS_EXAMINE_MAX } from '../../client/index.ts'
import {
  budgetBody,
  budgetDescription,
  budgetHistory,
  budgetCosts,
  budgetInfo,
  changeBody,
  budgetKey,
  keyPageQuery,
  ledgerEntry,
  raiseBody,
  resetBody,
} from '../schemas/budget.ts'
import { instant, page } from '../schemas/common.ts'
import { drop } from '../schemas/drop.ts'

const done = (kinds: readonly [string, ...string[]], description: string) =>
  json(z.object({ kind: z.enum(kinds) }), description)

const errors = ['budget_not_found', 'level_too_low'] as const

export const budgetRoutes = [
  route({
    name: 'listBudgets',
    method: 'GET',
    path: '/v1/budgets',
    tag: 'budgets',
    summary: 'List the budgets of the store, tree by tree',
    access: 'viewer',
    scope: 'store',
    errors: ['level_too_low'],
    answers: { 200: json(page(budgetInfo), 'All budgets.') },
    handle: async ({ client }) => ({ status: 200, body: { items: await client.budgets.list() } }),
  }),
  route({
    name: 'describeBudget',
    method: 'GET',
    path: '/v1/budgets/{budget}',
    tag: 'budgets',
    summary: 'Describe a budget: what its keys have spent and reserved, and what is left',
    access: 'viewer',
    scope: 'store',
    query: keyPageQuery,
    errors: [...errors, 'invalid_cursor'],
    answers: { 200: json(budgetDescription, 'The budget.') },
    handle: async ({ client, params, query }) => ({
      status: 200,
      body: await client.budgets.describe(params.budget, drop(query)),
    }),
  }),
  route({
    name: 'listCharges',
    method: 'GET',
    path: '/v1/budgets/{budget}/history',
    tag: 'budgets',
    summary: 'List the ledger of one key of a budget, the latest line first, with the sums of its past periods',
    access: 'viewer',
    scope: 'store',
    query: keyPageQuery,
    errors: [...errors, 'invalid_cursor'],
    answers: { 200: json(budgetHistory, 'A page of the ledger.') },
    handle: async ({ client, params, query }) => ({
      status: 200,
      body: await client.budgets.history(params.budget, drop(query)),
    }),
  }),
  route({
    name: 'sumCosts',
    method: 'GET',
    path: '/v1/budgets/{budget}/costs',
    tag: 'budgets',
    summary: 'Sum the ledger of a budget by task, by day, and by the budgets and keys in which its lines count',
    description: 'Examines the latest lines, at most as many as asked for.',
    access: 'viewer',
    scope: 'store',
    query: z.strictObject({
      key: budgetKey.optional().describe('Only this key. Empty: without a key. All keys unless given, the first 100.'),
      from: instant.min(0).optional(),
      to: instant.min(0).optional(),
      examine: z
        .int()
        .min(1)
        .max(COSTS_EXAMINE_MAX)
        .optional()
        .describe('At most so many lines are examined; 2,000 unless given.'),
    }),
    errors,
    answers: { 200: json(budgetCosts, 'The sums.') },
    handle: async ({ client, params, query }) => ({
      status: 200,
      body: await client.budgets.costs(params.budget, drop(query)),
    }),
  }),
  route({
    name: 'listSpending',
    method: 'GET',
    path: '/v1/executions/{id}/spending',
    tag: 'budgets',
    summary: 'List what an execution has spent, the latest line first',
    description: 'At most 100 lines of each tree of budgets. The ledger is kept for longer than most executions.',
    access: 'viewer',
    scope: 'namespace',
    errors: ['level_too_low'],
    answers: { 200: json(page(ledgerEntry), 'Its lines of the ledger; none if it has spent nothing.') },
    handle: async ({ client, params }) => ({ status: 200, body: { items: await client.budgets.spentBy(params.id) } }),
  }),
  route({
    name: 'defineBudget',
    method: 'PUT',
    path: '/v1/budgets/{budget}',
    tag: 'budgets',
    summary: 'Define a budget, or change it live',
    description:
      'The next execution that starts and the next reservation obey the change. It takes the place of what was set before, and definitions in programs do not apply any more.',
    access: 'operator',
    scope: 'store',
    body: budgetBody,
    errors: [...errors, 'budget_tree_too_deep'],
    answers: { 200: done(['defined', 'changed', 'unchanged'], 'What was done.') },
    handle: async ({ client, params, principal, body: { by: who, reason: why, ...terms } }) => {
      const change = drop({ by: actorOf(principal, who), reason: why })
      return { status: 200, body: { kind: await client.budgets.define(params.budget, drop(terms), change) } }
    },
  }),
  route({
    name: 'deleteBudget',
    method: 'DELETE',
    path: '/v1/budgets/{budget}',
    tag: 'budgets',
    summary: 'Delete a budget that has none below it',
    description:
      'It bounds and counts nothing from now on, and work that waits for it is woken. What its keys have spent is removed in the background.',
    access: 'operator',
    scope: 'store',
    body: changeBody,
    errors: [...errors, 'budget_has_children'],
    answers: { 200: done(['deleted'], 'It is deleted.') },
    handle: async ({ client, params, principal, body }) => {
      const change = drop({ by: actorOf(principal, body?.by), reason: body?.reason })
      await client.budgets.delete(params.budget, change)
      return { status: 200, body: { kind: 'deleted' } }
    },
  }),
  route({
    name: 'raiseBudget',
    method: 'POST',
    path: '/v1/budgets/{budget}/raise',
    tag: 'budgets',
    summary: 'Add to the hard limits of one key until the budget begins anew',
    description: 'Work that waits for the key is woken.',
    access: 'operator',
    scope: 'store',
    body: raiseBody,
    takesIdempotencyKey: true,
    errors: [...errors, 'amount_too_large'],
    answers: { 200: done(['raised', 'already_raised'], 'It is raised.') },
    handle: async ({ client, params, principal, idempotencyKey, body: { by: who, id, ...rest } }) => {
      const requestId = id ?? repeatable(idempotencyKey).requestId
      const options = { ...drop({ ...rest, id: requestId }), by: actorOf(principal, who) }
      return { status: 200, body: { kind: await client.budgets.raise(params.budget, options) } }
    },
  }),
  route({
    name: 'resetBudget',
    method: 'POST',
    path: '/v1/budgets/{budget}/reset',
    tag: 'budgets',
    summary: 'Begin one key of a budget anew before its time',
    description: 'Work that waits for the key is woken. What it has reserved stays reserved.',
    access: 'operator',
    scope: 'store',
    body: resetBody,
    takesIdempotencyKey: true,
    errors,
    answers: { 200: done(['reset'], 'It has begun anew.') },
    handle: async ({ client, params, principal, idempotencyKey, body }) => {
      const { by: who, id, ...rest } = body ?? {}
      const requestId = id ?? repeatable(idempotencyKey).requestId
      const options = { ...drop({ ...rest, id: requestId }), by: actorOf(principal, who) }
      await client.budgets.reset(params.budget, options)
      return { status: 200, body: { kind: 'reset' } }
    },
  }),
  route({
    name: 'freezeBudget',
    method: 'POST',
    path: '/v1/budgets/{budget}/freeze',
    tag: 'budgets',
    summary: 'Freeze a budget: nothing is reserved and no new work starts',
    access: 'operator',
    scope: 'store',
    body: changeBody,
    errors,
    answers: { 200: done(['frozen', 'already_frozen'], 'It is frozen.') },
    handle: async ({ client, params, principal, body }) => {
      const change = drop({ by: actorOf(principal, body?.by), reason: body?.reason })
      return { status: 200, body: { kind: await client.budgets.freeze(params.budget, change) } }
    },
  }),
  route({
    name: 'openBudget',
    method: 'POST',
    path: '/v1/budgets/{budget}/open',
    tag: 'budgets',
    summary: 'Open a frozen budget, and wake the work that waits for it',
    access: 'operator',
    scope: 'store',
    body: changeBody,
    errors,
    answers: { 200: done(['opened', 'already_open'], 'It is open.') },
    handle: async ({ client, params, principal, body }) => {
      const change = drop({ by: actorOf(principal, body?.by), reason: body?.reason })
      return { status: 200, body: { kind: await client.budgets.open(params.budget, change) } }
    },
  }),
]
