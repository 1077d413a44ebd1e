import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { allPages } from '../api/all-pages.ts'
import { call } from '../api/call.ts'
import { isOfFlow } from '../api/events.ts'
import { useLive } from '../api/live.ts'
import { executionStates } from '../api/types.ts'
import type { Flow, FlowMember } from '../api/types.ts'
import { ActionButton, ReasonField } from '../parts/action-button.tsx'
import { Field, textOf } from '../parts/dialog.tsx'
import { Share } from '../parts/share.tsx'
import { State, stateWord } from '../parts/state.tsx'
import { Tags } from '../parts/tags.tsx'
import { Text } from '../parts/text.tsx'
import { Elapsed, Moment, durationText } from '../parts/time.tsx'
import { Empty, Facts, Loaded, Page, Panel } from '../parts/views.tsx'
import { shareOf } from './flow/counts.ts'
import { FlowGraph, countsOf } from './flow/graph.tsx'

/** A flow has at most this many members. */
const MEMBERS_READ = 100_000
const ROWS_SHOWN = 100
/** A large flow is read again less often: its members are read page by page. */
const MS_PER_MEMBER = 1

export function FlowPage() {
  const { id } = useParams({ from: '/flows/$id' })
  const flow = useQuery({
    queryKey: ['flow', id],
    queryFn: ({ signal }) => call('describeFlow', { params: { id }, signal }),
  })
  const members = useQuery({
    queryKey: ['members', id],
    queryFn: ({ signal }) =>
      allPages(
        (cursor) => call('listFlowMembers', { params: { id }, query: { cursor, edges: true }, signal }),
        MEMBERS_READ,
      ),
  })
  useLive(
    (event) => isOfFlow(event, flow.data?.id ?? id),
    () => {
      void flow.refetch()
      void members.refetch()
    },
    1_000 + (flow.data?.memberCount ?? 0) * MS_PER_MEMBER,
  )
  return (
    <Loaded query={flow}>
      {(described) => (
        <Page
          title={
            <>
              <Text>{described.name}</Text> <State state={described.state} />
            </>
          }
          actions={<FlowActions flow={described} members={members.data ?? []} />}
        >
          <p className="identity mono">
            <Text>{described.key ?? described.id}</Text>
          </p>
          <FlowFacts flow={described} />
          <Loaded query={members}>{(read) => <Members members={read} />}</Loaded>
        </Page>
      )}
    </Loaded>
  )
}

function FlowFacts({ flow }: { readonly flow: Flow }) {
  const { cancel, endedAt, createdAt, tags, purgeAt } = flow
  return (
    <Panel title={`${flow.memberCount.toLocaleString('en')} members, ${flow.edgeCount.toLocaleString('en')} edges`}>
      <Share counts={shareOf(flow.counts)} />
      <Facts
        facts={[
          ['Created', <Moment at={createdAt} key="created" />],
          ['Ended', endedAt !== undefined && <Moment at={endedAt} />],
          [endedAt === undefined ? 'Runs since' : 'Took', <Elapsed from={createdAt} to={endedAt} key="took" />],
          ['Not ended', flow.liveCount > 0 && flow.liveCount],
          ['Ends by', flow.outcomeRule.replaceAll('_', ' ')],
          ['Kept until', purgeAt !== undefined && <Moment at={purgeAt} />],
          [
            'Cancelled',
            cancel !== undefined && (
              <>
                by <Text>{cancel.by}</Text>: <Text>{cancel.reason}</Text>
                {cancel.isUnderWay && ' (members are still being stopped)'}
              </>
            ),
          ],
          ['Tags', Object.keys(tags).length > 0 && <Tags tags={tags} />],
        ]}
      />
    </Panel>
  )
}

function Members({ members }: { readonly members: readonly FlowMember[] }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>()
  const [state, setState] = useState('')
  const inGroup = chosen === undefined ? members : members.filter(({ id }) => chosen.has(id))
  const listed = state === '' ? inGroup : inGroup.filter((member) => member.state === state)
  const counts = countsOf(inGroup)
  if (members.length === 0) return <Empty title="It has no members yet" />
  return (
    <>
      <Panel title="Graph" aside={<span className="muted">the critical path is framed</span>} isFlush>
        <FlowGraph members={members} onChoose={(own) => setChosen(new Set(own.map(({ id }) => id)))} />
      </Panel>
      <Panel
        title={chosen === undefined ? 'Members' : `${inGroup.length.toLocaleString('en')} members of one place`}
        aside={
          <div className="actions">
            {chosen !== undefined && (
              <button type="button" onClick={() => setChosen(undefined)}>
                Show all
              </button>
            )}
            <select aria-label="State" value={state} onChange={(event) => setState(event.target.value)}>
              <option value="">All states</option>
              {executionStates.map(
                (each) =>
                  (counts[each] ?? 0) > 0 && (
                    <option key={each} value={each}>
                      {stateWord(each)} ({(counts[each] ?? 0).toLocaleString('en')})
                    </option>
                  ),
              )}
            </select>
          </div>
        }
        isFlush
      >
        <table>
          <thead>
            <tr>
              <th scope="col">Node</th>
              <th scope="col">Task</th>
              <th scope="col">State</th>
              <th scope="col">Detail</th>
              <th scope="col" className="number">
                Took
              </th>
            </tr>
          </thead>
          <tbody>
            {listed.slice(0, ROWS_SHOWN).map((member) => (
              <MemberRow key={member.id} member={member} />
            ))}
          </tbody>
        </table>
        {listed.length > ROWS_SHOWN && (
          <p className="muted note">
            The first {ROWS_SHOWN} of {listed.length.toLocaleString('en')} are listed. Choose a state or a node of the
            graph.
          </p>
        )}
      </Panel>
    </>
  )
}

function MemberRow({ member }: { readonly member: FlowMember }) {
  const { id, node, task, state, failure, reason, startedAt, endedAt, isSuperseded } = member
  const detail =
    failure === undefined ? (reason ?? '') : `${failure.category}: ${failure.message.split('\n', 1)[0] ?? ''}`
  return (
    <tr>
      <td>
        <Link to="/executions/$id" params={{ id }}>
          <Text>{node ?? id}</Text>
        </Link>
      </td>
      <td>
        <Text>{task}</Text>
      </td>
      <td>
        <State state={state} />
      </td>
      <td className="muted">
        {isSuperseded && 'not needed any more. '}
        <Text>{detail}</Text>
      </td>
      <td className="number">
        {startedAt !== undefined && endedAt !== undefined && durationText(endedAt - startedAt)}
      </td>
    </tr>
  )
}

/** The members that one action replays at most. */
const REPLAYED_MAX = 100

function FlowActions({ flow, members }: { readonly flow: Flow; readonly members: readonly FlowMember[] }) {
  const { id, outcome, cancel, name } = flow
  const failed = members.filter(({ state }) => state === 'failed' || state === 'expired').slice(0, REPLAYED_MAX)
  return (
    <>
      <ActionButton
        label="Replay failed"
        title={`Replay ${failed.length} failed ${failed.length === 1 ? 'member' : 'members'}?`}
        verb="Replay them"
        isOffered={failed.length > 0}
        act={async (form) => {
          const reason = textOf(form, 'reason')
          for (const { node, replayCount } of failed) {
            await call('replayFlowMember', {
              params: { id, node: node ?? '' },
              key: `${id} ${node ?? ''} ${replayCount}`,
              body: { subtree: true, ...(reason === undefined ? {} : { reason }) },
            })
          }
        }}
      >
        <p>They run again, and so do the members that were skipped because of them.</p>
        <ReasonField />
      </ActionButton>
      <ActionButton
        label="Seal"
        title={`Seal “${name}”?`}
        verb="Seal it"
        isOffered={flow.state === 'open'}
        act={() => call('sealFlow', { params: { id } })}
      >
        <p>No members can be added afterwards. It ends with its last member.</p>
      </ActionButton>
      <ActionButton
        label="Cancel"
        title={`Cancel “${name}”?`}
        verb="Cancel it"
        isDangerous
        isOffered={outcome === undefined && cancel === undefined}
        act={(form) => {
          const policy = (['cancel_all', 'cancel_pending', 'flow_only'] as const).find(
            (each) => each === form.get('policy'),
          )
          return call('cancelFlow', {
            params: { id },
            body: { reason: textOf(form, 'reason') ?? '', ...(policy === undefined ? {} : { policy }) },
          })
        }}
      >
        <Field label="Members">
          <select name="policy">
            <option value="cancel_all">Cancel all that have not ended</option>
            <option value="cancel_pending">Let those that run complete</option>
            <option value="flow_only">Cancel none; the flow alone ends</option>
          </select>
        </Field>
        <ReasonField isRequired />
      </ActionButton>
    </>
  )
}
