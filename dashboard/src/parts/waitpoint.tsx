/** A waitpoint, and the answers that it counts. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { useMay } from '../api/session.tsx'
import type { SignalReceipt, Waitpoint } from '../api/types.ts'
import { ActionDialog, Field, textOf } from './dialog.tsx'
import { Value } from './json.tsx'
import { randomKey } from './random-key.ts'
import { SignalValue, signalValueOf, useSignalForm } from './signal-form.tsx'
import { Text } from './text.tsx'
import { Moment } from './time.tsx'
import { Facts, Loaded } from './views.tsx'

/** The name of a mailbox is its signal. */
const MAILBOX = '@'

export function WaitpointCard({
  waitpoint,
  isLinked = false,
}: {
  readonly waitpoint: Waitpoint
  readonly isLinked?: boolean
}) {
  const { executionId, task, key, state, names, from, openedAt, expiresAt, signalCount, bufferedCount, step } =
    waitpoint
  const [answer, setAnswer] = useState<string>()
  const mayAnswer = useMay('worker') && (state === 'awaited' || state === 'pending' || state === 'mailbox')
  const isMailbox = key.startsWith(MAILBOX)
  const choices = names.length > 0 ? names : isMailbox ? [key.slice(1)] : ['']
  return (
    <article className="waitpoint">
      <div>
        <h3>
          {isLinked ? (
            <Link to="/executions/$id" params={{ id: executionId }}>
              <Text>{task}</Text>
            </Link>
          ) : null}{' '}
          <Text>{isMailbox ? `signal ${key.slice(1)}` : key}</Text>
        </h3>
        <Facts
          facts={[
            ['State', state],
            ['For', from.length > 0 && <Text>{from.join(', ')}</Text>],
            ['Since', <Moment at={openedAt} />],
            ['Expires', expiresAt !== undefined && <Moment at={expiresAt} />],
            ['Asked in', step !== undefined && step !== key && <Text>{step}</Text>],
            ['Signals', signalCount > 0 && signalCount],
            ['Buffered', bufferedCount > 0 && bufferedCount],
          ]}
        />
        {isLinked && <Asked id={executionId} />}
      </div>
      {mayAnswer && (
        <div className="actions">
          {choices.map((name) => (
            <button
              type="button"
              key={name}
              className={name === 'reject' ? 'danger-quiet' : 'primary'}
              onClick={() => setAnswer(name)}
            >
              {name === '' ? 'Answer' : <Text>{name}</Text>}
            </button>
          ))}
        </div>
      )}
      {answer !== undefined && (
        <AnswerDialog waitpoint={waitpoint} name={answer} isMailbox={isMailbox} onClose={() => setAnswer(undefined)} />
      )}
    </article>
  )
}

/** The input of the execution, which is read when it is asked for. */
function Asked({ id }: { readonly id: string }) {
  const [isOpen, setOpen] = useState(false)
  const query = useQuery({
    queryKey: ['asked', id],
    queryFn: ({ signal }) => call('describeExecution', { params: { id }, signal }),
    enabled: isOpen,
  })
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Input of the execution</summary>
      {isOpen && (
        <Loaded query={query}>
          {({ input, inputBytes, key, valuesWithheld }) => (
            <>
              <p className="mono muted">
                <Text>{key ?? id}</Text>
              </p>
              <Value
                value={input}
                bytes={inputBytes}
                label="input"
                absent={valuesWithheld === true ? 'The server withholds values from viewers.' : 'It has no input.'}
              />
            </>
          )}
        </Loaded>
      )}
    </details>
  )
}

/** Answers that are recorded and change nothing. */
const uncountedTexts: Readonly<Partial<Record<SignalReceipt['effect'], string>>> = {
  not_awaited: 'The answer is recorded, but it does not count: the wait asks for another answer, or for other people.',
  counted_before: 'An earlier answer of yours counts. This one is recorded and adds nothing.',
}

function AnswerDialog(props: {
  readonly waitpoint: Waitpoint
  readonly name: string
  readonly isMailbox: boolean
  readonly onClose: () => void
}) {
  const { waitpoint, name, isMailbox, onClose } = props
  const queries = useQueryClient()
  const valueFields = useSignalForm(waitpoint.task, name)
  // A repeated request with one key counts once.
  const [key] = useState(randomKey)
  const act = async (fields: FormData) => {
    const value = signalValueOf(valueFields.form, fields)
    const { effect } = await call('sendSignal', {
      params: { id: waitpoint.executionId },
      body: {
        name: textOf(fields, 'name') ?? name,
        key,
        ...(value === undefined ? {} : { value }),
        ...(isMailbox ? {} : { waitpoint: waitpoint.key }),
      },
    })
    const uncounted = uncountedTexts[effect]
    if (uncounted === undefined) return
    await queries.invalidateQueries()
    throw new Error(uncounted)
  }
  return (
    <ActionDialog
      title={name === '' ? 'Answer' : `Answer “${name}”`}
      verb="Send the answer"
      isReady={!valueFields.isLoading}
      act={act}
      onClose={onClose}
      onDone={() => void queries.invalidateQueries()}
    >
      <p>
        To <Text>{waitpoint.key}</Text> of task <Text>{waitpoint.task}</Text>, in your name.
      </p>
      {name === '' && (
        <Field label="Name of the signal">
          <input name="name" required maxLength={128} />
        </Field>
      )}
      <SignalValue fields={valueFields} />
    </ActionDialog>
  )
}
