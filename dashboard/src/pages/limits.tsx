import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import type { Limit, LimitKey } from '../api/types.ts'
import { ActionButton, ReasonField } from '../parts/action-button.tsx'
import { Field, textOf } from '../parts/dialog.tsx'
import { Text } from '../parts/text.tsx'
import { Moment, durationText } from '../parts/time.tsx'
import { ChangeLimit, DefineLimit, DeleteLimit } from './limits/define.tsx'
import { Empty, Facts, Failed, Loaded, Loading, Page, Panel } from '../parts/views.tsx'

/** Permits are taken and returned without an event. */
const POLL_MS = 3_000
const KEYS_SHOWN = 50

export function LimitsPage() {
  const query = useQuery({
    queryKey: ['limits'],
    queryFn: ({ signal }) => call('listLimits', { signal }),
    refetchInterval: POLL_MS,
  })
  return (
    <Page title="Limits" actions={<DefineLimit />}>
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There is no limit">Define one here, in a task, or with flowfabric limits.</Empty>
          ) : (
            items.map((limit) => <LimitPanel key={limit.name} limit={limit} />)
          )
        }
      </Loaded>
    </Page>
  )
}

function LimitPanel({ limit }: { readonly limit: Limit }) {
  const { name, rate, concurrency, reason, changedBy } = limit
  return (
    <Panel
      title={<Text>{name}</Text>}
      aside={
        <div className="actions">
          <ChangeLimit limit={limit} />
          <DeleteLimit name={name} />
        </div>
      }
    >
      <Facts
        facts={[
          ['Rate', rate !== undefined && `${rate.count.toLocaleString('en')} per ${durationText(rate.windowMs)}`],
          ['At once', concurrency],
          ['Changed', <Moment at={limit.changedAt} key="changed" />],
          ['By', changedBy !== undefined && <Text>{changedBy}</Text>],
          ['Reason', reason !== undefined && <Text>{reason}</Text>],
        ]}
      />
      <Keys name={name} />
    </Panel>
  )
}

function Keys({ name }: { readonly name: string }) {
  const query = useQuery({
    queryKey: ['limit', name],
    queryFn: ({ signal }) => call('describeLimit', { params: { limit: name }, query: { limit: KEYS_SHOWN }, signal }),
    refetchInterval: POLL_MS,
  })
  if (query.data === undefined) return query.error === null ? <Loading /> : <Failed error={query.error} />
  const { keys, cursor } = query.data
  if (keys.length === 0) return <p className="muted">It was not used yet.</p>
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col" className="number">
            Held now
          </th>
          <th scope="col" className="number">
            Used in the window
          </th>
          <th scope="col">Next permit</th>
          <th scope="col">Held back</th>
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <KeyRow key={key.key} limit={name} usage={key} />
        ))}
      </tbody>
      {cursor !== undefined && <caption className="muted">Only the first {KEYS_SHOWN} keys are shown.</caption>}
    </table>
  )
}

function KeyRow({ limit, usage }: { readonly limit: string; readonly usage: LimitKey }) {
  const { key, held, used, hold, next, waitingPartitions } = usage
  const name = key === '' ? {} : { key }
  return (
    <tr>
      <td>{key === '' ? <span className="muted">without a key</span> : <Text>{key}</Text>}</td>
      <td className="number">{held.toLocaleString('en')}</td>
      <td className="number">{used.toLocaleString('en')}</td>
      <td>
        {next === undefined ? '' : next.afterMs === 0 ? 'now' : `in ${durationText(next.afterMs)}`}
        {waitingPartitions > 0 && <span className="muted"> · work waits for it</span>}
      </td>
      <td>
        <ActionButton
          label="Hold back"
          title="Hold back this key for all workers?"
          verb="Hold it back"
          isOffered={hold === undefined}
          act={(form) => {
            const reason = textOf(form, 'reason')
            return call('holdLimit', {
              params: { limit },
              body: { ...name, for: textOf(form, 'for') ?? '', ...(reason === undefined ? {} : { reason }) },
            })
          }}
        >
          <Field label="For" hint="As 30s, 5m or 2h. A day at most." parts={['for']}>
            <input name="for" required pattern="\d+(ms|s|m|h|d)" defaultValue="5m" />
          </Field>
          <ReasonField />
        </ActionButton>
        {hold !== undefined && (
          <>
            until <Moment at={hold.until} />{' '}
          </>
        )}
        <ActionButton
          label="End it"
          title="End the hold of this key?"
          verb="End it"
          isOffered={hold !== undefined}
          act={() => call('unholdLimit', { params: { limit }, body: name })}
        />
      </td>
    </tr>
  )
}
