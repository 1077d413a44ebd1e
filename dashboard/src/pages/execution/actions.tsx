/** What an operator may do with an execution. Each asks first, and says who did it and why. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ReactNode } from 'react'
import { call } from '../../api/call.ts'
import { useMay } from '../../api/session.tsx'
import type { ExecutionSummary } from '../../api/types.ts'
import { ActionDialog, Field, textOf } from '../../parts/dialog.tsx'
import { randomKey } from '../../parts/random-key.ts'
import { SignalValue, signalValueOf, useSignalForm } from '../../parts/signal-form.tsx'
import { Text } from '../../parts/text.tsx'
import { visible } from '../../parts/visible-text.ts'

type Action = 'cancel' | 'replay' | 'priority' | 'tags' | 'signal' | 'resume' | 'revoke'

interface DialogProps {
  readonly execution: ExecutionSummary
  readonly onClose: () => void
}

export function ExecutionActions({ execution }: { readonly execution: ExecutionSummary }) {
  const [open, setOpen] = useState<Action>()
  const isOperator = useMay('operator')
  const isWorker = useMay('worker')
  if (!isWorker) return <span className="muted">You may look; changes need the role operator.</span>
  const isEnded = execution.outcome !== undefined
  const button = (action: Action, label: string, isShown: boolean) =>
    isShown && (
      <button type="button" key={action} onClick={() => setOpen(action)}>
        {label}
      </button>
    )
  const props: DialogProps = { execution, onClose: () => setOpen(undefined) }
  return (
    <>
      {button('signal', 'Send signal', !isEnded)}
      {button('resume', 'Resume', isOperator && execution.suspension !== undefined)}
      {button('priority', 'Priority', isOperator && !isEnded)}
      {button('tags', 'Tags', isOperator)}
      {button('revoke', 'Revoke lease', isOperator && execution.lease !== undefined)}
      {button('replay', 'Replay', isOperator && isEnded)}
      {button('cancel', 'Cancel', isOperator && !isEnded)}
      {open === 'cancel' && <CancelDialog {...props} />}
      {open === 'replay' && <ReplayDialog {...props} />}
      {open === 'priority' && <PriorityDialog {...props} />}
      {open === 'tags' && <TagsDialog {...props} />}
      {open === 'signal' && <SignalDialog {...props} />}
      {open === 'resume' && <ResumeDialog {...props} />}
      {open === 'revoke' && <RevokeDialog {...props} />}
    </>
  )
}

/** Reads everything about executions again after a change, without waiting for its event. */
function useRefresh(): () => void {
  const queries = useQueryClient()
  return () => void queries.invalidateQueries()
}

function Target({ execution, children }: { readonly execution: ExecutionSummary; readonly children: ReactNode }) {
  return (
    <p>
      {children}{' '}
      <span className="mono">
        <Text>{execution.key ?? execution.id}</Text>
      </span>{' '}
      of task <Text>{execution.task}</Text>.
    </p>
  )
}

function Reason({ isRequired = false }: { readonly isRequired?: boolean }) {
  return (
    <Field label={isRequired ? 'Reason' : 'Reason (optional)'} hint="Recorded with your name.">
      <input name="reason" maxLength={200} required={isRequired} />
    </Field>
  )
}

function CancelDialog({ execution, onClose }: DialogProps) {
  const onDone = useRefresh()
  const act = (fields: FormData) =>
    call('cancelExecution', {
      params: { id: execution.id },
      body: { reason: textOf(fields, 'reason') ?? '', ...(fields.has('force') ? { force: true } : {}) },
    })
  return (
    <ActionDialog
      title="Cancel this execution?"
      verb="Cancel it"
      isDangerous
      act={act}
      onClose={onClose}
      onDone={onDone}
    >
      <Target execution={execution}>This ends</Target>
      <Reason isRequired />
      {execution.lease !== undefined && (
        <label className="check">
          <input type="checkbox" name="force" /> End it now, without waiting for its worker to stop
        </label>
      )}
    </ActionDialog>
  )
}

export function ReplayDialog({ execution, onClose, fromStep }: DialogProps & { readonly fromStep?: string }) {
  const onDone = useRefresh()
  const [key] = useState(randomKey)
  const act = (fields: FormData) => {
    const from = textOf(fields, 'from')
    const reason = textOf(fields, 'reason')
    return call('replayExecution', {
      params: { id: execution.id },
      key,
      body: {
        ...(reason === undefined ? {} : { reason }),
        ...(from === 'start' ? { from: 'start' } : {}),
        ...(from === 'step' && fromStep !== undefined ? { from: { step: fromStep } } : {}),
      },
    })
  }
  return (
    <ActionDialog title="Run this execution again?" verb="Replay it" act={act} onClose={onClose} onDone={onDone}>
      <Target execution={execution}>This runs again</Target>
      <Field label="Recorded steps">
        <select name="from" defaultValue={fromStep === undefined ? 'kept' : 'step'}>
          {fromStep !== undefined && <option value="step">Discard “{visible(fromStep)}” and the later ones</option>}
          <option value="kept">Keep them: completed steps do not run again</option>
          <option value="start">Discard them: everything runs again</option>
        </select>
      </Field>
      <Reason />
    </ActionDialog>
  )
}

function PriorityDialog({ execution, onClose }: DialogProps) {
  const onDone = useRefresh()
  const act = (fields: FormData) =>
    call('changePriority', { params: { id: execution.id }, body: { priority: Number(fields.get('priority')) } })
  return (
    <ActionDialog title="Change the priority" verb="Set it" act={act} onClose={onClose} onDone={onDone}>
      <Field label="Priority" hint="0 to 9000. Higher ones of a lane start first.">
        <input name="priority" type="number" min={0} max={9000} step={1} required defaultValue={execution.priority} />
      </Field>
    </ActionDialog>
  )
}

function TagsDialog({ execution, onClose }: DialogProps) {
  const onDone = useRefresh()
  const act = (fields: FormData) => {
    const name = textOf(fields, 'name') ?? ''
    return call('setTags', {
      params: { id: execution.id },
      body: { tags: { [name]: textOf(fields, 'value') ?? null } },
    })
  }
  return (
    <ActionDialog title="Set or remove a tag" verb="Set it" act={act} onClose={onClose} onDone={onDone}>
      <Field label="Name">
        <input name="name" required pattern="[a-z][a-z0-9_.\-]*" maxLength={64} />
      </Field>
      <Field label="Value" hint="Empty removes the tag.">
        <input name="value" maxLength={256} />
      </Field>
    </ActionDialog>
  )
}

function SignalDialog({ execution, onClose }: DialogProps) {
  const onDone = useRefresh()
  const [key] = useState(randomKey)
  const [name, setName] = useState('')
  const valueFields = useSignalForm(execution.task, name)
  const act = async (fields: FormData) => {
    const value = signalValueOf(valueFields.form, fields)
    const waitpoint = textOf(fields, 'waitpoint')
    return await call('sendSignal', {
      params: { id: execution.id },
      body: {
        name: textOf(fields, 'name') ?? '',
        key,
        ...(value === undefined ? {} : { value }),
        ...(waitpoint === undefined ? {} : { waitpoint }),
      },
    })
  }
  return (
    <ActionDialog
      title="Send a signal"
      verb="Send it"
      isReady={!valueFields.isLoading}
      act={act}
      onClose={onClose}
      onDone={onDone}
    >
      <Target execution={execution}>It is sent to</Target>
      <Field label="Name">
        <input
          name="name"
          required
          maxLength={128}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
      </Field>
      <SignalValue fields={valueFields} />
      <Field label="Waitpoint (optional)" hint="Without one, it goes to the mailbox of its name.">
        <input name="waitpoint" maxLength={128} />
      </Field>
    </ActionDialog>
  )
}

function ResumeDialog({ execution, onClose }: DialogProps) {
  const onDone = useRefresh()
  const step = execution.suspension?.step
  const act = (fields: FormData) => {
    const reason = textOf(fields, 'reason')
    return call('resumeExecution', {
      params: { id: execution.id },
      // Names the wait that is shown, so that a later one is not ended by mistake.
      body: { ...(reason === undefined ? {} : { reason }), ...(step === undefined ? {} : { step }) },
    })
  }
  return (
    <ActionDialog title="End this wait without an answer?" verb="Resume it" act={act} onClose={onClose} onDone={onDone}>
      <Target execution={execution}>The handler runs again in</Target>
      <Reason />
    </ActionDialog>
  )
}

function RevokeDialog({ execution, onClose }: DialogProps) {
  const onDone = useRefresh()
  const leaseId = execution.lease?.id
  const act = (fields: FormData) =>
    call('revokeLease', {
      params: { id: execution.id },
      body: { reason: textOf(fields, 'reason') ?? '', ...(leaseId === undefined ? {} : { leaseId }) },
    })
  return (
    <ActionDialog
      title="Take it from its worker?"
      verb="Revoke the lease"
      isDangerous
      act={act}
      onClose={onClose}
      onDone={onDone}
    >
      <Target execution={execution}>Another worker may then claim</Target>
      <Reason isRequired />
    </ActionDialog>
  )
}
