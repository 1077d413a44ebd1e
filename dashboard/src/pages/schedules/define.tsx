/** Forms that create a schedule, or change when one fires. */
import { useState } from 'react'
import { call } from '../../api/call.ts'
import type { ScheduleSettings, ScheduleSummary, ScheduledGraph } from '../../api/types.ts'
import { ActionButton, ReasonField } from '../../parts/action-button.tsx'
import { Choice, chosenOf } from '../../parts/choices.tsx'
import { Field, FieldError, jsonOf, textsOf } from '../../parts/dialog.tsx'
import { Text } from '../../parts/text.tsx'
import { TimesFields, timesOf } from './times.tsx'

const STARTS = { task: 'a task', flow: 'a flow' } as const
const TAG = /^([^:]+):(.*)$/

export function DefineSchedule() {
  const [starts, setStarts] = useState<keyof typeof STARTS>('task')
  const act = (fields: FormData) => {
    const { name = '' } = textsOf(fields, 'name')
    const work = chosenOf(fields, 'starts', STARTS) === 'flow' ? flowOf(fields) : taskOf(fields)
    return call('configureSchedule', {
      params: { schedule: name },
      body: { ...work, ...timesOf(fields), ...textsOf(fields, 'reason') },
    })
  }
  return (
    <ActionButton label="New schedule" title="New schedule" verb="Create it" isWide act={act}>
      <Field label="Name" hint="A schedule of this name is replaced." parts={['schedule', 'name']}>
        <input name="name" required maxLength={128} />
      </Field>
      <Field label="Starts">
        <Choice name="starts" words={STARTS} initial={starts} onChoose={setStarts} />
      </Field>
      {starts === 'task' ? <TaskFields /> : <FlowFields />}
      <TimesFields />
      <div className="field-pair">
        <Field label="Retention (optional)" hint="As 7d: how long an ended run is kept." parts={['retention']}>
          <input name="retention" pattern="\d+(\.\d+)?(ms|s|m|h|d)" />
        </Field>
        <Field label="Tags (optional)" hint="As plan:pro, with commas between them." parts={['tags']}>
          <input name="tags" maxLength={2_000} />
        </Field>
      </div>
      <ReasonField />
    </ActionButton>
  )
}

function TaskFields() {
  return (
    <>
      <div className="field-pair">
        <Field label="Task" parts={['task']}>
          <input name="task" required maxLength={128} />
        </Field>
        <Field label="Lane (optional)" parts={['lane']}>
          <input name="lane" maxLength={128} />
        </Field>
      </div>
      <Field label="Input (optional)" hint='JSON, such as {"all": true}.' parts={['input']}>
        <textarea name="input" rows={3} className="mono" />
      </Field>
      <div className="field-pair">
        <Field label="Priority (optional)" hint="A higher one starts first." parts={['priority']}>
          <input name="priority" type="number" min={0} step={1} />
        </Field>
        <Field label="Attempts (optional)" hint="Tries, with the first." parts={['retry', 'attempts']}>
          <input name="attempts" type="number" min={1} step={1} />
        </Field>
      </div>
    </>
  )
}

function FlowFields() {
  return (
    <Field
      label="Graph"
      hint='JSON, such as {"name": "release", "nodes": [{"name": "build", "task": "build"}]}.'
      parts={['flow', 'nodes', 'outcome']}
    >
      <textarea name="flow" rows={8} required className="mono" />
    </Field>
  )
}

function taskOf(fields: FormData): ScheduleSettings {
  const { task, lane, priority, attempts } = textsOf(fields, 'task', 'lane', 'priority', 'attempts')
  const input = jsonOf(fields, 'input')
  return {
    ...(task === undefined ? {} : { task }),
    ...(input === undefined ? {} : { input }),
    ...(lane === undefined ? {} : { lane }),
    ...(priority === undefined ? {} : { priority: Number(priority) }),
    ...(attempts === undefined ? {} : { retry: { attempts: Number(attempts) } }),
    ...keptOf(fields),
  }
}

function flowOf(fields: FormData): ScheduleSettings {
  // The server checks the graph.
  return { flow: jsonOf(fields, 'flow') as ScheduledGraph, ...keptOf(fields) }
}

function keptOf(fields: FormData): Pick<ScheduleSettings, 'retention' | 'tags'> {
  const { retention, tags } = textsOf(fields, 'retention', 'tags')
  return {
    ...(retention === undefined ? {} : { retention }),
    ...(tags === undefined ? {} : { tags: tagsIn(tags) }),
  }
}

function tagsIn(text: string): Readonly<Record<string, string>> {
  const given = text.split(',').map((each) => {
    const [, name, value] = TAG.exec(each.trim()) ?? []
    if (name === undefined || value === undefined)
      throw new FieldError('tags', 'A tag has a name and a value: plan:pro')
    return [name.trim(), value.trim()] as const
  })
  return Object.fromEntries(given)
}

export function RetimeSchedule({ schedule }: { readonly schedule: ScheduleSummary }) {
  const { name, namespace, owner } = schedule
  const act = (fields: FormData) =>
    call('retimeSchedule', {
      params: { schedule: name },
      query: { namespace },
      body: { ...timesOf(fields), ...textsOf(fields, 'reason') },
    })
  return (
    <ActionButton label="Change times" title={`When “${name}” fires`} verb="Change it" isWide act={act}>
      <p>
        What it starts stays as it is. A run whose time has come still follows the earlier times.
        {owner !== undefined && (
          <>
            {' '}
            <Text>{owner}</Text> declares it in a program, which sets its own times again when it starts.
          </>
        )}
      </p>
      <TimesFields schedule={schedule} />
      <ReasonField />
    </ActionButton>
  )
}
