import { useQuery } from '@tanstack/react-query'
import { call } from '../api/call.ts'
import type { SigningKey } from '../api/types.ts'
import { ActionButton, ReasonField } from '../parts/action-button.tsx'
import { Field, textOf, textsOf } from '../parts/dialog.tsx'
import { State } from '../parts/state.tsx'
import { Text } from '../parts/text.tsx'
import { Moment, useNow } from '../parts/time.tsx'
import { Empty, Loaded, Page, Panel } from '../parts/views.tsx'

/** Other processes rotate the keys of a file, too. */
const POLL_MS = 10_000

export function KeysPage() {
  const query = useQuery({
    queryKey: ['keys'],
    queryFn: ({ signal }) => call('listKeys', { signal }),
    refetchInterval: POLL_MS,
  })
  return (
    <Page title="Keys" actions={<Rotate />}>
      <p className="lead">They sign the links of waitpoints and read tokens. Their secrets never leave the server.</p>
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="There is no signing key">
              This server signs nothing. Start it with --keys and a file, to issue links and read tokens.
            </Empty>
          ) : (
            <Panel title="Signing keys" isFlush>
              <table>
                <thead>
                  <tr>
                    <th scope="col">Key</th>
                    <th scope="col">State</th>
                    <th scope="col">Created</th>
                    <th scope="col">Its tokens are valid until</th>
                    <th scope="col">
                      <span className="visually-hidden">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {items.toReversed().map((key) => (
                    <KeyRow key={key.id} signingKey={key} />
                  ))}
                </tbody>
              </table>
            </Panel>
          )
        }
      </Loaded>
    </Page>
  )
}

function KeyRow({ signingKey: { id, createdAt, notAfter, isCurrent } }: { readonly signingKey: SigningKey }) {
  const now = useNow()
  const state = isCurrent ? 'signs' : notAfter !== undefined && notAfter < now ? 'retired' : 'verifies only'
  return (
    <tr>
      <td>
        <Text className="mono">{id}</Text>
      </td>
      <td>
        <State state={state} />
      </td>
      <td>
        <Moment at={createdAt} />
      </td>
      <td>{notAfter === undefined ? <span className="muted">no end</span> : <Moment at={notAfter} />}</td>
      <td>{!isCurrent && <Retire id={id} />}</td>
    </tr>
  )
}

function Rotate() {
  return (
    <ActionButton
      label="Rotate"
      title="Create a new signing key?"
      verb="Rotate the keys"
      role="admin"
      act={(form) => call('rotateKeys', { body: { grace: textOf(form, 'grace') ?? '1d', ...textsOf(form, 'reason') } })}
    >
      <p>The new key signs from now on. Links of the present one stay valid for the grace period, and then no more.</p>
      <Field label="Grace period" hint="As 30m, 12h or 7d." parts={['grace']}>
        <input name="grace" required pattern="\d+(ms|s|m|h|d)" defaultValue="1d" />
      </Field>
      <ReasonField />
    </ActionButton>
  )
}

function Retire({ id }: { readonly id: string }) {
  return (
    <ActionButton
      label="Retire"
      title={`Retire key “${id}”?`}
      verb="Retire it"
      role="admin"
      isDangerous
      act={(form) => call('retireKey', { params: { key: id }, body: textsOf(form, 'reason') })}
    >
      <p>Its links and read tokens are refused from now on, and it never comes back.</p>
      <ReasonField />
    </ActionButton>
  )
}
