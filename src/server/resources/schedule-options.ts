/** The options of a schedule from JSON: of a task, or of a flow whose graph is given. */
import type { z } from 'zod'
import { task } from '../../client/index.ts'
import type { AnyFlowScheduleOptions, AnyScheduleOptions, Client } from '../../client/index.ts'
import { invalidInput } from '../../options/invalid-input.ts'
import { drop } from '../schemas/drop.ts'
import type { scheduleBody } from '../schemas/schedule.ts'
import { limitUsesOf, shareOf } from '../schemas/submission-parts.ts'
import { valueOf } from '../schemas/value.ts'
import { budgetUsesOf, flowOfGraph } from './graph-definition.ts'

type Settings = Omit<z.output<typeof scheduleBody>, 'by' | 'reason'>

export async function scheduleOptions(
  client: Client,
  settings: Settings,
): Promise<AnyScheduleOptions | AnyFlowScheduleOptions> {
  const { flow, task: name, version, fairness, limits, budgets, input, inputBytes, ...times } = settings
  const uses = await budgetUsesOf(client, budgets)
  if (flow === undefined && name !== undefined) {
    const definition = task(name, {
      ...drop({ version, fairness: shareOf(fairness) }),
      limits: limitUsesOf(limits) ?? [],
      budgets: uses,
    })
    return { ...drop(times), task: definition, input: valueOf('input', input, inputBytes) }
  }
  if (flow === undefined || name !== undefined) {
    throw invalidInput('task', 'A schedule starts a task or a flow: give `task` or `flow`, and not both.')
  }
  for (const [field, value] of Object.entries({ version, fairness, limits, input, inputBytes })) {
    if (value !== undefined)
      throw invalidInput(field, `${field} is a setting of a task. Each node of a flow has its own.`)
  }
  const { name: flowName, nodes, outcome } = flow
  const definition = await flowOfGraph(client, flowName, nodes)
  // The check of the options refuses further settings of tasks by their names.
  const given = { ...drop(times), ...drop({ outcome }), flow: definition, budgets: uses }
  return given as AnyFlowScheduleOptions
}
