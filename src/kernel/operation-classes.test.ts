import { expect, test } from 'vitest'
import { classOf, isReadOperation, operationClasses } from './operation-classes.ts'
import { operations } from './operations.ts'
import type { OperationName } from './operations.ts'
import type { ClaimInput } from './operations/leases/claim-for-worker.ts'
import type { CreateInput } from './lifecycle/new-execution.ts'

const names = Object.keys(operations) as OperationName[]

test('every operation declares a class', () => {
  expect(Object.keys(operationClasses).sort()).toEqual([...names].sort())
})

test('what decides by an index without a guard is locked, and only then', () => {
  const create = { ifExists: 'join' } as CreateInput
  const claim = { requestId: 'r' } as ClaimInput

  expect(classOf('createExecution', create)).toBe('optimistic')
  expect(classOf('createExecution', { ...create, ifExists: 'replace' })).toBe('locked')
  expect(classOf('claimForWorker', claim)).toBe('optimistic')
  expect(classOf('claimForWorker', { ...claim, repeated: true })).toBe('locked')
  expect(classOf('purgeExecutions', {})).toBe('locked')
})

test('what never writes is a read, and a reconciler is none', () => {
  expect(names.filter((name) => isReadOperation(name))).toEqual([
    'countKept',
    'listKept',
    'describeExecution',
    'listExecutions',
    'countExecutions',
    'explainExecution',
    'inspectPartition',
    'readInputs',
    'describeFlow',
    'listFlows',
    'listFlowMembers',
    'listEdges',
    'auditFlows',
    'readSteps',
    'readSignals',
    'listWaitpoints',
    'listOpenWaitpoints',
    'listQueues',
    'listWorkers',
    'listUnsweptWorkers',
    'listLanes',
    'listLimits',
    'describeLimit',
    'readWakes',
    'readFrames',
    'readLogLines',
    'describeSchedule',
    'listSchedules',
    'readUnplanned',
    'describeConsumer',
    'listConsumers',
    'listBudgets',
    'describeBudget',
    'readCharges',
    'readPeriods',
    'readReservations',
    'findSpenders',
    'listAuditEntries',
  ])
})
